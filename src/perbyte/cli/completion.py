"""`perbyte completion`: the script that lets a shell complete commands and options."""

from __future__ import annotations

from typing import Literal

from perbyte.cli.declared import Options, argument, takes


class _ShellOption(Options):
    shell: Literal["bash", "zsh", "fish"] = argument()


@takes("completion", _ShellOption)
def command(options: _ShellOption) -> int:
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
