"""What `streamlit run app.py` starts: warm up once, then serve the studio."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import streamlit as st

from mpd2.lab.jobs.folder import Workshop
from mpd2.lab.jobs.keeper import tended
from mpd2.studio import warm


@asynccontextmanager
async def ready(_: st.App) -> AsyncIterator[None]:
    """Make ready what the first visitor needs; then the rest, and look after the jobs meanwhile."""
    warm.warm_up()
    async with warm.warming(), tended(Workshop.here()):
        yield


app = st.App(Path(__file__).parent / "mpd2" / "studio" / "main.py", lifespan=ready)
