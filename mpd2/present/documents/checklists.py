"""Reporting checklists filled from a run: a row for each item, with its answer, where to see it, or what is missing."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from html import escape

import numpy as np
import pandas as pd

from mpd2.core.cohort import SPLITS, UNKNOWN, Cohort
from mpd2.core.manifest import Manifest
from mpd2.core.runs import Run
from mpd2.core.state import Role
from mpd2.core.text import count, listed, numbered, percent
from mpd2.evaluation.clinical.subgroups import banded
from mpd2.evaluation.evidence import Evidence
from mpd2.evaluation.intervals import LEVEL, resamples_for
from mpd2.evaluation.metrics import COUNTS, METRICS
from mpd2.present.documents.checklist_items import CHECKLISTS, GROUPED, OWN, PUBLISHED, SINGLE, STATES, Item
from mpd2.present.documents.html import document
from mpd2.present.words.origins import MADE, origins
from mpd2.study.claims import AI
from mpd2.study.tables import StudyTables

COLUMNS = ("Item", "Topic", "What is asked", "State", "Answer", "What is missing", "Where")


def facts(
    run: Run, whole: Cohort, evidence: Evidence, overall: pd.DataFrame, active: str, slice: str, point: str
) -> dict[str, str]:
    """What items may name of a run, in words: `whole` is its table, `evidence` and `overall` are of the slice."""
    manifest, cases, task = whole.manifest, evidence.cohort, whole.manifest.task
    study = StudyTables({"overall": overall}, manifest)
    rates = {
        f"{prefix}{name.lower()}": _with_interval(study, name, who)
        for prefix, who in (("", active), ("ai_", AI))
        for name in ("Sens", "Spec")
    }
    sens = study.of("overall", metric="Sens")[active]
    tallied = evidence.tallies[active].counts.mean(0)
    return {
        "run": evidence.outcomes[active].title,
        "title": manifest.title,
        "slice": slice,
        "point": point,
        "cases": count(len(whole)),
        "cohorts": listed([entry.name for entry in manifest.cohorts]),
        "cohort_count": count(len(manifest.cohorts)),
        "origins": origins(manifest.cohorts),
        "persons": persons(manifest),
        "dates": "The table has dates, but no result is told by date."
        if manifest.row.date
        else "The table has no dates.",
        "blind": _blind(manifest),
        "bands": _bands(manifest),
        "structure": _titles(manifest, "structure") or "none is in the table",
        "poor_inputs": f"How poor the {task.case} is, is an input. " if manifest.layout.qualities else "",
        "group": manifest.groups.word if manifest.groups else "person",
        "case": task.case,
        "positive": task.positive,
        "negative": task.negative,
        "splits": ", ".join(f"{count(int((whole.split == split).sum()))} {split}" for split in SPLITS),
        "prevalence": listed([_prevalence(whole, entry.key, entry.name) for entry in manifest.cohorts]),
        "inputs": ", ".join(whole.layout.names),
        "inputs_count": count(len(whole.layout)),
        "missing_inputs": percent(float(np.isnan(whole.state).mean())),
        "unread": percent(float((whole.decisions == UNKNOWN).mean()), 0),
        "readers": count(whole.readers),
        "models": count(run.members),
        "seeds": ", ".join(str(settings["seed"]) for settings in run.settings),
        "rule": run.rule,
        "costs": f"a missed {task.positive} {run.costs.false_negative:g}, a false alarm {run.costs.false_positive:g}",
        "fingerprint": whole.fingerprint,
        "version": run.version,
        "created": run.created[:10],
        "level": percent(LEVEL, 0),
        "resamples": count(resamples_for(len(cases))),
        "n": count(len(cases)),
        "with_it": numbered(int((cases.truth == 1).sum()), task.positive, task.positives),
        "sens_interval": METRICS["Sens"].interval(sens.low, sens.high),
        "sent": METRICS["Defer"].shown(study.of("overall", metric="Defer")[active].value),
        **rates,
        **{name.lower(): f"{tallied[COUNTS.index(name)]:.0f}" for name in ("TP", "FN", "FP", "TN")},
    }


def conditions(manifest: Manifest, published: bool) -> frozenset[str]:
    """What holds of a table; `published`: whether a paper's numbers lie beside ours."""
    return frozenset((PUBLISHED if published else OWN, GROUPED if manifest.groups else SINGLE))


def filled(key: str, known: Mapping[str, str], holds: Collection[str]) -> pd.DataFrame:
    """A checklist, COLUMNS, a row an item; `known`: as `facts` gives them, `holds`: as `conditions` does."""
    _, items = CHECKLISTS[key]
    said = [item for item in items if not item.only or item.only in holds]
    return pd.DataFrame([_row(item, known) for item in said], columns=list(COLUMNS))


def tally(rows: pd.DataFrame) -> str:
    """How many items are in which state.

    >>> tally(pd.DataFrame({"State": ["done", "done", "not done"]}))
    '3 items: 2 done, 1 not done.'
    """
    counts = rows["State"].value_counts()
    return f"{len(rows)} items: {', '.join(f'{counts[state]} {state}' for state in STATES if state in counts)}."


def to_html(key: str, rows: pd.DataFrame, stamp: str) -> bytes:
    """A filled checklist as a page of its own, with what it is about at its head."""
    title = f"{CHECKLISTS[key][0]}, in our own words"
    heads = "".join(f"<th>{escape(name)}</th>" for name in rows.columns)
    body = "".join(f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in row)}</tr>" for row in rows.to_numpy())
    parts = [
        f"<h1>{escape(title)}</h1>",
        f'<p class="stamp">{escape(stamp)}</p>',
        f"<p>{escape(tally(rows))}</p>",
        f'<table class="words"><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>',
    ]
    return document(title, parts)


def _row(item: Item, known: Mapping[str, str]) -> tuple[str, ...]:
    words = (part.format(**known) for part in (item.answer, item.missing))
    return (item.number, item.topic, item.asks, item.state, *words, item.place)


def _titles(manifest: Manifest, role: Role) -> str:
    """The measured inputs of a role, in words."""
    variables = manifest.layout.variables
    return listed([variables[at].title for at in manifest.layout.of_role(role) if variables[at].measured])


def persons(manifest: Manifest) -> str:
    """What is missing about the persons examined."""
    known = _titles(manifest, "other")
    if not known:
        return "The table holds no age, sex, ethnicity or income of the persons examined."
    return f"Of the persons examined the table holds nothing but {known}."


def _blind(manifest: Manifest) -> str:
    """Whether truth and readings were judged apart, as far as the table tells."""
    made = listed([entry.name for entry in manifest.cohorts if entry.readings in MADE])
    begin = f"In {made} readings were made with the truth at hand. " if made else ""
    return f"{begin}Whether truth and readings were judged apart is in the datasheet, if anywhere."


def _bands(manifest: Manifest) -> str:
    """By what cases are grouped besides the cohort."""
    titles = [manifest.layout.titles[name] for name in banded(manifest)]
    return f" and by {listed(titles)}" if titles else ""


def _with_interval(study: StudyTables, metric: str, who: str) -> str:
    own = study.of("overall", metric=metric)[who]
    return f"{METRICS[metric].shown(own.value)} ({METRICS[metric].interval(own.low, own.high)})"


def _prevalence(whole: Cohort, key: str, name: str) -> str:
    truth = whole.truth[whole.sources == key]
    return f"{percent(float((truth == 1).mean()), 0)} of {count(len(truth))} in {name}" if len(truth) else name
