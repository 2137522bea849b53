"""Which run the clinic uses: proposed by one person, activated by another.

A run is named as it is kept: `NAME` of an own run, or `WORKSPACE/NAME` of a workspace's study. It is known by the
digests of its files, so that what was proposed is what is activated and what is used.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock

from pydantic import Field, ValidationError

from mpd2.clinic.access.actions import Action
from mpd2.clinic.access.actor import LOCAL, Actor
from mpd2.clinic.access.authorise import authorise
from mpd2.clinic.settings import load_settings
from mpd2.core.errors import UserError, invalid_entries
from mpd2.core.files import replacing, short_hash
from mpd2.core.manifest import Record
from mpd2.core.runs import load_run, read_description
from mpd2.lab.jobs.folder import Workshop
from mpd2.lab.workspaces.shelf import find

FILE, LOCK = "activation.json", "lock"
LONGEST = 500  # characters of a reason
KEPT = 100  # activations that are remembered here; the record remembers all
Stamps = tuple[tuple[str, int, int, int, int], ...]
ALONE = "by the single local user alone, since this installation has no login"


class Proposal(Record):
    """A run that somebody wants the clinic to use."""

    run: str = Field(min_length=1)
    digest: str = Field(min_length=1)  # of its files
    reason: str = Field(min_length=1, max_length=LONGEST)
    proposed_by: str
    proposed_at: datetime


class Activation(Record):
    """A proposal that somebody else has accepted."""

    proposal: Proposal
    activated_by: str
    activated_at: datetime

    @property
    def alone(self) -> bool:
        """Whether one and the same took both steps, as only the user of an installation without login may."""
        return self.activated_by == self.proposal.proposed_by

    def in_words(self) -> str:
        """Which run, by whom and since when."""
        given = self.proposal
        if self.alone:
            return f"{given.run}: active since {self.activated_at:%Y-%m-%d %H:%M} UTC, {ALONE}. Reason: {given.reason}"
        return (
            f"{given.run}: active since {self.activated_at:%Y-%m-%d %H:%M} UTC, proposed by {given.proposed_by}, "
            f"activated by {self.activated_by}. Reason: {given.reason}"
        )


class Standing(Record):
    """What is proposed, what is active and what was before."""

    proposal: Proposal | None = None
    active: Activation | None = None
    before: tuple[Activation, ...] = ()  # the newest last


def standing(place: Workshop) -> Standing:
    """How it stands; a file that cannot be read is an error, for nobody should guess which run is in use."""
    path = place.clinic / FILE
    try:
        return Standing.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return Standing()
    except OSError as error:
        raise UserError(f"{FILE}: cannot be read: {error.strerror}") from None
    except ValidationError as error:
        raise UserError(f"{FILE}: cannot be read: {invalid_entries(error)}") from None


def propose(run: str, reason: str, place: Workshop, *, by: Actor) -> Proposal:
    """Propose a run for the clinic; it takes the place of what was proposed before."""
    digest = digest_of(run, place)
    authorise(by, Action.PROPOSE_RUN, reason=reason, run=run, digest=digest)
    words = reason.strip()
    if not 1 <= len(words) <= LONGEST:
        raise UserError(f"reason: found {len(words)} characters, expected from 1 to {LONGEST}")
    made = Proposal(run=run, digest=digest, reason=words, proposed_by=by.id, proposed_at=datetime.now(UTC))
    with _alone(place):
        _write(standing(place).model_copy(update={"proposal": made}), place)
    return made


def activate(run: str, place: Workshop, *, by: Actor) -> Activation:
    """Make the run that is proposed the active one; whoever proposed it cannot."""
    proposal = standing(place).proposal
    authorise(by, Action.ACTIVATE_RUN, against=_second_person(proposal, by), run=run)
    if proposal is None or proposal.run != run:
        raise UserError(f"{run}: is not proposed; propose it first")
    if digest_of(run, place) != proposal.digest:
        raise UserError(f"{run}: its files have changed since it was proposed; propose it again")
    made = Activation(proposal=proposal, activated_by=by.id, activated_at=datetime.now(UTC))
    with _alone(place):
        before = standing(place)
        if before.proposal != proposal:
            raise UserError(f"{run}: was proposed anew meanwhile; look again before you activate it")
        earlier = (*before.before, *([before.active] if before.active else []))[-KEPT:]
        _write(Standing(active=made, before=earlier), place)
    return made


def active_run(place: Workshop) -> Path | None:
    """The folder of the run the clinic uses; none if none was activated, an error if it is not what was activated."""
    active = standing(place).active
    if active is None:
        return None
    if digest_of(active.proposal.run, place) != active.proposal.digest:
        raise UserError(f"{active.proposal.run}: its files have changed since it was activated; propose it again")
    return folder_of(active.proposal.run, place)


def refuse_if_active(run: str, place: Workshop) -> None:
    """Refuse to remove the run that the clinic uses."""
    active = standing(place).active
    if active is not None and active.proposal.run == run:
        raise UserError(f"{run}: is active in the clinic; activate another run first")


def folder_of(run: str, place: Workshop) -> Path:
    """Where a run is kept."""
    workspace, _, name = run.rpartition("/")
    if not name or name.startswith(".") or "/" in workspace:
        raise UserError(f"run: found {run!r}, expected the name of an own run, or WORKSPACE/NAME")
    return (find(workspace, place).runs if workspace else place.runs) / name


def digest_of(run: str, place: Workshop) -> str:
    """What tells a run from every other: the digests of its files, each of which is compared with the file."""
    folder = folder_of(run, place)
    stamps = _stamps(folder)  # before they are read
    with _LOOKED:
        known = _digests.get(folder)
    if known is None or known[0] != stamps:
        load_run(folder)
        known = stamps, short_hash(sorted(read_description(folder).files.items()))
        with _LOOKED:
            _digests[folder] = known
    return known[1]


def _stamps(folder: Path) -> Stamps:
    """What tells whether a file of a run was written since: names, times in ns, sizes and inodes."""
    try:
        found = [(each.name, each.stat()) for each in os.scandir(folder)]
    except OSError as error:
        raise UserError(f"{folder.name}: the run cannot be read: {error.strerror}") from None
    return tuple(sorted((name, each.st_mtime_ns, each.st_ctime_ns, each.st_size, each.st_ino) for name, each in found))


def _second_person(proposal: Proposal | None, by: Actor) -> str:
    """What speaks against it that somebody activates a proposal; empty if nothing does."""
    if proposal is None or proposal.proposed_by != by.id or (by.id == LOCAL.id and load_settings().login is None):
        return ""
    return "whoever proposed a run cannot activate it; it takes a second person"


def _write(now: Standing, place: Workshop) -> None:
    with replacing(place.clinic / FILE) as draft:
        draft.write_text(now.model_dump_json(indent=1), encoding="utf-8")


@contextmanager
def _alone(place: Workshop) -> Iterator[None]:
    """One at a time decides."""
    try:
        place.clinic.mkdir(parents=True, exist_ok=True)
        file = (place.clinic / LOCK).open("w")
    except OSError as error:
        raise UserError(f"the activation cannot be kept: {error.strerror}") from None
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


_LOOKED = Lock()
_digests: dict[Path, tuple[Stamps, str]] = {}  # of runs whose files were compared with their digests, until they change
