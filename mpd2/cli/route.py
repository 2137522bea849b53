"""`route`: who reads each case?"""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

import pandas as pd

from mpd2.cli.inputs import cohort_of
from mpd2.errors import UserError
from mpd2.files import replacing
from mpd2.methods import policy_of
from mpd2.policy import Policy
from mpd2.runs import Run, load_run
from mpd2.worklist import decisions_frame

SUFFIXES = (".csv", ".parquet")


def run(args: Namespace) -> int:
    """Write the decision for every case of a table."""
    _check_place(args.out, args.table)
    trained = load_run(args.run)
    cohort = cohort_of(args.table, args.manifest, "routing")
    policy = policy_of(trained, cohort)
    if args.member is not None:
        policy = _alone(policy, trained, args.member)
    frame = decisions_frame(policy, cohort, trained.rule)
    write_frame(frame, args.out)
    asked = int((frame["action"] != "ai").sum())
    print(f"{args.out}: {len(frame)} cases, {asked} for a reader and {len(frame) - asked} for the AI")
    return 0


def write_frame(frame: pd.DataFrame, path: Path) -> None:
    """As CSV or Parquet by the file's ending, whole or not at all."""
    with replacing(path) as draft:
        if path.suffix.lower() == ".parquet":
            frame.to_parquet(draft, index=False)
        else:
            frame.to_csv(draft, index=False, float_format="%.6g")


def _check_place(out: Path, table: Path) -> None:
    if out.suffix.lower() not in SUFFIXES:
        raise UserError(f"{out}: found a file ending in {out.suffix or 'nothing'}, expected {' or '.join(SUFFIXES)}")
    if out.resolve() == table.resolve():
        raise UserError(f"{out}: is the table itself; write the decisions to another file")


def _alone(policy: Policy, trained: Run, seed: int) -> Policy:
    seeds = [int(settings["seed"]) for settings in trained.settings]
    if seed not in seeds:
        raise UserError(f"member: found seed {seed}, expected one of {', '.join(map(str, seeds))}")
    row = [seeds.index(seed)]
    return Policy(policy.defer[row], policy.allocation[row], policy.available)
