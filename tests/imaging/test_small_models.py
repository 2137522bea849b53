"""Small networks on rendered photographs: they learn, a seed gives the same ones again, the shipped ones are good."""

from __future__ import annotations

import json
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
import torch
from places import ROOT

from mpd2.cli import main
from mpd2.core.errors import UserError
from mpd2.imaging.field import find_field
from mpd2.imaging.models.square import Square
from mpd2.imaging.photograph import Photograph
from mpd2.imaging.pipeline import Pipeline
from mpd2.imaging.simulation.render import FRAME, Shot, draw_eye, labels_of, render
from mpd2.imaging.small import training
from mpd2.imaging.small.examples import (
    CLOSE_UPS,
    DISEASED,
    FOREIGN,
    HEALTHY,
    KNOWN,
    Part,
    draw,
    labels_in,
    log_odds,
    squares_of,
    views_of,
)
from mpd2.imaging.small.judging import auc, dice, judge
from mpd2.imaging.small.making import Plan, make_small
from mpd2.imaging.small.networks import CLASSIFIER_SIZE, SEGMENTER_SIZE, classifier

SHIPPED = ROOT / "data" / "simulated" / "imaging"
SMALLEST = Plan(eyes=16, minutes=0.01, seed=3)
FRESH = 20261118  # a seed nobody trained or chose with
MOST_BYTES = 2_500_000


@dataclass(frozen=True)
class Trained:
    """A pipeline of a few seconds, which has learnt very little, and what the command said of it."""

    folder: Path
    command: list[str]
    printed: dict


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("small") / "pipeline"
    plan = [f"--{name}={getattr(SMALLEST, name)}" for name in ("eyes", "minutes", "seed")]
    command, out = ["imaging", "train", f"--out={folder}", *plan, "--judged=8", "--json"], StringIO()
    with redirect_stdout(out):
        assert main(command) == 0
    return Trained(folder, command, json.loads(out.getvalue()))


@pytest.fixture(scope="module")
def some_views():
    return views_of(draw(16, Part.TRAIN, seed=5), CLASSIFIER_SIZE, SEGMENTER_SIZE)


def weights_in(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*.safetensors"))}


def test_more_examples_begin_with_the_same_ones():
    assert draw(5, Part.TRAIN, seed=1) == draw(9, Part.TRAIN, seed=1)[:5]


def test_no_two_parts_share_an_eye():
    seeds = [example.eye.seed for part in Part for example in draw(50, part)]
    assert len(set(seeds)) == len(seeds)


def test_the_foreign_camera_is_never_learnt_from():
    assert {example.shot.camera for example in draw(200, Part.TRAIN)} == set(KNOWN)
    assert {example.shot.camera for example in draw(20, Part.FOREIGN)} == set(FOREIGN)


def test_the_best_classifier_reaches_the_goal_but_is_not_perfect():
    examples = draw(4000, Part.JUDGED)
    best = auc(np.array([log_odds(each.ratio) for each in examples]), np.array([each.diseased for each in examples]))
    assert 0.96 < best < 0.995


def test_log_odds_rise_with_the_ratio_between_the_two_means():
    odds = [log_odds(ratio) for ratio in np.linspace(HEALTHY[0], DISEASED[0], 20)]
    assert np.all(np.diff(odds) > 0)
    assert odds[0] < 0 < odds[-1]


def test_labels_of_the_whole_frame_are_the_renderer_s_own():
    eye = draw(1, Part.TRAIN)[0].eye
    assert np.array_equal(labels_in(Square(0, 0, FRAME), FRAME, eye), labels_of(eye))


def test_a_close_up_holds_its_whole_disc():
    for example in draw(8, Part.TRAIN, seed=2):
        whole, *close = squares_of(example, find_field(example.photograph()))
        assert len(close) == CLOSE_UPS
        for square in close:
            labels = labels_in(square, SEGMENTER_SIZE, example.eye)
            assert labels.max() == 2
            assert not labels[[0, -1]].any()
            assert not labels[:, [0, -1]].any()
        assert whole.side > close[0].side


def test_several_processes_render_what_one_does():
    examples = draw(3, Part.TRAIN)
    alone, together = (views_of(examples, 64, 32, workers) for workers in (1, 2))
    for one, other in zip(alone, together, strict=True):
        assert np.array_equal(one.pixels, other.pixels)
        assert np.array_equal(one.labels, other.labels)


def test_mirroring_and_moving_keep_labels_on_their_pixels():
    labels = np.random.default_rng(0).integers(0, 3, (4, 32, 32)).astype(np.uint8)
    pixels = np.repeat((labels * 100)[..., None], 3, axis=-1)
    for seed in range(20):
        moved, moved_labels = training._moved(pixels, labels, np.random.default_rng(seed))
        assert np.array_equal(moved[..., 0], moved_labels * 100)


@pytest.mark.parametrize("train", [training.train_classifier, training.train_segmenter])
def test_the_loss_falls_and_the_epoch_that_is_best_on_held_out_eyes_is_kept(train, some_views):
    views = some_views[0] if train is training.train_classifier else some_views[1]
    _, course = train(views, views, epochs=4)
    assert course.train[-1] < 0.9 * course.train[0]
    assert course.held_out[course.best] == min(course.held_out)


def test_the_same_seed_gives_the_same_pipeline_in_any_number_of_processes(trained, tmp_path):
    torch.manual_seed(99)  # what else was drawn in this process does not matter
    again = make_small(tmp_path / "again", SMALLEST, workers=1)
    assert weights_in(again.folder) == weights_in(trained.folder)


def test_another_seed_begins_with_other_weights():
    first, second = (classifier(seed).classifier.weight for seed in (0, 1))
    assert not torch.equal(first, second)


def test_what_was_made_loads_and_measures_a_photograph(trained):
    example = draw(1, Part.JUDGED)[0]
    (measured,) = Pipeline.load(trained.folder).measure([Photograph(example.photograph())])
    assert 0 <= measured.probability <= 1
    assert np.isfinite(measured.distance)
    assert 0 <= measured.quality.good <= 1


def test_the_command_prints_every_figure_with_its_n_and_interval(trained):
    assert trained.printed["eyes"] == 8
    for figure in trained.printed["figures"].values():
        assert 0 < figure["n"] <= 12
        assert figure["low"] <= figure["value"] <= figure["high"]


def test_the_command_replaces_nothing_unless_told(trained, tmp_path, capsys):
    assert main(trained.command) == 1
    assert "already there" in capsys.readouterr().err
    (tmp_path / "mine").mkdir()
    assert main(["imaging", "train", f"--out={tmp_path / 'mine'}", "--force"]) == 1
    assert "is not a pipeline" in capsys.readouterr().err


def test_the_shipped_pipeline_reaches_the_figures_on_fresh_photographs():
    """The AUC of so few eyes has a standard error of about .025, hence the slack; the docs have the figures of many."""
    figures = judge(Pipeline.load(SHIPPED), eyes=60, foreign=30, seed=FRESH).figures
    assert figures["auc"].value >= 0.9
    assert figures["disc_dice"].value >= 0.95
    assert figures["cup_dice"].value >= 0.88
    assert figures["vcdr_error"].value <= 0.02
    assert figures["foreign_auroc"].value >= 0.65
    assert abs(figures["usual_distance"].value) < 1


def test_to_the_shipped_pipeline_photographs_in_false_colours_are_strange():
    random = np.random.default_rng(5)
    usual = [render(draw_eye(random.uniform(0.3, 0.7), random), Shot("AB"[turn % 2])) for turn in range(20)]
    false = [np.ascontiguousarray(pixels[..., ::-1]) for pixels in usual]
    pipeline = Pipeline.load(SHIPPED)
    answers = pipeline.answers([Photograph(pixels) for pixels in (*usual, *false)])
    distance = pipeline.reference.score(answers.features, answers.logits)["vim"]
    assert auc(distance, np.repeat([False, True], 20)) > 0.95


def test_the_shipped_pipeline_is_small_and_says_what_it_is():
    assert sum(path.stat().st_size for path in SHIPPED.rglob("*")) < MOST_BYTES
    assert "real eye means nothing" in Pipeline.load(SHIPPED).settings.notes


def test_an_auc_is_the_share_of_pairs_in_order():
    random = np.random.default_rng(0)
    scores, positive = random.integers(0, 6, 40).astype(float), random.random(40) < 0.4
    above = scores[positive][:, None] - scores[~positive][None, :]
    assert auc(scores, positive) == pytest.approx(((above > 0) + 0.5 * (above == 0)).mean())


def test_a_missing_outline_has_no_overlap_and_the_same_one_has_all():
    disc = draw(1, Part.TRAIN)[0].eye.disc
    assert dice(None, disc) == 0
    assert dice(disc, disc) == 1
    assert 0.8 < dice(disc.moved(8, 0), disc) < 0.95


@pytest.mark.parametrize(("eyes", "minutes"), [(3, 1.0), (100, 0.0), (100, float("nan")), (100, 1e9)])
def test_a_plan_that_cannot_be_followed_is_refused(eyes, minutes):
    with pytest.raises(UserError, match="expected"):
        Plan(eyes, minutes)
