"""What the Readers page explains."""

MATCHED = (
    "Readers read different cases, so their figures cannot be compared with one another directly. The run is "
    "therefore judged anew for every reader, on exactly the cases that reader has read."
)
BARBELL = (
    "Triangle: the reader deciding all of their cases alone. Diamond: the run on the same cases, mean over its "
    "routers; it may ask any available reader, this one too. The further apart, the more routing adds."
)
POINTS = (
    "Up and to the right is better. Readers are on their own cases, the AI and the run on all cases of the slice. "
    "Lines are 95 % intervals. Where there is no room for a reader's name, the pointer tells it."
)
SHEET = (
    "Fees are in units of clinical cost; the tier follows from the fee. The difference is the run's F1 less the "
    "reader's, with its 95 % interval over 2,000 resamples of the cases; “run better” is the share of resamples in "
    "which the run has the higher F1."
)
LOAD = (
    "Mean over routers. Bars: cases in which the reader is asked, lines their 95 % interval over resamples. Diamonds: "
    "how much the routers lean to the reader before the final choice; one right of its bar is often the second choice."
)
CAPACITY = "How many of the slice's cases one reader can take. The routing shown does not know this limit."
AVAILABILITY = (
    "The share of a cohort's cases. A router can only ask who is available: a reader with 0 % has never seen that "
    "cohort, whatever the routing."
)
KAPPA = (
    "In each cell κ and below it the number of common cases. Cohen's κ is 0 where two people agree no more than by "
    "chance and 1 where they always agree. Grey: fewer than {fewest} common cases, too few to tell. Semi-synthetic and "
    "induced words agree as they were made to, not as people would."
)
DISAGREEMENT = (
    "Where reader and AI differ, exactly one of them is right. A long blue part is what asking this reader can "
    "repair; a long orange part is what it can spoil."
)
