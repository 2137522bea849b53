"""The three headings of a change plan in words: what changes, by which protocol, with which impact."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np
import pandas as pd

from mpd2.core.files import short_hash
from mpd2.core.manifest import Manifest
from mpd2.core.runs import Run
from mpd2.core.text import GAP, capital, count, decimal, interval, listed, numbered, percent
from mpd2.evaluation.intervals import LEVEL
from mpd2.evaluation.tables import ALL
from mpd2.methods.registry import method_of
from mpd2.study.local.cases import CHOOSE, LEARN
from mpd2.study.local.change import Change, Counts, change_of
from mpd2.study.local.recalibration import AI, ALARMS, COHORT, COST, MISSED, NEW, OLD, POWER, READER, SENT, Verdict

WHAT, PROTOCOL, IMPACT = "What changes", "By which protocol", "With which impact"
"""The three headings."""
LEVEL_WORDS = percent(LEVEL, 0)
SAME = "the same"


@dataclass(frozen=True, eq=False)
class ChangePlan:
    """All that is printed, before any layout."""

    title: str
    stamp: str
    headline: str
    changes: pd.DataFrame  # What, Before, After
    unchanged: str
    protocol: tuple[str, ...]
    impact: tuple[str, ...]
    overall: pd.DataFrame
    cohorts: pd.DataFrame
    readers: pd.DataFrame
    limits: tuple[str, ...]


def change_plan(new: Run, digest: str, change: Change, manifest: Manifest, old: Run | None) -> ChangePlan:
    """Draw up the plan of a recalibrated run, `digest` that of its files; the `old` run may be gone meanwhile."""
    verdict, title = change.verdict(), str(new.notes.get("title") or "The new run")
    return ChangePlan(
        title=f"Change plan: {title}",
        stamp=f"From {change.title} ({change.digest}) to {title} ({digest}), made {new.created}, "
        f"MPD² Studio {new.version}.",
        headline=accepted_in_words(verdict),
        changes=_changes(new, digest, change, old, title),
        unchanged="Nothing else changes: the same readers, inputs and fees, the same threshold of the AI, the same "
        "table. The old run stays as it is.",
        protocol=_protocol(new, change, manifest),
        impact=(in_words(verdict, manifest), against_ai(change.verdict(AI)), *_enough(verdict)),
        overall=_shown(change, manifest, ALL),
        cohorts=_shown(change, manifest, COHORT),
        readers=_readers(change, manifest),
        limits=_limits(change),
    )


def accepted_in_words(verdict: Verdict) -> str:
    """Whether the rule that was stated in advance takes the new run, in a sentence."""
    if verdict.wins:
        return (
            "By the rule stated in advance the new run can be taken: it is cheaper beyond chance, and does not miss "
            "more beyond chance."
        )
    why = "it misses more beyond chance" if verdict.misses_more else "it is not cheaper beyond chance"
    if verdict.dearer:
        why = "it costs more beyond chance"
    return f"By the rule stated in advance the new run is not taken: {why}. The old run goes on."


def in_words(verdict: Verdict, manifest: Manifest) -> str:
    """The difference between new and old run on held-out local cases, whichever way it goes."""
    task = manifest.task
    missed, low, high = verdict.missed
    return (
        f"On {numbered(verdict.n, 'held-out local case')} the new run costs {_less(verdict.difference, 'the old one')} "
        f"({LEVEL_WORDS} interval of the difference {interval(verdict.low, verdict.high, signed=True)}"
        f"{'' if verdict.cheaper or verdict.dearer else ', which includes 0: this may be chance'}). Of 1,000 "
        f"{task.people}, {_fewer(missed)} {task.positives} are missed ({interval(low, high, 1, signed=True)})."
    )


def against_ai(verdict: Verdict) -> str:
    """The same against the AI recalibrated on the same cases, which asks nobody."""
    chance = "" if verdict.cheaper or verdict.dearer else "; this may be chance"
    return (
        f"Against the AI alone, recalibrated on the same cases, it costs {_less(verdict.difference, 'that')} "
        f"({interval(verdict.low, verdict.high, signed=True)}{chance})."
    )


def needed_in_words(verdict: Verdict) -> str:
    """How many outcomes would show the difference that was seen; empty where it is shown, or where there is none."""
    if verdict.needed is None or verdict.cheaper:
        return ""
    outcomes = 10 * ceil(verdict.needed / (1 - LEARN - CHOOSE) / 10)
    return (
        f"If the difference is as large as it looks, {count(verdict.needed)} held-out cases would show it in "
        f"{percent(POWER, 0)} of all tries: about {count(outcomes)} local outcomes in all, of which a third is "
        "held out."
    )


def _enough(verdict: Verdict) -> tuple[str, ...]:
    return tuple(filter(None, [needed_in_words(verdict)]))


def _changes(new: Run, digest: str, change: Change, old: Run | None, title: str) -> pd.DataFrame:
    """Data, settings and digests, before and after."""
    earlier = None if old is None else change_of(old.notes)
    before, after = (
        {part: None if each is None else each.local.get(part) for part in ("train", "val")}
        for each in (earlier, change)
    )
    table_before = SAME if change.table_before == change.table else f"with other rows: table {change.table_before}"
    rows = [
        ("Run", change.title, title),
        ("Digest of its files", change.digest, digest),
        ("Cases of the table", table_before, f"{_counted(change.learned)}; table {change.table}"),
        ("Local cases to learn from", _counted(before["train"]), _counted(after["train"])),
        ("Local cases to choose by", _counted(before["val"]), _counted(after["val"])),
        ("Digest of the local cases' file", "–" if earlier is None else earlier.cases, change.cases),
        ("Method", _method(old), _method(new)),
        ("Models and their seeds", _seeds(old), _seeds(new)),
        ("Settings", _settings(old), _settings(new)),
        ("Costs of a miss and of a false alarm", _costs(old), _costs(new)),
    ]
    return pd.DataFrame(rows, columns=["What", "Before", "After"])


def _protocol(new: Run, change: Change, manifest: Manifest) -> tuple[str, ...]:
    """How it was made and judged."""
    held, group = change.local["test"], manifest.groups.word if manifest.groups else "case"
    chosen = "the weights that are kept" if "best_epoch" in new.notes else "nothing, for this method"
    return (
        f"Local cases are dealt by a hash of their {group}: {percent(LEARN, 0)} to learn from, {percent(CHOOSE, 0)} to "
        f"choose by, {percent(1 - LEARN - CHOOSE, 0)} held out. A {group} keeps its part however many come later"
        f"{'; one that is in the table already keeps its split there' if manifest.groups else ''}.",
        "The new run is fitted with the settings of the old one to the train cases of the table and the local cases to "
        f"learn from. On val cases and the local cases to choose by is chosen: {chosen}. The held-out cases and the "
        "table's test cases are read by neither.",
        f"Both runs, and the AI recalibrated on the same cases, then decide what is held out, {_counted(held)}; "
        "all models of a run decide together, by the costs of the old run. Differences are paired and resampled "
        f"{count(change.resamples)} times by {group}; intervals hold {LEVEL_WORDS} of the resamples.",
        f"Rule of acceptance, written down on {change.asked:%Y-%m-%d %H:%M} UTC, before anything was fitted: "
        f"{change.rule}",
        "One person proposes the new run with a reason, another one activates it. To go back, the old run is proposed "
        "and activated again.",
    )


def _limits(change: Change) -> tuple[str, ...]:
    """What the comparison cannot tell."""
    left = f" {numbered(change.waiting, 'row')} of the file had no outcome and were left out." if change.waiting else ""
    return (
        "A reader counts as there only where their answer to the case is known. Where answers are known only of those "
        "who were asked, other readers cannot be tried on these cases, and both runs look more alike than they are.",
        f"Only cases with an outcome count.{left} Where outcomes come sooner for some cases than for others, those "
        "others are not represented.",
        "The held-out cases are an honest test once. Whoever makes several new runs and takes the best of them by "
        "these figures must expect less of it.",
        "Research software, not a medical device.",
    )


def _shown(change: Change, manifest: Manifest, kind: str) -> pd.DataFrame:
    """The rows of a kind against the old run, in words."""
    rows, task = change.frame, manifest.task
    heads = {COST: "Cost a case", MISSED: f"{capital(task.positives)} missed", ALARMS: "False alarms", SENT: "Sent"}
    names = {entry.key: entry.name for entry in manifest.cohorts}
    rows = rows[(rows["kind"] == kind) & (rows["against"] == OLD)]
    part = {} if kind == ALL else {"Where": [names.get(key, key) for key in rows["part"]]}
    return pd.DataFrame({**part, "Of 1,000, but for cost": rows["metric"].map(heads), **_numbers(rows)})


def _readers(change: Change, manifest: Manifest) -> pd.DataFrame:
    """How often each reader is asked."""
    rows, names = change.frame, {reader.column: reader.name for reader in manifest.readers}
    rows = rows[(rows["kind"] == READER) & (rows["against"] == OLD)]
    return pd.DataFrame({"Asked, of 1,000 cases": rows["part"].map(names), **_numbers(rows)})


def _numbers(rows: pd.DataFrame) -> dict[str, list[str]]:
    places = np.where(rows["metric"] == COST, 3, 1)
    numbers = rows[["other", NEW, "difference", "low", "high"]].to_numpy(float)
    each = list(zip(numbers, places.tolist(), strict=True))
    return {
        "Old run": [decimal(row[0], at) for row, at in each],
        "New run": [decimal(row[1], at) for row, at in each],
        "Difference": [decimal(row[2], at, signed=True) for row, at in each],
        f"{LEVEL_WORDS} interval": [interval(row[3], row[4], at, signed=True) for row, at in each],
        "n": [count(int(n)) for n in rows["n"]],
    }


def _counted(counts: Counts | None) -> str:
    if counts is None:
        return "none"
    words = f"{numbered(counts.cases, 'case')}, {count(counts.positives)} positive"
    return words if counts.groups == counts.cases else f"{words}, in {numbered(counts.groups, 'group')}"


def _method(run: Run | None) -> str:
    return "not there any more" if run is None else method_of(run).name


def _seeds(run: Run | None) -> str:
    return "–" if run is None else listed([str(member["seed"]) for member in run.settings])


def _settings(run: Run | None) -> str:
    """The settings of the first model but for its seed, and a digest of all."""
    if run is None:
        return "–"
    first = {name: value for name, value in run.settings[0].items() if name != "seed"}
    said = ", ".join(f"{name} {value}" for name, value in first.items() if not isinstance(value, dict))
    return f"{said}; digest {short_hash([dict(member) for member in run.settings])}".removeprefix("; ")


def _costs(run: Run | None) -> str:
    return "–" if run is None else f"{run.costs.false_negative:g} and {run.costs.false_positive:g}"


def _less(difference: float, other: str) -> str:
    """A difference in cost against another, in words that cannot be misread."""
    if not difference:
        return f"as much a case as {other}"
    return f"{decimal(abs(difference))}{GAP}{'less' if difference < 0 else 'more'} a case than {other}"


def _fewer(difference: float) -> str:
    """A difference in people, in words."""
    return "as many" if not difference else f"{decimal(abs(difference), 1)} {'fewer' if difference < 0 else 'more'}"
