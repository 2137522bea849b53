"""The study of any workspace is built in stages, the first answer first, and goes on where it was stopped."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from places import DATA
from small_workspace import MANIFEST, nights, table_of

from mpd2.core.cohort import Cohort
from mpd2.core.errors import Cancelled, UserError
from mpd2.evaluation.map import Map, MapParameters, Space
from mpd2.methods.simple import RandomReader
from mpd2.study import build as building
from mpd2.study import catalogue
from mpd2.study.build import BuildSize, build, estimated_seconds, left_out, sized, stages_of, standing, study_in
from mpd2.study.catalogue import TABLES, tables_of
from mpd2.study.definition import CONTENDERS, Study, StudyPlan
from mpd2.study.reproduce import StudyProgress
from mpd2.study.tables import read_table

METHODS = ("ai", "recalibrated-score", "mpd2-plus", "random-reader", "always-defer")
SMALL = BuildSize(seeds=2, resplits=2, methods=METHODS, until="tables")


@pytest.fixture(autouse=True)
def quick_map(monkeypatch: pytest.MonkeyPatch) -> None:
    """A map that needs no half a minute."""

    def flat(cohort: Cohort, parameters: MapParameters) -> Map:
        space, points = Space(np.zeros(len(cohort.layout)), np.ones(len(cohort.layout))), np.array(cohort.state)
        return Map(parameters, cohort.fingerprint, space, cohort.ids, points, points[:, :2])

    monkeypatch.setattr(catalogue, "fit_map", flat)
    monkeypatch.setattr(building, "sized", lambda study, resplits: few(sized(study, resplits)))


def few(plan: StudyPlan) -> StudyPlan:
    """With one number of local cases."""
    return replace(plan, local=(10,), local_draws=(0, 1), draws=(0, 1), checks=5)


def workspace(folder: Path, manifest: str = MANIFEST, sites: tuple[str, ...] = ("hill", "lake")) -> Path:
    """A folder with a table and a manifest, and nothing made of it."""
    folder.mkdir()
    cells = nights()
    (folder / "nights.csv").write_bytes(table_of(cells[cells["site"].isin(sites)]))
    (folder / "manifest.toml").write_text(manifest)
    return folder


class Told:
    """Remembers what it was told."""

    def __init__(self, stop: Callable[[StudyProgress], bool] = lambda standing: False) -> None:
        self.standings, self.said, self.stop = list[StudyProgress](), list[str](), stop

    def tell(self, standing: StudyProgress) -> None:
        self.standings.append(standing)
        if self.stop(standing):
            raise Cancelled


def built(folder: Path, size: BuildSize = SMALL, told: Told | None = None) -> list[str]:
    told = told or Told()
    return build(folder, size, told.tell, told.said.append)


def contents(folder: Path) -> dict[str, bytes]:
    """Every table and prediction, byte for byte."""
    files = [*folder.glob("tables/*.csv"), *folder.glob("runs/*/predictions.parquet")]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


# Stages


def test_the_first_answer_is_made_first_and_every_stage_in_its_order(tmp_path: Path) -> None:
    folder, told = workspace(tmp_path / "nights"), Told()
    made = built(folder, SMALL.model_copy(update={"until": "resplits"}), told)
    stages = list(dict.fromkeys(standing.stage for standing in told.standings))
    assert stages == ["quick", "methods", "tables", "map", "resplits"]
    assert made[:3] == ["ai", "recalibrated-score", "mpd2-plus"]
    assert {*made[3:]} == {"random-reader", "always-defer", *tables_of(study_in(folder)), "map", "RESULTS.md"}
    assert all(stage.is_done for stage in standing(study_in(folder)))
    told = Told()
    assert built(folder, SMALL.model_copy(update={"until": "resplits"}), told) == []
    assert told.standings == []


def test_a_build_can_end_with_the_first_answer(tmp_path: Path) -> None:
    folder = workspace(tmp_path / "nights")
    assert built(folder, SMALL.model_copy(update={"until": "quick"})) == ["ai", "recalibrated-score", "mpd2-plus"]
    there = {stage.name: (stage.made, stage.of) for stage in standing(study_in(folder))}
    assert there["quick"] == (3, 3)
    assert there["methods"] == (0, 2)


@pytest.mark.parametrize("place", ["recalibrated-score", "always-defer", "paired"])
def test_a_build_that_was_stopped_goes_on_to_the_same_end(place: str, tmp_path: Path) -> None:
    one, other = workspace(tmp_path / "one"), workspace(tmp_path / "other")
    whole = built(one)
    with pytest.raises(Cancelled):
        built(other, told=Told(lambda standing: standing.name == place))
    rest = built(other)
    assert rest == whole[whole.index(place) :]
    assert contents(other) == contents(one)


# What a table cannot have


def test_a_table_without_a_paper_has_nothing_of_one(tmp_path: Path) -> None:
    folder, told = workspace(tmp_path / "nights"), Told()
    built(folder, told=told)
    study = study_in(folder)
    assert study.published is None
    assert {each.published for each in study.contenders.values()} == {None}
    for name in ("overall", "cohorts", "collapse", "retention", "readers"):
        assert read_table(folder, name)["published"].isna().all()
    assert "claims" not in tables_of(study)
    assert left_out(study)["claims"] == "no paper is about this table"
    assert set(read_table(folder, "paired")["reference"]) == {"mpd2-plus"}


def test_what_a_table_cannot_have_is_left_out_with_the_reason(tmp_path: Path) -> None:
    one_cohort = MANIFEST.replace('[[cohorts]]\nkey = "lake"\nname = "Lake"\nreadings = "real"\n', "")
    folder = workspace(tmp_path / "nights", one_cohort, ("hill",))
    study = study_in(folder, size=SMALL)
    out = left_out(study)
    assert out["transfer"] == out["recalibration"] == "the table has one cohort, so that none can be new"
    assert out["live"] == "MPD² is not among the methods"
    assert out["quality-ood"].startswith("the table has no input")
    alone = replace(study, contenders={"ai": CONTENDERS["ai"]})
    assert "nobody to compare it with" in left_out(alone)["paired"]
    lonely = workspace(tmp_path / "lonely", MANIFEST.replace('[groups]\ncolumn = "patient"\nword = "patient"\n', ""))
    assert left_out(study_in(lonely))["groups"] == "no two rows of the table belong together"
    assert "groups" in tables_of(study)


def test_a_method_that_cannot_be_fitted_is_left_out_and_the_rest_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise UserError("no draw can be made")

    folder, told = workspace(tmp_path / "nights"), Told()
    monkeypatch.setattr(RandomReader, "fit", refuse)
    made = built(folder, told=told)
    assert "random-reader: left out: no draw can be made" in told.said
    assert "random-reader" not in made
    assert set(read_table(folder, "overall")["method"]) == set(METHODS) - {"random-reader"}
    assert all(stage.is_done for stage in standing(study_in(folder), "tables"))
    assert "random-reader" not in study_in(folder).contenders
    assert built(folder) == []
    monkeypatch.undo()
    assert "random-reader" in built(folder)  # tried again


def test_a_table_that_cannot_be_drawn_up_is_left_out_and_the_rest_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise UserError("too few cases to promise anything")

    monkeypatch.setitem(TABLES, "promises", replace(TABLES["promises"], draw_up=refuse))
    folder, told = workspace(tmp_path / "nights"), Told()
    made = built(folder, SMALL.model_copy(update={"until": "resplits"}), told)
    assert "promises: left out: too few cases to promise anything" in told.said
    assert made[-1] == "RESULTS.md"
    assert "Floors with confidence" not in (folder / "RESULTS.md").read_text()


def test_an_unknown_method_is_named_with_those_that_suit_the_table(tmp_path: Path) -> None:
    folder = workspace(tmp_path / "nights")
    with pytest.raises(UserError, match="method: found quality-ood, expected some of studio, paper, mpd2-plus, ai"):
        study_in(folder, size=BuildSize(methods=("ai", "quality-ood")))


# How large it is


def test_how_large_a_study_is_made_is_remembered(tmp_path: Path) -> None:
    folder = workspace(tmp_path / "nights")
    assert study_in(folder).seeds == tuple(range(42, 52))
    built(folder, SMALL.model_copy(update={"until": "quick"}))
    assert study_in(folder).seeds == (42, 43)
    assert set(study_in(folder).contenders) == set(METHODS)
    (folder / "tables" / "size.json").write_text('{"seeds": 0}')
    with pytest.raises(UserError, match=r"size.json: not the size of a study: .*seeds.*build again"):
        study_in(folder)


def test_there_are_fewer_experiments_where_they_would_take_long(tmp_path: Path, benchmark: Cohort) -> None:
    rows = np.arange(len(benchmark))
    plans = [sized(Study(benchmark.rows(np.tile(rows, times)), tmp_path), 20) for times in (1, 3, 30)]
    counts = [len(plan.resplits) for plan in plans]
    assert counts[0] > counts[1] > counts[2] == building.FEWEST
    assert all(len(plan.draws) >= building.FEWEST <= len(plan.local_draws) for plan in plans)
    assert plans[1].transferred == ("ai", "recalibrated-score", "recalibrated", "mpd2-plus")
    few_methods = Study(benchmark, tmp_path, contenders={"ai": CONTENDERS["ai"], "mao": CONTENDERS["mao"]})
    assert len(sized(few_methods, 20).resplits) == 20
    assert sized(few_methods, 20).transferred == ()


def test_the_plan_does_not_depend_on_the_machine(
    tmp_path: Path, benchmark: Cohort, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = Study(benchmark, tmp_path)
    here = sized(study, 20)
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    assert sized(study, 20) == here


def test_the_study_of_the_paper_keeps_its_plan() -> None:
    study = study_in(DATA)
    assert study.published is not None
    assert study.plan == StudyPlan()
    assert set(study.contenders) == set(CONTENDERS)


def test_the_time_is_told_for_each_stage_and_more_stages_take_longer(tmp_path: Path) -> None:
    study = study_in(workspace(tmp_path / "nights"))
    short, long = estimated_seconds(study, "quick"), estimated_seconds(study, "ablations")
    assert list(long) == [stage.name for stage in stages_of(study, "ablations")] == list(building.STAGES)
    assert short == {"quick": long["quick"]}
    assert min(long.values()) > 0
    assert set(stages_of(study, "ablations")[-1].tables) == {name for name, t in TABLES.items() if t.of_ablations}
