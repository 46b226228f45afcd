"""Atlas: runs of many machines in one place, a directory or any store that fsspec reaches.

    atlas.json                                          what this is
    index/TOKEN.json                                    the runs and files that one `add` or `pack` brought
    cells/machine=M/library=L/TOKEN.parquet             figures
    samples/machine=M/library=L/TOKEN.parquet           samples
    states/machine=M/TOKEN.parquet                      run.json of each run, without what identifies people

Files are written once and never changed; what the index does not name is not there. Names of files are made of
checked words and never read from a file. Whatever lies in an atlas was written by others and is taken for hostile.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from perbyte.atlas.adding import add, pack
    from perbyte.atlas.index import Atlas, RunRow, open_atlas
    from perbyte.atlas.reading import pull, query, read_run

__all__ = ["Atlas", "RunRow", "add", "open_atlas", "pack", "pull", "query", "read_run"]

_HOMES = {"Atlas": "index", "RunRow": "index", "open_atlas": "index", "add": "adding", "pack": "adding"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES.get(name, 'reading')}"), name)
