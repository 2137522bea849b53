"""People's own runs: searched, compared, and where each came from."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from mpd2.clinic.access.actions import Action
from mpd2.core.text import without_folders
from mpd2.lab.jobs.own_runs import DamagedRun, OwnRun
from mpd2.lab.owners import NOBODY
from mpd2.studio.parts import widgets
from mpd2.studio.retrain import result, texts
from mpd2.studio.shell import identity, store
from mpd2.studio.shell.scenario import Scenario
from mpd2.training.form_fields import changes_in_words


def draw(about: Scenario) -> None:
    """The list of runs, one of them closely, and up to four side by side; below, those that cannot be read."""
    damaged = store.damaged_runs(about.workspace)
    _list([run for run in store.own_runs(about.workspace) if run.name not in {each.name for each in damaged}], about)
    if damaged:
        _damaged(damaged)


def _list(runs: list[OwnRun], about: Scenario) -> None:
    st.caption(texts.RUNS)
    if not runs:
        st.caption("There is none yet.")
        return
    words = st.text_input("Search", key="runs-search", placeholder="name, start or setting", icon=":material/search:")
    matching = [run for run in runs if words.lower() in _searched(run, about)]
    st.caption(f"{len(matching)} of {len(runs)} runs. Choose a row to name, activate, export or delete it.")
    shown = pd.DataFrame([_row(run, about) for run in matching], columns=list(_COLUMNS))
    picked = widgets.data_table(shown, key="runs-list", alt_text="People's own runs", columns=_COLUMNS, pick=True)
    if picked:
        _closely(matching[picked[0]], about)
    _compare([run for run in runs if run.kind == "train"], about)


def lineage(name: str | None, about: Scenario) -> str:
    """The runs and presets a run was changed from, the oldest last."""
    own = {store.own_key(run): run for run in store.own_runs(about.workspace)}
    steps: list[str] = []
    while name and len(steps) <= len(own):
        steps.append(store.run_title(name))
        name = own[name].changed_from if name in own else None
    return " ← ".join(steps)


def _closely(run: OwnRun, about: Scenario) -> None:
    name = store.own_key(run)
    st.markdown(f"**{run.title}** ← {lineage(run.changed_from, about) or 'trained on the command line'}")
    st.caption(f"Changed: {changes_in_words(run.changes)}")
    if run.kind == "grid":
        result.draw_grid(name, about)
    else:
        result.actions(name, about)


def _damaged(runs: list[DamagedRun]) -> None:
    """Folders of runs that cannot be read: which, why, and a button to delete each."""
    st.subheader("Damaged runs", anchor=False)
    st.caption("These folders cannot be read as a run. No page uses them.")
    for run in runs:
        left, right = st.columns([5, 1], vertical_alignment="center")
        left.text(without_folders(f"{run.name}: {run.reason}"))
        with right.popover("Delete", icon=":material/delete:", key=f"damaged:{run.name}"):
            st.caption("The folder and all its files are removed for everybody.")
            st.button("Delete it", key=f"delete:{store.OWN}{run.name}", on_click=result.delete,
                      args=(f"{store.OWN}{run.name}",), type="primary",
                      **identity.permitted(Action.REMOVE_RUN, NOBODY))  # fmt: skip


def _compare(runs: list[OwnRun], about: Scenario) -> None:
    st.subheader("Side by side", anchor=False)
    shipped = [name for name in store.run_names(about.workspace) if not name.startswith(store.OWN)]
    options = list(dict.fromkeys([about.run, *map(store.own_key, runs), *shipped]))
    chosen = st.multiselect("Runs", options, default=options[:2], max_selections=texts.MOST_COMPARED,
                            format_func=store.run_title, key="runs-compare", help=texts.COMPARE)  # fmt: skip
    if len(chosen) < 2:
        st.caption("Choose at least two.")
        return
    judged = result.judged_slice(about, "compare")
    names = tuple(chosen)
    result.beside(names, judged, key="compare", first=names[0])
    result.paired_chart(names, judged, names[0], key="compare")


def _searched(run: OwnRun, about: Scenario) -> str:
    return f"{run.title} {run.name} {lineage(run.changed_from, about)} {changes_in_words(run.changes)}".lower()


def _row(run: OwnRun, about: Scenario) -> dict[str, object]:
    return {
        "title": run.title,
        "created": pd.Timestamp(run.created),
        "routers": run.routers,
        "kind": "grid" if run.kind == "grid" else "models",
        "start": lineage(run.changed_from, about),
        "changes": changes_in_words(run.changes) if run.changed_from else "",
    }


_COLUMNS = {
    "title": st.column_config.TextColumn("Name", pinned=True),
    "created": st.column_config.DatetimeColumn("Made", format="YYYY-MM-DD HH:mm"),
    "routers": st.column_config.NumberColumn("Models"),
    "kind": st.column_config.TextColumn("Kind"),
    "start": st.column_config.TextColumn("Changed from"),
    "changes": st.column_config.TextColumn("Changes", width="large"),
}
