"""The Case page finds a case, explains it, and lets it be changed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

OpenPage = Callable[..., AppTest]

SENT, OTHER = "r455", "o151"  # test cases of different cohorts


def texts(app: AppTest) -> str:
    """Everything written on the page."""
    kinds = (app.title, app.subheader, app.markdown, app.caption, app.info, app.warning, app.error)
    return "\n".join(element.value for kind in kinds for element in kind)


def press(app: AppTest, label: str) -> AppTest:
    return next(button for button in app.button if button.label == label).click().run()


@pytest.fixture
def page(open_page: OpenPage) -> AppTest:
    return open_page("case", case=SENT)


def test_the_link_opens_its_case_with_every_panel(page: AppTest) -> None:
    assert not page.exception
    told = texts(page)
    assert f"Case {SENT}, REFUGE, test" in told
    assert "the table has no photograph" in told
    for panel in ("Who could decide", "What was known", "Why", "What would change it", "Training cases most like it"):
        assert panel in told
    assert "The AI says" in told
    assert "**Budget.**" in told


def test_without_a_link_the_worklist_starts_at_its_most_costly_case_and_goes_on(open_page: OpenPage) -> None:
    page = open_page("case")
    assert "1 of 899" in texts(page)
    first = page.selectbox(key="case").value
    page = page.button(key="case_Next").click().run()
    assert "2 of 899" in texts(page)
    assert page.selectbox(key="case").value != first
    page = page.button(key="case_Previous").click().run()
    assert page.selectbox(key="case").value == first
    assert not page.exception


def test_another_order_puts_another_case_first(open_page: OpenPage) -> None:
    page = open_page("case")
    first = page.selectbox(key="case").options[0]
    page = page.selectbox(key="order").select("close").run()
    assert page.selectbox(key="case").options[0] != first


def test_the_filter_narrows_the_worklist(page: AppTest) -> None:
    page = page.multiselect(key="case_who").select("AI").run()
    assert 0 < len(page.selectbox(key="case").options) < 899
    assert f"Case {SENT}, REFUGE, test" in texts(page)  # the case at hand stays
    assert not page.exception


def test_an_unknown_id_is_refused_in_words(open_page: OpenPage) -> None:
    page = open_page("case", case="nobody")
    assert not page.exception
    assert "There is no case 'nobody' in the table" in page.error[0].value
    page = press(page, "Go to the worklist")
    assert not page.error


def test_a_training_case_is_not_judged(open_page: OpenPage) -> None:
    page = open_page("case", case="r826")
    assert "r826 is a train case" in page.warning[0].value


def test_a_case_of_another_slice_is_one_press_away(open_page: OpenPage) -> None:
    page = open_page("case", case=SENT, split="val")
    assert "another slice" in texts(page)
    page = press(page, "Go to its slice")
    assert f"Case {SENT}, REFUGE, test" in texts(page)


def test_a_method_without_a_router_says_what_it_cannot_show(page: AppTest) -> None:
    page = page.selectbox(key="run").select("mao").run()
    assert not page.exception
    told = texts(page)
    assert "has no deferral logit to take apart" in told
    assert "has no router to ask again" in told
    assert "**Budget.**" in told
    assert not page.slider


def test_an_edited_case_is_decided_anew_and_reset_brings_it_back(page: AppTest) -> None:
    before = [element.value for element in page.subheader]
    page = page.slider(key=f"whatif:{SENT}:vCDR").set_value(0.8).run()
    after = [element.value for element in page.subheader]
    assert after != before
    assert after[1] == before[1]  # the original stays as it was
    page = press(page, "Reset")
    assert [element.value for element in page.subheader] == before
    assert not page.exception


def test_with_every_reader_sent_home_the_ai_decides(page: AppTest) -> None:
    page = page.button_group(key=f"whatif:{SENT}:roster").set_value([]).run()
    assert not page.exception
    assert "No reader is available" not in texts(page)  # that is said of the real case only
    assert any(element.value.startswith("Leave it to the AI") for element in page.subheader)


def test_a_new_case_can_be_entered_by_hand(page: AppTest) -> None:
    page = page.button_group(key="whatif_start").set_value("new").run()
    assert not page.exception
    assert page.slider(key="whatif:new case:vCDR").value > 0
    assert "The truth is not known." in texts(page)


def test_a_pinned_case_is_shown_beside_this_one(open_page: OpenPage) -> None:
    page = open_page("case", case=SENT, pin=OTHER)
    assert f"Beside {OTHER}" in texts(page)
    page = press(page, "Unpin")
    assert f"Beside {OTHER}" not in texts(page)
    page = open_page("case", case=SENT, pin="nobody")
    assert "The pinned case nobody is not in this slice." in texts(page)


def test_a_note_stays_with_its_case_and_is_shown_only_where_it_is_written(page: AppTest) -> None:
    written = "<b>look</b> again ![x](http://x.test/x.png)"
    page.text_area(key=f"note:{SENT}").set_value(written)
    page = press(page, "Keep the note")
    assert not page.exception
    assert "x.test" not in texts(page)
    page = page.selectbox(key="case").select(OTHER).run()
    assert page.text_area(key=f"note:{OTHER}").value == ""
    page = page.selectbox(key="case").select(SENT).run()
    assert page.text_area(key=f"note:{SENT}").value == written


def test_the_drawing_can_be_taken_away_like_every_chart(page: AppTest) -> None:
    files = {button.proto.id.split("-")[-1] for button in page.get("download_button")}
    assert {"eye:csv", "eye:png", "eye:svg"} <= files
