"""MPD²+: fuse, recalibrate, ask again.

The paper's router uses the AI's own threshold for a case it keeps, and one reader's word for a case it defers. Here
both are evidence: a calibrated P(positive | state) and models of what readers say, each learned from train, give a
posterior; the label is the cheaper error under it, and a reader is asked, and then another, where the answer is
expected to save more than it costs. A member is the mean of several bootstraps of the fit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
import pandas as pd
from scipy.special import logit

from mpd2.core.arrays import Floats, Ints
from mpd2.core.cohort import Cohort
from mpd2.core.costs import Costs, OperatingPoint
from mpd2.core.error_rates import Expectations
from mpd2.core.policy import Continuations, Decisions, Policy
from mpd2.core.runs import Run
from mpd2.core.state import StateLayout
from mpd2.methods.base import COHORT, Ground
from mpd2.methods.common import (
    CONFIDENT,
    SHARPNESS,
    confident_ai,
    in_parts,
    joined_continuations,
    joined_expectations,
    joined_policy,
    learning_splits,
    member_settings,
    per_member,
)
from mpd2.methods.plus.answers import fit_answers, predict_answers
from mpd2.methods.plus.asking import (
    CHEAPER,
    Outlook,
    chain,
    checked_limit,
    continuations,
    decide,
    first_gain,
    joined_outlook,
    look_ahead,
)
from mpd2.methods.plus.posterior import (
    DRAWS,
    bootstraps,
    draws_for,
    fit_posterior,
    fit_scaler,
    posterior_arrays,
    posterior_of,
    scaler_notes,
    scaler_of,
)


@dataclass(frozen=True)
class Plus:
    """MPD²+ and, with its parts switched off one by one, what it is made of.

    Without any of them, and one reader, it is plain cost-aware deferral: whoever is expected to cost least decides.
    """

    limit: int = 3  # readers that may be asked about a case
    fuse: bool = True  # whether the posterior has the last word, or the reader heard last
    recalibrate: bool = True  # whether the posterior or the AI's own threshold labels a case nobody is asked about
    by_cohort: bool = True  # whether cases and readers may be otherwise in one cohort than in another
    draws: int = DRAWS
    key: str = "mpd2-plus"
    name: str = "MPD²+"

    def __post_init__(self) -> None:
        checked_limit(self.limit)

    def inputs(self, layout: StateLayout) -> tuple[str, ...]:
        """All that is measured, and the cohort."""
        return (*layout.measured, COHORT)

    def fit(self, cohort: Cohort, costs: Costs, seeds: Sequence[int]) -> Run:
        """Fit posterior and readers to every member's bootstraps, all in one go."""
        train, _ = learning_splits(cohort)
        options = {name: value for name, value in asdict(self).items() if name not in ("key", "name")}
        draws = draws_for(self.draws, train)
        settings = member_settings(seeds, **options | {"draws": draws})
        scaler = fit_scaler(train, self.by_cohort)
        weights = bootstraps(seeds, draws, train)  # [N, E · B]
        posterior = fit_posterior(train, scaler, weights)  # [E · B, Q G + Q (Q + 1) / 2], Q = K + 1
        readers = np.stack([pooled.readers for pooled in fit_answers(train, scaler, weights)], axis=1)
        readers = readers.reshape(len(seeds), draws, *readers.shape[1:])  # [E, B, 2, M, Q G + Q]
        return Run(
            method=self.key,
            settings=settings,
            arrays={
                **posterior_arrays(seeds, scaler, posterior),
                "prevalence": per_member(seeds, np.array([(train.truth == 1).mean()])),
                "readers": readers.astype(np.float32),
            },
            rule="joint",
            costs=costs,
            readers=cohort.manifest.columns,
            fingerprint=cohort.fingerprint,
            notes=scaler_notes(scaler),
        )

    def policy(self, run: Run, cohort: Cohort) -> Policy:
        """How much first asking each reader is expected to save, as a soft choice between them and deciding now."""
        limit = _options(run).limit
        parts = in_parts(cohort)
        return joined_policy([_soft(first_gain(outlook_of(run, part), run.costs, limit), part) for part in parts])

    def decide(self, run: Run, cohort: Cohort, costs: Costs | None = None) -> Decisions:
        """Whom every member asks, in order, and the label it ends with, under the run's costs or others."""
        outlook = outlook_of(run, cohort)
        return decide(outlook, cohort.decisions, costs or run.costs, _options(run).limit)

    def at(self, run: Run, point: OperatingPoint) -> Run:
        """The same beliefs deciding by other costs, and by the AI's own word where it is too confident to overrule."""
        return replace(run, costs=point.costs, notes={**run.notes, CONFIDENT: point.confident})

    def deciding(self, run: Run, cohort: Cohort) -> Callable[[OperatingPoint], Decisions]:
        """What the mean of all members' beliefs decides at any point, [N]."""
        limit, parts = _options(run).limit, in_parts(cohort)
        outlooks = [_mean_outlook(run, part) for part in parts]

        def at(point: OperatingPoint) -> Decisions:
            decided = [
                decide(outlook(point), part.decisions, point.costs, limit)
                for outlook, part in zip(outlooks, parts, strict=True)
            ]
            return Decisions(
                np.concatenate([each.consulted for each in decided]), np.concatenate([each.label for each in decided])
            )

        return at

    def together(self, run: Run, cohort: Cohort) -> Callable[[OperatingPoint], tuple[Policy, Continuations]]:
        """The policy of the mean of all members' beliefs at any point, and how every case would end otherwise, [N]."""
        limit, parts = _options(run).limit, in_parts(cohort)
        outlooks = [_mean_outlook(run, part) for part in parts]

        def at(point: OperatingPoint) -> tuple[Policy, Continuations]:
            believed = [outlook(point) for outlook in outlooks]
            gains = [first_gain(each, point.costs, limit) for each in believed]
            endings = [
                continuations(each, part.decisions, point.costs, limit)
                for each, part in zip(believed, parts, strict=True)
            ]
            return _soft(np.concatenate(gains), cohort), joined_continuations(endings)

        return at

    def outlook(self, run: Run, cohort: Cohort) -> Callable[[OperatingPoint], Outlook]:
        """What all members together believe of every case before anybody is asked, at any point, [N]."""
        beliefs = [_mean_outlook(run, part) for part in in_parts(cohort)]
        return lambda point: joined_outlook([belief(point) for belief in beliefs])

    def continuations(self, run: Run, cohort: Cohort) -> Continuations:
        """How every case ends, for every member, if nobody is asked and if each reader is asked first."""
        limit = _options(run).limit
        return joined_continuations(
            [continuations(outlook_of(run, part), part.decisions, run.costs, limit) for part in in_parts(cohort)]
        )

    def steps(self, run: Run, case: Cohort, costs: Costs) -> pd.DataFrame:
        """How one case is decided, all members together, a row a step; columns as `asking.CHAIN`."""
        prevalence = float(run.arrays["prevalence"].mean())
        return chain(outlook_of(run, case).together(), case, costs, self.most_readers(run), prevalence)

    def most_readers(self, run: Run) -> int:
        """How many readers may be asked about a case."""
        return _options(run).limit

    def positive(self, run: Run, cohort: Cohort) -> Floats:
        """P(positive | state) by every member, [E, N]."""
        return posterior_of(run, cohort)

    def answers(self, run: Run, cohort: Cohort) -> Floats:
        """P(each reader says positive | truth 0, 1) by all members together, [N, M, 2]."""
        return np.concatenate([outlook_of(run, part).together().answers for part in in_parts(cohort)])

    def expectations(self, run: Run, cohort: Cohort, costs: Costs) -> Expectations:
        """The posterior, whose answers are wrong under it, and what deciding now and asking each reader first cost.

        Fees and whatever is asked later are counted in. The AI's own answer may be wrong where deciding now is cheap:
        the posterior, not the AI's threshold, labels a case nobody is asked about.
        """
        return joined_expectations([self._expected(run, part, costs) for part in in_parts(cohort)])

    def _expected(self, run: Run, cohort: Cohort, costs: Costs) -> Expectations:
        outlook = outlook_of(run, cohort).together()
        well, sick = 1 - outlook.prior, outlook.prior
        alarm, miss = costs.false_positive * well, costs.false_negative * sick
        now = np.where(outlook.kept == CHEAPER, np.minimum(alarm, miss), np.where(outlook.kept == 1, alarm, miss))
        gains = first_gain(outlook, costs, _options(run).limit)
        alarmed, found = well[:, None] * outlook.answers[..., 0], sick[:, None] * outlook.answers[..., 1]  # [N, M]
        ai = np.where(cohort.ai_label == 1, well, sick)
        cost = now[:, None] - np.column_stack([np.zeros(len(cohort)), gains])
        wrong = np.column_stack([ai, alarmed + sick[:, None] - found])
        return Expectations(outlook.prior, wrong, np.column_stack([cohort.ai_label, alarmed + found]), cost)

    def grounds(self, run: Run, cohort: Cohort) -> dict[Ground, Floats]:
        """The log-odds of a positive before anybody is asked, and what asking whoever is best is expected to save.

        The label rests on the first; the second, fees and later readers counted in, is above 0 where asking pays.
        """
        there = np.flatnonzero(cohort.available.any(0))  # nobody else's answers need be worked out
        outlook = outlook_of(run, cohort, there).together()
        found: dict[Ground, Floats] = {"positive": logit(outlook.prior)}
        if len(there):
            costs = replace(run.costs, fees=tuple(run.costs.fees[reader] for reader in there))
            depth = look_ahead(_options(run).limit, cohort.readers)
            found["asking"] = first_gain(outlook, costs, depth).max(-1)
        return found


def outlook_of(run: Run, cohort: Cohort, readers: Ints | None = None) -> Outlook:
    """What every member of a run believes of every case, [E, N], and of some readers' answers, by position, or all."""
    options, asked = _options(run), slice(None) if readers is None else readers
    return Outlook(
        prior=posterior_of(run, cohort),
        answers=predict_answers(run.arrays["readers"][..., asked, :], scaler_of(run), cohort),
        available=cohort.available[:, asked],
        kept=kept_labels(cohort, options.recalibrate, run.notes.get(CONFIDENT)),
        fuse=options.fuse,
    )


def _mean_outlook(run: Run, cohort: Cohort) -> Callable[[OperatingPoint], Outlook]:
    """The mean of all members' beliefs, [N]; a point changes only whom the rule may overrule."""
    beliefs, recalibrate = outlook_of(run, cohort).together(), _options(run).recalibrate
    return lambda point: replace(beliefs, kept=kept_labels(cohort, recalibrate, point.confident))


def _soft(gains: Floats, cohort: Cohort) -> Policy:
    """A soft choice between deciding now and first asking each reader, by what it is expected to save, [..., N, M]."""
    scores = np.concatenate([np.zeros((*gains.shape[:-1], 1)), gains], axis=-1)
    return Policy.from_scores(SHARPNESS * scores, cohort.available)


def kept_labels(cohort: Cohort, recalibrate: bool, confident: float | None) -> Ints:
    """The label of a case nobody is asked about, [N]: the AI's, or CHEAPER where the rule may overrule it unread."""
    return np.where(confident_ai(cohort, confident), cohort.ai_label, CHEAPER) if recalibrate else cohort.ai_label


def _options(run: Run) -> Plus:
    """What the run was made with."""
    return Plus(**{name: value for name, value in run.settings[0].items() if name != "seed"})
