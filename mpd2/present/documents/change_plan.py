"""A change plan as a page that needs nothing else, or as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import pandas as pd

from mpd2.present.documents.html import document
from mpd2.present.words.change_plan import IMPACT, PROTOCOL, WHAT, ChangePlan

LIMITS, BY_COHORT, BY_READER = "What this cannot tell", "By cohort", "By reader"


def to_html(plan: ChangePlan) -> bytes:
    """The page, in UTF-8."""
    body = [
        f"<h1>{escape(plan.title)}</h1>",
        f'<p class="stamp">{escape(plan.stamp)}</p>',
        f'<p class="lead">{escape(plan.headline)}</p>',
        f"<h2>{WHAT}</h2>",
        _table(plan.changes, words=True),
        f"<p>{escape(plan.unchanged)}</p>",
        f"<h2>{PROTOCOL}</h2>",
        _list(plan.protocol, "ol"),
        f"<h2>{IMPACT}</h2>",
        *(f"<p>{escape(line)}</p>" for line in plan.impact),
        _table(plan.overall),
        f"<h3>{BY_COHORT}</h3>",
        _table(plan.cohorts),
        f"<h3>{BY_READER}</h3>",
        _table(plan.readers),
        f"<h3>{LIMITS}</h3>",
        _list(plan.limits, "ul"),
    ]
    return document(plan.title, body)


def to_markdown(plan: ChangePlan) -> bytes:
    """The same as text, in UTF-8."""
    parts = [
        f"# {plan.title}",
        plan.stamp,
        f"**{plan.headline}**",
        f"## {WHAT}",
        _pipes(plan.changes),
        plan.unchanged,
        f"## {PROTOCOL}",
        "\n".join(f"{number}. {line}" for number, line in enumerate(plan.protocol, start=1)),
        f"## {IMPACT}",
        *plan.impact,
        _pipes(plan.overall),
        f"### {BY_COHORT}",
        _pipes(plan.cohorts),
        f"### {BY_READER}",
        _pipes(plan.readers),
        f"### {LIMITS}",
        "\n".join(f"- {line}" for line in plan.limits),
    ]
    return ("\n\n".join(parts) + "\n").encode()


def _table(frame: pd.DataFrame, words: bool = False) -> str:
    heads = "".join(f"<th>{escape(str(name))}</th>" for name in frame.columns)
    rows = ["".join(f"<td>{escape(str(cell))}</td>" for cell in row) for row in frame.to_numpy()]
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    kind = ' class="words"' if words else ""
    return f'<div class="scroll"><table{kind}><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>'


def _list(lines: Sequence[str], kind: str) -> str:
    return f"<{kind}>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</{kind}>"


def _pipes(frame: pd.DataFrame) -> str:
    """A table in Markdown; a bar inside a cell would end it."""
    rows = [list(map(str, frame.columns)), ["---"] * len(frame.columns), *frame.astype(str).to_numpy().tolist()]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in rows)
