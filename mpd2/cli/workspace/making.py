"""Workspaces made of tables, checked, and added to."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from mpd2.cli.arguments import PROGRAM
from mpd2.cli.check import as_text, contents
from mpd2.cli.output import agreed, aligned, print_json, say
from mpd2.cli.workspace.sharing import check_free
from mpd2.clinic.access.actor import LOCAL
from mpd2.core.cohort import Cohort
from mpd2.core.errors import TableError, UserError
from mpd2.core.files import replacing
from mpd2.core.manifest import Manifest, load_manifest
from mpd2.core.manifest_text import to_toml
from mpd2.core.table_file import cohort_from_frame, table_bytes
from mpd2.lab.imports.arranging import arranged
from mpd2.lab.imports.checks import Notice, check, known
from mpd2.lab.imports.drafting import answer_words, draft, proposals_of, suggest
from mpd2.lab.imports.files import RawTable, read_path
from mpd2.lab.imports.matching import lacking, propose
from mpd2.lab.imports.normalise import Normalised, normalise
from mpd2.lab.imports.splitting import split_at_random, split_by_date
from mpd2.lab.imports.uses import Proposal
from mpd2.lab.jobs.folder import Workshop
from mpd2.lab.workspaces.adding import add_rows, look_at_rows
from mpd2.lab.workspaces.archive import open_archive
from mpd2.lab.workspaces.new_rows import rows_of_files
from mpd2.lab.workspaces.shelf import check_name, create, find, find_own, workspaces

FIRST = 3  # values of a column that are shown
SHOWN = 30  # characters of a cell


@dataclass(frozen=True, eq=False)
class Looked:
    """What was found in somebody's files, or in a workspace."""

    cohort: Cohort
    notices: tuple[Notice, ...]
    notes: tuple[str, ...] = ()  # how files were read
    proposals: tuple[Proposal, ...] = ()
    table: Normalised | None = None  # of files

    @property
    def is_fit(self) -> bool:
        """Whether it can be a workspace."""
        return not any(notice.error for notice in self.notices)


def new_workspace(args: Namespace) -> int:
    """Match, check, ask and make."""
    place = Workshop.here()
    check_name(args.name, place)
    readme = "" if args.readme is None else _text(args.readme)
    cases, readings = _tables(args.cases, args.readings, args.manifest)
    proposals, manifest = _matched(cases, readings, args.manifest)
    say(matching(proposals))
    if args.draft is not None:
        check_free(args.draft, force=False)
        with replacing(args.draft) as file:
            file.write_text(to_toml(manifest), encoding="utf-8")
        print(f"{args.draft}: look through it, then give it with --manifest")
        return 0
    found = _looked_at(cases, readings, proposals, manifest, args.split)
    say(f"\n{as_text(found.cohort)}\n\n{told(found)}\n")
    if not found.is_fit or found.table is None:
        raise UserError(f"{args.cases}: cannot be used as it is; see the errors above")
    if not agreed(f"{args.name}: a workspace with {len(found.cohort):,} cases will be made.", args.yes):
        return 1
    table, text = table_bytes(found.table.frame), to_toml(found.table.manifest)
    made = create(args.name, table, text, place, readme, found.cohort, by=LOCAL)
    print(f"{args.name}: made in {made.folder}\nnext: {PROGRAM} workspace build {args.name}")
    return 0


def check_workspace(args: Namespace) -> int:
    """What is in a workspace, a table or an exported file."""
    try:
        found = _asked_about(args)
    except TableError as error:
        if args.json:
            print_json({"what": args.what, "ok": False, "problems": [asdict(problem) for problem in error.problems]})
        else:
            print(error)
        return 1
    if args.json:
        notices = [asdict(notice) for notice in found.notices]
        columns = [
            {"file": each.file, "column": each.column, "is": each.use.value, "why": each.reason}
            for each in found.proposals
        ]
        print_json(
            {"what": args.what, "ok": found.is_fit, "problems": [], "columns": columns, "notices": notices}
            | {"known": list(known(found.cohort)), "notes": list(found.notes)}
            | contents(found.cohort)
        )
    else:
        print("\n\n".join(filter(None, [matching(found.proposals), as_text(found.cohort), told(found)])))
    return 0 if found.is_fit else 1


def add_workspace(args: Namespace) -> int:
    """Rows more."""
    workspace = find_own(args.name, Workshop.here())
    cases, readings = _files(args.cases, args.readings)
    rows = rows_of_files(workspace, cases, readings)
    if not agreed(f"{args.name}: {look_at_rows(workspace, rows, cases.name).in_words()}", args.yes):
        return 1
    added = add_rows(args.name, rows, cases.name, Workshop.here(), by=LOCAL)
    again = f"{PROGRAM} workspace build {args.name}"
    print(f"{args.name}: {len(added.after):,} cases now. Runs made before say so; to make them anew: {again}")
    return 0


def matching(proposals: Sequence[Proposal]) -> str:
    """What each column is taken for and why, as text."""
    if not proposals:
        return ""
    rows = [
        (_short(each.column), _short(" ".join(each.first_values[:FIRST])), each.use.value, each.reason)
        for each in proposals
    ]
    return aligned([("column", "first values", "is", "why"), *rows])


def told(found: Looked) -> str:
    """What is wrong, what is odd, how files were read and what can be known, a line each."""
    lines = [f"{'error' if each.error else 'look at this'}: {each.text}{_rows(each)}" for each in found.notices]
    return "\n".join([*lines, *(f"note: {note}" for note in found.notes), *known(found.cohort)])


def _rows(notice: Notice) -> str:
    """Where it is, in short."""
    if not notice.rows:
        return ""
    more = f" and {len(notice.rows) - FIRST:,} more" if len(notice.rows) > FIRST else ""
    return f" Rows {', '.join(map(str, notice.rows[:FIRST]))}{more}."


def _asked_about(args: Namespace) -> Looked:
    """What was named: a workspace, an exported file or a table."""
    path, place = Path(args.what), Workshop.here()
    names = [workspace.name for workspace in workspaces(place)]
    if args.what in names:
        cohort = find(args.what, place).cohort()
        return Looked(cohort, check(cohort))
    if not path.is_file():
        raise UserError(f"{args.what}: found neither a file nor a workspace of this name; there are {', '.join(names)}")
    if path.suffix.lower() == ".zip":
        with TemporaryDirectory() as folder, path.open("rb") as file:
            elsewhere = Workshop(Path(folder) / "jobs", Path(folder) / "runs")
            cohort = open_archive(file, elsewhere, "exported", by=LOCAL).cohort()
        return Looked(cohort, check(cohort))
    cases, readings = _tables(path, args.readings, args.manifest)
    proposals, manifest = _matched(cases, readings, args.manifest)
    return _looked_at(cases, readings, proposals, manifest, args.split)


def _files(cases: Path, readings: Path | None) -> tuple[RawTable, RawTable | None]:
    return read_path(cases), None if readings is None else read_path(readings)


def _tables(cases: Path, readings: Path | None, given: Path | None) -> tuple[RawTable, RawTable | None]:
    """One row a case, and one row a reading if these are apart."""
    return arranged(*_files(cases, readings), load_manifest(given) if given is not None else None)


def _matched(cases: RawTable, readings: RawTable | None, given: Path | None) -> tuple[tuple[Proposal, ...], Manifest]:
    """What each column is: as a manifest says, else by name and content; and the manifest that follows."""
    if given is not None:
        manifest = load_manifest(given)
        kept = manifest.but(table=Path(manifest.table).with_suffix(".csv").name)
        return proposals_of(manifest, cases, readings), kept
    proposals = propose(cases, readings)
    wants = lacking(proposals)
    if wants:
        say(matching(proposals))
        raise UserError("\n".join([*wants, "Say it in a manifest, and give it with --manifest."]))
    return proposals, draft(proposals, suggest(proposals, cases.name))


def _looked_at(
    cases: RawTable, readings: RawTable | None, proposals: tuple[Proposal, ...], manifest: Manifest, split: str
) -> Looked:
    """The files as a table, split if they do not say how."""
    table = normalise(cases, readings, manifest, answer_words(proposals))
    if not table.has_split:
        table = split_by_date(table) if split == "date" else split_at_random(table)
    cohort = cohort_from_frame(table.frame, table.manifest)
    notes = (*cases.notes, *(readings.notes if readings else ()), *table.notes)
    return Looked(cohort, check(cohort, table.frame.index.tolist()), notes, proposals, table)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read as text: {error}") from None


def _short(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
