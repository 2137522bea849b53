"""Overview: is it worth it?"""

from mpd2.studio import frame, store, widgets

about = frame.open_page("overview")
overall = store.table("overall", about)
widgets.data_table(overall, key="overall", alt_text="Every method on the slice")
