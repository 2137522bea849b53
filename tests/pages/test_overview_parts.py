"""Subgroups and calibration of the Overview, drawn by themselves."""

from __future__ import annotations

import json

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from mpd2.core.policy import NOBODY
from mpd2.core.workspace import DEFAULT
from mpd2.evaluation.clinical.subgroups import groups
from mpd2.evaluation.metrics import evaluate
from mpd2.planning.floors import Floor
from mpd2.studio.overview import calibration, subgroups
from mpd2.studio.shell import store
from mpd2.studio.shell.scenario import Scenario

PLUS = Scenario("mpd2-plus", floor=None)


def draw(part: str, run: str, cohorts: tuple[str, ...] = ()) -> AppTest:
    def script(part: str, run: str, cohorts: tuple[str, ...]) -> None:
        from importlib import import_module

        from mpd2.studio.shell.scenario import Scenario

        import_module(f"mpd2.studio.overview.{part}").draw(Scenario(run, cohorts=cohorts))

    return AppTest.from_function(
        script, default_timeout=60, kwargs={"part": part, "run": run, "cohorts": cohorts}
    ).run()


def titles(page: AppTest) -> list[str]:
    return [json.loads(chart.proto.spec)["title"]["text"] for chart in page.get("vega_lite_chart")]


@pytest.mark.parametrize("run", ["mpd2-plus", "ai"])
def test_subgroups_say_how_many_comparisons_were_made_and_show_sensitivity_first(run: str) -> None:
    page = draw("subgroups", run)
    assert not page.exception
    assert "comparisons" in page.markdown[0].value
    assert titles(page) == ["Sensitivity in each group; hollow: the AI alone", "Gap in sensitivity to all other cases"]
    page.segmented_control(key="subgroup_metric").set_value("Defer").run()
    assert titles(page)[1] == "Gap in share sent to all other cases"


def test_one_cohort_alone_is_compared_by_bands() -> None:
    page = draw("subgroups", "mpd2-plus", ("refuge",))
    assert not page.exception
    shown = page.dataframe[0].value["Group"].tolist()
    assert "REFUGE" not in shown
    assert "Poor photograph" not in shown  # it has none
    assert "Middling photograph" in shown


def test_subgroups_are_counted_from_the_decisions_at_the_operating_point() -> None:
    careful = Scenario("mpd2-plus", floor=Floor(0.95))
    rows = {about: subgroups.table(about).set_index(["group", "metric"]) for about in (PLUS, careful)}
    for about, made in rows.items():
        cases, decisions = store.cases(about), store.outcome(about.run, about).decisions
        small = next(each.rows for each in groups(cases, store.train(DEFAULT)) if each.kind == "vCDR")
        counted = evaluate(cases.rows(small), decisions.rows(small), cases.manifest.default_costs())
        assert made.loc[("low vertical CDR", "Sens"), "value"] == pytest.approx(counted["Sens"].mean())
        asked = (decisions.consulted[:, small] != NOBODY).any(-1)
        assert made.loc[("low vertical CDR", "Defer"), "value"] == pytest.approx(asked.mean())
    assert (
        rows[careful].loc[("high vertical CDR", "Sens"), "value"]
        > rows[PLUS].loc[("high vertical CDR", "Sens"), "value"]
    )


def test_calibration_shows_glaucoma_and_the_readers_of_a_run_that_models_them() -> None:
    page = draw("calibration", "mpd2-plus")
    assert not page.exception
    assert titles(page) == [
        "Predicted and observed share with glaucoma",
        "Calibration slope; dashed: perfectly calibrated",
        "Predicted and observed share said to have glaucoma",
    ]
    page.selectbox(key="calibrated_reader").set_value("chaksu_expert_2").run()
    assert page.get("vega_lite_chart")[2].proto.alt.endswith("by Chákṣu 2")


def test_a_run_without_a_model_of_readers_says_so() -> None:
    page = draw("calibration", "studio")
    assert not page.exception
    assert len(titles(page)) == 1
    assert page.caption[-1].value.startswith("MPD² (studio) has no model of what readers say")
    assert "error rates of MPD² (studio)" in page.dataframe[0].value["Probability"].tolist()


def test_what_is_calibrated_is_what_the_run_believes() -> None:
    cases = store.cases(PLUS)
    believed = store.expectations("mpd2-plus", PLUS, cases).positive
    _, rows = calibration.positive(PLUS)
    own = rows[rows["title"].str.contains("MPD²+", regex=False)].iloc[0]
    assert own["brier"] == pytest.approx(np.mean((believed - cases.truth) ** 2), abs=1e-5)
    assert own["apart"] == pytest.approx(np.mean(cases.truth - believed), abs=1e-4)
    ai = rows.set_index("name").loc["ai"]
    assert ai["brier"] == pytest.approx(np.mean((cases.ai_probability - cases.truth) ** 2))
    _, heard = calibration.readers(PLUS)
    assert heard["n"].tolist() == store.cases(PLUS).available.sum(0).tolist()
