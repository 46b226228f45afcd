"""Conducts a plan on all machines behind a scheduler: from here to each, and back into one directory.

What stands between is expected to break. Work is pinned to a machine by its name, asked for again when it is lost, and
harmless when it is asked for twice; a file comes in pieces, and those that are here are not fetched again. A machine
that stays away is reported missing. Runs that come back were written elsewhere: names, sizes and hashes are checked
before a file is opened, and the store's readers judge what is in it.
"""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import json
import logging
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import dask
from distributed import Client
from distributed.client import Future

from perbyte import __version__, places
from perbyte.errors import EnvironmentLacking, PerbyteError, StoreError, UsageError
from perbyte.fleet.machine import (
    FILE,
    FILE_LIMIT,
    JOB_ID,
    NAME,
    PIECE_BYTES,
    Job,
    MachineFacts,
    Parcel,
    Report,
    facts_here,
    measure_here,
    piece_here,
    stop_here,
)
from perbyte.fleet.worker import DOOR, SLOT

_CONNECT_S = 10.0
_LOOK_S = 1.0
_TOPIC = "perbyte-fleet"


@dataclass(slots=True)
class JobOutcome:
    """What came of a job: where each machine's run lies, and why there is none."""

    job: Job
    home: Path
    runs: dict[str, Path]
    failed: dict[str, str]
    missing: dict[str, str]


def new_job(words: Sequence[str], runners: Sequence[str] = (), *, keep_identities: bool = False) -> Job:
    """A plan with an id of its own."""
    now = datetime.datetime.now(datetime.UTC)
    return Job(f"{now:%Y%m%d-%H%M%S}-{secrets.token_hex(4)}", tuple(words), tuple(runners), keep_identities)


def jobs_home() -> Path:
    """Where whoever asks keeps jobs and what came back."""
    return places.runs_home().parent / "fleet-runs"


def save_job(job: Job, machines: Sequence[str]) -> Path:
    """Note a job, so that it can be gone on with."""
    home = jobs_home() / job.id
    home.mkdir(parents=True, exist_ok=True)
    (home / "job.json").write_text(
        json.dumps(asdict(job) | {"machines": list(machines)}, indent=1), encoding="utf-8"
    )
    return home


def saved_job(job_id: str) -> tuple[Job, tuple[str, ...]]:
    """A job that was noted, and its machines. Raises UsageError where there is none."""
    place = jobs_home() / job_id / "job.json"
    try:
        if not JOB_ID.fullmatch(job_id):
            raise ValueError("no such id")
        record = json.loads(place.read_text(encoding="utf-8"))
        machines = tuple(map(str, record.pop("machines")))
        return Job(
            record["id"], tuple(record["words"]), tuple(record["runners"]), bool(record["keep_identities"])
        ), machines
    except (OSError, ValueError, KeyError, TypeError) as error:
        known = [path.name for path in sorted(jobs_home().glob("*-*-*"))[-3:]] if jobs_home().is_dir() else []
        raise UsageError(
            f"there is no job '{job_id[:80]}': {error}", hint=f"the newest: {', '.join(known)}"
        ) from error


@contextlib.contextmanager
def connected(address: str) -> Iterator[Client]:
    """A client of the scheduler at `address`. Raises EnvironmentLacking where none answers."""
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # a lost connection is said in our own words
    with dask.config.set({"distributed.comm.timeouts.connect": f"{_CONNECT_S}s"}):
        try:
            client = Client(address, timeout=_CONNECT_S, set_as_default=False)
        except (OSError, TimeoutError, ValueError, RuntimeError) as error:
            raise EnvironmentLacking(
                f"no Dask scheduler answers at {address}: {error}"[:300],
                hint="start one there: perbyte fleet scheduler",
            ) from error
        try:
            yield client
        finally:
            with contextlib.suppress(Exception):
                client.close(timeout=2)


def machines_of(client: Client) -> dict[str, MachineFacts]:
    """What each machine of the fleet says of itself, by name; workers that are none of ours are left out."""
    workers = client.scheduler_info(n_workers=-1)["workers"]
    facts_of: dict[str, MachineFacts] = {}
    for address, worker in workers.items():
        name = str(worker.get("name"))
        if NAME.fullmatch(name) and SLOT + name in worker.get("resources", {}):
            facts = client.run(facts_here, name, workers=[address], on_error="return")[address]
            if not isinstance(facts, MachineFacts):
                raise EnvironmentLacking(
                    f"machine {name} does not understand this Perbyte: {str(facts)[:200]}",
                    hint=f"install Perbyte {__version__} there",
                )
            facts_of[name] = facts
    return facts_of


def other_names(machines: dict[str, MachineFacts]) -> dict[str, str]:
    """Workers that are a machine which another worker is already: their names, and under which name it is measured.

    A worker that measures keeps its machine; else the first name in order does.
    """
    first: dict[str, str] = {}
    names = {}
    for name, facts in sorted(machines.items(), key=lambda item: (not item[1].jobs, item[0])):
        if facts.identity and facts.identity in first:
            names[name] = first[facts.identity]
        else:
            first[facts.identity] = name
    return names


def require_agreement(machines: dict[str, MachineFacts]) -> None:
    """Raise EnvironmentLacking where a machine's Perbyte is not the one that is here."""
    ours = facts_here("here")
    for name, facts in sorted(machines.items()):
        for what in ("perbyte", "commit", "catalogue", "protocol"):
            here, there = getattr(ours, what), getattr(facts, what)
            if here != there and not (what == "commit" and not (here and there)):
                raise EnvironmentLacking(
                    f"machine {name} has {what} {there}, here it is {here}: their figures cannot be compared",
                    hint=f"install the same Perbyte on both, then start the worker on {name} again",
                )


def conduct(
    address: str,
    job: Job,
    machines: Sequence[str],
    say: Callable[[str, str], None],
    *,
    patience_s: float = 600.0,
) -> JobOutcome:
    """Measure a job on `machines` and bring their runs here; `say` is told (machine, text).

    Raises KeyboardInterrupt after the machines were told to stop; what they measured is kept there and fetched when
    the job is gone on with.
    """
    home = save_job(job, machines)
    fetched = {name: home / name for name in machines if (home / name / "run.json").is_file()}
    outcome = JobOutcome(job, home, {name: run for name, run in fetched.items() if _whole(run)}, {}, {})
    left = {name: _Errand(name, time.monotonic()) for name in machines if name not in outcome.runs}
    lost = False
    try:
        while left:
            try:
                with connected(address) as client:
                    lost = False
                    client.subscribe_topic(_TOPIC, lambda event: _heard(event, job, say))
                    _work(client, job, left, outcome, say, patience_s)
            except (EnvironmentLacking, OSError, TimeoutError, RuntimeError) as error:
                for errand in left.values():
                    errand.future = None
                _give_up(left, outcome, patience_s, f"no scheduler: {error}"[:200])
                if not lost:
                    say("", "the scheduler does not answer: trying again")
                lost = True
                time.sleep(_LOOK_S)
    except KeyboardInterrupt:
        with contextlib.suppress(Exception), connected(address) as client:
            client.run(stop_here, job.id)
        raise
    return outcome


@dataclass(slots=True)
class _Errand:
    """What is to be done with a machine: wait for its report, then fetch its files."""

    machine: str
    seen: float
    future: Future | None = None
    report: Report | None = None
    tries: int = 0


def _work(
    client: Client,
    job: Job,
    left: dict[str, _Errand],
    outcome: JobOutcome,
    say: Callable[[str, str], None],
    patience_s: float,
) -> None:
    """Go on with all machines until they are done or missing. Raises what a lost scheduler raises."""
    while left:
        there = _names(client)
        for name, errand in list(left.items()):
            if name in there:
                errand.seen = time.monotonic()
            if errand.report is None:
                _ask(client, job, errand)
            elif name in there and not _fetched(client, job, errand, outcome, say):
                continue
            if name in outcome.runs or name in outcome.failed:
                del left[name]
        _give_up(left, outcome, patience_s, "its worker does not come back")
        time.sleep(_LOOK_S)


def _names(client: Client) -> set[str]:
    if client.status != "running":
        raise EnvironmentLacking("the connection to the scheduler is lost")
    workers = client.sync(client.scheduler.identity, n_workers=-1, callback_timeout=_CONNECT_S)["workers"]
    return {str(worker.get("name")) for worker in workers.values()}


def _ask(client: Client, job: Job, errand: _Errand) -> None:
    """Send the job to its machine, or look what has become of it; what was lost is asked for again."""
    name = errand.machine
    if errand.future is None or errand.future.status in ("cancelled", "lost"):
        errand.tries += 1
        errand.future = client.submit(
            measure_saying,
            job,
            name,
            key=f"perbyte-{job.id}-{name}-{secrets.token_hex(2)}",
            resources={SLOT + name: 1},
            pure=False,
        )
    elif errand.future.status == "finished":
        with contextlib.suppress(TimeoutError):
            errand.report = errand.future.result(timeout=_CONNECT_S)
    elif errand.future.status == "error":
        error = errand.future.exception(timeout=_CONNECT_S)
        errand.future = None
        if isinstance(error, PerbyteError):
            errand.report = Report(name, error.exit_code, f"error: {error}"[:300], False, ())
        elif errand.tries > 100:
            errand.report = Report(name, 70, f"{type(error).__name__}: {error}"[:300], False, ())


def _fetched(
    client: Client, job: Job, errand: _Errand, outcome: JobOutcome, say: Callable[[str, str], None]
) -> bool:
    """Fetch what is still to be fetched of a machine's run; False where the connection broke meanwhile."""
    report, name = errand.report, errand.machine
    assert report is not None
    if not report.parcels:
        outcome.failed[name] = report.said or f"exit code {report.code}"
        return True
    part = outcome.home / f".{name}.part"
    part.mkdir(exist_ok=True)
    try:
        for parcel in report.parcels:
            if not _fetch(client, job, name, parcel, part):
                return False
    except StoreError as error:
        outcome.failed[name] = str(error)
        return True
    place = outcome.home / name
    if not place.exists():
        part.rename(place)
    if not _whole(place):
        outcome.failed[name] = f"{place} is not whole"
        return True
    outcome.runs[name] = place
    if not report.complete:
        outcome.failed[name] = f"not complete: {report.said}"
    say(name, "its run is here")
    return True


def _fetch(client: Client, job: Job, machine: str, parcel: Parcel, part: Path) -> bool:
    """Fetch a file in pieces, going on where an earlier attempt ended. Raises StoreError for what cannot be one."""
    if not FILE.fullmatch(parcel.name) or not 0 <= parcel.bytes <= FILE_LIMIT:
        raise StoreError(f"{parcel.name[:80]!r} of {parcel.bytes} bytes is not a file of a run")
    place = part / parcel.name
    with place.open("ab") as file:
        while (have := file.tell()) < parcel.bytes:
            future = client.submit(
                piece_here, job.id, parcel.name, have, resources={DOOR + machine: 1}, pure=False
            )
            try:
                piece = future.result(timeout=60)
            except StoreError:
                raise
            except Exception:  # whatever a lost worker, scheduler or connection raises: come back later
                future.cancel()
                return False
            if not isinstance(piece, bytes) or not 0 < len(piece) <= min(PIECE_BYTES, parcel.bytes - have):
                raise StoreError(f"{parcel.name} of {machine} is not as long as was said")
            file.write(piece)
            file.flush()
    content = place.read_bytes()
    if len(content) != parcel.bytes or hashlib.sha256(content).hexdigest() != parcel.sha256:
        place.unlink()
        return False  # parts of an older state of the run: fetch it anew
    return True


def _whole(place: Path) -> bool:
    """Whether what was fetched is a run that is what its manifest says."""
    from perbyte.store import verify

    try:
        return not verify(place).damaged
    except PerbyteError:
        return False


def _give_up(left: dict[str, _Errand], outcome: JobOutcome, patience_s: float, why: str) -> None:
    for name, errand in list(left.items()):
        if time.monotonic() - errand.seen > patience_s:
            outcome.missing[name] = why
            del left[name]


def _heard(event: Any, job: Job, say: Callable[[str, str], None]) -> None:
    """An event is (time, message); anybody may send some."""
    with contextlib.suppress(Exception):
        message = event[1]
        if message["job"] == job.id:
            say(str(message["machine"])[:80], str(message["text"])[:300])


def measure_saying(job: Job, machine: str) -> Report:
    """`measure_here` as a task: what it says goes to whoever listens."""
    from distributed import get_worker

    worker = get_worker()

    def say(text: str) -> None:
        with contextlib.suppress(Exception):
            worker.log_event(_TOPIC, {"job": job.id, "machine": machine, "text": text})

    return measure_here(job, machine, say)
