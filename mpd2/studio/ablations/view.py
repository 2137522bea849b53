"""The parts of the Ablations page: for one of three studies its verdicts, its charts and its table."""

from __future__ import annotations

import streamlit as st

from mpd2.evaluation.metrics import label_of
from mpd2.evaluation.tables import ALL
from mpd2.present.charts import ablations as charts
from mpd2.present.words.answer import in_words
from mpd2.present.words.side_by_side import side_by_side
from mpd2.studio.ablations import store, texts
from mpd2.studio.ablations.store import METRICS
from mpd2.studio.parts import method_table, widgets
from mpd2.studio.parts.not_built import not_built
from mpd2.studio.shell import link, results
from mpd2.studio.shell.scenario import Scenario
from mpd2.study import claims
from mpd2.study.claims import FAILS, HARDLY, HOLDS, OF_THE_OBJECTIVE, RATHER, UNKNOWN, Claim, Finding

FIRST = {"objective": "ClinicalCost", "regularisation": "Top1", "budget": "F1"}
CLAIMS = {
    "objective": (claims.fees_matter, claims.clinical_cost_alone_defers),
    "regularisation": (claims.regularisers_spread, claims.regularisers_are_free),
    "budget": (claims.budget_is_kept, claims.budget_is_cheap),
}
"""By study, what checks its claims."""

BADGES = {
    HOLDS: ("green", ":material/check_circle:"),
    RATHER: ("blue", ":material/help:"),
    HARDLY: ("orange", ":material/help:"),
    FAILS: ("red", ":material/cancel:"),
    UNKNOWN: ("gray", ":material/block:"),
}


@st.fragment
def draw(about: Scenario) -> None:
    """The whole page."""
    if not results.has(about.workspace, *results.ABLATIONS, "effects"):
        not_built("The study of what each term buys", about.workspace, until="ablations")
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        study = link.one(st.segmented_control, "Study", list(texts.STUDIES), key="study", default="objective",
                         required=True, format_func=texts.STUDIES.__getitem__,
                         label_visibility="collapsed")  # fmt: skip
        known = store.metrics(about.workspace, study)
        metric = link.one(st.selectbox, "Metric", known, key=f"figure-{study}", default=FIRST[study],
                          format_func=label_of, width=260, label_visibility="collapsed")  # fmt: skip
    findings = of_study(study, about.workspace)
    for place, (claim, finding) in zip(st.columns(len(findings)), findings, strict=True):
        colour, icon = BADGES[finding.verdict]
        place.markdown(f":{colour}-badge[{icon} {finding.verdict}] **{claim.statement}**")
    _charts(about, study, metric)
    for place, (_, finding) in zip(st.columns(len(findings)), findings, strict=True):
        place.caption(in_words(finding.text))
    st.caption(texts.VERDICTS)
    st.markdown(texts.EXPLAINED[study])
    _table(about, study)
    st.caption(texts.SCOPE.format(seeds=store.seeds(about.workspace)))


def of_study(study: str, workspace: str) -> list[tuple[Claim, Finding]]:
    """What the paper says each term does, and whether it does so here."""
    findings = zip(OF_THE_OBJECTIVE, results.terms(workspace), strict=True)
    return [(claim, finding) for claim, finding in findings if claim.check in CLAIMS[study]]


def _charts(about: Scenario, study: str, metric: str) -> None:
    rows, effects = store.conditions(about.workspace, study), store.changes(about.workspace, study, metric)
    levels, changes = st.columns(2)
    with levels:
        widgets.chart(
            charts.levels(rows, metric),
            table=store.of_metric(about.workspace, study, metric),
            key="levels",
            alt_text=f"{label_of(metric)} of each condition with its interval, and the paper's value",
        )
    with changes:
        widgets.chart(
            charts.effects(effects),
            table=effects,
            key="effects",
            alt_text=f"Change in {label_of(metric)} of each condition with its interval",
        )
    st.caption(f"{method_table.help_of(metric, about)} {texts.CHANGE.format(seeds=store.seeds(about.workspace))}")
    if study == "budget":
        widgets.chart(
            charts.budget_control(rows),
            table=store.controlled(about.workspace, study),
            key="budget-control",
            alt_text="Realised soft and hard deferral against the target, with the line of equality",
            note=texts.CONTROL,
        )


def _table(about: Scenario, study: str) -> None:
    """Every metric of every condition."""
    rows = store.conditions(about.workspace, study)
    columns, full = method_table.heads(METRICS[study], ALL), charts.AGAINST[study]
    intervals, printed = method_table.switches(study, True, texts.INTERVALS)
    table = side_by_side(rows, columns, first=full, intervals=intervals, printed=printed)
    method_table.wide_table(
        rows, table, columns, about, key=f"table-{study}", active=full, head="Condition", roomy=intervals,
        alt_text=f"{texts.STUDIES[study]}: a row for each condition, a column for each metric",
    )  # fmt: skip
