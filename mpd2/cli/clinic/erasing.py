"""`clinic erase`: ids of cases and groups give way to random names."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict
from datetime import UTC, datetime, time

from mpd2.cli.clinic.days import date_of
from mpd2.cli.output import agreed, print_json
from mpd2.clinic.access.actor import LOCAL
from mpd2.clinic.installation import clinic_options
from mpd2.clinic.shadow.erasing import erase_before, erase_case, retention_limit, tidy
from mpd2.clinic.shadow.store import ShadowStore
from mpd2.core.errors import UserError
from mpd2.core.text import numbered
from mpd2.lab.jobs.folder import Workshop
from mpd2.lab.shadowing import home_of

STILL = "Backups that were made before, and tables that were taken in from a folder, in `taken`, still have them."


def run_erase(args: Namespace) -> int:
    """Erase what was asked for, also where no run is active."""
    options = clinic_options()
    store = ShadowStore(options.storage, home_of(Workshop.here()))
    if store.file is not None and not store.file.is_file():
        raise UserError(f"shadow mode: nothing is kept in {store.file}")
    store.open()
    try:
        if args.tidy:
            tidy(store)
            return 0
        before = _limit(args.before, options.retention_days) if args.case is None else None
        whose = f"The id of {args.case}"
        if before is not None:
            whose = f"Ids of all who last came in before {before:%Y-%m-%d %H:%M} UTC"
        if not agreed(f"{whose} will be erased, for good.", args.yes):
            return 1
        erased = (
            erase_case(store, args.case, args.reason, by=LOCAL)
            if before is None
            else erase_before(store, before, args.reason, by=LOCAL)
        )
    finally:
        store.close()
    if args.json:
        print_json(asdict(erased))
    else:
        found = f"{numbered(erased.cases, 'case')} of {numbered(erased.arrivals, 'arrival')}"
        print(f"{found} erased, and {numbered(erased.groups, 'group')}. {STILL}")
    return 0


def _limit(day: str | None, days: int | None) -> datetime:
    return retention_limit(days) if day is None else datetime.combine(date_of(day), time(), UTC)
