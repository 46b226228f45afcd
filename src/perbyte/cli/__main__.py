"""Let `python -m perbyte.cli` do what `perbyte` does."""

from perbyte.__main__ import main

main()
