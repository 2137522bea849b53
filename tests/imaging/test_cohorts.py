"""Published folders become cases; what is damaged is named, and the rest is built."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from imaging_cohorts import (
    labels,
    picture,
    save,
    write_all,
    write_chaksu,
    write_origa,
    write_refuge,
    write_refuge_passed_on,
)

from mpd2.core.errors import UserError
from mpd2.imaging.cohorts.adapter import CaseFiles, Found, adapters, told_apart
from mpd2.imaging.cohorts.gathering import Gathered, divided, gather, looked_at
from mpd2.imaging.cohorts.masks import Masks, labels_of


def found_in(key: str, folder: Path) -> Found:
    return adapters()[key].cases(folder)


def reasons(found: Found | Gathered) -> list[str]:
    return [each.words for each in found.left]


def by_split(cases: tuple[CaseFiles, ...]) -> Counter[tuple[str | None, int]]:
    return Counter((case.split, case.truth) for case in cases)


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> dict[str, Path]:
    return write_all(tmp_path_factory.mktemp("cohorts"))


def test_refuge_as_distributed_has_its_splits_labels_and_masks(folders):
    found = found_in("refuge", folders["refuge"])
    assert by_split(found.cases) == {(s, t): 4 if t else 12 for s in ("train", "val", "test") for t in (0, 1)}
    assert all(list(case.masks) == [0] for case in found.cases)
    assert not found.left
    case = next(case for case in found.cases if case.id == "refuge-v0001")
    ratios = case.masks[0].outlines().ratios
    assert ratios is not None
    assert ratios.vertical == pytest.approx(measured_ratio(case), abs=0.02)


def measured_ratio(case: CaseFiles) -> float:
    code = case.masks[0].labels()
    rows = [np.flatnonzero((code >= level).any(1)) for level in (2, 1)]
    return float(np.ptp(rows[0]) / np.ptp(rows[1]))


def test_refuge_as_passed_on_is_the_same_cohort_and_its_copies_are_not_read(tmp_path):
    found = found_in("refuge", write_refuge_passed_on(tmp_path))
    assert by_split(found.cases) == {(s, t): 2 if t else 4 for s in ("train", "val", "test") for t in (0, 1)}
    assert all(case.image.parent.name == "Images" for case in found.cases)
    assert {int(case.masks[0].labels().max()) for case in found.cases} == {2}
    assert not found.left


def test_outlines_of_several_annotators_are_told_apart_by_their_folders(tmp_path):
    write_refuge(tmp_path, 3, 1)
    for number in (1, 3):
        save(labels(0.5), tmp_path / "Annotation-Training400" / "Disc_Cup_Masks" / f"expert_{number}" / "g0001.png")
    case = next(case for case in found_in("refuge", tmp_path).cases if case.id == "refuge-g0001")
    assert list(case.masks) == [0, 1, 3]


def test_chaksu_has_five_readers_three_cameras_and_the_majority_as_truth(folders):
    found = found_in("chaksu", folders["chaksu"])
    assert by_split(found.cases) == {(None, 1): 8, (None, 0): 16, ("test", 1): 4, ("test", 0): 8}
    assert {case.id.split("-")[1] for case in found.cases} == {"bosch", "forus", "remidio"}
    for case in found.cases:
        assert list(case.decisions) == [f"chaksu_expert_{n}" for n in range(1, 6)]
        assert (sum(case.decisions.values()) > 2) == bool(case.truth)
        assert list(case.masks) == [1, 2]
        assert {each.cup is not None for each in case.masks.values()} == {True}
    assert not found.left


def test_a_misspelt_verdict_is_understood(folders):
    cases = found_in("chaksu", folders["chaksu"]).cases
    assert {case.decisions["chaksu_expert_2"] for case in cases} == {0, 1}


def test_patients_of_chaksu_are_known_where_names_tell(folders):
    patients = Counter(case.patient for case in found_in("chaksu", folders["chaksu"]).cases if case.patient)
    assert max(patients.values()) > 1
    assert all(patient.startswith("chaksu-bosch-p") for patient in patients)


def test_a_person_in_both_published_halves_is_noted(tmp_path):
    write_chaksu(tmp_path)
    images = tmp_path / "Test" / "1.0_Original_Fundus_Images" / "Bosch"
    save(picture(0.4), images / "P40_image_99.jpg")
    table = tmp_path / "Test" / "6.0_Glaucoma_Decision" / "Glaucoma_Decision_Comparison_Bosch_majority.csv"
    row = "P40_image_99.jpg-P40_image_99-1.jpg" + ",NORMAL" * 6
    table.write_text(f"{table.read_text(encoding='utf-8-sig')}{row}\n", encoding="utf-8")
    found = found_in("chaksu", tmp_path)
    assert any("chaksu-bosch-p40: this person is in both published halves" in reason for reason in reasons(found))
    assert {case.patient for case in found.cases if "p40" in case.patient} == {
        "chaksu-bosch-p40-train",
        "chaksu-bosch-p40-test",
    }


def test_chaksu_decisions_may_stand_in_a_table_of_each_person(tmp_path):
    write_chaksu(tmp_path)
    for half in ("Train", "Test"):
        for table in (tmp_path / half / "6.0_Glaucoma_Decision").glob("*_majority.csv"):
            rows = [line.split(",") for line in table.read_text(encoding="utf-8-sig").splitlines()[1:]]
            camera = table.stem.split("_")[3]
            for number in range(1, 6):
                own = table.parent / f"Expert {number}" / f"{camera}.csv"
                own.parent.mkdir(exist_ok=True)
                lines = ["Images,VCDR,Glaucoma Decision", *(f"{row[0]},0.5,{row[number]}" for row in rows)]
                own.write_text("\n".join(lines) + "\n", encoding="utf-8")
            table.unlink()
    found = found_in("chaksu", tmp_path)
    assert len(found.cases) == 36
    assert all(len(case.decisions) == 5 for case in found.cases)


def test_origa_has_its_sets_and_labels(folders):
    found = found_in("origa", folders["origa"])
    assert len(found.cases) == 24
    assert sum(case.truth for case in found.cases) == 8
    assert {(case.split, case.pool) for case in found.cases} == {("train", ""), (None, "B")}
    assert not found.left


def test_origa_may_have_matlab_masks_and_the_other_list(tmp_path):
    found = found_in("origa", write_origa(tmp_path, 9, matlab=True, sets=False))
    assert {(case.split, case.pool) for case in found.cases} == {(None, "")}
    assert sum(case.truth for case in found.cases) == 3
    assert {int(case.masks[0].labels().max()) for case in found.cases} == {2}


@pytest.mark.parametrize("key", ["refuge", "chaksu", "origa"])
def test_a_folder_of_something_else_is_told_what_is_expected(key, tmp_path):
    (tmp_path / "notes.txt").write_text("nothing", encoding="utf-8")
    with pytest.raises(UserError, match=r"found no photograph of .*expected"):
        found_in(key, tmp_path)
    with pytest.raises(UserError, match="found no such folder, expected"):
        found_in(key, tmp_path / "nowhere")


@pytest.mark.parametrize("code", [(0, 1, 2), (0, 128, 255), (255, 128, 0), (0, 120, 250)])
def test_masks_are_understood_in_every_code(code):
    truth = labels(0.5)
    np.testing.assert_array_equal(labels_of(np.array(code, np.uint8)[truth]), truth)


def test_a_pair_of_pictures_is_one_mask_whichever_is_marked(tmp_path):
    truth = labels(0.6)
    disc = save((truth >= 1).astype(np.uint8) * 255, tmp_path / "disc.tif")
    cup = save((truth < 2).astype(np.uint8) * 255, tmp_path / "cup.tif")
    np.testing.assert_array_equal(Masks(disc, cup).labels(), truth)


DAMAGE = {
    "missing mask": "REFUGE Training400/Glaucoma/g0001.jpg: no mask of disc and cup",
    "mask of the wrong size": "g0002.bmp: mask of another size than its photograph: 64 × 64, not 128 × 128",
    "broken mask": "g0003.bmp: mask cannot be read as a picture",
    "broken image": "n0005.jpg: photograph cannot be read as a picture",
    "extra file": "Training400/Glaucoma/Thumbs.db: no photograph by its ending: passed over",
    "duplicate id": "n0006.jpg: called the same as Training400/Non-Glaucoma/copies/n0006.jpg, which is taken",
    "other label": "V0001.jpg: its name, its folder and the tables say different things of it",
    "label without image": "t0016: a label without a photograph",
    "image without label": "V0099.jpg: no label says what it is",
    "broken table": "REFUGE Test400/list.xlsx: cannot be read as a table",
}


def damaged_refuge(folder: Path) -> Path:
    write_refuge(folder)
    training, outlines = folder / "Training400", folder / "Annotation-Training400" / "Disc_Cup_Masks"
    (outlines / "Glaucoma" / "g0001.bmp").unlink()
    save(np.full((64, 64), 255, np.uint8), outlines / "Glaucoma" / "g0002.bmp")
    (outlines / "Glaucoma" / "g0003.bmp").write_bytes(b"BM nothing")
    (training / "Non-Glaucoma" / "n0005.jpg").write_bytes(b"\xff\xd8\xff nothing")
    (training / "Glaucoma" / "Thumbs.db").write_bytes(b"x")
    save(picture(0.4), training / "Non-Glaucoma" / "copies" / "n0006.jpg")
    validation = folder / "REFUGE-Validation400"
    (validation / "Non-Glaucoma").mkdir()
    (validation / "V0001.jpg").rename(validation / "Non-Glaucoma" / "V0001.jpg")
    (folder / "Test400" / "T0016.jpg").unlink()
    save(picture(0.4), validation / "V0099.jpg")
    (folder / "Test400" / "list.xlsx").write_bytes(b"PK nothing")
    return folder


@pytest.fixture(scope="module")
def damaged(tmp_path_factory) -> Gathered:
    return gather({"refuge": damaged_refuge(tmp_path_factory.mktemp("damaged"))})


@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_is_named(damaged, kind):
    assert any(DAMAGE[kind] in reason for reason in reasons(damaged)), reasons(damaged)


def test_the_rest_of_a_damaged_folder_is_built(damaged):
    lost = sum(each.case for each in damaged.left)
    assert lost == 6  # three without a usable mask, one broken photograph, one contradiction, one without a label
    assert len(damaged.cases) == 48 + 1 - 1 - lost  # one photograph more, and one that was taken away


def test_a_missing_mask_costs_a_case_only_where_readers_are_drawn_from_it(tmp_path):
    write_origa(tmp_path, 6)
    (tmp_path / "Masks" / "001.png").unlink()
    found = gather({"origa": tmp_path})
    assert len(found.cases) == 6
    assert [each.words for each in found.left] == ["ORIGA Images/001.jpg: no mask of disc and cup"]


def test_two_of_one_name_and_different_labels_are_both_left_out(tmp_path):
    cases = [CaseFiles("a", tmp_path / "1.jpg", 0), CaseFiles("a", tmp_path / "2.jpg", 1)]
    found = told_apart(cases, tmp_path)
    assert not found.cases
    assert len(found.left) == 2


def test_only_heads_of_files_are_read_to_look_at_them(folders):
    cases = found_in("chaksu", folders["chaksu"]).cases
    assert looked_at(cases, folders["chaksu"], needs_mask=True) == (list(cases), [])


def test_splits_are_published_or_fixed_and_others_do_not_change_them(folders):
    together, alone = gather(folders, seed=3), gather({"chaksu": folders["chaksu"]}, seed=3)
    split = {case.files.id: case.split for case in together.cases}
    assert {case.files.id: case.split for case in alone.cases}.items() <= split.items()
    sizes = Counter((case.cohort, case.split) for case in together.cases)
    assert sizes["origa", "train"] == 12
    assert sizes["origa", "val"] == sizes["origa", "test"] == 6
    assert sizes["chaksu", "test"] == 12
    assert abs(sizes["chaksu", "train"] - 0.68 * 24) < 3
    assert together.folder == folders["refuge"].parent
    assert "refuge/Training400/Glaucoma/g0001.jpg" in together.names


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 25)), min_size=1, max_size=80), st.integers(0, 2**31))
def test_patients_stay_together_and_shares_are_kept(people, seed):
    truth = np.array([int(ill) for ill, _ in people])
    patients = [str(number) for _, number in people]
    found = np.array(divided(truth, patients, (0.5, 0.25, 0.25), np.random.default_rng(seed)))
    assert set(found) <= {"train", "val", "test"}
    assert all(len(set(found[np.array(patients) == patient])) == 1 for patient in patients)
    largest = max(Counter(patients).values())
    for split, share in (("train", 0.5), ("val", 0.25), ("test", 0.25)):
        assert abs((found == split).sum() - share * len(people)) <= 2 * largest


def test_lone_cases_are_divided_as_exactly_as_can_be():
    truth = np.r_[np.ones(168, int), np.zeros(482, int)]
    found = np.array(divided(truth, list(map(str, range(650))), (0.5, 0.25, 0.25), np.random.default_rng(0)))
    assert Counter(found[truth == 1]) == {"train": 84, "val": 42, "test": 42}
    assert abs((found == "train").sum() - 325) <= 1


def test_no_cohort_and_one_that_nobody_knows_are_told_which_there_are():
    with pytest.raises(UserError, match="found none, expected some of refuge, chaksu, origa"):
        gather({})
    with pytest.raises(UserError, match="found messidor"):
        gather({"messidor": Path()})


def test_every_adapter_says_all_that_a_table_needs():
    for key, adapter in adapters().items():
        assert adapter.key == key
        assert adapter.credit.endswith("CC BY 4.0.")
        assert all(abs(sum(shares) - 1) < 1e-9 for shares in adapter.shares.values())
        assert (adapter.panel is not None) == (adapter.readings == "semi-synthetic")
        assert adapter.panel is None or adapter.panel.readers == len(adapter.readers)


def test_chaksu_outlines_may_be_one_picture_a_person_and_masks_may_be_numbered(tmp_path):
    write_chaksu(tmp_path, 6, 3, experts=())
    image = next((tmp_path / "Train" / "1.0_Original_Fundus_Images" / "Forus").glob("*.png"))
    fused = np.array([0, 127, 254], np.uint8)[labels(0.6)]
    save(fused, tmp_path / "Train" / "4.0_OD_CO_Fusion_Images" / "Expert 3" / "Forus" / f"{image.stem}.tif")
    save(fused, tmp_path / "Train" / "4.0_OD_CO_Fusion_Images" / "Forus" / "Majority" / f"{image.stem}.tif")
    for structure, level in (("Disc", 1), ("Cup", 2)):
        binary = (labels(0.6) >= level).astype(np.uint8) * 255
        place = tmp_path / "Train" / "3.0_Doctors_Annotations_Binary_OD_OC" / "Expert 1" / "Forus" / structure
        save(binary, place / f"{image.stem}-1.tif")
    case = next(case for case in found_in("chaksu", tmp_path).cases if case.image == image)
    assert list(case.masks) == [1, 3]
    np.testing.assert_array_equal(case.masks[1].labels(), labels(0.6))
    np.testing.assert_array_equal(case.masks[3].labels(), labels(0.6))


def test_a_mask_that_is_no_picture_or_no_array_is_refused_in_words(tmp_path):
    from scipy.io import savemat

    (tmp_path / "a.mat").write_bytes(b"nothing")
    savemat(tmp_path / "b.mat", {"other": np.zeros((2, 2, 2))})
    (tmp_path / "c.bmp").write_bytes(b"BM")
    for name, words in (("a.mat", "MATLAB file"), ("b.mat", "no array called mask"), ("c.bmp", "as a picture")):
        with pytest.raises(UserError, match=words):
            Masks(tmp_path / name).labels()
        assert words in Masks(tmp_path / name).problem((2, 2))
