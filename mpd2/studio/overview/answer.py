"""The first screen of the Overview: the answer in a sentence, and a thousand people or rates."""

from __future__ import annotations

import streamlit as st

from mpd2.core.text import percent
from mpd2.evaluation.clinical.per_thousand import prevalence_of
from mpd2.present.charts import overview as charts
from mpd2.present.charts.kit.sparkline import WIDTH, sparkline
from mpd2.present.words.answer import BETTER_WORD, CHANCE_WORD, WORSE_WORD, KeyNumber
from mpd2.present.words.people import changed_prevalence
from mpd2.studio.budget import state
from mpd2.studio.budget import store as budget_store
from mpd2.studio.overview import people, texts
from mpd2.studio.overview import store as reads
from mpd2.studio.parts import method_table, programme, widgets
from mpd2.studio.parts.programme import Told
from mpd2.studio.shell import link, results, store
from mpd2.studio.shell.scenario import Scenario

COLOURS = {BETTER_WORD: "green", WORSE_WORD: "red", CHANCE_WORD: "gray"}
MAIN = ("F1", "TotalCost")  # score and cost of the main chart


def draw(about: Scenario) -> None:
    """Everything one looks at first."""
    own = prevalence_of(store.cases(about))
    with st.container(horizontal=True, vertical_alignment="center"):
        units = link.one(st.segmented_control, "Shown", list(texts.UNITS), key="units", default="people", required=True,
                         format_func=texts.UNITS.__getitem__, label_visibility="collapsed")  # fmt: skip
        told = programme.editor(own, store.manifest(about.workspace))
        st.caption(_prevalence(told, own), width="content")
    said = reads.sentences(about, told.programme)
    st.markdown(f"**{said.headline}**  \n:small[{said.rates} {said.verdict}]")
    if units == "people":
        people.pictures(about, told)
        people.numbers(about, told)
    else:
        _rates(about)


def _prevalence(told: Told, own: float) -> str:
    """At which prevalence results are told; that it was changed, if it was."""
    return changed_prevalence(told.programme.prevalence, own) or texts.PREVALENCE.format(prevalence=percent(own))


def _rates(about: Scenario) -> None:
    """Five numbers and the main chart."""
    answer = results.answer(about)
    left, right = st.columns([2, 3], gap="medium")
    with left:
        _numbers(about, answer.numbers)
    with right:
        _main_chart(about, answer.rival)


def _numbers(about: Scenario, numbers: tuple[KeyNumber, ...]) -> None:
    """Each number beside its small curve, its interval and its difference from the AI."""
    curves, own = budget_store.small_curves(about), budget_store.day(about, state.usual(about)).share
    with st.container(gap=None):
        for number in numbers:
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.metric(number.label, number.value, help=_help(number, about), width=140)
                with st.container(gap=None):
                    curve = sparkline(curves[number.metric], own)
                    st.image(curve, alt=f"{number.label} as more cases are sent", width=WIDTH)
                    st.markdown(_in_small(number))  # one text, not a caption: that would fade the colours
    st.caption(texts.SMALL_CURVES.format(against=_against(numbers)))


def _against(numbers: tuple[KeyNumber, ...]) -> str:
    """Whom the numbers differ from, and which of them from somebody else."""
    against = {number.label: number.differences[0].against for number in numbers if number.differences}
    first = next(iter(against.values()))
    others = [f"{label.lower()}: from {other}" for label, other in against.items() if other != first]
    return f"{first} ({', '.join(others)})" if others else first


def _help(number: KeyNumber, about: Scenario) -> str:
    """What a number means, and how far it is from others, with intervals."""
    return "  \n".join([method_table.help_of(number.metric, about), *map(str, number.differences)])


def _in_small(number: KeyNumber) -> str:
    """A number's interval, and its difference from the first of the others, coloured by which is better."""
    lines = [f":gray[{number.span}]" if number.span else ":gray[Nobody is asked.]"]
    for item in number.differences[:1]:
        sense = f" :{COLOURS[item.sense]}[{item.sense}]" if item.sense else ""
        lines.append(f"**{item.change}**{sense}")
    return "  \n".join(f":small[{line}]" for line in lines)


def _main_chart(about: Scenario, rival: str) -> None:
    score, cost = MAIN
    plane = reads.plane(about, score, cost)
    widgets.chart(
        charts.tradeoff(plane, about.run),
        table=plane,
        key="overview-main",
        alt_text=f"{score} of every deployable method against its total cost, with the Pareto front",
        note=f"{rival} {texts.MAIN_CHART.format(n=plane['n'].max())}",
    )
