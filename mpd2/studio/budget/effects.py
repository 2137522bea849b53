"""What a setting on the Budget page did: by cohort, case by case, beside another, and as a worklist for download."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from mpd2.clinic.access.actions import Action
from mpd2.clinic.access.actor import Actor
from mpd2.clinic.access.exports import export_cases
from mpd2.evaluation import readers
from mpd2.evaluation.metrics import METRICS, label_of
from mpd2.planning import dayplan, moved_cases
from mpd2.planning.day import DaySetting, in_words
from mpd2.present.documents.spreadsheets import to_csv
from mpd2.present.documents.worklist_files import clinic_table, reader_files
from mpd2.studio.budget import floors, state, texts
from mpd2.studio.budget import store as budget_store
from mpd2.studio.parts import widgets
from mpd2.studio.parts.deciders import who_decides
from mpd2.studio.shell import identity, store
from mpd2.studio.shell.scenario import Scenario

COST, CHANGE = "%.3f", "%+.3f"


def cohorts(about: Scenario) -> None:
    """The effect on each cohort."""
    st.subheader("Effect of the change on each cohort", anchor=False)
    here, cost = state.slider(), METRICS["TotalCost"]
    rows = budget_store.cohorts(about, here.before, here.now)
    levels, differences = (
        rows[columns].to_numpy(float).tolist()
        for columns in (["TotalCost", "low", "high"], ["difference", "difference_low", "difference_high"])
    )
    total = [f"{cost.shown(value)} ({cost.interval(low, high)})" for value, low, high in levels]
    apart = [f"{cost.change(value)} ({cost.interval(low, high, signed=True)})" for value, low, high in differences]
    shown = rows.assign(total=total, apart=apart)
    widgets.data_table(
        shown[["cohort", "n", "sent_before", "sent", "share", "total", "apart", "ClinicalCost", "ExpertCost"]],
        csv=rows,
        key="budget_cohorts",
        alt_text="For each cohort the cases sent before and now, their costs and the change of total cost",
        columns={
            "cohort": "Cohort",
            "n": st.column_config.NumberColumn("Cases"),
            "sent_before": st.column_config.NumberColumn("Sent before"),
            "sent": st.column_config.NumberColumn("Sent now"),
            "share": st.column_config.NumberColumn("Share sent", format="percent"),
            "ClinicalCost": _cost("ClinicalCost"),
            "ExpertCost": _cost("ExpertCost"),
            "total": st.column_config.TextColumn("Total cost (95 %)", help=cost.explained(here.now.costs)),
            "apart": st.column_config.TextColumn("Δ total (95 %)"),
        },
    )
    st.caption(texts.COHORTS)
    now = budget_store.day(about, here.now)
    who_decides(readers.who_decides(now.decisions, now.ranked.cohort), key="budget_deciders")


def moved(about: Scenario) -> None:
    """Which cases moved since the setting before; a chosen one opens."""
    here = state.slider()
    before, now = (budget_store.measure(about, setting).day for setting in (here.before, here.now))
    rows = moved_cases.moved(store.cases(about), here.now.costs, before.decisions, now.decisions)
    st.subheader("Effect of the change", anchor=False)
    st.markdown(f"Since the last setting ({_in_words(about, here.before)}): {moved_cases.in_words(rows)}")
    if rows.empty:
        return
    widgets.data_table(
        moved_cases.moved_summary(rows),
        key="budget_moved_kinds",
        alt_text="Cases that moved, by kind: errors gained and lost, clinical cost and fees",
        columns={
            "kind": "Cases",
            "cases": st.column_config.NumberColumn("Number"),
            "gained": st.column_config.NumberColumn("Errors gained"),
            "lost": st.column_config.NumberColumn("Errors lost"),
            "clinical": _number("Clinical cost", "%+.1f"),
            "fees": _number("Fees", "%+.2f"),
        },
    )
    ordered = rows.sort_values(["clinical", "fees"], ascending=False, kind="stable", ignore_index=True)
    st.caption(f"{len(ordered)} cases, the largest rise in cost first. Choose a row to open its case.")
    chosen = widgets.data_table(
        ordered,
        key="budget_moved",
        alt_text="The cases that moved, from whom to whom, with errors and costs gained and lost",
        columns={
            "case_id": "Case",
            "cohort": "Cohort",
            "from": "From",
            "to": "To",
            "kind": "Change",
            "error": "Error",
            "clinical": _number("Clinical cost", CHANGE),
            "fees": _number("Fees", CHANGE),
        },
        pick=True,
    )
    if chosen:
        widgets.open_case(str(ordered["case_id"].iloc[chosen[0]]))


def side_by_side(about: Scenario) -> None:
    """The setting kept as A beside the one in force."""
    kept, now = state.kept(), state.now()
    kept = kept and floors.settled(about, kept)
    st.subheader("Two settings side by side", anchor=False)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Keep this setting as A", icon=":material/push_pin:", on_click=state.keep, args=(now,))
        if kept is not None:
            st.button("Go back to A", icon=":material/undo:", on_click=state.change, args=(kept,))
            st.button("Forget A", on_click=state.keep, args=(None,))
    if kept is None:
        st.caption("Keep a setting as A, then change something: the two are compared here.")
        return
    st.markdown(f"**A**: {_in_words(about, kept)}.  \n**B**: {_in_words(about, now)}.")
    rows = dayplan.compared(budget_store.measure(about, kept), budget_store.measure(about, now))
    widgets.data_table(
        rows.assign(metric=rows["metric"].map(label_of)),
        key="budget_sides",
        alt_text="Every metric under A and under B, and their difference with its interval",
        columns={
            "metric": "Metric",
            "first": _number("A", COST),
            "second": _number("B", COST),
            "difference": _number("B less A", CHANGE),
            "low": _number("95 % from", CHANGE),
            "high": _number("to", CHANGE),
        },
    )
    cases = store.cases(about)
    first, second = (budget_store.measure(about, setting).day.decisions for setting in (kept, now))
    widgets.data_table(
        moved_cases.load_change(cases, first, second),
        key="budget_loads",
        alt_text="Readings of each reader under A and under B, and how many more under B",
        columns={
            "reader": None,
            "name": "Reader",
            "before": _number("Readings, A", "%d"),
            "after": _number("Readings, B", "%d"),
            "change": _number("B less A", "%+d"),
        },
    )
    st.caption(f"{texts.COMPARE} n = {len(cases)}.")


def worklist(about: Scenario) -> None:
    """Who reads each case under the setting in force, for all and for each reader."""
    st.subheader("Download the worklist", anchor=False)
    setting = state.now()
    st.caption(texts.WORKLIST)
    if not identity.is_allowed(Action.SEE_CASE):
        st.caption(f":material/lock: {widgets.UNSEEN}")
        return
    with st.container(horizontal=True):
        for label, name, mime, make in (
            ("Worklist (CSV)", "worklist.csv", "text/csv", _whole_list),
            ("A sheet for each reader (ZIP)", "worklists.zip", "application/zip", _reader_lists),
        ):
            st.download_button(
                label,
                data=identity.later(partial(_exported, partial(make, about, setting), name)),
                file_name=name,
                mime=mime,
                icon=":material/download:",
                key=name,
                on_click="ignore",
                type="tertiary",
                **identity.permitted(Action.EXPORT_CASES),
            )
    st.dataframe(
        clinic_table(budget_store.worklist(about, setting)),
        hide_index=True,
        key="budget_worklist",
        alt="The worklist: every case, whom it is assigned to and why",
    )


def _exported(make: Callable[[], bytes], name: str, by: Actor) -> bytes:
    return export_cases(make, name, by=by)


def _whole_list(about: Scenario, setting: DaySetting) -> bytes:
    return to_csv(clinic_table(budget_store.worklist(about, setting)))


def _reader_lists(about: Scenario, setting: DaySetting) -> bytes:
    return reader_files(budget_store.worklist(about, setting), store.manifest(about.workspace))


def _in_words(about: Scenario, setting: DaySetting) -> str:
    return in_words(setting, store.manifest(about.workspace), budget_store.own_share(about))


def _number(label: str, form: str) -> object:
    return st.column_config.NumberColumn(label, format=form)


def _cost(name: str) -> object:
    """A column of a cost, explained at the costs in force."""
    metric = METRICS[name]
    return st.column_config.NumberColumn(metric.heading, format=COST, help=metric.explained(state.now().costs))
