"""What TRIPOD+AI and STARD-AI ask of a report, in our own words, and how a run answers.

An answer's braces are filled with facts of the run and the table (`checklists.facts`); it holds no number of its own. A
place is a page by its key, with what its link names. Numbers of items are those of the checklists; what STARD-AI asks
beyond STARD for an AI has no number we rely on and is marked AI.
"""

from __future__ import annotations

from dataclasses import dataclass

DONE, PARTLY, NOT_DONE, NOT_ASKED = "done", "partly", "not done", "does not apply"
STATES = (DONE, PARTLY, NOT_DONE, NOT_ASKED)


@dataclass(frozen=True)
class Item:
    """One thing a checklist asks for."""

    number: str
    topic: str
    asks: str
    state: str
    answer: str = ""
    missing: str = ""  # what is not there, of what is asked
    place: str = ""  # page?key=value
    only: str = ""  # said only where this holds of the workspace: one of CONDITIONS


METHOD, CARD, DATA, NUMBERS, PAPER, SOURCES = (
    f"about?part={part}" for part in ("method", "card", "data", "numbers", "reproduction", "sources")
)
SPLITS, UNSEEN, HOW_MANY = (f"robustness?robustness_topic={topic}" for topic in ("resplits", "unseen", "sample-size"))
GROUPS, CALIBRATION = (f"overview?view={view}" for view in ("cohorts", "calibration"))
QUALITY, WORKLOAD = (f"readers?readers_topic={topic}" for topic in ("quality", "workload"))

PUBLISHED, OWN, GROUPED, SINGLE = "published", "own", "grouped", "single"
CONDITIONS = (PUBLISHED, OWN, GROUPED, SINGLE)
"""Whether a paper's numbers lie beside ours, and whether the table says which cases belong together."""

NO_PERSON = "{persons}"
NO_DATES = "{dates}"
NO_TRIAL = "Nothing was written down or registered before the study; choices were made on val cases."
NOT_BLIND = "{blind}"

TRIPOD = (
    Item("1", "Title", "Is it named as a model that is made or tested, for whom and to find what?", DONE,
         "{run}, made and tested on: {title}.", place="overview"),
    Item("2", "Abstract", "Is there a summary of purpose, cases, method, results and limits?", DONE,
         "The report for a meeting, in the sidebar, as a page and as slides.", place="overview"),
    Item("3a", "Background", "Which clinical problem is it about, and what was there before?", DONE,
         "When an AI should hand a case to a reader, and to whom; earlier methods are named and compared.",
         place=METHOD),
    Item("3b", "Background", "For whom is it meant, where in care, and who would use it?", DONE,
         "For research and for planning a screening service; not for the care of a patient.", place=CARD),
    Item("3c", "Background", "Which inequalities in health are known here?", NOT_DONE, missing=NO_PERSON, place=DATA),
    Item("4", "Objectives", "What is the aim, and is a model made, tested or both?", DONE,
         "Both: made on train cases, chosen on val cases, tested on test cases.", place=METHOD),
    Item("5a", "Data", "Where do the data come from, and whom do they represent?", PARTLY,
         "{cases} cases of {cohort_count} cohorts: {cohorts}.",
         "How well the cohorts represent people who are screened is not known.", DATA),
    Item("5b", "Data", "From when are the data?", NOT_DONE, missing=NO_DATES, place=DATA),
    Item("6a", "Participants", "Where were they seen, and in how many centres?", PARTLY,
         "The cohorts are named: {cohorts}.", "The table does not say which centre a case is from.", SOURCES),
    Item("6b", "Participants", "Who was included, who was not?", PARTLY,
         "Every case of the table is used: {splits}.", "Whom the cohorts left out is not in the table.",
         DATA),
    Item("6c", "Participants", "Which treatments had they?", NOT_ASKED, "One {case} is judged at a time."),
    Item("7", "Preparation", "How were data checked and prepared, alike in all groups?", DONE,
         "Every row and column is checked on reading; inputs are standardised on train cases alone.", place=DATA),
    Item("8a", "Outcome", "What is found, how and when was it judged?", DONE,
         "Either {positive} or {negative}, as each cohort labels its cases.", place=DATA),
    Item("8b", "Outcome", "Who judged it, and how good were they?", PARTLY,
         "The label of each cohort is described.", "Who gave it is not in the table.", DATA),
    Item("8c", "Outcome", "Was it judged without knowing the inputs?", NOT_DONE, missing=NOT_BLIND, place=DATA),
    Item("9a", "Inputs", "Which inputs were considered, and why these?", DONE,
         "{inputs_count} inputs: {inputs}.", place=METHOD),
    Item("9b", "Inputs", "How is each measured, and when?", DONE,
         "Each column of the table is described with its range.", place=DATA),
    Item("9c", "Inputs", "Where people judge, who are they?", PARTLY,
         "{readers} readers with their fees and how good each is.", "Their training and experience.", QUALITY),
    Item("10", "Sample size", "How was the number of cases arrived at, and is it enough?", PARTLY,
         "The {slice} hold {with_it}: sensitivity is known to {sens_interval}.",
         "The number was not planned; how many cases a width takes can be looked up.", HOW_MANY),
    Item("11", "Missing data", "What is missing, and what was done about it?", DONE,
         "{missing_inputs} of inputs are missing. {unread} of all pairs of a case and a reader have no reading: that "
         "reader counts as absent for the case and is never filled in.", place=WORKLOAD),
    Item("12a", "Analysis", "How were the data divided?", DONE, "{splits}.", place=NUMBERS),
    Item("12b", "Analysis", "How do inputs enter the model?", DONE,
         "As numbers, standardised on train cases.", place=METHOD),
    Item("12c", "Analysis", "What kind of model, how built, chosen and checked?", DONE,
         "{models} copies, seeds {seeds}; settings chosen on val cases.", place=CARD),
    Item("12d", "Analysis", "Were differences between places or clinics looked at?", DONE,
         "By cohort, and with each cohort unseen in training.", place=UNSEEN),
    Item("12e", "Analysis", "Which measures, and how are models compared?", DONE,
         "Sensitivity, specificity, calibration, net benefit and costs, with {level} intervals from {resamples} "
         "resamples; differences on the same resamples.", place=CALIBRATION),
    Item("12f", "Analysis", "Was the model updated after testing?", DONE,
         "What labelled local cases add to it is tested for each cohort.", place=UNSEEN),
    Item("12g", "Analysis", "How does one get its answer for a new case?", DONE,
         "Upload a table, or `python -m mpd2 route`.", place="your_data"),
    Item("13", "Rare outcome", "Was the rarity of the disease dealt with, and how?", DONE,
         "Prevalence: {prevalence}. No case is weighted or repeated; errors weigh by their costs: {costs}.",
         place=METHOD),
    Item("14", "Fairness", "What was done so that nobody is served worse?", PARTLY,
         "By cohort{bands}.", NO_PERSON, GROUPS),
    Item("15", "Output", "What does the model give, and where are its thresholds?", DONE,
         "A decision for each case, by the {rule} rule: kept, or sent to a reader. Operating point: {point}.",
         place="budget"),
    Item("16", "Training and testing", "How do cases it is made on and cases it is tested on differ?", DONE,
         "Test cases are of the same cohorts; each new table is compared with the training cases, input by input.",
         place="your_data"),
    Item("17", "Ethics", "Who approved it, did people consent?", NOT_DONE,
         "No data were collected here.", "The cohorts' approvals are not in the table.", SOURCES),
    Item("18a", "Open science", "Who paid?", NOT_DONE, missing="It is not stated."),
    Item("18b", "Open science", "Who has interests?", NOT_DONE, missing="It is not stated."),
    Item("18c", "Open science", "Is there a protocol?", NOT_DONE, missing=NO_TRIAL),
    Item("18d", "Open science", "Is it registered?", NOT_DONE, missing=NO_TRIAL),
    Item("18e", "Open science", "Can others have the data?", DONE,
         "The table is part of the software, fingerprint {fingerprint}.", place=SOURCES, only=PUBLISHED),
    Item("18e", "Open science", "Can others have the data?", PARTLY,
         "The table is known by its fingerprint, {fingerprint}.", "Whether others may have it is its owners' to say.",
         SOURCES, OWN),
    Item("18f", "Open science", "Can others have the code?", DONE,
         "All of it, version {version}; one command makes every number anew.", place=SOURCES),
    Item("19", "Patients", "Did patients and the public take part?", NOT_DONE, missing="They did not.", place=CARD),
    Item("20a", "Cases", "How many entered, and how many have the disease?", DONE,
         "{splits}. Prevalence: {prevalence}.", place=DATA),
    Item("20b", "Cases", "What are they like, overall and by place?", PARTLY,
         "Cases on a map, by cohort; each input of a case within its cohort on the case's page.", NO_PERSON, "map"),
    Item("20c", "Cases", "How do test cases compare with training cases?", PARTLY,
         "What a change of cohort costs is tested.", "A table of inputs, train beside test.", UNSEEN),
    Item("21", "Model", "How many cases and events lie behind each analysis?", DONE,
         "This slice: {n} cases, {with_it}. Every page names its own.", place="overview"),
    Item("22", "Model", "Is the whole model given, so that it can be used?", DONE,
         "Settings, weights and predictions of each run are plain files.", place=CARD),
    Item("23a", "Performance", "How good is it, with intervals, and for whom?", PARTLY,
         "Sensitivity {sens}, specificity {spec}; the AI alone {ai_sens} and {ai_spec}. By cohort and subgroup.",
         "Groups of persons: " + NO_PERSON, GROUPS),
    Item("23b", "Performance", "How much does it vary between places?", DONE,
         "By cohort, over resplits and in unseen cohorts.", place=SPLITS),
    Item("24", "Updating", "What came of updating?", DONE, "Cost by number of labelled local cases.", place=UNSEEN),
    Item("25", "Interpretation", "What do results mean, also beside earlier work?", DONE,
         "Every method on the same cases, and every number of the paper beside ours.", place=PAPER, only=PUBLISHED),
    Item("25", "Interpretation", "What do results mean, also beside earlier work?", DONE,
         "Every method, earlier ones among them, on the same cases.", place="overview", only=OWN),
    Item("26", "Limitations", "What are the limits?", DONE, "Readings: {origins}. More in the model card.", place=CARD),
    Item("27a", "Use", "What happens with poor or missing inputs?", DONE,
         "{poor_inputs}A cell that is missing is refused, by row and column, unless the table says that it may be.",
         place="your_data"),
    Item("27b", "Use", "What must a user do and know?", PARTLY,
         "Who is asked reads the case and answers.", "It was not tried with people at work.", "case"),
    Item("27c", "Use", "What should be studied next?", PARTLY,
         "What does not hold in an unseen cohort, and how many local cases help.", "A study with patients.", UNSEEN),
)  # fmt: skip
"""TRIPOD+AI."""

STARD = (
    Item("1", "Title", "Is it named as a study of accuracy?", DONE,
         "Sensitivity and specificity stand on the first page.", place="overview"),
    Item("2", "Abstract", "Is there a summary?", DONE, "The report for a meeting, in the sidebar.", place="overview"),
    Item("3", "Background", "What is the test for, and where in care would it stand?", DONE,
         "It decides which cases a reader sees after an AI has read all of them.", place=CARD),
    Item("4", "Aims", "What is asked and expected?", DONE,
         "Whether sending some cases to readers is worth it; the paper's claims are checked one by one.", place=PAPER,
         only=PUBLISHED),
    Item("4", "Aims", "What is asked and expected?", DONE,
         "Whether sending some cases to readers is worth it.", place="overview", only=OWN),
    Item("5", "Design", "Were data planned for the test, or were they there before?", DONE,
         "They were there before: the study is retrospective.", place=DATA),
    Item("6", "Participants", "Who could be included?", PARTLY, "All {cases} cases of {cohorts}.",
         "The cohorts' own criteria are not in the table.", SOURCES),
    Item("7", "Participants", "How were they found?", NOT_DONE,
         missing="The table does not say why a person was examined.", place=DATA),
    Item("8", "Participants", "Where and when?", NOT_DONE, missing="Neither centre nor date is in the table.",
         place=DATA),
    Item("9", "Participants", "One after another, at random, or as they came?", NOT_DONE,
         missing="The table does not say.", place=DATA),
    Item("AI", "Data", "Where do data come from, who marked them and how were they prepared?", DONE,
         "Origin of cases, truth and readings: {origins}.", place=DATA),
    Item("AI", "Data", "How were they divided, and do parts share persons?", PARTLY,
         "{splits}.", "The table does not say which cases are of one person, so that these may be in two parts.", DATA,
         SINGLE),
    Item("AI", "Data", "How were they divided, and do parts share persons?", DONE,
         "{splits}; cases of one {group} are all in one part.", place=DATA, only=GROUPED),
    Item("10a", "Tests", "Is the test described so that it can be repeated?", DONE,
         "{run}: method, settings, seeds and weights.", place=CARD),
    Item("10b", "Tests", "Is the truth described so that it can be repeated?", PARTLY,
         "The label of each cohort.", "How it was reached is not in the table.", DATA),
    Item("11", "Tests", "Why this truth?", DONE, "It is the one each cohort comes with.", place=DATA),
    Item("12a", "Tests", "Which thresholds has the test, and how were they found?", DONE,
         "The AI's own, and the operating point of the run, found on val cases: {point}.", place="budget"),
    Item("12b", "Tests", "Which thresholds has the truth?", NOT_DONE,
         missing="The cohorts' labels hold only {positive} or {negative}.", place=DATA),
    Item("13a", "Tests", "Did those who read know the truth?", NOT_DONE, missing=NOT_BLIND, place=DATA),
    Item("13b", "Tests", "Did those who set the truth know the test?", PARTLY,
         "The truth was there before the router.", "What those who set it knew of the AI and of readings is not in the "
         "table.", DATA),
    Item("AI", "Tests", "Which software and version, on which input?", DONE,
         "Version {version}, made {created}; input: {inputs}.", place=CARD),
    Item("AI", "Tests", "What do people do with its answer, and how are they trained for it?", PARTLY,
         "A reader answers {positive} or {negative}. The readings were there before the router.",
         "No reader worked with it.", "case"),
    Item("14", "Analysis", "How is accuracy estimated and compared?", DONE,
         "On the same cases, {level} intervals from {resamples} resamples.", place=NUMBERS),
    Item("15", "Analysis", "What of results that are neither?", DONE,
         "There are none: every case ends with {positive} or {negative}.", place=NUMBERS),
    Item("16", "Analysis", "What of missing results?", DONE,
         "{unread} of readings are missing; nobody is asked who did not read the case.",
         place=WORKLOAD),
    Item("17", "Analysis", "Does accuracy vary, and was it planned to look?", PARTLY,
         "By how hard a case is, cohort, subgroup, seed and resplit; how many comparisons that makes is told.",
         "It was not planned beforehand.", "risk"),
    Item("18", "Analysis", "How many cases were wanted, and why?", PARTLY,
         "{n} cases, {with_it}: sensitivity is known to {sens_interval}.", "It was not planned.",
         HOW_MANY),
    Item("AI", "Analysis", "Was it looked for groups that are served worse?", PARTLY,
         "By cohort{bands}.", NO_PERSON, GROUPS),
    Item("19", "Cases", "How many entered and how many were counted?", DONE,
         "{cases} in the table, {n} in this slice, none left out.", place=DATA),
    Item("20", "Cases", "What are they like?", PARTLY, "Inputs by cohort.", NO_PERSON, "map"),
    Item("21a", "Cases", "How severe is the disease?", NOT_DONE,
         "Inputs that grow with the disease: {structure}.", "Its stage is not in the table.", "map"),
    Item("21b", "Cases", "What have those without it?", NOT_DONE,
         missing="Other diseases are not in the table.", place=DATA),
    Item("22", "Cases", "How much time lay between test and truth?", NOT_DONE, missing=NO_DATES, place=DATA),
    Item("23", "Results", "How do test and truth cross?", DONE,
         "Mean over copies: {tp} found, {fn} missed, {fp} false alarms, {tn} rightly cleared; n = {n}.",
         place="overview"),
    Item("24", "Results", "How accurate is it, with intervals?", DONE,
         "Sensitivity {sens}, specificity {spec}; {sent} of cases sent.", place="overview"),
    Item("25", "Results", "What harm did the tests do?", NOT_DONE, "Nothing was done to anybody for this study.",
         "What follows from a false alarm or a miss is only counted as a cost."),
    Item("AI", "Results", "Where does it fail, and why?", DONE,
         "Every error can be opened; those of the AI, the readers and the run are on one map.", place="case"),
    Item("26", "Discussion", "What are the limits, and how far do results carry?", DONE,
         "Readings: {origins}.", place=CARD),
    Item("27", "Discussion", "What does it mean for practice?", PARTLY,
         "What fewer or more readings would do.", "It was not tried in a clinic.", "budget"),
    Item("28", "Other", "Is it registered?", NOT_DONE, missing=NO_TRIAL),
    Item("29", "Other", "Is there a protocol?", NOT_DONE, missing=NO_TRIAL),
    Item("30", "Other", "Who paid, and what was their part?", NOT_DONE, missing="It is not stated."),
    Item("AI", "Other", "Can others have data and code?", DONE,
         "Both: table {fingerprint}, version {version}.", place=SOURCES, only=PUBLISHED),
    Item("AI", "Other", "Can others have data and code?", PARTLY,
         "The code, version {version}.", "Whether others may have the table is for its owners to say.", SOURCES, OWN),
    Item("AI", "Other", "Can what it does be audited, and who sells it?", PARTLY,
         "Every run holds the hashes of its files.", "No outsider has audited it; interests are not stated.", CARD),
)  # fmt: skip
"""STARD-AI."""

CHECKLISTS = {"tripod": ("TRIPOD+AI", TRIPOD), "stard": ("STARD-AI", STARD)}
"""Names and items, by their key in the link."""
