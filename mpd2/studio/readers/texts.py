"""What the Readers page explains."""

TOPICS = {"quality": "How good is each?", "workload": "Who gets the work?", "agreement": "Do they agree?"}
"""The tabs, by their key in the link."""

MATCHED = (
    "Readers have read different cases, so they cannot be compared with one another directly. The run is therefore "
    "scored again for every reader, on exactly the cases that reader has read."
)
BARBELL = (
    "Triangle: the reader alone. Diamond: the run on the same cases, mean over its models; it may ask any available "
    "reader, including this one. The longer the line, the larger the difference."
)
POINTS = (
    "Up and to the right is better. Readers on the cases they have read, the AI and the run on all cases of the "
    "slice. Lines: 95 % intervals. Hover for the name."
)
SHEET = (
    "Fees are in units of clinical cost; the tier follows from the fee. Difference: F1 of the run minus F1 of the "
    "reader, with its 95 % interval from up to 2,000 resamples of the cases. Run better: share of resamples in which "
    "the run has the higher F1."
)
LOAD = (
    "Bars: cases in which the reader is asked, mean over the run's models; lines: 95 % intervals. Diamonds: what the "
    "models prefer before the final choice; a diamond right of its bar marks a frequent second choice."
)
CAPACITY = "How many cases of the slice one reader can take. The run shown does not know this limit."
AVAILABILITY = (
    "Share of a cohort's cases. Only a reader who has read a case can be asked about it: a reader with 0 % has read "
    "no case of that cohort."
)
KAPPA = (
    "In each cell: Cohen's κ and, below it, the number of cases both have read. κ is 0 if two agree no more often than "
    "by chance and 1 if they always agree. Grey: fewer than {fewest} cases in common, too few to tell. Semi-synthetic "
    "and induced answers agree by construction, not as people would."
)
DISAGREEMENT = (
    "Where a reader and the AI disagree, exactly one of them is right. Blue: errors of the AI that asking this reader "
    "corrects. Orange: errors that asking this reader adds."
)
