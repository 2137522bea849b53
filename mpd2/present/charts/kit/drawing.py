"""Finished charts: drawn up once for what they show, and then only handed out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, ParamSpec

import orjson
import pyarrow as pa

from mpd2.core.cache import cached_by_content
from mpd2.present.charts.kit.style import CONFIG, AltairChart

Given = ParamSpec("Given")


@dataclass(frozen=True, eq=False)
class Drawing:
    """A chart that many may look at, for nothing of it can be changed."""

    text: bytes  # Vega-Lite as JSON, in which data are only named
    data: Mapping[str, pa.Table]

    def of_width(self, width: int) -> Drawing:
        """The same chart, `width` pixels wide."""
        return replace(self, text=orjson.dumps({**orjson.loads(self.text), "width": width}))

    def to_dict(self) -> dict[str, Any]:
        """The chart with its data, complete in itself."""
        return {**orjson.loads(self.text), "datasets": {name: rows.to_pylist() for name, rows in self.data.items()}}

    def on_page(self) -> dict[str, Any]:
        """The chart for a page, with its data apart."""
        return {**orjson.loads(self.text), "datasets": dict(self.data)}


def finished(chart: AltairChart) -> Drawing:
    """A chart as it is now in the house's style, not checked against the schema again: every part was when made."""
    spec = {**chart.to_dict(validate=False), "config": CONFIG}
    data = {name: pa.Table.from_pylist(rows) for name, rows in spec.pop("datasets", {}).items()}
    return Drawing(orjson.dumps(spec), data)


def drawn_once(draw: Callable[Given, AltairChart]) -> Callable[Given, Drawing]:
    """Finish what a function draws, and keep it for the next who asks for the same."""

    @cached_by_content
    @wraps(draw)
    def drawing(*args: Given.args, **named: Given.kwargs) -> Drawing:
        return finished(draw(*args, **named))

    return drawing
