"""The Overview page."""

import pytest

from mpd2.studio.budget import store as budget_store
from mpd2.studio.shell import store
from mpd2.studio.shell.scenario import Scenario


@pytest.fixture
def overview(open_page):
    return open_page("overview")


def table(page):
    return page.dataframe[0].value


def test_it_opens_with_a_sentence_and_five_numbers(overview):
    assert not overview.exception
    assert overview.markdown[0].value.startswith("**Sending ")
    assert [metric.label for metric in overview.metric] == [
        "Total cost", "Clinical cost", "Sensitivity", "Deferred", "Busiest reader",
    ]  # fmt: skip
    assert sum(text.value.startswith(":small[:gray[95\xa0% interval ") for text in overview.markdown) == 5


def test_the_numbers_are_those_of_the_table(overview):
    rows = store.table("overall", Scenario())
    own = rows[(rows["method"] == "studio") & (rows["metric"] == "TotalCost")]["value"].item()
    assert overview.metric[0].value == f"{own:.3f}"
    assert table(overview)["Total cost"].iloc[0] == pytest.approx(own)


def test_every_number_has_its_small_curve_over_the_share_sent(overview):
    drawn = [image.proto.imgs[0] for image in overview.get("image")]
    assert [image.alt for image in drawn] == [f"{metric.label} as more cases are sent" for metric in overview.metric]
    curves = budget_store.small_curves(Scenario())
    alone = store.table("overall", Scenario()).query("method == 'ai' and cohort == 'all' and metric == 'TotalCost'")
    assert curves["TotalCost"][0] == curves["ClinicalCost"][0] == pytest.approx(alone["value"].item())
    assert curves["Defer"] == sorted(curves["Defer"])


@pytest.mark.parametrize("run", ["ai", "mpd2-plus", "always"])
def test_runs_of_every_kind_can_be_looked_at(run, open_page):
    assert not open_page("overview", run=run).exception


def test_every_method_has_its_distance_to_the_active_run(overview):
    paired = store.table("paired", Scenario()).query("reference == 'studio' and metric == 'TotalCost'")
    shown = table(overview).set_index("Method")["Δ total"].dropna()
    assert shown.to_dict() == pytest.approx(dict(zip(paired["title"], paired["difference"], strict=True)))


def test_any_run_can_be_the_active_one(open_page):
    page = open_page("overview", run="ai")
    assert not page.exception
    assert page.markdown[0].value.startswith("**No case is sent")
    assert table(page)["Method"].iloc[0] == "AI only"


def test_what_cannot_be_deployed_is_last_and_never_best(open_page):
    page = open_page("overview", run="oracle")
    assert not page.exception
    assert page.markdown[0].value.startswith("**With the answers in hand")
    assert table(page)["Method"].iloc[-1] == "Per-case oracle (not deployable)"


def test_every_view_has_every_method(overview):
    for view in ("collapse", "retention", "cohorts"):
        overview.segmented_control(key="view").set_value(view).run()
        assert not overview.exception
        assert len(table(overview)) == len(store.run_names())


def test_one_cohort_has_all_its_figures(overview):
    overview.segmented_control(key="view").set_value("cohorts").run()
    beside = list(table(overview))
    overview.pills(key="cohort-cohorts").set_value("origa").run()
    assert beside[1:4] == ["REFUGE total cost", "REFUGE share deferred", "REFUGE F1"]
    assert "Accuracy" in table(overview)


def test_published_values_can_be_shown(overview):
    overview.toggle(key="methods-published").set_value(True).run()
    assert (table(overview)["Method"] == "in the paper").any()


def test_a_slice_has_its_own_figures_and_none_of_the_papers(open_page):
    page = open_page("overview", cohorts=["origa"])
    assert not page.exception
    assert "n = 163" in page.markdown[0].value
    assert page.toggle(key="methods-published").disabled


def test_a_link_to_a_view_nobody_knows_opens_the_usual_one(open_page):
    page = open_page("overview", view="Nonsense", run="nobody")
    assert not page.exception
    assert page.session_state["view"] == "overall"
    assert page.session_state["run"] == "studio"
