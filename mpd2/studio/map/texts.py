"""The words of the Map page."""

from __future__ import annotations

LAYOUTS = {"four": "Four panels", "one": "One large map"}
LAYOUT = "The four panels move together; one large map can be coloured by anything known about a case."
COLOUR = "What the one large map is coloured by."
AVERAGED = (
    "Who is right and d are shown as the mean over the {neighbours} cases nearest on the map, so that regions stand "
    "out. Off: each point shows its own case alone."
)
NOTE = (
    "Each point is a case, and cases that look alike to the router lie side by side: only nearness has a meaning, not "
    "direction or scale. All {cases} cases of the slice are shown, none is sampled. Readers right: the share of those "
    "who have read the case. d, from 0 to 1: how strongly the run prefers a reader to the AI. Squares: the AI; "
    "triangles: readers; diamonds: the active run, mean over its models, here {models}. Hover for the case."
)
MADE = (
    "The map is a UMAP of the {inputs} inputs of the router, made once for all {all_cases} cases of the table "
    "({neighbours} neighbours, minimum distance {min_distance}, {metric} distance, seed {seed})."
)
ALT = (
    "Map of {cases} cases, similar ones side by side, coloured by {colours}. A region selected on it is described "
    "below in a table."
)
NO_REGION = "Drag a box or a lasso over the map to compare a region with the rest."
FEW = ":material/warning: Fewer than {few} cases say little; look at the intervals."
INTERVALS = "95 % intervals in brackets: Wilson's for rates, the bootstrap's for costs."
MIX = "Who reads the cases that are sent, mean over models. Lines are 95 % intervals (Wilson)."
