"""Arrays and model values in, values out: clean samples, figures, intervals, comparisons.

Nothing here reads, writes, prints or starts anything, and nothing here deletes a sample. SciPy is loaded by
`perbyte.stats.hypothesis` alone, so that measuring never waits for it.
"""

from perbyte.stats.audit import (
    AuditVerdict,
    Printed,
    Seen,
    gross_lie,
    is_finished,
    is_settled,
    is_suspicious,
    is_unlike,
    judge_audits,
    sum_up_audits,
)
from perbyte.stats.clean import (
    Quiet,
    clean_mask,
    clean_values,
    cycles_per_call,
    find_quiet,
    lowest_clean_ns,
    ns_per_call,
    own_quiet,
)
from perbyte.stats.compare import Comparison, compare, noise_floor
from perbyte.stats.epoch import MIN_CLEAN, very_long
from perbyte.stats.estimate import epoch_value, median, median_interval, midmean
from perbyte.stats.figure import (
    PIECES_APART,
    JudgedEpochs,
    Summary,
    common_spread,
    figure,
    judge,
    summarise,
)
from perbyte.stats.floors import OutOfLine, out_of_line
from perbyte.stats.interval import Spread
from perbyte.stats.newdata import COPYING, SHORT_BYTES, Memory, Surroundings, surroundings
from perbyte.stats.run_figures import RunFigures, make_run_figures

__all__ = [
    "COPYING",
    "MIN_CLEAN",
    "PIECES_APART",
    "SHORT_BYTES",
    "AuditVerdict",
    "Comparison",
    "JudgedEpochs",
    "Memory",
    "OutOfLine",
    "Printed",
    "Quiet",
    "RunFigures",
    "Seen",
    "Spread",
    "Summary",
    "Surroundings",
    "clean_mask",
    "clean_values",
    "common_spread",
    "compare",
    "cycles_per_call",
    "epoch_value",
    "figure",
    "find_quiet",
    "gross_lie",
    "is_finished",
    "is_settled",
    "is_suspicious",
    "is_unlike",
    "judge",
    "judge_audits",
    "lowest_clean_ns",
    "make_run_figures",
    "median",
    "median_interval",
    "midmean",
    "noise_floor",
    "ns_per_call",
    "out_of_line",
    "own_quiet",
    "sum_up_audits",
    "summarise",
    "surroundings",
    "very_long",
]
