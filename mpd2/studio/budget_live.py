"""What moves with the hand on the Budget page: the slider, the numbers, the curve and the readers' load."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from mpd2 import changes, dayplan
from mpd2.dayplan import SOFT, Judged
from mpd2.figures import budget as figures
from mpd2.figures.common import METRIC_NAMES
from mpd2.findings import Estimate
from mpd2.headlines import BETTER_WORD, CHANCE_WORD, GAP, WORSE_WORD, change, figure, span
from mpd2.metrics import BETTER
from mpd2.setting import Setting, in_words
from mpd2.studio import budget_state as state
from mpd2.studio import budget_store, store, tables_view, widgets
from mpd2.studio import texts_budget as texts
from mpd2.studio.live_slider import live_slider, place_of
from mpd2.studio.scenario import Scenario

STEPS = 200  # places of the slider from 0 to 100 %
SLIDER, PLAIN, EXACT, LIVE, PER_DAY = "budget_live", "budget_plain", "budget_exact", "live", "per_day"
"""Keys of the session; the last two are names in the URL too."""

ROWS = (("TotalCost", "ClinicalCost", "ExpertCost", "Defer"), ("F1", "MCC", "Sens", SOFT))
COLOURS = {BETTER_WORD: "green", WORSE_WORD: "red", CHANCE_WORD: "gray"}


@st.fragment
def draw(about: Scenario) -> None:
    """All of it; a move of the slider draws nothing else."""
    slot, here = st.container(), state.course()
    now, before = budget_store.told(about, here.now), budget_store.told(about, here.before)
    st.caption(f"Now: {in_words(here.now, store.cohort().manifest)}.")
    for note in now.day.plan.notes:
        st.caption(f":material/warning: {note}")
    _numbers(before, now)
    left, right = st.columns([5, 3], gap="large")
    with left:
        _curve(about, before, now)
    with right:
        _load(about, before, now)
    with slot:  # drawn last: a live slider waits for it before it says where it is next
        _slider(about, now)


def explain(about: Scenario) -> None:
    """What the numbers and charts mean; apart from them, since it does not move and reading it takes a browser long."""
    setting, members = state.now(), budget_store.members(about)
    best, known = budget_store.optimum(about, setting), budget_store.hindsight(about, setting)
    notes = [texts.CURVE + (texts.TRAINED if budget_store.has_trained(about, setting) else texts.NO_TRAINED)]
    if best is not None and best.split != about.split:
        notes[0] += texts.HINDSIGHT.format(told=f"{_percent(known.budget)} at {known.value:.3f}")
    notes.append(texts.LOAD + (texts.LATER if budget_store.desk_for(about, setting).endings is not None else ""))
    notes.append((texts.TOGETHER.format(members=members) if members > 1 else "") + texts.ORDER)
    for note in notes:
        st.caption(note)


def _slider(about: Scenario, now: Judged) -> None:
    setting, cases = now.day.setting, len(now.day.decisions.label)
    share = now.day.sent / cases if setting.limits.budget is None else setting.limits.budget
    label = "Mean probability of deferral" if setting.limits.soft else "Share of cases sent"
    left, right = st.columns([5, 2], vertical_alignment="bottom", gap="medium")
    with right, st.container(horizontal=True, vertical_alignment="bottom"):
        day = st.number_input("Cases a day", 1, 100_000, 300, key=PER_DAY, bind="query-params", help=texts.PER_DAY)
        live = st.toggle("Live", value=True, key=LIVE, bind="query-params", help=texts.LIVE)
    said = _told(share, now, day)
    with left:
        if live:
            live_slider(
                SLIDER, _dragged, label=label, least="none", most="all", place=round(STEPS * share), max=STEPS,
                said=said, cases=cases, day=day, soft=setting.limits.soft,
            )  # fmt: skip
        else:
            _plain(label, share, said)
    _buttons(about, setting)


def _plain(label: str, share: float, said: str) -> None:
    for key in (PLAIN, EXACT):
        st.session_state[key] = round(100 * share, 1)
    wide, narrow = st.columns([4, 1], vertical_alignment="bottom")
    with wide:
        st.slider(label, 0.0, 100.0, step=0.5, format="%.1f %%", key=PLAIN, on_change=_typed, args=(PLAIN,))
    with narrow:
        st.number_input("Per cent", 0.0, 100.0, step=0.5, format="%.1f", key=EXACT, on_change=_typed, args=(EXACT,))
    st.caption(said)


def _buttons(about: Scenario, setting: Setting) -> None:
    best = budget_store.optimum(about, setting)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Own rate", icon=":material/undo:", on_click=_own_rate, args=(about,), help=texts.OWN)
        name = "Optimum" if best is None else f"Optimum {_percent(best.budget)}"
        told = "" if best is None else f"{best.value:.3f} at {_percent(best.budget)}"
        st.button(
            name,
            icon=":material/star:",
            disabled=best is None,
            on_click=_go_to,
            args=(best.budget if best else 0.0,),
            help=texts.NO_OPTIMUM if best is None else texts.OPTIMUM.format(n=best.n, told=told),
        )


def _told(share: float, now: Judged, day: int) -> str:
    """What the place of the slider means."""
    sent, cases = now.day.sent, len(now.day.decisions.label)
    soft = now.day.setting.limits.soft
    kind = f"{_percent(share)} mean probability:" if soft else f"{_percent(share)} ="
    own = "" if now.day.setting.limits.budget is not None else ", the run's own rate"
    return f"{kind} {sent} of {cases} cases ({day * sent / cases:.3g} a day at {day}){own}"


def _numbers(before: Judged, now: Judged) -> None:
    more = None if before.day.setting == now.day.setting else dayplan.apart(before, now)
    for row in ROWS:
        for column, metric in zip(st.columns(len(row), border=True), row, strict=True):
            with column:
                _card(metric, now, None if more is None else more[metric])


def _card(metric: str, now: Judged, more: Estimate | None) -> None:
    known = "Defer" if metric == SOFT else metric  # both are shares of cases
    name = METRIC_NAMES[metric]
    lines = [f"95{GAP}% {span(known, now.figures[metric])}"]
    if metric == "Defer" and now.day.readings != now.day.sent:
        lines.append(f"{now.day.readings} readings of {now.day.sent} cases")
    judged = metric in BETTER and metric != "Defer"  # to send more is neither good nor bad
    lines += ["no change", GAP] if more is None else _change(known, more, judged)  # as many lines, or the page jumps
    st.metric(name[:1].upper() + name[1:], figure(known, now.figures[metric].value), help=tables_view.HELP[metric])
    st.markdown("  \n".join(f":small[{line}]" for line in lines))


def _change(metric: str, more: Estimate, judged: bool) -> list[str]:
    """How far it is from the setting before, and whether that is beyond chance and for the better."""
    word = CHANCE_WORD
    if judged and (more.low > 0 or more.high < 0):
        word = BETTER_WORD if more.value * BETTER[metric] > 0 else WORSE_WORD
    sense = f" :{COLOURS[word]}[{word}]" if judged else ""
    return [f"Δ **{change(metric, more)}**{sense}", span(metric, more, signed=True)]


def _curve(about: Scenario, before: Judged, now: Judged) -> None:
    setting, cases = now.day.setting, len(now.day.decisions.label)
    places = {figures.NOW: now, figures.BEFORE: before}
    widgets.chart(
        figures.at(
            budget_store.backdrop(about, setting),
            {when: (told.day.sent / cases, told.figures) for when, told in places.items()},
        ),
        table=budget_store.curve(about, setting),
        key="budget_curve",
        alt_text=texts.CURVE_ALT,  # without a number: a chart whose words change is drawn anew at every move
    )


def _load(about: Scenario, before: Judged, now: Judged) -> None:
    setting, desk = now.day.setting, budget_store.desk_for(about, now.day.setting)
    manifest, capacity = desk.cohort.manifest, setting.limits.capacities(desk.cohort.manifest)
    rows = pd.DataFrame({
        "name": [reader.name for reader in manifest.readers],
        "now": now.day.load,
        "before": before.day.load,
        "at_most": np.where(np.isfinite(capacity), capacity, np.nan),
        "here": setting.limits.present(manifest),
    })
    longest = budget_store.longest_list(about, setting.limits.away, budget_store.routed_costs(about, setting))
    widgets.chart(
        figures.load(rows, max(1, longest, *now.day.load.tolist(), *before.day.load.tolist())),
        table=rows,
        key="budget_load",
        alt_text="Readings of each reader now and before, and how many each can take",
    )
    told = changes.in_words(changes.moved(desk.cohort, setting.costs, before.day.decisions, now.day.decisions))
    st.markdown(f"**Since the last setting.** {told}")


def _dragged() -> None:
    """The slider has moved: go there, and once it is let go draw the rest of the page too."""
    said = place_of(SLIDER)
    if said is None:
        return
    place, moving = said[0]
    state.change(state.now().with_budget(place / STEPS), moving)
    if not moving:
        st.rerun()


def _typed(key: str) -> None:
    state.change(state.now().with_budget(st.session_state[key] / 100))
    st.rerun()


def _go_to(share: float) -> None:
    state.change(state.now().with_budget(share))
    st.rerun()


def _own_rate(about: Scenario) -> None:
    setting = state.now()
    if setting.limits.soft:  # its own mean probability sends what it sends by itself
        state.change(setting.with_budget(float(budget_store.desk_for(about, setting).defer.mean())))
    else:
        state.change(setting.free)
    st.rerun()


def _percent(share: float) -> str:
    return f"{100 * share:.3g}{GAP}%"
