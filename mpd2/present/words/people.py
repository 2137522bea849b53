"""What a run does for a thousand people, in sentences: never a gain without both rates beside those of the AI."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from math import isnan
from typing import Any

import pandas as pd

from mpd2.core.manifest import Task
from mpd2.core.text import GAP, NOTHING, capital, count, decimal, percent
from mpd2.evaluation.clinical.per_thousand import OUTCOMES
from mpd2.evaluation.metrics import METRICS, Metric
from mpd2.methods.registry import NOT_DEPLOYABLE
from mpd2.planning.floors import OUT_OF_REACH, RATES, TOO_FEW, Choice, Floor
from mpd2.study.claims import AI

ALONE, LESS_ALONE = "AI alone", "Less the AI alone"
CHEAPEST = "the lowest total cost"
WORTH_SAYING = 0.05  # of a person: fewer than that is nobody
Row = Mapping[Hashable, Any]


@dataclass(frozen=True)
class Sentences:
    """What becomes of the people, at which rates, and whether the floor is kept."""

    headline: str
    rates: str
    verdict: str

    def __str__(self) -> str:
        return " ".join(filter(None, (self.headline, self.rates, self.verdict)))


def sentences(
    people: pd.DataFrame, run: str, task: Task, floor: Floor | None = None, choice: Choice | None = None
) -> Sentences:
    """The sentences of a run; `people`: its rows and the AI's of `per_thousand`.

    `floor`: what the run is set to keep, none if it decides at the lowest cost; `choice`: how that went on val.
    """
    own, alone = _by_quantity(people, run), _by_quantity(people, AI)
    headline, rates = _headline(own, alone, run, task, floor), _rates(own, alone, task)
    return Sentences(headline, rates, _verdict(own, alone, floor, choice))


def changed_prevalence(prevalence: float | None, own: float) -> str:
    r"""A sentence that tells that the prevalence is not that of the cases; empty where it is.

    >>> changed_prevalence(0.02, 0.148), changed_prevalence(None, 0.148)
    ('Prevalence was changed from 14.8\xa0% among these cases to 2\xa0%.', '')
    """
    if prevalence is None:
        return ""
    return f"Prevalence was changed from {percent(own)} among these cases to {percent(prevalence)}."


def of_people(row: Row) -> str:
    """How many people, a whole number.

    >>> of_people({"whole": 1234.0, "value": 1234.2}), of_people({"whole": 0.0, "value": 0.3})
    ('1,234', 'fewer than 1')
    """
    whole = int(row["whole"])
    return "fewer than 1" if whole == 0 and row["value"] > WORTH_SAYING else count(whole)


def in_a_year(people: pd.DataFrame, run: str, task: Task, currency: str = "") -> str:
    """A year's programme in a sentence; `people`: rows of `per_thousand` at a year's number of people."""
    own, alone = _by_quantity(people, run), _by_quantity(people, AI)
    screened = count(round(sum(own[outcome]["whole"] for outcome in OUTCOMES)))
    missed, alarms = (
        f"{of_people(own[name])} {what}{'' if run == AI else f' instead of {of_people(alone[name])}'}"
        for name, what in (("missed", f"{task.positives} missed"), ("alarm", "false alarms"))
    )
    return f"In a year with {screened} {task.people}: {missed}, {alarms}; {effort(own, currency)}."


def effort(own: Mapping[str, Row], currency: str = "") -> str:
    """What the readings take, and all money; `own`: the rows of a run of `per_thousand` by quantity."""
    parts = [f"{of_people(own['read'])} read by a reader"] if own["read"]["value"] else ["nobody read by a reader"]
    for name, one in (("readings", "reading"), ("hours", "hour")) if own["read"]["value"] else ():
        number = count(round(own[name]["whole"]))
        parts.append(f"{number} {one if number == '1' else name}")
    if own["money"]["value"]:
        parts.append(f"{_money(own['money']['value'], currency)} in all")
    return ", ".join(parts)


def named_numbers(task: Task) -> dict[str, str]:
    """The numbers beside the picture, in their order."""
    return {
        "missed": capital(f"{task.positives} missed"),
        "alarm": "False alarms",
        "read": "Read by a reader",
        "by_ai": "By the AI's own word",
        "by_rule": "By the rule against it",
        "readings": "Readings",
        "hours": "Hours of reading",
        "money": "Readings and work-ups",
    }


def numbers(
    people: pd.DataFrame, run: str, task: Task, currency: str = "", more: pd.DataFrame | None = None
) -> pd.DataFrame:
    """`named_numbers` of every method with their intervals, the run first, and its distance from the AI alone: text.

    Money is left out where nothing has a price. `more`: metrics that are not counted in people, rows of method, metric,
    value, low, high, difference, difference_low, difference_high.
    """
    order = [run, *(name for name in dict.fromkeys(people["method"]) if name != run)]
    priced = bool(people.loc[people["quantity"] == "money", "value"].any())
    names = named_numbers(task)
    shown = [name for name in names if name != "money" or priced]
    metrics = [] if more is None else list(dict.fromkeys(more["metric"]))
    columns: dict[str, list[str]] = {
        "": [*(names[name] for name in shown), *(METRICS[name].heading for name in metrics)]
    }
    for method in order:
        rows, others = _by_quantity(people, method), _by_metric(more, method)
        counted = [_with_ends(rows[name], currency if name == "money" else "") for name in shown]
        columns[ALONE if method == AI else str(rows["missed"]["title"])] = [
            *counted,
            *(_metric(others[name], METRICS[name]) for name in metrics),
        ]
    if run != AI:
        rows, others = _by_quantity(people, run), _by_metric(more, run)
        apart = [_metric_difference(others[name], METRICS[name]) for name in metrics]
        columns[LESS_ALONE] = [*(_difference(rows[name]) for name in shown), *apart]
    return pd.DataFrame(columns)


def _by_metric(more: pd.DataFrame | None, method: str) -> dict[str, Row]:
    return {} if more is None else {row["metric"]: row for row in more[more["method"] == method].to_dict("records")}


def _metric(row: Row, metric: Metric) -> str:
    ends = metric.interval(row["low"], row["high"])
    return f"{metric.shown(row['value'])} ({ends})" if ends else metric.shown(row["value"])


def _metric_difference(row: Row, metric: Metric) -> str:
    if isnan(row["difference"]):
        return NOTHING
    ends = metric.interval(row["difference_low"], row["difference_high"], signed=True)
    return f"{metric.change(row['difference'])} ({ends})"


def _by_quantity(people: pd.DataFrame, method: str) -> dict[str, Row]:
    return {row["quantity"]: row for row in people[people["method"] == method].to_dict("records")}


def _with_ends(row: Row, currency: str) -> str:
    """A number of people, or of what their readings take, with its interval where it has one."""
    own = _money(row["whole"], currency) if currency else of_people(row)
    low, high = (count(round(row[end])) for end in ("low", "high"))
    return own if low == high else f"{own} ({low} to {high})"


def _difference(row: Row) -> str:
    low, high = (decimal(row[f"difference_{end}"], 0, signed=True) for end in ("low", "high"))
    value = decimal(row["difference"], 0, signed=True)
    return value if low == high else f"{value} ({low} to {high})"


def _money(amount: float, currency: str) -> str:
    return f"{currency}{GAP}{count(round(amount))}" if currency else count(round(amount))


def _headline(own: Mapping[str, Row], alone: Mapping[str, Row], run: str, task: Task, floor: Floor | None) -> str:
    """What becomes of everybody; first of all that more are missed, where more are."""
    screened = count(round(sum(own[outcome]["whole"] for outcome in OUTCOMES)))
    missed, missed_alone = own["missed"], alone["missed"]
    if run == AI:
        return (
            f"The AI decides alone and nobody is asked: of {screened} {task.people}, {_positives(missed, task)} missed "
            f"and {_alarms(own['alarm'])} {'is' if own['alarm']['whole'] == 1 else 'are'} raised."
        )
    setting, read = _setting(own, alone, run, floor), own["read"]
    some = f"all {screened}" if of_people(read) == screened else f"{of_people(read)} of {screened}"
    everybody = f" among {screened} {task.people}"
    about, among = (f" about {some} {task.people}", "") if read["value"] else ("", everybody)
    if missed["whole"] > missed_alone["whole"]:
        asked = f"{'readers are' if about else 'nobody is'} asked{about}"
        more = f"{_positives(missed, task)} missed{among} instead of {of_people(missed_alone)}"
        return capital(f"{setting}, {more} when {asked}; {_from_to(own['alarm'], alone['alarm'])}.")
    fewer = own["alarm"]["whole"] <= alone["alarm"]["whole"]
    asking = f"asking {'readers' if about else 'nobody'}{about} {'leaves' if fewer else 'raises'}"
    alarms = f"{_alarms(own['alarm'])}{among}{_instead(own['alarm'], alone['alarm'])}"
    return capital(f"{setting}, {asking} {alarms}; {_positives(missed, task)} missed{_instead(missed, missed_alone)}.")


def _setting(own: Mapping[str, Row], alone: Mapping[str, Row], run: str, floor: Floor | None) -> str:
    """At which operating point: a floor that is not kept on these cases is only aimed at."""
    if run in NOT_DEPLOYABLE:
        return "with the answers in hand, which no clinic has"
    if floor is None:
        return f"at {CHEAPEST}"
    apart, _, _ = _above(own, alone, floor)
    return f"at {floor.in_words()}" if apart >= 0 else f"set to keep {floor.in_words()}"


def _positives(row: Row, task: Task) -> str:
    """So many positives, with their verb."""
    one = row["whole"] == 1 or of_people(row) != count(int(row["whole"]))
    return f"{of_people(row)} {f'{task.positive} is' if one else f'{task.positives} are'}"


def _alarms(row: Row) -> str:
    one = row["whole"] == 1 or of_people(row) != count(int(row["whole"]))
    return f"{of_people(row)} {'false alarm' if one else 'false alarms'}"


def _instead(row: Row, other: Row) -> str:
    """What it would be with the AI alone."""
    if of_people(row) == of_people(other):
        return ", as many as with the AI alone"
    return f" instead of {of_people(other)}"


def _from_to(row: Row, other: Row) -> str:
    """How false alarms change."""
    if of_people(row) == of_people(other):
        return f"there {'is' if row['whole'] == 1 else 'are'} {_alarms(row)}, as many as with the AI alone"
    verb = "fall" if row["value"] < other["value"] else "rise"
    return f"false alarms {verb} from {of_people(other)} to {of_people(row)}"


def _rates(own: Mapping[str, Row], alone: Mapping[str, Row], task: Task) -> str:
    """Both rates beside the AI's, with the interval of the paired difference, and on how many cases."""
    parts = []
    for name in RATES:
        metric, row = METRICS[name], own[name]
        shown = f"{metric.label} {'not known here' if isnan(row['value']) else metric.shown(row['value'])}"
        if row["method"] != AI and not isnan(row["value"]):
            ends = metric.interval(row["difference_low"], row["difference_high"], signed=True)
            shown += (
                f" (AI alone {metric.shown(alone[name]['value'])}, difference {metric.change(row['difference'])}, "
                f"95{GAP}% interval {ends})"
            )
        parts.append(shown)
    row = own["Sens"]
    return f"{capital(parts[0])}, {parts[1]}; n = {count(row['n'])}, {count(row['sick'])} with {task.one}."


def _verdict(own: Mapping[str, Row], alone: Mapping[str, Row], floor: Floor | None, choice: Choice | None) -> str:
    """Whether the floor is kept on these cases; without one, which rate differs beyond chance from the AI's."""
    if own["Sens"]["method"] == AI:
        return ""
    if floor is None:
        return f"No floor is set: {_beyond_chance(own, 'Sens')}, {_beyond_chance(own, 'Spec')}."
    apart, low, high = _above(own, alone, floor)
    metric = METRICS[floor.rate]
    if isnan(apart):
        return f"Nobody here has what {metric.label} is counted among, so the floor cannot be judged."
    reached, wanted = metric.shown(own[floor.rate]["value"]), metric.shown(own[floor.rate]["value"] - apart)
    if apart >= 0:
        kept = f"kept on these cases, {'beyond' if low > 0 else 'within'} chance"
    else:
        kept = f"not kept on these cases ({reached} instead of {wanted}), {'beyond' if high < 0 else 'within'} chance"
    return f"The floor, {floor.in_words()}, is {kept}.{_on_val(choice)}"


def _on_val(choice: Choice | None) -> str:
    """How the choice went where no weight of a miss could be chosen that keeps the floor."""
    if choice is None or choice.state not in (TOO_FEW, OUT_OF_REACH):
        return ""
    if choice.state == TOO_FEW:
        return (
            f" On val it cannot be promised: there are {choice.cases} cases to tell by, at least {choice.needed} are "
            "needed. The safest setting is shown."
        )
    return " No weight of a miss keeps it on val: the safest setting is shown."


def _above(own: Mapping[str, Row], alone: Mapping[str, Row], floor: Floor) -> tuple[float, float, float]:
    """How far the rate is above the floor on these cases, with its interval; paired where the floor is the AI's own."""
    row = own[floor.rate]
    if floor.level is None:
        return row["difference"], row["difference_low"], row["difference_high"]
    return row["value"] - floor.level, row["low"] - floor.level, row["high"] - floor.level


def _beyond_chance(own: Mapping[str, Row], name: str) -> str:
    """A rate against the AI's, in three words."""
    row, label = own[name], METRICS[name].label
    if row["difference_low"] > 0 or row["difference_high"] < 0:
        return f"{label} is {'higher' if row['difference'] > 0 else 'lower'} than the AI's beyond chance"
    return f"{label} differs from the AI's within chance"
