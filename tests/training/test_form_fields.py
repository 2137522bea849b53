"""Settings as people meet them."""

from __future__ import annotations

import pytest

from mpd2.core.errors import UserError
from mpd2.lab.jobs.orders import flat
from mpd2.training.config import PAPER, PRESETS
from mpd2.training.form_fields import DECAY, MORE, SIMPLE, changes_in_words, in_words, parse_decay, value_of

EVERY = (*SIMPLE, *(setting for group in MORE.values() for setting in group))
FIXED = {"seed", "objective__detach_defer", "training__batch_size"}  # not offered: one for all, or never changed


def test_every_setting_is_offered_once():
    offered = [setting.path for setting in (*EVERY, DECAY)]
    assert len(set(offered)) == len(offered)
    assert set(flat(PAPER)) - set(offered) == FIXED


@pytest.mark.parametrize("setting", EVERY, ids=lambda setting: setting.path)
def test_it_says_what_it_means_and_every_offered_value_is_valid(setting):
    assert len(setting.meaning) > 15
    others = {"network__temperature_floor": {"network__temperature": 50.0},
              "network__temperature": {"network__temperature_floor": 0.01}}.get(setting.path, {})  # fmt: skip
    for value in setting.choices or (setting.low, setting.high):
        typed = int(value) if setting.whole else value
        assert value_of(PAPER.but(**others, **{setting.path: typed}), setting.path) == typed
    for preset in PRESETS.values():
        found = value_of(preset, setting.path)
        assert found in setting.choices if setting.choices else setting.low <= found <= setting.high


def test_problems_and_changes_are_told_by_the_names_shown():
    with pytest.raises(UserError) as error:
        PAPER.but(budget__target=1.4)
    assert in_words(str(error.value)).startswith("Budget: found 1.4;")
    told = changes_in_words({DECAY.path: [0.5, 0.6], "rule": "staged"})
    assert told == "Rank-JS decay: 0.5 / 0.6, Decision rule: staged"


def test_a_list_that_is_none_is_refused():
    with pytest.raises(UserError, match="expected numbers such as"):
        parse_decay("0.5; 0.6")
