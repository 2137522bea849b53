"""Case: why did this one go there?"""

from mpd2.studio.case import find, page
from mpd2.studio.shell import frame

about = frame.open_page("case")
page.draw(about, find.choose_case(about))
