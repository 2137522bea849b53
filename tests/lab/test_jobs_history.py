"""A training's history on disk, and what is read off it while it grows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpd2.core.errors import UserError
from mpd2.lab.jobs import grid, orders
from mpd2.lab.jobs.folder import Order
from mpd2.lab.jobs.history import MOST_POINTS, History, appending, read_history
from mpd2.present.charts import training as charts
from mpd2.training.config import LOGGED, PAPER

READERS = 3


def some_epochs(epochs: int, routers: int, seed: int = 0) -> History:
    random = np.random.default_rng(seed)
    log = {name: random.random((epochs, routers)) for name in LOGGED}
    return History(np.arange(1, epochs + 1), log, random.random((epochs, routers, READERS)))


def write(history: History, path, rows: range, after: int = 0) -> None:
    add = appending(path, after)
    for row in rows:
        add(int(history.epoch[row]), {name: values[row] for name, values in history.log.items()}, history.load[row])


def test_what_was_written_is_read_back(tmp_path):
    history = some_epochs(5, 2)
    history.log["score"][3:, 1] = np.nan  # it no longer trains
    assert read_history(tmp_path / "history.jsonl") is None
    write(history, tmp_path / "history.jsonl", range(5))
    found = read_history(tmp_path / "history.jsonl")
    np.testing.assert_array_equal(found.epoch, history.epoch)
    for name in LOGGED:
        np.testing.assert_allclose(found.log[name], history.log[name], rtol=1e-5)
    np.testing.assert_allclose(found.load, history.load, rtol=1e-5)


def test_a_half_written_line_is_not_seen_and_lines_after_a_checkpoint_are_dropped(tmp_path):
    path, history = tmp_path / "history.jsonl", some_epochs(6, 2)
    write(history, path, range(4))
    with path.open("ab") as file:
        file.write(b'{"epoch": 5, "log"')
    assert read_history(path).epoch.tolist() == [1, 2, 3, 4]
    write(history, path, range(2, 6), after=2)
    assert read_history(path).epoch.tolist() == [1, 2, 3, 4, 5, 6]


@given(st.integers(1, 30), st.integers(1, 4), st.integers(0, 20), st.integers(0, 5))
def test_the_chosen_checkpoint_is_the_first_best_after_the_warm_up(epochs, routers, warm_up, seed):
    history = some_epochs(epochs, routers, seed)
    configs = [PAPER.but(training__epochs=epochs, training__warm_up=warm_up)] * routers
    first = min(warm_up, epochs - 1)
    best = history.chosen(configs)
    assert (best > first).all()
    for router, epoch in enumerate(best):
        assert history.log["score"][epoch - 1, router] == history.log["score"][first:, router].min()


def test_before_the_warm_up_ends_nothing_is_chosen():
    history = some_epochs(3, 2)
    assert history.chosen([PAPER, PAPER]).tolist() == [0, 0]


def test_shares_of_the_load_sum_to_one_and_long_trainings_are_thinned():
    history = some_epochs(4 * MOST_POINTS, 2)
    rows = history.load_frame(["a", "b", "c"])
    assert rows["epoch"].nunique() == MOST_POINTS
    assert {1, 4 * MOST_POINTS} <= set(rows["epoch"])
    np.testing.assert_allclose(rows.groupby("epoch")["value"].sum(), 1.0)


def test_a_reader_nobody_asks_has_no_load_at_all():
    history = some_epochs(2, 1)
    history.load[:] = 0.0
    assert history.load_frame(["a", "b", "c"]).empty


def test_every_chart_of_a_training_can_be_drawn():
    history = some_epochs(4, 25)
    for chart, names in ((charts.losses, charts.LOSSES), (charts.multiplier, charts.MULTIPLIER)):
        assert chart(history.frame(list(names))).to_dict()["layer"]
    rows = history.frame(list(charts.DEFERRAL))
    with_budget, without = (charts.deferral(rows, target).to_dict()["layer"] for target in (0.5, None))
    assert len(with_budget) == len(without) + 1
    chosen = rows.head(2)[["epoch", "value"]]
    assert charts.validation(history.frame(["val_total"]), chosen).to_dict()["layer"]
    assert charts.load(history.load_frame(["a", "b", "c"])).to_dict()["mark"]


# ---------------------------------------------------------------------------------- grids


@pytest.fixture
def order(benchmark) -> Callable[..., Order]:
    """A grid of two budgets, or of those given, with two seeds."""
    costs = benchmark.manifest.default_costs()

    def make(config=PAPER, budgets=(0.5, None)) -> Order:
        wish = orders.Wish(orders.Start("paper", "MPD² (paper)", PAPER, costs), config, costs)
        return orders.grid(wish, budgets, 2, Path("table.csv"), benchmark)

    return make


def test_a_grid_has_every_cell_once_with_the_same_seeds(order):
    made = order(budgets=(0.5, None, 0.5))
    assert len(set(made.conditions)) == 8
    assert [config.seed for config in made.configs] == [42, 43] * 8
    off = [config.objective.gsdp_weight == 0 and config.objective.rank_weight == 0 for config in made.configs]
    assert [cell.startswith("without both") for cell in made.conditions] == off


def test_a_grid_needs_a_budget_and_both_regularisers(order):
    with pytest.raises(UserError, match="budgets: found none"):
        order(budgets=())
    with pytest.raises(UserError, match="give both a weight above 0"):
        order(PAPER.but(objective__gsdp_weight=0.0))


def test_cells_are_told_by_the_best_checkpoints_so_far(order):
    made = order(PAPER.but(training__warm_up=0, training__epochs=5))
    history = some_epochs(5, len(made.configs))
    history.log["score"][4, 0] = np.nan  # one has stopped, the others end by themselves
    rows = grid.so_far(history, made)
    assert rows["condition"].tolist() == list(dict.fromkeys(made.conditions))
    assert rows["routers"].tolist() == rows["finished"].tolist() == [2] * 8
    best = history.chosen(made.configs)[:2] - 1
    assert rows["val_total"].iloc[0] == pytest.approx(history.log["val_total"][best, [0, 1]].mean())
    early = grid.so_far(some_epochs(2, len(made.configs)), order())
    assert early["val_total"].isna().all()
    assert (early["finished"] == 0).all()
