"""Ablations: what does each term buy?"""

from mpd2.studio.ablations import view
from mpd2.studio.shell import frame

view.draw(frame.open_page("ablations"))
