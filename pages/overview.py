"""Overview: is it worth it?"""

from mpd2.studio.overview import answer, tabs
from mpd2.studio.shell import frame

about = frame.open_page("overview")
answer.draw(about)
tabs.draw(about)
