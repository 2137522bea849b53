"""The study of a workspace, built in stages: an answer first, then everything else that can be said of its table.

What a build is to have is kept beside its tables, so that whoever looks later knows what is missing. Built again, it
makes what is missing or out of date and nothing else; stopped at any moment, it goes on where it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from mpd2.core.cohort import Cohort
from mpd2.core.errors import UserError, invalid_entries
from mpd2.core.files import replacing
from mpd2.core.manifest import Record, load_manifest
from mpd2.core.table_file import MANIFEST, load_cohort
from mpd2.methods.registry import applicable
from mpd2.study import robustness
from mpd2.study.catalogue import MAP, TABLES, Inventory, lacking, tables_of
from mpd2.study.definition import ABLATIONS_RUN, CONTENDERS, PLUS_RUN, SEEDS, Say, Study, StudyPlan
from mpd2.study.reproduce import Stage, Tell, experiments_of, make_stages, seconds_alone, seconds_of

SIZE = "size.json"  # beside the tables
QUICK = ("ai", "recalibrated-score", "recalibrated", PLUS_RUN)
"""The runs of the first answer: the AI, what it is worth recalibrated, and MPD²+."""
StageName = Literal["quick", "methods", "tables", "map", "resplits", "ablations"]
STAGES: dict[StageName, str] = {
    "quick": "the first answer",
    "methods": "the other methods",
    "tables": "the tables",
    "map": "the map",
    "resplits": "other splits of the cases",
    "ablations": "the ablations",
}

# Seconds on two cores that experiments may take, as estimated; there are fewer of them where they would take longer.
RESPLITTING, TRANSFERRING, RECALIBRATING = 480.0, 60.0, 240.0
CORES = 2
FEWEST = 2  # resplits and draws: with one there would be no interval


class BuildSize(Record):
    """How large a study is made."""

    seeds: int = Field(len(SEEDS), ge=1, le=50)
    resplits: int = Field(len(StudyPlan().resplits), ge=FEWEST, le=100)  # at most: fewer where they would take long
    methods: tuple[str, ...] = ()  # runs; none named: all that suit the table
    until: StageName = "resplits"  # the last stage that is made
    failed: tuple[str, ...] = ()  # runs that could not be made: the study is without them until it is built again


@dataclass(frozen=True)
class StageStanding:
    """What there is of one stage of a build."""

    name: str
    title: str
    made: int
    of: int

    @property
    def is_done(self) -> bool:
        """Whether nothing of it is missing."""
        return self.made == self.of


def study_in(folder: Path, cohort: Cohort | None = None, size: BuildSize | None = None) -> Study:
    """The study of the workspace in a folder, as large as it was built, or as asked for; the same table, the same plan.

    A workspace with a paper has the study of the paper, whatever its size.
    """
    cohort = cohort or load_cohort(folder / load_manifest(folder / MANIFEST).table)
    size = size or read_size(folder)
    suited = applicable(cohort.layout)
    possible = [name for name, each in CONTENDERS.items() if each.method.key in suited]
    unknown = sorted(set(size.methods) - set(possible))
    if unknown:
        raise UserError(f"method: found {', '.join(unknown)}, expected some of {', '.join(possible)}")
    wanted = [name for name in size.methods or possible if name not in size.failed]
    chosen = {name: CONTENDERS[name] for name in possible if name in wanted}
    study = Study(cohort, folder, tuple(range(SEEDS[0], SEEDS[0] + size.seeds)), contenders=chosen)
    return study if study.published else replace(study, plan=sized(study, size.resplits))


def sized(study: Study, resplits: int) -> StudyPlan:
    """The plan for a study: as many resplits as asked for, and fewer of all experiments where they would take long."""
    plan = study.plan
    deployable = robustness.deployable(study)
    quick = tuple(name for name in QUICK if name in deployable)
    cohorts = list(robustness.cohort_sizes(study).values())
    local = sum(known <= size.learned for size in cohorts for known in (0, *plan.local))

    def seconds(methods: Sequence[str]) -> float:
        return sum(seconds_alone(study, name) for name in methods) / CORES

    given = [name for name in plan.recalibrated if name in deployable]
    everybody = seconds(deployable) * len(cohorts) * len(plan.draws) <= TRANSFERRING
    tried = deployable if everybody or not quick else list(quick)
    return replace(
        plan,
        resplits=tuple(range(resplits))[: _at_most(RESPLITTING, seconds(deployable))],
        transferred=() if everybody else tuple(tried),
        draws=plan.draws[: _at_most(TRANSFERRING, seconds(tried) * len(cohorts))],
        local_draws=plan.local_draws[: _at_most(RECALIBRATING, seconds(given) * local)],
    )


def _at_most(budget: float, each: float) -> int:
    return max(FEWEST, int(budget / max(each, 1e-9)))


def stages_of(study: Study, until: StageName = "resplits") -> list[Stage]:
    """The stages of a build up to one of them, in their order."""
    runs, names = tuple(study.contenders), tables_of(study)
    quick = tuple(name for name in QUICK if name in runs)
    ablations = [name for name, table in TABLES.items() if table.of_ablations]
    split = [name for name in names if TABLES[name].experiments]
    plain = [name for name in names if name not in split and name not in ablations]
    stages = [
        Stage("quick", runs=quick),
        Stage("methods", runs=tuple(name for name in runs if name not in quick)),
        Stage("tables", tables=tuple(plain)),
        Stage("map", tables=(MAP,)),
        Stage("resplits", tables=tuple(split)),
        Stage("ablations", tables=tuple(ablations)),
    ]
    return stages[: list(STAGES).index(until) + 1]


def build(folder: Path, size: BuildSize, tell: Tell, say: Say, cohort: Cohort | None = None) -> list[str]:
    """Make what the workspace in a folder lacks; the names of all that was made.

    `tell` is told how far it is and may raise to stop it; `say` gets in words what was left out, and why.
    """
    size = size.model_copy(update={"failed": ()})
    study = study_in(folder, cohort, size)
    write_size(folder, size)
    made, whole = make_stages(study, stages_of(study, size.until), tell, say, lenient=True)
    failed = tuple(name for name in study.contenders if name not in whole.contenders)
    write_size(folder, size.model_copy(update={"failed": failed}))
    return made


def left_out(study: Study) -> dict[str, str]:
    """The methods and tables that a study does not have, each with the reason."""
    methods = {
        name: "the table has no input that it could look at"
        for name, each in CONTENDERS.items()
        if each.method.key not in applicable(study.cohort.layout)
    }
    return methods | {name: why for name in TABLES if (why := lacking(study, name))}


def standing(study: Study, until: StageName = "resplits") -> list[StageStanding]:
    """What there is of each stage of a build."""
    inventory, found = Inventory(study), list[StageStanding]()
    for stage in stages_of(study, until):
        faults = [inventory.run_faults[run] for run in stage.runs]
        faults += [inventory.table_fault(name) for name in stage.tables]
        found.append(StageStanding(stage.name, stage_title(stage.name), faults.count(None), len(faults)))
    return found


def stage_title(name: str) -> str:
    """A stage in words."""
    return {str(stage): words for stage, words in STAGES.items()}[name]


def estimated_seconds(study: Study, until: StageName = "resplits") -> dict[str, float]:
    """About how long each stage takes from nothing, on two cores, by its name."""
    seconds = {}
    for stage in stages_of(study, until):
        population = (ABLATIONS_RUN,) if stage.name == "ablations" else ()
        steps = sum(seconds_of(study, name) for name in (*stage.runs, *population, *stage.tables))
        experiments = sum(seconds_alone(study, one.method) for one in experiments_of(study, stage.tables))
        seconds[stage.name] = steps + experiments / CORES
    return seconds


def read_size(folder: Path) -> BuildSize:
    """How large the study in a folder was made; the usual size where nobody has said."""
    path = folder / "tables" / SIZE
    if not path.is_file():
        return BuildSize()
    try:
        return BuildSize.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        why = invalid_entries(error) if isinstance(error, ValidationError) else error.strerror
        raise UserError(f"{path}: not the size of a study: {why}; remove the file and build again") from None


def write_size(folder: Path, size: BuildSize) -> None:
    """Keep how large the study is made."""
    if size != read_size(folder):
        with replacing(folder / "tables" / SIZE) as draft:
            draft.write_text(size.model_dump_json(indent=1) + "\n", encoding="utf-8")
