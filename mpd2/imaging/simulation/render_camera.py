"""How a photograph is taken: the camera's field and colours, and what goes wrong on the way."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter

from mpd2.core.errors import UserError
from mpd2.imaging.simulation.texture import clouds

Picture = NDArray[np.float32]  # [3, side, side] 0 to 1, colour by colour, which is quicker to compute with

FRAME = 512  # pixels: the frame in which an eye is described


@dataclass(frozen=True)
class Camera:
    """What one make of camera does to every photograph."""

    radius: float  # of the round field, as a share of the frame
    flat: float  # the field ends so far above and below the middle, as a share of the frame
    softness: float  # pixels of blur at 512
    vignette: float  # light lost at the rim
    gamma: float
    colours: tuple[tuple[float, float, float], ...]  # [3, 3] from the eye's red, green and blue to the picture's


MAKES = {
    "A": Camera(0.478, 0.5, 0.7, 0.30, 1.0, ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))),
    "B": Camera(0.486, 0.5, 0.6, 0.34, 0.94, ((1.0, 0.03, 0.0), (0.02, 0.94, 0.02), (0.0, 0.04, 0.90))),
    "C": Camera(0.515, 0.41, 1.0, 0.12, 1.2, ((0.84, 0.08, 0.0), (0.10, 0.92, 0.0), (0.08, 0.16, 0.72))),
}
CAMERAS = tuple(MAKES)
VEIL = np.array([0.66, 0.55, 0.42], np.float32)[:, None, None]  # colour of scattered light


@dataclass(frozen=True)
class Shot:
    """How a photograph was taken; each fault from 0, none, to 1, hopeless."""

    camera: str = "A"
    blur: float = 0.0
    darkness: float = 0.0
    haze: float = 0.0
    crop: float = 0.0  # the pupil or a lid hides part of the field
    noise: float = 0.1

    def __post_init__(self) -> None:
        if self.camera not in MAKES:
            raise UserError(f"Camera {self.camera!r}: expected one of {', '.join(CAMERAS)}.")
        for name in ("blur", "darkness", "haze", "crop", "noise"):
            if not 0 <= (found := getattr(self, name)) <= 1:
                raise UserError(f"{name} of a shot: found {found}, expected 0 to 1.")


def grid(side: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Every pixel's place in the frame of 512, x [1, side] and y [side, 1]."""
    at = ((np.arange(side) + 0.5) * FRAME / side - 0.5).astype(np.float32)
    return at[None, :], at[:, None]


def photographed(scene: Picture, shot: Shot, random: np.random.Generator) -> NDArray[np.uint8]:
    """The eye as this shot shows it, [side, side, 3]."""
    side, camera = scene.shape[-1], MAKES[shot.camera]
    light = _light(side, camera, shot.darkness, random)  # [side, side]
    seen = (np.array(camera.colours, np.float32) @ scene.reshape(3, -1)).reshape(scene.shape)
    seen = _blurred(seen, (camera.softness + 7 * shot.blur**1.2) * side / FRAME)
    seen = _hazed(seen, shot.haze, random) * light
    seen = seen if camera.gamma == 1 else seen ** np.float32(camera.gamma)
    seen += np.float32(0.004 + 0.05 * shot.noise) * (np.float32(0.35) + seen) * _grain(side, random)
    seen *= _field(side, camera, shot.crop, random)
    return np.moveaxis((255 * np.clip(seen, 0, 1) + np.float32(0.5)).astype(np.uint8), 0, -1).copy()


def _grain(side: int, random: np.random.Generator) -> Picture:
    """Noise of the sensor, most of it common to the colours."""
    grain = 0.8 * random.standard_normal((side, side), dtype=np.float32)
    other = np.roll(grain, side // 3, axis=1) / 2
    return np.stack([grain + other, grain - other, grain + other])


def _light(side: int, camera: Camera, darkness: float, random: np.random.Generator) -> NDArray[np.float32]:
    """Light that reaches each place: less at the rim, uneven, little of it in a dark photograph."""
    x, y = ((at - FRAME / 2) / (FRAME / 2) for at in grid(side))
    lean = random.normal(0, 0.06, 2) * (1 + 3 * darkness)
    even = 1 - camera.vignette * (x**2 + y**2) ** 1.5 + lean[0] * x + lean[1] * y
    return (np.clip(even, 0.1, None) * random.uniform(0.94, 1.06) * (1 - 0.86 * darkness)).astype(np.float32)


def _blurred(picture: Picture, width: float) -> Picture:
    planes = (255 * np.clip(picture, 0, 1) + np.float32(0.5)).astype(np.uint8)
    blurred = [np.asarray(Image.fromarray(plane).filter(ImageFilter.GaussianBlur(width))) for plane in planes]
    return np.stack(blurred) * np.float32(1 / 255)


def _hazed(picture: Picture, haze: float, random: np.random.Generator) -> Picture:
    """Scattered light lies over everything, thicker in some places."""
    cloud = clouds(picture.shape[-1], 4, random)
    if not haze:
        return picture
    veil = np.clip(0.88 * haze * (1 + 0.12 * cloud), 0, 0.97)
    return picture + veil * (VEIL - picture)


def _field(side: int, camera: Camera, crop: float, random: np.random.Generator) -> NDArray[np.float32]:
    """What of the frame shows the eye at all, 0 to 1, [side, side]."""
    x, y = (at - np.float32((FRAME - 1) / 2) for at in grid(side))
    edge = np.minimum(camera.radius * FRAME - np.hypot(x, y), camera.flat * FRAME - np.abs(y))
    turn = random.uniform(0, 2 * np.pi)
    covered = 1.35 * crop - 1  # of the radius, from one rim towards the other
    lid = x * np.cos(turn) + y * np.sin(turn) - covered * camera.radius * FRAME
    sharp = np.clip(edge * side / FRAME + 0.5, 0, 1)
    return (sharp * np.clip(lid / 10 + 0.5, 0, 1) if crop else sharp).astype(np.float32)
