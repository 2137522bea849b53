"""`imaging train`: small networks on rendered photographs, so that the whole way can be walked without any download."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from time import perf_counter

from mpd2.cli.arguments import add_json, count, describe
from mpd2.cli.output import now_and_then, print_json, say
from mpd2.core.errors import UserError

SUMMARY = "train small networks on rendered photographs"


def add(command: ArgumentParser) -> None:
    """The arguments of `imaging train`."""
    describe(
        command,
        "Render eyes with known disc, cup and disease, train a small SwinV2 and a small SegFormer on them, fit what\n"
        "is usual and what is of good quality, and write a pipeline's folder. Then judge it on rendered photographs\n"
        "that it never saw. What it reaches there says nothing about real eyes.",
        "imaging train --out models/small",
        "imaging train --out models/small --eyes 200 --minutes 1 --json",
    )
    command.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="the pipeline's folder")
    command.add_argument("--eyes", type=count, default=2000, help="to learn from (default: 2000)")
    command.add_argument(
        "--minutes",
        type=float,
        default=8.0,
        help="about how long to learn on a usual core, after rendering; it sets the number of passes, so that the same "
        "seed gives the same networks (default: 8)",
    )
    command.add_argument("--seed", type=int, default=0, help="of eyes, first weights and order (default: 0)")
    command.add_argument("--judged", type=count, default=400, help="eyes to judge it on (default: 400)")
    command.add_argument("--force", action="store_true", help="replace a pipeline that is already there")
    add_json(command)


def run(args: Namespace) -> int:
    """Train, judge, and print the figures."""
    check_place(args.out, args.force)
    from mpd2.imaging.pipeline import Pipeline
    from mpd2.imaging.small.judging import as_markdown, judge
    from mpd2.imaging.small.making import Plan, cores, make_small

    start, tell = perf_counter(), now_and_then()
    made = make_small(args.out, Plan(args.eyes, args.minutes, args.seed), cores(), tell)
    seconds = perf_counter() - start
    say(f"{args.out}: made in {seconds:.0f} s")
    judgement = judge(Pipeline.load(args.out), args.judged, max(1, args.judged // 2), args.seed, tell)
    size = sum(path.stat().st_size for path in args.out.rglob("*") if path.is_file())
    if args.json:
        courses = {"classifier": made.classifier, "segmenter": made.segmenter}
        learnt = {name: {"passes": len(each.train), "kept": each.best + 1} for name, each in courses.items()}
        about = {"folder": str(args.out), "bytes": size, "seconds": round(seconds), **learnt}
        print_json(about | judgement.to_json())
        return 0
    print(f"{args.out}: {size / 2**20:.1f} MB, made in {seconds:.0f} s\n\n{as_markdown(judgement)}")
    print("These are rendered photographs: the figures say nothing about real eyes.")
    return 0


def check_place(out: Path, force: bool) -> None:
    """Refuse a place where a pipeline would replace something it must not."""
    from mpd2.imaging.pipeline import SETTINGS

    if out.exists() and not force:
        raise UserError(f"{out}: is already there; choose another place with --out, or replace it with --force")
    if out.exists() and not (out / SETTINGS).is_file():
        raise UserError(f"{out}: is not a pipeline, so --force does not replace it; choose another place with --out")
