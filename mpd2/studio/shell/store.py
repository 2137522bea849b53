"""What pages read of a workspace's cases and runs: cached for everybody, and read again once one of them is another."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from mpd2.core.arrays import Floats
from mpd2.core.cache import cached, depends_on, once_a_look
from mpd2.core.cohort import Cohort
from mpd2.core.costs import Costs, OperatingPoint
from mpd2.core.error_rates import ErrorModel, Expectations
from mpd2.core.errors import UserError
from mpd2.core.manifest import Manifest
from mpd2.core.policy import Continuations, Policy, route
from mpd2.core.runs import CONFIG, Run, load_continuations, load_errors, load_predictions, load_run
from mpd2.core.text import plain_words
from mpd2.evaluation.evidence import Evidence, Outcome
from mpd2.evaluation.intervals import resample_weights
from mpd2.evaluation.published import published_of
from mpd2.lab.jobs import own_runs as people
from mpd2.lab.jobs.folder import Workshop
from mpd2.lab.jobs.own_runs import DamagedRun, OwnRun
from mpd2.lab.workspaces import earlier
from mpd2.methods.registry import continuations_of, policy_of
from mpd2.planning.floors import Choice, Floor
from mpd2.studio.shell import workspaces
from mpd2.studio.shell.scenario import DEFAULT_RUN, SHOWN_SPLITS, Scenario
from mpd2.study.claims import AI
from mpd2.study.definition import CONTENDERS
from mpd2.study.operating import PolicyFor, as_fitted, choose_point, continuations_at, expectations_at, policy_at

OWN = people.OWN


def cohort(workspace: str) -> Cohort:
    """Every case of a workspace."""
    return workspaces.cohort(workspace)


def manifest(workspace: str) -> Manifest:
    """What a workspace's table is about."""
    return workspaces.cohort(workspace).manifest


@once_a_look
def run_names(workspace: str) -> list[str]:
    """The runs that can be the active one: the study's in its order, then people's own, the newest first."""
    return study_runs(workspace) + [own_key(run) for run in own_runs(workspace) if run.kind == "train"]


@once_a_look
def study_runs(workspace: str) -> list[str]:
    """The runs of the workspace's study that there are, in the study's order."""
    return _runs_in(workspaces.find(workspace).runs)


@once_a_look
def sound_runs(workspace: str) -> list[str]:
    """Those of them that can be shown; what is shipped is known to be sound."""
    shipped, names = workspaces.find(workspace).shipped, study_runs(workspace)
    return names if shipped else [name for name in names if not damage(workspace, name)]


def default_run(workspace: str) -> str:
    """The run that pages open with; empty where none was made yet."""
    names = run_names(workspace)
    return DEFAULT_RUN if DEFAULT_RUN in names else next(iter(names), "")


def is_ready(about: Scenario) -> bool:
    """Whether there is a run to look at, and the AI alone to hold it against."""
    return bool(about.run) and AI in sound_runs(about.workspace)


@once_a_look
def own_runs(workspace: str) -> list[OwnRun]:
    """People's own runs that were made from a workspace's table, or before rows were added to it; the newest first."""
    space = workspaces.find(workspace)
    its = {cohort(workspace).fingerprint, *earlier.rows_by_fingerprint(space)}
    return [run for run in people.own_runs(Workshop.here()) if run.fingerprint in its]


def made_before(workspace: str, name: str) -> str:
    """In words, of a run that was made before rows were added; empty if it was made from the table of today.

    Such a run is shown too: it is applied anew to the cases of today.
    """
    return earlier.made_before(workspaces.find(workspace), cohort(workspace), run(workspace, name).fingerprint)


def own_key(run: OwnRun) -> str:
    """The name an own run has here, where no run of a study can have the same."""
    return f"{OWN}{run.name}"


def run_folder(workspace: str, name: str) -> Path:
    """Where a run is kept."""
    own = name.startswith(OWN)
    return Workshop.here().runs / name.removeprefix(OWN) if own else workspaces.find(workspace).runs / name


def run_title(name: str) -> str:
    """A run as shown."""
    if not name.startswith(OWN):
        return CONTENDERS[name].title if name in CONTENDERS else name
    own = people.described(name.removeprefix(OWN), Workshop.here())
    return own.title if own else plain_words(name)


@cached
def damage(workspace: str, name: str) -> str:
    """Why a run cannot be shown, empty if it can: all that pages read of it is read once."""
    _watched(workspace, name)
    try:
        for split in _shown_splits(workspace):
            _outcome(workspace, name, split, (), None, None)
            error_model(workspace, name).predict(_cases(workspace, split, ()))
    except UserError as error:
        return str(error)
    return ""


def damaged_runs(workspace: str) -> list[DamagedRun]:
    """People's own runs that cannot be shown, by name: those without a description, and those with damaged files."""
    broken = [
        DamagedRun(each.name, reason) for each in own_runs(workspace) if (reason := damage(workspace, own_key(each)))
    ]
    return sorted([*people.damaged_runs(Workshop.here()), *broken], key=lambda each: each.name)


@cached
def run(workspace: str, name: str) -> Run:
    """One run, with its weights."""
    return load_run(_watched(workspace, name))


@cached
def error_model(workspace: str, name: str) -> ErrorModel:
    """How likely everybody is to err, as a run keeps it."""
    return load_errors(_watched(workspace, name))


def predictions(workspace: str, name: str) -> PolicyFor:
    """What a run makes of cases of the workspace: as stored, or asked anew if rows were added since it was made."""
    made = run(workspace, name)
    if made.fingerprint == cohort(workspace).fingerprint:
        return partial(load_predictions, run_folder(workspace, name), made)
    return partial(policy_of, made)


@cached
def can_choose(workspace: str) -> bool:
    """Whether a floor can be chosen on the val cases: it takes positive and negative ones."""
    whole = cohort(workspace)
    return {0, 1} <= set(whole.truth[whole.split == "val"].tolist())


def cases(scenario: Scenario) -> Cohort:
    """The cases of the slice, whichever run is the active one; none left is an `EmptyCohort`."""
    return _cases(scenario.workspace, scenario.split, scenario.cohorts)


@cached
def train(workspace: str) -> Cohort:
    """The training cases of a workspace."""
    return cohort(workspace).subset(split="train")


def outcome(name: str, scenario: Scenario) -> Outcome:
    """What one run did with the slice, at the operating point."""
    about = scenario
    return _outcome(about.workspace, name, about.split, about.cohorts, about.floor, about.confident)


def point(name: str, scenario: Scenario) -> OperatingPoint:
    """By what a run decides: as it was made to, or so that the floor is kept on val."""
    if scenario.is_as_fitted:
        return as_fitted(run(scenario.workspace, name))
    return _chosen(scenario.workspace, name, scenario.floor, scenario.confident)[0]


def choice(name: str, scenario: Scenario) -> Choice | None:
    """How a run's operating point was chosen for the floor; none where there is none to keep."""
    if scenario.floor is None:
        return None
    return _chosen(scenario.workspace, name, scenario.floor, scenario.confident)[1]


def applied(name: str, scenario: Scenario, judged: Cohort) -> tuple[Policy, Continuations | None]:
    """What a run makes of any cases at the operating point, [E, N]; it is asked anew."""
    at, made = point(name, scenario), run(scenario.workspace, name)
    return policy_at(made, judged, at, error_model(scenario.workspace, name)), continuations_at(made, judged, at)


def expectations(name: str, scenario: Scenario, judged: Cohort, costs: Costs | None = None) -> Expectations:
    """What the model that decides expects of any cases, under the costs it decides by unless others are given."""
    at, made = point(name, scenario), run(scenario.workspace, name)
    found = expectations_at(made, judged, replace(at, costs=costs or at.costs), error_model(scenario.workspace, name))
    if found is None:
        raise UserError(f"run {name}: it keeps no error rates; make the run anew")
    return found


def weights(scenario: Scenario) -> Floats:
    """The resamples of the slice, shared by every table and curve of it."""
    return _weights(scenario.workspace, scenario.split, scenario.cohorts)


def evidence(scenario: Scenario) -> Evidence:
    """What every run did with the slice, the active one first."""
    others = (name for name in sound_runs(scenario.workspace) if name != scenario.run)
    return compared((scenario.run, *others), scenario)


def compared(names: tuple[str, ...], scenario: Scenario) -> Evidence:
    """What some runs did with the slice, in the order of their names."""
    outcomes = {name: outcome(name, scenario) for name in names}
    printed = published_of(workspaces.find(scenario.workspace).folder)
    return Evidence(cases(scenario), manifest(scenario.workspace).default_costs(), outcomes, printed)


@cached
def _runs_in(folder: Path) -> list[str]:
    for name in CONTENDERS:
        depends_on(folder / name / CONFIG)
    return [name for name in CONTENDERS if (folder / name / CONFIG).is_file()]


def _continuations(workspace: str, name: str, judged: Cohort) -> Continuations | None:
    made = run(workspace, name)
    if made.fingerprint == cohort(workspace).fingerprint:
        return load_continuations(run_folder(workspace, name), made, judged)
    return continuations_of(made, judged)


def _shown_splits(workspace: str) -> list[str]:
    """The splits that can be shown: those that have cases."""
    there = set(cohort(workspace).split)
    return [split for split in SHOWN_SPLITS if split in there]


@cached
def _cases(workspace: str, split: str, cohorts: tuple[str, ...]) -> Cohort:
    return Scenario(split=split, cohorts=cohorts).slice(cohort(workspace))


@cached
def _weights(workspace: str, split: str, cohorts: tuple[str, ...]) -> Floats:
    return resample_weights(_cases(workspace, split, cohorts))


@cached
def _outcome(
    workspace: str, name: str, split: str, cohorts: tuple[str, ...], floor: Floor | None, confident: float | None
) -> Outcome:
    made, judged, own = run(workspace, name), _cases(workspace, split, cohorts), predictions(workspace, name)
    if floor is None and confident is None:
        policy, continuations = own(judged), _continuations(workspace, name, judged)
    else:
        at = _chosen(workspace, name, floor, confident)[0]
        policy = policy_at(made, judged, at, error_model(workspace, name), own)
        continuations = continuations_at(made, judged, at)
    printed = name in CONTENDERS and workspaces.has_published(workspace)
    published = CONTENDERS[name].published if printed else None
    decisions = route(policy, judged, made.rule, continuations)
    return Outcome(run_title(name), published, decisions, policy, made.rule, continuations)


@cached
def _chosen(
    workspace: str, name: str, floor: Floor | None, confident: float | None
) -> tuple[OperatingPoint, Choice | None]:
    """The operating point that keeps a floor on val, whatever the slice; without a floor the run's own."""
    made = run(workspace, name)
    if floor is None:
        return as_fitted(made, confident), None
    val, own = _cases(workspace, "val", ()), predictions(workspace, name)
    return choose_point(made, val, floor, error_model(workspace, name), confident, own)


def _watched(workspace: str, name: str) -> Path:
    """Where a run is kept; what is made of it is valid as long as its description, which digests all its files."""
    folder = run_folder(workspace, name)
    depends_on(folder / CONFIG)
    return folder
