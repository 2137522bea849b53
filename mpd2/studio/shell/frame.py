"""What stands around every page: the run and the slice in the sidebar, the banner, a page's title."""

from __future__ import annotations

import streamlit as st

from mpd2.core.errors import EmptyCohort, UserError
from mpd2.core.text import verbatim
from mpd2.core.workspace import DEFAULT
from mpd2.studio.budget import state
from mpd2.studio.shell import glossary, identity, link, operating_point, report_button, session, store, workspaces
from mpd2.studio.shell.registry import entry
from mpd2.studio.shell.scenario import DEFAULT_SPLIT, SHOWN_SPLITS, Scenario

WORKSPACE, RUN, SPLIT, COHORTS, SAVED, REFUSED = "workspace", "run", "split", "cohorts", "saved_slices", "refused"
"""Keys of the session; the first four are names in the URL too."""

OPEN = "open_workspace"  # key of the session: the workspace of the rerun before
OF_A_TABLE = (
    "case", "pin", "whatif", "whatif_start", "region", "decided_by", "capacity", "prevalence", "plan_prevalence",
    "own_cases", "own_trial", *state.OF_A_TABLE,
)  # fmt: skip
"""Keys of the session, and names in the URL, of what means something in one table alone."""
LONGEST = 300  # characters of a link or of a reason that are shown
MOST_PILLS = 12  # cohorts that can be told apart at a glance; more are chosen from a list
WITHOUT_RUN = ("your_data", "record", "clinic")  # pages that say something before there is a run
NO_RUN = "No method has been trained on this table yet. {how}"


def draw() -> None:
    """The sidebar's controls, the banner, and what of the link or of the choice before could not be followed."""
    link.carry(WORKSPACE, RUN, COHORTS, operating_point.POINT)
    refused = _refused_workspace()
    workspace = str(st.session_state[WORKSPACE])
    if st.session_state.setdefault(OPEN, workspace) != workspace:
        _forget_what_does_not_fit(workspace)
        st.session_state[OPEN] = workspace
    refused += [*_refused_run(workspace), *_refused_slice(workspace), *operating_point.refused()]
    with st.sidebar:
        identity.sidebar()
        _workspace(workspace)
        _run(workspace)
        operating_point.draw(workspace)
        _cohorts(workspace)
        st.segmented_control(
            "Split",
            SHOWN_SPLITS,
            default=DEFAULT_SPLIT,
            required=True,
            key=SPLIT,
            bind="query-params",
            help=glossary.SPLIT,
        )
        about = scenario()
        _saved_slices(about)
        if about.run:
            report_button.draw(about)
    manifest = store.manifest(workspace)
    st.caption(f":material/science: {glossary.banner(manifest)}", help=glossary.credit(manifest) or None)
    if refused:
        st.session_state[REFUSED] = (about, refused)
    _tell_refused(about)
    if about.run and (damage := store.damage(workspace, about.run)):  # of the default run: there is no other
        st.error(f"{store.run_title(about.run)} is damaged: {verbatim(damage)}", icon=":material/error:")
        st.stop()


def scenario() -> Scenario:
    """What is being looked at, on every page."""
    run, split, cohorts, workspace = (st.session_state[key] for key in (RUN, SPLIT, COHORTS, WORKSPACE))
    chosen = tuple(item.key for item in store.manifest(workspace).cohorts if item.key in cohorts)
    return Scenario(run, split, chosen, *operating_point.chosen(), workspace)


def _forget_what_does_not_fit(workspace: str) -> None:
    """Leave behind what was chosen in another workspace and means nothing in this one."""
    link.forget(*OF_A_TABLE)
    session.along().pop(state.PLAN, None)
    if st.session_state.get(RUN) not in store.run_names(workspace):
        link.forget(RUN)
    there = [item.key for item in store.manifest(workspace).cohorts]
    st.session_state[COHORTS] = [key for key in there if key in st.session_state.get(COHORTS, [])]


def _workspace(workspace: str) -> None:
    """The choice of the table that everything is about."""
    titles = workspaces.titles()
    link.one(
        st.selectbox,
        "Workspace",
        list(titles),
        key=WORKSPACE,
        default=DEFAULT,
        format_func=titles.__getitem__,
        help=glossary.WORKSPACE,
    )
    st.caption(workspaces.described(workspace))


def _run(workspace: str) -> None:
    """The choice of the active run; nothing where none was made yet."""
    names = store.run_names(workspace)
    if names:
        link.one(
            st.selectbox,
            "Active run",
            names,
            key=RUN,
            default=store.default_run(workspace),
            format_func=store.run_title,
            help=glossary.ACTIVE_RUN,
        )


def _cohorts(workspace: str) -> None:
    """The choice of cohorts, where there is one to make."""
    names = {item.key: item.name for item in store.manifest(workspace).cohorts}
    if len(names) == 1:
        st.session_state[COHORTS] = []
        return
    widget = st.pills if len(names) <= MOST_PILLS else st.multiselect
    settings = {"selection_mode": "multi"} if widget is st.pills else {"placeholder": "All cohorts"}
    link.many(
        widget,
        "Cohorts",
        list(names),
        key=COHORTS,
        format_func=names.__getitem__,
        help=glossary.COHORTS,
        **settings,
    )


def open_page(key: str) -> Scenario:
    """Print a page's title, its question and what it is about; a stop with the reason if that is no case at all."""
    page, about = entry(key), scenario()
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="left"):
        st.title(page.title, anchor=False, width="content")
        st.header(page.question, anchor=False, width="content")  # so that a page's own headings are of the third level
    identity.refuse_page(page.needs)
    if not store.is_ready(about) and key not in WITHOUT_RUN:
        st.info(NO_RUN.format(how=workspaces.how_to_build(about.workspace)), icon=":material/construction:")
        st.stop()
    if page.about == "run" and about.run:
        st.caption(", ".join(filter(None, [f"Active run: {store.run_title(about.run)}", _made_before(about)])))
    elif page.about == "slice":
        st.caption(_what_it_is_about(about))
    return about


def _what_it_is_about(about: Scenario) -> str:
    """The run, its operating point and the slice, and what of the floor could not be kept."""
    slice_ = f"{about.describe(store.cohort(about.workspace))}, n = {_size(about)}"
    named = ", ".join(filter(None, [store.run_title(about.run), _made_before(about)]))
    words = f"{named}, {about.point_in_words()}, on the {slice_}"
    shortfall = operating_point.shortfall(store.choice(about.run, about))
    return f"{words}. {shortfall}" if shortfall else words


def _made_before(about: Scenario) -> str:
    """That the active run was made before rows were added to its table, if it was."""
    return store.made_before(about.workspace, about.run)


def _refused_workspace() -> list[str]:
    """Why the workspace that is asked for is not the open one; then the default one is."""
    asked = str(st.session_state.get(WORKSPACE, st.query_params.get(WORKSPACE, DEFAULT)))
    default = f"{workspaces.title(DEFAULT)} is shown instead."
    reasons = []
    if asked not in workspaces.names():
        reasons = [f"There is no workspace “{_verbatim(asked)}” here; it may have been removed. {default}"]
    else:
        try:
            store.cohort(asked)
        except UserError as error:
            reasons = [f"The workspace “{_verbatim(asked)}” cannot be read. {default} {_verbatim(str(error))}"]
    st.session_state[WORKSPACE] = DEFAULT if reasons else asked
    return reasons


def _refused_run(workspace: str) -> list[str]:
    """Why the run that is asked for is not the active one; then the default run is."""
    usual = store.default_run(workspace)
    asked = st.session_state.get(RUN, st.query_params.get(RUN)) or usual
    if not usual:
        st.session_state[RUN] = ""
        return []
    default = f"{store.run_title(usual)} is shown instead."
    if asked not in store.run_names(workspace):
        reason = f"There is no run “{_verbatim(asked)}” here; it may have been deleted. {default}"
    elif asked != usual and (damage := store.damage(workspace, asked)):
        run = _verbatim(store.run_title(asked))
        reason = (
            f"The run “{run}” is damaged. {default} It can be deleted on Retrain, under Own runs. {_verbatim(damage)}"
        )
    else:
        st.session_state[RUN] = asked
        return []
    st.session_state[RUN] = usual
    return [reason]


def _refused_slice(workspace: str) -> list[str]:
    """Which cohorts and which split the link names that are none."""
    options = {COHORTS: {item.key for item in store.manifest(workspace).cohorts}, SPLIT: set(SHOWN_SPLITS)}
    words = {COHORTS: "cohort", SPLIT: "split"}
    return [
        f"The link names the {words[key]} “{_verbatim(asked)}”, which is not shown here: that part of it is left out."
        for key in (COHORTS, SPLIT)
        if key not in st.session_state
        for asked in st.query_params.get_all(key)
        if asked and asked not in options[key]
    ]


def _verbatim(text: str) -> str:
    """What a link or a folder says, as far as it is shown, word for word."""
    return verbatim(text[:LONGEST])


def _tell_refused(about: Scenario) -> None:
    """Say what could not be followed, until something else is chosen."""
    then, reasons = st.session_state.get(REFUSED, (None, []))
    for reason in reasons if then == about else []:
        st.warning(reason, icon=":material/link_off:")


def _size(about: Scenario) -> int:
    try:
        return len(store.cases(about))
    except EmptyCohort as error:
        said = f"{verbatim(str(error))}. Choose other cohorts or another split in the sidebar."
        st.warning(said, icon=":material/filter_alt_off:")
        st.stop()


def _saved_slices(about: Scenario) -> None:
    """Slices of this workspace, kept by name for this visit."""
    saved: dict[str, Scenario] = st.session_state.setdefault(SAVED, {})
    with st.popover("Saved slices", icon=":material/bookmark:", width="stretch"):
        name = st.text_input("Name", key="slice_name", max_chars=40, placeholder="e.g. the new clinic")
        st.button("Save this slice", on_click=_save_slice, args=(name,), disabled=not name.strip(), width="stretch")
        for label, kept in saved.items():
            if kept.workspace == about.workspace:
                st.button(
                    label,
                    key=f"slice:{label}",
                    on_click=_restore,
                    args=(kept,),
                    help=kept.describe(store.cohort(about.workspace)),
                    width="stretch",
                )


def _save_slice(name: str) -> None:
    st.session_state[SAVED] = {**st.session_state[SAVED], name.strip(): scenario()}


def _restore(kept: Scenario) -> None:
    st.session_state[COHORTS], st.session_state[SPLIT] = list(kept.cohorts), kept.split
