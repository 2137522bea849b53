"""What a person sets before pressing Train; validated by the configuration itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

from mpd2.core.costs import Costs
from mpd2.core.errors import UserError
from mpd2.core.text import verbatim
from mpd2.lab.jobs import orders, own_runs, queue, worker_pool
from mpd2.lab.jobs.folder import LONGEST, Order, Workshop, all_jobs
from mpd2.lab.jobs.search import kept_presets
from mpd2.methods.mpd2_router import Mpd2
from mpd2.studio.parts.job_words import in_minutes
from mpd2.studio.retrain import texts
from mpd2.studio.shell import identity, store, workspaces
from mpd2.studio.shell.scenario import Scenario
from mpd2.training import form_fields
from mpd2.training.config import PRESETS, Config, parse_config
from mpd2.training.devices import DEVICES, describe_devices
from mpd2.training.form_fields import BUDGET, DECAY, GSDP, MORE, RANK, SIMPLE, Field

CHOSEN_JOB = "retrain_job"
PRESET = "preset-"  # begins the name of a preset that people kept
SEEDS = 10
COLUMNS = 4
BUDGETS: dict[str, float | None] = {f"{share} %": share / 100 for share in (20, 30, 40, 50, 60, 70)} | {"none": None}
OFF_VALUES = {GSDP: 0.0, RANK: 0.0, BUDGET: None}


def draw(about: Scenario, grid: bool) -> None:
    """The form of one training, or of a grid, and its button."""
    worker_pool.keep_ready()
    if grid:
        st.caption(texts.GRID)
    left, right = st.columns(2)
    with left:
        start = choose_start(about)
    with right:
        title = st.text_input("Name", key=f"{_place(about, start, grid)}:name", max_chars=LONGEST, help=texts.NAME,
                              placeholder="named after the change")  # fmt: skip
    try:
        wish, seeds, budgets = _wish(about, start, grid, title.strip())
        if grid:
            order = orders.grid(wish, budgets, seeds, table(about), store.cohort(about.workspace))
        else:
            order = orders.training(wish, seeds, table(about), store.cohort(about.workspace))
    except UserError as error:
        st.error(verbatim(form_fields.in_words(str(error))), icon=":material/error:")
        st.button("Train", disabled=True, icon=":material/model_training:", key="retrain_go")
        return
    _go(about, order, wish)


def choose_start(about: Scenario) -> orders.Start:
    """The preset or run to start from: presets, shipped and kept, and own runs whose members share their settings."""
    costs, kept = store.manifest(about.workspace).default_costs(), kept_presets(Workshop.here())
    routers = [run for run in store.own_runs(about.workspace) if run.kind == "train" and run.method == Mpd2.key]
    own = {store.own_key(run): run for run in routers}
    titles = {name: store.run_title(name) for name in sorted(PRESETS, reverse=True)}
    titles |= {f"{PRESET}{name}": _kept_title(name) for name in kept}
    titles |= {name: run.title for name, run in own.items()}
    name = st.selectbox("Start from", list(titles), format_func=titles.__getitem__, key="retrain_start",
                        help=texts.START)  # fmt: skip
    if name in own:
        return orders.Start(name, titles[name], parse_config(dict(own[name].settings)), own[name].costs)
    if name in PRESETS:
        return orders.Start(name, titles[name], PRESETS[name], costs)
    return kept_start(about, name.removeprefix(PRESET), kept[name.removeprefix(PRESET)])


def kept_start(about: Scenario, name: str, config: Config) -> orders.Start:
    """A preset somebody kept, as a start."""
    costs = store.manifest(about.workspace).default_costs()
    return orders.Start(f"{PRESET}{name}", _kept_title(name), config, costs)


def table(about: Scenario) -> Path:
    """The table that is trained on."""
    return workspaces.find(about.workspace).folder / store.manifest(about.workspace).table


def _kept_title(name: str) -> str:
    return f"{name} (preset)"


def _place(about: Scenario, start: orders.Start, grid: bool) -> str:
    """Begins the key of every field, so that another start or table brings its own values."""
    return f"{'grid' if grid else 'train'}:{about.workspace}:{start.name}"


def _wish(about: Scenario, start: orders.Start, grid: bool, title: str) -> tuple[orders.Wish, int, list[float | None]]:
    """All that is set: configuration, costs and device; how many seeds; the budgets of a grid."""
    place = _place(about, start, grid)
    changes: dict[str, Any] = {}
    budgets: list[float | None] = []
    columns = st.columns([3, 3, 2] if grid else [3, 3, 3, 2], gap="medium", vertical_alignment="bottom")
    for column, setting in zip(columns[:-1], SIMPLE, strict=False):
        with column:
            changes[setting.path] = _switchable(setting, start.config, place, must=grid)
    with columns[-1]:
        seeds = int(st.number_input("Seeds", 1, 40, 3 if grid else SEEDS, key=f"{place}:seeds", help=texts.SEEDS))
    if grid:
        budgets = _budgets(place)
    with st.expander("More settings", icon=":material/tune:"):
        more, costs, device = _more(start, place)
    changes |= more
    return orders.Wish(start, start.config.but(**changes), costs, device, title), seeds, budgets


def _switchable(setting: Field, config: Config, place: str, must: bool) -> Any:
    """A weight that can be switched off; in a grid it cannot, as the grid does that itself."""
    value = form_fields.value_of(config, setting.path)
    name = {GSDP: "GSDP", RANK: "Rank-JS", BUDGET: "Budget"}[setting.path]
    meaning = {GSDP: texts.GSDP, RANK: texts.RANK, BUDGET: texts.BUDGET}[setting.path]
    on = must or st.toggle(name, bool(value), key=f"{place}:{setting.path}:on", help=f"{meaning} {setting.meaning}")
    usual = value or form_fields.value_of(Config(), setting.path)
    chosen = _number(setting, usual, place, disabled=not on, labelled=must)
    return chosen if on else OFF_VALUES[setting.path]


def _budgets(place: str) -> list[float | None]:
    chosen = st.pills("Budgets", list(BUDGETS), selection_mode="multi", default=["30 %", "50 %", "none"],
                      key=f"{place}:budgets", help=texts.BUDGETS, wrap=True)  # fmt: skip
    return [BUDGETS[name] for name in BUDGETS if name in chosen]


def _more(start: orders.Start, place: str) -> tuple[dict[str, Any], Costs, str]:
    changes: dict[str, Any] = {}
    decay = ""
    st.caption(texts.COSTS)
    costs, device = _costs_and_device(start.costs, place)
    for subject, group in MORE.items():
        st.markdown(f"**{subject}**")
        slots = [slot for _ in range(0, len(group) + 1, COLUMNS) for slot in st.columns(COLUMNS)]
        for slot, setting in zip(slots, group, strict=False):
            with slot:
                changes[setting.path] = _field(setting, start.config, place)
        if subject == "Objective":
            with slots[len(group)]:
                usual = ", ".join(f"{part:g}" for part in start.config.objective.rank_decay)
                decay = st.text_input(DECAY.label, usual, key=f"{place}:{DECAY.path}",
                                      help=f"{DECAY.meaning} {texts.DECAY}")  # fmt: skip
    # Judged last: a field that is not drawn because an earlier one is wrong would lose its value.
    return changes | {DECAY.path: form_fields.parse_decay(decay)}, costs, device


def _costs_and_device(costs: Costs, place: str) -> tuple[Costs, str]:
    miss, alarm, device = st.columns([1, 1, 2])
    with miss:
        missed = st.number_input("A miss", 0.0, 100.0, costs.false_negative, 0.1, format="%g",
                                 key=f"{place}:miss", help=texts.COST_MISS)  # fmt: skip
    with alarm:
        alarmed = st.number_input("False alarm", 0.0, 100.0, costs.false_positive, 0.1, format="%g",
                                  key=f"{place}:alarm", help=texts.COST_ALARM)  # fmt: skip
    with device:
        chosen = st.segmented_control("Device", DEVICES, default="auto", required=True, key=f"{place}:device",
                                      help=texts.DEVICE)  # fmt: skip
    return Costs(missed, alarmed, costs.fees), chosen


def _field(setting: Field, config: Config, place: str) -> Any:
    value = form_fields.value_of(config, setting.path)
    if setting.choices:
        return st.segmented_control(setting.label, setting.choices, default=value, required=True,
                                    key=f"{place}:{setting.path}", help=setting.meaning)  # fmt: skip
    return _number(setting, value, place)


def _number(setting: Field, value: float, place: str, disabled: bool = False, labelled: bool = True) -> float:
    """A number as the configuration has it; a run's own value may lie outside of what is usually offered.

    Under a switch it needs no label of its own to be seen, only to be read out.
    """
    kind = int if setting.whole else float
    return st.number_input(
        setting.label,
        kind(min(setting.low, value)),
        kind(max(setting.high, value)),
        kind(value),
        kind(setting.step),
        format="%d" if setting.whole else "%g",
        key=f"{place}:{setting.path}",
        help=setting.meaning,
        disabled=disabled,
        label_visibility="visible" if labelled else "collapsed",
    )


def _go(about: Scenario, order: Order, wish: orders.Wish) -> None:
    """What would be done, about how long it would take, and the button."""
    jobs = all_jobs(Workshop.here())
    seconds = orders.estimated_seconds(order.configs, jobs)
    left, middle, right = st.columns([2, 6, 2], vertical_alignment="center")
    # Not a callback: its arguments would be of the run before, without what was typed last.
    if left.button("Train", type="primary", icon=":material/model_training:", key="retrain_go", help=texts.TRAIN_HELP,
                   width="stretch"):  # fmt: skip
        submit(about, order)
    middle.caption(
        f"**{order.title}**: {models(len(order.configs))}, up to {order.steps} epochs, about {in_minutes(seconds)} on "
        f"{describe_devices(worker_pool.threads())}. Changed: {form_fields.changes_in_words(wish.changes)}."
    )
    with right.popover("All settings", icon=":material/data_object:", width="stretch"):
        st.caption(f"{texts.RESOLVED}; seeds {order.configs[0].seed} to {order.configs[-1].seed}.")
        st.json(order.configs[0].model_dump(mode="json"), expanded=1)


def submit(about: Scenario, order: Order) -> None:
    """Put a job into the queue and show it; what speaks against it is said."""
    place = Workshop.here()
    taken = {run.title for run in store.own_runs(about.workspace)} | {job.order.title for job in all_jobs(place)}
    taken |= {store.run_title(name) for name in store.run_names(about.workspace)}
    try:
        own_runs.check_room(place)
        job = queue.submit(
            order.model_copy(update={"title": own_runs.unique(order.title, taken)}), place, by=identity.actor()
        )
    except UserError as error:
        st.toast(verbatim(str(error)), icon=":material/error:", duration="infinite")
    else:
        st.session_state[CHOSEN_JOB] = job.name


def models(number: int) -> str:
    """So many models.

    >>> models(1), models(10)
    ('1 model', '10 models')
    """
    return "1 model" if number == 1 else f"{number} models"
