"""`workspace`: make one of a table of your own, look at it, build it, give it away and remove it."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from mpd2.cli.arguments import add_json, count, describe, names

SUMMARY = "make, build, share and remove workspaces: a table with all that is made of it"
NAME = "a workspace's name; `workspace list` says which there are"
FILES = "CSV, Parquet or Excel file"
STAGES = ("quick", "methods", "tables", "map", "resplits", "ablations")
SPLITS = (
    "random: stratified, what belongs together stays together; date: the newest cases to judge by (default: random)"
)


def add(command: ArgumentParser) -> None:
    """The arguments of `workspace`: a deed, and those of the deed."""
    describe(
        command,
        "A workspace is one folder: a table, the manifest that says what it is about, and the runs, tables and map\n"
        "made of it. Your own are kept in the folder that the environment variable MPD2_WORKSHOP names, else in\n"
        "build/workspaces. Every other command takes one with --workspace NAME.",
        "workspace new my-clinic --cases cases.xlsx",
        "workspace list",
        "workspace export my-clinic --out my-clinic.zip",
    )
    deeds = command.add_subparsers(dest="deed", metavar="DEED", required=True)
    for deed, (summary, add_arguments, _) in DEEDS.items():
        add_arguments(deeds.add_parser(deed, help=summary, formatter_class=RawDescriptionHelpFormatter))


def run(args: Namespace) -> int:
    """Do what was asked for."""
    module = import_module(f"mpd2.cli.workspace.{DEEDS[args.deed][2]}")
    code: int = getattr(module, f"{args.deed}_workspace")(args)
    return code


def _add_new(command: ArgumentParser) -> None:
    describe(
        command,
        "Make a workspace of a table of your own, with its columns as they are. Without a manifest each column is\n"
        "matched by its name and by what it holds, as in the browser, and said with the reason; --draft writes that\n"
        "as a manifest to change. Nothing is kept before you say so.",
        "workspace new my-clinic --cases cases.xlsx",
        "workspace new my-clinic --cases cases.csv --readings readings.csv --draft my-clinic.toml",
        "workspace new my-clinic --cases cases.csv --readings readings.csv --manifest my-clinic.toml --yes",
    )
    command.add_argument("name", metavar="NAME", help="up to 40 small letters, digits and hyphens")
    command.add_argument("--cases", type=Path, required=True, metavar="FILE", help=f"{FILES}, a row a case")
    _add_files(command)
    command.add_argument(
        "--split", choices=("random", "date"), default="random", help=f"if the table has none: {SPLITS}"
    )
    command.add_argument("--readme", type=Path, metavar="FILE", help="a datasheet, kept with the table")
    command.add_argument("--draft", type=Path, metavar="FILE", help="write the manifest to this file and keep nothing")
    _add_yes(command)


def _add_check(command: ArgumentParser) -> None:
    describe(
        command,
        "Say what is in a workspace or would be in one made of a file: what each column is, what is wrong, what is\n"
        "odd, and what can be known with so many cases. Exits with 1 if it cannot be used.",
        "workspace check my-clinic",
        "workspace check cases.xlsx --json",
        "workspace check my-clinic.workspace.zip",
    )
    command.add_argument("what", metavar="NAME|FILE", help=f"{NAME}; or a {FILES}; or a file that was exported")
    _add_files(command)
    command.add_argument(
        "--split", choices=("random", "date"), default="random", help=f"if the table has none: {SPLITS}"
    )
    add_json(command)


def _add_add(command: ArgumentParser) -> None:
    describe(
        command,
        "Add rows to a workspace of your own. Those there keep their splits; a new row goes to the split it says,\n"
        "else to that of its patient, else it is dealt at random in the same shares. Runs made before say so.",
        "workspace add my-clinic january.xlsx",
    )
    command.add_argument("name", metavar="NAME", help=NAME)
    command.add_argument("cases", type=Path, metavar="FILE", help=f"{FILES} with the workspace's columns")
    command.add_argument("--readings", type=Path, metavar="FILE", help="their readings, if they are in a second file")
    _add_yes(command)


def _add_build(command: ArgumentParser) -> None:
    describe(
        command,
        "Make the study of a workspace of your own and print its figures: first the AI, the recalibrated AI and\n"
        "MPD²+, then the other methods, the tables, the map and other splits of the cases. Interrupted or killed, the\n"
        "same command goes on where it was. A shipped workspace is made with `reproduce --workspace NAME`.",
        "workspace build my-clinic --until quick",
        "workspace build my-clinic --methods ai,recalibrated,mpd2-plus,mao --json",
    )
    command.add_argument("name", metavar="NAME", help=NAME)
    command.add_argument("--methods", type=names, metavar="NAMES", help="such as ai,mpd2-plus (default: all that suit)")
    command.add_argument("--seeds", type=count, help="routers of each method (default: as before, else 10)")
    command.add_argument("--resplits", type=count, help="at most (default: as before, else 20)")
    command.add_argument("--until", choices=STAGES, default="resplits", help="the last stage (default: resplits)")
    add_json(command)


def _add_list(command: ArgumentParser) -> None:
    describe(command, "Every workspace there is: the shipped ones first, then your own.", "workspace list --json")
    add_json(command)


def _add_export(command: ArgumentParser) -> None:
    describe(
        command,
        "Write a workspace to one file: manifest, table, datasheet, runs, tables and map, each with its digest. The\n"
        "table goes along with its ids: make a copy without them first if it leaves the house.",
        "workspace export my-clinic",
        "workspace export my-clinic --out /media/stick/my-clinic.zip",
    )
    command.add_argument("name", metavar="NAME", help=NAME)
    command.add_argument("--out", type=Path, metavar="FILE", help="file to write (default: NAME.workspace.zip)")
    command.add_argument("--force", action="store_true", help="replace a file that is already there")


def _add_import(command: ArgumentParser) -> None:
    describe(
        command,
        "Open a file that `workspace export` made. Digests are checked, nothing in it is executed, and a file with\n"
        "anything that is no part of a workspace is refused before any of it is written.",
        "workspace import my-clinic.workspace.zip",
        "workspace import my-clinic.workspace.zip --name theirs",
    )
    command.add_argument("file", type=Path, metavar="FILE", help="as `workspace export` made it")
    command.add_argument("--name", metavar="NAME", help="another name than it had")


def _add_copy(command: ArgumentParser) -> None:
    describe(
        command,
        "Copy a workspace under another name. Unless ids are kept, cases and what they belong to get other ids, rows\n"
        "another order, and dates, the datasheet and columns that the manifest does not name are left out. Runs know\n"
        "their cases by id and are not copied then: build the copy to make them.",
        "workspace copy my-clinic to-give-away",
        "workspace copy my-clinic to-give-away --key key.csv",
        "workspace copy ecg mine --ids keep",
    )
    command.add_argument("name", metavar="NAME", help=NAME)
    command.add_argument("new", metavar="NEW", help="name of the copy")
    command.add_argument(
        "--ids", choices=("random", "none", "keep"), default="random",
        help="random: other ids; none: cases are numbered; keep: everything as it is (default: random)",
    )  # fmt: skip
    command.add_argument(
        "--key", type=Path, metavar="FILE", help="CSV file for the old id of each random one; kept nowhere else"
    )
    command.add_argument("--force", action="store_true", help="replace a key that is already there")


def _add_photographs(command: ArgumentParser) -> None:
    describe(
        command,
        "Let Case and Map show the photographs in a folder of yours. The manifest says in which column their names\n"
        "stand ([photographs] column); a name leads nowhere but into this folder. Photographs are read and never\n"
        "changed, copied or exported; small copies without metadata go with the workspace when it is removed.",
        "workspace photographs my-clinic --folder /media/photographs",
    )
    command.add_argument("name", metavar="NAME", help=NAME)
    command.add_argument("--folder", type=Path, required=True, metavar="DIR", help="the folder with the files")


def _add_remove(command: ArgumentParser) -> None:
    describe(
        command,
        "Remove a workspace of your own with everything made from it: its table, runs, tables and map, own runs,\n"
        "jobs and tuning studies. Shipped ones stay.",
        "workspace remove my-clinic",
    )
    command.add_argument("name", metavar="NAME", help=NAME)
    _add_yes(command)


def _add_files(command: ArgumentParser) -> None:
    command.add_argument("--readings", type=Path, metavar="FILE", help=f"{FILES}, a row a reading, if they are apart")
    command.add_argument("--manifest", type=Path, metavar="FILE", help="what the columns are (default: by matching)")


def _add_yes(command: ArgumentParser) -> None:
    command.add_argument("--yes", action="store_true", help="do not ask")


DEEDS: dict[str, tuple[str, Callable[[ArgumentParser], None], str]] = {
    "new": ("make one of a table of your own", _add_new, "making"),
    "check": ("say what is in a table or workspace, what is wrong and what can be known", _add_check, "making"),
    "add": ("add rows to one", _add_add, "making"),
    "build": ("make its study and print the figures", _add_build, "building"),
    "list": ("say which there are", _add_list, "sharing"),
    "export": ("write one to a file", _add_export, "sharing"),
    "import": ("open a file that was exported", _add_import, "sharing"),
    "copy": ("copy one, without the ids of its cases", _add_copy, "sharing"),
    "photographs": ("attach a folder with the photographs of its cases", _add_photographs, "photographs"),
    "remove": ("remove one with everything made from it", _add_remove, "sharing"),
}
"""What can be done: what its help says, its arguments, and the module here that does it."""
