"""A run tried out on somebody's own table."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from places import DATA

from mpd2.clinic.access.actor import LOCAL
from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.errors import TableError, UserError
from mpd2.core.runs import Run, load_run
from mpd2.evaluation.metrics import COUNTED, evaluate
from mpd2.lab import uploads

TABLE = DATA / "glaucoma.csv"


@pytest.fixture(scope="module")
def run() -> Run:
    return load_run(DATA / "runs" / "studio")


@pytest.fixture(scope="module")
def example(benchmark: Cohort) -> Cohort:
    return uploads.read_own(uploads.example_table(TABLE).encode(), "example.csv", benchmark.manifest, by=LOCAL)


@pytest.fixture(scope="module")
def tried(run: Run, example: Cohort) -> uploads.Trial:
    return uploads.try_out(run, "Router", example, by=LOCAL)


def parquet(frame: pd.DataFrame) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pandas(frame), file)
    return file.getvalue()


def test_the_example_holds_val_cases_of_every_cohort(example: Cohort, benchmark: Cohort) -> None:
    assert np.bincount(example.source).tolist() == [20, 20, 20]
    assert set(example.ids) <= set(benchmark.subset(split="val").ids)


def test_the_worklist_is_what_is_counted(tried: uploads.Trial) -> None:
    asked = tried.outcome.decisions.consulted[0, :, 0]
    named = np.array(["ai", *tried.cohort.manifest.columns])[asked + 1]
    assert tried.worklist["action"].tolist() == named.tolist()
    assert tried.worklist["label"].tolist() == tried.outcome.decisions.label[0].tolist()
    assert tried.worklist["votes"].between(1, tried.routers).all()


def test_the_judgement_is_that_of_the_metrics(tried: uploads.Trial) -> None:
    judged = uploads.judge(tried).set_index("metric")
    cohort = tried.cohort
    direct = evaluate(cohort, tried.outcome.decisions, cohort.manifest.default_costs()).iloc[0]
    for metric in judged.index:
        assert metric in COUNTED
        assert judged.loc[metric, "value"] == pytest.approx(direct[metric])
    assert judged.loc["Acc", "ai_value"] == pytest.approx((cohort.ai_label == cohort.truth).mean())
    np.testing.assert_allclose(judged["value"] - judged["ai_value"], judged["difference"], atol=1e-12)
    assert (judged["low"] <= judged["value"] + 1e-9).all()


def test_only_cases_with_truth_and_word_are_judged(run: Run, example: Cohort) -> None:
    truth = example.truth.copy()
    truth[:10] = UNKNOWN
    silent = replace(example, truth=truth, decisions=np.full_like(example.decisions, UNKNOWN))
    tried = uploads.try_out(run, "Router", silent, by=LOCAL)
    kept = ~tried.outcome.decisions.deferred[0] & (truth != UNKNOWN)
    assert uploads.judge(tried)["n"].unique().tolist() == [kept.sum()]
    assert tried.worklist.loc[tried.worklist["action"] != "ai", "label"].isna().all()


def test_without_a_truth_nothing_is_judged_but_all_is_routed(run: Run, example: Cohort) -> None:
    tried = uploads.try_out(run, "Router", replace(example, truth=np.full(len(example), UNKNOWN)), by=LOCAL)
    assert uploads.judge(tried).empty
    assert len(tried.worklist) == len(example)


def test_one_case_alone_can_be_tried(run: Run, example: Cohort) -> None:
    tried = uploads.try_out(run, "Router", example.rows(np.array([0])), by=LOCAL)
    assert uploads.judge(tried)["n"].eq(1).all()
    assert uploads.sent_share(tried).startswith("100\N{NO-BREAK SPACE}% of cases")


def test_the_share_sent_is_less_sure_where_rows_belong_together(run: Run, example: Cohort) -> None:
    alone = replace(example, cluster=np.arange(len(example)))
    twice = np.repeat(np.arange(len(alone)), 2)
    pairs = replace(alone.rows(twice), ids=np.arange(len(twice)).astype(str), cluster=twice)
    once = uploads.sent_share(uploads.try_out(run, "Router", alone, by=LOCAL))
    assert (
        uploads.sent_share(uploads.try_out(run, "Router", pairs, by=LOCAL)) == once
    )  # the same cases twice tell nothing new


def test_metrics_as_text_have_their_intervals_and_a_true_minus() -> None:
    row = {"metric": "TotalCost", "value": 0.2, "low": 0.1, "high": 0.3, "ai_value": np.nan, "ai_low": np.nan,
           "ai_high": np.nan, "difference": -0.1, "difference_low": -0.2, "difference_high": 0.05}  # fmt: skip
    words = uploads.as_text(pd.DataFrame([row])).iloc[0]
    assert words["run"] == "0.200 (0.100 to 0.300)"
    assert words["ai"] == "–"
    assert words["difference"] == "−0.100 (−0.200 to +0.050)"


@pytest.mark.parametrize(
    ("data", "name", "message"),
    [
        (b"", "a.csv", "an empty file"),
        (b"hello", "a.csv", "a header and no rows"),
        (b"a,b\n1,2\n", "a.csv", "none of the column names"),
        ("case_id,cohort\né,refuge\n".encode("latin-1"), "a.csv", "not UTF-8"),
        (b"case_id,cohort\n1,refuge\n", "a.csv", "column vCDR: found no such column"),
        (b"PK\x03\x04", "a.xlsx", "found a file ending in .xlsx"),
        (b"no parquet", "a.parquet", "expected a Parquet table"),
        (b" " * (uploads.MAX_BYTES + 1), "a.csv", "expected at most 20"),
    ],
)
def test_a_file_that_is_no_such_table_is_refused_in_words(
    benchmark: Cohort, data: bytes, name: str, message: str
) -> None:
    with pytest.raises(UserError, match=message):
        uploads.read_own(data, name, benchmark.manifest, by=LOCAL)


def test_more_cases_than_a_shared_server_can_take_are_refused(
    benchmark: Cohort, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = pd.read_csv(TABLE, dtype=str, keep_default_na=False).head(51)
    monkeypatch.setattr(uploads, "MAX_CASES", 50)
    text = rows.to_csv(index=False)
    for data, name in ((text.encode(), "a.csv"), (text.rstrip().encode(), "a.csv"), (parquet(rows), "a.parquet")):
        with pytest.raises(UserError, match="found 51 rows, expected at most 50"):
            uploads.read_own(data, name, benchmark.manifest, by=LOCAL)
    assert (
        len(uploads.read_own(rows.head(50).to_csv(index=False).encode(), "a.csv", benchmark.manifest, by=LOCAL)) == 50
    )


def test_a_small_parquet_file_that_unpacks_to_a_huge_table_is_refused(
    benchmark: Cohort, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "MAX_UNPACKED", 2**20)
    data = parquet(pd.DataFrame({"case_id": ["0" * (2**20 + 1)]}))
    assert len(data) < 2**18
    with pytest.raises(UserError, match="found 1 MB when unpacked"):
        uploads.read_own(data, "a.parquet", benchmark.manifest, by=LOCAL)


def test_one_long_text_that_stands_in_every_row_is_refused(benchmark: Cohort, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "MAX_UNPACKED", 2**20)
    data = parquet(pd.DataFrame({"case_id": ["0" * 2**14] * 400}))  # written once, with a reference in each row
    assert len(data) < 2**18
    with pytest.raises(UserError, match="found 6 MB when unpacked"):
        uploads.read_own(data, "a.parquet", benchmark.manifest, by=LOCAL)


def test_hostile_cells_are_quoted_as_text_and_cut_short(benchmark: Cohort) -> None:
    rows = uploads.example_table(TABLE).splitlines()[:3]
    cells = rows[1].split(",")
    cells[rows[0].split(",").index("vCDR")] = "=cmd|' /C calc'!A0" + "<script>" * 50
    with pytest.raises(TableError) as refused:
        uploads.read_own("\n".join([rows[0], ",".join(cells)]).encode(), "a.csv", benchmark.manifest, by=LOCAL)
    assert refused.value.problems[0].found.startswith("=cmd|' /C calc'!A0<script>")
    assert len(refused.value.problems[0].found) < 50


def test_the_same_table_as_parquet_is_read_the_same(benchmark: Cohort, example: Cohort) -> None:
    text = io.StringIO(uploads.example_table(TABLE))
    same = uploads.read_own(parquet(pd.read_csv(text)), "a.parquet", benchmark.manifest, by=LOCAL)
    np.testing.assert_array_equal(same.decisions, example.decisions)
    np.testing.assert_allclose(same.state, example.state)
