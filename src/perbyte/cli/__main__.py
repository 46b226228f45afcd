"""Let `python -m perbyte.cli` do what `perbyte` does."""

from perbyte.cli import main

main()
