"""A briefing as one HTML file that needs nothing else: no script, no network, ready to print."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from html import escape

import pandas as pd

from mpd2.present.charts.icon_array import before_and_after, in_words
from mpd2.present.charts.kit.drawing import Drawing
from mpd2.present.charts.kit.export import MIME, render
from mpd2.present.charts.overview import tradeoff
from mpd2.present.charts.report import cohort_costs, plan_load, reader_load
from mpd2.present.documents.board import picture_title
from mpd2.present.documents.briefing import Briefing
from mpd2.present.words.answer import KeyNumber

STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 Inter, "Segoe UI", Helvetica, Arial, sans-serif; color: #0e1917; background: #fff;
       max-width: 60rem; margin: 2rem auto; padding: 0 1.5rem; }
h1 { font-size: 1.6rem; margin-bottom: 0.2rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
.lead { font-size: 1.15rem; } .caution { border-left: 4px solid #D55E00; padding-left: 0.8rem; }
.stamp, small { color: #4c5a57; font-size: 0.85rem; }
.numbers { display: flex; flex-wrap: wrap; gap: 0.8rem; }
.numbers div { flex: 1 1 9rem; border: 1px solid #d3dcd9; border-radius: 0.4rem; padding: 0.6rem 0.8rem; }
.numbers b { display: block; font-size: 1.5rem; }
table { border-collapse: collapse; width: 100%; font-size: 0.85rem; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: 0.25rem 0.5rem; border-bottom: 1px solid #d3dcd9; }
td { white-space: nowrap; }
.words th, .words td { white-space: normal; text-align: left; vertical-align: top; }
th:first-child, td:first-child { text-align: left; } tr.active { font-weight: 650; background: #f1f5f4; }
img { max-width: 100%; } img.wide { width: 100%; } section { break-inside: avoid; } .scroll { overflow-x: auto; }
@page { margin: 14mm; }
@media print {
  body { font-size: 11px; max-width: none; margin: 0; padding: 0; }
  .numbers { gap: 0.4rem; } .numbers div { flex-basis: 6rem; padding: 0.4rem 0.5rem; }
  table { font-size: 0.65rem; } th, td { padding: 0.15rem 0.25rem; } .scroll { overflow: visible; }
}
"""
PER_THOUSAND, WHO_DECIDES = "Per 1,000 screened", "Who decides, of 1,000 screened"
PLAN, IN_COSTS = "The plan of the day, as Budget is set", "In costs per case"
"""Headings that page and slides share."""

WIDTH = 680  # of a chart that has none of its own
ACTIVE, WIDE = ' class="active"', ' class="wide"'


def to_html(briefing: Briefing) -> bytes:
    """The page, in UTF-8."""
    body = [
        f"<h1>{escape(briefing.stamp.run)}</h1>",
        f'<p class="stamp">{escape(str(briefing.stamp))}</p>',
        f'<p class="lead">{escape(briefing.people.said.headline)}</p>',
        _thousand(briefing),
        _paragraphs(briefing.people.said.rates, briefing.people.said.verdict),
        f'<p class="caution">{escape(briefing.caution)}</p>' if briefing.caution else "",
        _section(PER_THOUSAND, _table(briefing.people.counts) + _paragraphs(*briefing.people.notes)),
        _section(WHO_DECIDES, _table(briefing.deciders)),
        _section(PLAN, _paragraphs(*briefing.plan.words) + _plan(briefing)),
        _section(IN_COSTS, _paragraphs(briefing.answer) + _cards(briefing.numbers)),
        _section("Every method on the same cases", _table(briefing.methods, briefing.stamp.run)),
        _section("Score against cost: up is better, left is cheaper", _tradeoff(briefing)),
        _section("In each cohort", _cohorts(briefing)),
        _section("Workload of the readers", _load(briefing)),
        _section("Limitations", _list(briefing.caveats)),
    ]
    return document(f"{briefing.stamp.run}: {briefing.stamp.slice}", body)


def document(title: str, body: Sequence[str]) -> bytes:
    """A whole page in the house's style, in UTF-8; `body` is HTML, the title plain text."""
    page = f"""<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{escape(title)}</title><style>{STYLE}</style></head>
<body>{"".join(body)}</body>
</html>
"""
    return page.encode()


def _thousand(briefing: Briefing) -> str:
    people = briefing.people
    said = [f"{name}: {in_words(cells, briefing.task)}" for name, cells in people.arrays]
    title = picture_title(briefing.stamp.point, briefing.task)
    return _picture(before_and_after(people.arrays, title, briefing.task), " ".join(said), wide=True)


def _plan(briefing: Briefing) -> str:
    return _picture(plan_load(briefing.plan.load), "Readings a day of each reader under the plan, with their limits")


def _cards(numbers: Sequence[KeyNumber]) -> str:
    return f'<div class="numbers">{"".join(map(_card, numbers))}</div>'


def _paragraphs(*texts: str) -> str:
    return "".join(f"<p>{escape(text)}</p>" for text in texts if text)


def _tradeoff(briefing: Briefing) -> str:
    drawing = tradeoff(briefing.plane, briefing.active).of_width(WIDTH)
    return _picture(drawing, "F1 against total cost, one point for each method")


def _cohorts(briefing: Briefing) -> str:
    return _picture(cohort_costs(briefing.cohorts, briefing.active), "Total cost of three methods in each cohort")


def _load(briefing: Briefing) -> str:
    return f"<p>{escape(briefing.spread)}</p>" + _picture(
        reader_load(briefing.load), "Share of all readings that each reader gives"
    )


def _list(lines: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>"


def _section(heading: str, content: str) -> str:
    return f"<section><h2>{escape(heading)}</h2>{content}</section>"


def _card(number: KeyNumber) -> str:
    against = list(map(str, number.differences))
    notes = "<br>".join(map(escape, [f"95 % interval {number.span}", *against] if number.span else against))
    return f"<div>{escape(number.label)}<b>{escape(number.value)}</b><small>{notes}</small></div>"


def _table(frame: pd.DataFrame, active: str | None = None) -> str:
    heads = "".join(f"<th>{escape(str(name))}</th>" for name in frame.columns)
    rows = [
        f"<tr{ACTIVE if row[0] == active else ''}>{''.join(f'<td>{escape(str(cell))}</td>' for cell in row)}</tr>"
        for row in frame.to_numpy()
    ]
    return f'<div class="scroll"><table><thead><tr>{heads}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'


def _picture(chart: Drawing | str, description: str, wide: bool = False) -> str:
    """A drawing inside the file: as an image of its own it cannot meddle with the page."""
    data = b64encode(render(chart, "svg")).decode()
    return f'<img{WIDE if wide else ""} alt="{escape(description)}" src="data:{MIME["svg"]};base64,{data}">'
