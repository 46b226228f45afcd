"""The command line: one file a command, each of which parses, calls and prints.

Only this package prints and ends the process. Data go to stdout, progress and notes to stderr. Commands are
loaded when they are called, so that `perbyte --help` need not wait for what it does not use.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import traceback

from perbyte.errors import EXIT_DEFECT, EXIT_ENVIRONMENT, EXIT_FINE, EXIT_INTERRUPTED, PerbyteError

# What the machine refuses; any other OSError is a defect of ours and is shown as one.
_REFUSALS = {
    *(errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE),
    *(errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, errno.EIO, errno.EBADF),
}


def main() -> None:
    """Run the command line and end the process with one of the exit codes of `perbyte.errors`."""
    import click

    from perbyte.cli.group import ReaderGone, commands
    from perbyte.cli.streams import settle

    # NumPy's matrices are not used here, and starting a thread for each core takes longer than all else of it
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    settle()
    try:
        code = commands.main(prog_name="perbyte", standalone_mode=False)
    except PerbyteError as error:
        complain(str(error), error.hint)
        code = error.exit_code
    except click.exceptions.NoArgsIsHelpError as error:  # the help itself, whose lines stay as they are
        print(error.format_message(), file=sys.stderr)
        code = error.exit_code
    except click.UsageError as error:
        told = error.ctx.command_path if error.ctx else "perbyte"
        complain(error.format_message(), f"{told} --help")
        code = error.exit_code
    except click.ClickException as error:
        complain(error.format_message())
        code = error.exit_code
    except (KeyboardInterrupt, click.Abort):
        complain("interrupted")
        code = EXIT_INTERRUPTED
    except ReaderGone:
        _drop_output()
        code = EXIT_FINE
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _REFUSALS:
            place = error.filename or "standard output"
            complain(f"{place}: {error.strerror}", "check the permissions and the disk")
            code = EXIT_ENVIRONMENT
        else:
            # Python's own exit code for this is 1, which here means that a regression was found
            traceback.print_exc()
            complain("internal error (a bug in Perbyte); measured data is saved", "please report it")
            code = EXIT_DEFECT
        _drop_output()
    sys.exit(code if isinstance(code, int) else EXIT_FINE)


def complain(message: str, hint: str | None = None) -> None:
    """Print an error on stderr in the form all errors have: what is wrong, then what to do about it."""
    for lead, text in (("error", message), ("hint", hint)):
        if text:  # a second line, as of a runner's own words, is none of ours
            print(f"{lead}: {text}".replace("\n", "\n  "), file=sys.stderr)


def _drop_output() -> None:
    """Keep what could not be written (no reader, a full disk) from being tried again at exit."""
    with contextlib.suppress(OSError, ValueError):  # a closed one has no number
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
