"""`resplit`: does it hold on other cases, and in a cohort nobody learned from?"""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from typing import Any

import pandas as pd

from mpd2.cli.inputs import cohort_of
from mpd2.cli.output import aligned, print_json
from mpd2.cli.reproduce import study_bar
from mpd2.core.errors import UserError
from mpd2.study import resplits
from mpd2.study.catalogue import rounded
from mpd2.study.definition import CONTENDERS, SEEDS, Study, StudyPlan
from mpd2.study.experiments import ExperimentCache
from mpd2.study.reproduce import play
from mpd2.study.sentences import resplit_words, transfer_words
from mpd2.study.tables import StudyTables
from mpd2.study.views import view


def run(args: Namespace) -> int:
    """Play the rounds that are missing and print what all of them found."""
    study = study_of(args)
    ledger = ExperimentCache(study, study.plan.seeds)
    rounds = resplits.transfer_rounds(study) if args.leave_out else resplits.resplit_rounds(study)
    with study_bar() as (tell, _):
        play(ledger, rounds, tell)
    if args.leave_out:
        frames = {"transfer": resplits.transfer(ledger)}
    else:
        against = args.against or resplits.reference(study)
        frames = {"resplits": resplits.resplits(ledger), "rivals": resplits.rivals(ledger, against)}
    if args.json:
        print_json({"table": str(args.table), "fingerprint": study.cohort.fingerprint} | as_json(frames, study.plan))
    else:
        print(describe(StudyTables(frames, study.cohort.manifest)))
    return 0


def study_of(args: Namespace) -> Study:
    """The study of the table with the methods, resplits and seeds asked for."""
    names = [name for name in CONTENDERS if args.methods is None or name in args.methods]
    unknown = sorted(set(args.methods or ()) - set(CONTENDERS))
    if unknown:
        raise UserError(f"method: found {', '.join(unknown)}, expected some of {', '.join(CONTENDERS)}")
    default = StudyPlan().draws if args.leave_out else StudyPlan().resplits
    numbers = default if args.resplits is None else args.resplits
    numbers = tuple(range(numbers)) if isinstance(numbers, int) else numbers
    seeds = tuple(range(SEEDS[0], SEEDS[0] + args.seeds)) if isinstance(args.seeds, int) else args.seeds
    plan = replace(StudyPlan(), resplits=numbers, draws=numbers, seeds=seeds)
    return Study(cohort_of(args.table), args.data, contenders={name: CONTENDERS[name] for name in names}, plan=plan)


def as_json(frames: dict[str, pd.DataFrame], plan: StudyPlan) -> dict[str, Any]:
    """The tables as plain rows, with how they were made; what has no value is null."""
    how = {"resplits": plan.resplits, "seeds_of_each_method": plan.seeds}
    tables = {
        name: [{key: None if pd.isna(value) else value for key, value in row.items()} for row in records]
        for name, records in ((name, rounded(frame).to_dict("records")) for name, frame in frames.items())
    }
    return {"made_with": how} | tables


def describe(figures: StudyTables) -> str:
    """The tables and what they come to, as text."""
    words = transfer_words if "transfer" in figures.tables else resplit_words
    return "\n\n".join([*(aligned(view(name, figures)) for name in figures.tables), words(figures)])
