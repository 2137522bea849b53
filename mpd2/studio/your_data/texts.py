"""What the page says where a table of one's own is brought in, and where workspaces are kept."""

from __future__ import annotations

from mpd2.studio.your_data.trial_texts import verbatim

WAYS = {
    "table": "Bring your own table",
    "workspaces": "Open or keep a workspace",
    "trial": "Try cases on a trained run",
}
STEPS = {1: "Files", 2: "Columns", 3: "Readers and costs", 4: "Checks and splits", 5: "Build"}

# ---------------------------------------------------------------------------------- 1 files

INTRO = (
    "A table of cases with what the AI said, what your readers said and what turned out to be true. No column needs "
    "another name. In five steps you get every page of this dashboard for it; nothing is kept before the last one."
)
PRIVACY = (
    "Your files are read in this server's memory and forgotten when you close the page. They are kept only when you "
    "press “Save and build”. Please leave out names and dates of birth all the same."
)
CASES = "Your cases, one row each"
CASES_HELP = (
    "CSV, Excel (.xlsx) or Parquet, with a header. Decimal commas, semicolons, tabs, yes and no, and dates as text are "
    "understood. At most {rows} rows and {size} MB here."
)
CASES_TOO = "These are readings. The cases are still missing: drop their file on the left."
READINGS = "Readings, if they are in a file of their own"
READINGS_HELP = (
    "One row for each reading: the case, who read it, and what they said. Leave it empty if readers are columns."
)
LARGER = "A larger table: `python -m mpd2 workspace new NAME --cases FILE` on your own machine."
NO_FILE = "Drop your table first."
SHEET = "Sheet"
ANOTHER = "Use another file"
NOT_READ = "This file cannot be used yet."

# ---------------------------------------------------------------------------------- 2 columns

COLUMNS = (
    "What each column was taken for, and why. Change what is wrong: double-click a cell under “is”. A double click "
    "also shows all of a long cell. “Left out” columns are not kept."
)
COLUMNS_READINGS = "The file of readings"
USUAL = "The usual range. Values outside are named in step 4. Leave empty for no limit. For inputs only."
MAY_MISS = "Empty cells are filled with the middle value of the training cases, and a mark says so. For inputs only."
"""Of a data editor's columns."""

# ---------------------------------------------------------------------------------- 3 readers and costs

READERS = "Readers"
READERS_HELP = "Everybody whose decisions are in your table. Names and groups stand on every page."
GROUP_HELP = "Readers of a kind, such as residents; pages show them together."
FEE_HELP = "What one reading costs, in the same unit as a miss and a false alarm. Double-click to change."
THRESHOLD = "The AI says yes from"
THRESHOLD_HELP = "From this probability on; .5 if nobody has chosen another. What is learned may move it."
THRESHOLDS_HELP = "Where it is another one here. Leave it empty for the one above."
COHORTS = "Cohorts: names, origin of readings, thresholds"
ORIGIN = "These readings are"
ORIGIN_HELP = "Every page says so, since results on readings that nobody made say little about people."
ORIGINS = {
    "unknown": "not known",
    "real": "real: people read these very cases",
    "semi-synthetic": "semi-synthetic: drawn from measurements",
    "induced": "induced: taken from similar cases",
    "simulated": "simulated: a program drew the cases, no patients",
}
WORDS = "Words"
WORDS_HELP = "As sentences on every page will use them."
WORD_FIELDS = {
    "positive": ("We look for", "Such as atrial fibrillation; what 1 means in your table."),
    "negative": ("Otherwise", "Such as none or no finding; what 0 means."),
    "case": ("One case is", "Such as tracing, scan, night."),
}
NO_WORD = "Please name what you look for: “of 100 such cases 69 have positive” is hard to read."
COSTS = "Costs"
COSTS_HELP = "Only their ratios matter: a miss of 5 and a fee of .1 mean that fifty readings weigh as much as one miss."
COST_FIELDS = {
    "false_negative": ("A miss costs", "What it costs to overlook somebody who has it."),
    "false_positive": ("A false alarm costs", "What it costs to alarm somebody who does not have it."),
}
CURRENCY = "Currency"
CURRENCY_HELP = "Such as € or CHF. Leave it empty to speak of costs without money."
UNIT = "One unit is worth"
UNIT_HELP = "How much money a cost of 1 is. Leave it empty if nobody can say."

# ---------------------------------------------------------------------------------- 4 checks and splits

WRONG = "Some rows cannot be used yet."
LEAVE_OUT = "Go on with {what}"
LEAVE_OUT_HELP = (
    "A case without a usable id, truth or answer of the AI is left out as a row; a wrong answer of a reader or a wrong "
    "measurement is left empty. Your file stays as it is."
)
MEND = "Or mend your file and drop it again in step 1: what you have said in steps 2 and 3 stays."
LEFT_OUT = "As you wished: {what}."
TAKE_BACK = "Take them back"
ERRORS = "No row is wrong, but the table cannot be used yet:"
RIGHT = "No row is wrong."
KNOWN = "What can be known with so many cases"
ODD = "Worth a look"
READ_AS = "How cells were read"
SPLITS = "Which cases for what?"
SPLITS_HELP = (
    "Methods learn from some cases (train), choose between settings by others (val), and are judged on cases that "
    "nothing was learned from (test)."
)
BY_COLUMN = "As the column of splits says"
AT_RANDOM = "At random, alike in each part; each {word} stays in one part"
BY_DATE = "By date: learn from the oldest, judge on the newest"
SHARES = "Learn from the first part, judge on the last"
SHARES_HELP = (
    "Up to the first handle cases are learned from (train), up to the second chosen by (val), the rest is test."
)
PARTS = {"train": "learn (train)", "val": "choose (val)", "test": "judge (test)"}

# ---------------------------------------------------------------------------------- 5 build

TITLE = "Title"
TITLE_HELP = "Stands on every page."
NAME = "Name in links"
MANIFEST = "The manifest: all of this as a file"
MANIFEST_NOTE = (
    "Download it, change it in any editor and upload it again: every step then shows what it says. "
    "It can be given with the table, also on the command line."
)
MANIFEST_BACK = "Upload a manifest (TOML)"
NOT_THIS_MANIFEST = "This manifest does not fit; nothing was changed."
MANIFEST_TAKEN = "Every step now shows what your manifest says."
NOT_YET = "Step 4 says what has to be mended before this table can be kept."
SAVE = "Save and build"
SAVED = (
    "Kept on this server as a workspace until you remove it. A first answer is ready within a minute, unless others "
    "are before you; the rest is made in the background, also when you close the page."
)
NOT_SAVED = "Nothing was kept."
NOT_BUILT = "It is kept, but not being built."
HOW_LARGE = "How much is built"
SIZES = {
    "usual": "Everything: all methods, tables, map and other splits of the cases (some minutes)",
    "small": "Small: two models a method and no other splits, to have a look (two minutes)",
}
NEW = "Bring another table"
READY = "**A first answer is ready.** Every page can be opened; what is not made yet says so."
FIRST_ANSWER = (
    "On the {n} test cases, at the lowest cost, with 95 % intervals. Found: of those who have it. Left in peace: of "
    "those who do not."
)
NOT_BUILT_YET = "not built yet"
BUILD_HELP = "Makes what is missing or out of date, in the background; what is there stays."

# ---------------------------------------------------------------------------------- workspaces

OPEN_FILE = "Open a workspace file"
OPEN_HELP = "A file that somebody exported here or elsewhere. It is checked before anything is kept; nothing is run."
NOT_OPENED = "This file cannot be opened; nothing was kept."
OPENED = "{name} is kept here and open on every page."
KEEP = "Keep it here"
OWN_NAME = "Name here"
NAME_HELP = "Small letters, digits and hyphens. It stands in links. Leave it empty for the name in the file."
WORKSPACES = "Workspaces"
NONE_YET = "You have none of your own yet. Bring a table, or open a file that somebody gave you."
SHIPPED = "comes with MPD² Studio"
IDS = {
    "keep": "everything, as it is",
    "random": "case ids replaced by random ones; you get the key",
    "none": "no ids: cases are numbered in another order",
}
COPY = "What goes along"
KEY = "Which case is which: download it now, it is kept nowhere."
REMOVE = "Removed for good: {what}. This cannot be undone; export it first if you may want it again."
ADD = "More cases"
ADD_HELP = "A table with the same columns. Cases of a patient who is there already go where that patient is."
ADDED = "What was trained before stays, and says so; build again to use the new cases."


def plain(text: str) -> str:
    """Somebody else's words where Markdown is understood: as a code span, or nothing for nothing."""
    return verbatim(text) if text else ""


EXPORT = "All of it as one file, to keep or to give to somebody."
