"""Arrays and model values in, values out: clean samples, figures, intervals, comparisons.

Nothing here writes, prints or starts anything, and nothing here deletes a sample.
"""

from perbyte.stats.compare import compare

__all__ = ["compare"]
