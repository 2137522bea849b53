"""RESULTS.md: the tables of the study, beside what the paper prints, and in words what they do to its claims."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from mpd2.core.files import FIRST_WORKSPACE
from mpd2.core.manifest import Manifest
from mpd2.core.text import brief, listed, several
from mpd2.evaluation.intervals import LEVEL, RESAMPLES, TAILS
from mpd2.evaluation.metrics import BEST_ORACLE
from mpd2.study.analyses.by_group import group_words
from mpd2.study.analyses.moved_budgets import live_words
from mpd2.study.analyses.plus_ablation import ABOUT as ABOUT_VARIANTS
from mpd2.study.analyses.plus_ablation import BESIDE_THE_PAPER
from mpd2.study.analyses.sensitivity import floor_words, promise_words
from mpd2.study.claims import FAILS, HARDLY, HOLDS, OF_ROUTERS, OF_THE_OBJECTIVE, RATHER
from mpd2.study.decision_curve import ABOUT_CURVES, ABOUT_WINNERS, curve_words, winner_words
from mpd2.study.definition import PAPER_RUN, ROUTERS
from mpd2.study.readable_tables import Rows, cell, view
from mpd2.study.reproduction import (
    LAST_DIGIT,
    LIKELY,
    REASONS,
    SAME,
    SHOWN,
    UNKNOWN,
    cells,
    furthest,
    one_run,
    reproduction,
)
from mpd2.study.sentences import ASSUMPTION, guarantee_words, no_patients, resplit_words, transfer_words
from mpd2.study.tables import StudyTables

FURTHEST = 3  # departures named for a method
Z = float(stats.norm.ppf(TAILS[1]))

SECTIONS = {
    "overall": "Every method on all test cases",
    "paired": "Differences on the same cases",
    "tradeoff": "Scores against costs",
    "cohorts": "In each cohort",
    "groups": "The intervals if rows did not belong together",
    "collapse": "How the load is spread over the readers",
    "retention": "The cases left to the AI",
    "readers": "The readers alone",
    "gaps": "The routers against each reader",
    "wins": "Every method against the readers",
    "risk": "By how hard a case is",
    "deferral": "At any rate of deferral",
    "decision_curve": "Whatever a missed {positive} weighs: net benefit",
    "winners": "Who costs least where",
    "objective": "Terms of the objective",
    "regularisation": "The regularisers",
    "budget": "The budget",
    "live": "Live budgets beside routers trained for one",
    "effects": "What each condition changes",
    "plus": "MPD²+, apart from the paper's protocol",
    "resplits": "On other splits of the cases",
    "rivals": "Resplit by resplit",
    "transfer": "In a cohort nobody learned from",
    "recalibration": "What labelled local cases buy",
    "sensitivity": "Every method at the AI's own sensitivity",
    "claims": "The claims at the same sensitivity",
    "floors": "At the AI's own sensitivity, on other splits of the cases",
    "floor_rivals": "At the AI's own sensitivity, resplit by resplit",
    "promises": "Floors with confidence",
    "guarantee": "What can be promised about a {positive} no reader sees",
}
"""The tables in their order, with their headings."""

NOTES = {
    "groups": "Every method, with the interval over resamples of whole {groups} beside the one that takes every row "
    "for a case of its own, which promises what it cannot keep where the rows of one {group} err together.",
    "paired": "Method less router, mean over members, with the interval over resamples of cases: in a row whose "
    "interval leaves out 0 the two differ beyond chance.",
    "tradeoff": "Whether a method is on the front of the plane (nobody is better in both), and in which share of "
    "resamples it is. Methods that cannot be deployed are left out.",
    "deferral": "Total cost if a price on deferral is moved until that share of cases is deferred. The least one is "
    "found with hindsight, on the test cases.",
    "decision_curve": ABOUT_CURVES,
    "winners": ABOUT_WINNERS,
    "wins": "Against how many readers a method's F1 is higher on the reader's own cases.",
    "live": "A trained run is moved to any rate of deferral without training anew: its own decisions at its own rate, "
    "and elsewhere the cases it is expected to pay to send or to keep next.",
    "effects": "Seed by seed, with Student's interval over seeds.",
    "risk": "Clinical cost in five strata of equal size, from the easiest (1) to the hardest.",
    "plus": ABOUT_VARIANTS,
    "resplits": "The cases dealt anew to train, val and test, as many of each cohort and truth as before; every method "
    "is fitted and chosen anew each time, with few seeds, and judged once. Mean ± standard deviation over resplits. "
    "Whatever the classifier itself was trained on is dealt like any other case, so these figures are another question "
    "than those of the table's own test cases.",
    "rivals": "Method less the reference, mean over resplits. Intervals are Student's, widened for the cases that "
    "resplits share (Nadeau and Bengio, 2003).",
    "transfer": "Learned from are the other cohorts' train and val cases, judged the new one's test cases, in some of "
    "the resplits; beside it the change from when it was learned from as well.",
    "recalibration": "Labelled cases of the new cohort are added to what is learned from, more and more of them. A "
    "number is given from which on every interval of the difference is below 0.",
    "sensitivity": "On the test cases, with the weight of a miss chosen on val for each method so that it misses "
    "no more there than the AI alone; fewest false alarms first. With interval over resamples of cases. "
    "A method whose floor on val is out of reach is shown at its safest point.",
    "claims": "Each claim about the router as above, and once more with every method at the AI's own sensitivity.",
    "floors": "The same over resplits, the weight chosen anew on the val part of each. Mean over resplits with "
    "Student's interval, widened for the cases that resplits share. FloorKept: in which share of resplits a weight was "
    "found that keeps the floor on val.",
    "floor_rivals": "Method less the reference, both at the AI's own sensitivity, mean over resplits; intervals as "
    "above.",
    "promises": "The weight of a miss is taken so heavy that the floor is kept with confidence, by exact tests in a "
    "fixed order. Broken: the sensitivity of the promised point on all val and test cases is below the floor.",
    "guarantee": ASSUMPTION + " Cells: the share of test cases kept under the limit found on val, and what was missed "
    "of them.",
}

SUMMARIES: dict[str, Callable[[StudyTables], str]] = {
    "decision_curve": curve_words,
    "winners": winner_words,
    "groups": group_words,
    "live": live_words,
    "resplits": resplit_words,
    "transfer": transfer_words,
    "floors": floor_words,
    "promises": promise_words,
    "guarantee": guarantee_words,
}
"""What a table comes to, below it in a sentence or two."""

NEEDED = {"live": "budget"}
"""The table that a summary needs besides its own."""


def results(frames: Mapping[str, pd.DataFrame], manifest: Manifest) -> str:
    """The whole document, the same for the same tables."""
    tables = StudyTables(frames, manifest)
    parts = [
        "# Results",
        f"Written by `python -m mpd2 reproduce` from `data/{FIRST_WORKSPACE}/tables`; every figure and every verdict "
        "below follows from them.",
        "## Read this first",
        _bullets(_cautions(tables)),
        "## Which of the paper's claims hold here",
        *_claims(tables),
        "## One run or ten?",
        *_one_or_ten(tables),
        "## Ours beside the paper's, number by number",
        *_beside_the_paper(tables),
    ]
    for name in (name for name in SECTIONS if name in frames):
        heading, *rest = section(tables, name)
        besides = [BESIDE_THE_PAPER] if name == "plus" else [_ours(tables)] if name == "paired" else []
        printed = [agreement(tables, name)] if "published" in tables[name] else []
        parts += [heading, *rest, *printed, *besides]
    return "\n\n".join(parts) + "\n"


def section(tables: StudyTables, name: str) -> list[str]:
    """The heading of a table, what it is about, the table, and what it comes to."""
    task, groups = tables.manifest.task, tables.manifest.groups
    word = groups.word if groups else "group"
    words = {"positive": task.positive, "positives": task.positives, "group": word, "groups": several(word)}
    parts = [f"## {SECTIONS[name]}", *([NOTES[name]] if name in NOTES else [])]
    needed = NEEDED.get(name, name)
    summary = [SUMMARIES[name](tables)] if name in SUMMARIES and needed in tables.tables else []
    return [*(part.format(**words) for part in parts), markdown(view(name, tables)), *summary]


def markdown(rows: Rows) -> str:
    """Rows as a table, their first row as its heads."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], "|" + " --- |" * len(rows[0]), *lines[1:]])


def _bullets(sentences: Sequence[str]) -> str:
    return "\n".join(f"- {sentence}" for sentence in sentences)


def _cautions(tables: StudyTables) -> list[str]:
    """What the numbers can bear: where readings come from, and how sure a number is."""
    rows = tables["cohorts"]
    sizes = dict(zip(rows["cohort"], rows["n"], strict=True))
    total = tables.of("overall", metric="TotalCost")
    cases = sum(sizes.values())
    entries = [entry for entry in tables.manifest.cohorts if entry.key in sizes]
    readings = [f"those of {entry.name} are {entry.readings} ({sizes[entry.key]} test cases)" for entry in entries]
    made = [entry.name for entry in entries if entry.readings != "real"]
    errors = [(total[name].high - total[name].low) / (2 * Z) for name in ROUTERS]
    paired = [margin.high - margin.low for name in ROUTERS for margin in tables.against(name, "TotalCost").values()]
    oracle = tables.of("readers", by="reader", metric="Acc", method=BEST_ORACLE)[BEST_ORACLE]
    return [
        *filter(None, [no_patients(tables.manifest)]),
        "Research software, not a medical device.",
        f"Where the readings come from: {listed(readings)}."
        + (f" What is said of {listed(made)} is not said of people who looked at these images." if made else ""),
        f"Truth and readings are tied, so readers, and committees above all, look better here than they would in a "
        f"clinic: some reader on hand is right in {oracle.value:.1%} of the {cases} test cases.",
        "Rows marked as not deployable know the answers; they bound the others.",
        f"Figures are means ± standard deviation over {tables.seeds} seeds. Intervals are {LEVEL:.0%}: over "
        f"{RESAMPLES} resamples of cases for methods, Student's over seeds for ablations. They are for one figure at a "
        "time: of twenty ties, one looks like a difference.",
        f"At N = {cases} the standard error of a router's total cost is about {np.mean(errors):.3f}. A difference of "
        f"two methods on the same cases is known to about ±{np.median(paired) / 2:.3f}; less cannot be seen.",
        "The baselines are our own implementations after their papers. The groups of MPD² are found in the state a "
        "router sees; the paper found them in image embeddings, which are not released.",
        "The studio preset was settled on val and on resplits of train and val, but it is the second one: what a first "
        "one cost on test was known by then. Its own figures on test may be a little too good for that.",
    ]


def _claims(tables: StudyTables) -> list[str]:
    checked = [(claim.statement, [claim.check(tables, name) for name in ROUTERS]) for claim in OF_ROUTERS]
    ablated = [(claim.statement, claim.check(tables, PAPER_RUN)) for claim in OF_THE_OBJECTIVE]
    rows = [["of the router", *(tables.titles[name] for name in ROUTERS)]]
    rows += [[statement, *(finding.verdict for finding in both)] for statement, both in checked]
    own = [["of its training", tables.titles[PAPER_RUN]]]
    own += [[statement, finding.verdict] for statement, finding in ablated]
    detail = [
        "\n".join(
            [
                f"{statement}.",
                *(
                    f"  - {tables.titles[n]}: **{one.verdict}**. {one.text}"
                    for n, one in zip(ROUTERS, both, strict=True)
                ),
            ]
        )
        for statement, both in checked
    ]
    detail += [f"{statement}.\n  - **{one.verdict}**. {one.text}" for statement, one in ablated]
    return [
        f"Compared methods are those of the paper's main table: {tables.named(tables.compared)}. *{HOLDS}* and "
        f"*{FAILS}* are beyond chance: the intervals leave no other reading. *{RATHER}* and *{HARDLY}* are what the "
        "figures say, and other cases or seeds could have said otherwise.",
        markdown(rows),
        markdown(own),
        _bullets(detail),
    ]


def _one_or_ten(tables: StudyTables) -> list[str]:
    """The paper's main row is one run, its full objective the mean of ten: which of them is ours like?"""
    full = {metric: tables.of("objective", metric=metric)["full"] for metric in tables["objective"]["metric"]}
    rows, nearer = [["metric", "ours", "the paper's one run", "the paper's mean of ten"]], []
    for metric in ("Acc", "F1", "MCC", "Defer", "ClinicalCost", "ExpertCost", "TotalCost"):
        ours = tables.of("overall", metric=metric)[PAPER_RUN]
        mean = full["DeferHard" if metric == "Defer" else metric].published
        if metric == "TotalCost":  # not printed, but its two parts are
            mean = full["ClinicalCost"].published + full["ExpertCost"].published
        rows.append([metric, cell(ours), brief(ours.published), brief(mean)])
        nearer += [metric] if abs(ours.value - mean) < abs(ours.value - ours.published) else []
    ours = tables.of("overall", metric="TotalCost")[PAPER_RUN]
    reach = one_run(ours.sd, tables.seeds)
    where = "below" if ours.published < ours.value - reach else "above" if ours.published > ours.value + reach else "in"
    return [
        "The paper's main table shows one run of its router; the full objective of its ablations, which is the same "
        "configuration, is the mean of ten.",
        markdown(rows),
        f"{tables.titles[PAPER_RUN]} is nearer to the mean of ten in {len(nearer)} of {len(rows) - 1} metrics"
        f"{f' ({listed(nearer)})' if nearer else ''}, and to the one run in the others. Another run of ours would cost "
        f"{ours.value - reach:.3f} to {ours.value + reach:.3f} in total; the printed {ours.published:.3f} lies {where} "
        "that range.",
    ]


def _ours(tables: StudyTables) -> str:
    """The two routers against each other, and the cheapest of all."""
    paper, studio = ROUTERS
    more = {metric: tables.of("paired", reference=paper, metric=metric)[studio] for metric in ("TotalCost", "F1")}
    total = tables.of("overall", metric="TotalCost")
    deployable = dict.fromkeys(tables["tradeoff"]["method"])
    least = min(deployable, key=lambda name: total[name].value)
    changes = ", ".join(f"{metric} {change}" for metric, change in more.items())
    return (
        f"{tables.titles[studio]} less {tables.titles[paper]}: {changes}. The cheapest of the {len(deployable)} that "
        f"can be deployed is {tables.titles[least]}, at {brief(total[least].value)}."
    )


def agreement(tables: StudyTables, table: str) -> str:
    """How many numbers of a table are the printed ones, as far as seeds can tell, and where the others are."""
    rows = cells(tables, table)
    if rows.empty:
        return "The paper prints none of these figures."
    parts = [
        f"Of {len(rows)} figures the paper prints, ours agree in {rows['by_seeds'].sum()}, as far as the spread over "
        "seeds can tell."
    ]
    share = rows["difference"].abs() / rows["published"].abs().clip(lower=LAST_DIGIT)
    for title, own in rows.assign(share=share).groupby("title", sort=False):
        apart = own[~own["by_seeds"]].sort_values("share", ascending=False).to_dict("records")[:FURTHEST]
        words = [f"{_where(row, tables)} {brief(row['value'])} against {brief(row['published'])}" for row in apart]
        if words:
            parts.append(f"{title}: {own['by_seeds'].sum()} of {len(own)} agree; furthest apart {listed(words)}.")
    return " ".join(parts)


def _beside_the_paper(tables: StudyTables) -> list[str]:
    """What became of every number the paper prints, in counts, with the reasons and the largest differences."""
    rows = reproduction(tables)
    known = rows["reason"].map(lambda name: REASONS[name].known).where(rows["reason"] != SAME.name, SAME.name)
    kinds = (SAME.name, SHOWN, LIKELY, UNKNOWN)
    heads = [
        "table",
        "numbers",
        "in our interval",
        SAME.name,
        *(f"reason {kind}" for kind in kinds[1:]),
        "furthest apart",
    ]
    body = []
    for row in furthest(rows).to_dict("records"):
        own = rows["table"] == row["table"]
        far = f"{row['title']}, {_where(row, tables)}: {brief(row['value'])} against {brief(row['published'])}"
        parts = [own, own & rows["inside"], *(own & (known == kind) for kind in kinds)]
        body.append([row["table"], *(str(part.sum()) for part in parts), f"{far} ({row['reason']})"])
    counts = rows["reason"].value_counts()
    named = [
        f"*{reason.name}* ({reason.known}): {reason.words} In {counts[reason.name]} numbers."
        for reason in REASONS.values()
        if reason.name in counts
    ]
    return [
        f"Of {len(rows)} numbers the paper prints, {rows['inside'].sum()} lie in our interval and "
        f"{(known == SAME.name).sum()} are ours as far as printing can tell. For {(known == UNKNOWN).sum()} the reason "
        "of the difference is not known. *Shown* is a reason that numbers of the two prove, *likely* one whose effect "
        "was not measured. Each cell, with its reason, is on the About page.",
        markdown([heads, *body]),
        _bullets(named),
    ]


def _where(row: Mapping[Hashable, Any], tables: StudyTables) -> str:
    """Which metric it is, and of which cohort."""
    return row["metric"] + (f" in {tables.cohorts[row['cohort']]}" if row["cohort"] in tables.cohorts else "")
