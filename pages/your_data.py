"""Your data: does it hold for mine?"""

from mpd2.studio.shell import frame
from mpd2.studio.your_data import view

view.draw(frame.open_page("your_data"))
