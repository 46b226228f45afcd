"""The top of the command line: the list of commands and their lazy loading."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import click

from perbyte import __version__

# name: (module, one line for the overview)
COMMANDS = {
    "doctor": ("doctor", "Look at this machine: clock source, runners, and what is missing."),
    "build": ("build", "Build runners for the libraries that are present."),
    "list": (
        "listing",
        "List algorithms and who has them, runners, operations, suites, studies, contracts, runs.",
    ),
    "measure": ("measure", "Measure cells: the main job."),
    "advise": ("advise", "Say what to use here, for a disk, TLS, passwords..., and why."),
    "try": ("try_command", "Measure a function of your own beside the libraries: a file is enough."),
    "show": ("show", "Show the table of a run again."),
    "compare": ("compare", "Compare two runs, or two selectors of a run."),
    "merge": ("merge", "Merge runs of the same conditions into one with more epochs."),
    "verify": ("verify", "Find damage in a run, and see whether it is signed."),
    "recover": ("recover", "Save what is readable of a damaged run."),
    "sign": ("sign", "Sign a run with an SSH key of your own."),
    "query": ("query", "Query the figures and samples of all runs by SQL."),
    "atlas": ("atlas", "Runs of many machines in one place: add, list, query, pull."),
    "fleet": ("fleet", "Measure one plan on many machines behind a Dask scheduler."),
    "study": ("study", "Re-run a published study and judge its claims."),
    "report": ("report", "Write a run as one HTML file, or a chart for a paper."),
    "methods": ("methods", "Print the paragraph about a run for a paper's methods section."),
    "selftest": ("selftest", "Measure the harness itself against known costs."),
    "conform": ("conform", "Hold a runner to every promise of the protocol."),
    "export": ("export", "Write a run in another tool's format."),
    "import": ("imports", "Read another tool's listing as a run."),
    "completion": ("completion", "Print the shell's completion script."),
}

HELP = """Tell how fast cryptography really is, in true cycles per byte.

\b
  perbyte doctor                              what this machine has and lacks
  perbyte measure 'openssl/aes-*-cbc/*@16,8192'
  perbyte measure '*/sha-256' --size 64,1KiB,16KiB --precision 0.1%
  perbyte show                                the newest run again
  perbyte study run kompara-2020              a published comparison, repeated here
"""


class ReaderGone(Exception):
    """The reader of our output closed the pipe, as `| head` does. Not an OSError: click would exit with 1 for it."""


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called or asked for help."""

    def make_context(self, *args: Any, **more: Any) -> click.Context:
        """Parse the command line. Raises ReaderGone when help is printed to nobody."""
        try:
            return super().make_context(*args, **more)
        except BrokenPipeError:
            raise ReaderGone from None

    def invoke(self, ctx: click.Context) -> Any:
        """Call the command and see its output off. Raises ReaderGone when nobody reads it."""
        try:
            result = super().invoke(ctx)
            if sys.stdout:  # none when it was closed by the caller
                sys.stdout.flush()
        except BrokenPipeError:
            raise ReaderGone from None
        return result

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order in which a newcomer needs them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command's module; None for an unknown name."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"perbyte.cli.{COMMANDS[cmd_name][0]}")
        command = module.command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Say which commands come near when a name is unknown."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            import difflib

            near = difflib.get_close_matches(args[0], COMMANDS, 3)
            hint = f"; did you mean {', '.join(near)}?" if near else ""
            raise click.UsageError(f"no such command '{args[0]}'{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the overview without importing a single command."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.command(
    cls=LazyGroup,
    help=HELP,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="perbyte")
def commands() -> None:
    """Hold the commands together."""
