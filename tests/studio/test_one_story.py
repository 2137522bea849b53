"""Case, Budget and the files people download say the same of every case, by the model that decides it."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from places import DATA

from mpd2.core.runs import load_run
from mpd2.core.workspace import DEFAULT
from mpd2.lab.jobs.folder import PLACE
from mpd2.methods.plus.method import Plus, outlook_of
from mpd2.planning.day import DaySetting
from mpd2.planning.floors import Floor
from mpd2.planning.roster_and_limits import Limits
from mpd2.planning.worklist import OVERRULED
from mpd2.present.documents.spreadsheets import to_csv
from mpd2.present.documents.worklist_files import IN_WORDS, clinic_table, reader_files
from mpd2.studio.budget import store as budget_store
from mpd2.studio.case import store as case_store
from mpd2.studio.shell import store
from mpd2.studio.shell.scenario import Scenario

RUNS = ("studio", "paper", "mpd2-plus", "mao")
POINTS = {
    "cheapest": Scenario(floor=None),
    "ai": Scenario(floor=Floor()),
    "sure": Scenario(floor=Floor(0.95, sure=True)),
    "trust": Scenario(floor=None, confident=0.9),
    "ai-trust": Scenario(floor=Floor(), confident=0.9),
}
NAMED = ("o558", "cha_110", "cha_IMG_4396")  # cases of which two models used to be told as one


@pytest.fixture(autouse=True, scope="module")
def nobodys_runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(PLACE, str(tmp_path_factory.mktemp("empty")))
        yield


def usual() -> DaySetting:
    return DaySetting(store.manifest(DEFAULT).default_costs())


def downloaded(about: Scenario, setting: DaySetting) -> pd.DataFrame:
    """The worklist of the Budget page as somebody opens the file, by case."""
    rows = clinic_table(budget_store.worklist(about, setting))
    return pd.read_csv(io.BytesIO(to_csv(rows)), keep_default_na=False).set_index("case_id")


@pytest.fixture(params=POINTS)
def point(request: pytest.FixtureRequest) -> Scenario:
    return POINTS[request.param]


@pytest.mark.parametrize("run", RUNS)
def test_case_and_budget_agree_on_every_case(run: str, point: Scenario) -> None:
    about = replace(point, run=run)
    case = case_store.listing(about).set_index("case_id")
    budget = downloaded(about, usual()).loc[case.index]
    assert len(case) == 899
    assert budget["assigned_to"].tolist() == case["reader"].tolist()
    assert budget["decided_by"].tolist() == case["decided_by"].map(IN_WORDS).tolist()
    assert budget["answer"].tolist() == case["answer"].fillna("").tolist()
    assert budget["place"].tolist() == case["place"].tolist()
    assert budget["reason"].tolist() == case["reason"].tolist()
    assert budget["expected_cost"].to_numpy() == pytest.approx(case["expected_cost"].to_numpy(), abs=6e-4)
    assert budget["cost_if_kept"].to_numpy() == pytest.approx(case["kept_cost"].to_numpy(), abs=6e-4)


@pytest.mark.parametrize("run", RUNS)
def test_a_case_is_sent_from_the_budget_its_page_says(run: str, point: Scenario) -> None:
    """At one weight of a miss every budget sends just the cases whose place the Case page puts within it."""
    about, n = replace(point, run=run), 899
    place = case_store.listing(about)["place"].to_numpy()
    for cases in range(0, n + 1, 7):
        sent = budget_store.day(about, usual().with_budget(cases / n)).decisions.deferred
        np.testing.assert_array_equal(sent, (place > 0) & (place <= cases))


@pytest.mark.parametrize("run", RUNS)
def test_the_page_of_a_case_says_what_its_row_of_the_worklist_says(run: str, point: Scenario) -> None:
    about = replace(point, run=run)
    rows = case_store.listing(about).set_index("case_id")
    for case_id in (*NAMED, "o614", *rows.index[::60]):
        facts, row = case_store.facts(about, case_id), rows.loc[case_id]
        assert facts.chosen["action"] == row["action"]
        assert facts.chosen["expected_cost"] == row["expected_cost"]
        assert facts.actions["expected_cost"].iloc[0] == row["kept_cost"]
        assert facts.chosen["votes"] == row["votes"]
        assert facts.reason == row["reason"]
        assert case_store.place(about, case_id) == (row["place"], 899)


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("case_id", NAMED)
def test_one_model_says_how_likely_glaucoma_is_and_how_often_the_ai_errs(
    run: str, case_id: str, point: Scenario
) -> None:
    facts = case_store.facts(replace(point, run=run), case_id)
    ai_wrong = float(facts.actions["wrong"].iloc[0])
    says_glaucoma = bool(facts.case.ai_label[0])
    assert ai_wrong == pytest.approx(1 - facts.positive if says_glaucoma else facts.positive)
    shown = (
        f"f 100 such cases {100 * facts.positive:.0f} have glaucoma; the AI's answer is wrong in {100 * ai_wrong:.0f}"
    )
    begin, _, rest = facts.reason.partition(shown)
    assert rest
    assert begin == (
        f"{OVERRULED}: o" if not facts.sent and facts.decisions.label[0] != facts.case.ai_label[0] else "O"
    )


@pytest.mark.parametrize("floor", [None, Floor()], ids=["cheapest", "at the AI's sensitivity"])
@pytest.mark.parametrize("case_id", NAMED)
def test_a_run_with_a_model_of_its_own_is_told_by_that_model(case_id: str, floor: Floor | None) -> None:
    about, run = Scenario("mpd2-plus", floor=floor), load_run(DATA / "runs/mpd2-plus")
    facts, costs = case_store.facts(about, case_id), store.point("mpd2-plus", about).costs
    posterior = float(outlook_of(run, facts.case).together().prior[0])
    steps = Plus().steps(run, facts.case, costs)
    assert facts.positive == pytest.approx(posterior)
    assert steps["probability"].iloc[1] == pytest.approx(posterior)
    row = downloaded(about, usual()).loc[case_id]
    assert row["cost_if_kept"] == pytest.approx(steps["now"].iloc[1], abs=6e-4)
    now = steps["asking"].iloc[1] if facts.sent else steps["now"].iloc[1]
    assert row["expected_cost"] == pytest.approx(now, abs=6e-4)
    assert row["cost_if_kept"] == pytest.approx(min(1.5 * (1 - posterior), costs.false_negative * posterior), abs=6e-4)


def test_whoever_is_away_is_in_no_reason_and_on_no_sheet() -> None:
    about = Scenario()
    columns = {reader.column: reader.name for reader in store.manifest(DEFAULT).readers}
    first = next(iter(columns))
    away = DaySetting(usual().costs, Limits(away=(first,)))
    rows = budget_store.worklist(about, away)
    assert not rows["reason"].str.contains(f"{columns[first]} ", regex=False).any()
    archive = zipfile.ZipFile(io.BytesIO(reader_files(rows, store.manifest(DEFAULT))))
    assert not any(columns[first].replace(" ", "-") + ".csv" in name for name in archive.namelist())
