"""Map: where does it defer?"""

from mpd2.studio.map import view
from mpd2.studio.shell import frame

view.draw(frame.open_page("map"))
