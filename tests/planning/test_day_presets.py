"""Days many clinics know."""

from __future__ import annotations

import numpy as np
from strategies import made_up_manifest

from mpd2.core.manifest import Manifest
from mpd2.core.policy import Policy
from mpd2.planning.day import DaySetting
from mpd2.planning.day_presets import presets, specialists
from mpd2.planning.ranked_cases import rank_cases
from mpd2.planning.roster_and_limits import Limits


def test_specialists_are_the_tier_of_the_dearest_reader(benchmark):
    fees = {reader.column: reader.fee for reader in benchmark.manifest.readers}
    dear = specialists(benchmark.manifest)
    assert max(fees, key=lambda column: fees[column]) in dear
    assert len({reader.tier for reader in benchmark.manifest.readers if reader.column in dear}) == 1


def test_where_all_are_of_one_tier_there_are_no_specialists_to_miss():
    manifest = made_up_manifest(3)
    assert specialists(manifest) == ()
    assert list(presets(manifest)) == ["day"]


def test_every_kind_of_day_can_be_kept(benchmark):
    cases = benchmark.subset(split="val")
    usual = DaySetting(benchmark.manifest.default_costs())
    policy = Policy(np.full(len(cases), 0.9), cases.available / cases.available.sum(-1, keepdims=True), cases.available)
    for preset in presets(benchmark.manifest).values():
        setting = preset.apply(usual, cases.manifest).scaled_to(len(cases))
        assert setting.costs == usual.costs
        assert setting.limits != Limits()
        ranked = rank_cases(policy, cases, "joint", setting.limits.present(cases.manifest))
        urgent = np.arange(len(cases)) < setting.urgent
        load = np.bincount(ranked.plan(setting.limits, urgent).action, minlength=cases.readers + 1)[1:]
        assert (load <= setting.limits.capacities(cases.manifest)).all()
        assert not load[~setting.limits.present(cases.manifest)].any()


def test_another_table_has_days_of_its_own():
    manifest = made_up_manifest(4)
    readers = [reader.model_copy(update={"tier": "A" if reader.fee > 0.25 else "B"}) for reader in manifest.readers]
    other = Manifest(**{**manifest.model_dump(), "readers": readers})
    assert specialists(other) == ("reader_3",)
    assert list(presets(other)) == ["day", "camp", "no_specialists"]


def test_an_example_day_is_for_as_many_cases_as_the_clinic_sees(benchmark):
    usual = DaySetting(benchmark.manifest.default_costs(), day=120)
    clinic, camp = (presets(benchmark.manifest)[key].apply(usual, benchmark.manifest) for key in ("day", "camp"))
    assert {places for _, places in clinic.limits.capacity} == {4}  # 12 readers, 48 of 120
    assert (camp.limits.reserve, camp.urgent, camp.day) == (6, 12, 120)
