"""The parts of the About page, each drawn when it is looked at."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pandas as pd
import streamlit as st

import mpd2
from mpd2.clinic.access.actor import Actor
from mpd2.clinic.access.exports import export_figures
from mpd2.core.text import listed, plain_words, verbatim
from mpd2.present.charts.kit.export import MIME, Kind, render
from mpd2.present.documents import checklists as checklists_of
from mpd2.present.documents.method_picture import picture, with_numbers
from mpd2.present.words.origins import no_patients, origins
from mpd2.studio.about import checklists, datasheet, reproduction, texts
from mpd2.studio.parts import widgets
from mpd2.studio.shell import glossary, identity, link, report_button, store, workspaces
from mpd2.studio.shell.scenario import Scenario


def draw(about: Scenario) -> None:
    """The chosen part."""
    there = [key for key in PARTS if key != "reproduction" or workspaces.has_published(about.workspace)]
    part = link.one(st.segmented_control, "Part", there, key="part", default="method", required=True,
                    format_func=lambda key: PARTS[key][0], label_visibility="collapsed")  # fmt: skip
    PARTS[part][1](about)


def method(about: Scenario) -> None:
    """The method in a picture, in words and in a formula."""
    manifest = store.manifest(about.workspace)
    task, costs = manifest.task, manifest.costs
    st.image(picture(manifest), width="stretch", alt=texts.METHOD_ALT.format(case=task.case))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(texts.METHOD_NUMBERS, width="content")
        for kind, mime in MIME.items():
            st.download_button(
                kind.upper(),
                data=identity.later(partial(_exported, about, kind)),
                file_name=f"{report_button.file_name(about)}-method.{kind}",
                mime=mime,
                icon=":material/image:",
                key=f"method:{kind}",
                on_click="ignore",
                type="tertiary",
            )
    inputs = [each.title or plain_words(each.column) for each in manifest.inputs]
    said = texts.METHOD.format(
        case=task.case,
        positive=task.positive,
        negative=task.negative,
        inputs=listed(inputs) or "in this table there are none",
        miss=costs.false_negative,
        alarm=costs.false_positive,
    )
    st.markdown(said)
    with st.expander("As a formula", icon=":material/function:"):
        st.latex(texts.OBJECTIVE)
        st.caption(texts.OBJECTIVE_WORDS)


def _exported(about: Scenario, kind: Kind, by: Actor) -> bytes:
    return export_figures(partial(_picture, about, kind), "method", by=by)


def _picture(about: Scenario, kind: Kind) -> bytes:
    """The method with the numbers of the active run on the slice."""
    evidence = store.compared((about.run,), about)
    return render(with_numbers(evidence, about.run, str(report_button.stamp(about))), kind)


def words(about: Scenario) -> None:
    """Every word that has a meaning of its own here."""
    meanings = glossary.glossary(store.manifest(about.workspace))
    rows = [(word, meanings[word]) for word in sorted(meanings, key=str.lower)]
    table = pd.DataFrame(rows, columns=["Word", "Meaning"])
    st.table(table.set_index("Word"), border="horizontal")
    widgets.download(table, "glossary")


def model_card(about: Scenario) -> None:
    """What the active run is, what it may be used for and its limitations."""
    run, cohort = store.run(about.workspace, about.run), store.cohort(about.workspace)
    facts = {
        "Run": store.run_title(about.run),
        "Models": f"{run.members}, seeds {', '.join(str(settings['seed']) for settings in run.settings)}",
        "Inputs of a case": ", ".join(cohort.layout.names),
        "Chooses among": f"the AI and {len(run.readers)} readers, by the {run.rule} rule",
        "Trained on": f"{(cohort.split == 'train').sum()} train cases of table {run.fingerprint}",
        "Costs": f"missed {cohort.manifest.task.positive} {run.costs.false_negative:g}, "
        f"false alarm {run.costs.false_positive:g}, fees {min(run.costs.fees):g} to {max(run.costs.fees):g}",
        "Created": f"{run.created[:10]} with version {run.version}",
    }
    st.table(pd.Series(facts, name="Active run"), border="horizontal")
    st.markdown(texts.INTENDED_USE)
    st.markdown("### Limitations")
    case, persons = cohort.manifest.task.case, checklists_of.persons(cohort.manifest)
    drawn = no_patients(cohort.manifest)
    first = f"- {drawn}\n" if drawn else ""
    where = origins(cohort.manifest.cohorts)
    st.markdown(texts.LIMITATIONS.format(drawn=first, origins=where, case=case, persons=persons))
    for line in cohort.manifest.assumptions:
        st.markdown(f"- {verbatim(line)}")


def data(about: Scenario) -> None:
    """The table's datasheet; what somebody else may have written is shown letter by letter, not as Markdown."""
    space = workspaces.find(about.workspace)
    sheet = space.datasheet.read_text(encoding="utf-8", errors="replace") if space.datasheet.is_file() else ""
    if space.shipped:
        st.markdown(sheet.replace("\n#", "\n##").lstrip("# "))  # its headings one level lower
    elif sheet.strip():
        st.text(sheet)
    else:
        st.caption(texts.NO_DATASHEET)
    if not space.shipped:
        datasheet.draw(store.cohort(about.workspace))


def numbers(about: Scenario) -> None:
    """How numbers come about, and from which software and table."""
    st.markdown(texts.NUMBERS)
    st.caption(f"MPD² Studio {mpd2.__version__} on table {store.cohort(about.workspace).fingerprint}")


def sources(about: Scenario) -> None:
    """Terms and credit."""
    st.markdown(texts.LICENCES)
    st.markdown("### Table and cohorts")
    manifest = store.manifest(about.workspace)
    credits = [manifest.title, manifest.credit, *(entry.credit or entry.name for entry in manifest.cohorts)]
    st.markdown("\n".join(f"- {verbatim(credit)}" for credit in credits if credit))
    st.markdown("### References")
    st.markdown(texts.REFERENCES)


PARTS: dict[str, tuple[str, Callable[[Scenario], None]]] = {
    "method": ("Method", method),
    "glossary": ("Glossary", words),
    "card": ("Model card", model_card),
    "data": ("Data", data),
    "numbers": ("Numbers", numbers),
    "reproduction": ("Beside the paper", reproduction.draw),
    "checklists": ("Checklists", checklists.draw),
    "sources": ("Licences and references", sources),
}
"""Titles, and what draws them, by their key in the link."""
