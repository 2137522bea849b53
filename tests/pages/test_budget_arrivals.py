"""Cases that come in one by one, on the Budget page."""

import pytest

from mpd2.studio.budget.arrivals import ANY_ORDER, NOT_SO, ORDERS


@pytest.fixture
def opened(open_page):
    """The page by a link, at this topic."""

    def visit(**link):
        return open_page("budget", split="val", budget_topic="arrivals", **link)

    return visit


def captions(page):
    return [text.value for text in page.caption]


def test_a_budget_is_kept_in_every_order_and_foresight_is_worth_something(opened):
    page = opened(budget="0.2")
    assert not page.exception
    rows = next(frame.value for frame in page.dataframe if "regret" in frame.value)
    assert rows["sent"].tolist() == [177] * (1 + ORDERS)
    assert 0 < rows["regret"][1:].mean() < 0.05
    assert any(f"in {ORDERS} orders of the same cases" in text.value for text in page.markdown)


def test_without_limits_the_order_does_not_matter(opened):
    assert ANY_ORDER in captions(opened())


def test_what_needs_the_whole_worklist_is_explained(opened):
    assert NOT_SO in captions(opened(budget="0.2", by_cohort="1"))


def test_a_capacity_a_day_is_scaled_to_the_cases_shown_here_too(opened):
    page = opened(total="30", day="300")
    rows = next(frame.value for frame in page.dataframe if "regret" in frame.value)
    assert rows["sent"][0] == 89  # 30 of 300 are 88.5 of 885
    assert rows["sent"].max() == 89
