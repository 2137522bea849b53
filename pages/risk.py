"""Risk: where does it break?"""

from mpd2.studio.risk import view
from mpd2.studio.shell import frame

view.draw(frame.open_page("risk"))
