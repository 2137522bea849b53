"""Every page on a workspace of another field, beside the default one, and as little of it as may be there."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator

import pytest
from made_workspace import MANIFEST, NAME, made_workspace, many_workspace, recordings
from streamlit.testing.v1 import AppTest

from mpd2.clinic.access.actor import LOCAL
from mpd2.core.cache import CACHE
from mpd2.core.workspace import DEFAULT
from mpd2.lab.jobs import worker_pool
from mpd2.lab.jobs.folder import PLACE, Workshop
from mpd2.lab.workspaces.adding import add_rows
from mpd2.lab.workspaces.shelf import create
from mpd2.studio.about.view import PARTS as ABOUT
from mpd2.studio.overview.texts import VIEWS
from mpd2.studio.shell import store, workspaces
from mpd2.studio.shell.registry import PAGES
from mpd2.studio.shell.scenario import Scenario

PARTS = {
    "overview": [{}, *({"view": view} for view in VIEWS), {"units": "rates"}, {"curve_part": "map"}],
    "readers": [{}, {"readers_topic": "workload"}, {"readers_topic": "agreement"}],
    "budget": [{"budget_topic": topic} for topic in ("roster", "moved", "cohorts", "arrivals", "worklist", "notes")],
    "robustness": [{"robustness_topic": topic} for topic in ("resplits", "unseen", "promise", "sample-size")],
    "about": [{"part": part} for part in ABOUT],
    "retrain": [{"lab": view} for view in ("train", "grid", "tune", "runs")],
}
"""What can be looked at on a page, by the link."""
FOREIGN = r"(?i)glaucoma|photograph|\bdiscs?\b|refuge|vCDR|cup-to-disc|\beyes?\b|twelve"
"""Words of the default workspace, which mean nothing in this one."""
TABS = ("Step by step", "Why", "What would change it", "Inputs", "Similar cases", "What if", "Worklist")


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Iterator[Workshop]:
    """A workshop with the workspace."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(PLACE, str(tmp_path_factory.mktemp("workspaces")))
        patch.setattr(worker_pool, "keep_ready", lambda: None)
        CACHE.clear()
        made_workspace(Workshop.here())
        yield Workshop.here()
    CACHE.clear()


def visit(open_page, key: str, **query: str) -> AppTest:
    return open_page(key, **({"run": None, "point": None, "workspace": NAME} | query))


@pytest.mark.parametrize("key", [page.key for page in PAGES])
def test_every_part_of_every_page_opens(open_page, place, key):
    for part in PARTS.get(key, [{}]):
        page = visit(open_page, key, **part)
        assert not page.exception, part
        assert not page.error, part
        assert not page.warning, part
        assert page.title, part
        assert not re.findall(FOREIGN, f"{page.main} {page.caption} {page.markdown}"), part


@pytest.mark.parametrize("tab", TABS)
def test_every_tab_of_a_case_opens(open_page, place, tab):
    page = visit(open_page, "case")
    page.session_state["case_tab"] = tab
    assert not page.run().exception
    assert not re.findall(FOREIGN, str(page.main))


@pytest.mark.parametrize(("key", "what"), [("map", "A map"), ("ablations", "The study"), ("robustness", "The compar")])
def test_what_has_not_been_built_is_said_with_what_to_do(open_page, place, key, what):
    (info,) = visit(open_page, key).info
    assert info.value.startswith(what)
    command = f"python -m mpd2 workspace build {NAME}"
    usual = f"Build it on Your data, or with `{command}`."
    assert info.value.endswith(
        f"Make it with `{command} --until ablations`; it takes long." if key == "ablations" else usual
    )


def test_a_shipped_workspace_is_made_by_the_command_that_may_change_it(open_page):
    (info,) = open_page("ablations", workspace="ecg", run=None).info
    assert info.value.endswith("Make it with `python -m mpd2 reproduce --workspace ecg`.")


def test_the_sidebar_names_the_workspace_and_how_its_readings_came_about(open_page, place):
    page = visit(open_page, "about")
    box = page.sidebar.selectbox(key="workspace")
    assert (box.options[0], box.options[-1]) == (workspaces.title(DEFAULT), "Murmurs in two wards")
    assert page.sidebar.caption[1].value == "480 recordings, 3 readers; readings real"
    assert page.session_state["run"] == "mpd2-plus"
    assert page.session_state["point"] == "ai"


def test_workspaces_of_the_same_title_are_told_apart(open_page, place):
    made_workspace(place, "again", ("ai",))
    page = visit(open_page, "about", workspace="again")
    titles = page.sidebar.selectbox(key="workspace").options[-2:]
    assert titles == ["Murmurs in two wards (again)", f"Murmurs in two wards ({NAME})"]
    assert page.run().session_state["workspace"] == "again"
    shutil.rmtree(place.workspaces / "again")


def test_two_visitors_look_at_different_workspaces_at_once(open_page, place):
    here, there = visit(open_page, "overview"), visit(open_page, "overview", workspace=DEFAULT)
    for _ in range(2):
        said = [page.run().markdown[0].value for page in (here, there)]
        assert not here.exception
        assert said[0] != said[1]
        cases = [next(each.value for each in page.caption if "n = " in each.value) for page in (here, there)]
        sizes = [len(store.cases(Scenario(workspace=name))) for name in (NAME, DEFAULT)]
        assert [f"n = {size}" in text for size, text in zip(sizes, cases, strict=True)] == [True, True]


def test_a_workspace_that_is_not_there_is_said_and_the_default_one_shown(open_page, place):
    for asked in ("nowhere", "../../etc", ""):
        page = visit(open_page, "about", workspace=asked)
        assert not page.exception
        assert page.session_state["workspace"] == DEFAULT
        assert page.warning[0].value.startswith("There is no workspace “")
        assert page.warning[0].value.endswith("is shown instead.")


def test_another_workspace_keeps_what_fits_and_forgets_what_does_not(open_page, place):
    page = open_page("budget", run="recalibrated", point="cheapest", cohorts="refuge", split="val", budget="0.2")
    assert "budget" in page.query_params
    page.session_state["case"] = "r001"
    page.sidebar.selectbox(key="workspace").set_value(NAME).run()
    assert not page.exception
    assert not page.warning
    kept = {key: page.session_state[key] for key in ("workspace", "run", "point", "split", "cohorts")}
    assert kept == {"workspace": NAME, "run": "recalibrated", "point": "cheapest", "split": "val", "cohorts": []}
    assert "case" not in page.session_state
    assert page.session_state["budget_state"].now.limits.budget is None
    assert "budget" not in page.query_params
    page.sidebar.selectbox(key="workspace").set_value(DEFAULT).run()
    page.sidebar.selectbox(key="run").set_value("studio").run()
    page.sidebar.selectbox(key="workspace").set_value(NAME).run()
    assert not page.warning
    assert page.session_state["run"] == "mpd2-plus"


def test_without_a_run_pages_say_what_to_do(open_page, place):
    create("bare", recordings(60).to_csv(index=False).encode(), MANIFEST, place, by=LOCAL)
    for key in ("overview", "case", "budget", "readers", "retrain", "about"):
        page = visit(open_page, key, workspace="bare")
        assert not page.exception
        assert "python -m mpd2 workspace build bare" in page.info[0].value
    assert not visit(open_page, "your_data", workspace="bare").exception
    shutil.rmtree(place.workspaces / "bare")


def test_another_table_or_manifest_in_its_place_is_noticed(open_page, place):
    made_workspace(place, "changing", ("ai",))
    page = visit(open_page, "about", workspace="changing")
    assert page.sidebar.caption[1].value.startswith("480 recordings")
    path = place.workspaces / "changing" / "manifest.toml"
    path.write_text(path.read_text().replace('case = "recording"', 'case = "sound"', 1))
    assert page.run().sidebar.caption[1].value.startswith("480 sounds")
    before = store.cohort("changing").fingerprint
    recordings(100).to_csv(place.workspaces / "changing" / "murmurs.csv", index=False)
    assert store.cohort("changing").fingerprint != before
    assert page.run().sidebar.caption[1].value.startswith("300 sounds")
    assert not page.exception
    shutil.rmtree(place.workspaces / "changing")
    page.run()
    assert not page.exception
    assert page.session_state["workspace"] == DEFAULT
    assert "There is no workspace “changing” here" in page.warning[0].value


def test_words_from_elsewhere_are_nothing_but_words(open_page, place):
    picture, formula = "![x](https://example.org/x.png)", "$x$ <b>`y`"
    hostile = MANIFEST.replace('"Murmurs in two wards"', f'"{picture}"').replace('name = "Ann"', f'name = "{formula}"')
    hostile = hostile.replace('name = "West"', 'name = "East"').replace(
        'positive = "murmur"', f'positive = "{picture}"'
    )
    create("hostile", recordings().to_csv(index=False).encode(), hostile, place, by=LOCAL)
    shutil.copytree(place.workspaces / NAME / "runs", place.workspaces / "hostile" / "runs")
    whole = store.cohort("hostile")
    assert whole.fingerprint == store.cohort(NAME).fingerprint
    assert [entry.name for entry in whole.manifest.cohorts] == ["East (east)", "East (west)"]
    for key in ("overview", "case", "readers", "about"):
        page = visit(open_page, key, workspace="hostile")
        assert not page.exception
        assert "](http" not in str(page.main)
        assert "](http" not in str(page.sidebar)
    shutil.rmtree(place.workspaces / "hostile")


def test_a_run_made_before_rows_were_added_says_so_and_is_asked_anew(open_page, place):
    made = made_workspace(place, "growing", ("mpd2-plus", "ai", "recalibrated"))
    before = store.cases(Scenario(workspace="growing"))
    more = recordings(200).iloc[480:]
    add_rows("growing", more.set_axis(range(2, 2 + len(more))), "more.csv", place, by=LOCAL)
    after = store.cases(Scenario(workspace="growing"))
    assert len(after) > len(before)
    for key in ("overview", "case", "budget", "readers", "risk"):
        page = visit(open_page, key, workspace="growing")
        assert not page.exception
        assert any(f"MPD²+, made before {len(more)} rows were added" in caption.value for caption in page.caption)
    assert visit(open_page, "map", workspace="growing").info[0].value.startswith("A map of the cases has not been made")
    shutil.rmtree(made.folder)


def test_a_damaged_run_of_somebodys_own_study_is_left_out(open_page, place):
    made = made_workspace(place, "broken", ("mpd2-plus", "ai", "recalibrated", "random-reader"))
    (made.runs / "random-reader" / "predictions.parquet").write_bytes(b"")
    page = visit(open_page, "overview", workspace="broken")
    assert not page.exception
    assert not page.error
    assert store.sound_runs("broken") == ["mpd2-plus", "ai", "recalibrated"]
    shutil.rmtree(made.folder)


def test_without_a_positive_val_case_every_run_is_as_it_was_made(open_page, place):
    rows = recordings()
    rows.loc[(rows["part"] == "val") & (rows["echo"] == "1"), "part"] = "train"
    create(
        "healthy",
        rows.to_csv(index=False).encode(),
        MANIFEST.replace('[groups]\ncolumn = "patient"', ""),
        place,
        by=LOCAL,
    )
    for run in ("mpd2-plus", "ai"):
        shutil.copytree(place.workspaces / NAME / "runs" / run, place.workspaces / "healthy" / "runs" / run)
    page = visit(open_page, "about", workspace="healthy")
    assert page.sidebar.selectbox(key="point").options == ["Cheapest, as in the paper"]
    assert not store.can_choose("healthy")
    assert any("No floor can be kept here" in caption.value for caption in page.sidebar.caption)
    shutil.rmtree(place.workspaces / "healthy")


def test_what_was_made_of_a_workspace_that_is_removed_is_let_go_of(place):
    made = made_workspace(place, "short-lived", ("ai",))
    workspaces.names()
    store.cases(Scenario("ai", workspace="short-lived"))
    ours = store.cohort("short-lived")
    assert any(value is ours for value in CACHE.values())
    shutil.rmtree(made.folder)
    workspaces.names()
    assert not any(value is ours for value in CACHE.values())


def test_of_many_inputs_readers_and_cohorts_a_few_are_chosen_from_lists(open_page, place):
    made = many_workspace(place)
    for key in ("overview", "readers", "budget", "robustness", "about"):
        page = visit(open_page, key, workspace=made.name, **PARTS[key][-1])
        assert not page.exception, key
    assert len(page.sidebar.multiselect(key="cohorts").options) == 20
    page = visit(open_page, "overview", workspace=made.name, view="cohorts")
    assert not page.exception
    assert len(page.selectbox(key="cohort-cohorts").options) == 21
    page = visit(open_page, "case", workspace=made.name, run="recalibrated")
    page.session_state["case_tab"] = "What if"
    assert not page.run().exception
    first = [slider for slider in page.slider if str(slider.key).startswith("whatif:")]
    assert len(first) == 6
    box = next(each for each in page.multiselect if str(each.key).endswith(":chosen"))
    assert len(box.options) == 26
    box.set_value([*box.value, "x19"]).run()
    assert not page.exception
    assert any(str(slider.key).endswith(":x19") for slider in page.slider)
    shutil.rmtree(made.folder)
