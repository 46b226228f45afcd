"""The figures of a run, from its samples: of one that just ended, goes on, was interrupted, merged or is read again.

There is one function for all of them, so that a doubt which a live run would print is not lost with a kill.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from perbyte.catalogue import load
from perbyte.errors import UsageError
from perbyte.model import (
    Audit,
    Burst,
    Calibration,
    Cell,
    CellFigure,
    Doubt,
    Estimate,
    Failure,
    NoiseFloor,
    Policy,
    Process,
    Quality,
    RunnerIdentity,
    UnprovenTier,
    Warning,
)
from perbyte.model.algorithm import no_instructions
from perbyte.model.cell import EACH, FULL, LOOP, Row
from perbyte.stats.arrays import np
from perbyte.stats.audit import Printed, judge_audits, judge_state
from perbyte.stats.clean import Grounds, find_quiet
from perbyte.stats.compare import compare, margin_of, noise_floor
from perbyte.stats.cores import Apart, find_apart, without
from perbyte.stats.draws import figure_of_draws
from perbyte.stats.estimate import beyond_scatter
from perbyte.stats.figure import Summary, common_spread, judge, summarise
from perbyte.stats.newdata import Surroundings, surroundings
from perbyte.stats.varying import figure_of_varying

RULES = 2
"""The version of what makes figures of samples, this package. A change by which the same samples give other figures
adds one, so that stored figures say that older rules made them. `tests/stats/test_rules.py` compares."""

# What a runner says that a sample costs beyond its calls is taken off each sample, so it must not decide the figure: at
# a tenth of a sample half as much again would move it by a twentieth
FIXED_SHARE = 0.1
SIZES_TO_DOUBT_A_ROW = 2  # refused figures of a row, from which on nothing of it is believed
CHANGED = 0.99  # of rows in a tier that runs the code of `full`, so many are said to, or more
LAYOUT_WARNING = Warning(
    Doubt.LAYOUT,
    "measured with address space randomisation off, at one place in memory where few programs lie: short calls may "
    "cost up to half as much again there",
)
# calls that vary at random are not seen from outside: each does another one's work
DRAWS_WARNING = Warning(Doubt.UNCHAINED, "its work was not audited on new data (its calls draw their own)")
# of single calls nothing can be seen from outside: what comes before them takes longer, and may make them itself
STATE_WARNING = Warning(
    Doubt.UNCHAINED,
    "its work was not audited on new data (calls in a state of their own are timed by their runner)",
)


@dataclass(frozen=True, slots=True)
class RunFigures:
    """The figures of the cells of the plan, and what the A/A pairs show; twins are not among the figures.

    `failures` are the cells that have samples of which none can be used, or that the audit refuses.
    """

    cells: tuple[CellFigure, ...]
    noise_floor: NoiseFloor | None
    failures: tuple[Failure, ...]


def make_run_figures(
    bursts: Mapping[Cell, Sequence[Burst]],
    calibrations: Iterable[Calibration],
    policy: Policy,
    *,
    plan: Sequence[str],
    identities: Iterable[RunnerIdentity],
    failures: Iterable[Failure],
    unproven: Iterable[UnprovenTier],
    audits: Iterable[Audit] = (),
) -> RunFigures:
    """Return the figures of a run, in the order of the plan's addresses.

    Cells that failed have none, whatever was measured before. Of two calibrations of one process and epoch the
    later one counts.
    """
    calibrations = list(calibrations)
    by_process = {(calibration.process, calibration.epoch): calibration for calibration in calibrations}
    failed = {failure.address for failure in failures}
    order = {address: place for place, address in enumerate(plan)}
    kept = {cell: taken for cell, taken in bursts.items() if taken and cell.address not in failed}
    cells = sorted(kept, key=lambda cell: (cell.twin, order.get(replace(cell, twin=0).address, len(order))))
    taken = [burst for cell in cells for burst in kept[cell]]
    grounds = Grounds(by_process, policy, find_quiet(by_process, taken, policy))
    apart = find_apart({c: b for c, b in kept.items() if c.state == LOOP and not c.drawn}, grounds)
    left_out = {core.core for core in apart}
    of_draws = (DRAWS_WARNING,) if policy.audit else ()
    summaries, drawn, unusable = [], [], []
    varying: dict[Cell, CellFigure] = {}
    for cell in cells:
        try:
            counted = without(kept[cell], left_out) if left_out and cell.state == LOOP else kept[cell]
            if cell.drawn or cell.state == EACH:
                drawn.append(_doubted(figure_of_draws(cell, counted, grounds), of_draws))
            else:
                summaries.append(summarise(cell, counted, grounds))
                if varied := figure_of_varying(cell, counted, grounds):
                    varying[cell] = varied
        except UsageError as error:
            unusable.append(Failure("refused", cell.runner, str(error), address=cell.address))
    figures, refused = _judge_cells(summaries, policy, calibrations, audits, varying)
    figures |= {figure.cell: figure for figure in drawn}
    identified = {(identity.runner, identity.cpu): identity for identity in identities}
    figures = {cell: _of_library(figures[cell], identified) for cell in cells if cell in figures}
    unusable += [Failure("audit", cell.runner, why, address=cell.address) for cell, why in refused.items()]
    originals = {cell: replace(cell, twin=0) for cell in figures if cell.twin}
    floor = noise_floor(
        (figures[original], figures[twin])
        for twin, original in originals.items()
        if original in figures and not varying.keys() & {twin, original}  # they differ by their messages
    )
    of_plan = {cell: figure for cell, figure in figures.items() if not cell.twin}
    of_run = tuple(_core_warning(core) for core in apart)
    if any(calibration.layout_fixed for calibration in calibrations):
        of_run += (LAYOUT_WARNING,)
    of_row = {tier.row: _tier_warning(tier, of_plan, floor) for tier in unproven}
    shown = _with_warnings(of_plan, of_run, of_row, identified)
    return RunFigures(shown, floor, tuple(unusable))


def _judge_cells(
    summaries: Sequence[Summary],
    policy: Policy,
    calibrations: Sequence[Calibration],
    audits: Iterable[Audit],
    varying: Mapping[Cell, CellFigure],
) -> tuple[dict[Cell, CellFigure], dict[Cell, str]]:
    """Return the figures, twins' among them, and why the audit refuses others. `varying` have theirs already."""
    audits_of: dict[Cell, list[Audit]] = defaultdict(list)
    for audit in audits:
        audits_of[audit.cell].append(audit)
    spreads = common_spread([summary for summary in summaries if summary.cell not in varying])
    figures: dict[Cell, CellFigure] = {}
    refused: dict[Cell, str] = {}
    arounds: dict[str, Surroundings] = {}
    for summary in summaries:
        cell = summary.cell
        figure = varying.get(cell) or judge(summary, policy, spreads)
        if policy.audit and cell.state == LOOP:
            printed: Printed | None = Printed(
                figure.ns_per_call, figure.cycles_per_call or 0.0, figure.relative_half_width
            )
            if cell in varying:  # looks are at a few messages, which may cost twice as much as the mean
                printed = None
            if cell.runner not in arounds:
                arounds[cell.runner] = surroundings(audits_of, without=cell.runner)
            verdict = judge_audits(audits_of.get(cell, ()), printed, arounds[cell.runner])
            if verdict.refusal:
                refused[cell] = verdict.refusal
                continue
            figure = _doubted(figure, verdict.warnings + _fixed_warning(cell, calibrations, policy))
        elif policy.audit:
            figure = _doubted(figure, (STATE_WARNING, *judge_state(audits_of.get(cell, ()))))
        figures[cell] = figure
    for cell in [cell for cell in figures if _is_doubted_row(cell, refused)]:
        refused[cell] = "refused at two sizes and more: the row is not believed at another"
        del figures[cell]
    return figures, refused


def _of_library(figure: CellFigure, identified: Mapping[tuple[str, str], RunnerIdentity]) -> CellFigure:
    identity = identified.get((figure.cell.runner, figure.cell.cpu))
    if not identity:
        return figure
    return replace(figure, library=identity.library, library_version=identity.library_version)


def _doubted(figure: CellFigure, warnings: tuple[Warning, ...]) -> CellFigure:
    """Return the figure with what the audit says of it."""
    doubted = any(warning.kind is not Doubt.UNCHAINED for warning in warnings)
    quality = Quality.DOUBTED if doubted else figure.quality
    return replace(figure, quality=quality, warnings=figure.warnings + warnings) if warnings else figure


def _with_warnings(
    figures: Mapping[Cell, CellFigure],
    of_run: tuple[Warning, ...],
    of_row: dict[Row, tuple[Warning, ...]],
    identified: Mapping[tuple[str, str], RunnerIdentity],
) -> tuple[CellFigure, ...]:
    """Return the figures with the warnings of their cell, of the run and of their row."""
    of_row = of_row | {
        cell.row: _plain_code_warning(cell, identified[cell.runner, FULL])
        for cell in figures
        if cell.cpu == FULL and (cell.runner, FULL) in identified
    }
    unlike = unlike_shares(
        {
            cell: (figure.clean_samples, figure.samples)
            for cell, figure in figures.items()
            if cell.state == LOOP
            and figure.quality is not Quality.LONG
            and not cell.threads
            and not cell.drawn
        }
    )
    of_cell = {cell: (warning,) for cell, warning in unlike.items()}
    return tuple(
        replace(figure, warnings=figure.warnings + of_cell.get(cell, ()) + of_run + of_row.get(cell.row, ()))
        for cell, figure in figures.items()
    )


def _is_doubted_row(cell: Cell, refused: Mapping[Cell, str]) -> bool:
    """True when so many figures of a cell's row are refused that it is not believed at any size."""
    sizes = {other.size_bytes for other in refused if other.row == cell.row}
    return cell.state == LOOP and len(sizes) >= SIZES_TO_DOUBT_A_ROW


def _fixed_warning(cell: Cell, calibrations: Iterable[Calibration], policy: Policy) -> tuple[Warning, ...]:
    fixed = sorted(
        calibration.fixed_ticks / calibration.tick_hz
        for calibration in calibrations
        if calibration.process == cell.process and calibration.tick_hz > 0
    )
    if not fixed or fixed[len(fixed) // 2] <= FIXED_SHARE * policy.sample_us * 1e-6:
        return ()
    text = f"by its runner's word {fixed[len(fixed) // 2] * 1e9:.4g} ns of each sample are not its calls'"
    return (Warning(Doubt.AUDIT, text, (fixed[len(fixed) // 2] * 1e9,)),)


def _core_warning(apart: Apart) -> Warning:
    than = f"core {apart.core} costs {100 * apart.relative:+.2g} % beside core {apart.usual}"
    text = f"{than} ({apart.pairs} epochs of cells on both): its samples are left out"
    return Warning(Doubt.CORES, text, (apart.core, apart.usual, apart.relative))


def _tier_warning(
    tier: UnprovenTier, figures: Mapping[Cell, CellFigure], noise: NoiseFloor | None
) -> tuple[Warning, ...]:
    """Return the warning of a tier that runs the code of `full`, as far as figures or a look can tell.

    One size that differs beyond doubt is enough; the level is shared by all sizes that were compared (Bonferroni).
    """
    of_row = [figure for figure in figures.values() if figure.cell.row == tier.row]
    pairs = [
        (full, figure)
        for figure in of_row
        if (full := figures.get(replace(figure.cell, cpu=FULL))) and full.per_call and figure.per_call
    ]
    level = 1 - (1 - CHANGED) / max(1, len(pairs))
    ratios = [compare(full, figure, noise, level).ratio for full, figure in pairs]
    if not ratios and tier.factor:
        # a look knows nothing of other processes; what was stored without an interval allows for them
        margin = 1 + margin_of(noise.relative if noise else None) if tier.high else 1.0
        low, high = tier.ends
        ratios = [Estimate(tier.factor, low / margin, high * margin)]
    if not ratios:
        text = f"tier {tier.row.cpu}: neither the library nor a figure shows that the code path changed"
        return (Warning(Doubt.TIER, text),)
    if any(ratio.above(1) or ratio.below(1) for ratio in ratios):
        return ()
    factors = {ratio.value for ratio in ratios}
    seen = ", ".join(f"{factor:.3f}" for factor in sorted(factors))
    text = (
        f"tier {tier.row.cpu} runs as fast as full (factor {seen}): nothing shows that the code path changed"
    )
    return (Warning(Doubt.TIER, text, tuple(sorted(factors))),)


def _plain_code_warning(cell: Cell, identity: RunnerIdentity) -> tuple[Warning, ...]:
    known = load().algorithms.get(cell.algorithm)
    unused = [name for name in (known.accelerated_by if known else ()) if name in identity.lacks]
    if not unused:
        return ()
    what = no_instructions(unused)
    text = f"{identity.runner}: {what} in {identity.object_path.rpartition('/')[2]}, and this CPU has them"
    return (Warning(Doubt.PLAIN_CODE, text),)


WRONG = 0.01  # of runs in which all rows are alike: in so many, or fewer, some row is called unlike
LEAST_ROWS = 8  # others; with fewer their scatter is not known well enough
# by which the odds of a clean sample have to differ: 4 of 5 against 1 of 2, or 1 of 2 against 1 of 5
ODDS = 4.0


def unlike_shares(counts: Mapping[Cell, tuple[int, int]]) -> dict[Cell, Warning]:
    """Return a warning for each cell whose share of clean samples is unlike all others'; `counts` are (clean, samples).

    A cell is held against the cells of all other processes, because a process that is wrong is wrong about all of its
    cells; where these are too few, against all other cells. Logarithms of odds, with the scatter of the others and the
    cell's own binomial variance (half a sample added to either side; Haldane 1956, Anscombe 1956). All cells together
    are wrong in WRONG of runs at the most (Bonferroni). Cells without samples do not count.

    All cells of a run take turns, so the machine disturbs them alike. Where of one row hardly a sample is clean and of
    the others most, the reason lies with the row: its process took something else for a quiet core, or its runtime does
    other work.
    """
    taken = {cell: pair for cell, pair in counts.items() if pair[1] > 0}
    odds = {
        cell: math.log((clean + 0.5) / (samples - clean + 0.5)) for cell, (clean, samples) in taken.items()
    }
    cells = list(taken)
    values = np.array([odds[cell] for cell in cells])
    places: dict[Process, list[int]] = defaultdict(list)
    for place, cell in enumerate(cells):
        places[cell.process].append(place)
    enough = {process: len(cells) - len(own) >= LEAST_ROWS for process, own in places.items()}
    middle_of = {
        process: float(np.median(np.delete(values, own)))
        for process, own in places.items()
        if enough[process]
    }
    warning_of = {}
    for place, (cell, (clean, samples)) in enumerate(taken.items()):
        left_out = places[cell.process] if enough[cell.process] else [place]
        if len(cells) - len(left_out) < LEAST_ROWS:
            continue
        middle = middle_of.get(cell.process)
        if middle is None:
            middle = float(np.median(np.delete(values, place)))
        if abs(odds[cell] - middle) <= math.log(ODDS):
            continue
        others = np.delete(values, left_out).tolist()
        own = 1 / (clean + 0.5) + 1 / (samples - clean + 0.5)
        if beyond_scatter(odds[cell], others, WRONG / len(taken), own_variance=own):
            warning_of[cell] = _warning(clean, samples, middle, len(others))
    return warning_of


def _warning(clean: int, samples: int, middle: float, others: int) -> Warning:
    usual = 1 / (1 + math.exp(-middle))
    text = (
        f"{_percent(clean / samples)} of its samples were clean ({clean:,} of {samples:,}), and {_percent(usual)} of "
        f"those of {others} other rows: what its process takes for a quiet core may be wrong"
    )
    return Warning(Doubt.CLEAN_SHARE, text, (clean / samples, usual))


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.1 else f"{100 * share:.2g} %"
