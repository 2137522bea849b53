"""Every sentence that explains something on the Retrain page."""

VIEWS = {"train": "One change", "grid": "Grid", "tune": "Tune", "runs": "Own runs"}

START = "Settings are taken from here, and what you change is remembered as a change from here."
TRAIN_HELP = "Training runs in a process of its own: you may leave the page, and everybody sees the job."
SEEDS = "How many routers are trained, each from another random start. The spread between them is part of the result."
GSDP = "Pull each group's allocation towards readers with few costly errors."
RANK = "Punish sending almost everything of a kind to one reader."
BUDGET = "Hold the share of cases sent to readers below a target while training."
BUDGETS = "Shares of cases that may be sent at most; every one is trained with and without GSDP and Rank-JS."
COSTS = "What errors cost in training. All runs are judged by the costs of the table's owners, whatever these are."
COST_MISS = "c_fn: cost of a missed glaucoma in training."
COST_ALARM = "c_fp: cost of a false alarm in training."
DECAY = "Numbers from 0 to 1, with commas between them."
DEVICE = "Where the arithmetic happens."
NAME = "How the run is called in the sidebar and in every table."
RESOLVED = "The whole configuration, as `python -m mpd2 train --config` takes it"

GRID = (
    "GSDP on and off, Rank-JS on and off, and every budget, trained together as one population with the same seeds, so "
    "that cells can be compared seed by seed."
)
QUEUE = "Jobs run one at a time; the others wait their turn. A cancelled job leaves nothing behind."
NO_JOBS = "No job yet. Change something and press Train."
LIVE = (
    "Thick: mean over routers; thin: single routers. A loss is a mean over training steps; validation is after each "
    "epoch. Diamonds: the weights that are kept so far, chosen by validation cost and budget."
)
JUDGED = (
    "Judged on **val**, which also chose the checkpoints, so that test stays unread while settings are being chosen. "
    "Read test once, when you have decided: switch to the sidebar's split."
)
JUDGED_TEST = (
    "Judged on **test**. Whoever changes settings because of these figures has used test to choose, and they are no "
    "longer honest."
)
AGAINST = (
    "Differences are on the same resampled cases. Where an interval leaves out 0, the two differ beyond chance. Load "
    "and collapse are not paired, so their intervals are wider than they need be."
)
RUNS = (
    "Runs made here or with `python -m mpd2 train --out runs/NAME` from the same table. Any of them can be the active "
    "run for all pages."
)
COMPARE = "Up to four runs side by side."
MOST_COMPARED = 4
TOGGLES = "What the regularisers buy, in the shipped study"

TUNE = (
    "Search sixteen settings at once with Optuna: every trial is a configuration, trained on train and judged on val, "
    "and those that fall behind are given up early. A stopped search goes on under the same name, here or with "
    "`python -m mpd2 tune`."
)
STUDY = "A search by its name. One that is there goes on; its start, epochs and routers must be the same as before."
TRIALS = "How many configurations the study is to have in all."
TRIAL_SEEDS = "Routers of a trial; its score is their mean."
TRIAL_EPOCHS = "Most passes of a trial. The best configuration is then trained in full."
DELETE_STUDY = "The study and all its trials are removed for everybody; presets kept from it stay."
NO_STUDY = "No study yet. Press Search to begin one."
SCORE = (
    "The score joins clinical cost, MCC, AUPRC, tier cost and excess over the budget, each against a fixed reference, "
    "so that trials compare; less is better. All on val, so test stays unread."
)
PRESET = "Keep it as a preset that trainings can start from, under One change."
PRESET_TRAINED = "Keep it as a preset and train ten routers with it: a trial had few, and stopped early."
UNDER_TUNE = "This job searches for better settings; what it has found is under Tune."
