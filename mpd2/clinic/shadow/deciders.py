"""Who decides on which day: the run in use under the setting of that day, kept ready for the next case."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import date
from threading import Lock

from mpd2.clinic.shadow.deciding import Decider
from mpd2.clinic.shadow.rows import USUAL, Setting
from mpd2.clinic.shadow.store import ShadowStore
from mpd2.core.cohort import Cohort
from mpd2.core.error_rates import ErrorModel
from mpd2.core.manifest import Manifest
from mpd2.core.runs import Run
from mpd2.methods.base import DecidesAnew
from mpd2.methods.registry import method_of
from mpd2.planning.floors import Floor
from mpd2.study.operating import choose_point


@dataclass(frozen=True, eq=False)
class Deciders:
    """One run under every setting there is."""

    store: ShadowStore
    run: Run
    run_digest: str
    learned: Cohort  # every case of the table the run learned from
    errors: ErrorModel | None
    usual: Setting = USUAL  # what holds before anybody has set anything
    _made: dict[str, Decider] = field(default_factory=dict)  # by what their setting says
    _making: Lock = field(default_factory=Lock)

    @property
    def manifest(self) -> Manifest:
        """What cases are known by."""
        return self.learned.manifest

    def setting_on(self, day: date) -> Setting:
        """What holds on a day: the setting with the latest first day, and of several of one day the newest."""
        return setting_of(self.store.settings(), day, self.usual)

    def on(self, day: date) -> Decider:
        """Who decides the cases of a day."""
        return self.under(self.setting_on(day))

    def under(self, setting: Setting) -> Decider:
        """Who decides under a setting; settings that say the same have the same."""
        said = setting.text()
        with self._making:
            if said not in self._made:
                self._made[said] = Decider.of(self.run, self.run_digest, self.learned, self.errors, setting)
            return self._made[said]


def setting_of(settings: list[Setting], day: date, usual: Setting) -> Setting:
    """Which of the settings, in the order in which they hold, is that of a day; the usual one if none is."""
    return next((each for each in reversed(settings) if each.start <= day), usual)


def keeping_sensitivity(run: Run, learned: Cohort, errors: ErrorModel | None) -> Setting:
    """No limits, the costs of the manifest, and the AI's own sensitivity kept on val, as every page begins.

    A run that cannot weigh a miss anew decides as it was fitted.
    """
    if errors is None and not isinstance(method_of(run), DecidesAnew):
        return USUAL
    point, _ = choose_point(run, learned.subset(split="val"), Floor(), errors)
    return replace(USUAL, weight=point.costs.false_negative)
