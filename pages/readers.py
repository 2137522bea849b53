"""Readers: who should read what?"""

from mpd2.studio.readers import view
from mpd2.studio.shell import frame

view.draw(frame.open_page("readers"))
