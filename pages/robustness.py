"""Robustness: does it hold elsewhere?"""

from mpd2.studio.robustness import view
from mpd2.studio.shell import frame

view.draw(frame.open_page("robustness"))
