"""The Ablations page."""

import pytest

from mpd2.core.workspace import DEFAULT
from mpd2.studio.shell import results
from mpd2.study.claims import OF_THE_OBJECTIVE
from mpd2.study.definition import ABLATIONS


@pytest.fixture
def ablations(open_page):
    return open_page("ablations")


def test_each_study_says_of_its_claims_whether_they_hold_and_no_claim_is_left_out(ablations):
    assert not ablations.exception
    verdicts = dict(zip((claim.statement for claim in OF_THE_OBJECTIVE), results.terms(DEFAULT), strict=True))
    seen = set()
    for study in ABLATIONS:
        ablations.segmented_control(key="study").set_value(study).run()
        words = [part.value for part in ablations.markdown]
        here = {name for name in verdicts if any(f"**{name}**" in part for part in words)}
        assert all(any(f"{verdicts[name].verdict}] **{name}**" in part for part in words) for name in here)
        assert not any("Top1" in caption.value for caption in ablations.caption)
        assert not seen & here
        seen |= here
    assert seen == set(verdicts)


def test_every_study_shows_all_its_conditions(ablations):
    for study, conditions in ABLATIONS.items():
        ablations.segmented_control(key="study").set_value(study).run()
        assert not ablations.exception
        assert len(ablations.dataframe[0].value) == len(conditions)
        assert len(ablations.get("vega_lite_chart")) == (3 if study == "budget" else 2)


def test_published_values_stand_below_each_condition(ablations):
    ablations.toggle(key="objective-published").set_value(True).run()
    assert ablations.dataframe[0].value["Condition"].tolist()[1::2] == ["in the paper"] * len(ABLATIONS["objective"])


def test_another_metric_can_be_chosen(ablations):
    ablations.selectbox(key="figure-objective").set_value("F1").run()
    assert "F1" in ablations.get("vega_lite_chart")[0].proto.spec


def test_the_slice_does_not_change_it(open_page, ablations):
    other = open_page("ablations", split="val", cohorts=["origa"])
    assert not other.exception
    assert other.dataframe[0].value.equals(ablations.dataframe[0].value)


def test_a_link_to_a_study_nobody_knows_opens_the_first(open_page):
    page = open_page("ablations", study="Nonsense")
    assert not page.exception
    assert page.session_state["study"] == "objective"
    assert set(results.stored(DEFAULT, "objective")["method"]) == set(ABLATIONS["objective"])
