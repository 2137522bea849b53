"""What a study shows, as tables: its trials, their front, which settings matter, and where trials lie in the space."""

from __future__ import annotations

import numpy as np
import pandas as pd
from optuna.importance import FanovaImportanceEvaluator, get_param_importances
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from mpd2.core.errors import UserError
from mpd2.evaluation.metrics import COUNTED, METRICS
from mpd2.evaluation.tables import on_front
from mpd2.lab.tuning.batch import ON_VAL
from mpd2.lab.tuning.score import CRITERIA
from mpd2.lab.tuning.space import SPACE
from mpd2.lab.tuning.study import WORKER, within_budget

SHOWN = ("Score", "TotalCost", *CRITERIA, "Defer", "DeferSoft", "epoch")
"""Metrics of a completed trial, on val, in the columns of its table."""

ENOUGH = 4  # completed trials before a share of the spread can be put down to a setting
DIRECTION = {name: METRICS[name].direction for name in (*COUNTED, "AUPRC", "Violation", "Score", "DeferSoft")}


def trials_frame(study: Study) -> pd.DataFrame:
    """One row a trial that ended or runs: trial, state, worker, within_budget, epochs, seconds, SHOWN, every setting.

    Metrics are NaN unless the trial was completed. Trials that were given back and queued again are left out.
    """
    states = (TrialState.COMPLETE, TrialState.PRUNED, TrialState.RUNNING)
    rows = [_row(trial) for trial in study.get_trials(deepcopy=False, states=states)]
    columns = ["trial", "state", "worker", "within_budget", "epochs", "seconds", *SHOWN, *(d.setting for d in SPACE)]
    return pd.DataFrame(rows, columns=columns)


def history(trials: pd.DataFrame) -> pd.DataFrame:
    """The score of every completed trial and the best so far: trial, Score, best."""
    done = trials[trials["state"] == "complete"]
    best = done["Score"].where(done["within_budget"].astype(bool)).cummin().ffill()
    return done[["trial", "Score"]].assign(best=best).reset_index(drop=True)


def front(trials: pd.DataFrame, score: str = "MCC", cost: str = "TotalCost") -> pd.DataFrame:
    """Completed trials by two metrics, and which of them no other beats in both: trial, the two, Score, on_front."""
    unknown = sorted({score, cost} - set(DIRECTION))
    if unknown:
        raise UserError(f"metric: found {', '.join(unknown)}, expected some of {', '.join(DIRECTION)}")
    done = trials[trials["state"] == "complete"]
    up, down = (sign * DIRECTION[name] * done[name].to_numpy(float) for name, sign in ((score, 1), (cost, -1)))
    return done[["trial", score, cost, "Score"]].assign(on_front=on_front(up, down)).reset_index(drop=True)


def importances(study: Study) -> pd.DataFrame:
    """Which share of the spread of scores each setting explains (fANOVA): setting, symbol, meaning, importance.

    The largest comes first; without enough completed trials there are no rows.
    """
    scores = {trial.value for trial in study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))}
    columns = ["setting", "symbol", "meaning", "importance"]
    if len(scores) < ENOUGH:
        return pd.DataFrame(columns=columns)
    shares = get_param_importances(study, evaluator=FanovaImportanceEvaluator(seed=0))
    rows = [(d.setting, d.symbol, d.meaning, float(shares.get(d.setting, 0.0))) for d in SPACE]
    table = pd.DataFrame(rows, columns=columns)
    return table.sort_values("importance", ascending=False, kind="stable", ignore_index=True)


def parallel(trials: pd.DataFrame) -> pd.DataFrame:
    """Rows for parallel coordinates, one a completed trial and setting.

    Columns: trial, setting, symbol, value, place (0 to 1 along the setting's range), Score, rank (1 is best).
    """
    done = trials[trials["state"] == "complete"]
    rank = done["Score"].rank(method="first").astype(int)
    parts = [
        pd.DataFrame(
            {
                "trial": done["trial"],
                "setting": dimension.setting,
                "symbol": dimension.symbol,
                "value": done[dimension.setting].astype(float),
                "place": dimension.place(done[dimension.setting].to_numpy(float)),
                "Score": done["Score"],
                "rank": rank,
            }
        )
        for dimension in SPACE
    ]
    return pd.concat(parts, ignore_index=True)


def _row(trial: FrozenTrial) -> dict[str, object]:
    metrics = trial.user_attrs.get(ON_VAL, {}) if trial.state == TrialState.COMPLETE else {}
    return {
        "trial": trial.number,
        "state": trial.state.name.lower(),
        "worker": trial.user_attrs.get(WORKER, ""),
        "within_budget": within_budget(trial),
        "epochs": trial.last_step or 0,
        "seconds": trial.duration.total_seconds() if trial.duration else np.nan,
        **{name: metrics.get(name, np.nan) for name in SHOWN},
        **trial.params,
    }
