"""A photograph of an eye that never was: disc and cup as told, everything else drawn from the eye's seed.

Nothing here is patient data. Disease shows only in geometry, and faintly in what goes with a thin rim: it is paler, and
the retina beside the disc is thinner.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mpd2.core.errors import UserError
from mpd2.core.rng import Stream, stream
from mpd2.imaging.ellipses import Ellipse
from mpd2.imaging.simulation.render_camera import CAMERAS, FRAME, Picture, Shot, grid, photographed
from mpd2.imaging.simulation.texture import clouds
from mpd2.imaging.simulation.vessels import vessel_map

__all__ = ["CAMERAS", "FRAME", "Eye", "Shot", "draw_eye", "labels_of", "render"]


def _colour(red: float, green: float, blue: float) -> NDArray[np.float32]:
    return np.array([red, green, blue], np.float32)[:, None, None]  # [3, 1, 1]


FAIR, DARK = _colour(0.80, 0.43, 0.22), _colour(0.58, 0.27, 0.12)  # the retina
RIM, PALE_RIM = _colour(0.90, 0.60, 0.32), _colour(0.93, 0.69, 0.44)
CUP = _colour(0.99, 0.88, 0.62)
BESIDE = _colour(0.86, 0.60, 0.36)  # thin retina around the disc
BLOOD = _colour(0.30, 0.62, 0.55)  # what a vessel takes away of red, green and blue
SPOT = _colour(0.28, 0.40, 0.36)  # what the macula's pigment takes away
MOTTLE = _colour(0.7, 1.1, 1.2)  # how much pigment's patches change each colour
AROUND = 1.7  # the window in which disc and cup are laid, as a share of the disc


@dataclass(frozen=True)
class Eye:
    """One eye, in pixels of a frame of 512 by 512."""

    disc: Ellipse
    cup: Ellipse
    right: bool
    seed: int  # vessels, pigment, texture

    @property
    def ratio(self) -> float:
        """vCDR."""
        return self.cup.vertical / self.disc.vertical


def draw_eye(ratio: float, random: np.random.Generator, disc_height: float | None = None) -> Eye:
    """An eye with this vCDR; the rest of its geometry is drawn. Discs are 82 ± 7 pixels high unless told."""
    if not 0 < ratio < 1:
        raise UserError(f"Ratio of cup to disc: found {ratio:g}, expected more than 0 and less than 1.")
    right = bool(random.random() < 0.5)
    height = float(np.clip(random.normal(82, 7), 62, 108)) if disc_height is None else disc_height
    x = FRAME / 2 + (1 if right else -1) * random.uniform(60, 105)
    disc = Ellipse(
        x, FRAME / 2 + random.normal(0, 14), height * random.uniform(0.84, 1.0), height, random.normal(0, 0.12)
    )
    disc = replace(disc, width=disc.width * height / disc.vertical, height=disc.height * height / disc.vertical)
    return Eye(disc, _draw_cup(ratio, disc, random), right, int(random.integers(2**31)))


def _draw_cup(ratio: float, disc: Ellipse, random: np.random.Generator) -> Ellipse:
    """A cup with this vCDR within the disc, a little off its centre where there is room."""
    shape, turn = random.uniform(0.86, 1.1), random.normal(0, 0.1)
    shift = random.normal(0, 0.2, 2) * (1 - ratio) * disc.height / 2
    for room in (1.0, 0.6, 0.3, 0.0):  # gives way until it fits
        width = disc.width * ratio * (1 + room * (shape - 1))
        cup = Ellipse(disc.x, disc.y, width, disc.height * ratio, disc.angle + room * turn)
        size = ratio * disc.vertical / cup.vertical
        cup = replace(cup, width=size * cup.width, height=size * cup.height).moved(*(room * shift))
        if disc.radius(*cup.points().T).max() < 0.985:
            return cup
    return cup


def labels_of(eye: Eye, side: int = FRAME) -> NDArray[np.uint8]:
    """The true segmentation, [side, side]: 0 background, 1 rim, 2 cup."""
    disc, cup = (ellipse.scaled(side / FRAME).mask(side, side) for ellipse in (eye.disc, eye.cup))
    return disc.astype(np.uint8) + (disc & cup)


def render(eye: Eye, shot: Shot, side: int = FRAME) -> NDArray[np.uint8]:
    """The photograph, [side, side, 3]; the same eye and shot always give the same pixels."""
    return photographed(_scene(eye, side), shot, stream(eye.seed, Stream.RENDER, 2))


def _scene(eye: Eye, side: int) -> Picture:
    """The eye as an ideal camera would see it, in even light."""
    random = stream(eye.seed, Stream.RENDER, 1)
    scene = _retina(eye, side, random)
    _lay_disc(scene, eye, random)
    disc, cup = (ellipse.scaled(side / FRAME) for ellipse in (eye.disc, eye.cup))
    vessels = vessel_map(disc, cup, eye.right, stream(eye.seed, Stream.RENDER, 0), side)
    vessels *= random.uniform(0.8, 1.1) * (1 - 0.9 * _macula(eye, side, 0.3))
    window = _window(eye.disc, side)
    vessels[window] *= 1 - 0.35 * _soft(eye.cup, 4.0, side, window)  # they lie deeper there
    scene *= 1 - vessels * BLOOD
    return scene


def _retina(eye: Eye, side: int, random: np.random.Generator) -> Picture:
    """Background with pigment, and the macula's dark spot."""
    colour = FAIR + random.beta(2, 2) * (DARK - FAIR)
    patches = 0.055 * clouds(side, 5, random) + 0.03 * clouds(side, 16, random) + 0.02 * clouds(side, 60, random)
    spot = _macula(eye, side, random.uniform(0.4, 0.6)) * random.uniform(0.7, 1.2)
    return (colour + patches * (colour * MOTTLE)) * (1 - spot * SPOT)


def _macula(eye: Eye, side: int, width: float) -> NDArray[np.float32]:
    """A soft spot two and a half disc heights towards the temple, `width` disc heights wide, [side, side] 0 to 1."""
    size, temple = eye.disc.vertical, -1 if eye.right else 1
    x, y = grid(side)
    across = np.exp(-(((x - eye.disc.x - temple * 2.5 * size) / (width * size)) ** 2) / 2)
    return across * np.exp(-(((y - eye.disc.y - 0.25 * size) / (width * size)) ** 2) / 2)


def _lay_disc(scene: Picture, eye: Eye, random: np.random.Generator) -> None:
    """Lay disc and cup over the retina, each with an edge of its own softness."""
    loss = min(1.0, max(0.0, (eye.ratio - 0.4) / 0.5))  # how thin the rim is
    pale = min(1.0, max(0.0, 0.25 + 0.35 * loss + random.normal(0, 0.2)))
    beside = min(0.7, max(0.0, random.normal(0.1, 0.2) + 0.25 * loss))
    rim = (RIM + pale * (PALE_RIM - RIM)) * random.uniform(0.92, 1.04)
    cup = rim + random.uniform(0.7, 1.0) * (CUP - rim)
    soft_disc, soft_cup = random.uniform(1.0, 2.0), random.uniform(1.8, 3.4)  # pixels of 512
    side = scene.shape[-1]
    window = _window(eye.disc, side)
    mottle = 1 + 0.03 * clouds(side, 40, random)[window]
    halo = eye.disc.moved((-0.06 if eye.right else 0.06) * eye.disc.width, 0)
    halo = replace(halo, width=1.22 * halo.width, height=1.12 * halo.height)
    layers = ((halo, 5.0, BESIDE, beside), (eye.disc, soft_disc, rim, 1.0), (eye.cup, soft_cup, cup, 1.0))
    part = scene[:, *window]  # a view: what is laid there is laid in the scene
    for ellipse, softness, colour, share in layers:
        part += share * _soft(ellipse, softness, side, window) * (colour * mottle - part)


def _window(disc: Ellipse, side: int) -> tuple[slice, slice]:
    """Rows and columns around the disc that its soft edge and its surroundings reach."""
    reach = AROUND * max(disc.width, disc.height) / 2 + 25
    ends = ((disc.y - reach, disc.y + reach), (disc.x - reach, disc.x + reach))
    rows, columns = (slice(*(int(min(side, max(0, at * side / FRAME))) for at in pair)) for pair in ends)
    return rows, columns


def _soft(ellipse: Ellipse, softness: float, side: int, window: tuple[slice, slice]) -> NDArray[np.float32]:
    """1 inside, 0 outside, with an edge `softness` pixels wide, over a window of the picture."""
    x, y = grid(side)
    radius = ellipse.radius(x[:, window[1]], y[window[0]]).astype(np.float32)
    inwards = (1 - radius) * np.float32(np.sqrt(ellipse.width * ellipse.height) / 2 / softness)
    return 1 / (1 + np.exp(-np.clip(2 * inwards, -30, 30)))
