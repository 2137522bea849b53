"""How the process asks the system for memory.

Every page view is a thread of its own, and the C library gives threads arenas of their own: up to eight a core. What a
view made and left behind for all, such as a cached result, lies between what it made for itself, and an arena is used
again only by a thread that happens to get it. So the free space in all of them together grew with the visitors. Threads
here take turns anyway, and wait little for one another where they share.
"""

from __future__ import annotations

import ctypes
import platform

ARENAS = 2
M_ARENA_MAX = -8  # as malloc.h of the GNU C library names it


def share_arenas() -> None:
    """Let all threads share few arenas; called before there are many. Other C libraries are left alone."""
    if platform.libc_ver()[0] == "glibc":
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, ARENAS)
