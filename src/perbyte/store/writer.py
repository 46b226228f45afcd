"""Writes a run while it is measured, the store's side of `model.Sink`, or out of several runs of the same conditions.

Events go to the journal, one system call each. When an epoch is over, and at the end, what the journal holds
is compacted: first the samples file, then run.json, then an empty journal. After a kill between any two of
these steps, sequence numbers tell what is already safe. Measuring code never waits for more than one write.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

from perbyte import places
from perbyte.atomic import TEMPORARY
from perbyte.errors import StoreError, UsageError
from perbyte.model import (
    Audit,
    Burst,
    Calibration,
    CellFigure,
    Conditions,
    Failure,
    NoiseFloor,
    Row,
    Run,
    RunnerIdentity,
    StoredRun,
    UnprovenTier,
)
from perbyte.store.figures import StoredFigures, samples_digest, write_figures
from perbyte.store.files import (
    BESIDE,
    CELLS_FILE,
    FIGURES_FILE,
    JOURNAL_FILE,
    LOCK_FILE,
    OLDER_SAMPLES_GLOB,
    RUN_FILE,
    SAMPLES_GLOB,
    RunLock,
    check_directory,
    damaged,
    disk_error,
    require_free,
    undisturbed,
)
from perbyte.store.journal import (
    Audited,
    Calibrated,
    EpochDone,
    Event,
    Failed,
    Identified,
    JournalWriter,
    Measured,
    Spent,
    Unproven,
    check_burst,
    encode,
)
from perbyte.store.manifest import (
    MANIFEST_FILE,
    SIGNATURE_FILE,
    Manifest,
    ManifestEntry,
    check_listed,
    entry_of,
    entry_of_file,
    is_read,
    read_manifest,
    unlisted,
    write_manifest,
)
from perbyte.store.opening import run_directory
from perbyte.store.reader import Known, figures_of_stored, open_run, read_known, stored_run
from perbyte.store.state import (
    RunState,
    differences,
    identity_differences,
    require_agreement,
    state_text,
    unlike_to_merge,
    write_state,
)

_OTHER_CONDITIONS = "measure into a new directory instead (leave out --resume)"


class RunWriter:
    """Writes one run directory; made by `create` or `resume`, ended by `finish` or `close`.

    `notes` holds what was noticed on resuming, in plain sentences.
    """

    def __init__(
        self,
        directory: Path,
        lock: RunLock,
        known: Known | None = None,
        listed: dict[str, ManifestEntry] | None = None,
    ) -> None:
        self.directory = directory
        self.notes = known.notes if known else ()
        self._listed = listed or {}  # each file of the run as it lies there
        self._lock = lock
        self._state = known.state if known else None
        self._pending = known.pending if known else []
        self._journal = JournalWriter(directory, known.whole_bytes if known else 0)
        self._copied = (0, 0)  # calibrations and audits that the files of samples have copies of
        self._closed = False

    @classmethod
    def create(cls, directory: Path, overwrite: bool = False) -> Self:
        """Prepare an empty run directory, its parents included.

        `overwrite` removes the run that lies there, and nothing but the files of a run. Raises StoreError
        when the directory holds anything else, or is being written by another process.
        """
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise disk_error(error, directory) from error
        lock = RunLock(directory)
        try:
            _make_room(directory, overwrite)
            return cls(directory, lock)
        except BaseException:
            lock.release()
            raise

    @classmethod
    def resume(cls, directory: Path) -> Self:
        """Go on with the run in `directory`. Raises StoreError when there is none or it cannot be read."""
        check_directory(directory)
        lock = RunLock(directory)
        try:
            for leftover in directory.glob(TEMPORARY + "*"):
                leftover.unlink()
            if manifest := read_manifest(directory):
                check_listed(directory, manifest)
                if manifest.complete and (strange := unlisted(directory, manifest)):
                    raise damaged(directory / strange[0][0], strange[0][1])
            known = read_known(directory)
            listed = {
                place.name: entry_of_file(place)
                for place in (directory / RUN_FILE, *known.stored, *_beside(directory))
                if not manifest or place.name not in manifest.files or place.name == RUN_FILE
            }
            known_files = manifest.files.items() if manifest else ()
            listed = {name: entry for name, entry in known_files if is_read(name)} | listed
            listed.pop(JOURNAL_FILE, None)  # it grows from here on
            return cls(directory, lock, known, listed)
        except OSError as error:
            lock.release()
            raise disk_error(error, directory) from error
        except BaseException:
            lock.release()
            raise

    def begin(self, conditions: Conditions) -> None:
        """Note the conditions; of a resumed run, check that they are still the same.

        A resumed run keeps its id, start and command and takes over the new policy and plan. Raises
        IncompatibleRuns when something changed that figures depend on.
        """
        if self._state is None:
            self._state = RunState(conditions=conditions)
        else:
            known = self._state.conditions
            changed = differences(known, conditions)
            require_agreement(
                changed, "the run cannot be resumed, because conditions have changed", _OTHER_CONDITIONS
            )
            plan = tuple(dict.fromkeys((*known.plan, *conditions.plan)))
            self._state.conditions = replace(known, policy=conditions.policy, plan=plan)
            self._state.complete = False
            self._state.continued.append(
                {
                    "started_at": conditions.started_at,
                    "command": list(conditions.command),
                    "load_before": list(conditions.load_before),
                }
            )
        (self.directory / SIGNATURE_FILE).unlink(missing_ok=True)  # it is of the run as it was
        self._put_state()

    def identified(self, identity: RunnerIdentity) -> None:
        """Note who answers for a runner. Raises IncompatibleRuns when it was another one before."""
        known = self._begun().conditions.identities
        if identity in known:
            return
        changed = identity_differences(known, identity)
        require_agreement(changed, "a runner is not the one this run began with", _OTHER_CONDITIONS)
        self._append(Identified(self._next(), identity))

    def calibrated(self, calibration: Calibration) -> None:
        """Note a process's calibration."""
        self._append(Calibrated(self._next(), calibration))

    def measured(self, burst: Burst) -> None:
        """Keep a burst. When this returns, a kill of the process no longer loses it.

        Raises StoreError when the disk is full (the journal stays whole) or the burst holds numbers that
        cannot be stored.
        """
        check_burst(burst)
        number = self._next()
        with undisturbed():
            self._append(Measured(number, burst))
            self._pending.append((number, burst))

    def failed(self, failure: Failure) -> None:
        """Note a failure."""
        self._append(Failed(self._next(), failure))

    def unproven(self, tier: UnprovenTier) -> None:
        """Note a tier that has to be proved by figures, or what a look at it showed."""
        self._append(Unproven(self._next(), tier))

    def audited(self, audit: Audit) -> None:
        """Note what was seen of a cell from outside."""
        self._append(Audited(self._next(), audit))

    def spent(self, measuring_s: float) -> None:
        """Note the seconds of measuring the run has taken so far. Raises StoreError when the disk is full."""
        self._append(Spent(self._next(), measuring_s))

    def take_over(self, stored: StoredRun, failures: Sequence[Failure] = ()) -> None:
        """Write all that another run has measured, and `failures` beside its own."""
        for calibration in stored.calibrations:
            self.calibrated(calibration)
        for tier in stored.unproven:
            self.unproven(tier)
        for audit in stored.audits:
            self.audited(audit)
        for burst in stored.bursts:
            self.measured(burst)
        for failure in (*stored.failures, *failures):
            self.failed(failure)

    def epoch_done(self, epoch: int) -> None:
        """Note that an epoch is over, and compact the journal."""
        self._append(EpochDone(self._next(), epoch))
        with undisturbed():
            self._write_samples()
            self._put_state()
            self._journal.start_anew()

    def finish(
        self,
        cells: tuple[CellFigure, ...],
        noise_floor: NoiseFloor | None,
        measuring_s: float,
        complete: bool,
        refused: tuple[Failure, ...] = (),
    ) -> None:
        """End the run with its figures, force all of it to the disk, and close."""
        from perbyte.stats.run_figures import RULES

        state = self._begun()
        with undisturbed():
            self._write_samples()
            if {FIGURES_FILE, CELLS_FILE} & {*self._listed} and state.figures_seq == state.seq:
                state.figures_seq = -1  # no manifest may list figures that are being replaced
                self._put_state()
            figures = StoredFigures(
                run_id=state.conditions.run_id,
                seq=state.seq,
                samples=samples_digest(self._listed),
                rules=RULES,
                cells=cells,
            )
            write_figures(self.directory, figures)
            self._listed[FIGURES_FILE] = entry_of_file(self.directory / FIGURES_FILE)
            (self.directory / CELLS_FILE).unlink(missing_ok=True)  # of an older version
            self._listed.pop(CELLS_FILE, None)
            state.figures_seq, state.figures = state.seq, len(cells)
            state.rules, state.refused = RULES, [*refused]
            state.noise_floor, state.measuring_s = noise_floor, measuring_s
            if complete:  # whenever the process is killed, a complete run has an empty journal
                self._put_state()
                self._journal.start_anew()
            state.complete = complete
            self._put_state()
            self._journal.start_anew()
            self.close()

    def close(self) -> None:
        """Let go of the run. What was given to it is kept; harmless when done twice."""
        self._closed = True
        self._journal.close()
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _begun(self) -> RunState:
        if self._closed:
            raise StoreError(f"{self.directory} is closed", hint="open it again with RunWriter.resume")
        if self._state is None:
            raise StoreError(f"{self.directory} was not begun", hint="call begin with the run's conditions")
        return self._state

    def _next(self) -> int:
        return self._begun().seq + 1

    def _append(self, event: Event) -> None:
        state = self._begun()
        with undisturbed():
            self._journal.append(event)
            state.apply(event)

    def _put_state(self) -> None:
        """Write the manifest and then run.json; whoever reads between the two knows both forms of run.json."""
        state, before = self._begun(), self._listed.get(RUN_FILE)
        content = state_text(state)
        files = self._listed | {RUN_FILE: entry_of(content)}
        if state.figures_seq != state.seq:
            for name in (FIGURES_FILE, CELLS_FILE):
                files.pop(name, None)
        listed = Manifest(
            state.conditions.run_id,
            state.seq,
            state.complete,
            files,
            before.sha256 if before else "",
            whole=True,
        )
        write_manifest(self.directory, listed)
        write_state(self.directory, content)
        self._listed = files

    def _write_samples(self) -> None:
        """Write what is pending into a samples file. On failure it stays pending, and journalled.

        The file is named after its first burst: should it have to be written twice, it replaces itself.
        """
        if not self._pending:
            return
        from perbyte.store.samples import write_samples

        place = self.directory / f"samples-{self._pending[0][0]:08d}.npz"
        state = self._begun()
        calibrated, audited = self._copied
        own = replace(state, calibrations=state.calibrations[calibrated:], audits=state.audits[audited:])
        write_samples(place, self._pending, state.seq, encode(own))
        self._listed[place.name] = entry_of_file(place)
        self._pending = []
        self._copied = (len(state.calibrations), len(state.audits))


def require_room(directory: Path) -> None:
    """Raise StoreError where `create` could not make a run, as far as that is seen without making anything."""
    error = places.refusal(directory)
    if not error and directory.exists() and not directory.is_dir():
        error = OSError(errno.EEXIST, os.strerror(errno.EEXIST))
    if error:
        raise disk_error(error, directory)
    if directory.is_dir():
        require_free(directory)
        _ours(directory, overwrite=False)


def _beside(directory: Path) -> list[Path]:
    return [place for name in BESIDE if (place := directory / name).is_file()]


def _make_room(directory: Path, overwrite: bool) -> None:
    try:
        for place in (*_ours(directory, overwrite), *filter(_is_leftover, directory.iterdir())):
            place.unlink()
    except OSError as error:
        raise disk_error(error, directory) from error


def _ours(directory: Path, overwrite: bool) -> list[Path]:
    """The files of the run that lies in `directory` and may be overwritten. Raises StoreError for all else there."""
    try:
        present = [p for p in directory.iterdir() if p.name != LOCK_FILE and not _is_leftover(p)]
        names = (RUN_FILE, FIGURES_FILE, CELLS_FILE, JOURNAL_FILE, MANIFEST_FILE, SIGNATURE_FILE, *BESIDE)
        globs = (SAMPLES_GLOB, OLDER_SAMPLES_GLOB)
        ours = [place for place in present if place.name in names or any(map(place.match, globs))]
        if present and not ours:
            raise StoreError(
                f"{directory} is not empty and holds no run", hint="choose another place with --out"
            )
        if ours and not overwrite:
            raise StoreError(
                f"{directory} already holds a run",
                hint=f"continue it (--resume {directory}) or choose another --out",
            )
        return ours
    except OSError as error:
        raise disk_error(error, directory) from error


def _is_leftover(place: Path) -> bool:
    """Whether a kill before the first event left this file behind; it holds nothing."""
    return place.name.startswith(TEMPORARY) or (
        place.name == JOURNAL_FILE and not place.is_symlink() and place.stat().st_size == 0
    )


def merge(paths: Sequence[Path], into: Path) -> Run:
    """Write the samples of all runs into a new run directory and make its figures.

    Epochs are numbered on, because each is a set of fresh processes. Raises IncompatibleRuns naming the
    checked fields that differ, UsageError for fewer than two runs or one given twice, StoreError otherwise.
    """
    directories = [run_directory(path) for path in paths]
    if len(directories) < 2 or len({place.resolve() for place in directories}) < len(directories):
        raise UsageError("merging needs two or more different runs", hint="name each run once")
    conditions = read_known(directories[0]).state.conditions
    ids = [conditions.run_id]
    for place in directories[1:]:
        other = read_known(place).state.conditions
        changed = unlike_to_merge(conditions, other)
        hint = "compare them instead: perbyte compare A B"
        require_agreement(changed, f"{directories[0]} and {place} cannot be merged", hint)
        if other.run_id in ids:
            raise UsageError(f"{place} is a copy of a run that is already given", hint="name each run once")
        ids.append(other.run_id)
        conditions = replace(
            conditions,
            plan=tuple(dict.fromkeys((*conditions.plan, *other.plan))),
            identities=tuple(dict.fromkeys((*conditions.identities, *other.identities))),
        )
    conditions = replace(conditions, run_id="+".join(ids))
    whole = StoredRun(conditions, (), (), (), (), (), 0.0, True)
    for place in directories:
        whole = _joined(whole, stored_run(place))
    with RunWriter.create(into) as writer:
        writer.begin(conditions)
        made = figures_of_stored(whole)
        writer.take_over(whole, made.failures)
        writer.finish(made.cells, made.noise_floor, whole.measuring_s, whole.complete, made.failures)
    return open_run(into)


def _joined(first: StoredRun, second: StoredRun) -> StoredRun:
    """Return both runs as one: under the conditions of the first, the second one's epochs numbered on."""
    epochs = [learnt.epoch for learnt in first.calibrations] + [burst.epoch for burst in first.bursts]
    shift = 1 + max(epochs, default=-1)
    tiers: dict[Row, UnprovenTier] = {tier.row: tier for tier in first.unproven}
    tiers |= {tier.row: tier for tier in second.unproven if tier.factor or tier.row not in tiers}
    return StoredRun(
        first.conditions,
        first.calibrations
        + tuple(replace(calibration, epoch=calibration.epoch + shift) for calibration in second.calibrations),
        first.bursts + tuple(replace(burst, epoch=burst.epoch + shift) for burst in second.bursts),
        first.failures + second.failures,
        tuple(tiers.values()),
        first.audits + tuple(replace(audit, epoch=audit.epoch + shift) for audit in second.audits),
        first.measuring_s + second.measuring_s,
        first.complete and second.complete,
    )
