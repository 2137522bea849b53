"""The commands by which a day in the clinic goes: cases, worklists, readings, outcomes, what came of it."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from datetime import date
from time import sleep

import numpy as np
import pandas as pd

from mpd2.cli.clinic.arguments import WATCHED
from mpd2.cli.output import aligned, print_json, say
from mpd2.clinic.access.actor import LOCAL
from mpd2.clinic.installation import clinic_options
from mpd2.clinic.shadow.answering import add_outcomes, add_readings, set_day
from mpd2.clinic.shadow.evidence.comparison import against, compare, left_out, weekly
from mpd2.clinic.shadow.intake import take_in
from mpd2.clinic.shadow.keeping import Taken
from mpd2.clinic.shadow.rows import Setting
from mpd2.clinic.shadow.worklists import overview_of, seen_worklist
from mpd2.core.errors import UserError
from mpd2.core.text import interval
from mpd2.lab.jobs.folder import Workshop
from mpd2.lab.shadowing import Shadow
from mpd2.lab.watched_folder import read_table, take_in_folder
from mpd2.present.words.clinic import left_out_in_words

EVERY = 5.0  # seconds between two looks at a folder
SHOWN = 20  # refused rows that are named


def run_day(args: Namespace) -> int:
    """Do what was asked for."""
    shadow = Shadow.here(Workshop.here())
    return _RUN[args.verb](args, shadow)


def _intake(args: Namespace, shadow: Shadow) -> int:
    if args.watch is None:
        name, frame = args.file.name, read_table(args.file, shadow.manifest)
        return _told(name, take_in(frame, shadow.store, shadow.deciders, by=LOCAL), args.json)
    folder = clinic_options().watched if args.watch == WATCHED else args.watch
    if folder is None:
        raise UserError("--watch: found no folder, here or in the settings under [clinic] watched")
    while True:
        shadow = Shadow.here(shadow.place)
        codes = [_told(each.name, each.taken, args.json) for each in take_in_folder(folder, shadow, by=LOCAL)]
        if args.once:
            return max(codes, default=0)
        sleep(EVERY)


def _readings(args: Namespace, shadow: Shadow) -> int:
    taken = add_readings(read_table(args.file), shadow.store, shadow.deciders, by=LOCAL)
    return _told(args.file.name, taken, args.json)


def _outcomes(args: Namespace, shadow: Shadow) -> int:
    return _told(args.file.name, add_outcomes(read_table(args.file), shadow.store, by=LOCAL), args.json)


def _worklist(args: Namespace, shadow: Shadow) -> int:
    rows = seen_worklist(shadow.snapshot(), args.reader, date_of(args.day) if args.day else None, by=LOCAL)
    if args.json:
        print_json(_records(rows))
    else:
        rows.to_csv(sys.stdout, index=False, lineterminator="\n")
    return 0


def _report(args: Namespace, shadow: Shadow) -> int:
    snapshot, costs = shadow.snapshot(), shadow.manifest.default_costs()
    compared, seen = compare(snapshot, costs, args.by, shadow.learned), shadow.watch()
    missing = left_out(snapshot)
    if args.json:
        print_json({
            "run": shadow.title,
            "arrivals": len(snapshot),
            "overview": overview_of(snapshot),
            "against": against(snapshot),
            "compared": _records(compared),
            "left_out": {
                "cases": missing.cases, "ranges": {name: each._asdict() for name, each in missing.ranges.items()}
            },
            "weekly": _records(weekly(snapshot, costs)),
            "watched": _records(seen.rows),
            "alarms": [{"alarm": each.key, "acknowledged": each.acknowledged} for each in seen.alarms],
            "suggestion": seen.suggestion or None,
        })  # fmt: skip
        return 0
    print(f"{shadow.title}: " + ", ".join(f"{number} {name}" for name, number in overview_of(snapshot).items()))
    print(against(snapshot))
    if missing.cases:
        print(left_out_in_words(missing.cases, missing.ranges, shadow.manifest.task))
    print(aligned([("per 1,000", "", "would", "done", "difference", "95 % at every look", "n"), *_lines(compared)]))
    for alarm in seen.newest:
        print(alarm.in_words())
    print(seen.suggestion or "No alarm suggests a stop.")
    return 0


def _setting(args: Namespace, shadow: Shadow) -> int:
    if args.start is None:
        settings = shadow.store.settings()
        print_json([{"start": each.start.isoformat(), **each.content(), "by": each.by} for each in settings])
        return 0
    day = {
        "day": args.day, "budget": args.budget, "total": args.total, "at_most": ",".join(_places(args.at_most)),
        "away": ",".join(args.away),
    }  # fmt: skip
    said = {name: str(value) for name, value in day.items() if value not in (None, "")}
    weight = shadow.deciders.usual.weight if args.weight is None else args.weight
    setting = Setting(date_of(args.start), said, weight, args.confident, args.compare_with)
    made = set_day(setting, shadow.store, shadow.deciders, by=LOCAL)
    print_json({"start": made.start.isoformat(), **made.content()})
    return 0


def _told(name: str, taken: Taken, as_json: bool) -> int:
    """Say what became of a table's rows."""
    refused = [problem.sentence(name) for problem in taken.refused]
    if as_json:
        print_json({"accepted": len(taken.accepted), "repeated": len(taken.repeated), "refused": refused})
    else:
        print(f"{name}: {len(taken.accepted)} taken in, {len(taken.repeated)} there already, {len(refused)} problems")
        for sentence in refused[:SHOWN]:
            say(sentence)
    return 1 if refused else 0


def _lines(compared: pd.DataFrame) -> list[tuple[str, ...]]:
    parts = compared["part"].nunique() > 1
    numbers = compared[["would", "done", "difference", "low", "high"]].to_numpy(float)
    return [
        (
            str(metric).replace("_", " "),
            str(part) if parts else "",
            *map(_number, row[:3]),
            interval(row[3], row[4], 0) or "too few",
            str(n),
        )
        for metric, part, n, row in zip(compared["metric"], compared["part"], compared["n"], numbers, strict=True)
    ]


def _number(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.0f}"


def _places(pairs: list[str]) -> list[str]:
    wrong = [pair for pair in pairs if not pair.rpartition("=")[2].isdecimal() or "=" not in pair]
    if wrong:
        raise UserError(f"--at-most: found {wrong[0]!r}, expected READER=N such as north-1=40")
    return [pair.replace("=", ":") for pair in pairs]


def date_of(text: str) -> date:
    """A day as it is given to a command."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise UserError(f"date: found {text!r}, expected one such as 2026-11-16") from None


def _records(rows: pd.DataFrame) -> list[dict[str, object]]:
    """Rows as plain values; what has none, or no end, is None."""
    found: list[dict[str, object]] = json.loads(rows.to_json(orient="records", date_format="iso"))
    return found


_RUN = {
    "intake": _intake,
    "readings": _readings,
    "outcomes": _outcomes,
    "worklist": _worklist,
    "report": _report,
    "setting": _setting,
}
