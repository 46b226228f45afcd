"""`perbyte completion`: the script that lets a shell complete commands and options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import click

from perbyte.cli.declared import argument, takes


@dataclass(frozen=True, slots=True)
class ShellOption:
    """Which shell is meant."""

    shell: Literal["bash", "zsh", "fish"] = argument()


@click.command("completion")
@takes(ShellOption)
def command(options: ShellOption) -> int:
    """Print the completion script for SHELL.

    \b
      bash:  eval "$(perbyte completion bash)"
      zsh:   eval "$(perbyte completion zsh)"
      fish:  perbyte completion fish | source
    """
    from click.shell_completion import get_completion_class

    from perbyte.cli.group import commands

    completion = get_completion_class(options.shell)
    assert completion is not None
    print(completion(commands, {}, "perbyte", "_PERBYTE_COMPLETE").source())
    return 0
