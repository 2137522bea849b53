"""Look up one value of a visit without a copy of all of them.

Whenever Streamlit draws a number field, a list or a slider, it copies all that the visit holds to see whether one value
was set to nothing. A page with forty of them spent a third of its work on that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from streamlit.runtime.state import SafeSessionState
from streamlit.runtime.state.common import is_element_id
from streamlit.runtime.state.session_state import _is_internal_key


class Held(Mapping[str, Any]):
    """What a visit holds by the keys that pages know; copied only for whoever asks for all of it."""

    def __init__(self, visit: SafeSessionState) -> None:
        self._visit = visit

    def __getitem__(self, key: str) -> Any:
        if is_element_id(key) or _is_internal_key(key):
            raise KeyError(key)
        with self._visit._lock:
            return self._visit._state[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def __repr__(self) -> str:
        return repr(self._all())

    def _all(self) -> dict[str, Any]:
        with self._visit._lock:
            return self._visit._state.filtered_state


def spare_copies() -> None:
    """Let Streamlit's widgets look up what they ask for; once, when the server starts."""
    SafeSessionState.filtered_state = property(Held)  # type: ignore[assignment, method-assign]
