"""Clinic: what would it have done today?"""

from mpd2.studio.clinic import view
from mpd2.studio.shell import frame

view.draw(frame.open_page("clinic"))
