"""`bench`: how fast is it here?"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable

from mpd2.cli.arguments import count, describe
from mpd2.cli.bench import arguments
from mpd2.cli.bench.as_text import Timings, describe_lab, describe_route, describe_training, describe_ui
from mpd2.cli.output import print_json
from mpd2.core.errors import UserError
from mpd2.core.files import FIRST_WORKSPACE

SUMMARY = "measure how fast it is"


def add(command: ArgumentParser) -> None:
    """The arguments of `bench`: a subject, and those of the subject."""
    examples = (f"bench {subject} --json" for subject, _, _ in arguments.SUBJECTS)
    describe(command, "Measure speed and memory.", *examples)
    parsers = command.add_subparsers(dest="subject", metavar="SUBJECT", required=True)
    for subject, summary, add_arguments in arguments.SUBJECTS:
        add_arguments(parsers.add_parser(subject, help=summary, formatter_class=RawDescriptionHelpFormatter))


def run(args: Namespace) -> int:
    """Time what was asked for, and print the timings."""
    measure, as_text = SUBJECTS[args.subject]
    timings = measure(args)
    if args.json:
        print_json(timings)
    else:
        print(as_text(timings))
    return 0


def _measure_training(args: Namespace) -> Timings:
    from mpd2.cli.bench.train import bench_training
    from mpd2.cli.inputs import cohort_of, config_of

    return bench_training(cohort_of(args.table), config_of(args), args.epochs)


def _measure_routing(args: Namespace) -> Timings:
    from mpd2.cli.bench.route import bench_route
    from mpd2.cli.bench.slider import bench_slider
    from mpd2.cli.inputs import cohort_of

    timings = bench_route(args.run, cohort_of(args.table))
    return timings | {"slider": bench_slider()} if args.slider else timings


def _measure_ui(args: Namespace) -> Timings:
    from mpd2.cli.bench.ui import bench_ui

    return bench_ui(args.visits, args.workspace or FIRST_WORKSPACE)


def _measure_lab(args: Namespace) -> Timings:
    from mpd2.cli.bench.lab import bench_lab
    from mpd2.cli.inputs import cohort_of

    return bench_lab(cohort_of(args.table), args.table, args.trials, args.reruns)


def _measure_imaging(args: Namespace) -> Timings:
    from mpd2.cli.bench.imaging import bench_imaging

    return bench_imaging(args.rounds, args.pictures, args.processes, args.small)


def _describe_imaging(timings: Timings) -> str:
    from mpd2.cli.bench.imaging import describe_imaging

    return describe_imaging(timings)


def _measure_curve(args: Namespace) -> Timings:
    from mpd2.cli.bench.learning_curve import KEYS, SIZES, bench_learning_curve

    return bench_learning_curve([count(size) for size in args.sizes] or SIZES, args.seeds, args.methods or KEYS)


def _describe_curve(timings: Timings) -> str:
    from mpd2.cli.bench.learning_curve import describe_curve

    return describe_curve(timings)


def _measure_record(args: Namespace) -> Timings:
    from mpd2.cli.bench.record import bench_record

    return bench_record(args.entries, args.appends, args.storage, args.folder)


def _describe_record(timings: Timings) -> str:
    from mpd2.cli.bench.record import describe_record

    return describe_record(timings)


def _measure_statistics(args: Namespace) -> Timings:
    from mpd2.cli.bench.clinic.statistics import PARTS, bench_clinic_statistics
    from mpd2.cli.inputs import cohort_of
    from mpd2.core.runs import load_errors, load_run

    run, errors = load_run(args.run), load_errors(args.run)
    parts = [args.part] if args.part else PARTS
    return bench_clinic_statistics(cohort_of(args.table), run, errors, args.replays, not args.quick, parts)


def _describe_statistics(timings: Timings) -> str:
    from mpd2.cli.bench.clinic.statistics import describe_clinic_statistics

    return describe_clinic_statistics(timings)


def _measure_local(args: Namespace) -> Timings:
    from mpd2.cli.bench.clinic.local_cases import LOCAL, METHOD, bench_local_cases
    from mpd2.cli.inputs import cohort_of

    wrong = [size for size in args.sizes if not size.isdecimal()]
    if wrong:
        raise UserError(f"sizes: found {', '.join(wrong)}, expected whole numbers of at least 0")
    sizes = [int(size) for size in args.sizes] or LOCAL
    return bench_local_cases(cohort_of(args.table), args.cohort, sizes, args.draws, args.methods or (METHOD,))


def _describe_local(timings: Timings) -> str:
    from mpd2.cli.bench.clinic.local_cases import describe_local_cases

    return describe_local_cases(timings)


def _measure_visitors(args: Namespace) -> Timings:
    from mpd2.cli.bench.crowd.crowd import Crowd
    from mpd2.cli.bench.crowd.visitors import bench_visitors

    crowd = Crowd(args.visitors, args.minutes, args.processes, args.training, args.pause, args.seed)
    return bench_visitors(crowd, args.table, args.curve)


def _describe_visitors(timings: Timings) -> str:
    from mpd2.cli.bench.crowd.visitors import describe_visitors

    return describe_visitors(timings)


def _measure_clinic(args: Namespace) -> Timings:
    from mpd2.cli.bench.clinic.load import Load, bench_clinic

    return bench_clinic(
        Load(args.cases, args.rate, args.minutes, args.visitors, args.pause, args.alone, args.rounds, args.seed)
    )


def _describe_clinic(timings: Timings) -> str:
    from mpd2.cli.bench.clinic.load import describe_clinic

    return describe_clinic(timings)


SUBJECTS: dict[str, tuple[Callable[[Namespace], Timings], Callable[[Timings], str]]] = {
    "train": (_measure_training, describe_training),
    "route": (_measure_routing, describe_route),
    "ui": (_measure_ui, describe_ui),
    "lab": (_measure_lab, describe_lab),
    "imaging": (_measure_imaging, _describe_imaging),
    "learning-curve": (_measure_curve, _describe_curve),
    "record": (_measure_record, _describe_record),
    "clinic-statistics": (_measure_statistics, _describe_statistics),
    "local-cases": (_measure_local, _describe_local),
    "visitors": (_measure_visitors, _describe_visitors),
    "clinic": (_measure_clinic, _describe_clinic),
}
"""How each subject is measured, and its timings as text."""
