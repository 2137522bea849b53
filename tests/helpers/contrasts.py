"""Contrast of colours by the Web Content Accessibility Guidelines."""

from __future__ import annotations

import re

TEXT, PART = 4.5, 3.0  # WCAG AA: the least contrast of text, and of what is not text
NAMED = {"white": "#ffffff", "black": "#000000"}


def parts(colour: str) -> list[float]:
    """Red, green and blue from 0 to 1 of #rrggbb, rgb(r, g, b) or a name."""
    colour = NAMED.get(colour, colour)
    if colour.startswith("rgb"):
        return [float(part) / 255 for part in re.findall(r"[\d.]+", colour)[:3]]
    return [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]


def luminance(colour: str) -> float:
    """Relative luminance."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts(colour)]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    """Contrast ratio, 1 to 21."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)
