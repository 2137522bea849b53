"""Shadow mode of this installation: its store, the run that is active, and the cases that run learned from."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from mpd2.clinic.installation import clinic_options
from mpd2.clinic.shadow.deciders import Deciders, keeping_sensitivity
from mpd2.clinic.shadow.deciding import Decider
from mpd2.clinic.shadow.evidence.watching import Watch, watch
from mpd2.clinic.shadow.snapshot import Snapshot, snapshot
from mpd2.clinic.shadow.store import ShadowStore
from mpd2.core.cohort import Cohort
from mpd2.core.errors import UserError
from mpd2.core.manifest import Manifest
from mpd2.core.runs import Run, load_errors, load_run
from mpd2.core.table_file import fingerprint
from mpd2.core.workspace import Workspace
from mpd2.lab.activation import Proposal, active_run, standing
from mpd2.lab.jobs.folder import Workshop
from mpd2.lab.workspaces.earlier import rows_added_since, rows_by_fingerprint
from mpd2.lab.workspaces.shelf import find, workspaces

Stamps = tuple[tuple[Path, tuple[int, int]], ...]
"""Files, each with its time of change in ns and its size."""


@dataclass(frozen=True, eq=False)
class Shadow:
    """All that the clinic's pages, commands and interface work with."""

    place: Workshop
    store: ShadowStore
    workspace: Workspace  # whose cases the active run learned from
    deciders: Deciders  # the active run, under the setting of each day
    title: str  # of the active run, as it was proposed
    stamps: Stamps  # of the workspace's files when they were read
    _made: list[Snapshot] = field(default_factory=list)  # the newest, if there is any
    _making: Lock = field(default_factory=Lock)

    @classmethod
    def here(cls, place: Workshop) -> Shadow:
        """Shadow mode of this installation, kept ready; a `UserError` says what is missing if it cannot begin."""
        active = standing(place).active
        folder = active_run(place)  # which refuses a run that was changed since
        if active is None or folder is None:
            raise UserError(
                "shadow mode: no run is active; propose one and let a second person activate it, on Retrain under Own "
                "runs or with `mpd2 clinic propose` and `mpd2 clinic activate`"
            )
        options, home = clinic_options(), home_of(place)
        made_of = (place, options.storage, home, active.proposal.run, active.proposal.digest, os.getpid())
        with _LOCK:
            found: Shadow | None = _open.get("shadow")
            if found is not None and _open["made_of"] == made_of and found._is_as_it_was():
                return found
            if found is not None and _open["made_of"][-1] == os.getpid():  # a parent's connections are not ours
                found.store.close()
            _open.clear()
            made = _made(place, ShadowStore(options.storage, home), active.proposal, folder)
            _open.update(shadow=made, made_of=made_of)
            return made

    @property
    def learned(self) -> Cohort:
        """Every case of the table the run learned from."""
        return self.deciders.learned

    @property
    def manifest(self) -> Manifest:
        """What cases are known by."""
        return self.deciders.manifest

    @property
    def run(self) -> Run:
        """The active run."""
        return self.deciders.run

    @property
    def decider(self) -> Decider:
        """Who decides the cases of today."""
        return self.deciders.on(datetime.now(UTC).date())

    def snapshot(self) -> Snapshot:
        """Everything that is kept, as of now; made anew only where something was added."""
        return self._snapshot_of(self.store.version())

    def watch(self) -> Watch:
        """What has changed since the run learned, over all that is kept as of now."""
        return watch(self.snapshot(), self.decider, self.store.acknowledgements())

    def _snapshot_of(self, version: int) -> Snapshot:
        with self._making:
            if not self._made or self._made[0].version < version:
                self._made[:] = [snapshot(self.store, self.learned, self.manifest)]
            return self._made[0]

    def _is_as_it_was(self) -> bool:
        """Whether the database and the table are still the files they were."""
        return not self.store.is_replaced() and _stamps(tuple(path for path, _ in self.stamps)) == self.stamps


def _made(place: Workshop, store: ShadowStore, proposal: Proposal, folder: Path) -> Shadow:
    run = load_run(folder)
    workspace = _workspace_of(proposal.run, run, place)
    stamps = _stamps((workspace.manifest_path, workspace.table))
    learned = as_learned(run, workspace)
    store.open()
    errors = load_errors(folder)
    deciders = Deciders(store, run, proposal.digest, learned, errors, keeping_sensitivity(run, learned, errors))
    return Shadow(place, store, workspace, deciders, proposal.run, stamps)


def home_of(place: Workshop) -> Path:
    """The folder of what shadow mode keeps, where that is a file."""
    return clinic_options().folder or place.clinic


def as_learned(run: Run, workspace: Workspace) -> Cohort:
    """The cases of a workspace as they were when the run was made: without those that were added since."""
    cohort = workspace.cohort()
    added = rows_added_since(workspace, cohort, run.fingerprint)
    return cohort.rows(np.arange(len(cohort) - added)) if added else cohort


def _workspace_of(name: str, run: Run, place: Workshop) -> Workspace:
    """The workspace whose cases a run learned from."""
    named, _, _ = name.rpartition("/")
    if named:
        return find(named, place)
    for workspace in workspaces(place):
        known = {fingerprint(workspace.table.read_bytes(), workspace.manifest()), *rows_by_fingerprint(workspace)}
        if run.fingerprint in known:
            return workspace
    raise UserError(f"{name}: the table it learned from, {run.fingerprint}, is in none of the workspaces here")


def _stamps(files: Sequence[Path]) -> Stamps:
    try:
        found = [path.stat() for path in files]
    except OSError as error:
        raise UserError(f"workspace {files[0].parent.name}: cannot be read: {error.strerror}") from None
    return tuple((path, (each.st_mtime_ns, each.st_size)) for path, each in zip(files, found, strict=True))


_LOCK = Lock()
_open: dict[str, Any] = {}
