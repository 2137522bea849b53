"""What moves with the hand on the Budget page: the slider, the numbers, the curve and the readers' load."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from mpd2.core.text import decimal, percent
from mpd2.evaluation.intervals import Estimate
from mpd2.evaluation.metrics import METRICS
from mpd2.planning import changes
from mpd2.planning.budget_sweep import SHOWN, STEPS, has_course
from mpd2.planning.day import DaySetting, in_words
from mpd2.planning.dayplan import DayPlan
from mpd2.present.charts import budget as figures
from mpd2.present.charts.kit.drawing import Drawing
from mpd2.present.words import budget as cards
from mpd2.studio.budget import state, texts
from mpd2.studio.budget import store as budget_store
from mpd2.studio.parts import widgets
from mpd2.studio.parts.live_slider import live_slider, place_of, turn_of
from mpd2.studio.parts.number_cards import number_cards
from mpd2.studio.shell import store
from mpd2.studio.shell.scenario import Scenario

SLIDER, PLAIN, EXACT, LIVE, PER_DAY = "budget_live", "budget_plain", "budget_exact", "live", "per_day"
"""Keys of the session; the last two are names in the URL too."""

CARDS, CURVE, LOAD = "budget_cards", "budget_curve", "budget_load"  # keys of what is drawn
NAMES = [METRICS[metric].heading for metric in SHOWN]


def draw(about: Scenario) -> None:
    """All of it; what a move of the slider draws anew has its places in it."""
    wide, narrow = st.columns([5, 2], gap="medium")
    with narrow, st.container(horizontal=True, vertical_alignment="bottom"):
        day = st.number_input("Cases a day", 1, 100_000, 300, key=PER_DAY, bind="query-params", help=texts.PER_DAY)
        live = st.toggle("Live", value=True, key=LIVE, bind="query-params", help=texts.LIVE)
    _buttons(about)
    _numbers(about, live)
    left, right = st.columns([5, 3], gap="large")
    with wide:
        if not live:
            _plain(about, day)
        _follow(about, day, live, left, right)
    _files(about, left, right)


@st.fragment
def _follow(about: Scenario, day: int, live: bool, left: DeltaGenerator, right: DeltaGenerator) -> None:
    """What follows the hand from the server; all that stays as it is is drawn elsewhere, once."""
    here = state.course()
    before, now = (budget_store.day(about, setting) for setting in (here.before, here.now))
    known = budget_store.in_passing(about, here.now) if here.moving else budget_store.measure(about, here.now).metrics
    with left:
        widgets.bare_chart(_curve(about, before, now, known), key=CURVE, alt_text=texts.CURVE_ALT)
    with right:
        widgets.bare_chart(_load(about, before, now), key=LOAD, alt_text=texts.LOAD_ALT)
    if live:  # drawn last: it waits for the rest before it says where it is next
        _live(about, before, now, day)


def explain(about: Scenario) -> None:
    """What the numbers and charts mean; apart from them, since it does not move and reading it takes a browser long."""
    setting, members = state.now(), budget_store.members(about)
    best, known = budget_store.optimum(about, setting), budget_store.hindsight(about, setting)
    notes = [texts.CURVE + (texts.TRAINED if budget_store.has_trained(about, setting) else texts.NO_TRAINED)]
    if best is not None and best.split != about.split:
        notes[0] += texts.HINDSIGHT.format(told=f"{percent(known.budget)} at {decimal(known.value)}")
    notes.append(
        texts.LOAD + (texts.LATER if budget_store.ranked_for(about, setting).continuations is not None else "")
    )
    notes.append((texts.TOGETHER.format(members=members) if members > 1 else "") + texts.ORDER)
    for note in notes:
        st.caption(note)


def _live(about: Scenario, before: DayPlan, now: DayPlan, day: int) -> None:
    limits = now.setting.limits
    live_slider(
        SLIDER,
        _dragged,
        label=_label(now.setting),
        least="none",
        most="all",
        place=round(STEPS * _share(now)),
        max=STEPS,
        said=_told(now, day),
        notes=_notes(about, before, now),
        cases=len(now.decisions.label),
        day=day,
        soft=limits.soft,
        numbers=_at_rest(about) if state.course().moving and not has_course(limits) else None,
    )


def _plain(about: Scenario, day: int) -> None:
    here = state.course()
    before, now = (budget_store.day(about, setting) for setting in (here.before, here.now))
    for key in (PLAIN, EXACT):
        st.session_state[key] = round(100 * _share(now), 1)
    wide, narrow = st.columns([4, 1], vertical_alignment="bottom")
    with wide:
        st.slider(
            _label(now.setting), 0.0, 100.0, step=0.5, format="%.1f %%", key=PLAIN, on_change=_typed, args=(PLAIN,)
        )
    with narrow:
        st.number_input("Per cent", 0.0, 100.0, step=0.5, format="%.1f", key=EXACT, on_change=_typed, args=(EXACT,))
    st.caption("  \n".join([_told(now, day), *_notes(about, before, now)]))


def _notes(about: Scenario, before: DayPlan, now: DayPlan) -> list[str]:
    """What is set, what could not be had, and what it did."""
    cohort = budget_store.ranked_for(about, now.setting).cohort
    moved = changes.in_short(cohort, now.setting.costs, before.decisions, now.decisions)
    return [
        f"Now: {in_words(now.setting, cohort.manifest)}.",
        *now.plan.notes,
        f"Since the last setting: {moved[:1].lower() + moved[1:]}",
    ]


def _share(now: DayPlan) -> float:
    """Where on the slider a setting is."""
    budget = now.setting.limits.budget
    return now.share if budget is None else budget


def _label(setting: DaySetting) -> str:
    return "Mean probability of deferral" if setting.limits.soft else "Share of cases sent"


def _buttons(about: Scenario) -> None:
    best = budget_store.optimum(about, state.now())
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Own rate", icon=":material/undo:", on_click=_own_rate, args=(about,), help=texts.OWN)
        name = "Optimum" if best is None else f"Optimum {percent(best.budget)}"
        told = "" if best is None else f"{decimal(best.value)} at {percent(best.budget)}"
        st.button(
            name,
            icon=":material/star:",
            disabled=best is None,
            on_click=_go_to,
            args=(best.budget if best else 0.0,),
            help=texts.NO_OPTIMUM if best is None else texts.OPTIMUM.format(n=best.n, told=told),
        )


def _told(now: DayPlan, day: int) -> str:
    """What the place of the slider means."""
    sent, cases, limits = now.sent, len(now.decisions.label), now.setting.limits
    kind = f"{percent(_share(now))} {'mean probability:' if limits.soft else '='}"
    own = "" if limits.budget is not None else ", the run's own rate"
    return f"{kind} {sent} of {cases} cases ({day * now.share:.3g} a day at {day}){own}"


def _numbers(about: Scenario, live: bool) -> None:
    here = state.course()
    number_cards(
        CARDS,
        names=NAMES,
        helps=[METRICS[metric].explained(here.now.costs) for metric in SHOWN],
        **_at_rest(about),
        course=budget_store.course(about, here.before if here.moving else here.now) if live else None,
        follows=SLIDER if live else None,
        turn=turn_of(SLIDER),
    )


def _at_rest(about: Scenario) -> dict[str, list[str]]:
    """What the server says of the setting in force."""
    here = state.course()
    before, now = (budget_store.measure(about, setting) for setting in (here.before, here.now))
    told, apart = cards.told(before, now, budget_store.asks_on(about, here.now))
    return {"figures": told, "changes": apart}


def _curve(about: Scenario, before: DayPlan, now: DayPlan, told: Mapping[str, Estimate]) -> Drawing:
    was = budget_store.measure(about, before.setting).metrics
    places = {figures.NOW: (now.share, told), figures.BEFORE: (before.share, was)}
    return figures.at(budget_store.backdrop(about, now.setting), places)


def _load(about: Scenario, before: DayPlan, now: DayPlan) -> Drawing:
    setting = now.setting
    longest = budget_store.longest_list(about, setting.limits.away, budget_store.routed_costs(about, setting))
    return figures.load(_readers(before, now), max(1, longest, *now.load.tolist(), *before.load.tolist()))


def _readers(before: DayPlan, now: DayPlan) -> pa.Table:
    manifest, limits = store.cohort().manifest, now.setting.limits
    capacity = limits.capacities(manifest)
    return pa.table(
        {
            "name": [reader.name for reader in manifest.readers],
            "now": now.load,
            "before": before.load,
            "at_most": np.where(np.isfinite(capacity), capacity, np.nan),
            "here": limits.present(manifest),
        }
    )


def _files(about: Scenario, left: DeltaGenerator, right: DeltaGenerator) -> None:
    """The charts to take away; nobody can while the hand is on the slider."""
    here = state.course()
    before, now = (budget_store.day(about, setting) for setting in (here.before, here.now))
    known = budget_store.measure(about, here.now).metrics
    with left:
        widgets.files(lambda: _curve(about, before, now, known), budget_store.curve(about, here.now), CURVE)
    with right:
        widgets.files(lambda: _load(about, before, now), _readers(before, now).to_pandas(), LOAD)


def _dragged() -> None:
    """The slider has moved: go there, and once it is let go draw the rest of the page too."""
    said = place_of(SLIDER)
    if said is None:
        return
    state.change(state.now().with_budget(said.place / STEPS), said.moving)
    if not said.moving:
        st.rerun()


def _typed(key: str) -> None:
    state.change(state.now().with_budget(st.session_state[key] / 100))


def _go_to(share: float) -> None:
    state.change(state.now().with_budget(share))


def _own_rate(about: Scenario) -> None:
    setting = state.now()
    if setting.limits.soft:  # its own mean probability sends what it sends by itself
        state.change(setting.with_budget(float(budget_store.ranked_for(about, setting).defer.mean())))
    else:
        state.change(setting.free)
