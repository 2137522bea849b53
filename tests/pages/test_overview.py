"""The Overview page."""

import base64
import json
import re

import pyarrow as pa
import pytest

from mpd2.core.text import decimal, interval
from mpd2.evaluation.curves import SCORES
from mpd2.evaluation.metrics import METRICS
from mpd2.methods.registry import NOT_DEPLOYABLE
from mpd2.present.charts.kit.sparkline import sparkline
from mpd2.present.words.answer import LABELS
from mpd2.present.words.side_by_side import BEST, TIED
from mpd2.studio.budget import state
from mpd2.studio.budget import store as budget_store
from mpd2.studio.overview.tabs import COSTS_FIRST
from mpd2.studio.shell import store
from mpd2.studio.shell.scenario import Scenario


@pytest.fixture
def overview(open_page):
    return open_page("overview")


def table(page):
    return page.dataframe[0].value


def displayed(element):
    """What a table shows in its cells, in place of the values it is sorted by."""
    return pa.ipc.open_stream(element.proto.arrow_data.styler.display_values).read_pandas()


def styles(element):
    """The cells, by row and column, that each property of CSS is set for."""
    found = {}
    for cells, declared in re.findall(r"([^{}]+)\{([^}]*)\}", element.proto.arrow_data.styler.styles):
        places = [(int(row), int(column)) for row, column in re.findall(r"row(\d+)_col(\d+)", cells)]
        for name in re.findall(r"([\w-]+):", declared):
            found.setdefault(name, []).extend(places)
    return found


def drawn(chart, column):
    """Method and number of every row behind a chart that has such a column."""
    for dataset in chart.proto.datasets:
        rows = pa.ipc.open_stream(dataset.data.data).read_pandas()
        if {"method", column} <= set(rows):
            yield from zip(rows["method"], rows[column], strict=True)


def small_prints(page):
    """The interval and the difference under each number, in the order of the numbers."""
    return [text.value for text in page.markdown if text.value.startswith(":small[")]


def test_it_opens_with_a_sentence_and_five_numbers(overview):
    assert not overview.exception
    assert overview.markdown[0].value.startswith("**Sending ")
    assert [metric.label for metric in overview.metric] == [
        "Total cost", "Clinical cost", "Sensitivity", "Cases sent", "Busiest reader",
    ]  # fmt: skip
    assert len(small_prints(overview)) == 5


def test_every_number_and_both_ends_of_its_interval_are_those_of_the_table(overview):
    for metric, shown, small in zip(LABELS, overview.metric, small_prints(overview), strict=True):
        rows = store.table("collapse" if metric == "Top1" else "overall", Scenario())
        (row,) = rows[(rows["method"] == "studio") & (rows["metric"] == metric)].to_dict("records")
        assert row["low"] < row["value"] < row["high"]
        assert shown.value == METRICS[metric].shown(row["value"])
        assert f":gray[{METRICS[metric].interval(row['low'], row['high'])}]" in small
    assert table(overview)["Total cost"].iloc[0] == pytest.approx(float(overview.metric[0].value), abs=0.0005)


@pytest.mark.parametrize("run", ["studio", "mpd2-plus", "always-defer"])
def test_better_is_green_and_worse_is_red(open_page, run):
    page = open_page("overview", run=run)
    paired = store.table("paired", Scenario(run)).query("reference == @run and method == 'ai'").set_index("metric")
    for metric, small in zip(LABELS, small_prints(page), strict=True):
        if metric == "Top1":  # the AI asks nobody
            continue
        gap, merit = -paired.at[metric, "difference"], METRICS[metric].merit
        sure = paired.at[metric, "low"] > 0 or paired.at[metric, "high"] < 0
        expected = (":green[better]" if gap * merit > 0 else ":red[worse]") if sure else ":gray[within chance]"
        assert f"**{METRICS[metric].change(gap)}**" in small
        assert (expected in small) == bool(merit)
        assert small.count(":green[") + small.count(":red[") <= 1


def test_the_help_of_a_number_has_its_differences_with_both_ends(overview):
    paired = store.table("paired", Scenario()).query("reference == 'studio' and metric == 'TotalCost'")
    for other in ("ai", "mpd2-plus"):
        (row,) = paired[paired["method"] == other].to_dict("records")
        ends = interval(-row["high"], -row["low"], signed=True)
        text = f"{decimal(-row['difference'], signed=True)} against {row['title']} (95\xa0% interval {ends}), "
        assert text + ("better" if row["difference"] > 0 else "worse") in overview.metric[0].help


@pytest.mark.parametrize(
    ("run", "against"), [("studio", "AI only (busiest reader: from MPD²+), on"), ("ai", "MPD²+, on")]
)
def test_it_says_whom_the_numbers_differ_from(open_page, run, against):
    captions = [caption.value for caption in open_page("overview", run=run).caption]
    assert any(f"Coloured: difference from {against} the same resampled cases" in text for text in captions)


def test_the_cheapest_other_method_is_named(overview):
    assert any("The cheapest other method, MPD²+, is cheaper still" in caption.value for caption in overview.caption)


def test_every_number_has_its_small_curve_over_the_share_sent(overview):
    drawn = [image.proto.imgs[0] for image in overview.get("image")]
    assert [image.alt for image in drawn] == [f"{metric.label} as more cases are sent" for metric in overview.metric]
    curves = budget_store.small_curves(Scenario())
    alone = store.table("overall", Scenario()).query("method == 'ai' and cohort == 'all' and metric == 'TotalCost'")
    assert curves["TotalCost"][0] == curves["ClinicalCost"][0] == pytest.approx(alone["value"].item())
    assert curves["Defer"] == sorted(curves["Defer"])


def test_a_tie_is_what_the_paired_difference_to_the_best_does_not_tell_apart(overview):
    shown = overview.dataframe[0]
    cells = dict(zip(table(overview)["Method"], displayed(shown)["Total cost"], strict=True))
    rows = store.table("overall", Scenario()).query("metric == 'TotalCost'").set_index("method")
    titles = rows["title"].to_dict()
    assert cells[titles["mpd2-plus"]].endswith(BEST)
    paired = store.table("paired", Scenario()).query("reference == 'mpd2-plus' and metric == 'TotalCost'")
    tied = paired[(paired["low"] <= 0) & (paired["high"] >= 0)]["method"]
    marked = {name for name, title in titles.items() if cells.get(title, "").endswith(TIED)}
    assert marked == set(tied) - NOT_DEPLOYABLE


def test_ties_follow_the_pairs_and_not_the_interval_of_the_best(overview):
    """Verma one-vs-all, plain has an F1 inside the interval of the best; so have others that differ beyond chance."""
    rows = store.table("overall", Scenario()).query("metric == 'F1'").set_index("method")
    best = rows.drop(index=list(NOT_DEPLOYABLE))["value"].idxmax()
    inside = rows[rows["value"].between(rows.at[best, "low"], rows.at[best, "high"])].index.drop(best)
    cells = dict(zip(table(overview)["Method"], displayed(overview.dataframe[0])["F1"], strict=True))
    marked = {name for name in rows.index if cells.get(rows.at[name, "title"], "").endswith(TIED)}
    assert marked < set(inside)


def test_best_single_reader_says_where_it_is_the_ai(open_page):
    page = open_page("overview", view="cohorts")
    methods = table(page).set_index("Method")
    assert methods.at["Best single reader †", "REFUGE share sent"] == 0
    notes = [caption.value for caption in page.caption if caption.value.startswith("†")]
    assert notes == [
        "† Best single reader: in REFUGE the AI decides every case, because the only reader it asks, Chákṣu 4, has "
        "read no case there."
    ]
    chosen = open_page("overview", cohorts=["chaksu"])
    assert "Best single reader" in set(table(chosen)["Method"])
    assert not any(caption.value.startswith("†") for caption in chosen.caption)


@pytest.mark.parametrize("run", ["ai", "mpd2-plus", "always-defer"])
def test_runs_of_every_kind_can_be_looked_at(run, open_page):
    assert not open_page("overview", run=run).exception


def test_every_method_has_its_distance_to_the_active_run(overview):
    paired = store.table("paired", Scenario()).query("reference == 'studio' and metric == 'TotalCost'")
    shown = table(overview).assign(Method=table(overview)["Method"].str.removesuffix(" †"))
    shown = shown.set_index("Method")["Δ total"].dropna()
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


def test_one_cohort_has_all_its_metrics(overview):
    overview.segmented_control(key="view").set_value("cohorts").run()
    beside = list(table(overview))
    overview.pills(key="cohort-cohorts").set_value("origa").run()
    assert beside[1:4] == ["REFUGE total cost", "REFUGE share sent", "REFUGE F1"]
    assert "Accuracy" in table(overview)


def test_published_values_can_be_shown(overview):
    overview.toggle(key="methods-published").set_value(True).run()
    assert (table(overview)["Method"] == "in the paper").any()


def test_a_slice_has_its_own_numbers_and_none_of_the_papers(open_page):
    page = open_page("overview", cohorts=["origa"])
    assert not page.exception
    assert "n = 163" in page.markdown[0].value
    assert page.toggle(key="methods-published").disabled


def test_a_link_to_a_view_nobody_knows_opens_the_usual_one(open_page):
    page = open_page("overview", view="Nonsense", run="nobody")
    assert not page.exception
    assert page.session_state["view"] == "overall"
    assert page.session_state["run"] == "studio"


@pytest.mark.parametrize(
    ("said", "view"),
    [({"paired": "F1"}, "paired"), ({"cost": "ExpertCost"}, "tradeoff"), ({"view": "collapse"}, "collapse")],
)
def test_links_from_before_there_were_tabs_open_what_they_are_about(open_page, said, view):
    page = open_page("overview", **said)
    assert not page.exception
    assert page.session_state["view"] == view
    for key, value in said.items():
        assert page.session_state[key] == value


def test_only_the_chosen_tab_is_drawn(overview):
    assert len(overview.dataframe) == 1
    overview.segmented_control(key="view").set_value("paired").run()
    assert not overview.exception
    assert not overview.dataframe
    overview.segmented_control(key="view").set_value("tradeoff").run()
    assert len(overview.get("vega_lite_chart") or overview.get("arrow_vega_lite_chart")) == 3


def test_every_small_curve_is_that_of_its_number_with_the_dot_at_the_share_sent(overview):
    curves, own = budget_store.small_curves(Scenario()), budget_store.day(Scenario(), state.usual()).share
    assert own == pytest.approx(float(overview.metric[3].value.rstrip("\xa0%")) / 100, abs=0.005)
    pictures = [base64.b64decode(image.proto.imgs[0].url.split(",")[1]).decode() for image in overview.get("image")]
    assert pictures == [sparkline(curves[metric], own) for metric in LABELS]


def test_the_active_run_is_tinted_the_best_bold_and_what_cannot_be_deployed_grey(open_page):
    page = open_page("overview", run="paper")
    looks = styles(page.dataframe[0])
    methods = table(page)["Method"]
    titles = dict(enumerate(methods))
    rows = {name: {titles[row] for row, _ in cells} for name, cells in looks.items()}
    assert rows["background-color"] == {"MPD² (paper)"}
    assert rows["color"] == {"Per-case oracle (not deployable)"}
    shown = displayed(page.dataframe[0])
    bold = {(row, column) for row, column in looks["font-weight"]}
    starred = {(row, column) for row in range(len(shown)) for column, cell in enumerate(shown.iloc[row])
               if str(cell).endswith(BEST)}  # fmt: skip
    assert starred
    assert bold == starred


def test_every_column_is_explained_by_its_own_metric(overview):
    columns = json.loads(overview.dataframe[0].proto.columns)
    costs = store.cohort().manifest.default_costs()
    for metric in COSTS_FIRST:
        assert columns[METRICS[metric].heading]["help"] == METRICS[metric].explained(costs)


@pytest.mark.parametrize("cost", ["ExpertCost", "TotalCost"])
def test_a_trade_off_is_drawn_of_the_cost_chosen(open_page, cost):
    page = open_page("overview", view="tradeoff", cost=cost)
    for chart, score in zip(page.get("vega_lite_chart")[1:], SCORES, strict=True):
        planes = store.table("tradeoff", Scenario())
        rows = planes[(planes["score"] == score) & (planes["cost"] == cost)]
        assert dict(drawn(chart, "cost_value")) == dict(zip(rows["method"], rows["cost_value"], strict=True))
        assert dict(drawn(chart, "score_value")) == dict(zip(rows["method"], rows["score_value"], strict=True))


@pytest.mark.parametrize("metric", ["TotalCost", "Sens"])
def test_differences_are_drawn_of_the_metric_chosen_against_the_active_run(open_page, metric):
    page = open_page("overview", run="paper", view="paired", paired=metric)
    rows = store.table("paired", Scenario("paper")).query("reference == 'paper' and metric == @metric")
    chart = page.get("vega_lite_chart")[1]
    for shown, column in (("value", "difference"), ("low", "low"), ("high", "high")):
        assert dict(drawn(chart, shown)) == dict(zip(rows["method"], rows[column], strict=True))
