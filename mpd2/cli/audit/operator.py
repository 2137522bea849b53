"""Who acts at a command line: this machine's user, by the name the system knows."""

from __future__ import annotations

import getpass
import os
from dataclasses import replace

from mpd2.clinic.access.actor import LOCAL, Actor


def operator() -> Actor:
    """Whoever can read the record's files and keys is its admin."""
    try:
        name = getpass.getuser()
    except (KeyError, OSError):
        name = str(os.getuid())
    return replace(LOCAL, visit=f"command line of {name}")
