"""What the Record page says."""

OFF = (
    "No record is kept here: this is a single user's own installation. A record is kept where the settings, the file "
    "that the environment variable `MPD2_SETTINGS` names, have a table `[record]`:"
)
SETTINGS = """[record]
folder = "record"                 # beside this file; the database, its checkpoints and its keys
second_place = "/mnt/elsewhere"   # a copy of every checkpoint, best on another disk
retention_days = 730              # left out: entries are kept for ever
"""
MORE = "docs/record.md says what is written, how it is verified without this software, and how it is backed up."
CASE = "Id of a case, as in its table, or its pseudonym. The record itself holds pseudonyms only."
PERSON = "As the provider of identities names them; in the table under “who”."
TIMES = "Days in UTC, the last one included."
REFUSED = "Only what somebody tried and was not allowed to do."
NOTHING = "No entry fits this search."
ALT = "Entries of the record, the newest first: number, time, who, role, action, whether refused, case and details."
VERIFY = "Walks the whole record: every entry against the one before, and against every checkpoint."
CHECKPOINT = (
    "A signature over the newest entry. Before the last checkpoint every change shows; entries after it can be cut off "
    "or rewritten without a trace."
)
HISTORY = "What was recorded about this case, the newest first. Times are UTC."
NO_HISTORY = "Nothing was recorded about this case before."


def age(seconds: float) -> str:
    """How long ago something was.

    >>> age(20), age(100), age(7300), age(200000)
    ('less than a minute', '1 minute', '2 hours', '2 days')
    """
    for size, name in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            many = int(seconds // size)
            return f"{many} {name}{'' if many == 1 else 's'}"
    return "less than a minute"
