"""Every request and answer of `protocol/SPEC.md` as a frozen Struct.

The Structs carry the bounds that one field can state about itself (64 bits, not negative, hexadecimal); what
fields owe each other is checked by `codec`. The JSON Schemas in `protocol/schema` are made from these
Structs, and a test keeps them from drifting apart. Nothing here reads or writes.
"""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import UNSET, Meta, Struct, UnsetType

from perbyte.model.sample import CycleSource, Detector

PROTOCOL_VERSION = 1
LINE_LIMIT = 1_048_576
OUTPUT_LIMIT = 4096
HEAD_BYTES = 64
FLAG_BITS = 31
ERROR_CODES = ("malformed", "unknown-verb", "unsupported", "bad-handle", "bad-size", "library", "input")

Integer = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]  # signed, so that it fits the columns of a store
Seed = Annotated[int, Meta(ge=0, extra_json_schema={"maximum": 2**64 - 1})]  # beyond what msgspec bounds
Quantity = Annotated[float, Meta(ge=0)]
Rate = Annotated[float, Meta(gt=0)]
Name = Annotated[str, Meta(min_length=1)]
Hex = Annotated[str, Meta(pattern="^([0-9a-f]{2})*$")]
Digest = Annotated[str, Meta(pattern="^[0-9a-f]{16}$")]
FlagBits = Annotated[int, Meta(ge=0, le=FLAG_BITS)]
ErrorCode = Annotated[
    str, Meta(pattern="^(malformed|unknown-verb|unsupported|bad-handle|bad-size|library|input)$")
]
_EDIT = "[knai](\\d+:([0-9a-f]{2})+|=([0-9a-f]{2})*)"
CHANGES = rf"^({_EDIT}(\+{_EDIT})*( |$))*$"
PLACES = r"^\d{1,4}(,\d{1,4}){3}$"
Role = Annotated[str, Meta(pattern="^(key|data|input)$")]
Content = Annotated[str, Meta(pattern="^(fixed|random|zeros|sparse|genuine|changed|early|late)$")]


class RunnerRequest(Struct, frozen=True, kw_only=True, tag_field="verb"):
    """What every request has. `answer` names the Struct of the answer to it."""

    answer: ClassVar[type[RunnerAnswer]]
    id: Integer


class RunnerAnswer(Struct, frozen=True, kw_only=True):
    """What every answer has; by itself the answer to `release` and `quit`."""

    id: Integer
    ok: bool


class Refusal(RunnerAnswer, frozen=True, kw_only=True):
    """`ok: false`: an error code of section 9 and a sentence for people."""

    error: ErrorCode
    message: str


class Operation(Struct, frozen=True, kw_only=True):
    """One row of `hello`: what the runner can do, under which contract, by which library calls."""

    algorithm: Name
    operation: Name
    contract: Name
    calls: str
    code_path: str = ""


class HelloAnswer(RunnerAnswer, frozen=True, kw_only=True):
    """Who the runner is and what it offers."""

    protocol: Integer
    runner: Name
    sdk: str
    library: str
    library_version: str
    license: str
    compiler: str
    flags: str
    object: str
    cpu_features: str
    tier: Name
    operations: list[Operation]


class PrepareAnswer(RunnerAnswer, frozen=True, kw_only=True):
    """The handle of a prepared operation, valid until `release`."""

    handle: Integer


class CheckAnswer(RunnerAnswer, frozen=True, kw_only=True):
    """What came out of a call: length in bytes, digest, the first 64 bytes, and all of it when short."""

    length: Count
    digest: Digest
    head: Hex
    output: Hex | UnsetType = UNSET


class VerdictAnswer(RunnerAnswer, frozen=True, kw_only=True):
    """The answer to `round_trip` and `forgery`."""

    passed: bool
    detail: str


class ChangesAnswer(RunnerAnswer, frozen=True, kw_only=True):
    """What came out of a call with each of the changes: the output's digest, nothing where it was refused.

    The first and the last outcome are those of the unchanged material.
    """

    outcomes: list[Annotated[str, Meta(pattern="^([0-9a-f]{16})?$")]] = []
    input_length: Count = 0


class CalibrateAnswer(RunnerAnswer, frozen=True, kw_only=True):
    """What the process found out about its own clock."""

    cycle_source: CycleSource
    reason: str
    tick_hz: Rate
    tick_quantum: Count
    probe_cycles: Quantity
    contention_floor: Quantity
    fixed_ticks: Quantity
    selfcheck: dict[str, float]
    contention_probe: Detector = "front-end"
    contention_window: str = ""
    processor: str = ""
    contention_length: Count = 0
    contention_shared: Quantity = 0.0
    contention_limit: Quantity = 0.0
    waited_ms: Quantity = 0.0
    alone: Quantity = 1.0


class SamplesAnswer(RunnerAnswer, frozen=True, kw_only=True):
    """Raw samples as arrays of equal length; `cycles` may be empty."""

    start: list[Count]
    ticks: list[Count]
    clock_before: list[Count]
    clock_after: list[Count]
    contention_before: list[Count]
    contention_after: list[Count]
    flags: list[FlagBits]
    cycles: list[Count]
    waits: Count
    core: list[Count] = []


class MeasureAnswer(SamplesAnswer, frozen=True, kw_only=True):
    """The samples of a burst, the digest of its last output, and what took the time."""

    calls: Annotated[int, Meta(ge=1, le=2**63 - 1)]
    digest: Digest
    piece_bytes: Count = 0
    forked: list[Count] = []
    threaded: list[Count] = []
    whole_ticks: Count = 0
    warm_ticks: Count = 0
    wait_ticks: Count = 0
    placed: Annotated[list[Count], Meta(max_length=6)] = []
    walk_bytes: Count = 0
    from_disk: bool = False


class AuditAnswer(RunnerAnswer, frozen=True, kw_only=True):
    """What a chain of calls on new data gave; `afresh`: the operation was prepared anew for each of them."""

    length: Count
    digest: Digest
    failures: Count
    forged: Count = 0
    refused: Count = 0
    afresh: bool = False
    control: bool = False
    repeat: Count = 0


class Counts(Struct, frozen=True, kw_only=True):
    """What a stretch of code executed: sums over its calls; `heap_peak` and code are those of the stretch."""

    instructions: Annotated[int, Meta(ge=1, le=2**63 - 1)]
    kinds: dict[str, Count]
    system_calls: Count
    heap_calls: Count
    heap_bytes: Count
    heap_peak: Count
    code_lines: Count
    code_pages: Count
    heap_left: Integer = 0


class CountAnswer(RunnerAnswer, frozen=True, kw_only=True):
    """What calls and the set-up execute and use. Where a part is not known, the text beside it says why."""

    calls: Count = 0
    call: Counts | None = None
    call_unknown: str = ""
    setup: Counts | None = None
    setup_unknown: str = ""
    stack_call: Count = 0
    stack_setup: Count = 0


class PairsAnswer(SamplesAnswer, frozen=True, kw_only=True):
    """Single calls, two by two: `order` has a letter for each, `0` for the first class and `1` for the second."""

    order: Annotated[str, Meta(pattern="^([01][01])*$")]
    failures: Annotated[list[Count], Meta(min_length=2, max_length=2)]
    afresh: bool = False


class WatchAnswer(RunnerAnswer, frozen=True, kw_only=True):
    """Intervals that follow each other: what the core was, and for how many ticks."""

    core: Count
    state: Annotated[str, Meta(pattern="^[qbs]*$")]
    ticks: list[Count]


class Hello(RunnerRequest, frozen=True, kw_only=True, tag="hello"):
    """Ask who is there."""

    answer = HelloAnswer
    protocol: Integer = PROTOCOL_VERSION


class Prepare(RunnerRequest, frozen=True, kw_only=True, tag="prepare"):
    """Allocate, set the key, lay out the buffers."""

    answer = PrepareAnswer
    algorithm: Name
    operation: Name
    contract: Name
    size_bytes: Count
    seed: Seed
    offset: Count
    input_path: str | UnsetType = UNSET


class Vector(Struct, frozen=True, kw_only=True):
    """Material of a known answer, hexadecimal. What is unset is empty."""

    key: Hex | UnsetType = UNSET
    nonce: Hex | UnsetType = UNSET
    aad: Hex | UnsetType = UNSET
    input: Hex | UnsetType = UNSET


class CheckCalls(RunnerRequest, frozen=True, kw_only=True, tag="check"):
    """Begin, make so many calls, show the output of the last one."""

    answer = CheckAnswer
    handle: Integer
    calls: Annotated[int, Meta(ge=1, le=2**63 - 1)]


class CheckVector(RunnerRequest, frozen=True, kw_only=True, tag="check"):
    """One call on exactly this material."""

    answer = CheckAnswer
    handle: Integer
    vector: Vector


class CheckChanges(RunnerRequest, frozen=True, kw_only=True, tag="check"):
    """A call on the material, the run's own without `vector`, with each of the changes in turn."""

    answer = ChangesAnswer
    handle: Integer
    changes: Annotated[str, Meta(pattern=CHANGES)]
    vector: Vector | UnsetType = UNSET


class CheckRoundTrip(RunnerRequest, frozen=True, kw_only=True, tag="check"):
    """The operation, then its inverse, on the run's own input."""

    answer = VerdictAnswer
    handle: Integer
    round_trip: bool = True


class CheckForgery(RunnerRequest, frozen=True, kw_only=True, tag="check"):
    """See that a changed tag and changed data are refused."""

    answer = VerdictAnswer
    handle: Integer
    forgery: bool = True


class Calibrate(RunnerRequest, frozen=True, kw_only=True, tag="calibrate"):
    """Look at the clock for at most so many milliseconds."""

    answer = CalibrateAnswer
    limit_ms: Quantity
    cores: str | UnsetType = UNSET
    patience_ms: Quantity | UnsetType = UNSET
    contention_window: str | UnsetType = UNSET
    contention_floor: Quantity | UnsetType = UNSET
    contention_shared: Quantity | UnsetType = UNSET


class Watch(RunnerRequest, frozen=True, kw_only=True, tag="watch"):
    """See for so long who else is on the core."""

    answer = WatchAnswer
    limit_ms: Quantity


class Measure(RunnerRequest, frozen=True, kw_only=True, tag="measure"):
    """Take a burst of up to `samples` samples, `clean` clean ones, in `limit_ms` milliseconds.

    SPEC 7 says what each field means. `contention_floor` is in core cycles.
    """

    answer = MeasureAnswer
    handle: Integer
    samples: Annotated[int, Meta(ge=1, le=2**31 - 1)]
    clean: Count = 0
    limit_ms: Quantity
    calls: Count = 0
    sample_us: Quantity = 50.0
    contention_floor: Quantity = 0.0
    contention_tolerance: Quantity = 0.01
    clock_tolerance: Quantity = 0.005
    patience: Count = 0
    piece_bytes: Count | UnsetType = UNSET
    warm_us: Quantity | UnsetType = UNSET
    warm_least_us: Quantity | UnsetType = UNSET
    forks: Count | UnsetType = UNSET
    layout: Count | UnsetType = UNSET
    places: Annotated[str, Meta(pattern=PLACES)] | UnsetType = UNSET
    walk_bytes: Count | UnsetType = UNSET
    from_disk: bool | UnsetType = UNSET
    threads: Annotated[str, Meta(pattern=r"^\d{1,3}(,\d{1,3})*$")] | UnsetType = UNSET


class AuditCalls(RunnerRequest, frozen=True, kw_only=True, tag="audit"):
    """Make a chain of calls, each on data that follows from what the last one gave (SPEC 11)."""

    answer = AuditAnswer
    handle: Integer
    seed: Seed
    calls: Annotated[int, Meta(ge=1, le=2**31 - 1)]
    control: bool | UnsetType = UNSET
    repeat: Annotated[int, Meta(ge=1, le=2**31 - 1)] | UnsetType = UNSET


class CountCalls(RunnerRequest, frozen=True, kw_only=True, tag="count"):
    """Count what calls and the set-up execute and use, for at most so long each."""

    answer = CountAnswer
    handle: Integer
    limit_ms: Quantity


class TakePairs(RunnerRequest, frozen=True, kw_only=True, tag="pairs"):
    """Take pairs of single calls that differ in a secret (SPEC 14)."""

    answer = PairsAnswer
    handle: Integer
    seed: Seed
    role: Role
    first: Content
    second: Content
    pairs: Annotated[int, Meta(ge=1, le=2**31 - 1)]
    limit_ms: Quantity
    warm: bool | UnsetType = UNSET
    evict_bytes: Count | UnsetType = UNSET
    only: Annotated[int, Meta(ge=0, le=1)] | UnsetType = UNSET
    contention_floor: Quantity | UnsetType = UNSET
    contention_tolerance: Quantity | UnsetType = UNSET
    patience: Count | UnsetType = UNSET


class Release(RunnerRequest, frozen=True, kw_only=True, tag="release"):
    """Free a handle."""

    answer = RunnerAnswer
    handle: Integer


class Quit(RunnerRequest, frozen=True, kw_only=True, tag="quit"):
    """End."""

    answer = RunnerAnswer


REQUESTS: tuple[type[RunnerRequest], ...] = tuple(RunnerRequest.__subclasses__())
