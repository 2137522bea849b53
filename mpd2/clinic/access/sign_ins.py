"""Sign-ins this server has seen: when each was last used, in whichever tab, and which have been ended.

The cookie of a sign-in outlives the tab, the idle limit and, where somebody copied it, signing out. So the server
remembers; each process for itself, and only while it runs: behind several processes a visit sticks to one.
"""

from __future__ import annotations

from threading import Lock


class SignIns:
    """The last click of every sign-in, and those that are over."""

    def __init__(self) -> None:
        self._last: dict[str, float] = {}
        self._ended: dict[str, float] = {}
        self._lock = Lock()

    def last_click(self, sign_in: str) -> float | None:
        """When a sign-in was last used; none if it never was."""
        with self._lock:
            return self._last.get(sign_in)

    def click(self, sign_in: str, now: float) -> None:
        """Somebody has clicked."""
        with self._lock:
            self._last[sign_in] = now

    def end(self, sign_in: str, now: float) -> None:
        """Somebody has signed out, or was: the same token does not come in again, here or in another tab."""
        with self._lock:
            self._ended[sign_in] = now
            self._last.pop(sign_in, None)

    def has_ended(self, sign_in: str) -> bool:
        """Whether a sign-in is over."""
        with self._lock:
            return sign_in in self._ended

    def forget_before(self, moment: float) -> None:
        """Drop what was last touched before a moment: such tokens are too old to come in by themselves."""
        with self._lock:
            self._last = {name: at for name, at in self._last.items() if at >= moment}
            self._ended = {name: at for name, at in self._ended.items() if at >= moment}
