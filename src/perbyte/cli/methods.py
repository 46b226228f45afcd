"""`perbyte methods`: the paragraph for a paper."""

from __future__ import annotations

import textwrap
from pathlib import Path

from perbyte.app.run_names import find_run
from perbyte.cli.declared import Options, argument, takes
from perbyte.errors import EXIT_FINE

WIDTH = 100


class _RunOption(Options):
    run: Path | None = argument(required=False)


@takes("methods", _RunOption)
def command(options: _RunOption) -> int:
    """Print a paragraph about RUN (default: the newest) for a methods section, with all data to repeat it.

    \b
      perbyte methods results/monday
    """
    from perbyte.report.methods import methods
    from perbyte.store import open_run

    text = methods(open_run(find_run(options.run)))
    print(textwrap.fill(text, WIDTH, break_on_hyphens=False, break_long_words=False))
    return EXIT_FINE
