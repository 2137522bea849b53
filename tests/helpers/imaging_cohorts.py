"""Miniature folders in the published layouts of three cohorts: drawn eyes, masks, labels and decisions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image
from scipy.io import savemat

SIDE = 128
WORDS = ("NORMAL", "GLAUCOMA SUSPECT")
MISSPELT = ("NORMAL", "GLAUCOMA  SUSUPECT")
CAMERAS = {"Bosch": ".jpg", "Forus": ".png", "Remidio": ".JPG"}


def labels(ratio: float, seed: int = 0) -> np.ndarray:
    """[SIDE, SIDE] 0 background, 1 rim, 2 cup."""
    x, y = SIDE / 2 + np.random.default_rng(seed).uniform(-6, 6, 2)
    rows, columns = np.ogrid[:SIDE, :SIDE]
    distance = np.hypot((rows - y) / 30, (columns - x) / 27)
    return np.where(distance <= ratio, 2, np.where(distance <= 1, 1, 0)).astype(np.uint8)


def picture(ratio: float, seed: int = 0) -> np.ndarray:
    """[SIDE, SIDE, 3] a field of view with a disc and a cup."""
    rows, columns = np.ogrid[:SIDE, :SIDE]
    inside = np.hypot(rows - SIDE / 2, columns - SIDE / 2) < SIDE / 2 - 2
    colours = np.array([(150, 60, 30), (210, 130, 70), (250, 220, 150)], float)
    noise = np.random.default_rng(seed).normal(0, 8, (SIDE, SIDE, 3))
    return np.where(inside[..., None], np.clip(colours[labels(ratio, seed)] + noise, 20, 255), 0).astype(np.uint8)


def save(array: np.ndarray, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(array).save(path)
    return path


def drawn(count: int, positives: int, seed: int) -> list[tuple[int, float]]:
    """Truth and ratio of so many eyes, the ill ones first."""
    random = np.random.default_rng(seed)
    truth = [1] * positives + [0] * (count - positives)
    return [(ill, float(np.clip(random.normal(0.68 if ill else 0.42, 0.1), 0.15, 0.9))) for ill in truth]


def write_refuge(folder: Path, each: int = 16, positives: int = 4) -> Path:
    """As the challenge distributes it: archives unpacked beside one another."""
    truths: dict[str, list[tuple[str, int]]] = {"V": [], "T": []}
    for part, seed in (("train", 1), ("V", 2), ("T", 3)):
        for number, (ill, ratio) in enumerate(drawn(each, positives, seed), 1):
            kind = ("Non-Glaucoma", "Glaucoma")[ill]
            name = f"{'ng'[ill]}{number:04d}" if part == "train" else f"{part}{number:04d}"
            images, outlines = {
                "train": (f"Training400/{kind}", f"Annotation-Training400/Disc_Cup_Masks/{kind}"),
                "V": ("REFUGE-Validation400", "REFUGE-Validation400-GT/Disc_Cup_Masks"),
                "T": ("Test400", f"REFUGE-Test-GT/Disc_Cup_Masks/{'NG'[ill]}"),
            }[part]
            save(picture(ratio, 100 * seed + number), folder / images / f"{name}.jpg")
            code = np.array([255, 128, 0], np.uint8)[labels(ratio, 100 * seed + number)]
            save(code, folder / outlines / f"{name}.bmp")
            if part in truths:
                truths[part].append((f"{name}.jpg", ill))
    tables = {
        "V": ("REFUGE-Validation400-GT/Fovea_locations.xlsx", "Glaucoma Label"),
        "T": ("REFUGE-Test-GT/Glaucoma_label_and_Fovea_location.xlsx", "Label(Glaucoma=1)"),
    }
    for part, (place, column) in tables.items():
        names, ill = zip(*truths[part], strict=True)
        frame = pd.DataFrame({"ID": range(1, len(names) + 1), "ImgName": names, column: ill, "Fovea_X": 1.5})
        frame.to_excel(folder / place, index=False)
    fovea = pd.DataFrame({"ID": [1], "ImgName": ["g0001.jpg"], "Fovea_X": [1.5], "Fovea_Y": [2.5]})
    fovea.to_excel(folder / "Annotation-Training400" / "Fovea_location.xlsx", index=False)
    return folder


def write_refuge_passed_on(folder: Path, each: int = 6, positives: int = 2) -> Path:
    """As it is passed on with ORIGA: a folder a split, classes in the masks, labels in JSON, copies beside."""
    for part, letter, seed in (("train", "", 1), ("val", "V", 2), ("test", "T", 3)):
        index = {}
        for number, (ill, ratio) in enumerate(drawn(each, positives, seed), 1):
            name = f"{letter or 'ng'[ill]}{number:04d}"
            save(picture(ratio, number), folder / part / "Images" / f"{name}.jpg")
            save(picture(ratio, number)[:64, :64], folder / part / "Images_Cropped" / f"{name}.jpg")
            save(picture(ratio, number)[:64, :64], folder / "Images_Square" / f"{name}.jpg")
            save(labels(ratio, number), folder / part / "Masks" / f"{name}.png")
            index[str(number - 1)] = {"ImgName": f"{name}.jpg", "Fovea_X": 1.5, "Size_X": SIDE, "Label": ill}
        (folder / part / "index.json").write_text(json.dumps(index), encoding="utf-8")
    return folder


def decisions(ill: int, seed: int) -> list[int]:
    """What five people say: four of them the truth, now and then all."""
    said = [ill] * 5
    if seed % 3:
        said[seed % 5] = 1 - ill
    return said


def write_chaksu(folder: Path, train: int = 24, test: int = 12, experts: Sequence[int] = (1, 2)) -> Path:
    """Two halves, three cameras; the table of one camera is the same in both, as published."""
    rows: dict[tuple[str, str], list[list[str]]] = {(half, c): [] for half in ("Train", "Test") for c in CAMERAS}
    for half, count, seed in (("Train", train, 4), ("Test", test, 5)):
        for number, (ill, ratio) in enumerate(drawn(count, count // 3, seed)):
            camera = list(CAMERAS)[number % 3]
            name = {
                "Bosch": f"P{seed}{number // 6}_image_{number}",
                "Forus": f"{number}",
                "Remidio": f"IMG_{number:03d}",
            }
            stem = name[camera]
            save(
                picture(ratio, 50 * seed + number),
                folder / half / "1.0_Original_Fundus_Images" / camera / f"{stem}{CAMERAS[camera]}",
            )
            for expert in experts:
                code = labels(ratio, 50 * seed + number)
                base = folder / half / "3.0_Doctors_Annotations_Binary_OD_OC" / f"Expert {expert}" / camera
                for structure, level in (("Disc", 1), ("cup" if expert == 2 else "Cup", 2)):
                    save((code >= level).astype(np.uint8) * 255, base / structure / f"{stem}.tif")
            said = decisions(ill, number)
            words = [(MISSPELT if place in (1, 4) else WORDS)[word] for place, word in enumerate(said)]
            ending = ".tif" if camera == "Remidio" else ".jpg"
            rows[half, camera].append([f"{stem}{ending}-{stem}-1{ending}", *words, WORDS[ill]])
    both = rows["Train", "Bosch"] + rows["Test", "Bosch"]
    for (half, camera), said in rows.items():
        place = folder / half / "6.0_Glaucoma_Decision" / f"Glaucoma_Decision_Comparison_{camera}_majority.csv"
        place.parent.mkdir(parents=True, exist_ok=True)
        last = "Glaucoma Decision" if half == "Test" and camera != "Bosch" else "Majority Decision"
        head = ["Images", *(f"Expert.{n}" for n in range(1, 6)), last]
        frame = pd.DataFrame(both if camera == "Bosch" else said, columns=head)
        frame.to_csv(place, index=False, encoding="utf-8-sig")
    return folder


def write_origa(folder: Path, count: int = 24, matlab: bool = False, sets: bool = True) -> Path:
    """Images, masks and the list."""
    listed = []
    for number, (ill, ratio) in enumerate(drawn(count, count // 3, 6), 1):
        save(picture(ratio, 400 + number), folder / "Images" / f"{number:03d}.jpg")
        save(picture(ratio, 400 + number)[:64, :64], folder / "Images_Cropped" / f"{number:03d}.jpg")
        if matlab:
            place = folder / "Semi-automatic-annotations" / f"{number:03d}.mat"
            place.parent.mkdir(parents=True, exist_ok=True)
            savemat(place, {"mask": labels(ratio, 400 + number)})
        else:
            save(labels(ratio, 400 + number), folder / "Masks" / f"{number:03d}.png")
        listed.append(
            {"Eye": "OD", "Filename": f"{number:03d}.jpg", "ExpCDR": ratio, "Set": "AB"[number % 2], "Glaucoma": ill}
        )
    frame = pd.DataFrame(listed)
    if sets:
        frame.to_csv(folder / "OrigaList.csv", index=False)
    else:
        info = pd.DataFrame({"Image": frame["Filename"].map("D:/ORIGA/Images/{}".format), "Label": frame["Glaucoma"]})
        info.to_csv(folder / "origa_info.csv", index=False)
    return folder


def write_all(folder: Path) -> dict[str, Path]:
    """The three side by side."""
    return {
        "refuge": write_refuge(folder / "refuge"),
        "chaksu": write_chaksu(folder / "chaksu"),
        "origa": write_origa(folder / "origa"),
    }
