"""What cells execute and use: each cell is asked of fresh processes, twice, and nothing is timed.

A count is a property of code, data and processor, so that neighbours do not matter: no core is waited for. Two
processes tell whether it is exact; the system places each anew, as in any run, so that code which depends on where its
data lie shows as inexact.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from perbyte.errors import PerbyteError
from perbyte.model import Behaviour, Cell, Counted
from perbyte.protocol.messages import CountAnswer, CountCalls, Counts
from perbyte.runners import RunnerSpec, Session
from perbyte.runners.session import prepare_cell

LIMIT_MS = 20_000.0  # for the first call, and for the set-up; a block of code takes some 3 us
HANDSHAKE = "handshake"
SECRET_BYTES = 32  # that both ends of a connection export
SLACK_S = 60.0  # beyond these: preparing, and making the calls once untraced


def count_cells(
    specs: Mapping[str, RunnerSpec],
    cells: Iterable[Cell],
    seed: int,
    traced: bool = True,
) -> tuple[Behaviour, ...]:
    """Count each cell by its runner in `specs`, or say why not; not `traced`: only what a handshake sends."""
    return tuple(count_cell(specs[cell.runner], cell, seed, traced) for cell in cells)


def count_cell(spec: RunnerSpec, cell: Cell, seed: int, traced: bool = True) -> Behaviour:
    """Count one cell in two processes, one after the other."""
    first = _once(spec, cell, seed, traced)
    if first.call is None:
        return first
    second = _once(spec, cell, seed, traced)
    return replace(first, repeated=second.call.instructions if second.call else None)


def _once(spec: RunnerSpec, cell: Cell, seed: int, traced: bool) -> Behaviour:
    wire: tuple[int, ...] = ()
    try:
        with Session(spec, cpu=cell.cpu, gentle=True) as session:
            session.hello()
            handle = prepare_cell(session, cell, seed=seed)
            wire = _wire(session, handle, cell)
            if not traced:
                return Behaviour(cell, wire=wire)
            request = CountCalls(id=session.next_id(), handle=handle, limit_ms=LIMIT_MS)
            answer = session.ask(request, CountAnswer, 4 * LIMIT_MS / 1000 + SLACK_S)
    except PerbyteError as error:
        return Behaviour(cell, unknown=str(error), wire=wire)
    return Behaviour(
        cell,
        calls=answer.calls,
        call=_mean(answer.call, answer.calls) if answer.call else None,
        setup=_mean(answer.setup, 1) if answer.setup else None,
        stack=answer.stack_call,
        setup_stack=answer.stack_setup,
        unknown=answer.call_unknown,
        setup_unknown=answer.setup_unknown,
        wire=wire,
    )


def _wire(session: Session, handle: int, cell: Cell) -> tuple[int, ...]:
    """Of a handshake, numbers of four bytes behind the secret (SPEC section 3)."""
    if cell.operation != HANDSHAKE:
        return ()
    output = bytes.fromhex(str(session.check_calls(handle, 1).output))[SECRET_BYTES:]
    return tuple(int.from_bytes(output[at : at + 4], "big") for at in range(0, len(output), 4))


def _mean(counts: Counts, calls: int) -> Counted:
    return Counted(
        instructions=counts.instructions / calls,
        kinds={name: number / calls for name, number in counts.kinds.items()},
        system_calls=counts.system_calls / calls,
        heap_calls=counts.heap_calls / calls,
        heap_bytes=counts.heap_bytes / calls,
        heap_peak=counts.heap_peak,
        heap_left=counts.heap_left,
        code_lines=counts.code_lines,
        code_pages=counts.code_pages,
    )
