"""One case on a sheet of plain text: its inputs, what is done with it, and what somebody noted."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import pandas as pd

from mpd2.core.cohort import Cohort
from mpd2.core.text import decimal, percent
from mpd2.present.documents.briefing import Stamp
from mpd2.present.words.origins import no_patients

WARNING = "Research software, not a medical device."


def case_sheet(case: Cohort, actions: pd.DataFrame, story: str, note: str, stamp: Stamp) -> bytes:
    """The sheet, in UTF-8. `actions` is the case's `explain.actions_frame`; the note is kept word for word."""
    parts = {
        f"Case {case.ids[0]}": [str(stamp), story],
        "Decision": [_done(actions)],
        "Inputs": [f"{title}: {decimal(case.column(name)[0])}" for name, title in case.layout.titles.items()],
        "Who could decide": [_action(row) for row in actions.to_dict("records")],
        "Note": [note.strip() or "none"],
        "Warning": [*filter(None, [no_patients(case.manifest)]), WARNING],
    }
    return "\n\n".join("\n".join([head, "-" * len(head), *lines]) for head, lines in parts.items()).encode()


def _done(actions: pd.DataFrame) -> str:
    chosen = actions[actions["chosen"]].iloc[0]
    what = "Kept" if chosen["action"] == "ai" else f"Sent to {chosen['who']}"
    return f"{what}; expected cost {decimal(chosen['expected_cost'])}; models that agree: {chosen['votes']}."


def _action(row: dict[Hashable, Any]) -> str:
    if not row["available"]:
        return f"{row['who']}: not available"
    return f"{row['who']}: {percent(row['share'], 0)} of the decision, expected cost {decimal(row['expected_cost'])}"
