"""The controls by which one case is changed or entered, and the case they describe as a word of a link.

What if uses them for a case of the table, New case for one that is in no table. A link carries numbers alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from urllib.parse import quote, unquote

import numpy as np
import streamlit as st

from mpd2.core.arrays import Bools
from mpd2.core.cohort import Cohort
from mpd2.core.state import PROBABILITY
from mpd2.core.text import capital, chance, decimal, interval
from mpd2.evaluation import explain
from mpd2.methods.base import COHORT

LINK = "whatif"  # name in the URL: the case, then what is changed
THERE, BETWEEN, AMONG = "there", ";", "+"
ROSTER, CHOSEN = "roster", "chosen"  # end the keys of what is no input
MOST_SLIDERS, FIRST_SLIDERS = 12, 6  # all inputs at once up to so many; of more, so many at first


def keys_of(place: str, case: Cohort) -> dict[str, str]:
    """The key of every control in the session; `place` tells those of one case from those of another."""
    return {name: f"{place}:{name}" for name in (*case.layout.measured, COHORT, ROSTER, CHOSEN)}


def to_link(case: Cohort, values: Mapping[str, float], available: Bools, cohort: str) -> str:
    """What is changed of a case, as a word of the link; empty where nothing is."""
    parts = [f"{quote(name)}:{value:.6g}" for name, value in values.items() if value != case.column(name)[0]]
    if cohort != case.sources[0]:
        parts.append(f"{COHORT}:{quote(cohort)}")
    if (available != case.available[0]).any():
        parts.append(f"{THERE}:{AMONG.join(quote(column) for column in np.array(case.manifest.columns)[available])}")
    return BETWEEN.join([quote(str(case.ids[0])), *parts]) if parts else ""


def from_link(text: str, case: Cohort) -> tuple[dict[str, float], Bools, str]:
    """Measured inputs, roster, [M], and cohort a link is about; what it does not say, or wrongly, is the case's own."""
    values, available = {name: float(case.column(name)[0]) for name in case.layout.measured}, case.available[0]
    cohort = str(case.sources[0])
    named, *parts = text.split(BETWEEN)
    if unquote(named) != case.ids[0]:
        return values, available, cohort
    for name, _, value in (part.partition(":") for part in parts):
        if name == THERE:
            available = np.isin(case.manifest.columns, [unquote(column) for column in value.split(AMONG)])
        elif name == COHORT and unquote(value) in cohorts(case):
            cohort = unquote(value)
        elif unquote(name) in case.layout.measured and _is_number(value):
            values[unquote(name)] = float(value)
    return values, available, cohort


def link_id() -> str:
    """The case that the link changes."""
    return unquote(st.query_params.get(LINK, "").split(BETWEEN)[0])


def write_link(word: str) -> None:
    """Let the address say what is changed; another message only where it is news."""
    if word and st.query_params.get(LINK) != word:
        st.query_params[LINK] = word
    elif not word and LINK in st.query_params:
        del st.query_params[LINK]


def edited(case: Cohort, train: Cohort, looked_at: Sequence[str], place: str) -> Cohort:
    """Every control, the link that follows them, and the case they describe; a cohort where the run looks at it."""
    keys = keys_of(place, case)
    asked_for, roster, cohort = from_link(st.query_params.get(LINK, ""), case)
    values = {
        name: slider(case, train, name, asked_for[name], keys[name])
        for name in shown(case, train, looked_at, asked_for, keys[CHOSEN])
    }
    cohort = choose_cohort(case, cohort, keys[COHORT]) if COHORT in looked_at else str(case.sources[0])
    available = choose_readers(case, roster, keys[ROSTER])
    write_link(to_link(case, values, available, cohort))
    made = with_values(case, values, available, cohort)
    follows_from_score(made)
    st.button("Reset", icon=":material/restart_alt:", on_click=forget, args=(list(keys.values()),))
    return made


def with_values(case: Cohort, values: Mapping[str, float], available: Bools, cohort: str) -> Cohort:
    """A case with other measured inputs, another roster, [M], and of another cohort."""
    differing = {name: value for name, value in values.items() if value != case.column(name)[0]}
    state = explain.changed(case, differing) if differing else case.state[0]
    changed = explain.copies_with(case, state[None], available)
    return replace(changed, source=np.array([list(cohorts(case)).index(cohort)]))


def shown(case: Cohort, train: Cohort, looked_at: Sequence[str], asked_for: Mapping[str, float], key: str) -> list[str]:
    """The inputs that can be changed: all that vary in training, or of many a few that are chosen."""
    spans = np.ptp(train.state, axis=0)
    vary = [name for name in case.layout.measured if spans[case.layout.position(name)] > 0]
    if len(vary) <= MOST_SLIDERS:
        return vary
    changed = [name for name in vary if asked_for[name] != case.column(name)[0]]
    seen = [name for name in vary if name in looked_at]
    first = list(dict.fromkeys([*case.layout.scores, *changed, *seen, *vary]))
    st.session_state.setdefault(key, [name for name in first if name in vary][:FIRST_SLIDERS])
    titles = {name: capital(case.layout.titles[name]) for name in vary}
    return st.multiselect(f"Inputs to change, of {len(vary)}", vary, key=key, format_func=titles.__getitem__)


def slider(case: Cohort, train: Cohort, name: str, asked_for: float, key: str) -> float:
    """One input, from the least to the most of the training cases, or what it is here."""
    now, known = float(case.column(name)[0]), train.column(name)
    least, most = min(float(known.min()), now), max(float(known.max()), now)
    st.session_state.setdefault(key, min(max(asked_for, least), most))
    unit = next((f", {each.unit}" for each in case.layout.variables if each.name == name and each.unit), "")
    return st.slider(
        f"{capital(case.layout.titles[name])}{unit}",
        least,
        most,
        step=step_of(most - least),
        key=key,
        help=f"Training cases reach from {interval(known.min(), known.max(), 2)}; here it is {decimal(now, 2)}.",
    )


def step_of(span: float) -> float:
    """How fine an input can be changed: a hundredth, or where it spans much or little a few hundred steps.

    >>> step_of(8.0), step_of(900.0), step_of(0.004)
    (0.01, 1.0, 1e-05)
    """
    return 0.01 if 0.5 <= span <= 50 else float(10.0 ** np.floor(np.log10(span / 200)))


def choose_cohort(case: Cohort, chosen: str, key: str) -> str:
    """Whose devices and people the case is of."""
    names = cohorts(case)
    st.session_state.setdefault(key, chosen)
    helped = (
        f"This run expects {case.manifest.task.positives} to be more common, and readers to err otherwise, in one "
        "cohort than in another."
    )
    return str(st.selectbox("Cohort", list(names), key=key, format_func=names.__getitem__, help=helped))


def choose_readers(case: Cohort, there: Bools, key: str) -> Bools:
    """Who is there, [M]."""
    names = [reader.name for reader in case.manifest.readers]
    st.session_state.setdefault(key, [name for name, present in zip(names, there, strict=True) if present])
    chosen = st.pills("Readers there", names, selection_mode="multi", key=key, wrap=True)
    return np.isin(names, chosen)


def cohorts(case: Cohort) -> dict[str, str]:
    """The name of every cohort by its key."""
    return {entry.key: entry.name for entry in case.manifest.cohorts}


def follows_from_score(case: Cohort) -> None:
    """Say what cannot be changed alone."""
    st.caption(
        f"The AI's probability of {case.manifest.task.one}, {chance(float(case.column(PROBABILITY)[0]))}, "
        "and its uncertainty follow from its score."
    )


def forget(keys: Sequence[str]) -> None:
    """Bring every control back to where it was."""
    for key in keys:
        st.session_state.pop(key, None)
    st.query_params.pop(LINK, None)


def _is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False
