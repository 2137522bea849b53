"""Budget: what if we could send fewer?"""

from mpd2.studio.budget import view
from mpd2.studio.shell import frame

view.draw(frame.open_page("budget"))
