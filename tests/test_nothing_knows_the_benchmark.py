"""No code, text or chart speaks of the benchmark's field: what is said of a table comes from its manifest."""

from __future__ import annotations

import re
from io import BytesIO

import numpy as np
import pandas as pd
import pytest
from briefings import briefing_of, outcome
from other_fields import FIELDS, cohort_of, manifest_of
from places import ROOT
from pptx import Presentation

from mpd2.core.cohort import Cohort
from mpd2.core.costs import Costs
from mpd2.core.manifest import Manifest
from mpd2.evaluation import explain, regions, tables
from mpd2.evaluation.clinical.decision_curve import without_runs
from mpd2.evaluation.clinical.searches import meanings, titles
from mpd2.evaluation.clinical.subgroups import groups
from mpd2.evaluation.evidence import Evidence
from mpd2.evaluation.intervals import resample_weights
from mpd2.methods.simple import AiOnly
from mpd2.planning.day import DaySetting, costs_in_words, in_words
from mpd2.present.charts.case import adds
from mpd2.present.charts.icon_array import icon_array, looks
from mpd2.present.charts.map import four_panels, one_panel, paints
from mpd2.present.documents.checklist_items import CHECKLISTS
from mpd2.present.documents.checklists import conditions, facts, filled
from mpd2.present.documents.html import to_html
from mpd2.present.documents.method_picture import picture
from mpd2.present.documents.slides import to_slides
from mpd2.present.words import case as case_words
from mpd2.present.words.people import named_numbers
from mpd2.studio.shell.glossary import banner, glossary
from mpd2.studio.your_data.trial_texts import columns_frame
from mpd2.training.anatomy import fit_anatomy

WORDS = re.compile(
    r"glaucoma|refuge|ch[aá]k[sṣ]u|origa|photograph|fundus|ophthalm|optic|cup-to-disc|camera|twelve|healthy"
    r"|\b[vha]cdr|vim_risk|quality_risk|\b(?:discs?|cups?|eyes?)\b",
    re.IGNORECASE,
)
NUMPY = re.compile(r"np\.eye\(")
PAPER = "prior-regularized dual-head deferral router in glaucoma"  # the title of the method's paper

ALLOWED = {
    "mpd2/core/manifest.py": "what version 1 of a manifest left unsaid, and the drawing a manifest may ask for",
    "mpd2/core/files.py": "the name of the workspace that opens first",
    "mpd2/present/charts/clinical/optic_disc.py": "the drawing itself",
    "mpd2/studio/case/view.py": "draws it where a manifest asks for it",
    "mpd2/lab/imports/words.py": "words of many fields by which columns are known",
    "mpd2/core/manifest_text.py": "the part of a manifest that names them",
    "mpd2/cli/imaging/": "measures photographs, and trains what measures them",
    "mpd2/cli/build.py": "makes tables of cohorts' folders",
    "mpd2/cli/simulate.py": "draws eyes that never were",
    "mpd2/cli/workspace/__init__.py": "the deed that attaches photographs",
    "mpd2/cli/workspace/photographs.py": "does it",
    "mpd2/present/charts/clinical/photograph.py": "draws on them",
    "mpd2/studio/case/page.py": "has a tab for them",
    "mpd2/studio/case/photograph.py": "the tab",
    "mpd2/studio/server/headers.py": "a header closes the browser's devices, by their names",
    "mpd2/imaging/": "photographs are what it is about",
    "mpd2/lab/photographs.py": "measures what somebody sent",
    "mpd2/studio/new_case/": "takes a photograph where the manifest's cases are such",
}
"""Files that speak of it, each with the reason; of a folder every file may, and none has to."""
FOLDERS = tuple(name for name in ALLOWED if name.endswith("/"))


def sources() -> list[str]:
    places = [path for folder in ("mpd2", "pages") for path in sorted((ROOT / folder).rglob("*.py"))]
    places += [ROOT / "app.py", *sorted((ROOT / "assets").glob("*.svg"))]
    places += [path for suffix in ("js", "css", "html") for path in sorted((ROOT / "mpd2").rglob(f"*.{suffix}"))]
    return [str(path.relative_to(ROOT)) for path in places]


def told(text: str) -> list[str]:
    return WORDS.findall(NUMPY.sub("", text).replace(PAPER, ""))


@pytest.mark.parametrize("name", sources())
def test_a_source_does_not_speak_of_it(name: str) -> None:
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    found = [f"{number}: {line.strip()}" for number, line in enumerate(lines, 1) if told(line)]
    if not name.startswith(FOLDERS):
        assert bool(found) == (name in ALLOWED), found


def test_what_may_speak_of_it_is_there() -> None:
    assert not [name for name in ALLOWED if not (ROOT / name).exists()]


@pytest.fixture(scope="module", params=FIELDS)
def cohort(request: pytest.FixtureRequest) -> Cohort:
    return cohort_of(request.param)


@pytest.fixture(scope="module")
def manifest(cohort: Cohort) -> Manifest:
    return cohort.manifest


def test_a_report_speaks_of_the_table_alone(cohort: Cohort) -> None:
    task, briefing = cohort.manifest.task, briefing_of(cohort)
    page = to_html(briefing).decode()
    slides = [
        shape.text_frame.text
        for slide in Presentation(BytesIO(to_slides(briefing))).slides
        for shape in slide.shapes
        if shape.has_text_frame
    ]
    assert not told(re.sub(r"base64,[\w+/=]*", "", page))
    assert not told("\n".join([*slides, *map(str, briefing.deciders), *map(str, briefing.people.counts.iloc[:, 0])]))
    assert f"1,000 {task.people}" in briefing.people.said.headline
    assert f"A missed {task.positive} costs" in page
    assert all(line in page for line in cohort.manifest.assumptions)
    assert cohort.manifest.credit in page


def test_sentences_agree_with_their_numbers(cohort: Cohort) -> None:
    said = str(briefing_of(cohort).people.said)
    task = cohort.manifest.task
    assert re.search(rf"\d {task.positives} are missed|(?<!\d)1 {task.positive} is missed", said)
    assert f" with {task.one}." in said


def test_words_of_pages_are_those_of_the_manifest(cohort: Cohort, manifest: Manifest) -> None:
    task, usual = manifest.task, DaySetting(manifest.default_costs())
    dear = DaySetting(Costs(8.0, 1.0, usual.costs.fees))
    texts = [
        banner(manifest),
        *(f"{word}: {meaning}" for word, meaning in glossary(manifest).items()),
        *titles(task).values(),
        *meanings(task).values(),
        *named_numbers(task).values(),
        costs_in_words(dear.costs, task),
        in_words(dear, manifest, 0.3),
        *columns_frame(manifest).to_numpy().ravel().tolist(),
        *(strategy.title for strategy in without_runs(cohort).values()),
        *(group.title for group in groups(cohort, cohort.subset(split="train"))),
        *(look.called(n) for look in looks(task).values() for n in (0, 1, 34)),
        *(paint.title for paint in paints(manifest).values()),
        *(str(adds(ground, task)) for ground in ("sending", "positive", "asking")),
        picture(manifest),
    ]
    assert not told("\n".join(texts))
    assert f"One missed {task.positive} counts as 8 false alarms." in costs_in_words(dear.costs, task)
    assert looks(task)["missed"].called(1) == f"1 {task.positive} missed"
    assert looks(task)["missed"].called(34) == f"34 {task.positives} missed"


def test_charts_and_words_of_a_case_are_those_of_the_manifest(cohort: Cohort) -> None:
    train, case = cohort.subset(split="train"), cohort.rows(np.array([0]))
    evidence = Evidence(cohort, cohort.manifest.default_costs(), {"run": outcome(cohort, "Run", 0.5, 0)})
    cases = regions.cases(evidence, "run").assign(x=0.0, y=np.arange(len(cohort)))
    drawn = [four_panels(cases), *(one_panel(cases, name, paint) for name, paint in paints(cohort.manifest).items())]
    people = pd.DataFrame({"outcome": ["missed", "alarm"], "who": ["ai", "reader"], "people": [10, 990]})
    texts = [
        *(figure.to_json() for figure in drawn),
        icon_array(people, cohort.manifest.task),
        case_words.story(case, "", train, fit_anatomy(train)),
        explain.range_frame(case, train).to_csv(),
    ]
    assert not told("\n".join(texts))
    assert f"(probability of {cohort.manifest.task.one} " in texts[-2]


@pytest.mark.parametrize("key", CHECKLISTS)
def test_a_checklist_speaks_of_the_table_alone(cohort: Cohort, key: str) -> None:
    outcomes = {"run": outcome(cohort, "Run", 0.5, 0), "ai": outcome(cohort, "AI", 0.0, 1)}
    evidence = Evidence(cohort, cohort.manifest.default_costs(), outcomes)
    rows = filled(key, known(cohort, evidence), conditions(cohort.manifest, published=False))
    assert not told(rows.to_csv())
    assert (cohort.manifest.groups is not None) == ("are all in one part" in "".join(rows["Answer"])) or key == "tripod"


def known(cohort: Cohort, evidence: Evidence) -> dict[str, str]:
    """The facts of a run that asks nobody."""
    run = AiOnly().fit(cohort, evidence.costs, (1,))
    overall = tables.overall(evidence, resample_weights(cohort, resamples=20))
    return facts(run, cohort, evidence, overall, "run", "all cases", "cheapest")


def test_the_words_of_a_manifest_are_nothing_but_words() -> None:
    manifest = manifest_of("sleep")
    hostile = manifest.but(
        task=manifest.task.model_dump()
        | {"positive": "![x](http://x.test)", "one": "", "positives": "", "case": "<b>a</b>"}
    )
    assert (hostile.task.positive, hostile.task.case) == ("! x (http x.test)", "b a /b")
    assert hostile.task.one == hostile.task.positive
