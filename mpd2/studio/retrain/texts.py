"""Every sentence that explains something on the Retrain page."""

VIEWS = {"train": "One change", "grid": "Grid", "tune": "Tune", "runs": "Own runs"}

START = "Settings are copied from here. What you change is recorded as a change from here."
TRAIN_HELP = "Training runs in the background: you may leave the page, and everybody sees the job."
SEEDS = "How many models are trained, each from another random start. How much they differ is part of the result."
GSDP = "Pull each group's cases towards readers with few costly errors."
RANK = "Penalise sending almost all cases of a kind to one reader."
BUDGET = "Keep the share of cases sent to readers below a limit during training."
BUDGETS = "Largest shares of cases to be sent. Each is trained with and without GSDP and Rank-JS."
COSTS = "What errors cost in training. Results are always counted with the costs of the table's owners."
COST_MISS = "c_fn: cost of a miss in training."
COST_ALARM = "c_fp: cost of a false alarm in training."
DECAY = "Numbers from 0 to 1, with commas between them."
DEVICE = "Where the training is computed."
NAME = "What the run is called in the sidebar and in every table."
RESOLVED = "All settings, as `python -m mpd2 train --config` takes them"

GRID = "Every combination of GSDP on or off, Rank-JS on or off and budget, with the same seeds."
QUEUE = "Jobs run one at a time; the others wait. A cancelled job leaves nothing behind."
NO_JOBS = "No job yet. Change something and press Train."
LIVE = (
    "Thick line: mean of the models; thin lines: single models. Losses are means over the training cases; validation "
    "follows each epoch. Diamonds: the weights kept so far, chosen by validation cost within the budget."
)
JUDGED = (
    "Measured on the **validation** cases, which also chose the weights that are kept, so that the test cases stay "
    "unseen while you choose settings. Look at them once, when you have decided: switch to the sidebar's split."
)
JUDGED_TEST = (
    "Measured on the **test** cases. If you change settings because of these numbers, they no longer tell how the "
    "models do on new patients."
)
NO_CURVES = "This method is fitted in one go: there are no epochs to draw."
AGAINST = (
    "Differences are on the same resampled cases. An interval without 0 means a difference beyond chance. For reader "
    "load and its spread the cases are not paired, so these intervals are wider than necessary."
)
RUNS = (
    "Runs made here or with `python -m mpd2 train --out runs/NAME` from the same table. Any of them can be the active "
    "run for all pages."
)
COMPARE = "Up to four runs side by side."
MOST_COMPARED = 4
REGULARISERS = "Effect of GSDP and Rank-JS in the shipped study"

TUNE = (
    "Search sixteen settings at once with Optuna. Each trial is one choice of settings, trained on the training cases "
    "and measured on the validation cases; trials that fall behind are stopped early. A stopped study continues under "
    "the same name, here or with `python -m mpd2 tune`."
)
STUDY = "Name of the study. An existing one continues; its start, epochs and models must be the same as before."
TRIALS = "How many choices of settings to try in all."
TRIAL_SEEDS = "Models of a trial; its score is their mean."
TRIAL_EPOCHS = "Most epochs of a trial. The best settings are then trained in full."
DELETE_STUDY = "The study and all its trials are removed for everybody; presets saved from it stay."
NO_STUDY = "No study yet. Press Search to begin one."
SCORE = (
    "The score combines clinical cost, MCC, AUPRC, fees and excess over the budget, each against a fixed reference; "
    "lower is better. All on the validation cases, so the test cases stay unseen."
)
PRESET = "Save the settings as a preset that trainings can start from, under One change."
PRESET_TRAINED = "Save the settings as a preset and train ten models with them: a trial had few, and stopped early."
UNDER_YOUR_DATA = "A workspace is being built: Your data, under “Open or keep a workspace”, says how far it is."
UNDER_TUNE = "This job searches for better settings; its results are under Tune."
EXPORT = "The run's folder, for `python -m mpd2 evaluate` and `route`"
CHANGE = "What changed against the run it was made from, by which protocol, and what it does on held-out local cases"
CLINIC = "One person proposes a run for the clinic, another one activates it. The Clinic page goes by it."
