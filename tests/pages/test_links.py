"""An address says by keys what was chosen, and opens to the same view."""

import pytest

from mpd2.studio.shell.scenario import DEFAULT_RUN

CHOICES = {
    "readers": {
        "run": ("selectbox", "paper"),
        "cohorts": ("button_group", ["refuge", "origa"]),
        "readers_topic": ("segmented_control", "agreement"),
    },
    "overview": {"view": ("segmented_control", "retention")},
    "risk": {"signal": ("segmented_control", "structural"), "methods": ("multiselect", ["ai", "verma"])},
    "map": {"layout": ("segmented_control", "one")},
    "robustness": {"resplit_metric": ("selectbox", "Sens")},
    "ablations": {"study": ("segmented_control", "budget")},
    "case": {"order": ("selectbox", "disputed")},
    "about": {"part": ("segmented_control", "sources")},
    "retrain": {"lab": ("segmented_control", "grid")},
}
"""By page and by name in its address: the kind of widget, and a choice that is not the usual one."""


@pytest.mark.parametrize(("key", "choices"), CHOICES.items(), ids=CHOICES)
def test_what_was_chosen_opens_again_from_its_address(open_page, key, choices):
    here = open_page(key, run=None, point=None)
    for name, (kind, choice) in choices.items():
        assert here.session_state[name] != choice
        assert name not in here.query_params
        getattr(here, kind)(key=name).set_value(choice)
    here.run()
    said = {name: here.query_params[name] for name in choices}
    assert said == {name: choice for name, (_, choice) in choices.items()}
    there = open_page(key, **said)
    assert {name: there.session_state[name] for name in choices} == said


@pytest.mark.parametrize(
    ("view", "name", "kind", "choice"),
    [
        ("paired", "paired", "selectbox", "F1"),
        ("tradeoff", "cost", "segmented_control", "ExpertCost"),
        ("cohorts", "cohort-cohorts", "pills", "origa"),
        ("retention", "cohort-retention", "pills", "refuge"),
    ],
)
def test_what_was_chosen_in_a_tab_opens_again_from_its_address(open_page, view, name, kind, choice):
    here = open_page("overview", view=view)
    assert here.session_state[name] != choice
    getattr(here, kind)(key=name).set_value(choice).run()
    assert here.query_params[name] == choice
    there = open_page("overview", **{key: here.query_params[key] for key in (name, "view") if key in here.query_params})
    assert (there.session_state["view"], there.session_state[name]) == (view, choice)


def test_the_usual_choice_needs_no_word_in_the_address_and_none_of_many_needs_one(open_page):
    page = open_page("risk", signal="structural", methods="ai")
    page.segmented_control(key="signal").set_value("reliability")
    page.multiselect(key="methods").set_value([]).run()
    assert "signal" not in page.query_params
    assert page.query_params["methods"] == ""
    assert open_page("risk", methods="").session_state["methods"] == []


def test_a_key_that_nothing_has_is_forgotten(open_page):
    page = open_page("overview", run="MPD² (paper)", cohorts=["nowhere"], view="nonsense")
    assert not page.exception
    assert [page.session_state[name] for name in ("run", "cohorts", "view")] == [DEFAULT_RUN, [], "overall"]
    assert not {"run", "cohorts", "view"} & set(page.query_params)


def test_a_link_to_what_is_not_there_says_so_until_something_else_is_chosen(open_page):
    page = open_page("readers", run="nobody's", cohorts=["refuge", "nowhere"], split="train")
    assert not page.exception
    assert [page.session_state[name] for name in ("run", "cohorts", "split")] == [DEFAULT_RUN, ["refuge"], "test"]
    assert [warning.value for warning in page.warning] == [
        "There is no run “nobody's” here; it may have been deleted. MPD²+ is shown instead.",
        "The link names the cohort “nowhere”, which is not shown here: that part of it is left out.",
        "The link names the split “train”, which is not shown here: that part of it is left out.",
    ]
    page.switch_page("../../pages/about.py").run()
    assert len(page.warning) == 3
    page.selectbox(key="run").set_value("paper").run()
    assert not page.warning


def test_a_link_shows_what_it_names_and_loads_nothing(open_page):
    page = open_page("about", run="![x](https://example.org/x.png) <b>$a$")
    assert "\\!\\[x\\]\\(https\\://example.org/x.png\\) \\<b\\>\\$a\\$" in page.warning[0].value
    assert len(open_page("about", run="x" * 5000).warning[0].value) < 500


@pytest.mark.parametrize("link", [{}, {"run": "paper", "cohorts": "refuge", "split": "val"}, {"cohorts": ""}])
def test_a_link_that_can_be_followed_is_followed_without_a_word(open_page, link):
    assert not open_page("about", **link).warning


def test_another_page_says_what_was_chosen_around_the_one_before(open_page):
    page = open_page("readers", run="paper", cohorts=["refuge"])
    for name in ("run", "cohorts"):  # as the menu does
        del page.query_params[name]
    page.switch_page("../../pages/risk.py").run()
    assert page.session_state["run"] == "paper"
    assert (page.query_params["run"], page.query_params["cohorts"]) == ("paper", "refuge")
