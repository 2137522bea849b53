"""About: how does it work, and what may it be used for?"""

import pandas as pd
import streamlit as st

import mpd2
from mpd2.core.cohort import STATE
from mpd2.studio.about import texts as texts_about
from mpd2.studio.parts import widgets
from mpd2.studio.shell import frame, link, store
from mpd2.studio.shell import glossary as texts

ASSETS = store.DATA.parent / "assets"


def method() -> None:
    """The method in a picture, in words and in a formula."""
    st.image(ASSETS / "method.svg", width="stretch", alt=texts_about.METHOD_ALT)
    st.markdown(texts_about.METHOD)
    with st.expander("As a formula", icon=":material/function:"):
        st.latex(texts_about.OBJECTIVE)
        st.caption(texts_about.OBJECTIVE_WORDS)


def glossary() -> None:
    """Every word that has a meaning of its own here."""
    meanings = texts.glossary(store.cohort().manifest.default_costs())
    words = pd.DataFrame(
        [(word, meanings[word]) for word in sorted(meanings, key=str.lower)], columns=["Word", "Meaning"]
    )
    st.table(words.set_index("Word"), border="horizontal")
    widgets.download(words, "glossary")


def model_card() -> None:
    """What the active run is, what it may be used for and where it ends."""
    run, cohort = store.run(about.run), store.cohort()
    facts = {
        "Run": store.run_title(about.run),
        "Members": f"{run.members}, seeds {', '.join(str(settings['seed']) for settings in run.settings)}",
        "Sees of a case": ", ".join(STATE),
        "Decides": f"{len(run.readers)} readers or the AI, by the {run.rule} rule",
        "Fitted on": f"{(cohort.split == 'train').sum()} train cases of table {run.fingerprint}",
        "Costs": f"missed case {run.costs.false_negative:g}, false alarm {run.costs.false_positive:g}, "
        f"fees {min(run.costs.fees):g} to {max(run.costs.fees):g}",
        "Made": f"{run.created[:10]} with version {run.version}",
    }
    st.table(pd.Series(facts, name="Active run"), border="horizontal")
    st.markdown(texts_about.INTENDED_USE)
    st.markdown("### Where it ends")
    origins = ", ".join(f"{entry.name} {entry.readings}" for entry in cohort.manifest.cohorts)
    st.markdown(
        f"- Readings are not all of one kind: {origins}. Only real ones were given by people who looked."
        f"{texts_about.LIMITS}"
    )


def data() -> None:
    """The table's datasheet."""
    st.markdown((store.DATA / "README.md").read_text(encoding="utf-8").replace("\n#", "\n##").lstrip("# "))


def numbers() -> None:
    """How figures come about, and which software and table gave them."""
    st.markdown(texts_about.NUMBERS)
    st.caption(f"MPD² Studio {mpd2.__version__} on table {store.cohort().fingerprint}")


def sources() -> None:
    """Terms and credit."""
    st.markdown(texts_about.LICENCES)
    st.markdown("### Cohorts")
    st.markdown("\n".join(f"- {entry.credit}" for entry in store.cohort().manifest.cohorts))
    st.markdown("### References")
    st.markdown(texts_about.REFERENCES)


PARTS = {
    "method": ("Method", method),
    "glossary": ("Glossary", glossary),
    "card": ("Model card", model_card),
    "data": ("Data", data),
    "numbers": ("Numbers", numbers),
    "sources": ("Licences and references", sources),
}
"""Titles, and what draws them, by their key in the link."""

about = frame.open_page("about")
part = link.one(st.segmented_control, "Part", list(PARTS), key="part", default="method", required=True,
                format_func=lambda key: PARTS[key][0], label_visibility="collapsed")  # fmt: skip
PARTS[part][1]()
