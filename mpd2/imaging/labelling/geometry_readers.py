"""Semi-synthetic readers: what people who outlined disc and cup would have said, drawn from their outlines.

The paper's construction. Evidence of each reader is a logistic model of their geometry φ = [1, vCDR, aCDR, log VD,
dec], fitted on train and tempered on a calibration split; a case is hard where its vCDR is near the cut-off τ that
separates train best. Evidence and difficulty move each reader's sensitivity and specificity, and who is right is drawn
so that at least k_min are. These are noisy labels made from the truth: nobody has said any of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp

import numpy as np
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit, log_expit, logit

from mpd2.core.arrays import Bools, Floats, Ints
from mpd2.core.errors import UserError
from mpd2.imaging.labelling.poisson_binomial import draw
from mpd2.imaging.outlines import Outlines

FEATURES = ("constant", "vCDR", "aCDR", "log disc height", "decentration")  # the paper's φ_ij
VERTICAL = 1  # where vCDR stands among them
RIDGE = 1e-3  # on standardised weights, over all cases: finite weights where train can be separated
TEMPERATURES = (0.05, 20.0)  # among which T_j is looked for


@dataclass(frozen=True)
class PanelSettings:
    """What the paper's construction leaves open, chosen by us.

    Baselines are the rates of these seven readers in the table released with the paper, over all its cases; there, too,
    at least four are right on every case. The rest was chosen so that as many readers are right a case as there.
    """

    sensitivity: tuple[float, ...] = (0.70, 0.77, 0.73, 0.78, 0.69, 0.91, 0.63)  # Se_j
    specificity: tuple[float, ...] = (0.97, 0.90, 0.81, 0.83, 0.85, 0.82, 0.93)  # Sp_j
    evidence_on_sensitivity: float = 1.0  # α_j, the same for all
    evidence_on_specificity: float = 1.0  # γ_j
    difficulty_on_sensitivity: float = 1.0  # b
    difficulty_on_specificity: float = 1.0  # d
    reference_evidence: float = 0.5  # ρ
    sharpness: float = 10.0  # κ: at a distance of .1 in vCDR from τ, difficulty is exp(−1)
    at_least: int = 4  # k_min

    def __post_init__(self) -> None:
        rates = (*self.sensitivity, *self.specificity)
        if len(self.sensitivity) != len(self.specificity) or not self.sensitivity:
            raise UserError("panel: expected a sensitivity and a specificity for every reader")
        if not all(0 < rate < 1 for rate in rates):
            raise UserError("panel: expected sensitivities and specificities between 0 and 1")
        evidence = min(self.evidence_on_sensitivity, self.evidence_on_specificity)
        difficulty = min(self.difficulty_on_sensitivity, self.difficulty_on_specificity)
        if min(evidence, difficulty) < 0 or self.sharpness <= 0:
            raise UserError("panel: expected weights of evidence and difficulty of at least 0, and a sharpness above 0")

    @property
    def readers(self) -> int:
        """J."""
        return len(self.sensitivity)


@dataclass(frozen=True, eq=False)
class Panel:
    """Fitted readers."""

    settings: PanelSettings
    weights: Floats  # [J, 5] the paper's w_j
    temperatures: Floats  # [J] T_j
    cutoff: float  # τ, a vCDR

    def evidence(self, features: Floats) -> Floats:
        """Calibrated probability of disease by geometry alone, p_cal: [N, J, 5] to [N, J]."""
        return np.asarray(expit(_scores(features, self.weights) / self.temperatures))

    def difficulty(self, features: Floats) -> Floats:
        """β_i = exp(−κ |vCDR_med − τ|), [N]; 1 at the cut-off."""
        return np.asarray(np.exp(-self.settings.sharpness * np.abs(_median_ratio(features) - self.cutoff)))

    def rates(self, features: Floats) -> tuple[Floats, Floats]:
        """Case-specific sensitivity and specificity, Se_ij and Sp_ij, [N, J] each."""
        given = self.settings
        shift = self.evidence(features) - given.reference_evidence  # [N, J]
        hard = self.difficulty(features)[:, None]  # [N, 1]
        finds = logit(given.sensitivity) + given.evidence_on_sensitivity * shift
        clears = logit(given.specificity) - given.evidence_on_specificity * shift
        return (
            np.asarray(expit(finds - given.difficulty_on_sensitivity * hard)),
            np.asarray(expit(clears - given.difficulty_on_specificity * hard)),
        )

    def right(self, features: Floats, truth: Ints) -> Floats:
        """Probability that each reader is right before the condition, Φ_ij, [N, J]."""
        sensitivity, specificity = self.rates(features)
        return np.where(truth[:, None] == 1, sensitivity, specificity)

    def read(self, features: Floats, truth: Ints, random: np.random.Generator) -> Ints:
        """What each reader says, 0 or 1, [N, J]."""
        correct = draw(self.right(features, truth), self.settings.at_least, random)
        return np.where(correct, truth[:, None], 1 - truth[:, None])


def geometry(annotations: Sequence[Sequence[Outlines]], readers: int) -> Floats:
    """φ of every case and reader, [N, J, 5], from the outlines of each case's annotators in the readers' order.

    A reader without an outline of their own has the median of the case's. Where a case has one annotation only, as in
    the published challenge files (one mask, fused from seven), every reader's geometry is therefore that one. A disc
    without a cup has the ratio 0; a case without a disc is NaN.
    """
    found = np.full((len(annotations), readers, len(FEATURES)), np.nan)
    for row, outlines in enumerate(annotations):
        own = np.array([_features(each) for each in outlines[:readers]]).reshape(-1, len(FEATURES))  # [A, 5]
        known = own[~np.isnan(own).any(1)]
        if len(known):
            found[row] = np.median(known, axis=0)
            found[row, : len(own)] = np.where(np.isnan(own), found[row, : len(own)], own)
    return found


def fit_panel(features: Floats, truth: Ints, split: np.ndarray, settings: PanelSettings | None = None) -> Panel:
    """Readers from geometry [N, J, 5], truth [N] and split [N].

    Train is fitted on and val calibrates; test is not looked at.
    """
    settings = PanelSettings() if settings is None else settings
    if features.shape[1:] != (settings.readers, len(FEATURES)):
        raise UserError(f"panel: found the geometry of {features.shape[1]} readers, expected {settings.readers}")
    train, calibration = _part(features, truth, split, "train"), _part(features, truth, split, "val")
    weights = np.stack([_weights(train[0][:, reader], train[1]) for reader in range(settings.readers)])
    scores = _scores(calibration[0], weights)  # [N_cal, J]
    temperatures = np.array([_temperature(scores[:, reader], calibration[1]) for reader in range(settings.readers)])
    return Panel(settings, weights, temperatures, youden_cutoff(_median_ratio(train[0]), train[1]))


def youden_cutoff(values: Floats, truth: Ints) -> float:
    """The cut-off with the largest sensitivity + specificity − 1, half-way between two values; τ for vCDR.

    >>> youden_cutoff(np.array([0.3, 0.4, 0.7, 0.8]), np.array([0, 0, 1, 1]))
    0.55
    """
    levels = np.unique(values)
    cuts = (levels[1:] + levels[:-1]) / 2 if len(levels) > 1 else levels  # [C]
    above = values[None, :] >= cuts[:, None]  # [C, N]
    index = above[:, truth == 1].mean(1) - above[:, truth == 0].mean(1)
    return float(cuts[index.argmax()])


def _features(outlines: Outlines) -> list[float]:
    if outlines.disc is None:
        return [np.nan] * len(FEATURES)
    ratios = outlines.ratios
    height = float(np.log(outlines.disc.vertical))
    if ratios is None:
        return [1.0, 0.0, 0.0, height, 0.0]
    return [1.0, ratios.vertical, ratios.area, height, ratios.decentration]


def _part(features: Floats, truth: Ints, split: np.ndarray, name: str) -> tuple[Floats, Ints]:
    """The cases of a split of which there is a geometry."""
    rows: Bools = (split == name) & ~np.isnan(features).any((1, 2))
    if not {0, 1} <= set(truth[rows].tolist()):
        raise UserError(
            f"semi-synthetic readers: expected {name} cases of both kinds with a disc outlined; one is missing"
        )
    return features[rows], truth[rows]


def _scores(features: Floats, weights: Floats) -> Floats:
    """s_ij = w_j · φ_ij, [N, J]."""
    return np.einsum("njf,jf->nj", features, weights)


def _median_ratio(features: Floats) -> Floats:
    """Median vCDR across annotations, [N]."""
    return np.asarray(np.median(features[:, :, VERTICAL], axis=1))


def _weights(features: Floats, truth: Ints) -> Floats:
    """Weights by maximum likelihood, [N, 5] to [5]; in the features' own units."""
    middle, spread = features[:, 1:].mean(0), features[:, 1:].std(0)
    spread[spread < 1e-9] = np.inf  # what is the same in every case has no weight
    scaled = np.column_stack([features[:, 0], (features[:, 1:] - middle) / spread])  # [N, 5]
    sign = 2.0 * truth - 1.0

    def loss(weights: Floats) -> tuple[float, Floats]:
        margins = sign * (scaled @ weights)
        slope = -(sign * expit(-margins)) @ scaled
        ridge = np.r_[0.0, weights[1:]] * RIDGE
        return float(-log_expit(margins).sum() + ridge @ weights / 2), slope + ridge

    found = minimize(loss, np.zeros(len(FEATURES)), jac=True, method="L-BFGS-B", options={"maxiter": 2000}).x
    slopes = found[1:] / spread
    return np.r_[found[0] - slopes @ middle, slopes]


def _temperature(scores: Floats, truth: Ints) -> float:
    """T_j with the smallest negative log-likelihood, [N] and [N]."""
    margins = (2.0 * truth - 1.0) * scores
    bounds = tuple(np.log(TEMPERATURES))
    found = minimize_scalar(lambda log_t: -log_expit(margins * exp(-log_t)).sum(), bounds=bounds, method="bounded")
    return exp(float(found.x))
