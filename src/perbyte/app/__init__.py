"""Use cases for programs and notebooks: values in, values out. Nothing here prints, parses words of a shell or exits.

The commands call the same functions, and show what these return (docs/python.md).

- `calling`: measure, load, and figures and samples as Arrow tables
- `conducting`: a request, a drawn plan or an interrupted run, measured into a run directory
- `building`: what is needed and not built; `requests`: what is asked of a run; `runs`: which stored run is meant
- `trying`: a user's programs beside the libraries; `supercop`: implementations of a tree, built and looked at
- `benchmarks`: benchmark files of a project; `gate`: when a comparison fails; `verdicts`: which exit code that is
- `importing`: other tools' listings
- `auditing`, `checkup`, `selftest`: a runner, the machine and the harness put to the test; `agreeing`: all libraries
- `atlases`: which atlas is meant; `fleets`: which fleet, which of its machines, and one plan on all of them
- `leaking`: does time depend on secrets; `advising`: what a question needs; `lists`: what there is to choose from
- `listener`: who hears of it meanwhile
"""

from perbyte.app.calling import cells_table, load, measure, samples_table
from perbyte.app.listener import Listener

__all__ = ["Listener", "cells_table", "load", "measure", "samples_table"]
