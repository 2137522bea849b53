"""The benchmark of the clinic: a small one, filled, looked at and sent to, with nothing wrong and nothing lost."""

from __future__ import annotations

import json
import os

import numpy as np

from mpd2.cli import parser
from mpd2.cli.bench.clinic.filling import FEWEST_DAYS, KNOWN_AFTER, Past, clinic_of_its_own, fill
from mpd2.cli.bench.clinic.load import PAGE, RUN, Load, bench_clinic, describe_clinic
from mpd2.cli.bench.clinic.sending import Intake, spread_of
from mpd2.clinic.settings import SETTINGS
from mpd2.core.cohort import UNKNOWN
from mpd2.lab.jobs.folder import PLACE
from mpd2.studio.clinic.texts import TABS


def test_a_clinic_is_filled_as_it_would_have_been(tmp_path):
    before = os.environ.get(PLACE), os.environ.get(SETTINGS)
    with clinic_of_its_own(str(tmp_path), RUN) as (shadow, _):
        past = Past.of(shadow, 120)
        filled = fill(shadow, past)
        now = shadow.snapshot()
        shadow.store.close()
    assert (os.environ.get(PLACE), os.environ.get(SETTINGS)) == before
    assert filled["cases"]["rows"] == len(now) == 120
    assert now.cohort.ids.tolist() == past.names.tolist()  # they come in by number
    assert len(set(now.days.tolist())) == FEWEST_DAYS
    known = now.cohort.truth != UNKNOWN
    assert (now.cohort.truth[known] == past.known.truth[past.drawn][known]).all()
    assert 0 < filled["outcomes"]["rows"] == known.sum() < 120
    assert now.times[known].max() < now.times[~known].min()
    assert (now.times[-1] - now.times[known].max()) > np.timedelta64(KNOWN_AFTER - 1, "D")
    last_day = now.times >= past.times[-1] - np.timedelta64(1, "D")
    assert not (now.waiting[~last_day] != "").any()  # readers have answered
    assert ((now.cohort.decisions != UNKNOWN).sum(1) >= 1).all()


def test_a_case_that_is_not_accepted_is_wrong_and_not_timed():
    intake = Intake("http://127.0.0.1:9", "token", lambda number: {"case": str(number), "time": ""}, connections=2)
    sent = intake.on_time(rate=20, seconds=0.2)
    assert len(sent) == len({each.case for each in sent}) == 4
    assert {each.problem for each in sent} == {"ConnectionRefusedError"}
    assert spread_of(sent) is None


def test_what_comes_in_can_be_chosen():
    args = parser().parse_args(["bench", "clinic", "--cases", "300", "--rate", "5", "--minutes", "0.5"])
    assert (args.cases, args.rate, args.minutes, args.visitors, args.pause) == (300, 5.0, 0.5, 10, 10.0)


def test_a_small_clinic_keeps_all_that_comes_in_while_visitors_look():
    load = Load(cases=150, rate=4, minutes=0.2, visitors=2, pause=0.5, alone=3, rounds=1)
    found = json.loads(json.dumps(bench_clinic(load), allow_nan=False))
    assert found["problems"] == {}
    kept = found["kept"]
    assert (kept["missing"], kept["twice"], kept["strange"]) == (0, 0, 0)
    assert found["together"]["accepted"] == load.rate * load.minutes * 60
    assert kept["rows"] == load.cases + kept["accepted"] == load.cases + load.alone + found["together"]["accepted"]
    assert found["intake_at_rest"]["seconds"]["n"] == load.alone
    tabs = {name.removeprefix(f"{PAGE}: ") for name in found["pages_at_rest"] if name.startswith(f"{PAGE}: ")}
    assert tabs == set(TABS.values()) - {TABS["intake"]}  # with which it begins
    assert found["together"]["views"]["n"] > 0
    assert "wrong: nothing" in describe_clinic(found)
