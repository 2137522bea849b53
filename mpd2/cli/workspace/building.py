"""The study of a workspace, built here: the same as the dashboard builds in the background."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Mapping
from time import perf_counter
from typing import Any

from mpd2.cli.output import aligned, if_interrupted, print_json, say
from mpd2.cli.reproduce import going_on, study_bar
from mpd2.cli.resplit import as_rows
from mpd2.core.errors import UserError
from mpd2.core.runs import METRICS
from mpd2.core.text import several
from mpd2.core.workspace import Workspace
from mpd2.lab.jobs.folder import ENDED, Workshop, all_jobs
from mpd2.lab.workspaces.shelf import find_own
from mpd2.study.build import BuildSize, build, left_out, read_size, standing, study_in
from mpd2.study.catalogue import MAP, TABLES, table_path
from mpd2.study.definition import Study
from mpd2.study.tables import read_table

SHOWN = ("TotalCost", "ClinicalCost", "ExpertCost", "Sens", "Spec", "Defer")
FIGURES = ("overall", "cohorts", "readers", "paired", "resplits", "rivals")
"""The tables that are printed as JSON; all are in the workspace's folder."""


def build_workspace(args: Namespace) -> int:
    """Make what is missing of the study, and print its figures."""
    workspace = find_own(args.name, Workshop.here())
    _refuse_built(workspace, Workshop.here())
    cohort, size = workspace.cohort(), size_of(args, workspace)
    study = study_in(workspace.folder, cohort, size)
    start = perf_counter()
    with if_interrupted(lambda: going_on(study)), study_bar() as (tell, announce):
        made = build(workspace.folder, size, tell, announce, cohort)
    seconds = perf_counter() - start
    if args.json:
        print_json(
            {"workspace": workspace.name, "fingerprint": cohort.fingerprint, "seconds": seconds, "made": made}
            | {"stages": {each.name: [each.made, each.of] for each in standing(study, size.until)}}
            | {"left_out": left_out(study), "runs": figures(study), "tables": tables(study)}
        )
        return 0
    print(as_text(study))
    say(f"made in {seconds:.0f} s: {', '.join(made)}" if made else "everything is up to date: nothing to do")
    return 0


def size_of(args: Namespace, workspace: Workspace) -> BuildSize:
    """How large the study was made before, else as usual, with what was asked for; up to the stage asked for."""
    asked = {name: getattr(args, name) for name in ("seeds", "resplits", "methods", "until")}
    given = {name: value for name, value in asked.items() if value is not None}
    try:
        return BuildSize.model_validate(read_size(workspace.folder).model_dump() | given)
    except ValueError as error:
        raise UserError(f"size of the study: {error}") from None


def _refuse_built(workspace: Workspace, place: Workshop) -> None:
    """Two who build the same would do everything twice."""
    for job in all_jobs(place):
        building = job.order.building
        if building is not None and building.workspace == workspace.name and job.status.state not in ENDED:
            raise UserError(
                f"{workspace.name}: is being built by the dashboard (job {job.name}); wait, or cancel it there"
            )


def figures(study: Study) -> dict[str, Any]:
    """Every metric of every run there is on the test cases, with its interval, by run."""
    found = {}
    for name in study.contenders:
        path = study.folder(name) / METRICS
        if path.is_file():
            found[name] = json.loads(path.read_text(encoding="utf-8"))["test"]["overall"]
    return found


def tables(study: Study) -> dict[str, list[dict[str, Any]]]:
    """The chief tables there are, as rows."""
    there = [name for name in FIGURES if name in TABLES and name != MAP and table_path(study, name).is_file()]
    return as_rows({name: read_table(study.data, name) for name in there})


def as_text(study: Study) -> str:
    """What each run costs on the test cases, the cheapest first."""
    found = sorted(figures(study).items(), key=lambda item: item[1]["metrics"]["TotalCost"]["mean"])
    rows = [(study.contenders[name].title, *(_cell(each["metrics"][key]) for key in SHOWN)) for name, each in found]
    n, groups = (found[0][1]["n"] if found else 0), study.cohort.manifest.groups
    what = study.cohort.manifest.task.cases if groups is None else several(groups.word)
    return f"{aligned([('test cases', *SHOWN), *rows])}\n\nn = {n:,}; in brackets 95 % intervals over {what}"


def _cell(value: Mapping[str, float | None]) -> str:
    mean, low, high = value["mean"], value["low"], value["high"]
    if mean is None:
        return "none"
    return f"{mean:.3f}" if low is None or high is None else f"{mean:.3f} [{low:.3f}, {high:.3f}]"
