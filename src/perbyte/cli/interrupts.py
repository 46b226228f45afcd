"""Ctrl-C as an exception that arrives, whatever the interpreter was doing when it came."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

_LATER_S = 0.002
_came = False


def came() -> bool:
    """True when this process was interrupted since `as_exceptions` began.

    What fails then, fails of it: libraries wrap the exception in theirs.
    """
    return _came


@contextlib.contextmanager
def as_exceptions() -> Iterator[None]:
    """Let Ctrl-C raise KeyboardInterrupt, unless it is ignored; and once more where nobody could take the first one.

    Python prints and drops what is raised while an object is being freed.
    """
    global _came
    _came = False
    before, hook = signal.getsignal(signal.SIGINT), sys.unraisablehook
    if not callable(before):
        yield
        return
    signal.signal(signal.SIGINT, _interrupt)
    sys.unraisablehook = _sent_again(hook)
    try:
        yield
    finally:
        sys.unraisablehook = hook
        signal.signal(signal.SIGINT, before)


def _interrupt(_number: int, _frame: object) -> NoReturn:
    global _came
    _came = True
    raise KeyboardInterrupt


def _sent_again(hook: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def look(dropped: Any) -> None:
        if issubclass(dropped.exc_type, KeyboardInterrupt):
            # a moment later, and from elsewhere: raised in here it would be dropped as well
            again = threading.Timer(_LATER_S, os.kill, (os.getpid(), signal.SIGINT))
            again.daemon = True
            with contextlib.suppress(KeyboardInterrupt):  # one more came while the thread was started
                again.start()
        else:
            hook(dropped)

    return look
