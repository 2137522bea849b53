"""Manifests: what they may say, and what is said about the others."""

from __future__ import annotations

from pathlib import Path

import pytest
from strategies import made_up_manifest

from mpd2.core.errors import UserError
from mpd2.core.manifest import load_manifest

GOOD = """
title = "One clinic"
table = "clinic.csv"
costs = { false_negative = 2.0, false_positive = 1.5 }
readers = [
    { column = "ana", name = "Ana", group = "clinic", fee = 0.3, tier = "A" },
    { column = "ben", name = "Ben", group = "clinic", fee = 0.1, tier = "C" },
]
cohorts = [{ key = "north", name = "North", readings = "real" }]
"""


def complaint(text: str, folder: Path) -> str:
    """What is said about a manifest, without the folder it is in."""
    path = folder / "clinic.toml"
    path.write_text(text)
    with pytest.raises(UserError) as caught:
        load_manifest(path)
    return str(caught.value).replace(f"{folder}/", "")


def test_a_manifest_gives_readers_in_order_with_their_fees_and_costs(tmp_path: Path) -> None:
    (tmp_path / "clinic.toml").write_text(GOOD)
    manifest = load_manifest(tmp_path / "clinic.toml")
    assert manifest.columns == ("ana", "ben")
    assert manifest.fees.tolist() == [0.3, 0.1]
    costs = manifest.default_costs()
    assert (costs.false_negative, costs.false_positive, costs.fees) == (2.0, 1.5, (0.3, 0.1))


@pytest.mark.parametrize(
    ("good", "bad", "said"),
    [
        ("fee = 0.3", "fee = -0.3", "readers.0.fee: Input should be greater than or equal to 0"),
        ("fee = 0.3", "fee = nan", "readers.0.fee: Input should be a finite number"),
        ("fee = 0.3, ", "", "readers.0.fee: Field required"),
        ('"ana"', '"ben"', "manifest: Value error, column given twice: ben"),
        ('readings = "real"', 'readings = "guessed"', "cohorts.0.readings: Input should be 'real', 'semi"),
        ("false_negative = 2.0", "false_negative = 0", "costs.false_negative: Input should be greater than 0"),
        ("title =", "heading =", "title: Field required\nclinic.toml, heading: Extra inputs are not permitted"),
    ],
)
def test_a_bad_entry_is_named_with_its_place(good: str, bad: str, said: str, tmp_path: Path) -> None:
    assert complaint(GOOD.replace(good, bad), tmp_path).startswith(f"clinic.toml, {said}")


def test_a_cohort_key_given_twice_is_refused(tmp_path: Path) -> None:
    twice = GOOD.replace('readings = "real" }', 'readings = "real" }, { key = "north", name = "N", readings = "real" }')
    assert complaint(twice, tmp_path) == "clinic.toml, manifest: Value error, cohort key given twice: north"


def test_a_file_that_is_not_toml_is_named(tmp_path: Path) -> None:
    assert complaint("title: One clinic", tmp_path).startswith("clinic.toml: not a TOML file: ")


def test_a_missing_manifest_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"none\.toml: cannot be read: No such file or directory$"):
        load_manifest(tmp_path / "none.toml")


def test_a_changed_copy_forgets_the_fees_of_its_original() -> None:
    manifest = made_up_manifest(3)
    assert manifest.fees.tolist() == [0.1, 0.2, 0.3]
    assert manifest.model_copy(update={"readers": manifest.readers[1:]}).fees.tolist() == [0.2, 0.3]


def test_fees_cannot_be_changed_in_place() -> None:
    with pytest.raises(ValueError, match="read-only"):
        made_up_manifest(2).fees[0] = 9.0
