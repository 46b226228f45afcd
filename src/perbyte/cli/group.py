"""The top of the command line: the list of commands and their lazy loading."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from typing import Any

import click

from perbyte import __version__
from perbyte.errors import EXIT_FINE

Members = Mapping[str, tuple[str, str]]  # name: (module with NAME_command, one line for the overview)

SECTIONS: Mapping[str, Members] = {
    "Measure": {
        "advise": ("advise", "Recommend what to use here: for a disk, TLS, passwords..."),
        "measure": ("measure", "Measure algorithms: the main command."),
        "leak": ("leak", "Test whether the time of a call depends on secrets."),
        "bench": ("projects", "Measure a project's benchmark files (criterion, testing.B)."),
        "try": ("try_command", "Check a function of your own, and compare it with the libraries."),
    },
    "Results": {
        "show": ("runs", "Print the table of a run again."),
        "compare": ("compare", "Compare two runs, or two selectors of a run."),
        "report": ("report", "Write a run as one HTML file, or a chart for a paper."),
        "query": ("runs", "Query the figures and samples of all runs with SQL."),
    },
    "Publish": {
        "supercop": ("projects", "Measure every implementation in a tree with SUPERCOP's layout."),
        "study": ("study", "Re-run a published study and judge its claims."),
        "methods": ("runs", "Print the paragraph about a run for a paper's methods section."),
        "export": ("exchange", "Write a run in another tool's format."),
        "import": ("exchange", "Read another tool's listing as a run."),
    },
    "Many machines": {
        "atlas": ("atlas", "Collect runs of many machines: add, list, query, pull."),
        "fleet": ("fleet", "Measure one plan on many machines behind a Dask scheduler."),
    },
    "Maintenance": {
        "doctor": ("doctor", "Check this machine: clock source, runners, missing packages."),
        "build": ("doctor", "Build runners for the installed libraries."),
        "list": ("doctor", "List algorithms, their libraries, runners, suites, studies, runs..."),
        "verify": ("runs", "Find damage in a run, and check its signature."),
        "run": ("", "Merge, recover or sign a run; rarely needed."),
        "dev": ("", "For authors of runners: agree, conform, selftest."),
    },
}
OF_RUNS: Members = {
    "merge": ("runs", "Merge runs of the same conditions into one with more epochs."),
    "recover": ("runs", "Save the readable part of a damaged run."),
    "sign": ("runs", "Sign a run with your SSH key."),
}
OF_DEVELOPERS: Members = {
    "agree": ("developer", "Check that all libraries compute the same, without timing."),
    "conform": ("developer", "Check a runner against every rule of the protocol."),
    "selftest": ("developer", "Measure loops of known cost, to check Perbyte itself."),
}
# accepted without being shown: these were commands of their own before they moved into groups
HIDDEN: Members = {
    **OF_RUNS,
    **OF_DEVELOPERS,
    "completion": ("doctor", "Print the shell's completion script."),
    "help": ("", "Print the help of a command."),
    "version": ("", "Print the version."),
}
COMMANDS: Members = {name: line for members in SECTIONS.values() for name, line in members.items()}

HELP = """Measure how fast cryptography is, in true core cycles per byte.

\b
  perbyte advise tls                   what to use on this machine, and why (about 20 s)
  perbyte try my_hash.c --as sha-256   a function of your own beside the libraries
  perbyte measure '*/{aes-256-gcm,chacha20-poly1305}/seal@1350' --rate 2GB/s
  perbyte compare monday tuesday       two runs, cell by cell
  perbyte doctor                       what this machine has and lacks
"""


class ReaderGone(Exception):
    """The reader closed the pipe, as `| head` does. The argument is the exit code: its own of a command that had ended.

    Not an OSError: click would exit with 1 for it.
    """


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called or asked for help."""

    def __init__(
        self, *args: Any, sections: Mapping[str, Members], hidden: Members | None = None, **more: Any
    ) -> None:
        """`sections` are shown under their titles, in this order; `hidden` commands are accepted as well."""
        super().__init__(*args, **more)
        self.sections = sections
        self.known = {name: summary for members in sections.values() for name, summary in members.items()}
        self.accepted = {**self.known, **(hidden or {})}

    def make_context(self, *args: Any, **more: Any) -> click.Context:
        """Parse the command line. Raises ReaderGone when help is printed to nobody."""
        try:
            return super().make_context(*args, **more)
        except BrokenPipeError:
            raise ReaderGone(EXIT_FINE) from None

    def invoke(self, ctx: click.Context) -> Any:
        """Call the command and see its output off. Raises ReaderGone when nobody reads it."""
        result = EXIT_FINE
        try:
            result = super().invoke(ctx)
            if sys.stdout:  # none when it was closed by the caller
                sys.stdout.flush()
        except BrokenPipeError:
            raise ReaderGone(result) from None
        return result

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order in which a newcomer needs them."""
        return list(self.known)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command's module; None for an unknown name."""
        if cmd_name in self.commands:
            return self.commands[cmd_name]
        if cmd_name not in self.accepted:
            return None
        module = importlib.import_module(f"perbyte.cli.{self.accepted[cmd_name][0]}")
        command = getattr(module, f"{cmd_name}_command")
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Say which commands come near when a name is unknown."""
        if args and args[0] not in self.accepted and not args[0].startswith("-"):
            import difflib

            near = difflib.get_close_matches(args[0], self.accepted, 3, 0.65)
            hint = f"; did you mean {', '.join(near)}?" if near else ""
            raise click.UsageError(f"no such command '{args[0]}'{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the overview without importing a single command."""
        widest = max(map(len, self.known))
        for title, members in self.sections.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(widest), line) for name, (_, line) in members.items()])


@click.command(
    cls=LazyGroup,
    sections=SECTIONS,
    hidden=HIDDEN,
    help=HELP,
    epilog="perbyte help COMMAND explains a command; the pages are in docs/.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="perbyte")
def commands() -> None:
    """Hold the commands together."""


commands.add_command(
    LazyGroup("run", sections={"Commands": OF_RUNS}, help="Rarely needed commands on runs."), "run"
)
commands.add_command(
    LazyGroup(
        "dev",
        sections={"Commands": OF_DEVELOPERS},
        help="For authors of runners, and for work on Perbyte itself.",
    ),
    "dev",
)


@commands.command("help")
@click.argument("names", nargs=-1, metavar="[COMMAND]...")
@click.pass_context
def help_(ctx: click.Context, names: tuple[str, ...]) -> int:
    """Print the help of a command, or of all."""
    assert ctx.parent
    inner, command = ctx.parent, ctx.parent.command
    for name in names:
        if not isinstance(command, click.Group):
            raise click.UsageError(f"'{inner.command_path}' has no commands of its own", inner)
        _, resolved, _ = command.resolve_command(inner, [name])
        assert resolved
        inner, command = click.Context(resolved, parent=inner, info_name=name), resolved
    print(command.get_help(inner))
    return 0


@commands.command("version")
def version() -> int:
    """Print the version."""
    print(f"perbyte, version {__version__}")
    return 0
