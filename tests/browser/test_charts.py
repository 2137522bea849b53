"""Charts in a browser: on the first screen of a beamer, and with text that can be read in light and dark."""

from time import monotonic

import pytest
from contrasts import TEXT, contrast
from playwright.sync_api import expect
from visits import shown_in

from mpd2.cli.bench.ui import PATIENCE

BEAMER = {"width": 1280, "height": 720}
CHARTS = '[data-testid="stVegaLiteChart"], [data-testid="stPlotlyChart"]'
COLOURS = """() => {
    const page = getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor
    const ground = text => text.closest('.annotation-text-g, .colorbar')?.querySelector('.bg, .cbbg')
    return [...document.querySelectorAll('[data-testid=stVegaLiteChart] text, [data-testid=stPlotlyChart] text')]
        .filter(text => text.textContent.trim() && getComputedStyle(text).opacity > 0)
        .map(text => [text.textContent, getComputedStyle(text).fill,
                      ground(text) ? getComputedStyle(ground(text)).fill : page])
}"""
"""Every text of a chart, its colour, and that of the box or the page it stands on."""


@pytest.fixture(scope="module", params=["risk", "map", "robustness", "robustness?new_cohort=refuge", "ablations"])
def page(request, visit):
    page = visit(request.param)
    yield page
    page.close()


def test_the_main_chart_is_above_the_fold_of_a_beamer(page):
    page.set_viewport_size(BEAMER)
    page.wait_for_timeout(500)  # charts follow the window with a delay
    chart = page.locator(CHARTS).first
    expect(chart).to_be_visible()
    place = chart.bounding_box()
    assert place["y"] + place["height"] <= BEAMER["height"]


def hard_to_read(page) -> list[str]:
    """Text of charts that stands out too little, and that there is hardly any."""
    texts = page.evaluate(COLOURS)
    return [text for text, *colours in texts if contrast(*colours) < TEXT] if len(texts) > 5 else ["hardly any text"]


@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_the_text_of_charts_can_be_read(page, scheme):
    shown_in(page, scheme)
    page.wait_for_timeout(1000)
    end = monotonic() + PATIENCE
    while hard_to_read(page) and monotonic() < end:  # charts follow with a delay
        page.wait_for_timeout(100)
    assert hard_to_read(page) == []
