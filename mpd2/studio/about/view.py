"""The parts of the About page, each drawn when it is looked at."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pandas as pd
import streamlit as st

import mpd2
from mpd2.core.cohort import STATE
from mpd2.present.charts.kit.export import MIME, Kind, render
from mpd2.present.documents.method_picture import PICTURE, with_numbers
from mpd2.studio.about import checklists, reproduction, texts
from mpd2.studio.parts import widgets
from mpd2.studio.shell import glossary, link, report_button, store
from mpd2.studio.shell.scenario import Scenario


def draw(about: Scenario) -> None:
    """The chosen part."""
    part = link.one(st.segmented_control, "Part", list(PARTS), key="part", default="method", required=True,
                    format_func=lambda key: PARTS[key][0], label_visibility="collapsed")  # fmt: skip
    PARTS[part][1](about)


def method(about: Scenario) -> None:
    """The method in a picture, in words and in a formula."""
    st.image(PICTURE, width="stretch", alt=texts.METHOD_ALT)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(texts.METHOD_NUMBERS, width="content")
        for kind, mime in MIME.items():
            st.download_button(
                kind.upper(),
                data=partial(_picture, about, kind),
                file_name=f"{report_button.file_name(about)}-method.{kind}",
                mime=mime,
                icon=":material/image:",
                key=f"method:{kind}",
                on_click="ignore",
                type="tertiary",
            )
    st.markdown(texts.METHOD)
    with st.expander("As a formula", icon=":material/function:"):
        st.latex(texts.OBJECTIVE)
        st.caption(texts.OBJECTIVE_WORDS)


def _picture(about: Scenario, kind: Kind) -> bytes:
    """The method with the numbers of the active run on the slice."""
    evidence = store.compared((about.run,), about)
    return render(with_numbers(evidence, about.run, str(report_button.stamp(about))), kind)


def words(_: Scenario) -> None:
    """Every word that has a meaning of its own here."""
    meanings = glossary.glossary(store.cohort().manifest.default_costs())
    rows = [(word, meanings[word]) for word in sorted(meanings, key=str.lower)]
    table = pd.DataFrame(rows, columns=["Word", "Meaning"])
    st.table(table.set_index("Word"), border="horizontal")
    widgets.download(table, "glossary")


def model_card(about: Scenario) -> None:
    """What the active run is, what it may be used for and its limitations."""
    run, cohort = store.run(about.run), store.cohort()
    facts = {
        "Run": store.run_title(about.run),
        "Models": f"{run.members}, seeds {', '.join(str(settings['seed']) for settings in run.settings)}",
        "Inputs of a case": ", ".join(STATE),
        "Chooses among": f"the AI and {len(run.readers)} readers, by the {run.rule} rule",
        "Trained on": f"{(cohort.split == 'train').sum()} train cases of table {run.fingerprint}",
        "Costs": f"missed glaucoma {run.costs.false_negative:g}, false alarm {run.costs.false_positive:g}, "
        f"fees {min(run.costs.fees):g} to {max(run.costs.fees):g}",
        "Created": f"{run.created[:10]} with version {run.version}",
    }
    st.table(pd.Series(facts, name="Active run"), border="horizontal")
    st.markdown(texts.INTENDED_USE)
    st.markdown("### Limitations")
    origins = ", ".join(f"{entry.name} {entry.readings}" for entry in cohort.manifest.cohorts)
    st.markdown(texts.LIMITATIONS.format(origins=origins))


def data(_: Scenario) -> None:
    """The table's datasheet, its headings one level lower."""
    st.markdown((store.DATA / "README.md").read_text(encoding="utf-8").replace("\n#", "\n##").lstrip("# "))


def numbers(_: Scenario) -> None:
    """How numbers come about, and from which software and table."""
    st.markdown(texts.NUMBERS)
    st.caption(f"MPD² Studio {mpd2.__version__} on table {store.cohort().fingerprint}")


def sources(_: Scenario) -> None:
    """Terms and credit."""
    st.markdown(texts.LICENCES)
    st.markdown("### Cohorts")
    st.markdown("\n".join(f"- {entry.credit}" for entry in store.cohort().manifest.cohorts))
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
