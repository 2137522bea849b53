"""The New case page measures a photograph that is dropped, or takes numbers by hand, and says what would be done."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from urllib.parse import parse_qs

import numpy as np
import pytest
from imaging_studio import NAME, PATIENT, eyes, jpeg, photograph_workspace, tiny_pipeline
from places import ROOT
from streamlit.testing.v1 import AppTest

from mpd2.core.cache import CACHE
from mpd2.evaluation import explain
from mpd2.lab.jobs import worker_pool
from mpd2.lab.jobs.folder import PLACE, Workshop
from mpd2.studio.case import store as case_store
from mpd2.studio.new_case import from_photograph, texts
from mpd2.studio.new_case import store as new_store
from mpd2.studio.parts import case_controls
from mpd2.studio.shell import store
from mpd2.studio.shell.scenario import Scenario

OpenPage = Callable[..., AppTest]


def shown(app: AppTest) -> str:
    kinds = (app.subheader, app.markdown, app.caption, app.info, app.warning, app.error, app.code)
    return "\n".join(str(element.value) for kind in kinds for element in kind)


def metric(app: AppTest, label: str) -> str:
    return next(each.value for each in app.metric if each.label == label)


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Iterator[Workshop]:
    """A workshop with the workspace of rendered eyes, measured by a pipeline of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(PLACE, str(tmp_path_factory.mktemp("workshop")))
        patch.setattr(worker_pool, "keep_ready", lambda: None)
        CACHE.clear()
        tiny_pipeline(photograph_workspace(Workshop.here()).folder / "imaging")
        yield Workshop.here()
    CACHE.clear()


@pytest.fixture
def eye_page(open_page: OpenPage, place: Workshop) -> AppTest:
    return open_page("new_case", workspace=NAME, run="mpd2-plus")


@pytest.fixture
def dropped(eye_page: AppTest) -> AppTest:
    return drop(eye_page, jpeg(eyes(1)[0]))


def drop(page: AppTest, content: bytes, name: str = f"{PATIENT}.jpg") -> AppTest:
    return page.file_uploader(key="new_case_upload").upload(name, content, "image/jpeg").run()


def correct(page: AppTest, disc: tuple[float, ...], cup: tuple[float, ...]) -> AppTest:
    """As the editor does."""
    numbers = ("x", "y", "width", "height", "angle")
    upload = page.session_state[new_store.TAKEN][0][0]
    ellipses = {name: dict(zip(numbers, each, strict=True)) for name, each in (("disc", disc), ("cup", cup))}
    page.session_state[from_photograph.CORRECTED] = (upload, ellipses)
    return page.run()


def test_without_networks_the_page_says_how_to_get_them_and_takes_numbers_by_hand(open_page: OpenPage) -> None:
    page = open_page("new_case", run="mpd2-plus")
    assert not page.exception
    told = shown(page)
    assert "are not installed" in told
    assert "model.safetensors" in told
    assert not page.file_uploader
    before = metric(page, "Expected cost")
    page = page.slider(key="new_case:glaucoma:vCDR").set_value(0.9).run()
    assert not page.exception
    assert metric(page, "Expected cost") != before
    assert "vCDR:0.9" in page.query_params["whatif"]


def test_by_hand_is_the_case_that_what_if_would_make_of_it(open_page: OpenPage) -> None:
    page = open_page("new_case", run="mpd2-plus", whatif="new case;vCDR:0.8;cohort:origa")
    about = Scenario("mpd2-plus", floor=None)
    typical = explain.typical_case(store.train(about.workspace))
    case = case_controls.with_values(typical, {"vCDR": 0.8}, typical.available[0], "origa")
    facts = case_store.of_case(about, case)
    assert metric(page, "Expected cost") == f"{facts.chosen['expected_cost']:.2f}"
    assert "Case new case" not in shown(page)


def test_a_table_of_another_field_is_entered_by_hand_in_its_own_words(open_page: OpenPage) -> None:
    page = open_page("new_case", workspace="ecg", run=None)
    assert not page.exception
    assert not page.file_uploader
    told = shown(page)
    assert f"what is known of one {store.manifest('ecg').task.case}" in told
    assert "photograph" not in told
    assert metric(page, "P(finding)")


def test_a_run_that_needs_the_answers_says_so(open_page: OpenPage) -> None:
    page = open_page("new_case", run="oracle")
    assert not page.exception
    assert not page.slider
    assert "looks up the truth" in shown(page)


def test_a_photograph_is_measured_and_routed_as_on_case(dropped: AppTest) -> None:
    assert not dropped.exception
    told = shown(dropped)
    assert "**Quality" in told
    assert "The AI says" in told
    assert metric(dropped, "AI's probability")
    assert "Image distance" in told  # no reference: said, and entered by hand
    assert "has to be entered by hand" in told or "have to be entered by hand" in told
    assert [tab.label for tab in dropped.tabs] == ["Step by step", "Inputs"]
    assert dropped.slider(key="new_case_photograph:eyes:vim_risk_z").value is not None
    assert not dropped.toggle(key="heat_map:new").value


def test_numbers_and_route_follow_a_corrected_outline_and_come_back(dropped: AppTest) -> None:
    small = correct(dropped, (128, 128, 40, 40, 0), (128, 128, 12, 12, 0))
    assert not small.exception
    assert metric(small, "Vertical CDR") == "0.30"
    assert next(each.delta for each in small.metric if each.label == "Vertical CDR").startswith("± 0.1")
    cost = metric(small, "P(glaucoma)")
    large = correct(small, (128, 128, 40, 40, 0), (128, 128, 36, 36, 0))
    assert metric(large, "Vertical CDR") == "0.90"
    assert metric(large, "P(glaucoma)") != cost
    assert texts.CORRECTED in shown(large)
    odd = correct(large, (128, 128, 40, 40, 0), (150, 128, 36, 36, 0))
    assert "Part of the cup lies outside of the disc" in shown(odd)
    back = next(button for button in odd.button if button.label == texts.BACK).click().run()
    assert texts.CORRECTED not in shown(back)


def test_the_link_to_case_carries_numbers_alone_and_case_says_the_same(dropped: AppTest, open_page: OpenPage) -> None:
    page = correct(dropped, (128, 128, 40, 40, 0), (128, 128, 20, 20, 0))
    link = page.get("page_link")[-1].proto
    word = parse_qs(link.query_string)["whatif"][0]
    assert word.startswith("new%20case;")
    assert PATIENT not in link.query_string
    values, _, _ = case_controls.from_link(word, explain.typical_case(store.train(NAME)))
    assert values["vCDR"] == pytest.approx(0.5)
    case = open_page("case", workspace=NAME, run="mpd2-plus", whatif=word)
    assert not case.exception
    assert [each.value for each in case.metric if each.label == "P(glaucoma)"][-1] == metric(page, "P(glaucoma)")


def test_with_every_reader_sent_home_it_is_kept(dropped: AppTest) -> None:
    page = dropped.button_group(key="new_case_photograph:eyes:roster").set_value([]).run()
    assert not page.exception
    assert any(header.value.startswith("Keep it") for header in page.subheader)


def test_another_photograph_takes_the_place_of_the_first_and_by_hand_forgets_it(dropped: AppTest) -> None:
    first = dropped.session_state[new_store.TAKEN][1]
    page = drop(dropped, jpeg(eyes(2)[1]), "other.jpg")
    second = page.session_state[new_store.TAKEN][1]
    assert second is not first
    assert not any(value is first for _, value in page.session_state.items())
    page = page.button_group(key="way").set_value("hand").run()
    assert not page.exception
    assert new_store.TAKEN not in page.session_state


def test_what_is_no_photograph_is_refused_without_its_name(eye_page: AppTest) -> None:
    page = drop(eye_page, b"GIF89a" + bytes(100), f"{PATIENT}.png")
    assert not page.exception
    assert "GIF" in page.error[0].value
    assert PATIENT not in page.error[0].value
    assert new_store.TAKEN not in page.session_state


def test_nothing_of_a_photograph_is_written(eye_page: AppTest, place: Workshop) -> None:
    root = place.jobs.parent
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*") if path.is_file()}
    page = drop(eye_page, jpeg(eyes(1)[0]))
    assert not page.exception
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*") if path.is_file()} == before
    assert not any(isinstance(value, new_store.Taken) for value in CACHE.values())


def test_the_heat_map_comes_last_on_request_with_both_checks(dropped: AppTest) -> None:
    page = correct(dropped, (128, 128, 40, 40, 0), (128, 128, 20, 20, 0))
    assert "With the disc covered" not in shown(page)
    page = page.toggle(key="heat_map:new").set_value(True).run()
    assert not page.exception
    told = shown(page)
    assert "lies within the disc" in told
    assert "With the disc covered in grey" in told


OPENED = """
import sys
from streamlit.testing.v1 import AppTest
app = AppTest.from_file("mpd2/studio/main.py", default_timeout=120)
app.query_params["workspace"], app.query_params["point"] = sys.argv[1], "cheapest"
app.switch_page("../../pages/new_case.py")
app.run()
assert not app.exception and app.file_uploader
heavy = [n for n in sys.modules if n.split(".")[0] in ("transformers", "openvino", "pydicom")]
heavy += [n for n in sys.modules if n.startswith("mpd2.imaging.small.")]
print(sorted(heavy))
"""


def test_opening_the_page_loads_no_network_nor_what_runs_them(place: Workshop) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", OPENED, NAME], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[]"


def test_where_a_photograph_is_poor_is_said_in_words() -> None:
    cells = np.full((9, 9), 0.9)
    assert texts.poor_places(cells) == ""
    cells[:, :] = 0.1
    assert texts.poor_places(cells) == "poor nearly everywhere"
    cells[:, :] = np.nan
    assert texts.poor_places(cells) == ""


def test_distance_is_told_by_the_training_cases_that_are_as_far() -> None:
    train = np.arange(100.0)
    assert "like 71" in texts.distance(29.0, train)
    assert "none of them" in texts.distance(1000.0, train)
