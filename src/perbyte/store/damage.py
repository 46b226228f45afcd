"""Finds what is damaged in a run directory, and saves what is readable into a new one.

What is found is damage, not intent: whoever can write the directory can write its manifest too. Against that a run is
signed (`store.signature`). The directory that is looked at is never changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from perbyte.errors import StoreError
from perbyte.locks import held_by
from perbyte.model import Burst, Failure
from perbyte.store.beside import decode_leaks, leaks_beside, read_behaviours, read_placements
from perbyte.store.figures import read_figures, unlike
from perbyte.store.files import (
    BESIDE,
    CELLS_FILE,
    FIGURES_FILE,
    JOURNAL_FILE,
    LEAK_FILE,
    LOCK_FILE,
    RUN_FILE,
    check_directory,
    has_leaks_only,
    refuse_leak_run,
)
from perbyte.store.journal import Measured, salvage_journal
from perbyte.store.manifest import (
    MANIFEST_FILE,
    SAMPLES_NAME,
    SIGNATURE_FILE,
    Manifest,
    entry_of_file,
    mismatch,
    unlisted,
)
from perbyte.store.opening import listing_of, run_directory
from perbyte.store.reader import (
    Known,
    computed_figures,
    copy_in,
    figures_of_stored,
    read_bursts,
    read_known,
    stored_figures,
)
from perbyte.store.state import RunState, merged_copies, read_state, unpack_state
from perbyte.store.writer import RunWriter


@dataclass(frozen=True, slots=True)
class FileFinding:
    """One file of a run: `whole`, `unlisted` (harmless: nothing rests on it) or `damaged`, and why."""

    name: str
    state: str
    detail: str = ""
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class FilesVerdict:
    """What a look at every file of a run found. `manifest` is None where there is none to compare with."""

    path: Path
    manifest: Manifest | None
    findings: tuple[FileFinding, ...]
    notes: tuple[str, ...] = ()

    @property
    def covers(self) -> str:
        """What the manifest, and so a signature, is about: `everything`, `figures` (of older versions) or `nothing`."""
        return ("everything" if self.manifest.whole else "figures") if self.manifest else "nothing"

    @property
    def damaged(self) -> tuple[FileFinding, ...]:
        """The files that are not what was written."""
        return tuple(finding for finding in self.findings if finding.state == "damaged")


def verify(path: Path, *, signed: bool | None = None, compute: bool = True) -> FilesVerdict:
    """Compare every file of a run with its manifest, read all of it, and the stored figures with what the samples give.

    Of a complete run the manifest lists everything that readers use; of a signed one, everything that lies there.
    `signed`: whether to ask for the latter (None: where there is a signature). Without `compute` figures are not
    computed, and the content of files that are as the manifest says is not read. Raises StoreError when there is no
    run, or while it is being written.
    """
    directory = run_directory(path)
    check_directory(directory)
    if holder := held_by(directory / LOCK_FILE):
        raise StoreError(f"{directory} is being written by {holder}", hint="verify it after that has ended")
    alone = has_leaks_only(directory)
    manifest, findings, notes, strange = None, [], [], dict[str, str]()
    try:
        manifest, strange = listing_of(directory, signed)
        if manifest:
            findings.append(FileFinding(MANIFEST_FILE, "whole"))
        else:
            notes.append("an older Perbyte wrote this run, without a manifest to compare it with")
    except StoreError as error:
        findings.append(FileFinding(MANIFEST_FILE, "damaged", str(error)))
    present = {place.name for place in directory.iterdir()}
    names = {name for name in present if SAMPLES_NAME.fullmatch(name)}
    names |= {FIGURES_FILE, CELLS_FILE, JOURNAL_FILE, *BESIDE} & present
    names |= {LEAK_FILE if alone else RUN_FILE, *(manifest.files if manifest else ())}
    for name in sorted(names | strange.keys()):
        finding = FileFinding(name, "damaged")
        if name in names:
            finding = _look(directory, name, manifest, read=compute)
        if name in strange and finding.state != "damaged":
            finding = replace(finding, state="damaged", detail=strange[name])
        findings.append(replace(finding, detail=finding.detail or strange.get(name, "")))
    others = sorted(present - names - strange.keys() - {MANIFEST_FILE, LOCK_FILE, SIGNATURE_FILE})
    if others:
        notes.append(f"no part of the run: {', '.join(others[:10])}{' ...' * (len(others) > 10)}")
    if not any(finding.state == "damaged" for finding in findings):
        findings += _together(directory, manifest, notes, compute=compute)
    return FilesVerdict(directory, manifest, tuple(findings), tuple(notes))


def _together(
    directory: Path, manifest: Manifest | None, notes: list[str], *, compute: bool
) -> list[FileFinding]:
    """Read a run of which each file is whole, and say what does not fit together; `notes` gets the rest."""
    if has_leaks_only(directory):
        differs = manifest and decode_leaks(directory).run_id != manifest.run_id
        return [FileFinding(LEAK_FILE, "damaged", "it is of another run")] if differs else []
    try:
        known = read_known(directory, tell=False)
        read_behaviours(directory, known.state.conditions.run_id)
        leaks_beside(directory, known.state.conditions.run_id)
        read_placements(directory, known.state.conditions.run_id)
    except StoreError as error:  # whole files that do not fit together
        return [FileFinding(RUN_FILE, "damaged", str(error))]
    notes += [] if known.state.complete else ["the run was interrupted"]
    return _figures(directory, known, notes, compute=compute)


def _look(directory: Path, name: str, manifest: Manifest | None, *, read: bool) -> FileFinding:
    """Compare one file with the manifest, and read it, or with `read` false only where it is not as listed."""
    place = directory / name
    try:
        if name == JOURNAL_FILE and (not manifest or name not in manifest.files):
            return _journal(directory)
        entry = entry_of_file(place)
        if not read and manifest and manifest.files.get(name) == entry:
            pass
        elif name == RUN_FILE:
            read_state(directory)
        elif name == LEAK_FILE:
            decode_leaks(directory)
        elif name == FIGURES_FILE:
            read_figures(directory)
        elif name == CELLS_FILE:
            from perbyte.store.tables import read_table

            read_table(place, "cells")
        elif SAMPLES_NAME.fullmatch(name):
            for _ in read_bursts(place):
                pass
    except StoreError as error:
        return FileFinding(name, "damaged", str(error))
    if manifest and (why := mismatch(name, entry, manifest)):
        return FileFinding(name, "damaged", why, entry.bytes)
    if not manifest or manifest.files.get(name) == entry:
        return FileFinding(name, "whole", "", entry.bytes)
    if name == RUN_FILE:
        return FileFinding(name, "whole", "as it was before the step at which the process ended", entry.bytes)
    if name in (FIGURES_FILE, CELLS_FILE):
        return FileFinding(
            name, "unlisted", "older figures; they are computed again when the run is read", entry.bytes
        )
    if name in BESIDE:
        return FileFinding(
            name,
            "unlisted",
            "older manifests do not list it, and a signature would not cover it",
            entry.bytes,
        )
    return FileFinding(name, "unlisted", "written when the process ended", entry.bytes)


def _figures(directory: Path, known: Known, notes: list[str], *, compute: bool) -> list[FileFinding]:
    """Compute the figures again and compare the stored ones with them; `notes` gets what keeps from it."""
    from perbyte.stats.run_figures import RULES

    state = known.state
    if state.figures_seq != state.seq:
        return []
    name = FIGURES_FILE if state.rules or (directory / FIGURES_FILE).exists() else CELLS_FILE
    try:
        stored = stored_figures(directory, known)
        if stored is None:
            return [FileFinding(name, "damaged", "it is not of these samples")]
        if not compute or not known.stored:
            return []  # imported: nothing to compute from
        if state.rules != RULES:
            notes.append(
                f"{name} was computed by other rules, and not compared: perbyte show --anew computes again"
            )
            return []
        differing = unlike(stored, computed_figures(known).cells)
    except StoreError as error:
        return [FileFinding(name, "damaged", str(error))]
    if not differing:
        return []
    more = f" and {len(differing) - 3} more" if len(differing) > 3 else ""
    return [FileFinding(name, "damaged", f"not what the samples give: {'; '.join(differing[:3])}{more}")]


def _journal(directory: Path) -> FileFinding:
    try:
        events, problems, torn = salvage_journal(directory)
    except StoreError as error:
        return FileFinding(JOURNAL_FILE, "damaged", str(error))
    size = (directory / JOURNAL_FILE).stat().st_size
    if problems:
        return FileFinding(JOURNAL_FILE, "damaged", "; ".join(problems[:5]), size)
    texts = [f"{len(events):,} events"] * bool(events) + [torn] * bool(torn)
    return FileFinding(JOURNAL_FILE, "whole", "; ".join(texts), size)


@dataclass(frozen=True, slots=True)
class Recovered:
    """A new run directory, how many bursts it got, what was lost, and what else is to be known."""

    path: Path
    bursts: int
    lost: tuple[str, ...]
    notes: tuple[str, ...]


def recover(path: Path, into: Path) -> Recovered:
    """Write what is readable of a run into the new directory `into`, with figures made anew.

    What was lost is a failure of kind `damaged` of the new run, which then counts as interrupted: `--resume` goes on
    with it. Raises StoreError when not even the conditions are left, or `into` cannot be written.
    """
    directory = run_directory(path)
    refuse_leak_run(directory)
    verdict = verify(directory)
    lost: list[str] = []
    notes: list[str] = []
    bursts, copies = _samples(directory, verdict, lost, notes)
    state = _conditions(directory, verdict, copies, lost)
    added = (
        dict(unlisted(directory, verdict.manifest)) if verdict.manifest and verdict.manifest.complete else {}
    )
    notes += [f"{name} was left out: {why}" for name, why in added.items() if name not in BESIDE]
    try:
        events, problems, torn = ([], [], "") if JOURNAL_FILE in added else salvage_journal(directory)
    except StoreError as error:
        events, problems, torn = [], [str(error)], ""
    lost += problems
    notes += [torn] if torn else []
    for event in events:
        state.apply(event)
        if isinstance(event, Measured):
            bursts.setdefault(event.seq, event.burst)
    notes += [
        f"{finding.name} was damaged; the figures are computed again from the samples"
        for finding in verdict.damaged
        if finding.name in (FIGURES_FILE, CELLS_FILE)
    ]
    state.failures += [Failure("damaged", "", text) for text in lost]
    state.complete = state.complete and not lost
    whole = state.stored(bursts[number] for number in sorted(bursts))
    made = figures_of_stored(whole)
    with RunWriter.create(into) as writer:
        writer.begin(state.conditions)
        writer.take_over(whole, made.failures)
        writer.finish(made.cells, made.noise_floor, whole.measuring_s, whole.complete, made.failures)
    return Recovered(into, len(bursts), tuple(lost), tuple(notes))


def _samples(
    directory: Path, verdict: FilesVerdict, lost: list[str], notes: list[str]
) -> tuple[dict[int, Burst], list[RunState]]:
    """The bursts of all samples files that can be read, by number, and the copies of run.json they carry."""
    bursts: dict[int, Burst] = {}
    copies: list[RunState] = []
    for finding in verdict.findings:
        place, broken = directory / finding.name, finding.state == "damaged"
        known = verdict.manifest.files if verdict.manifest and verdict.manifest.complete else None
        if not SAMPLES_NAME.fullmatch(finding.name) or (known is not None and finding.name not in known):
            continue
        try:
            taken = dict(read_bursts(place))
            copy = unpack_state(copy_in(place))
            if broken and not copy:  # written by an older version, without checksums of its own
                raise StoreError("no checksum tells which of it is right")
            bursts |= taken
        except (StoreError, ValueError, TypeError):
            lost.append(f"{finding.name}: {_reason(finding, directory)}")
            continue
        if broken:
            notes.append(f"{finding.name} is not what was written, but its pages agree with their checksums")
        copies += [copy] if copy else []
    return bursts, copies


def _conditions(
    directory: Path, verdict: FilesVerdict, copies: Sequence[RunState], lost: list[str]
) -> RunState:
    """run.json, or where it is damaged the newest copy of it that a samples file carries."""
    broken = next((finding for finding in verdict.damaged if finding.name == RUN_FILE), None)
    if broken is None:
        return read_state(directory)
    if copy := merged_copies(copies):
        lost.append(f"{RUN_FILE}: {_reason(broken, directory)}; what it said is taken from a samples file")
        return copy
    try:
        state = read_state(directory)
    except StoreError as error:
        raise StoreError(
            f"nothing can be saved of {directory}: neither {RUN_FILE} nor any samples file tells the conditions",
            hint="copy the run again from where it was measured, or measure again",
        ) from error
    lost.append(f"{RUN_FILE}: it is not what was written, and is taken as it stands")
    return state


def _reason(finding: FileFinding, directory: Path) -> str:
    return finding.detail.removeprefix(f"{directory / finding.name} is ").removeprefix("damaged: ")
