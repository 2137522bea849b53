"""What the Risk page reads besides the curves, worked out once for everybody."""

from __future__ import annotations

import pandas as pd

from mpd2.core.cache import cached
from mpd2.present.charts import risk as charts
from mpd2.studio.shell import results
from mpd2.studio.shell.scenario import Scenario


@cached
def titles(about: Scenario, signal: str, strata: int) -> dict[str, str]:
    """The methods that have curves."""
    curves = results.risk(about, signal, strata)
    return dict(zip(curves["method"], curves["title"], strict=True))


@cached
def shown(about: Scenario, signal: str, strata: int, beside: tuple[str, ...]) -> pd.DataFrame:
    """The curves of the active run and of the methods beside it."""
    curves = results.risk(about, signal, strata)
    return curves[curves["method"].isin([about.run, *beside])]


@cached
def figures(
    about: Scenario, signal: str, strata: int, beside: tuple[str, ...], columns: tuple[str, ...]
) -> pd.DataFrame:
    """The numbers of the same curves."""
    return shown(about, signal, strata, beside)[list(columns)].reset_index(drop=True)


@cached
def in_words(about: Scenario, signal: str, strata: int, beside: tuple[str, ...]) -> str:
    """What the hardest stratum costs."""
    return charts.in_words(shown(about, signal, strata, beside), about.run)
