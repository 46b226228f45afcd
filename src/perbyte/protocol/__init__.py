"""What is said between Perbyte and a runner: messages, lines, and the bytes both sides agree on.

Pure: nothing here starts a process, reads a pipe or waits. `protocol/SPEC.md` is the authority; this package
follows it. `material` is not imported here, because it needs numpy and only tests and conformance need it.
"""

from perbyte.protocol.codec import decode, encode
from perbyte.protocol.messages import (
    ERROR_CODES,
    LINE_LIMIT,
    PROTOCOL_VERSION,
    REQUESTS,
    Answer,
    Calibrate,
    CalibrateAnswer,
    CheckAnswer,
    CheckCalls,
    CheckForgery,
    CheckRoundTrip,
    CheckVector,
    Hello,
    HelloAnswer,
    Measure,
    MeasureAnswer,
    Operation,
    Prepare,
    PrepareAnswer,
    Quit,
    Refusal,
    Release,
    Request,
    Vector,
    VerdictAnswer,
)

__all__ = [
    "ERROR_CODES",
    "LINE_LIMIT",
    "PROTOCOL_VERSION",
    "REQUESTS",
    "Answer",
    "Calibrate",
    "CalibrateAnswer",
    "CheckAnswer",
    "CheckCalls",
    "CheckForgery",
    "CheckRoundTrip",
    "CheckVector",
    "Hello",
    "HelloAnswer",
    "Measure",
    "MeasureAnswer",
    "Operation",
    "Prepare",
    "PrepareAnswer",
    "Quit",
    "Refusal",
    "Release",
    "Request",
    "Vector",
    "VerdictAnswer",
    "decode",
    "encode",
]
