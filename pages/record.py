"""Record: what was done, and by whom?"""

from mpd2.studio.record import view
from mpd2.studio.shell import frame

frame.open_page("record")
view.draw()
