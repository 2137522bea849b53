"""People's own runs: searched, compared, and where each came from."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from mpd2.lab.jobs.own_runs import OwnRun
from mpd2.studio.parts import widgets
from mpd2.studio.retrain import result, texts
from mpd2.studio.shell import store
from mpd2.studio.shell.scenario import Scenario
from mpd2.training.form_fields import changes_in_words


def draw(about: Scenario) -> None:
    """The list of runs, one of them closely, and up to four side by side."""
    runs = store.own_runs()
    st.caption(texts.RUNS)
    if not runs:
        st.caption("There is none yet.")
        return
    words = st.text_input("Search", key="runs-search", placeholder="name, start or setting", icon=":material/search:")
    found = [run for run in runs if words.lower() in _searched(run)]
    st.caption(f"{len(found)} of {len(runs)} runs. Choose a row to name, activate, export or delete it.")
    shown = pd.DataFrame([_row(run) for run in found], columns=list(_COLUMNS))
    picked = widgets.data_table(shown, key="runs-list", alt_text="People's own runs", columns=_COLUMNS, pick=True)
    if picked:
        _closely(found[picked[0]], about)
    _compare([run for run in runs if run.kind == "train"], about)


def lineage(name: str | None) -> str:
    """The runs and presets a run was changed from, the oldest last."""
    own = {store.own_key(run): run for run in store.own_runs()}
    steps: list[str] = []
    while name and len(steps) <= len(own):
        steps.append(store.run_title(name))
        name = own[name].changed_from if name in own else None
    return " ← ".join(steps)


def _closely(run: OwnRun, about: Scenario) -> None:
    name = store.own_key(run)
    st.markdown(f"**{run.title}** ← {lineage(run.changed_from) or 'trained on the command line'}")
    st.caption(f"Changed: {changes_in_words(run.changes)}")
    if run.kind == "grid":
        result.draw_grid(name, about)
    else:
        result.actions(name, about)


def _compare(runs: list[OwnRun], about: Scenario) -> None:
    st.subheader("Side by side", anchor=False)
    options = list(dict.fromkeys([about.run, *map(store.own_key, runs), *store.run_names()]))
    chosen = st.multiselect("Runs", options, default=options[:2], max_selections=texts.MOST_COMPARED,
                            format_func=store.run_title, key="runs-compare", help=texts.COMPARE)  # fmt: skip
    if len(chosen) < 2:
        st.caption("Choose at least two.")
        return
    judged = result.judged_slice(about, "compare")
    names = tuple(chosen)
    result.beside(names, judged, key="compare", first=names[0])
    result.paired_chart(names, judged, names[0], key="compare")


def _searched(run: OwnRun) -> str:
    return f"{run.title} {run.name} {lineage(run.changed_from)} {changes_in_words(run.changes)}".lower()


def _row(run: OwnRun) -> dict[str, object]:
    return {
        "title": run.title,
        "created": pd.Timestamp(run.created),
        "routers": run.routers,
        "kind": "grid" if run.kind == "grid" else "routers",
        "start": lineage(run.changed_from),
        "changes": changes_in_words(run.changes) if run.changed_from else "",
    }


_COLUMNS = {
    "title": st.column_config.TextColumn("Name", pinned=True),
    "created": st.column_config.DatetimeColumn("Made", format="YYYY-MM-DD HH:mm"),
    "routers": st.column_config.NumberColumn("Routers"),
    "kind": st.column_config.TextColumn("Kind"),
    "start": st.column_config.TextColumn("Changed from"),
    "changes": st.column_config.TextColumn("Changes", width="large"),
}
