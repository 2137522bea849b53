"""The Overview page."""

import base64
import json
import re

import pandas as pd
import pyarrow as pa
import pytest
from strategies import TASK

from mpd2.core.text import decimal, interval
from mpd2.core.workspace import DEFAULT
from mpd2.evaluation.clinical.per_thousand import Programme
from mpd2.evaluation.curves import SCORES
from mpd2.evaluation.metrics import METRICS
from mpd2.methods.registry import NOT_DEPLOYABLE
from mpd2.planning.floors import Floor
from mpd2.present.charts.icon_array import icon_array, in_words
from mpd2.present.charts.kit.sparkline import sparkline
from mpd2.present.words.answer import LABELS
from mpd2.present.words.people import sentences
from mpd2.present.words.side_by_side import BEST, TIED
from mpd2.studio.budget import state
from mpd2.studio.budget import store as budget_store
from mpd2.studio.overview import store as reads
from mpd2.studio.overview.tabs import RATES_FIRST
from mpd2.studio.shell import results, store
from mpd2.studio.shell.scenario import Scenario

CHEAPEST = Scenario("studio", floor=None)
POINT = Scenario("mpd2-plus", floor=Floor())


@pytest.fixture
def overview(open_page):
    """The rates of a run at the paper's operating point."""
    return open_page("overview", run="studio", point="cheapest", units="rates")


@pytest.fixture
def at_floor(open_page):
    """What one sees first: a thousand people at the AI's own sensitivity."""
    return open_page("overview", run="mpd2-plus", point="ai")


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
    return [text.value for text in page.markdown if text.value.startswith(":small[:gray[")]


def pictures(page):
    """Every picture of people as SVG with its alternative text."""
    drawn = [image.proto.imgs[0] for image in page.get("image")]
    return [(base64.b64decode(image.url.split(",")[1]).decode(), image.alt) for image in drawn]


def people(about, **programme):
    rows = reads.people(about, Programme(**programme))
    return rows[rows["method"] == about.run].set_index("quantity")


def test_it_opens_with_a_sentence_and_a_thousand_people_before_and_after(at_floor):
    assert not at_floor.exception
    said = sentences(reads.people(POINT, Programme()), "mpd2-plus", TASK, Floor(), store.choice("mpd2-plus", POINT))
    assert at_floor.markdown[0].value == f"**{said.headline}**  \n:small[{said.rates} {said.verdict}]"
    assert said.headline.startswith(("At the AI's own sensitivity", "Set to keep the AI's own sensitivity"))
    cells = [reads.cells(name, POINT, Programme()) for name in ("ai", "mpd2-plus")]
    assert pictures(at_floor) == [(icon_array(people, TASK), in_words(people, TASK)) for people in cells]
    for people, shown in zip(cells, at_floor.markdown[1:3], strict=True):
        totals = people.groupby("outcome")["people"].sum()
        assert f"**{totals['missed']}** missed" in shown.value
        assert f"**{totals['alarm']}** false alarms" in shown.value
    assert not at_floor.metric


def test_the_numbers_stand_beside_the_ai_alone_and_the_recalibrated_ai(at_floor):
    numbers = table(at_floor).set_index("")
    assert list(numbers) == ["MPD²+", "Recalibrated AI", "AI alone", "Less the AI alone"]
    rows = people(POINT)
    for quantity, name in (("missed", "Glaucomas missed"), ("alarm", "False alarms"), ("read", "Read by a reader")):
        row = rows.loc[quantity]
        ends = f"({round(row['low'])} to {round(row['high'])})"
        assert numbers.at[name, "MPD²+"] == f"{row['whole']:.0f} {ends}"
    assert numbers.at["Read by a reader", "AI alone"] == numbers.at["Read by a reader", "Recalibrated AI"] == "0"


def test_the_gain_is_split_into_recalibration_and_readers(at_floor):
    rows = reads.gain(POINT, Programme())
    chart = at_floor.get("vega_lite_chart")[0]
    shown = pd.concat([pa.ipc.open_stream(one.data.data).read_pandas() for one in chart.proto.datasets])
    alarms = rows[(rows["quantity"] == "alarm") & (rows["step"] != "both")]
    drawn_alarms = shown[shown.get("outcome") == "false alarms"]["fewer"].tolist()
    assert drawn_alarms == pytest.approx((-alarms["change"]).tolist())


def test_another_prevalence_changes_people_but_no_rate_and_is_told(open_page):
    page = open_page("overview", run="mpd2-plus", point="ai", prevalence="3")
    assert not page.exception
    assert "Prevalence was changed from 14.8\xa0% among these cases to 3\xa0%." in [one.value for one in page.caption]
    usual, rare = people(POINT), people(POINT, prevalence=0.03)
    assert rare.at["missed", "value"] < usual.at["missed", "value"] / 4
    assert f"**{rare.at['missed', 'whole']:.0f}** missed" in page.markdown[2].value
    assert rare.at["Sens", "value"] == pytest.approx(usual.at["Sens", "value"])


def test_money_and_a_year_are_told_where_they_are_given(open_page, at_floor):
    assert "work-ups" not in " ".join(table(at_floor)[""])
    page = open_page(
        "overview", run="mpd2-plus", point="ai", price="20", work_up="150", year="20000", minutes="6", currency="US$"
    )
    assert not page.exception
    row = people(POINT, price=20, work_up=150, minutes=6)
    year = [text.value for text in page.markdown if text.value.startswith("In a year with 20,000 people")]
    assert len(year) == 1
    assert f"US\\$\xa0{20 * row.at['money', 'value']:,.0f}" in year[0]
    assert f"{20 * row.at['hours', 'value']:,.0f} hours" in year[0]
    assert table(page).set_index("").at["Readings and work-ups", "MPD²+"].startswith("US$\xa0")


def test_the_ai_alone_has_one_picture_and_nothing_to_split(open_page):
    page = open_page("overview", run="ai", point="ai")
    assert not page.exception
    assert page.markdown[0].value.startswith("**The AI decides alone and nobody is asked")
    assert len(pictures(page)) == 1
    assert not page.get("vega_lite_chart")


@pytest.mark.parametrize("about", [
    {"cohorts": ["origa"], "point": "ai"}, {"split": "val", "point": "own", "floor": "97.5"},
    {"point": "own", "floor": "90", "floor_of": "Spec", "sure": "true"}, {"point": "cheapest", "bound": "true"},
])  # fmt: skip
def test_every_point_and_slice_has_its_sentence_and_pictures(open_page, about):
    page = open_page("overview", run="mpd2-plus", **about)
    assert not page.exception
    assert page.markdown[0].value.startswith("**")
    assert len(pictures(page)) == 2


def test_the_first_tab_says_at_what_methods_are_compared(open_page):
    names = {
        "ai": "Methods at this sensitivity", "cheapest": "All methods",
    }  # fmt: skip
    for point, name in names.items():
        page = open_page("overview", run="mpd2-plus", point=point, units="rates", view="collapse")
        assert page.segmented_control(key="view").options[0] == name


def test_as_in_the_paper_is_at_the_papers_point_whatever_the_sidebar_says(open_page):
    page = open_page("overview", run="mpd2-plus", point="ai", units="rates", view="paper")
    assert not page.exception
    stored = results.table("overall", Scenario("mpd2-plus", floor=None)).query("metric == 'TotalCost'")
    shown = table(page).assign(Method=table(page)["Method"].str.removesuffix(" †")).set_index("Method")["Total cost"]
    assert shown.to_dict() == pytest.approx(dict(zip(stored["title"], stored["value"], strict=True)))
    assert any("total cost from" in text.value for text in page.markdown)
    page.toggle(key="methods-published").set_value(True).run()
    assert (table(page)["Method"] == "in the paper").any()


def test_cohorts_are_followed_by_subgroups_and_calibration_has_a_tab(open_page):
    page = open_page("overview", run="mpd2-plus", point="ai", units="rates", view="cohorts")
    assert not page.exception
    assert [heading.value for heading in page.subheader] == ["Subgroups, under the active run"]
    assert page.segmented_control(key="subgroup_metric").value == "Sens"
    page = open_page("overview", run="mpd2-plus", point="ai", units="rates", calibrated_reader="0")
    assert not page.exception
    assert page.session_state["view"] == "calibration"
    assert any("with glaucoma" in chart.proto.spec for chart in page.get("vega_lite_chart"))


def test_the_decision_curve_and_the_map_of_winners_have_their_tab(open_page):
    about = {"run": "mpd2-plus", "point": "ai", "units": "rates", "cohorts": "chaksu"}
    page = open_page("overview", **about, view="curve")
    assert not page.exception
    assert any("MPD²+ is ahead of Recalibrated AI beyond chance." in text.value for text in page.markdown)
    grid = open_page("overview", **about, curve_part="map")
    assert not grid.exception
    assert grid.session_state["view"] == "curve"
    assert any(text.value.startswith("Of 70 combinations of what a miss weighs") for text in grid.markdown)


def test_rates_are_five_numbers(overview):
    assert not overview.exception
    assert overview.markdown[0].value.startswith("**At the lowest total cost, ")
    assert [metric.label for metric in overview.metric] == [
        "Sensitivity", "Specificity", "Cases sent", "Total cost", "Busiest reader",
    ]  # fmt: skip
    assert len(small_prints(overview)) == 5


def test_every_number_and_both_ends_of_its_interval_are_those_of_the_table(overview):
    for metric, shown, small in zip(LABELS, overview.metric, small_prints(overview), strict=True):
        rows = results.table("collapse" if metric == "Top1" else "overall", CHEAPEST)
        (row,) = rows[(rows["method"] == "studio") & (rows["metric"] == metric)].to_dict("records")
        assert row["low"] < row["value"] < row["high"]
        assert shown.value == METRICS[metric].shown(row["value"])
        assert f":gray[{METRICS[metric].interval(row['low'], row['high'])}]" in small
    assert table(overview)["Total cost"].iloc[0] == pytest.approx(float(overview.metric[3].value), abs=0.0005)


@pytest.mark.parametrize("run", ["studio", "mpd2-plus", "always-defer"])
def test_better_is_green_and_worse_is_red(open_page, run):
    page = open_page("overview", run=run, point="cheapest", units="rates")
    paired = (
        results.table("paired", Scenario(run, floor=None))
        .query("reference == @run and method == 'ai'")
        .set_index("metric")
    )
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
    paired = results.table("paired", CHEAPEST).query("reference == 'studio' and metric == 'TotalCost'")
    for other in ("ai", "mpd2-plus"):
        (row,) = paired[paired["method"] == other].to_dict("records")
        ends = interval(-row["high"], -row["low"], signed=True)
        text = f"{decimal(-row['difference'], signed=True)} against {row['title']} (95\xa0% interval {ends}), "
        assert text + ("better" if row["difference"] > 0 else "worse") in overview.metric[3].help


@pytest.mark.parametrize(
    ("run", "against"), [("studio", "AI only (busiest reader: from MPD²+), on"), ("ai", "MPD²+, on")]
)
def test_it_says_whom_the_numbers_differ_from(open_page, run, against):
    captions = [caption.value for caption in open_page("overview", run=run, point="cheapest", units="rates").caption]
    assert any(f"Coloured: difference from {against} the same resampled cases" in text for text in captions)


def test_the_cheapest_other_method_is_named(overview):
    assert any("The cheapest other method, MPD²+, is cheaper still" in caption.value for caption in overview.caption)


def test_every_number_has_its_small_curve_over_the_share_sent(overview):
    drawn = [image.proto.imgs[0] for image in overview.get("image")]
    assert [image.alt for image in drawn] == [f"{metric.label} as more cases are sent" for metric in overview.metric]
    curves = budget_store.small_curves(CHEAPEST)
    alone = results.table("overall", CHEAPEST).query("method == 'ai' and cohort == 'all' and metric == 'TotalCost'")
    assert curves["TotalCost"][0] == pytest.approx(alone["value"].item())
    assert curves["Defer"] == sorted(curves["Defer"])


def test_a_tie_is_what_the_paired_difference_to_the_best_does_not_tell_apart(overview):
    shown = overview.dataframe[0]
    cells = dict(zip(table(overview)["Method"], displayed(shown)["Total cost"], strict=True))
    rows = results.table("overall", CHEAPEST).query("metric == 'TotalCost'").set_index("method")
    titles = rows["title"].to_dict()
    assert cells[titles["mpd2-plus"]].endswith(BEST)
    paired = results.table("paired", CHEAPEST).query("reference == 'mpd2-plus' and metric == 'TotalCost'")
    tied = paired[(paired["low"] <= 0) & (paired["high"] >= 0)]["method"]
    marked = {name for name, title in titles.items() if cells.get(title, "").endswith(TIED)}
    assert marked == set(tied) - NOT_DEPLOYABLE


def test_ties_follow_the_pairs_and_not_the_interval_of_the_best(overview):
    """Verma one-vs-all, plain has an F1 inside the interval of the best; so have others that differ beyond chance."""
    rows = results.table("overall", CHEAPEST).query("metric == 'F1'").set_index("method")
    best = rows.drop(index=list(NOT_DEPLOYABLE))["value"].idxmax()
    inside = rows[rows["value"].between(rows.at[best, "low"], rows.at[best, "high"])].index.drop(best)
    cells = dict(zip(table(overview)["Method"], displayed(overview.dataframe[0])["F1"], strict=True))
    marked = {name for name in rows.index if cells.get(rows.at[name, "title"], "").endswith(TIED)}
    assert marked < set(inside)


def test_best_single_reader_says_where_it_is_the_ai(open_page):
    page = open_page("overview", run="studio", point="cheapest", units="rates", view="cohorts")
    methods = table(page).set_index("Method")
    assert methods.at["Best single reader †", "REFUGE share sent"] == 0
    notes = [caption.value for caption in page.caption if caption.value.startswith("†")]
    assert notes == [
        "† Best single reader: in REFUGE the AI decides every case, because the only reader it asks, Chákṣu 4, has "
        "read no case there."
    ]
    chosen = open_page("overview", run="studio", point="cheapest", units="rates", cohorts=["chaksu"])
    assert "Best single reader" in set(table(chosen)["Method"])
    assert not any(caption.value.startswith("†") for caption in chosen.caption)


@pytest.mark.parametrize("run", ["ai", "mpd2-plus", "always-defer"])
def test_runs_of_every_kind_can_be_looked_at(run, open_page):
    assert not open_page("overview", run=run, point="cheapest").exception


def test_every_method_has_its_distance_to_the_active_run(overview):
    paired = results.table("paired", CHEAPEST).query("reference == 'studio' and metric == 'TotalCost'")
    shown = table(overview).assign(Method=table(overview)["Method"].str.removesuffix(" †"))
    shown = shown.set_index("Method")["Δ total"].dropna()
    assert shown.to_dict() == pytest.approx(dict(zip(paired["title"], paired["difference"], strict=True)))


def test_any_run_can_be_the_active_one(open_page):
    page = open_page("overview", run="ai", point="cheapest", units="rates")
    assert not page.exception
    assert page.markdown[0].value.startswith("**The AI decides alone")
    assert table(page)["Method"].iloc[0] == "AI only"


def test_what_cannot_be_deployed_is_last_and_never_best(open_page):
    page = open_page("overview", run="oracle", point="cheapest", units="rates")
    assert not page.exception
    assert page.markdown[0].value.startswith("**With the answers in hand")
    assert table(page)["Method"].iloc[-1] == "Per-case oracle (not deployable)"


def test_every_view_has_every_method(overview):
    for view in ("collapse", "retention", "cohorts"):
        overview.segmented_control(key="view").set_value(view).run()
        assert not overview.exception
        assert len(table(overview)) == len(store.run_names(DEFAULT))


def test_one_cohort_has_all_its_metrics(overview):
    overview.segmented_control(key="view").set_value("cohorts").run()
    beside = list(table(overview))
    overview.pills(key="cohort-cohorts").set_value("origa").run()
    assert beside[1:5] == ["REFUGE sensitivity", "REFUGE specificity", "REFUGE share sent", "REFUGE total cost"]
    assert "Accuracy" in table(overview)


def test_published_values_can_be_shown(overview):
    overview.toggle(key="methods-published").set_value(True).run()
    assert (table(overview)["Method"] == "in the paper").any()


def test_a_slice_has_its_own_numbers_and_none_of_the_papers(open_page):
    page = open_page("overview", run="studio", point="cheapest", units="rates", cohorts=["origa"])
    assert not page.exception
    assert "n = 163" in page.markdown[0].value
    assert page.toggle(key="methods-published").disabled


def test_a_link_to_a_view_nobody_knows_opens_the_usual_one(open_page):
    page = open_page("overview", view="Nonsense", run="nobody", units="furlongs")
    assert not page.exception
    assert page.session_state["view"] == "overall"
    assert page.session_state["units"] == "people"
    assert page.session_state["run"] == Scenario().run


@pytest.mark.parametrize(
    ("said", "view"),
    [({"paired": "F1"}, "paired"), ({"cost": "ExpertCost"}, "tradeoff"), ({"view": "collapse"}, "collapse"),
     ({"methods-published": "true"}, "paper")],
)  # fmt: skip
def test_links_from_before_there_were_tabs_open_what_they_are_about(open_page, said, view):
    page = open_page("overview", **said)
    assert not page.exception
    assert page.session_state["view"] == view
    for key, value in said.items():
        assert page.session_state[key] == (True if value == "true" else value)


def test_only_the_chosen_tab_is_drawn(overview):
    assert len(overview.dataframe) == 1
    overview.segmented_control(key="view").set_value("paired").run()
    assert not overview.exception
    assert not overview.dataframe
    overview.segmented_control(key="view").set_value("tradeoff").run()
    assert len(overview.get("vega_lite_chart") or overview.get("arrow_vega_lite_chart")) == 3


def test_every_small_curve_is_that_of_its_number_with_the_dot_at_the_share_sent(overview):
    curves, own = budget_store.small_curves(CHEAPEST), budget_store.day(CHEAPEST, state.usual(Scenario())).share
    assert own == pytest.approx(float(overview.metric[2].value.rstrip("\xa0%")) / 100, abs=0.005)
    pictures = [base64.b64decode(image.proto.imgs[0].url.split(",")[1]).decode() for image in overview.get("image")]
    assert pictures == [sparkline(curves[metric], own) for metric in LABELS]


def test_the_active_run_is_tinted_the_best_bold_and_what_cannot_be_deployed_grey(open_page):
    page = open_page("overview", run="paper", point="cheapest", units="rates")
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
    costs = store.manifest(DEFAULT).default_costs()
    for metric in RATES_FIRST:
        assert columns[METRICS[metric].heading]["help"] == METRICS[metric].explained(costs)


@pytest.mark.parametrize("cost", ["ExpertCost", "TotalCost"])
def test_a_trade_off_is_drawn_of_the_cost_chosen(open_page, cost):
    page = open_page("overview", run="studio", point="cheapest", units="rates", view="tradeoff", cost=cost)
    for chart, score in zip(page.get("vega_lite_chart")[1:], SCORES, strict=True):
        planes = results.table("tradeoff", CHEAPEST)
        rows = planes[(planes["score"] == score) & (planes["cost"] == cost)]
        assert dict(drawn(chart, "cost_value")) == dict(zip(rows["method"], rows["cost_value"], strict=True))
        assert dict(drawn(chart, "score_value")) == dict(zip(rows["method"], rows["score_value"], strict=True))


@pytest.mark.parametrize("metric", ["TotalCost", "Sens"])
def test_differences_are_drawn_of_the_metric_chosen_against_the_active_run(open_page, metric):
    page = open_page("overview", run="paper", point="cheapest", units="rates", view="paired", paired=metric)
    rows = results.table("paired", Scenario("paper", floor=None)).query("reference == 'paper' and metric == @metric")
    chart = page.get("vega_lite_chart")[1]
    for shown, column in (("value", "difference"), ("low", "low"), ("high", "high")):
        assert dict(drawn(chart, shown)) == dict(zip(rows["method"], rows[column], strict=True))
