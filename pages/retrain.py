"""Retrain: what happens if I change it?"""

from mpd2.studio.retrain import view
from mpd2.studio.shell import frame

view.draw(frame.open_page("retrain"))
