"""About: how does it work, and what may it be used for?"""

from mpd2.studio.about import view
from mpd2.studio.shell import frame

view.draw(frame.open_page("about"))
