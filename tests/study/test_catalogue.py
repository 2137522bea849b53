"""Tables are drawn up from the runs they name, and kept with as many digits as they say."""

from __future__ import annotations

from pathlib import Path

import pytest
from tiny_study import EVERY_TABLE, NAMES, tiny_tables

from mpd2.core.errors import UserError
from mpd2.study.catalogue import DIGITS
from mpd2.study.definition import BUDGETS, OBJECTIVE, ROUTERS
from mpd2.study.tables import read_table


def test_tables_of_methods_hold_every_contender() -> None:
    tables = tiny_tables()
    for name in ("overall", "cohorts", "collapse", "retention", "wins", "deferral"):
        assert list(tables[name]["method"].unique()) == list(NAMES)
    assert set(tables["readers"]["method"]) > set(NAMES)
    assert set(tables["risk"]["method"]) == {*NAMES, "mean-reader"}


def test_what_cannot_be_deployed_is_on_no_front() -> None:
    assert set(tiny_tables()["tradeoff"]["method"]) == set(NAMES) - {"oracle"}


def test_both_routers_are_compared_with_everybody_else() -> None:
    paired, gaps = tiny_tables()["paired"], tiny_tables()["gaps"]
    for router in ROUTERS:
        assert set(paired.loc[paired["reference"] == router, "method"]) == set(NAMES) - {router}
    assert list(gaps["method"].unique()) == list(ROUTERS)


def test_terms_are_weighed_against_the_full_objective_and_budgets_against_none() -> None:
    effects = tiny_tables()["effects"]
    for base, conditions in (("full", OBJECTIVE), ("noal", BUDGETS)):
        assert set(effects.loc[effects["second"] == base, "first"]) == set(conditions) - {base}


def test_figures_keep_six_digits() -> None:
    for name in EVERY_TABLE:
        numbers = tiny_tables()[name].select_dtypes("floating")
        assert (numbers.round(DIGITS) == numbers).where(numbers.notna(), True).all(axis=None)


def test_a_table_that_is_not_there_says_how_to_make_it(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"overall.csv: there is no such table; `python -m mpd2 reproduce overall`"):
        read_table(tmp_path, "overall")
