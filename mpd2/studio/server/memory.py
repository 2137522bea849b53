"""How the process asks the system for memory, so that what a page view needed for itself is given back.

The C library gives memory back from the end of an arena alone, and only once the end is free by a threshold, which it
raises to 64 MB as soon as one large array was freed. Every page view is a thread of its own, and threads get arenas of
their own, up to eight a core. So a busy minute left tens of megabytes in each of them, for as long as the server ran.
"""

from __future__ import annotations

import ctypes
import platform

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8  # as malloc.h of the GNU C library numbers them
SETTINGS = {
    M_ARENA_MAX: 2,  # threads here take turns anyway, and wait little for one another
    M_MMAP_THRESHOLD: 2**20,  # bytes of an array that is taken from the system by itself, and given back at once
    M_TRIM_THRESHOLD: 2**22,  # free bytes at the end of an arena that are given back
}


def give_back_memory() -> None:
    """Keep little of what is free; called before there are many threads. Other C libraries are left alone."""
    if platform.libc_ver()[0] == "glibc":
        library = ctypes.CDLL(None)
        for setting, value in SETTINGS.items():
            library.mallopt(setting, value)
