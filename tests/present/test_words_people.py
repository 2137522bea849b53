"""The sentences about a thousand people."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from strategies import TASK

from mpd2.core.text import GAP
from mpd2.evaluation.clinical.per_thousand import QUANTITIES
from mpd2.planning.floors import KEPT, OUT_OF_REACH, TOO_FEW, Choice, Floor
from mpd2.present.words.people import in_a_year, numbers, sentences

AI_ALONE = {"missed": 10, "found": 140, "alarm": 225, "cleared": 625, "read": 0, "by_ai": 1000, "by_rule": 0}
USUAL = {"missed": 10, "found": 140, "alarm": 59, "cleared": 791, "read": 340, "by_ai": 500, "by_rule": 160}


def people(*, around: float = 0.01, **changed: float) -> pd.DataFrame:
    """Rows of a run called `run` and of the AI; every interval reaches `around` to both sides."""
    parts = []
    own = {**USUAL, **changed}
    for method, counts in (("run", own), ("ai", AI_ALONE)):
        sens, spec = (
            counts[right] / (counts[right] + counts[wrong])
            for right, wrong in (("found", "missed"), ("cleared", "alarm"))
        )
        values = {**dict.fromkeys(QUANTITIES, 0.0), **counts, "Sens": sens, "Spec": spec}
        parts.append(
            pd.DataFrame({"method": method, "title": method, "quantity": list(values), "value": values.values()})
        )
    rows = pd.concat(parts, ignore_index=True)
    whole = np.where(rows["quantity"].isin(["Sens", "Spec"]), rows["value"], rows["value"].round())
    apart = rows["value"] - np.tile(parts[1]["value"], 2)
    return rows.assign(low=rows["value"] - around, high=rows["value"] + around, whole=whole, difference=apart,
                       difference_low=apart - around, difference_high=apart + around, n=899, sick=133)  # fmt: skip


def test_the_usual_sentence() -> None:
    said = sentences(people(), "run", TASK, Floor())
    assert said.headline == (
        "At the AI's own sensitivity, asking readers about 340 of 1,000 people leaves 59 false alarms instead of 225; "
        "10 glaucomas are missed, as many as with the AI alone."
    )
    assert said.rates == (
        f"Sensitivity 93.3{GAP}% (AI alone 93.3{GAP}%, difference 0.0 points, 95{GAP}% interval −1.0 to +1.0), "
        f"specificity 93.1{GAP}% (AI alone 73.5{GAP}%, difference +19.5 points, 95{GAP}% interval +18.5 to +20.5); "
        "n = 899, 133 with glaucoma."
    )
    assert said.verdict == "The floor, the AI's own sensitivity, is kept on these cases, within chance."


def test_more_missed_is_said_first() -> None:
    said = sentences(people(missed=38, found=112, alarm=16, cleared=834, read=146), "run", TASK)
    assert said.headline == (
        "At the lowest total cost, 38 glaucomas are missed instead of 10 when readers are asked about 146 of 1,000 "
        "people; false alarms fall from 225 to 16."
    )
    assert said.verdict == (
        "No floor is set: sensitivity is lower than the AI's beyond chance, specificity is higher than the AI's beyond "
        "chance."
    )


def test_fewer_missed_and_more_false_alarms() -> None:
    said = sentences(people(missed=1, found=149, alarm=300, cleared=550, read=1), "run", TASK, Floor(0.95))
    assert said.headline == (
        f"At a sensitivity of at least 95{GAP}%, asking readers about 1 of 1,000 people raises 300 false alarms "
        "instead of 225; 1 glaucoma is missed instead of 10."
    )
    assert said.verdict.endswith("is kept on these cases, beyond chance.")


def test_the_ai_alone() -> None:
    said = sentences(people(), "ai", TASK, Floor())
    assert said.headline == (
        "The AI decides alone and nobody is asked: of 1,000 people, 10 glaucomas are missed and 225 false alarms are "
        "raised."
    )
    assert said.verdict == ""
    assert "AI alone" not in said.rates


def test_a_run_that_asks_nobody_but_differs_from_the_ai() -> None:
    said = sentences(people(read=0, by_rule=160, by_ai=840), "run", TASK, Floor())
    assert "asking nobody leaves 59 false alarms among 1,000 people instead of 225; 10 glaucomas" in said.headline
    worse = sentences(people(read=0, missed=12, found=138), "run", TASK, Floor())
    assert "12 glaucomas are missed among 1,000 people instead of 10 when nobody is asked; false" in worse.headline


@pytest.mark.parametrize(("around", "chance"), [(0.05, "within"), (0.001, "beyond")])
def test_a_floor_that_is_not_kept_is_only_aimed_at(around: float, chance: str) -> None:
    said = sentences(people(missed=13, found=137, around=around), "run", TASK, Floor())
    assert said.headline.startswith("Set to keep the AI's own sensitivity, 13 glaucomas are missed instead of 10 when")
    assert said.verdict == (
        f"The floor, the AI's own sensitivity, is not kept on these cases (91.3{GAP}% instead of 93.3{GAP}%), {chance} "
        "chance."
    )


def test_a_floor_on_specificity_is_judged_by_specificity() -> None:
    said = sentences(people(), "run", TASK, Floor(0.95, "Spec"))
    assert (
        f"a specificity of at least 95{GAP}%, is not kept on these cases (93.1{GAP}% instead of 95.0{GAP}%)"
        in said.verdict
    )


@pytest.mark.parametrize(("state", "words"), [
    (TOO_FEW, "On val it cannot be promised: there are 40 cases to tell by, at least 45 are needed."),
    (OUT_OF_REACH, "No weight of a miss keeps it on val"), (KEPT, ""),
])  # fmt: skip
def test_what_could_not_be_chosen_on_val_is_told(state: str, words: str) -> None:
    choice = Choice(Floor(0.95, sure=True), 2.0, 0.95, 0.9, 40, state)
    said = sentences(people(), "run", TASK, choice.floor, choice).verdict
    assert words in said
    assert ("val" in said) == bool(words)


def test_without_a_sick_case_the_floor_is_not_judged() -> None:
    rows = people()
    rows.loc[
        rows["quantity"] == "Sens", ["value", "low", "high", "difference", "difference_low", "difference_high"]
    ] = np.nan
    said = sentences(rows, "run", TASK, Floor())
    assert said.verdict == "Nobody here has what sensitivity is counted among, so the floor cannot be judged."
    assert said.rates.startswith(f"Sensitivity not known here, specificity 93.1{GAP}% (AI alone")


def test_fewer_than_one_person_is_not_nobody() -> None:
    said = sentences(people(missed=0.3, found=4.7, alarm=59, cleared=936), "run", TASK, Floor())
    assert "fewer than 1 glaucoma is missed instead of 10" in said.headline


def test_what_cannot_be_deployed_says_so_first() -> None:
    rows = people().replace({"method": {"run": "oracle"}})
    assert sentences(rows, "oracle", TASK, Floor()).headline.startswith(
        "With the answers in hand, which no clinic has, asking"
    )


@pytest.mark.parametrize(("missed", "alarm", "read", "floor"), list(product(
    (0, 1, 10, 11), (0, 1, 225, 226), (0, 1, 1000), (None, Floor(), Floor(0.9, "Spec", sure=True)),
)))  # fmt: skip
def test_every_sentence_is_one(missed: int, alarm: int, read: int, floor: Floor | None) -> None:
    said = sentences(
        people(missed=missed, found=150 - missed, alarm=alarm, cleared=850 - alarm, read=read), "run", TASK, floor
    )
    for text in (said.headline, said.rates, said.verdict):
        assert text[0].isupper()
        assert text.endswith(".")
        assert "  " not in text
    assert "pays" not in str(said)
    assert not any(
        wrong in said.headline for wrong in (" 1 glaucomas", " 1 false alarms", " 0 glaucoma ", "1 glaucoma are")
    )
    first = said.headline.index("missed") < (said.headline.index("alarm"))
    assert first == (missed > 10)
    assert said.rates.count("(AI alone ") == 2
    assert ("all 1,000 people" in said.headline) == (read == 1000)


def test_the_numbers_stand_beside_those_of_the_others_with_intervals() -> None:
    rows = people(around=2, readings=395.4, hours=32.9)
    shown = numbers(rows, "run", TASK).set_index("")
    assert list(shown) == ["run", "AI alone", "Less the AI alone"]
    assert shown.loc["False alarms"].tolist() == ["59 (57 to 61)", "225 (223 to 227)", "−166 (−168 to −164)"]
    assert shown.loc["Readings", "run"] == "395 (393 to 397)"
    assert "Readings and work-ups" not in shown.index
    assert list(numbers(rows, "ai", TASK)) == ["", "AI alone", "run"]


def test_money_is_shown_where_something_has_a_price() -> None:
    rows = people(around=0, money=7908.0)
    assert numbers(rows, "run", TASK, "€").set_index("").loc["Readings and work-ups", "run"] == f"€{GAP}7,908"


def test_a_year_is_told_in_a_sentence() -> None:
    rows = people(readings=1, hours=1, money=7908.0)
    assert in_a_year(rows, "run", TASK, "€") == (
        "In a year with 1,000 people: 10 glaucomas missed instead of 10, 59 false alarms instead of 225; 340 read by a "
        f"reader, 1 reading, 1 hour, €{GAP}7,908 in all."
    )
    assert in_a_year(rows, "ai", TASK) == (
        "In a year with 1,000 people: 10 glaucomas missed, 225 false alarms; nobody read by a reader."
    )
