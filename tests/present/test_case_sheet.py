"""The sheet of one case: its facts and the note, as plain text."""

from datetime import date

import numpy as np
import pandas as pd

from mpd2.present.documents.briefing import Stamp
from mpd2.present.documents.case_sheet import WARNING, case_sheet

STAMP = Stamp("Router", "a test case of One", 1, "0123456789abcdef", "1.2.3", date(2026, 3, 4))
ACTIONS = pd.DataFrame({
    "action": ["ai", "r1", "r2"], "who": ["AI", "Anna", "Ben"], "share": [0.2, 0.8, 0.0], "votes": [1, 9, 0],
    "expected_cost": [0.4, 0.1, 0.3], "available": [True, True, False], "chosen": [False, True, False],
})  # fmt: skip


def sheet(small_cohort, note: str = "", actions: pd.DataFrame = ACTIONS) -> str:
    return case_sheet(small_cohort.rows(np.array([0])), actions, "It is so.", note, STAMP).decode()


def test_it_holds_every_fact_and_where_it_comes_from(small_cohort):
    told = sheet(small_cohort)
    assert told.startswith(f"Case {small_cohort.ids[0]}\n")
    done = "Sent to Anna; expected cost 0.100; models that agree: 9."
    assert all(part in told for part in (str(STAMP), "It is so.", done, "Ben: not available", WARNING))
    assert all(f"\n{name}: " in told for name in small_cohort.layout.titles.values())


def test_a_case_that_is_kept_is_left_to_the_ai(small_cohort):
    kept = ACTIONS.assign(chosen=[True, False, False])
    assert "Kept; expected cost 0.400; models that agree: 1." in sheet(small_cohort, actions=kept)


def test_the_note_is_kept_word_for_word(small_cohort):
    note = "<b>Look</b> again\n=1+1 ![x](http://x.test)"
    assert f"Note\n----\n{note}\n" in sheet(small_cohort, note)
    assert "Note\n----\nnone\n" in sheet(small_cohort, "  ")
