"""The command line: a file for each family of commands, each of which parses, calls and prints.

Only this package prints and ends the process. Data go to stdout, progress and notes to stderr. Commands are
loaded when they are called, so that `perbyte --help` need not wait for what it does not use.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from perbyte.cli import interrupts
from perbyte.errors import EXIT_DEFECT, EXIT_ENVIRONMENT, EXIT_FINE, EXIT_INTERRUPTED, PerbyteError

if TYPE_CHECKING:
    import click

# What the machine refuses; any other OSError is a defect of ours and is shown as one.
_REFUSALS = {
    *(errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE),
    *(errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, errno.EIO, errno.EBADF),
}


def main() -> None:
    """Run the command line and end the process with one of the exit codes of `perbyte.errors`."""
    try:
        with interrupts.as_exceptions():
            code = _run()
    except KeyboardInterrupt:
        complain("interrupted")
        code = EXIT_INTERRUPTED
    sys.exit(code if isinstance(code, int) else EXIT_FINE)


def _run() -> object:
    import click

    from perbyte.cli.group import ReaderGone, commands
    from perbyte.cli.streams import settle

    # NumPy's matrices are not used here, and starting a thread for each core takes longer than all else of it
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    settle()
    try:
        return commands.main(prog_name="perbyte", standalone_mode=False)
    except PerbyteError as error:
        complain(str(error), error.hint)
        return error.exit_code
    except click.exceptions.NoArgsIsHelpError as error:  # the help itself, whose lines stay as they are
        with contextlib.suppress(OSError):  # nobody need read it
            print(error.format_message(), file=sys.stderr, flush=True)
        return error.exit_code
    except click.UsageError as error:
        named = " ".join(["perbyte", *sys.argv[1:2]])
        told = error.ctx.command_path if error.ctx else named
        complain(_misuse(error), f"{told} --help")
        return error.exit_code
    except click.ClickException as error:
        complain(error.format_message())
        return error.exit_code
    except click.Abort:
        raise KeyboardInterrupt from None
    except ReaderGone as gone:
        _drop_output()
        return int(gone.args[0] or EXIT_FINE)
    except Exception as error:
        if interrupts.came():
            raise KeyboardInterrupt from None
        from perbyte.extras import extra_of, install_command

        if isinstance(error, ModuleNotFoundError) and (extra := extra_of(error.name or "")):
            lacking = f"this needs the extra '{extra}' ({error.name}), which is not installed"
            complain(lacking, f"run: {install_command(extra)}")
            code = EXIT_ENVIRONMENT
        elif isinstance(error, OSError) and error.errno in _REFUSALS:
            from perbyte import places

            ours = f"a file of Perbyte's, in {places.runs_home().parent} or {places.build_home()}"
            complain(f"{error.filename or ours}: {error.strerror}", "check the permissions and the disk")
            code = EXIT_ENVIRONMENT
        else:
            # Python's own exit code for this is 1, which here means that a regression was found
            traceback.print_exc()
            told = f"internal error (a bug in Perbyte), {_place_of(error)}"
            complain(f"{told}; measured data is saved", "please report it")
            code = EXIT_DEFECT
        _drop_output()
        return code


def _place_of(error: Exception) -> str:
    """What an error is and where it came up, in a line: a fleet hands on the line and no more."""
    from perbyte.model.text import plain

    frame = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(frame.filename).name}, line {frame.lineno}"
    return f"{type(error).__name__} ({plain(str(error), 120)}) in {where}"


def _misuse(error: click.UsageError) -> str:
    import click

    if error.ctx and isinstance(error.ctx.command, click.Group) and error.message.startswith("No such c"):
        there = ", ".join(sorted(error.ctx.command.commands))
        file = " A file comes after one of these." if Path(error.message.split("'")[1]).suffix else ""
        return f"{error.message} There are {there}.{file}"
    if error.message.startswith("Got unexpected extra arg") and error.ctx:
        return f"{error.ctx.command_path} takes no more than it has: {error.message.partition('(')[2][:-1]} is too much"
    if isinstance(error, click.NoSuchOption) and error.possibilities:
        near = [name for name in error.possibilities if name != "--help"]
        error = click.NoSuchOption(error.option_name, possibilities=near, ctx=error.ctx)
    parameter = error.param if isinstance(error, click.BadParameter) else None
    if not isinstance(error, click.MissingParameter):  # the name of an argument is the list of its choices
        return error.message if isinstance(parameter, click.Argument) else error.format_message()
    if not parameter or not isinstance(parameter.type, click.Choice):
        return error.format_message()
    kind = "argument" if isinstance(parameter, click.Argument) else f"option {parameter.opts[0]}"
    return f"an {kind} is missing: one of {', '.join(map(str, parameter.type.choices))}"


def complain(message: str, hint: str | None = None) -> None:
    """Print an error on stderr in the form all errors have: what is wrong, then what to do about it."""
    for lead, text in (("error", message), ("hint", hint)):
        if text:  # a second line, as of a runner's own words, is none of ours
            print(f"{lead}: {text}".replace("\n", "\n  "), file=sys.stderr)


def _drop_output() -> None:
    with contextlib.suppress(OSError, ValueError):  # a closed one has no number
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
