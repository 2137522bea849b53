"""Case: why did this one go there?"""

from mpd2.studio.case import page
from mpd2.studio.shell import frame

page.draw(frame.open_page("case"))
