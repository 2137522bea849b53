"""`resplit`: does it hold on other cases, and in an unseen cohort?"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mpd2.cli.arguments import DATA, add_json, add_table, describe, names, seed_list, seeds
from mpd2.cli.output import aligned, if_interrupted, print_json
from mpd2.cli.reproduce import going_on, study_bar
from mpd2.core.errors import UserError

if TYPE_CHECKING:
    import pandas as pd

    from mpd2.study.definition import Study, StudyPlan
    from mpd2.study.tables import StudyTables

FLOORS = ("ai", "0.9", "0.95", "0.975")  # that experiments are judged at
SUMMARY = "judge every method on other splits of the cases"


def add(command: ArgumentParser) -> None:
    """The arguments of `resplit`."""
    describe(
        command,
        "Deal the cases anew to train, val and test, as many of each cohort and truth as before; fit every method and\n"
        "judge it once on that test part. Prints mean and standard deviation over resplits, and differences from one\n"
        "method with an interval that allows for the cases resplits share. With --leave-out each cohort is new in\n"
        "turn: learned from are the others, judged are its test cases. The results of a resplit are kept in\n"
        "DATA/build: an interrupted command goes on where it was.",
        "resplit --json",
        "resplit --methods verma,mao,ai --resplits 5 --seeds 1",
        "resplit --leave-out",
        "resplit --floor ai --json",
    )
    add_table(command)
    command.add_argument("--data", type=Path, default=DATA, help=f"folder of the study (default: {DATA})")
    command.add_argument(
        "--resplits", type=seeds, help="how many, or a list of their numbers such as 3,7 (default: 20, 5 to leave out)"
    )
    command.add_argument(
        "--seeds", type=seeds, default=2, help="of each method in each resplit, from 42 on, or a list (default: 2)"
    )
    command.add_argument("--methods", type=names, metavar="NAMES", help="such as verma,ai (default: all deployable)")
    command.add_argument("--against", metavar="NAME", help="the method that differences are from (default: MPD²+)")
    command.add_argument("--leave-out", action="store_true", help="let each cohort be new in turn")
    command.add_argument(
        "--floor", choices=FLOORS, help="every method at the same sensitivity, the weight of a miss chosen on val"
    )
    add_json(command)


def run(args: Namespace) -> int:
    """Make the experiments that are missing and print the results of all of them."""
    from mpd2.study import robustness
    from mpd2.study.experiments import ExperimentCache
    from mpd2.study.reproduce import run_missing
    from mpd2.study.tables import StudyTables

    study = study_of(args)
    cache = ExperimentCache(study, study.plan.seeds)
    experiments = robustness.transfer_experiments(study) if args.leave_out else robustness.resplit_experiments(study)
    with if_interrupted(lambda: going_on(study)), study_bar() as (tell, _):
        run_missing(cache, experiments, tell)
    if args.leave_out:
        frames = {"transfer": robustness.transfer(cache)}
    elif args.floor:
        rows, less = (
            robustness.at_floors(cache),
            robustness.floor_rivals(cache, args.against or robustness.reference(study)),
        )
        frames = {"floors": rows[rows["floor"] == args.floor], "floor_rivals": less[less["floor"] == args.floor]}
    else:
        against = args.against or robustness.reference(study)
        frames = {"resplits": robustness.resplits(cache), "rivals": robustness.rivals(cache, against)}
    if args.json:
        print_json({"table": str(args.table), "fingerprint": study.cohort.fingerprint} | as_json(frames, study.plan))
    else:
        print(as_text(StudyTables(frames, study.cohort.manifest)))
    return 0


def study_of(args: Namespace) -> Study:
    """The study of the table with the methods, resplits and seeds asked for."""
    from mpd2.cli.inputs import cohort_of
    from mpd2.study.definition import CONTENDERS, SEEDS, Study, StudyPlan

    methods = [name for name in CONTENDERS if args.methods is None or name in args.methods]
    unknown = sorted(set(args.methods or ()) - set(CONTENDERS))
    if unknown:
        raise UserError(f"method: found {', '.join(unknown)}, expected some of {', '.join(CONTENDERS)}")
    default = StudyPlan().draws if args.leave_out else StudyPlan().resplits
    numbers = default if args.resplits is None else seed_list(args.resplits, 0)
    plan = replace(StudyPlan(), resplits=numbers, draws=numbers, seeds=seed_list(args.seeds, SEEDS[0]))
    return Study(cohort_of(args.table), args.data, contenders={name: CONTENDERS[name] for name in methods}, plan=plan)


def as_json(frames: dict[str, pd.DataFrame], plan: StudyPlan) -> dict[str, Any]:
    """The tables as plain rows, with how they were made; what has no value is null."""
    return {"made_with": {"resplits": plan.resplits, "seeds_of_each_method": plan.seeds}} | as_rows(frames)


def as_rows(frames: dict[str, pd.DataFrame]) -> dict[str, list[dict[str, Any]]]:
    """Tables as plain rows by name, rounded; what has no value is null."""
    import pandas as pd

    from mpd2.study.catalogue import rounded

    return {
        name: [{str(key): None if pd.isna(value) else value for key, value in row.items()} for row in records]
        for name, records in ((name, rounded(frame).to_dict("records")) for name, frame in frames.items())
    }


def as_text(study_tables: StudyTables) -> str:
    """The tables and what they come to, as text."""
    from mpd2.study.analyses.sensitivity import floor_words
    from mpd2.study.readable_tables import view
    from mpd2.study.sentences import resplit_words, transfer_words

    words = {"transfer": transfer_words, "floors": floor_words, "resplits": resplit_words}
    last = next(words[name] for name in study_tables.tables)
    return "\n\n".join([*(aligned(view(name, study_tables)) for name in study_tables.tables), last(study_tables)])
