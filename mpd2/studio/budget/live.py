"""What moves with the slider on the Budget page: the numbers, the cost curve and the readers' load."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from mpd2.core.cache import cached
from mpd2.core.policy import decided_cases
from mpd2.core.text import decimal, percent, sentence
from mpd2.evaluation.clinical.per_thousand import Programme, prevalence_of
from mpd2.evaluation.intervals import Estimate
from mpd2.evaluation.metrics import METRICS
from mpd2.planning import moved_cases
from mpd2.planning.budget_sweep import SHOWN, STEPS, can_sweep
from mpd2.planning.day import DaySetting, in_words
from mpd2.planning.dayplan import PEOPLE, DayPlan
from mpd2.present.charts import budget as charts
from mpd2.present.charts.kit.drawing import Drawing
from mpd2.present.words import budget as words
from mpd2.present.words import deciders
from mpd2.present.words.people import changed_prevalence
from mpd2.studio.budget import controls, floors, state, texts
from mpd2.studio.budget import store as budget_store
from mpd2.studio.budget.state import SliderState
from mpd2.studio.parts import programme, widgets
from mpd2.studio.parts.live_slider import live_slider, position_of, turn_of
from mpd2.studio.parts.number_cards import number_cards
from mpd2.studio.parts.programme import Told
from mpd2.studio.shell import session, store
from mpd2.studio.shell.scenario import Scenario

SLIDER, PLAIN, EXACT, LIVE, PER_1000 = "budget_live", "budget_plain", "budget_exact", "live", "per_1000"
"""Keys of the session; the last two are names in the URL too."""

CARDS, MORE, CURVE, LOAD = "budget_cards", "budget_more", "budget_curve", "budget_load"  # keys of what is drawn
IN_COSTS, IN_PEOPLE = range(4), range(len(SHOWN) - len(PEOPLE), len(SHOWN))
"""The cards on the first screen, by their places in SHOWN; the others are under a topic of their own."""


def draw(about: Scenario) -> None:
    """The first screen; what a step of the slider draws again has its places in it."""
    wide, narrow = st.columns([8, 5], gap="medium")
    with narrow:
        live = _buttons(about)
    _numbers(about, live, CARDS, IN_PEOPLE if _in_people() else IN_COSTS)
    _point(about)
    left, right = st.columns([5, 3], gap="medium")
    with wide:
        if not live:
            _plain(about)
        _follow(about, live, left, right)
    _files(about, left, right)
    st.caption(texts.CURVE)


def _point(about: Scenario) -> None:
    """In which programme numbers are told, how the floor stands under limits, and what trust in the AI costs."""
    setting, told = state.slider().resting, _programme(about)
    said = [changed_prevalence(told.prevalence, prevalence_of(store.cases(about)))] if _in_people() else []
    stands = floors.standing(about, setting)
    if stands is not None:
        said.append(words.floor_in_words(stands.choice, stands.alarms, stands.without, stands.rate, stands.above))
    if about.confident is not None:
        more = floors.price_of_trust(about, setting, told.prevalence)
        said.append(words.trust_in_words(more, about.confident))
    if any(said):
        st.caption("  \n".join(filter(None, said)))


def more_numbers(about: Scenario) -> None:
    """The numbers that are not on the first screen."""
    shown = range(IN_PEOPLE.start) if _in_people() else range(IN_COSTS.stop, len(SHOWN))
    _numbers(about, st.session_state[LIVE], MORE, shown)


@st.fragment
def _follow(about: Scenario, live: bool, left: DeltaGenerator, right: DeltaGenerator) -> None:
    """What follows the slider from the server; all that stays as it is is drawn elsewhere, once."""
    here = state.slider()
    numbers = (
        budget_store.while_dragged(about, here.now) if here.moving else budget_store.measure(about, here.now).metrics
    )
    with left:
        widgets.bare_chart(_curve(about, here, numbers), key=CURVE, alt_text=texts.CURVE_ALT)
    with right:
        widgets.bare_chart(_load(about, here), key=LOAD, alt_text=texts.LOAD_ALT)
    if live:  # drawn last: it waits for the rest before it reports the next step
        _live(about, here)


def explain(about: Scenario) -> None:
    """What the numbers and charts mean."""
    setting, models = state.now(), budget_store.members(about)
    best, hindsight = budget_store.optimum(about, setting), budget_store.hindsight(about, setting)
    n, each = budget_store.size(about), 20
    scaled = int(np.floor(each * n / setting.day + 0.5))
    notes = [texts.INTERVALS, texts.SCALED.format(n=n, day=setting.day, each=each, scaled=scaled)]
    notes.append(texts.TRAINED if budget_store.has_trained(about, setting) else texts.NO_TRAINED)
    if best is not None and best.split != about.split:
        notes.append(texts.HINDSIGHT.format(share=percent(hindsight.budget), value=decimal(hindsight.value)))
    notes += [texts.LATER] if budget_store.asks_on(about, setting) else []
    notes += [texts.TOGETHER.format(members=models)] if models > 1 else []
    st.markdown("\n".join(f"- {note}" for note in [*notes, texts.ORDER]))


def _live(about: Scenario, here: SliderState) -> None:
    setting, now = here.now, budget_store.day(about, here.now)
    live_slider(
        SLIDER,
        _dragged,
        label=_label(setting),
        least="none",
        most="all",
        step=round(STEPS * _share(now)),
        max=STEPS,
        meaning=_meaning(about, here.now),
        notes=_notes(about, here),
        cases=len(now.decisions.label),
        day=setting.day,
        soft=setting.limits.soft,
        numbers=_at_rest(about) if here.moving and not can_sweep(setting.limits) else None,
    )


def _plain(about: Scenario) -> None:
    here = state.slider()
    for key in (PLAIN, EXACT):
        st.session_state[key] = round(100 * _share(budget_store.day(about, here.now)), 1)
    wide, narrow = st.columns([4, 1], vertical_alignment="bottom")
    with wide:
        st.slider(_label(here.now), 0.0, 100.0, step=0.5, format="%.1f %%", key=PLAIN, on_change=_typed, args=(PLAIN,))
    with narrow:
        st.number_input("Per cent", 0.0, 100.0, step=0.5, format="%.1f", key=EXACT, on_change=_typed, args=(EXACT,))
    st.caption("  \n".join([_meaning(about, here.now), *_notes(about, here)]))


def _notes(about: Scenario, here: SliderState) -> list[str]:
    """What is set, which limits could not be met, and what the change did."""
    before, now = (budget_store.day(about, setting) for setting in (here.before, here.now))
    cohort = now.ranked.cohort
    moved = moved_cases.in_short(cohort, now.setting.costs, before.decisions, now.decisions)
    waits = [texts.WAITS] if here.moving and about.floor is not None else []
    recounted = " Costs are counted at the new values." if before.setting.costs != now.setting.costs else ""
    return [
        sentence(in_words(here.now, cohort.manifest, budget_store.own_share(about))),
        deciders.in_words(decided_cases(now.decisions, cohort)),
        *now.plan.notes,
        *waits,
        f"Since the last setting: {moved[:1].lower() + moved[1:]}{recounted}",
    ]


def _share(now: DayPlan) -> float:
    """Where on the slider a setting is."""
    budget = now.setting.limits.budget
    return now.share if budget is None else budget


def _label(setting: DaySetting) -> str:
    return "Mean probability of deferral" if setting.limits.soft else "Share of cases sent"


def _buttons(about: Scenario) -> bool:
    """Settings to go to; whether the slider is live."""
    best, own = budget_store.optimum(about, state.now()), percent(budget_store.own_share(about))
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.button(f"Default {own}", on_click=_own_share, args=(about,), help=texts.OWN.format(own=own))
        st.button(
            "Optimum" if best is None else f"Optimum {percent(best.budget)}",
            disabled=best is None,
            on_click=_go_to,
            args=(best.budget if best else 0.0,),
            help=texts.NO_OPTIMUM if best is None else texts.OPTIMUM.format(n=best.n, value=decimal(best.value)),
        )
        controls.examples(about)
        st.button("Reset", on_click=state.change, args=(state.usual(about),), help=texts.RESET)
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        st.toggle("Per 1,000", value=True, key=PER_1000, bind="query-params", help=texts.PER_1000)
        return st.toggle("Live", value=True, key=LIVE, bind="query-params", help=texts.LIVE)


def _meaning(about: Scenario, setting: DaySetting) -> str:
    """What the position of the slider means; where limits take it off the share the run sends by default, that too."""
    now, own = budget_store.day(about, setting), budget_store.own_share(about)
    kind = f"{percent(_share(now))} {'mean probability:' if setting.limits.soft else '='}"
    a_day = decimal(setting.day * now.share, 1)
    default = f"; default {percent(own)}" if setting.limits.budget is None and now.share != own else ""
    return f"{kind} {now.sent} of {budget_store.size(about)} cases ({a_day} a day of {setting.day}){default}"


def _in_people() -> bool:
    return bool(st.session_state[PER_1000])


def _programme(about: Scenario) -> Programme:
    """As chosen on Overview; another prevalence says nothing where all are sick or none is."""
    told: Told = session.along().get(programme.TOLD, programme.UNASKED)
    both = 0 < prevalence_of(store.cases(about)) < 1
    return told.programme if both else replace(told.programme, prevalence=None)


def _numbers(about: Scenario, live: bool, key: str, shown: range) -> None:
    here, metrics = state.slider(), [METRICS[SHOWN[place]] for place in shown]
    number_cards(
        key,
        names=[metric.heading for metric in metrics],
        helps=[f"{metric.explained(here.now.costs)} {texts.IN_GREY}" for metric in metrics],
        first=shown.start,
        **_at_rest(about),
        sweep=budget_store.sweep_texts(about, here.resting, _programme(about)) if live else None,
        follows=SLIDER if live else None,
        turn=turn_of(SLIDER),
    )


def _at_rest(about: Scenario) -> dict[str, list[str]]:
    """All texts of the setting in force."""
    here = state.slider()
    told = _programme(about)
    before, now = (budget_store.measure(about, setting, told.prevalence) for setting in (here.before, here.now))
    values, apart = words.texts_of(before, now, budget_store.asks_on(about, here.now), told.minutes)
    return {"values": values, "changes": apart}


def _curve(about: Scenario, here: SliderState, numbers: Mapping[str, Estimate]) -> Drawing:
    earlier = budget_store.measure(about, here.before).metrics
    points = {
        charts.NOW: (budget_store.day(about, here.now).share, numbers),
        charts.BEFORE: (budget_store.day(about, here.before).share, earlier),
    }
    return charts.at(budget_store.backdrop(about, here.now), points)


def _load(about: Scenario, here: SliderState) -> Drawing:
    rows = _readers(about, here)
    longest = budget_store.longest_list(about, here.now.limits.away, budget_store.routed_costs(about, here.now))
    most = max(1, longest, *rows["now"].to_pylist(), *rows["before"].to_pylist())
    return charts.load(rows, most, budget_store.size(about))


def _readers(about: Scenario, here: SliderState) -> pa.Table:
    """The load of each reader, on the cases shown and a day; columns as `charts.load` wants them."""
    manifest = store.manifest(about.workspace)
    before, now = (budget_store.day(about, setting) for setting in (here.before, here.now))
    capacity = now.setting.limits.capacities(manifest)
    numbers = {
        "now": now.load,
        "before": before.load,
        "capacity": np.where(np.isfinite(capacity), capacity, np.nan),
    }
    day = here.now.day / budget_store.size(about)
    return pa.table(
        {
            "name": [reader.name for reader in manifest.readers],
            "here": now.setting.limits.present(manifest),
            **numbers,
            **{f"{name}_a_day": day * values for name, values in numbers.items()},
        }
    )


@cached
def _readers_to_keep(about: Scenario, here: SliderState) -> pd.DataFrame:
    """The same as a table for download."""
    return _readers(about, here).to_pandas()


def _files(about: Scenario, left: DeltaGenerator, right: DeltaGenerator) -> None:
    """The charts for download; nobody asks for them while the slider is dragged."""
    here = state.slider()
    numbers = budget_store.measure(about, here.now).metrics
    with left:
        widgets.files(lambda: _curve(about, here, numbers), budget_store.curve(about, here.now), CURVE)
    with right:
        widgets.files(lambda: _load(about, here), _readers_to_keep(about, here), LOAD)


def _dragged() -> None:
    """The slider has moved: go there, and once it is released draw the rest of the page too."""
    position = position_of(SLIDER)
    if position is None:
        return
    state.change(state.now().with_budget(position.step / STEPS), position.moving)
    if not position.moving:
        st.rerun()


def _typed(key: str) -> None:
    state.change(state.now().with_budget(st.session_state[key] / 100))


def _go_to(share: float) -> None:
    state.change(state.now().with_budget(share))


def _own_share(about: Scenario) -> None:
    setting = state.now()
    if setting.limits.soft:  # its own mean probability sends what it sends by default
        state.change(setting.with_budget(float(budget_store.ranked_for(about, setting).defer.mean())))
    else:
        state.change(setting.free)
