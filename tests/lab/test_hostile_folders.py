"""Whatever stands in the files of a run or a job, all that comes out of reading them is a `UserError`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hostile import DAMAGED_DESCRIPTIONS, DAMAGED_FILES, own_copy, with_predictions
from hypothesis import given
from hypothesis import strategies as st
from places import DATA
from toy import toy_problem

from mpd2.clinic.access.actor import LOCAL
from mpd2.core.cohort import Cohort
from mpd2.core.errors import UserError
from mpd2.core.runs import (
    annotate,
    load_continuations,
    load_errors,
    load_predictions,
    load_run,
    read_description,
)
from mpd2.lab.jobs import orders, own_runs, queue
from mpd2.lab.jobs.folder import HISTORY, ORDER, STATUS, Status, Workshop, all_jobs, damaged_jobs
from mpd2.lab.jobs.history import appending, read_history
from mpd2.training.config import LOGGED, STUDIO
from mpd2.training.form_fields import changes_in_words

TOY = toy_problem(30).cohort
COSTS = TOY.manifest.default_costs()
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.integers(10**300, 10**5000) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@st.composite
def changes(draw: st.DrawFn, texts: st.SearchStrategy[bytes]) -> bytes:
    """A file with an entry replaced or removed, or some bytes overwritten, put in or left out."""
    content = draw(texts)
    if draw(st.booleans()):
        value = json.loads(content)
        place, last = value, None
        while isinstance(place, dict | list) and place and (last is None or draw(st.booleans())):
            parent, last = place, draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
            place = parent[last]
        if draw(st.booleans()):
            parent[last] = draw(JSON)
        else:
            del parent[last]
        return _written(value)
    start = draw(st.integers(0, len(content)))
    end = draw(st.integers(start, min(start + 20, len(content))))
    return content[:start] + draw(st.binary(max_size=20)) + content[end:]


def _written(value: Any) -> bytes:
    """As Python writes it, which knows NaN, infinity and numbers of any length."""
    return "".join(_parts(value)).encode(errors="surrogatepass")


def _parts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield "{" + ",".join(f"{json.dumps(key)}:{''.join(_parts(part))}" for key, part in value.items()) + "}"
    elif isinstance(value, list):
        yield "[" + ",".join("".join(_parts(part)) for part in value) + "]"
    elif isinstance(value, int) and abs(value) > 10**100:
        yield "9" * max(int(value.bit_length() * 0.3), 1)
    else:
        yield json.dumps(value)


@pytest.fixture(autouse=True, scope="module")
def nothing_starts() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(queue, "RUNNING", 0)
        yield


def configurations() -> st.SearchStrategy[bytes]:
    return (
        st.sampled_from(["mao", "studio", "mpd2-plus"])
        .map(lambda name: DATA / "runs" / name / "config.json")
        .map(Path.read_bytes)
    )


@given(changes(configurations()))
def test_a_run_with_any_description_is_listed_or_refused(content: bytes) -> None:
    with TemporaryDirectory() as folder:
        place = Workshop(Path(folder) / "jobs", Path(folder) / "runs")
        run = place.runs / "mine"
        run.mkdir(parents=True)
        (run / "config.json").write_bytes(content)
        readable, damaged = own_runs.own_runs(place), own_runs.damaged_runs(place)
        assert len(readable) + len(damaged) == 1
        for own in readable:
            assert own.title
            assert changes_in_words(own.changes)
            assert pd.Timestamp(own.created).tzinfo
            annotate(run, title="renamed")
            assert read_description(run).known_notes.title == "renamed"
        for each in damaged:
            assert str(place.runs / "mine") in each.reason or each.reason.startswith(("method: ", "configuration: "))
        with pytest.raises(UserError):
            load_run(run)  # nothing else is there


@pytest.mark.parametrize("name", DAMAGED_DESCRIPTIONS)
def test_a_damaged_description_is_refused_with_the_reason(tmp_path: Path, name: str) -> None:
    damage, reason = DAMAGED_DESCRIPTIONS[name]
    damage(own_copy(tmp_path / "runs" / name))
    (damaged,) = own_runs.damaged_runs(Workshop(tmp_path / "jobs", tmp_path / "runs"))
    assert reason in damaged.reason
    own_runs.delete(name, Workshop(tmp_path / "jobs", tmp_path / "runs"), by=LOCAL)
    assert not (tmp_path / "runs" / name).exists()


@pytest.mark.parametrize("name", DAMAGED_FILES)
def test_a_damaged_file_is_refused_with_the_reason(tmp_path: Path, held_out: Cohort, name: str) -> None:
    damage, reason = DAMAGED_FILES[name]
    folder = own_copy(tmp_path / name)
    damage(folder)
    with pytest.raises(UserError) as error:
        _read_all(folder, held_out)
    assert reason in str(error.value)


@pytest.mark.parametrize(
    ("column", "value"),
    [("kept", 2), ("label:chaksu_expert_1", 2), ("then2:refuge_expert_1", 12), ("then3:refuge_expert_2", -2)],
)
def test_continuations_that_no_method_can_have_made_are_refused(
    tmp_path: Path, held_out: Cohort, column, value
) -> None:
    folder = own_copy(tmp_path / "plus", "mpd2-plus")
    _read_all(folder, held_out)

    def change(frame: pd.DataFrame) -> pd.DataFrame:
        return frame.assign(**{column: frame[column].where(frame.index != 7, value)})

    with_predictions(change)(folder)
    with pytest.raises(UserError, match=rf"{column}: expected numbers from -1 to \d+; make the run anew$"):
        _read_all(folder, held_out)


ORDER_TEXT = orders.training(
    orders.Wish(orders.Start("studio", "MPD²", STUDIO, COSTS), STUDIO, COSTS), 2, DATA / "glaucoma.csv", TOY
).model_dump_json()
STATUS_TEXT = Status(state="done", epoch=3, seconds=1.5, warnings=("one stopped",), process=4711).model_dump_json()


@given(st.sampled_from([ORDER, STATUS]), st.data())
def test_a_job_with_any_order_and_status_is_listed_or_refused(file: str, data: st.DataObject) -> None:
    contents = {ORDER: ORDER_TEXT.encode(), STATUS: STATUS_TEXT.encode()}
    contents[file] = data.draw(changes(st.just(contents[file])))
    with TemporaryDirectory() as folder:
        place = Workshop(Path(folder) / "jobs", Path(folder) / "runs")
        (place.jobs / "one").mkdir(parents=True)
        for name, content in contents.items():
            (place.jobs / "one" / name).write_bytes(content)
        jobs, damaged = all_jobs(place), damaged_jobs(place)
        assert len(jobs) + len(damaged) == 1
        for job in jobs:
            assert job.status.epoch / job.order.steps >= 0
            assert job.status.seconds >= 0
        queue.maintain(place)
        for job in damaged:
            assert str(job.folder) in job.damage
            queue.forget(job, place, by=LOCAL)
            assert not job.folder.exists()


@given(st.data())
def test_any_history_is_read_or_refused(data: st.DataObject) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / HISTORY
        add = appending(path, 0)
        for epoch in (1, 2):
            add(epoch, {name: np.full(2, 0.5) for name in LOGGED}, np.full((2, 3), 0.1))
        first, second, _ = path.read_bytes().split(b"\n")
        path.write_bytes(b"\n".join([first, data.draw(changes(st.just(second))), b""]))
        try:
            history = read_history(path)
            history.check(2, 3)
        except UserError:
            return
        assert len(history.frame(list(LOGGED))) <= 2 * 2 * len(LOGGED)
        assert history.chosen([STUDIO, STUDIO]).shape == (2,)
        assert set(history.load_frame(["a", "b", "c"])["reader"]) <= set("abc")


def _read_all(folder: Path, cohort: Cohort) -> None:
    run = load_run(folder)
    load_predictions(folder, run, cohort)
    load_continuations(folder, run, cohort)
    load_errors(folder).predict(cohort)
