"""Every error that Perbyte raises on purpose, each with the exit code it means and a hint.

Libraries raise these; only `perbyte.cli` prints them and exits. An error that is none of these is a
defect of Perbyte and is shown as such.
"""

from __future__ import annotations

EXIT_FINE = 0
EXIT_FOUND = 1
EXIT_USAGE = 2
EXIT_ENVIRONMENT = 3
EXIT_INCORRECT = 4
EXIT_UNDECIDED = 5
EXIT_MISSING = 6
EXIT_DEFECT = 70
EXIT_INTERRUPTED = 130


class PerbyteError(Exception):
    """Base of all errors that are raised on purpose.

    `hint` says what the reader can do next; it is printed on a line of its own.
    """

    exit_code = EXIT_USAGE

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class UsageError(PerbyteError):
    """What was asked for does not exist or does not fit together."""


class EnvironmentLacking(PerbyteError):
    """A library, tool, permission or resource that is needed is not there."""

    exit_code = EXIT_ENVIRONMENT


class DataFileError(PerbyteError):
    """A data file (catalogue, study, runner.toml) breaks its rules."""


class DamagedRunWarning(UserWarning):
    """A run that was opened is not what was written, or not what was signed."""


class DataFileWarning(UserWarning):
    """A file of a study or runner breaks the rules, which costs that study or runner only."""


class StoreError(PerbyteError):
    """A run directory cannot be read or written."""

    exit_code = EXIT_ENVIRONMENT


class NoSuchRun(StoreError):
    """There is no run where one was asked for."""

    exit_code = EXIT_USAGE


class IncompatibleRuns(StoreError):
    """Two runs differ in conditions that must agree; `fields` names them."""

    exit_code = EXIT_USAGE

    def __init__(self, message: str, *, fields: tuple[str, ...], hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.fields = fields


class RunnerError(PerbyteError):
    """A runner process broke off or broke the protocol. Costs that runner's cells, nothing else."""

    exit_code = EXIT_ENVIRONMENT


class RunnerCrashed(RunnerError):
    """The process ended by itself: a signal or a non-zero exit while an answer was due."""


class RunnerEnded(RunnerError):
    """End of file on the runner's stdout while an answer was due."""


class RunnerTimedOut(RunnerError):
    """No answer within the time allowed."""


class RunnerFlooded(RunnerError):
    """A line longer than the protocol allows."""


class RunnerSpokeOutOfTurn(RunnerError):
    """Output on stdout that answers no question."""


class RunnerGarbled(RunnerError):
    """A line that is not the JSON object the protocol asks for."""


class RunnerVersionMismatch(RunnerError):
    """The runner speaks another protocol version."""


class RunnerRefused(RunnerError):
    """The runner answered `ok: false`; `code` is the protocol's error code."""

    def __init__(self, message: str, *, code: str, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.code = code
