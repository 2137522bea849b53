"""The configured theme: the palette of the charts, readable in light and in dark."""

import re
import tomllib
from itertools import pairwise

import pytest
from contrasts import PART, TEXT, contrast, luminance
from places import ROOT

from mpd2.present.charts.kit import style

CONFIG = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["theme"]
STATIC = ROOT / "mpd2" / "studio" / "static"
SCHEMES = ("light", "dark")


def faded(text: str, background: str) -> str:
    """Text as Streamlit shows it in captions: 60 % of it over its background."""
    pairs = [(int(text[i : i + 2], 16), int(background[i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(0.6 * front + 0.4 * back):02x}" for front, back in pairs)


def backgrounds(scheme: str) -> list[str]:
    """Everything that text stands on, in the sidebar too."""
    tables = (CONFIG[scheme], CONFIG[scheme]["sidebar"])
    return [table[name] for table in tables for name in ("backgroundColor", "secondaryBackgroundColor")]


def test_contrast_is_that_of_wcag():
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_text_and_links_can_be_read_on_every_background(scheme):
    for background in backgrounds(scheme):
        for name in ("textColor", "linkColor"):
            assert contrast(CONFIG[scheme][name], background) >= TEXT, (name, background)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("colour", ["green", "red", "gray"])
def test_verdicts_in_colour_can_be_read_on_every_background(scheme, colour):
    for background in backgrounds(scheme):
        assert contrast(CONFIG[scheme][f"{colour}TextColor"], background) >= TEXT, background


@pytest.mark.parametrize("scheme", SCHEMES)
def test_captions_can_be_read_on_page_and_sidebar(scheme):
    for table in (CONFIG[scheme], CONFIG[scheme]["sidebar"]):
        background = table["backgroundColor"]
        assert contrast(faded(CONFIG[scheme]["textColor"], background), background) >= TEXT, background


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_accent_stands_out_from_every_background(scheme):
    for background in backgrounds(scheme):
        assert contrast(CONFIG[scheme]["primaryColor"], background) >= PART, background


def test_charts_on_screen_have_the_palette_of_exported_ones():
    assert CONFIG["chartCategoricalColors"] == list(style.CATEGORIES)
    assert CONFIG["chartSequentialColors"] == list(style.SEQUENCE)


def test_scales_have_the_ten_steps_that_streamlit_asks_for():
    assert len(style.SEQUENCE) == 10
    assert all(luminance(light) > luminance(dark) for light, dark in pairwise(style.SEQUENCE))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_accent_comes_from_the_palette(scheme):
    assert CONFIG[scheme]["primaryColor"] in style.SEQUENCE


def test_every_font_is_served_from_here_under_its_licence():
    names = {re.fullmatch(r"app/static/([\w-]+\.woff2)", face["url"])[1] for face in CONFIG["fontFaces"]}
    assert names == {path.name for path in STATIC.glob("*.woff2")}
    assert "SIL Open Font License" in (STATIC / "inter-LICENSE.txt").read_text(encoding="utf-8")
