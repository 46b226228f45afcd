"""Arrays and model values in, values out: clean samples, figures, intervals, comparisons.

Nothing here writes, prints or starts anything, and nothing here deletes a sample.
"""

from perbyte.stats.audit import (
    AuditVerdict,
    Printed,
    Seen,
    exceeds_in_epochs,
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
    by_company,
    clean_mask,
    clean_values,
    cycles_per_call,
    find_quiet,
    judge_samples,
    lowest_clean_ns,
    ns_per_call,
    own_quiet,
)
from perbyte.stats.compare import Comparison, compare, noise_floor, ratio_of_medians
from perbyte.stats.draws import ENOUGH_CALLS, figure_of_draws
from perbyte.stats.epoch import MIN_CLEAN, very_long
from perbyte.stats.estimate import epoch_value, median, median_interval, midmean
from perbyte.stats.figure import (
    PIECES_APART,
    JudgedEpochs,
    Spreads,
    Summary,
    common_spread,
    figure,
    judge,
    summarise,
)
from perbyte.stats.floors import OutOfLine, out_of_line
from perbyte.stats.newdata import (
    COPYING,
    LEAST_LOOKS,
    REFUSED,
    SHORT_BYTES,
    Memory,
    Surroundings,
    middle,
    surroundings,
)
from perbyte.stats.run_figures import CHANGED, RunFigures, make_run_figures

__all__ = [
    "CHANGED",
    "COPYING",
    "ENOUGH_CALLS",
    "LEAST_LOOKS",
    "MIN_CLEAN",
    "PIECES_APART",
    "REFUSED",
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
    "Spreads",
    "Summary",
    "Surroundings",
    "by_company",
    "clean_mask",
    "clean_values",
    "common_spread",
    "compare",
    "cycles_per_call",
    "epoch_value",
    "exceeds_in_epochs",
    "figure",
    "figure_of_draws",
    "find_quiet",
    "gross_lie",
    "is_finished",
    "is_settled",
    "is_suspicious",
    "is_unlike",
    "judge",
    "judge_audits",
    "judge_samples",
    "lowest_clean_ns",
    "make_run_figures",
    "median",
    "median_interval",
    "middle",
    "midmean",
    "noise_floor",
    "ns_per_call",
    "out_of_line",
    "own_quiet",
    "ratio_of_medians",
    "sum_up_audits",
    "summarise",
    "surroundings",
    "very_long",
]
