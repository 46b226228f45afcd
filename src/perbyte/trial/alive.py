"""A first look at a program: does it start, answer and come back? What does not is left out of the run, with a reason.

Seconds are allowed where a run allows minutes: of many implementations a few may hang.
"""

from __future__ import annotations

from perbyte.errors import PerbyteError, RunnerRefused, RunnerTimedOut
from perbyte.runners import RunnerSpec, Session, TimeLimits

LIMITS = TimeLimits(hello=5, prepare=5, check=5, quit=1)


def look(spec: RunnerSpec, size: int) -> tuple[str, str]:
    """('', '') when every operation can be prepared and called at `size`; else what is wrong in a word, and why."""
    try:
        with Session(spec, limits=LIMITS) as session:
            for row in session.hello().operations:
                handle = session.prepare(row.algorithm, row.operation, row.contract, size, seed=7)
                session.check_calls(handle, 1)
    except RunnerTimedOut as error:
        return "hangs", str(error)
    except RunnerRefused as error:
        return "refuses", str(error)
    except PerbyteError as error:
        return "crashes", str(error)
    return "", ""
