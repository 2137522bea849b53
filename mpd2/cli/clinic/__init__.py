"""`clinic`: which run the clinic uses, a day with it in shadow mode, and who may send it cases."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from mpd2.cli.arguments import add_json, describe
from mpd2.cli.clinic import tokens
from mpd2.cli.clinic.arguments import VERBS, add_days

SUMMARY = "propose and activate a run for the clinic, and watch beside it what the run would do"
RUN = "an own run by its folder's name, or WORKSPACE/NAME for a run of a workspace's study"


def add(command: ArgumentParser) -> None:
    """The arguments of `clinic`."""
    describe(
        command,
        "One person proposes a run, another one activates it. Here the local user of this machine acts: without a\n"
        "login in the settings they may take both steps, with one they may take one of them, and somebody who is\n"
        "signed in takes the other on Retrain, under Own runs. The other commands are those of shadow mode: cases are\n"
        "taken in and decided, readers answer, outcomes follow, and nothing in care is changed; docs/clinic/shadow.md.",
        "clinic status",
        'clinic propose my-run --reason "as cheap, and misses fewer in the north"',
        "clinic activate my-run",
        "clinic intake monday.csv",
        "clinic report --json",
        "clinic erase --case r455",
        "clinic recalibrate --name ours",
        "clinic change-plan 20260101-120000-000000-ours --out plan.html",
        "clinic token intake --role clinician",
    )
    verbs = command.add_subparsers(dest="verb", metavar="VERB", required=True)
    propose = verbs.add_parser("propose", help="propose a run")
    propose.add_argument("run", help=RUN)
    propose.add_argument("--reason", required=True, help="why it should be used")
    activate = verbs.add_parser("activate", help="make the run that is proposed the active one")
    activate.add_argument("run", help=RUN)
    verbs.add_parser("status", help="say what is proposed and what is active")
    add_days(verbs)
    _add_recalibrate(verbs.add_parser("recalibrate", help="fit a run anew on local cases, as a new run beside it"))
    plan = verbs.add_parser("change-plan", help="write what changed with a recalibrated run, how and with what effect")
    plan.add_argument("run", help=RUN)
    plan.add_argument("--out", required=True, type=Path, metavar="FILE", help="ending in .html or .md")
    tokens.add(verbs.add_parser("token", help="make a token for a program that uses the HTTP interface"))


def _add_recalibrate(command: ArgumentParser) -> None:
    command.add_argument("--run", help=f"{RUN} (default: the active one)")
    command.add_argument(
        "--cases", type=Path, metavar="FILE", help="CSV or Parquet, with outcomes (default: those of shadow mode)"
    )
    command.add_argument("--name", required=True, help="what the new run is called")
    add_json(command)


def run(args: Namespace) -> int:
    """Propose, activate, tell, make a token, or do a part of a day in the clinic."""
    if args.verb == "token":
        return tokens.run(args)
    if args.verb == "erase":
        from mpd2.cli.clinic.erasing import run_erase

        return run_erase(args)
    if args.verb in VERBS:
        from mpd2.cli.clinic.days import run_day

        return run_day(args)
    from mpd2.clinic.access.actor import LOCAL
    from mpd2.lab import activation
    from mpd2.lab.jobs.folder import Workshop

    place = Workshop.here()
    if args.verb in ("recalibrate", "change-plan"):
        from mpd2.cli.clinic import recalibrating

        return recalibrating.VERBS[args.verb](args, place)
    if args.verb == "propose":
        made = activation.propose(args.run, args.reason, place, by=LOCAL)
        print(f"{made.run}: proposed; digest {made.digest}")
    elif args.verb == "activate":
        print(activation.activate(args.run, place, by=LOCAL).in_words())
    else:
        now = activation.standing(place)
        print(now.active.in_words() if now.active else "no run is active")
        if now.proposal:
            print(f"{now.proposal.run}: proposed by {now.proposal.proposed_by}. Reason: {now.proposal.reason}")
        activation.active_run(place)  # which refuses a run that was changed since
    return 0
