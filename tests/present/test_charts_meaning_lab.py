"""What the charts of Retrain and Your data say, read from the picture and compared with their tables."""

from __future__ import annotations

import numpy as np
import pytest
from charts import Panel, read
from gallery import BINS, CHOSEN, FRONT, GALLERY, HISTORY, IMPORTANCES, PARALLEL, SHIFT, SOFT_LOAD, TARGET, TRIALS

from mpd2.evaluation.shift import CLEAR
from mpd2.present.charts import shift, training
from mpd2.present.charts.kit.style import ALARM, OTHER, ROUTER


def near(values: object) -> object:
    return pytest.approx(values, abs=1e-3)


def curves(panel: Panel, layer: int) -> dict[str, list[tuple[float, float]]]:
    """Lines by their colour."""
    return {line.colour: panel.curve(line) for line in panel.of("line", layer)}


def test_a_shift_is_shown_with_both_ends_the_most_distant_input_first():
    panel = read(GALLERY["shift.differences"]()).panel
    rows = SHIFT.set_index("title")
    assert panel.upright.names == SHIFT.sort_values("distance", ascending=False)["title"].tolist()
    assert panel.values(panel.of("symbol")) == near(rows["difference"].to_dict())
    level = [rule for rule in panel.of("rule") if rule.x2 > rule.x]
    assert panel.spans(level) == {name: near((row["low"], row["high"])) for name, row in rows.iterrows()}
    [none] = [rule for rule in panel.of("rule") if rule.x2 == rule.x]
    assert panel.across.value(none.x) == near(0)
    [alike] = panel.of("rect")
    assert (panel.across.value(alike.x), panel.across.value(alike.x2)) == near((-CLEAR, CLEAR))
    assert panel.across.title == "training standard deviations"


@pytest.mark.parametrize(("who", "colour"), [("cases", shift.YOURS), ("training", shift.TRAINING)])
def test_distributions_show_the_share_of_each_bin(who, colour):
    picture = read(GALLERY["shift.distributions"]())
    panel, rows = picture.panel, BINS[BINS["who"] == who]
    bars = [bar for bar in panel.of("rect") if bar.colour == colour]
    heights = [panel.upright.value(bar.y) for bar in bars]
    assert heights == near(rows["share"].tolist())
    assert [panel.across.value(bar.middle[0]) for bar in bars] == near(((rows["start"] + rows["end"]) / 2).tolist())
    assert picture.legend == {"your cases": shift.YOURS, "training cases": shift.TRAINING}
    assert panel.upright.title == "share of cases"


@pytest.mark.parametrize(
    ("chart", "names", "thin"),
    [
        ("losses", training.LOSSES, "loss"),
        ("deferral", training.DEFERRAL, "val_hard_deferral"),
        ("multiplier", training.MULTIPLIER, "multiplier"),
        ("validation", training.COST, "val_total"),
    ],
)
def test_training_shows_the_mean_of_all_models_and_each_of_them_thin(chart, names, thin):
    picture = read(GALLERY[f"training.{chart}"]())
    panel = picture.panel
    means = HISTORY.groupby(["name", "epoch"])["value"].mean()
    thick = curves(panel, 1)
    assert len(thick) == len(names)
    for name, title in names.items():
        colour = picture.legend[title] if len(names) > 1 else next(iter(thick))
        assert thick[colour] == [near(point) for point in means.loc[name].items()]
    single = [panel.curve(line) for line in panel.of("line", 0)]
    own = HISTORY[HISTORY["name"] == thin]
    assert single == [
        [near(point) for point in zip(rows["epoch"], rows["value"], strict=True)] for _, rows in own.groupby("member")
    ]
    assert panel.across.title == "epoch"


def test_the_target_of_a_budget_is_a_line_and_without_one_there_is_none():
    panel = read(GALLERY["training.deferral"]()).panel
    [line] = panel.of("rule")
    assert (panel.upright.value(line.y), line.colour) == (near(TARGET), ALARM.colour)
    rows = HISTORY[HISTORY["name"].isin(training.DEFERRAL)]
    assert not read(training.deferral(rows, None)).panel.of("rule")


def test_the_checkpoints_kept_stand_at_their_epoch_and_cost():
    panel = read(GALLERY["training.validation"]()).panel
    assert panel.places(panel.of("symbol")) == [near(tuple(row)) for row in CHOSEN.itertuples(index=False)]


def test_the_load_of_training_is_darker_the_larger_and_the_busiest_reader_comes_first():
    panel = read(GALLERY["training.load"]()).panel
    assert panel.upright.names == ["Ben", "Anna"]  # by the last epoch
    cells = {(panel.across.name(cell.middle[0]), panel.upright.name(cell.middle[1])): cell for cell in panel.of("rect")}
    light = {cell: sum(int(part) for part in drawn.fill[4:-1].split(",")) for cell, drawn in cells.items()}
    table = {(str(row.epoch), row.reader): row.value for row in SOFT_LOAD.itertuples()}
    assert sorted(light, key=light.__getitem__, reverse=True) == sorted(table, key=table.__getitem__)


def test_the_history_of_tuning_shows_every_trial_and_the_best_so_far():
    panel = read(GALLERY["tuning.history"]()).panel
    assert panel.places(panel.of("symbol")) == [
        near(tuple(p)) for p in TRIALS[["trial", "Score"]].itertuples(index=False)
    ]
    [best] = panel.of("line")
    reached = {round(trial): score for trial, score in panel.curve(best)}  # of a step, where it arrives
    assert [reached[trial] for trial in sorted(reached)] == near(TRIALS["best"].tolist())
    assert best.colour == ROUTER.colour
    assert panel.upright.title == "score, val (less is better)"


def test_the_front_of_tuning_stands_out():
    panel = read(GALLERY["tuning.front"]()).panel
    dots = panel.of("symbol")
    assert panel.places(dots) == [near(tuple(point)) for point in FRONT[["TotalCost", "MCC"]].itertuples(index=False)]
    assert [(dot.colour, dot.shape) for dot in dots] == [tuple(ROUTER if on else OTHER) for on in FRONT["on_front"]]
    assert (panel.across.title, panel.upright.title) == (
        "total cost, val (less is better)",
        "MCC, val (more is better)",
    )


def test_importances_are_bars_from_nothing_the_largest_first():
    panel = read(GALLERY["tuning.importances"]()).panel
    assert panel.upright.names == IMPORTANCES["symbol"].tolist()
    assert panel.spans(panel.of("rect")) == {row.symbol: near((0, row.importance)) for row in IMPORTANCES.itertuples()}


def test_parallel_lines_pass_each_setting_where_it_was_and_the_best_is_green():
    panel = read(GALLERY["tuning.parallel"]()).panel
    assert panel.across.names == ["ρ", "α"]
    for trial, rows in PARALLEL.groupby("trial"):
        line = next(
            line for line in panel.of("line")
            if np.allclose([panel.upright.value(y) for _, y in line.points], rows["place"], atol=1e-3)
        )  # fmt: skip
        assert line.colour == (ROUTER.colour if (rows["rank"] == 1).all() else OTHER.colour), trial
