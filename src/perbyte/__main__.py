"""Where the program begins and ends: what Ctrl-C does while nothing is loaded yet, and when all is done.

Loading takes a few tenths of a second. Python would show an interruption in it as a traceback of whatever was being
imported. Before this file is read, which is some ten milliseconds, the interpreter answers for itself. `_signal` is the
part of `signal` that is in the interpreter; the rest takes milliseconds to load.
"""

import _signal as signal  # type: ignore[import-not-found]
import os

EXIT_INTERRUPTED = 130  # that of `perbyte.errors`, which is not loaded yet; a test compares them


def leave(_number: int = 0, _frame: object = None) -> None:
    """End the process at once."""
    os._exit(EXIT_INTERRUPTED)


def main() -> None:
    """Run the command line. Whoever started it may have said that Ctrl-C is to be ignored; that stays so."""
    ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if ours:
        signal.signal(signal.SIGINT, leave)
    try:
        try:
            from perbyte import cli

            cli.main()
        finally:
            if ours:  # all is said and kept: what is left is to free memory
                signal.signal(signal.SIGINT, signal.SIG_IGN)
    except KeyboardInterrupt:  # once more, while the first one was answered
        leave()


if __name__ == "__main__":
    main()
