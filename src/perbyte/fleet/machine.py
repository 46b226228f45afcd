"""What happens on a machine of a fleet: building, measuring or going on, and handing a run over in pieces.

Nothing here knows Dask; the functions are sent to the machine's worker by name. A job has one directory on a machine
and one holder at a time: a second call of `measure_here`, after a worker, a scheduler or a connection was lost, waits
for the first, or for the process that it left behind, and goes on with what is there.
"""

from __future__ import annotations

import hashlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from perbyte import __version__, places
from perbyte.errors import EXIT_INTERRUPTED, EnvironmentLacking, NoSuchRun, StoreError
from perbyte.locks import Lock, held_by
from perbyte.measure.labels import NAMED, machine_key
from perbyte.model.naming import LABEL
from perbyte.store.files import LOCK_FILE, RUN_FILE
from perbyte.store.manifest import ManifestEntry, entry_of_file

JOB_ID = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9a-f]{8}")
NAME = re.compile(LABEL)
FILE = re.compile(r"run\.json|manifest\.json|figures\.json|cells\.parquet|samples-\d{8,19}\.(npz|parquet)")
PIECE_BYTES = 4 << 20
FILE_LIMIT = 16 << 30
_IDENTITIES = (Path("/proc/sys/kernel/random/boot_id"), Path("/etc/machine-id"))
_ATTEMPTS = 50  # times that a measuring process may be killed and gone on with
_POLL_S = 0.5
_running: dict[str, subprocess.Popen[str]] = {}
_stopped: set[str] = set()
_guard = threading.Lock()


@dataclass(frozen=True, slots=True)
class Job:
    """A plan: the words of `perbyte measure` or `perbyte study run`, the runners they can mean, and who measures it."""

    id: str
    words: tuple[str, ...]
    runners: tuple[str, ...] = ()
    keep_identities: bool = False
    machines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MachineFacts:
    """A machine as it describes itself: what must agree within a fleet, and what it is doing.

    `identity` is the same for all workers of one machine, and tells nothing of it.
    """

    name: str
    perbyte: str
    commit: str
    catalogue: str
    protocol: int
    cpu_model: str
    cores: int
    jobs: tuple[str, ...] = ()
    holder: str = ""
    identity: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """What came of a job on a machine: the command's exit code and last words, and the files to fetch by name."""

    code: int
    said: str
    complete: bool = False
    files: dict[str, ManifestEntry] = field(default_factory=dict)


def fleet_home() -> Path:
    """Where a machine keeps what it does for fleets."""
    return places.runs_home().parent / "fleet"


def machine_label() -> str:
    """The name of this machine: the label that its runs have. Raises EnvironmentLacking where none can be kept."""
    from perbyte.measure.machine import describe_machine

    if label := describe_machine().label:
        return label
    raise EnvironmentLacking(
        f"no name can be kept in {places.runs_home().parent}", hint="give the machine one: --name NAME"
    )


def machine_identity() -> str:
    """A hash of what makes this machine one: its boot, or where that is hidden the installation.

    Containers share the boot of their host, and its cores: they are one machine. Who has given them cores of their own
    says so by PERBYTE_FLEET_MACHINE. Empty where nothing is known.
    """
    text = os.environ.get(NAMED, "")
    for place in _IDENTITIES:
        with suppress(OSError, UnicodeDecodeError):
            text = text or place.read_text(encoding="utf-8").strip()
    return hashlib.sha256(f"perbyte fleet\0{text}".encode()).hexdigest()[:16] if text else ""


def facts_here(name: str) -> MachineFacts:
    """What this machine says of itself."""
    from perbyte.atlas.identity import cleaner
    from perbyte.catalogue import load
    from perbyte.measure.machine import describe_machine
    from perbyte.protocol.messages import PROTOCOL_VERSION

    machine, holders = describe_machine(), []
    with suppress(OSError):
        locks = sorted(places.locks_home().glob("perbyte-core-*.lock"))
        holders = list(filter(None, map(held_by, locks)))
    return MachineFacts(
        name,
        __version__,
        places.commit(),
        load().version,
        PROTOCOL_VERSION,
        machine.cpu_model,
        machine.cores,
        tuple(_running),
        cleaner()(re.sub(r" of [^,]*,", ",", holders[0])) if holders else "",
        machine_identity(),
    )


def measure_here(job: Job, machine: str, say: Callable[[str], None] = lambda text: None) -> Report:
    """Build what the job needs, measure or go on with it, and lay the run out for fetching.

    `machine` is the name that this one has in the fleet. Raises PerbyteError, also where another machine has measured
    for the job under that name in a home that both share.
    """
    from perbyte.atlas.identity import cleaner

    clean = str if job.keep_identities else cleaner()

    def tell(text: str) -> None:
        say(clean(text))

    home = _job_home(job.id, machine)
    _require_own(home, machine)
    _stopped.discard(job.id)
    lock = Lock(home / "lock")  # one holder, between threads and processes alike
    lock.wait("measures for a fleet", lambda _: tell("is at work on this already"))
    try:
        run = home / "run"
        code, text = 0, ""
        for attempt in range(_ATTEMPTS):
            while held := held_by(run / LOCK_FILE):  # a process that a worker left behind still measures
                tell(f"waits for {held}")
                time.sleep(_POLL_S)
            begun = (run / RUN_FILE).is_file()
            if begun and _complete(run):
                break
            if not begun and job.runners:
                code, text = _perbyte(job.id, home, ["build", *job.runners], tell)
                if code:
                    return Report(code, clean(text))
            words = ["measure", "--resume", str(run)] if begun else [*job.words, "--out", str(run)]
            code, text = _perbyte(job.id, home, words, tell)
            if job.id in _stopped or code >= 0:
                break
            tell(f"the measuring process was killed by signal {-code}: going on ({attempt + 1})")
        complete = (run / RUN_FILE).is_file() and _complete(run)
        code = 0 if complete and code < 0 else code
        return Report(code, clean(text), complete, _laid_out(job, run, home))
    finally:
        lock.release()


def piece_here(job_id: str, machine: str, name: str, offset: int) -> bytes:
    """A piece of a file that `measure_here` laid out. Raises StoreError for anything else."""
    if not FILE.fullmatch(name) or offset < 0:
        raise StoreError(f"{name[:80]!r} is not a file of a run")
    with (_job_home(job_id, machine) / "out" / name).open("rb") as file:
        file.seek(offset)
        return file.read(PIECE_BYTES)


def stop_here(job_id: str) -> bool:
    """End the measuring of a job in order, as Ctrl-C does; what was measured is kept."""
    _stopped.add(job_id)
    with _guard:
        process = _running.get(job_id)
    if process:
        with suppress(OSError):
            process.send_signal(signal.SIGINT)
    return process is not None


def stop_all() -> None:
    """End all measuring of this process in order."""
    for job_id in list(_running):
        stop_here(job_id)


def _job_home(job_id: str, machine: str) -> Path:
    """Where a machine keeps what it does for a job: workers that share a home have one each."""
    if not JOB_ID.fullmatch(job_id) or not NAME.fullmatch(machine):
        raise StoreError(f"{job_id[:80]!r} of {machine[:80]!r} is not a job of a fleet")
    home = fleet_home() / job_id / machine
    home.mkdir(parents=True, exist_ok=True)
    return home


def _require_own(home: Path, machine: str) -> None:
    """Raise StoreError where another machine has worked in `home`."""
    place, key = home / "machine", machine_key()
    with suppress(FileExistsError), place.open("x", encoding="utf-8") as file:
        file.write(key)
    if place.read_text(encoding="utf-8") != key:
        raise StoreError(
            f"another machine has measured this job as {machine}, in a home that both share",
            hint="join with a name of its own: perbyte fleet worker SCHEDULER --name NAME",
        )


def _complete(run: Path) -> bool:
    from perbyte.store.state import read_state

    return read_state(run).complete


def _perbyte(job_id: str, home: Path, words: list[str], say: Callable[[str], None]) -> tuple[int, str]:
    """Run the command in a process and session of its own; give its exit code and its last words.

    What it says goes to a file rather than a pipe, so that it outlives this process without losing its reader.
    """
    place = home / "said.txt"
    with place.open("w", encoding="utf-8") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "perbyte.cli", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=file,
            text=True,
            start_new_session=True,
            env=os.environ | {"NO_COLOR": "1"},
        )
        with _guard:
            _running[job_id] = process
    try:
        if job_id in _stopped:
            process.send_signal(signal.SIGINT)
        shown = ""
        while process.poll() is None:
            time.sleep(_POLL_S)
            if (last := _last_line(place)) != shown:
                say(last)
                shown = last
    finally:
        with _guard:
            _running.pop(job_id, None)
    if job_id in _stopped and process.returncode < 0:
        return EXIT_INTERRUPTED, "stopped"
    return process.returncode, _last_line(place, errors=process.returncode != 0)


def _last_line(place: Path, *, errors: bool = False) -> str:
    with suppress(OSError):
        text = place.read_text(encoding="utf-8", errors="replace")
        lines = [line for line in text.splitlines() if line.strip()]
        told = [line for line in lines if line.startswith("error: ")] if errors else []
        return (told or lines or [""])[-1][:300]
    return ""


def _laid_out(job: Job, run: Path, home: Path) -> dict[str, ManifestEntry]:
    """The run as it may leave the machine, in `out`; nothing where nothing was measured."""
    import pyarrow as pa

    from perbyte.atlas.adding import read_incoming
    from perbyte.atlas.reading import write_run
    from perbyte.store.state import decode_state

    if not (run / RUN_FILE).is_file():
        return {}
    try:
        incoming = read_incoming(run, machine="machine", keep_identities=job.keep_identities)
    except NoSuchRun:
        return {}
    out = home / "out"
    out.mkdir(exist_ok=True)
    for old in out.iterdir():
        old.unlink()
    samples = pa.concat_tables(incoming.samples).unify_dictionaries() if incoming.samples else None
    write_run(out, decode_state(incoming.state, run / RUN_FILE), incoming.cells, samples)
    return {place.name: entry_of_file(place) for place in sorted(out.iterdir()) if FILE.fullmatch(place.name)}
