"""Conducts a plan on all machines behind a scheduler: from here to each, and back into one directory.

What stands between is expected to break. Work is pinned to a machine by its name, asked for again when it is lost, and
harmless when it is asked for twice; a file comes in pieces, and those that are here are not fetched again. A machine
that stays away is reported missing. Runs that come back were written elsewhere: names, sizes and hashes are checked
before a file is opened, and the store's readers judge what is in it.
"""

from __future__ import annotations

import contextlib
import datetime
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dask
import msgspec
from distributed import Client
from distributed.client import Future

from perbyte import __version__, places
from perbyte.errors import EXIT_DEFECT, EnvironmentLacking, PerbyteError, StoreError, UsageError
from perbyte.fleet.machine import (
    FILE,
    FILE_LIMIT,
    JOB_ID,
    NAME,
    PIECE_BYTES,
    Job,
    MachineFacts,
    Report,
    facts_here,
    measure_here,
    piece_here,
    stop_here,
)
from perbyte.fleet.secret import FleetAccess, refuse_stranger
from perbyte.fleet.worker import SLOT, silence_dask
from perbyte.store.files import RUN_FILE
from perbyte.store.manifest import ManifestEntry, entry_of_file

_CONNECT_S = 10.0
_LOOK_S = 1.0
_PIECE_S = 60.0  # for a piece of a file; a worker that is stopped answers never
_TOPIC = "perbyte-fleet"
_JOB_FILE = "job.json"


@dataclass(slots=True)
class JobOutcome:
    """What came of a job: where each machine's run lies, and why there is none."""

    job: Job
    home: Path
    runs: dict[str, Path]
    failed: dict[str, str]
    missing: dict[str, str]


def new_job(words: Sequence[str], runners: Sequence[str] = (), *, keep_identities: bool = False) -> Job:
    """A plan with an id of its own, which nobody measures yet."""
    now = datetime.datetime.now(datetime.UTC)
    return Job(f"{now:%Y%m%d-%H%M%S}-{secrets.token_hex(4)}", tuple(words), tuple(runners), keep_identities)


def jobs_home() -> Path:
    """Where whoever asks keeps jobs and what came back."""
    return places.runs_home().parent / "fleet-runs"


def saved_job(job_id: str) -> Job:
    """A job that `conduct` noted. Raises UsageError where there is none."""
    try:
        if not JOB_ID.fullmatch(job_id):
            raise ValueError("no such id")
        return msgspec.json.decode((jobs_home() / job_id / _JOB_FILE).read_bytes(), type=Job)
    except (OSError, ValueError, msgspec.MsgspecError) as error:
        known = [path.name for path in sorted(jobs_home().glob("*-*-*"))[-3:]] if jobs_home().is_dir() else []
        raise UsageError(
            f"there is no job '{job_id[:80]}': {error}", hint=f"the newest: {', '.join(known)}"
        ) from error


@contextlib.contextmanager
def connected(scheduler: FleetAccess) -> Iterator[Client]:
    """A client of `scheduler`. Raises EnvironmentLacking where none answers, or one with another secret."""
    silence_dask()
    with dask.config.set({"distributed.comm.timeouts.connect": f"{_CONNECT_S}s"}):
        try:
            client = Client(
                scheduler.address, security=scheduler.security, timeout=_CONNECT_S, set_as_default=False
            )
        except (OSError, TimeoutError, ValueError, RuntimeError) as error:
            refuse_stranger(scheduler.address, error)
            raise EnvironmentLacking(
                f"no scheduler answers at {scheduler.address}: {error}"[:300],
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
    scheduler: FleetAccess, job: Job, say: Callable[[str, str], None], *, patience_s: float = 600.0
) -> JobOutcome:
    """Measure a job on its machines and bring their runs here; `say` is told (machine, text).

    Raises KeyboardInterrupt after the machines were told to stop; what they measured is kept there and fetched when
    the job is gone on with.
    """
    work, lost = _Work(job, say, patience_s), False
    try:
        while work.left:
            try:
                with connected(scheduler) as client:
                    lost = False
                    work.go_on(client)
            except (EnvironmentLacking, OSError, TimeoutError, RuntimeError) as error:
                work.wait_for_scheduler(error)
                if not lost:
                    say("", "the scheduler does not answer: trying again")
                lost = True
                time.sleep(_LOOK_S)
    except KeyboardInterrupt:
        with contextlib.suppress(Exception), connected(scheduler) as client:
            client.run(stop_here, job.id)
        raise
    return work.outcome


@dataclass(slots=True)
class _Errand:
    """What is to be done with a machine: wait for its report, then fetch its files."""

    seen: float
    future: Future | None = None
    report: Report | None = None
    tries: int = 0


class _Work:
    """A job under way: what came of it, and the errands that are left, by machine."""

    def __init__(self, job: Job, say: Callable[[str, str], None], patience_s: float) -> None:
        """Note the job, so that it can be gone on with, and see which runs are here already."""
        home = jobs_home() / job.id
        home.mkdir(parents=True, exist_ok=True)
        (home / _JOB_FILE).write_bytes(msgspec.json.format(msgspec.json.encode(job), indent=1))
        here = {name: home / name for name in job.machines if (home / name / RUN_FILE).is_file()}
        self.outcome = JobOutcome(job, home, {name: run for name, run in here.items() if _whole(run)}, {}, {})
        self.left = {
            name: _Errand(time.monotonic()) for name in job.machines if name not in self.outcome.runs
        }
        self._job, self._say, self._patience_s = job, say, patience_s

    def go_on(self, client: Client) -> None:
        """Go on with all machines until they are done or missing. Raises what a lost scheduler raises."""
        client.subscribe_topic(_TOPIC, self._hear)
        while self.left:
            there, now = _addresses(client), time.monotonic()
            for name, errand in list(self.left.items()):
                if name in there:
                    errand.seen = now
                if errand.report is None:
                    self._ask(client, name, errand)
                elif name in there and not self._fetch(client, there[name], name, errand.report):
                    there = _addresses(
                        client
                    )  # who was lost may have taken others along: wait for none of those
                if name in self.outcome.runs or name in self.outcome.failed:
                    del self.left[name]
            self._give_up("its worker does not come back", now)
            time.sleep(_LOOK_S)

    def wait_for_scheduler(self, error: Exception) -> None:
        """Forget what a scheduler that is lost was asked for."""
        for errand in self.left.values():
            errand.future = None
        self._give_up(f"no scheduler: {error}"[:200], time.monotonic())

    def _ask(self, client: Client, name: str, errand: _Errand) -> None:
        """Send the job to its machine, or look what has become of it; what was lost is asked for again."""
        if errand.future is None or errand.future.status in ("cancelled", "lost"):
            errand.tries += 1
            errand.future = client.submit(
                measure_saying,
                self._job,
                name,
                key=f"perbyte-{self._job.id}-{name}-{secrets.token_hex(2)}",
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
                errand.report = Report(error.exit_code, f"error: {error}"[:300])
            elif errand.tries > 100:
                errand.report = Report(EXIT_DEFECT, f"{type(error).__name__}: {error}"[:300])

    def _fetch(self, client: Client, address: str, name: str, report: Report) -> bool:
        """Fetch what is still to be fetched of a machine's run; False where a lost connection keeps some back."""
        outcome = self.outcome
        if not report.files:
            outcome.failed[name] = report.said or f"exit code {report.code}"
            return True

        def piece(file: str, offset: int) -> Any:
            asked = (piece_here, self._job.id, name, file, offset)
            answers = client.sync(client._run, *asked, workers=[address], callback_timeout=_PIECE_S)
            return answers[address]

        part, place = outcome.home / f".{name}.part", outcome.home / name
        part.mkdir(exist_ok=True)
        try:
            for file, entry in report.files.items():
                if not fetch_file(part, file, entry, piece):
                    return False
        except StoreError as error:
            outcome.failed[name] = str(error)
            return True
        if not place.exists():
            part.rename(place)
        if not _whole(place):
            outcome.failed[name] = f"{place} is not whole"
            return True
        outcome.runs[name] = place
        if not report.complete:
            outcome.failed[name] = f"not complete: {report.said}"
        self._say(name, "its run is here")
        return True

    def _give_up(self, why: str, now: float) -> None:
        """Let go of machines not seen for long at the time `now`; what was done since then counts for none of them."""
        for name, errand in list(self.left.items()):
            if now - errand.seen > self._patience_s:
                self.outcome.missing[name] = why
                del self.left[name]

    def _hear(self, event: Any) -> None:
        """An event is (time, message); anybody may send some."""
        with contextlib.suppress(Exception):
            message = event[1]
            if message["job"] == self._job.id:
                self._say(str(message["machine"])[:80], str(message["text"])[:300])


def _addresses(client: Client) -> dict[str, str]:
    """Where the workers are, by name. Raises EnvironmentLacking where the scheduler is lost."""
    if client.status != "running":
        raise EnvironmentLacking("the connection to the scheduler is lost")
    workers = client.sync(client.scheduler.identity, n_workers=-1, callback_timeout=_CONNECT_S)["workers"]
    return {str(worker.get("name")): address for address, worker in workers.items()}


def fetch_file(part: Path, name: str, entry: ManifestEntry, piece: Callable[[str, int], Any]) -> bool:
    """Fetch a file into `part`, going on where an earlier attempt ended; False where it has to be tried again.

    `piece` gives bytes of the file `name` from an offset on. Raises StoreError for what cannot be a file of a run.
    """
    if not FILE.fullmatch(name) or not 0 <= entry.bytes <= FILE_LIMIT:
        raise StoreError(f"{name[:80]!r} of {entry.bytes} bytes is not a file of a run")
    place = part / name
    with place.open("ab") as file:
        while (have := file.tell()) < entry.bytes:
            try:
                content = piece(name, have)
            except StoreError:
                raise
            except Exception:  # whatever a lost worker, scheduler or connection raises: come back later
                return False
            if not isinstance(content, bytes) or not 0 < len(content) <= min(PIECE_BYTES, entry.bytes - have):
                raise StoreError(f"{name} is not as long as was said")
            file.write(content)
            file.flush()
    if entry_of_file(place) == entry:
        return True
    place.unlink()  # parts of an older state of the run: fetch it anew
    return False


def _whole(place: Path) -> bool:
    """Whether what was fetched is a run that is what its manifest says."""
    from perbyte.store import verify

    try:
        return not verify(place).damaged
    except PerbyteError:
        return False


def measure_saying(job: Job, machine: str) -> Report:
    """`measure_here` as a task: what it says goes to whoever listens."""
    from distributed import get_worker

    worker = get_worker()

    def say(text: str) -> None:
        with contextlib.suppress(Exception):
            worker.log_event(_TOPIC, {"job": job.id, "machine": machine, "text": text})

    return measure_here(job, machine, say)
