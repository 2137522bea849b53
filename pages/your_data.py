"""Your data: does it hold for mine?"""

from functools import partial

import streamlit as st

from mpd2.core.cohort import UNKNOWN
from mpd2.core.errors import TableError, UserError
from mpd2.core.reading import problems_frame, write_template
from mpd2.core.text import count, percent
from mpd2.evaluation import readers, shift
from mpd2.evaluation.intervals import resample_weights
from mpd2.evaluation.metrics import label_of
from mpd2.lab import own_table
from mpd2.present.charts import readers as reader_figures
from mpd2.present.charts import shift as figures
from mpd2.studio.parts import widgets
from mpd2.studio.shell import frame, store, visit
from mpd2.studio.your_data import texts

CASES, TRIAL = "own_cases", "own_trial"
LONGEST = 200  # characters of a list of rows that are shown

about = frame.open_page("your_data")
manifest, training = store.cohort().manifest, store.cohort().subset(split="train")
st.markdown(texts.INTRO)

upload = st.file_uploader(
    "Your table",
    type=["csv", "parquet"],
    max_upload_size=own_table.MAX_BYTES // 2**20,
    key="own_table",
    help=texts.UPLOAD,
)
for_download = {
    "Template": (partial(write_template, manifest), texts.TEMPLATE),
    "Example": (partial(own_table.example_table, store.DATA / manifest.table), texts.EXAMPLE),
}
with st.container(horizontal=True):
    for label, (data, explained) in for_download.items():
        name = f"{label.lower()}.csv"
        st.download_button(
            label, data, name, "text/csv", key=name, help=explained, on_click="ignore", icon=":material/download:"
        )
with st.expander("What the table must hold", icon=":material/table:"):
    st.dataframe(texts.columns_frame(manifest), hide_index=True, key="own_columns", alt="Every column and its meaning")
st.caption(f":material/lock: {texts.PRIVACY}")
if upload is None:
    visit.forget(CASES, TRIAL)
    st.stop()

# What an upload says is shown as text only: never as Markdown, where a cell could load a picture or pose as a link.
try:
    read = partial(own_table.read_own, upload.getvalue(), upload.name, manifest)
    cases = visit.kept(CASES, upload.file_id, read)
    run, title = store.run(about.run), store.run_title(about.run)
    tried = visit.kept(TRIAL, (upload.file_id, run, title), partial(own_table.try_out, run, title, cases))
except TableError as error:
    st.error(texts.REFUSED, icon=":material/error:")
    problems = problems_frame(error.problems)
    shortened = problems.assign(**{"further rows": problems["further rows"].str.slice(0, LONGEST)})
    widgets.data_table(shortened, key="own_problems", alt_text="Every problem found: row, column, found, expected")
    st.stop()
except UserError as error:
    st.error(texts.REFUSED, icon=":material/error:")
    st.text(str(error))
    st.stop()

known = int((cases.truth != UNKNOWN).sum())
sent = int(tried.outcome.decisions.deferred.sum())
sent_of_all = f"{count(sent)} ({percent(sent / len(cases), 0)})"
widgets.key_numbers(
    [
        {"label": "Cases", "value": count(len(cases))},
        {"label": "With a known truth", "value": count(known)},
        {"label": "With a reader who can be asked", "value": count(int(cases.available.any(-1).sum()))},
        {"label": "Sent to a reader", "value": sent_of_all, "help": own_table.sent_share(tried)},
    ]
)

st.subheader("Are they like the cases it has learned from?", anchor=False, help=texts.SHIFT)
names = {entry.key: entry.name for entry in manifest.cohorts}
cohort = st.selectbox(
    "Compare with", [None, *names], format_func=lambda key: names.get(key, "all training cases"), key="own_against"
)
seen = training.subset(cohorts=[cohort]) if cohort else training
moved = shift.shift(cases, seen)
st.markdown("\n".join(f"- {sentence}" for sentence in shift.sentences(moved)))
left, right = st.columns(2, gap="large")
with left:
    widgets.chart(
        figures.differences(moved), table=moved, key="own_shift", note=texts.SHIFT,
        alt_text="How far the mean of each input is from that of the training cases",
    )  # fmt: skip
with right:
    ranked = moved.sort_values("distance", ascending=False)["input"].tolist()
    chosen = st.selectbox("Input", ranked, format_func=shift.TITLES.__getitem__, key="own_input")
    bins = shift.distributions(cases, seen, chosen)
    widgets.chart(
        figures.distributions(bins, shift.TITLES[chosen]), table=bins, key="own_distribution",
        alt_text=f"{shift.TITLES[chosen]} of your cases and of the training cases",
        note=f"Outlined: your {count(len(cases))} cases. Grey: {count(len(seen))} training cases.",
    )  # fmt: skip
with st.expander("The figures", icon=":material/table:"):
    st.caption(texts.DISTANCE)
    widgets.data_table(
        moved.drop(columns="input"), key="own_shift_table", alt_text="Shift of each input", columns=texts.SHIFT_COLUMNS
    )

st.subheader("Would it have been right?", anchor=False)
judged = own_table.judge(tried)
if judged.empty:
    st.info(texts.NOT_JUDGED, icon=":material/help:")
else:
    counted = int(judged["n"].iloc[0])
    if counted < len(cases):
        st.info(texts.PARTLY_JUDGED.format(counted=counted, cases=len(cases)), icon=":material/info:")
    words = own_table.told(judged).assign(metric=judged["metric"].map(label_of))
    titles = {"metric": "Metric", "run": tried.outcome.title, "ai": "AI alone", "difference": "Difference"}
    widgets.data_table(words, key="own_metrics", alt_text="Metrics of the run and of the AI alone", columns=titles)
    st.caption(texts.JUDGED.format(n=counted, resamples=count(own_table.resamples_for(counted))))

st.subheader("Who would read what?", anchor=False)
load = readers.load(tried.outcome, cases, resample_weights(cases, own_table.resamples_for(len(cases))))
widgets.chart(
    reader_figures.load(load), table=load, key="own_load", alt_text="Cases each reader would get",
    note=readers.busiest(load),
)  # fmt: skip
shown = tried.worklist[["case_id", "reader", "label", "votes", "defer"]]
st.dataframe(
    shown,
    hide_index=True,
    key="own_decisions",
    alt="What is done with each case",
    column_config=texts.decision_columns(tried.routers),
)
widgets.download(tried.worklist, "decisions", "All decisions as CSV")
st.caption(texts.DECISIONS)
