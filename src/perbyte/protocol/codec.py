"""Requests to lines, lines to answers. Every way an answer can be wrong has its own typed error.

A runner may lie or break; nothing it writes may crash the reader or reach the store unseen. So answers are
read strictly: types, 64 bits, finite numbers, arrays of equal length, and whatever the request itself
demands of its answer. This module does no input or output and keeps no state.
"""

from __future__ import annotations

import math
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET, structs

from perbyte.errors import RunnerFlooded, RunnerGarbled, RunnerRefused, RunnerVersionMismatch, UsageError
from perbyte.model.sample import COUNTERS, is_even
from perbyte.model.text import plain
from perbyte.protocol.messages import (
    HEAD_BYTES,
    LINE_LIMIT,
    OUTPUT_LIMIT,
    PROTOCOL_VERSION,
    REQUESTS,
    CalibrateAnswer,
    ChangesAnswer,
    CheckAnswer,
    CheckChanges,
    CountAnswer,
    Hello,
    HelloAnswer,
    Measure,
    MeasureAnswer,
    PairsAnswer,
    Refusal,
    RunnerAnswer,
    RunnerRequest,
    TakePairs,
    VerdictAnswer,
    WatchAnswer,
)

AnswerT = TypeVar("AnswerT", bound=RunnerAnswer)
_SHOWN = 120
_LONGEST = 1000
_TEXTS: dict[type[RunnerAnswer], tuple[str, ...]] = {
    HelloAnswer: ("sdk", "library", "library_version", "license", "compiler", "flags", "cpu_features"),
    CalibrateAnswer: ("reason", "contention_window", "processor"),
    VerdictAnswer: ("detail",),
    CountAnswer: ("call_unknown", "setup_unknown"),
}
# what no counter, probe or sample reads: beyond them sums and products of numbers that are each allowed are not
LEAST_HZ, MOST_HZ = 1e3, 1e12
LEAST_PROBE, MOST_READING = 1.0, 1e12
MOST_TICKS = 2**53


class _Envelope(msgspec.Struct):
    id: int
    ok: bool


class _Version(msgspec.Struct):
    protocol: int


_ENCODER = msgspec.json.Encoder()
_ENVELOPE = msgspec.json.Decoder(_Envelope)
_VERSION = msgspec.json.Decoder(_Version)
_REFUSAL = msgspec.json.Decoder(Refusal)
_ANSWERS = {request: msgspec.json.Decoder(request.answer) for request in REQUESTS}


def encode(request: RunnerRequest) -> bytes:
    """Return the line for `request`, line feed included. Raises UsageError when it exceeds the line limit."""
    line = _ENCODER.encode(request) + b"\n"
    if len(line) > LINE_LIMIT:
        raise UsageError(f"a request of {len(line)} bytes exceeds the protocol's limit of {LINE_LIMIT}")
    return line


def decode(line: bytes, request: RunnerRequest, answer: type[AnswerT]) -> AnswerT:
    """Return the answer in `line` (line feed included) to `request`, as the Struct `answer`.

    `answer` is `request.answer`; it is named again so that the result has a precise type. Raises
    RunnerRefused for `ok: false`, RunnerVersionMismatch when `hello` is answered in another version,
    RunnerFlooded for a line over the limit, RunnerGarbled for anything else that SPEC.md does not allow.
    """
    if answer is not request.answer:
        raise TypeError(f"{type(request).__name__} is answered by {request.answer.__name__}")
    if len(line) > LINE_LIMIT:
        raise RunnerFlooded(f"a line of {len(line)} bytes; the protocol allows {LINE_LIMIT}")
    if not line.endswith(b"\n"):
        raise RunnerGarbled(f"the line is not complete: {_shown(line)}")
    try:
        line.decode("utf-8")
        envelope = _ENVELOPE.decode(line)
        if not envelope.ok:
            refusal = _REFUSAL.decode(line)
            if refusal.id == request.id or (refusal.id == 0 and refusal.error == "malformed"):
                raise RunnerRefused(plain(refusal.message, 500) or refusal.error, code=refusal.error)
        if envelope.id != request.id:
            raise RunnerGarbled(f"answers request {envelope.id}, not {request.id}: {_shown(line)}")
        if isinstance(request, Hello):
            version = _VERSION.decode(line).protocol
            if version != PROTOCOL_VERSION:
                raise RunnerVersionMismatch(
                    f"the runner speaks protocol version {version}, Perbyte speaks {PROTOCOL_VERSION}",
                    hint="build the runner again with this version of Perbyte",
                )
        decoded = _ANSWERS[type(request)].decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        text = "nested too deeply" if isinstance(error, RecursionError) else error
        raise RunnerGarbled(f"{text}: {_shown(line)}") from None
    if fault := _contradiction(decoded, request):
        raise RunnerGarbled(f"{fault}: {_shown(line)}")
    tidy = _tidied(decoded)
    assert isinstance(tidy, answer)
    return tidy


def _tidied(answer: RunnerAnswer) -> RunnerAnswer:
    """Make every text for people one plain line of bounded length. What the runner loaded is a path, and stays."""
    texts: dict[str, Any] = {
        field: plain(getattr(answer, field), _LONGEST) for field in _TEXTS.get(type(answer), ())
    }
    if isinstance(answer, HelloAnswer):
        texts["operations"] = [
            structs.replace(row, calls=plain(row.calls, _LONGEST), code_path=plain(row.code_path))
            for row in answer.operations
        ]
    if isinstance(answer, CalibrateAnswer):
        texts["selfcheck"] = {plain(name, 40): value for name, value in answer.selfcheck.items()}
    return structs.replace(answer, **texts) if texts else answer


def _contradiction(answer: RunnerAnswer, request: RunnerRequest) -> str:
    """What is wrong between fields that are each well-formed; empty when nothing is."""
    match answer:
        case CheckAnswer():
            return _check_contradiction(answer)
        case CalibrateAnswer():
            numbers = [value for value in structs.astuple(answer) if isinstance(value, float)]
            if not all(map(math.isfinite, (*numbers, *answer.selfcheck.values()))):
                return "a number is not finite"
            if not LEAST_HZ <= answer.tick_hz <= MOST_HZ:
                return f"a tick counter of {answer.tick_hz:g} Hz"
            if max(*numbers[1:], answer.tick_quantum) > MOST_READING:
                return f"a number beyond {MOST_READING:g}"
            if 0 < answer.probe_cycles < LEAST_PROBE:
                return f"a clock probe of {answer.probe_cycles:g} cycles"
            if answer.cycle_source != "none" and not answer.probe_cycles:
                return "a cycle source without a clock probe"
        case ChangesAnswer() if isinstance(request, CheckChanges) and answer.outcomes:
            wanted = len(request.changes.split()) + 2
            if len(answer.outcomes) != wanted:
                return f"{len(answer.outcomes)} outcomes where {wanted} were requested"
        case WatchAnswer() if len(answer.state) != len(answer.ticks):
            return "arrays of different length"
        case CountAnswer():
            return _count_contradiction(answer)
        case MeasureAnswer() if isinstance(request, Measure):
            return _measure_contradiction(answer, request)
        case PairsAnswer() if isinstance(request, TakePairs):
            return _pairs_contradiction(answer, request)
    return ""


def _check_contradiction(answer: CheckAnswer) -> str:
    if len(answer.head) != 2 * min(answer.length, HEAD_BYTES):
        return f"an output of {answer.length} bytes with a head of {len(answer.head) // 2}"
    if answer.output is msgspec.UNSET:
        return "" if answer.length > OUTPUT_LIMIT else "a short output is not shown"
    if len(answer.output) != 2 * answer.length or not answer.output.startswith(answer.head):
        return "length, head and output contradict each other"
    return ""


def _count_contradiction(answer: CountAnswer) -> str:
    if (answer.call is None) != (answer.calls == 0):
        return f"counts of {answer.calls} calls that are not there"
    for counts in (answer.call, answer.setup):
        if counts and max(counts.kinds.values(), default=0) > counts.instructions:
            return "more instructions of a kind than instructions"
    return ""


def _uneven(answer: MeasureAnswer | PairsAnswer) -> str:
    """What is wrong with the columns of samples; empty when nothing is."""
    if not is_even(answer):
        return "arrays of different length"
    if max(max(getattr(answer, name), default=0) for name in (*COUNTERS[1:], "cycles")) > MOST_TICKS:
        return f"a reading beyond {MOST_TICKS}"
    return ""


def _pairs_contradiction(answer: PairsAnswer, request: TakePairs) -> str:
    if uneven := _uneven(answer):
        return uneven
    if len(answer.order) != len(answer.ticks):
        return f"{len(answer.ticks)} samples of {len(answer.order)} classes"
    if not 1 <= len(answer.order) // 2 <= request.pairs:
        return f"{len(answer.order) // 2} pairs where 1 to {request.pairs} were requested"
    if request.only is UNSET and any(
        a == b for a, b in zip(answer.order[::2], answer.order[1::2], strict=True)
    ):
        return "a pair of one class that was not requested"
    return ""


def _measure_contradiction(answer: MeasureAnswer, request: Measure) -> str:
    if uneven := _uneven(answer):
        return uneven
    if (answer.walk_bytes, answer.from_disk) != (request.walk_bytes or 0, request.from_disk or False):
        return "calls on other data than was requested"
    taken = len(answer.ticks)
    threads = len(request.threads.split(",")) if request.threads else 0
    if len(answer.threaded) != threads:
        return f"bursts of {len(answer.threaded)} threads where {threads} were requested"
    bursts, asked = answer.forked or answer.threaded or [taken], request.forks or threads or 1
    if sum(bursts) != taken or len(bursts) > asked:
        return f"{taken} samples of bursts that say {sum(bursts)}, {len(bursts)} of {asked}"
    if not 1 <= min(bursts) <= max(bursts) <= request.samples:
        return f"{max(bursts)} samples where 1 to {request.samples} were requested"
    if answer.piece_bytes and answer.piece_bytes != request.piece_bytes:
        return f"pieces of {answer.piece_bytes} bytes that were not requested"
    if answer.piece_bytes and answer.calls != 1:
        return f"{answer.calls} calls per sample where pieces of one call were requested"
    if request.calls and answer.calls != request.calls:
        return f"{answer.calls} calls per sample where {request.calls} were requested"
    return ""


def _shown(line: bytes) -> str:
    """A piece of the line that is safe to print."""
    text = ascii(line[:_SHOWN].rstrip(b"\n").decode("utf-8", "replace"))
    return text if len(line) <= _SHOWN else f"{text}... ({len(line)} bytes)"
