"""Workspaces listed, written to files, opened, copied and removed."""

from __future__ import annotations

from argparse import Namespace
from contextlib import suppress
from pathlib import Path
from typing import Any

from mpd2.cli.output import agreed, aligned, print_json
from mpd2.clinic.access.actor import LOCAL
from mpd2.core.cohort import Cohort
from mpd2.core.errors import UserError
from mpd2.core.files import replacing
from mpd2.core.runs import CONFIG, read_description
from mpd2.core.workspace import Workspace
from mpd2.lab.jobs.folder import Workshop
from mpd2.lab.workspaces.archive import open_archive, suggested_file, write_archive
from mpd2.lab.workspaces.copying import copy
from mpd2.lab.workspaces.earlier import made_before
from mpd2.lab.workspaces.removing import leavings, remove
from mpd2.lab.workspaces.shelf import find, find_own, workspaces


def list_workspace(args: Namespace) -> int:
    """Every workspace, a row each."""
    found = [about(workspace) for workspace in workspaces(Workshop.here())]
    if args.json:
        print_json(found)
        return 0
    rows = [
        (*(each[key] for key in ("name", "title", "cases", "readers")), len(each["runs"]), _remark(each))
        for each in found
    ]
    heads = ("workspace", "title", "cases", "readers", "runs", "")
    print(aligned([heads, *[tuple("–" if cell is None else cell for cell in row) for row in rows]]))
    return 0


def _remark(found: dict[str, Any]) -> str:
    """What is wrong with a workspace, else whose it is and whether its runs are of today."""
    old = sorted(set((found["made_before"] or {}).values()))
    return found["problem"] or "; ".join([found["kind"], *(f"runs {words}" for words in old)])


def about(workspace: Workspace) -> dict[str, Any]:
    """What there is to say of a workspace, as plain values; of a damaged one, what is wrong with it."""
    runs = sorted(path.parent.name for path in workspace.runs.glob(f"*/{CONFIG}"))
    basics = {"name": workspace.name, "kind": "shipped" if workspace.shipped else "your own", "runs": runs}
    try:
        cohort = workspace.cohort()
    except UserError as error:
        first, *rest = str(error).splitlines()
        nothing = dict.fromkeys(("title", "cases", "readers", "cohorts", "fingerprint", "made_before"))
        return basics | nothing | {"problem": first if not rest else f"{first} …", "folder": str(workspace.folder)}
    return basics | {
        "title": cohort.manifest.title,
        "cases": len(cohort),
        "readers": cohort.readers,
        "cohorts": len(cohort.manifest.cohorts),
        "fingerprint": cohort.fingerprint,
        "made_before": _made_before(workspace, cohort, runs),
        "problem": "",
        "folder": str(workspace.folder),
    }


def _made_before(workspace: Workspace, cohort: Cohort, runs: list[str]) -> dict[str, str]:
    """The runs that were made from another table than that of today, in words, by name."""
    found = {}
    for run in runs:
        with suppress(UserError):  # a damaged run says so where it is used
            found[run] = made_before(workspace, cohort, read_description(workspace.runs / run).fingerprint)
    return {run: words for run, words in found.items() if words}


def in_words(workspace: Workspace) -> str:
    """What there is now."""
    found = about(workspace)
    return (
        f"{workspace.name}: {found['title']}; cases: {found['cases']:,}, readers: {found['readers']}, "
        f"runs: {len(found['runs'])}; in {workspace.folder}"
    )


def export_workspace(args: Namespace) -> int:
    """One file with everything."""
    workspace = find(args.name, Workshop.here())
    out = args.out or Path(suggested_file(workspace))
    check_free(out, args.force)
    with replacing(out) as draft, draft.open("wb") as file:
        write_archive(workspace, file, by=LOCAL)
    print(f"{out}: {out.stat().st_size / 2**20:.1f} MB; `workspace import` opens it elsewhere")
    return 0


def check_free(out: Path, force: bool) -> None:
    """Refuse to write over a file unasked, and over a folder at all."""
    if out.is_dir():
        raise UserError(f"{out}: is a folder; name a file in it")
    if out.exists() and not force:
        raise UserError(f"{out}: is already there; choose another file, or replace it with --force")


def import_workspace(args: Namespace) -> int:
    """The workspace in a file that was exported."""
    try:
        file = args.file.open("rb")
    except OSError as error:
        raise UserError(f"{args.file}: cannot be read: {error.strerror}") from None
    with file:
        workspace = open_archive(file, Workshop.here(), args.name, by=LOCAL)
    print(in_words(workspace))
    return 0


def copy_workspace(args: Namespace) -> int:
    """A copy, and perhaps the key to its ids."""
    if args.key is not None:
        check_free(args.key, args.force)
        if args.ids != "random":
            raise UserError("--key: only random ids have one")
    made = copy(args.name, args.new, args.ids, Workshop.here(), by=LOCAL)
    if args.key is not None and made.key is not None:
        with replacing(args.key) as draft:
            made.key.to_csv(draft, index=False)
    print(made.in_words())
    return 0


def remove_workspace(args: Namespace) -> int:
    """Nothing is left of it."""
    place = Workshop.here()
    workspace = find_own(args.name, place)
    if not agreed(f"{args.name}: this removes {leavings(workspace, place).in_words()}.", args.yes):
        return 1
    print(f"{args.name}: removed, {remove(args.name, place, by=LOCAL).in_words()}")
    return 0
