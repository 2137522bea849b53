"""New case: what would it do with this one?"""

from mpd2.studio.new_case import view
from mpd2.studio.shell import frame

view.draw(frame.open_page("new_case"))
