"""Every chart there is, from tables in which no two numbers are alike, no interval is even and no row in order."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pyarrow as pa
from places import DATA
from strategies import TASK

from mpd2.core.manifest import load_manifest
from mpd2.core.policy import DECIDERS
from mpd2.evaluation.explain import BEYOND, INSIDE, OUTSIDE
from mpd2.evaluation.intervals import Estimate
from mpd2.present.charts import (
    ablations,
    budget,
    case,
    icon_array,
    overview,
    readers,
    report,
    risk,
    robustness,
    runs,
    shift,
    training,
    tuning,
)  # fmt: skip
from mpd2.present.charts import (
    map as map_charts,
)
from mpd2.present.charts.clinical import calibration, clinic, deciders, decision_curve, gain, optic_disc, subgroups
from mpd2.present.charts.kit.drawing import Drawing, finished
from mpd2.present.charts.map_print import for_paper
from mpd2.study.reproduction import cells
from mpd2.study.tables import StudyTables, read_table

ACTIVE = "studio"
COHORT = "refuge"
RUN = "MPD² (studio)"
MANIFEST = load_manifest(DATA / "manifest.toml")
PAINTS = map_charts.paints(MANIFEST)


def shipped(name: str, **where: object) -> pd.DataFrame:
    """Rows of a shipped table."""
    rows = read_table(DATA, name)
    for column, value in where.items():
        rows = rows[rows[column] == value]
    return rows


def _around(rows: pd.DataFrame, value: str = "value") -> pd.DataFrame:
    """With an interval that reaches further up than down, and for each row another distance."""
    apart = 0.01 + 0.003 * np.arange(len(rows))
    return rows.assign(low=rows[value] - apart, high=rows[value] + 2 * apart)


OBJECTIVE = ablations.in_words(shipped("objective"), "objective")
BUDGETS = ablations.in_words(shipped("budget"), "budget")
EFFECTS = ablations.effects_of(shipped("effects"), "objective", "ClinicalCost")
RESPLITS = shipped("resplits", cohort="all")
RIVALS = shipped("rivals")
TRANSFER = shipped("transfer", cohort=COHORT)
RECALIBRATION = shipped("recalibration", cohort=COHORT)
RISK = shipped("risk", signal="structural")
PAIRED = shipped("paired", reference=ACTIVE, metric="TotalCost")
PLANE = shipped("tradeoff", score="F1", cost="TotalCost")

PRINTED = cells(StudyTables({name: shipped(name) for name in ("overall", "objective")}, MANIFEST), "overall").query(
    "metric == 'TotalCost'"
)

CURVE = pd.DataFrame(
    [
        {"budget": (sent + 10) / 300, "sent": sent, "metric": metric, "value": cost,
         "low": 0.9 * cost, "high": 1.3 * cost, "n": 200}
        for sent, costs in ((0, (0.40, 0.41, 0.01)), (80, (0.21, 0.14, 0.07)), (200, (0.33, 0.12, 0.21)))
        for metric, cost in zip(budget.LINES, costs, strict=True)
    ]
)  # fmt: skip
TRAINED = pd.DataFrame(
    {"method": ["al25"], "deferral": [0.22], "metric": ["TotalCost"], "value": [0.25], "low": [0.24], "high": [0.27]}
)
NOW, BEFORE = (
    {name: Estimate(value, value - 0.02, value + 0.05) for name, value in zip(budget.LINES, values, strict=True)}
    for values in ((0.22, 0.13, 0.09), (0.26, 0.2, 0.06))
)
OPTIMUM = (0.45, "optimum of the val cases")
PLACES = pa.table({
    "name": ["Ben", "Anna", "Chi"], "now": [30, 12, 0], "before": [21, 17, 4], "capacity": [36.0, np.nan, 8.0],
    "now_a_day": [10.0, 4.0, 0.0], "before_a_day": [7.0, 5.7, 1.3], "capacity_a_day": [12.0, np.nan, 2.7],
    "here": [True, True, False],
})  # fmt: skip

ACTIONS = pd.DataFrame({
    "action": ["first", "ai", "second", "third"], "who": ["Anna", "AI", "Ben", "Chi"], "share": [0.1, 0.2, 0.7, 0.0],
    "least": [0.05, 0.1, 0.6, 0.0], "most": [0.3, 0.25, 0.9, 0.0], "votes": [1, 2, 7, 0],
    "wrong": [0.2, 0.3, 0.1, 0.4], "says": [0.5, 1.0, 0.4, 0.6], "fee": [0.1, 0.0, 0.2, 0.1],
    "expected_cost": [0.31, 0.42, 0.23, 0.54], "available": [True, True, True, False],
    "chosen": [False, False, True, False], "runner_up": [True, False, False, False],
})  # fmt: skip
ORIGINAL = ACTIONS.assign(share=[0.2, 0.4, 0.3, 0.1], available=True)
RANGES = pd.DataFrame({
    "input": ["vCDR", "Quality risk", "ViM"], "value": [0.62, 0.91, 7.5],
    "low": [0.1, 0.2, -1.0], "high": [0.9, 0.8, 3.0],
    "q5": [0.05, 0.1, 0.15], "q25": [0.2, 0.3, 0.35], "q50": [0.45, 0.5, 0.55], "q75": [0.7, 0.75, 0.8],
    "q95": [0.9, 0.93, 0.96], "place": [0.65, 1.04, 3.0], "rank": [0.8, 1.0, 1.0], "flag": [INSIDE, OUTSIDE, BEYOND],
})  # fmt: skip
ATTRIBUTION = pd.DataFrame({
    "input": ["vCDR", "ViM", "Quality risk"], "value": ["0.62", "7.50", "0.30"], "adds": [0.4, -1.2, 0.8],
    "least": [0.1, -1.9, 0.6], "most": [0.9, -0.7, 1.5],
})  # fmt: skip

MIX = pd.DataFrame({
    "reader": ["Ben", "Anna", "Ben", "Anna"], "where": ["region", "region", "rest", "rest"],
    "readings": [30.0, 10, 20, 60],
    "share": [0.75, 0.25, 0.25, 0.75], "low": [0.6, 0.14, 0.17, 0.65], "high": [0.86, 0.4, 0.36, 0.84],
    "n": [40, 40, 80, 80],
})  # fmt: skip
CASES = pd.DataFrame({
    "case_id": ["c1", "c2", "c3", "c4"], "x": [0.0, 2.0, 4.0, 6.0], "y": [0.0, 3.0, 1.0, 2.0],
    "ai_wrong": [0.0, 1.0, 0.0, 1.0], "readers_wrong": [0.25, 0.5, 0.0, 1.0], "wrong": [0.1, 0.9, 0.0, 0.3],
    "defer": [0.15, 0.95, 0.05, 0.6], "cohort": pd.Categorical(["A", "A", "B", "B"]),
    "truth": pd.Categorical(["glaucoma", "no glaucoma", "glaucoma", "no glaucoma"]),
    "action": pd.Categorical(["AI", "Anna", "rule", "Ben"]), "total": [0.2, 1.5, 0.0, 2.0],
    "decider": pd.Categorical([DECIDERS[who] for who in (0, 2, 1, 2)], DECIDERS),
})  # fmt: skip

DECIDED = pd.DataFrame({
    "part": np.repeat(["all cases", "A", "B"], 3), "who": [*DECIDERS] * 3,
    "cases": [50.0, 20.0, 30.0, 30.0, 0.0, 10.0, 20.0, 20.0, 20.0], "n": np.repeat([100, 40, 60], 3),
}).assign(share=lambda rows: rows["cases"] / rows["n"])  # fmt: skip
SHEET = pd.DataFrame({
    "reader": ["b", "a"], "title": ["Ben", "Anna"], "n": [120, 80], "F1": [0.61, 0.83], "method_f1": [0.78, 0.85],
    "difference": [0.17, 0.02], "low": [0.11, -0.03], "high": [0.25, 0.09],
})  # fmt: skip
POINTS = pd.DataFrame({
    "kind": ["reader", "ai", "run", "reader"], "title": ["Anna", "AI only", RUN, "Ben"], "n": [80, 200, 200, 120],
    "Sens": [0.80, 0.62, 0.91, 0.73], "Sens_low": [0.71, 0.55, 0.86, 0.6], "Sens_high": [0.86, 0.7, 0.95, 0.81],
    "Spec": [0.95, 0.85, 0.92, 0.75], "Spec_low": [0.91, 0.78, 0.89, 0.68], "Spec_high": [0.98, 0.9, 0.94, 0.84],
})  # fmt: skip
LOAD = pd.DataFrame({
    "title": ["Anna", "Ben", "Chi"] * 2, "kind": ["hard"] * 3 + ["soft"] * 3, "fee": 0.1, "tier": "first",
    "cases": [12.0, 30.0, 4.0, 15.0, 22.0, 9.0], "low": [9.0, 25, 2, 12, 18, 7], "high": [17.0, 38, 8, 20, 28, 13],
})  # fmt: skip
CAPACITY = 26
AVAILABILITY = pd.DataFrame({
    "title": ["Ben", "Anna"] * 2, "cohort_title": ["REFUGE"] * 2 + ["ORIGA"] * 2, "readings": "real",
    "n": [400, 400, 160, 160], "cases": [400, 100, 0, 112], "share": [1.0, 0.25, 0.0, 0.7],
})  # fmt: skip
KAPPA = pd.DataFrame({
    "first_title": ["AI", "AI", "Anna"], "second_title": ["Anna", "Ben", "Ben"], "n": [80, 120, 4],
    "agree": [0.7, 0.9, 0.5], "kappa": [0.31, 0.83, np.nan], "low": [0.2, 0.75, np.nan], "high": [0.45, 0.9, np.nan],
})  # fmt: skip
AGAINST_AI = pd.DataFrame({
    "title": ["Anna", "Ben", "Nobody"], "n": [80, 120, 0], "differ": [0.25, 0.4, np.nan], "low": [0.2, 0.3, np.nan],
    "high": [0.35, 0.5, np.nan], "reader_right": [15, 12, 0], "ai_right": [5, 36, 0],
    "reader_right_share": [0.75, 0.25, np.nan], "reader_right_low": [0.6, 0.15, np.nan],
    "reader_right_high": [0.85, 0.4, np.nan],
})  # fmt: skip

GAIN = pd.DataFrame([
    {"step": step, "before": before, "after": after, "quantity": quantity, "change": change, "low": change - 9.0,
     "high": change + 13.0, "n": 899}
    for step, before, after, changes in (("recalibration", "AI only", "Recalibrated AI", (4.0, -55.0, 0.0)),
                                         ("readers", "Recalibrated AI", RUN, (-3.0, -111.0, 340.0)),
                                         ("both", "AI only", RUN, (1.0, -166.0, 340.0)))
    for quantity, change in zip(("missed", "alarm", "read"), changes, strict=True)
])  # fmt: skip

CALIBRATION = pd.DataFrame([
    {"name": name, "title": title, "bin": place + 1, "predicted": predicted, "observed": observed,
     "low": max(observed - 0.04 - 0.01 * place, 0.0), "high": observed + 0.06 + 0.02 * place, "n": 90 - place}
    for name, title, shares in (("ai", "AI only", ((0.05, 0.01), (0.4, 0.1), (0.93, 0.55))),
                                ("recalibrated", "Recalibrated AI", ((0.02, 0.03), (0.2, 0.17), (0.8, 0.74))))
    for place, (predicted, observed) in enumerate(shares)
])  # fmt: skip
SLOPES = pd.DataFrame({
    "name": ["a", "b", "c"], "title": ["Anna", "Ben", "Chi"], "n": [120, 80, 9], "slope": [0.91, 1.34, np.nan],
    "slope_low": [0.7, 0.96, np.nan], "slope_high": [1.2, 1.8, np.nan],
})  # fmt: skip
SUBGROUPS = pd.DataFrame({
    "kind": ["cohort", "cohort", "vCDR", "vCDR"], "group": ["REFUGE", "ORIGA", "small cup", "large cup"],
    "metric": "Sens", "n": [400, 163, 344, 302], "positives": [40, 42, 4, 114],
    "value": [0.95, 0.83, 0.61, 0.97], "low": [0.88, 0.7, 0.35, 0.94], "high": [0.99, 0.91, 0.85, 0.99],
    "beside": [0.92, 0.88, 0.55, 0.96], "gap": [0.04, -0.11, np.nan, 0.2], "gap_low": [-0.02, -0.21, np.nan, 0.09],
    "gap_high": [0.09, -0.03, np.nan, 0.33], "wide_low": [-0.06, -0.28, np.nan, 0.02],
    "wide_high": [0.14, 0.06, np.nan, 0.38], "beyond": [False, True, False, True],
    "beyond_all": [False, False, False, True],
})  # fmt: skip

BY_COHORT = _around(pd.DataFrame({
    "cohort": ["REFUGE", "REFUGE", "ORIGA", "ORIGA"], "method": ["ai", ACTIVE] * 2, "title": ["AI only", RUN] * 2,
    "value": [0.16, 0.08, 0.69, 0.31],
}))  # fmt: skip
A_DAY = pd.DataFrame({"reader": ["Ben", "Anna"], "a_day": [12.5, 4.0], "at_most": [13.0, np.nan]})
SHARES = pd.DataFrame({"reader": ["Ben", "Anna"], "share": [0.6, 0.4]})

SHIFT = pd.DataFrame({
    "title": ["vCDR", "Quality risk"], "mean": [0.6, 0.4], "training_mean": [0.5, 0.6], "difference": [0.5, -1.4],
    "low": [0.3, -1.5], "high": [0.9, -1.2], "distance": [0.2, 0.6], "by_chance": [0.1, 0.1], "outside": [0.0, 0.2],
})  # fmt: skip
BINS = pd.DataFrame({
    "who": ["cases", "cases", "training", "training"], "start": [0.0, 0.5] * 2, "end": [0.5, 1.0] * 2,
    "share": [0.3, 0.7, 0.9, 0.1], "n": [40, 40, 300, 300],
})  # fmt: skip

HISTORY = pd.DataFrame([
    {"epoch": epoch, "member": member, "name": name, "value": (1 + place) / (2 + epoch) + 0.1 * member}
    for epoch in (0, 5, 10) for member in (0, 1)
    for place, name in enumerate((*training.LOSSES, *training.DEFERRAL, *training.MULTIPLIER, *training.COST))
])  # fmt: skip
CHOSEN = pd.DataFrame({"epoch": [5, 10], "value": [0.42, 0.38]})
SOFT_LOAD = pd.DataFrame({"epoch": [0, 0, 5, 5], "reader": ["Anna", "Ben"] * 2, "value": [0.7, 0.3, 0.2, 0.8]})
TARGET = 0.3

TRIALS = pd.DataFrame({"trial": [0, 1, 2, 3], "Score": [0.5, 0.3, 0.4, 0.2], "best": [0.5, 0.3, 0.3, 0.2]})
FRONT = pd.DataFrame({
    "trial": [0, 1, 2], "MCC": [0.7, 0.8, 0.6], "TotalCost": [0.2, 0.3, 0.4], "Score": [0.5, 0.3, 0.4],
    "on_front": [True, True, False],
})  # fmt: skip
IMPORTANCES = pd.DataFrame({"symbol": ["ρ", "α"], "meaning": ["budget", "weight"], "importance": [0.7, 0.2]})
PARALLEL = pd.DataFrame({
    "trial": [0, 0, 1, 1], "symbol": ["ρ", "α"] * 2, "value": [0.3, 1.0, 0.5, 2.0], "place": [0.1, 0.4, 0.6, 0.9],
    "Score": [0.5, 0.5, 0.3, 0.3], "rank": [2, 2, 1, 1],
})  # fmt: skip

PLANNED = {
    "Sens": ("sensitivity", 0.2), "Spec": ("specificity", 0.11), "Sens less AI": ("sensitivity less the AI's", 0.24),
    "Spec reader": ("specificity of Ben", 0.3),
}  # fmt: skip
WIDTHS = pd.concat([
    pd.DataFrame({"what": what, "title": title, "cases": [50, 400, 3200, 25600],
                  "half_width": wide / 2.0 ** np.arange(4)})
    for what, (title, wide) in PLANNED.items()
])  # fmt: skip
PEOPLE = pd.DataFrame({
    "outcome": ["found"] * 3 + ["missed"] * 3 + ["alarm"] * 3 + ["cleared"] * 3, "who": ["ai", "rule", "reader"] * 4,
    "people": [70, 3, 64, 6, 2, 5, 21, 4, 33, 480, 99, 213],
})  # fmt: skip
ALONE = PEOPLE.assign(people=[139, 0, 0, 11, 0, 0, 224, 0, 0, 626, 0, 0])
STRATEGIES = {  # net benefit at a ratio of 1 and of 50
    ACTIVE: (RUN, 0.098, 0.141), "ai": ("AI only", -0.061, 0.131), "ai-moved": ("AI, threshold moved", -0.06, 0.126),
    "recalibrated": ("Recalibrated AI", 0.071, 0.136), "always-defer": ("Always defer", 0.012, 0.122),
    "mpd2-plus": ("MPD²+", 0.104, 0.139), "treat-all": ("Call everybody glaucoma", -0.7, 0.129),
    "treat-none": ("Call nobody glaucoma", 0.0, 0.0), "mao": ("Mao two-stage", 0.082, 0.127),
}  # fmt: skip
DECISION_CURVE = pd.DataFrame([
    {"method": method, "title": title, "ratio": ratio, "value": last - (last - first) / ratio ** 1.3,
     "low": last - (last - first) / ratio ** 1.3 - 0.004 - 0.001 * place,
     "high": last - (last - first) / ratio ** 1.3 + 0.009 + 0.001 * place, "behind": 0.001 * place}
    for ratio in (50.0, 1.0, 2.0, 5.0, 10.0, 20.0) for place, (method, (title, first, last)) in
    enumerate(STRATEGIES.items())
])  # fmt: skip
NAMED = [name for name in STRATEGIES if name != "mao"]
WINNERS = pd.DataFrame([
    {"ratio": ratio, "fee": fee, "method": method, "title": STRATEGIES[method][0], "value": 90.0 + 7 * ratio,
     "second": "Mao two-stage", "margin": lead, "low": lead - low, "high": lead + 11.0, "beyond_chance": lead > low}
    for ratio, fee, method, lead, low in (
        (1.0, 0.0, "always-defer", 31.2, 9.0), (1.0, 1.0, ACTIVE, 12.4, 5.0), (1.0, 10.0, "recalibrated", 2.1, 6.0),
        (4 / 3, 0.0, "always-defer", 28.3, 8.0), (4 / 3, 1.0, ACTIVE, 3.3, 7.0), (4 / 3, 10.0, "ai", 8.8, 2.0),
        (50.0, 0.0, "mpd2-plus", 44.6, 3.0), (50.0, 1.0, "mpd2-plus", 5.7, 9.0), (50.0, 10.0, "ai", 0.6, 4.0))
])  # fmt: skip
OWN_RATIO = 4 / 3
MARKED = {"this table": OWN_RATIO, "this operating point": 14.2, "elsewhere": 77.0}

WEEKS = pd.DataFrame({
    "week": ["2026-10-18", "2026-10-04", "2026-10-11", "2026-10-25"], "metric": "missed",
    "value": [-1.4, -6.5, -3.2, -0.8], "low": [-9.1, -31.0, -16.3, -7.2], "high": [6.9, 27.5, 11.2, 5.9],
    "n": [880, 190, 560, 1210],
})  # fmt: skip
PARTS = pd.DataFrame({
    "part": ["ORIGA", "all", "REFUGE"], "value": [-61.5, -40.2, 12.8], "low": [-104.0, -62.3, -9.4],
    "high": [-22.1, -15.6, 41.7], "n": [420, 1210, 790],
})  # fmt: skip
MONITORED = pd.DataFrame({
    "number": [1, 2, 3, 4, 5, 6], "value": [0.4, 0.0, 1.3, 2.2, 4.9, 5.6],
    "day": ["2026-11-01"] * 3 + ["2026-11-03"] * 3,
})  # fmt: skip
THRESHOLD = 4.5
UPDATED = pd.DataFrame({
    "reader": ["Ben", "Anna", "Cleo"], "value": [0.91, 0.84, 0.88], "low": [0.87, 0.7, 0.81],
    "high": [0.96, 0.94, 0.97], "learned": [0.93, 0.86, np.nan], "n": [210, 33, 0],
})  # fmt: skip


def _losses(names: dict[str, str]) -> pd.DataFrame:
    return HISTORY[HISTORY["name"].isin(names)]


GALLERY: dict[str, Callable[[], Drawing]] = {
    "ablations.levels": lambda: ablations.levels(OBJECTIVE, "ClinicalCost"),
    "ablations.effects": lambda: ablations.effects(EFFECTS),
    "ablations.budget_control": lambda: ablations.budget_control(BUDGETS),
    "budget.cost_curve": lambda: budget.at(
        budget.cost_curve(CURVE, OPTIMUM, TRAINED), {budget.NOW: (0.35, NOW), budget.BEFORE: (0.6, BEFORE)}
    ),
    "budget.load": lambda: budget.load(PLACES, 40, 300),
    "optic_disc.optic_disc": lambda: optic_disc.optic_disc(optic_disc.outlines(0.8, 0.5)),
    "case.policy_bars": lambda: case.policy_bars(ACTIONS, TASK, ORIGINAL),
    "case.input_ranges": lambda: case.input_ranges(RANGES),
    "case.attribution_bars": lambda: case.attribution_bars(ATTRIBUTION, "sending", TASK),
    "calibration.reliability": lambda: calibration.reliability(CALIBRATION, "with glaucoma"),
    "calibration.slopes": lambda: calibration.slopes(SLOPES),
    "clinic.weekly": lambda: clinic.weekly(WEEKS, "Missed, would less was", "missed of 1,000"),
    "clinic.by_part": lambda: clinic.by_part(PARTS, "False alarms, would less was", "false alarms of 1,000"),
    "clinic.monitored": lambda: clinic.monitored(MONITORED, THRESHOLD, "Reader Ben"),
    "clinic.reader_rates": lambda: clinic.reader_rates(UPDATED, "sensitivity"),
    "deciders.who_decides": lambda: deciders.who_decides(DECIDED),
    "gain.split": lambda: gain.split(GAIN, TASK),
    "decision_curve.curves": lambda: decision_curve.curves(DECISION_CURVE, ACTIVE, MARKED, NAMED),
    "decision_curve.winners": lambda: decision_curve.winners(WINNERS, ACTIVE, OWN_RATIO),
    "map.region_mix": lambda: map_charts.region_mix(MIX),
    "map_print.for_paper": lambda: finished(
        for_paper(CASES, {name: PAINTS[name] for name in ("ai", "action")}, ["c2"])
    ),
    "overview.tradeoff": lambda: overview.tradeoff(PLANE, ACTIVE, True),
    "overview.differences": lambda: overview.differences(PAIRED, ACTIVE),
    "readers.f1_barbell": lambda: readers.f1_barbell(SHEET, RUN),
    "readers.operating_points": lambda: readers.operating_points(POINTS, RUN),
    "readers.load": lambda: readers.load(LOAD, CAPACITY),
    "readers.availability": lambda: readers.availability(AVAILABILITY),
    "readers.kappa": lambda: readers.kappa(KAPPA),
    "readers.disagreement": lambda: readers.disagreement(AGAINST_AI),
    "report.cohort_costs": lambda: report.cohort_costs(BY_COHORT, ACTIVE),
    "report.plan_load": lambda: report.plan_load(A_DAY),
    "report.reader_load": lambda: report.reader_load(SHARES),
    "risk.risk_curves": lambda: risk.risk_curves(RISK, ACTIVE, "Structural risk"),
    "robustness.resplits": lambda: robustness.resplits(RESPLITS, "TotalCost", ACTIVE),
    "robustness.rivals": lambda: robustness.rivals(RIVALS, "TotalCost", ACTIVE, "MPD²+"),
    "robustness.transfer": lambda: robustness.transfer(TRANSFER, "REFUGE", ACTIVE),
    "robustness.recalibration": lambda: robustness.recalibration(RECALIBRATION, "REFUGE"),
    "runs.less_paper": lambda: runs.less_paper(PRINTED, "total cost", "paper"),
    "robustness.sample_size": lambda: robustness.sample_size(WIDTHS, 1000, 0.03),
    "runs.against": lambda: finished(runs.against(PAIRED, RUN)),
    "shift.differences": lambda: shift.differences(SHIFT),
    "shift.distributions": lambda: shift.distributions(BINS, "vCDR"),
    "subgroups.levels": lambda: subgroups.levels(SUBGROUPS),
    "subgroups.gaps": lambda: subgroups.gaps(SUBGROUPS),
    "training.losses": lambda: training.losses(_losses(training.LOSSES)),
    "training.deferral": lambda: training.deferral(_losses(training.DEFERRAL), TARGET),
    "training.multiplier": lambda: training.multiplier(_losses(training.MULTIPLIER)),
    "training.validation": lambda: training.validation(_losses(training.COST), CHOSEN),
    "training.load": lambda: training.load(SOFT_LOAD),
    "tuning.history": lambda: tuning.history(TRIALS),
    "tuning.front": lambda: tuning.front(FRONT, "MCC", "TotalCost"),
    "tuning.importances": lambda: tuning.importances(IMPORTANCES),
    "tuning.parallel": lambda: tuning.parallel(PARALLEL),
}
"""By module and function; a test holds that none is missing."""

PICTURES: dict[str, Callable[[], str]] = {
    "icon_array.before_and_after": lambda: icon_array.before_and_after(
        [("AI alone", ALONE), (RUN, PEOPLE)], "Before", TASK
    ),
    "icon_array.icon_array": lambda: icon_array.icon_array(PEOPLE, TASK),
}
"""Pictures drawn by hand, as SVG."""
