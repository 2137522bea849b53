"""What the regularisers buy, in words that follow from the study's figures."""

from __future__ import annotations

from mpd2.evaluation.intervals import Estimate
from mpd2.study.tables import StudyTables

WITHOUT = "no-gsdp-rank-js"  # the study's condition without both regularisers


def regularisers_buy(figures: StudyTables) -> str:
    """What GSDP and Rank-JS do to the readers' load and to clinical cost; tables needed: objective and effects."""
    top, readers, cost = (figures.effect(WITHOUT, metric) for metric in ("Top1", "EffExp", "ClinicalCost"))
    spread = figures.of("objective", metric="ClinicalCost")
    sds = {"with both": spread["full"].sd, "without": spread[WITHOUT].sd}
    apart = " and ".join(f"{_within(cost.value, sd)} that of routers {name} ({sd:.3f})" for name, sd in sds.items())
    text = (
        f"Without GSDP and Rank‑JS the busiest reader's share {_moves(top)} by {_points(top)} and the number of "
        f"effective readers {_moves(readers)} by {abs(readers.value):.2f} ({_ends(readers, 2)}), while clinical cost "
        f"{_moves(cost)} by {abs(cost.value):.3f} ({_ends(cost, 3)}): against the standard deviation between seeds, "
        f"{apart}. {figures.seeds} seeds, all test cases, the paper's configuration; brackets hold 95 % intervals of "
        "differences, seed by seed."
    )
    return text.replace("-", "−")


def _moves(more: Estimate) -> str:
    verb = "rises" if more.value > 0 else "falls"
    return verb if more.low > 0 or more.high < 0 else f"{verb}, within chance,"


def _within(value: float, sd: float) -> str:
    return "within" if abs(value) <= sd else "above"


def _points(share: Estimate) -> str:
    return f"{100 * abs(share.value):.1f} points ({100 * share.low:.1f} to {100 * share.high:.1f})"


def _ends(told: Estimate, digits: int) -> str:
    return f"{told.low:.{digits}f} to {told.high:.{digits}f}"
