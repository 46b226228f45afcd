"""The sections of pages: claims, history, costs, ratios, behaviour, every cell, quality, conditions, machines.

Every string that comes from a run passes `plain`; escaping is the template's business.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from perbyte.model import Behaviour, Cell, CellFigure, Estimate, Quality, Run
from perbyte.model.cell import FULL, LOOP
from perbyte.model.leak import LeakFigure
from perbyte.model.text import natural, plain
from perbyte.report import facts, studyview
from perbyte.report.behaviour import behaviour_parts, per_cycle, placement_parts
from perbyte.report.beside import bindings_listing, draws_listing, handshakes_listing
from perbyte.report.costcharts import USELESS
from perbyte.report.document import (
    Block,
    Fold,
    Heading,
    Items,
    Listed,
    Section,
    Terms,
    Text,
    Widget,
    figures,
    table_of,
    titled,
)
from perbyte.report.history import left_out_lines, points_listing, steps_listing
from perbyte.report.leaktext import contrast_text, verdict_text, worst_of
from perbyte.report.listing import Head, Listing, columns
from perbyte.report.marks import Mark, marks_of
from perbyte.report.pictures import history_pictures
from perbyte.report.pivot import BAD
from perbyte.report.runview import RunView, interval_said
from perbyte.report.wording import (
    claim_text,
    number,
    percent,
    ratio_text,
    sentence,
    size_label,
    value_text,
    width_text,
)
from perbyte.stats.quantity import TABLE_UNITS, Unit, read
from perbyte.studies.history import History
from perbyte.studies.model import Judgement

_GAP = (None, "–")
READ = Text(
    "Point at a mark to read it; with the keyboard, go to a chart and use the arrow keys. The tables hold the same "
    "figures.",
    "legend no-print",
)
CELL_COLUMNS = columns(
    "algorithm:text | operation | size:n | library | tier | contract | cycles/byte:n | ±:n | cycles/call:n | "
    "ns/call:n | MB/s:n | clean:n | epochs:n | quality | warnings:notes"
)
_COSTS = "algorithm | library | operation | contract | setup:n | per message:n | per byte:n | furthest off:n"
_RATIOS = "algorithm | library | contract | size:n | ratio of | ratio:n | interval:n | "
OPEN_CARDS = 6  # cards of rows that stand unfolded
_OF_ROW = (
    "size | cycles/byte:n | ±:n | instr/call:n | instr/cycle:n | "
    "stack:n | heap peak:n | state:n | code:n | leaks"
)
_NO = "–"
_LEAK_WORDS = {"leaks": "yes", "none": "none seen", "unknown": "not known", "harness": "not known"}
_IDENTITIES = (
    "runner | tier | library | licence:text | built with:text | code it uses:text | "
    "object:text | SHA-256:text mono"
)


def cell_rows(run: Run) -> dict[str, Any]:
    """The list of all cells for the page's script: a row per figure and per failure that names a cell.

    A part is text, or a pair (number to sort by, text). Numbers that are not finite become null.
    """
    rows: list[list[Any]] = []
    for figure in run.cells:
        readings = {unit: read(figure, unit) for unit in TABLE_UNITS}
        first = readings[Unit.CYCLES_PER_BYTE] or readings[Unit.CYCLES_PER_CALL] or readings[Unit.NS_PER_CALL]
        width = [_finite(first.relative), width_text(first).lstrip("±")] if first else _GAP
        others = (Unit.CYCLES_PER_CALL, Unit.NS_PER_CALL, Unit.MEGABYTES_PER_SECOND)
        costs = [_pair(readings[Unit.CYCLES_PER_BYTE]), width, *(_pair(readings[unit]) for unit in others)]
        doubts = ["".join(marks_of(figure)), "; ".join(facts.warning_texts(figure.warnings))]
        rows.append([*_cell_names(figure.cell), *costs, *_quality_columns(figure), doubts])
    for cell, failure in run.failed_cells():
        message = plain(failure.message, 200) + facts.outputs_text(failure)
        rows.append([*_cell_names(cell), *([_GAP] * 7), plain(failure.kind, 20), [message, message]])
    return {"kinds": [column.look for column in CELL_COLUMNS], "bad": list(BAD), "rows": rows}


def cost_rows(view: RunView) -> list[tuple[str, ...]]:
    """The cost models as text; costs in cycles (or ns, which is then said)."""
    rows: list[tuple[str, ...]] = []
    for cost in view.costs:
        cell, model = cost.cell, cost.model
        unit = "" if model.unit == "cycles" else " ns"
        fitted = ["no straight line", "–"]
        if model.worst_residual <= USELESS:
            parts = (
                (model.per_message, model.per_message_interval.half_width),
                (model.per_byte, model.per_byte_interval.half_width),
            )
            fitted = [f"{number(value, half)} ± {number(half, half)}{unit}" for value, half in parts]
        setup = "–" if model.setup is None else number(model.setup, model.setup / 1000) + unit
        names = (plain(cell.runner, 40), plain(cell.operation, 24), plain(cell.contract, 30))
        rows.append((view.name(cell), *names, setup, *fitted, percent(model.worst_residual)))
    return rows


def ratio_rows(view: RunView) -> list[tuple[str, ...]]:
    """The ratios of opposite operations as text."""
    return [
        (
            view.name(cell),
            plain(cell.runner, 40),
            plain(cell.contract, 30),
            size_label(cell.size_bytes) if cell.size_bytes else "",
            f"{cell.operation} over {ratio.below.cell.operation}",
            ratio_text(ratio.comparison.ratio),
            interval_said(ratio),
            claim_text(ratio.comparison) if ratio.comparison.ratio.known else "",
        )
        for ratio in view.ratios
        for cell in (ratio.above.cell,)
    ]


def claims_section(view: RunView, judgement: Judgement) -> Section:
    """The claims of a study with their verdicts, published ratios, statistics and assumptions."""
    study = judgement.study
    blocks: list[Block] = [
        Text(plain(study.citation, 600)),
        *(
            block
            for title, rows in judgement.tables
            for block in (Heading(plain(title, 200)), studyview.compared_listing(title, rows))
        ),
        Text(sentence(studyview.tally(judgement)) + "."),
        Widget("claims", studyview.claims_view(judgement)),
    ]
    title = "Published ratios and today's"
    explained = (
        "Cost of one operation as a multiple of the other's; today's interval comes from shared epochs."
    )
    rows = studyview.published_ratio_rows(view)
    blocks += titled(title, Text(explained), table_of(title, studyview.PUBLISHED, rows))
    both = studyview.then_and_today(study, [view.run])
    blocks += [Fold(f"{both.title} ({len(both.rows)})", [both])]
    if tests := judgement.statistics:
        every = table_of("The paper's statistics", studyview.STATISTICS, studyview.statistic_rows(tests))
        blocks += [
            Heading("The paper's own statistics"),
            *(Text(plain(line, 800)) for line in tests.notes),
            Fold(f"Tests, group by group ({len(tests.groups)})", [every]),
        ]
    assumed = [(plain(each.what, 800), plain(each.why, 1500)) for each in study.assumptions]
    blocks += titled("What had to be assumed", Items(assumed))
    return Section("claims", "Claims", blocks, "Claims of the study, judged here")


def history_section(history: History) -> Section:
    """The history as a section of a study's page."""
    total = sum(len(study.published) for study in history.studies)
    explained = (
        "All studies on common algorithms, with the measured points of this run. "
        f"{history.converted:,} of {total:,} published figures are on these lines; the best of each machine is shown."
    )
    lines = left_out_lines(history)
    blocks = [
        Text(explained),
        *figures(history_pictures(history), "history", ""),
        Fold(f"What explains the jumps ({len(history.explained)})", explanation_blocks(history)),
        Fold(f"Every point ({len(history.points)})", point_blocks(history)),
        Fold(f"Figures on no line ({len(lines)})", [Items(lines)]),
    ]
    return Section("history", "History", blocks)


def explanation_blocks(history: History) -> list[Block]:
    """What explains the jumps, each with its steps."""
    blocks: list[Block] = [Text("Times as fast = clock × work per cycle, wherever both clocks are known.")]
    for explained in history.explained:
        steps = steps_listing(explained, history)
        blocks += [Heading(steps.title), Text(plain(explained.explanation.text, 1500))]
        if steps.rows:
            blocks.append(Listed(steps, "steps"))
        if missing := "; ".join(plain(gap, 120) for gap in explained.missing):
            blocks.append(Text(f"Not shown here: {missing}.", "lead"))
    return blocks


def point_blocks(history: History) -> list[Block]:
    """Every point of the history, to be sorted and filtered."""
    notes = [(plain(line.name, 60), plain(line.note, 300)) for line in history.lines if line.note]
    explained = (
        "The best that each machine has, at its longest message, told apart by what the code could use."
    )
    signs = [
        ("× first", "throughput as a multiple of the fastest figure of the first year that has one"),
        ("per call", "bytes that one call works on"),
        ("instructions", "the processor's own for this algorithm"),
    ]
    points = Listed(points_listing(history), "points", example="e.g. md5 measured", sorts=True)
    return [Text(explained), points, Terms("legend", signs), *([Items(notes)] if notes else [])]


def listing_sections(view: RunView) -> list[Section]:
    """Cost models, ratios of operations, quantiles and bindings: a section for each that the run has."""
    sections = []
    for id, link, explained, folded, listing in (
        (
            "costs",
            "Costs",
            "Cycles per call = per message + per byte × size, fitted to all sizes of a cell; “furthest off” is the "
            "largest distance between a measured figure and the model. Setup, where it was measured, is the key "
            "schedule alone.",
            "The models",
            Listing("What a call costs, by its size", columns(_COSTS), cost_rows(view)),
        ),
        (
            "ratios",
            "Ratios",
            "Cost of a call as a multiple of the opposite operation's, compared epoch by epoch where both were "
            "measured.",
            "The ratios",
            Listing("One operation over the other", columns(_RATIOS), ratio_rows(view)),
        ),
        (
            "draws",
            "Single calls",
            "Each such call is a sample: it draws its own randomness, or was asked for alone. So no cost of a call is "
            "given, but what a share of single calls does not exceed, with an interval of 95 % where there were calls "
            "enough. The median stands in the tables, of signatures of many messages the mean.",
            "",
            draws_listing(view.run),
        ),
        (
            "handshakes",
            "Handshakes",
            "Cycles of both ends in one process, bytes on the wire and round trips.",
            "",
            handshakes_listing(view.run),
        ),
        (
            "bindings",
            "Bindings",
            "A library called from another language, and the same library called from C: what a call costs more, with "
            "its interval, from shared epochs. Costs in cycles per call.",
            "",
            bindings_listing(view.run),
        ),
    ):
        if count := len(listing.rows):
            drawn: Block = listing
            if folded:
                drawn = Fold(f"{folded} ({count})", [drawn], open=count < 60)
            sections.append(Section(id, link, [Text(explained), drawn], listing.title))
    return sections


def cells_section(run: Run) -> Section:
    """The list of all cells, drawn by the page's script."""
    used = {mark for figure in run.cells for mark in marks_of(figure)}
    marks = [(str(mark), mark.meaning) for mark in Mark if mark in used]
    explained = (
        "All figures of the run with their samples, quality and warnings, and every cell that has none, with the "
        "reason."
    )
    cells = Widget("cells", [(column.text, column.look) for column in CELL_COLUMNS])
    return Section("cells", "Every cell", [Text(explained), cells, Terms("legend", marks, "print-only")])


def quality_section(run: Run, counts: Sequence[tuple[str, str]]) -> Section:
    """What was counted, noise floor, pairs, qualities, failures and warnings."""
    blocks: list[Block] = [
        Terms("counts", counts),
        Text(sentence(facts.noise_line(run.noise_floor)) + "."),
    ]
    if run.noise_floor and run.noise_floor.pairs:
        pairs = [(plain(address, 200), number(ratio, 0.0001)) for address, ratio in run.noise_floor.pairs]
        listed_pairs = table_of("A/A pairs", "cell, measured by two processes:text mono | ratio:n", pairs)
        blocks.append(Fold(f"The pairs ({len(pairs)})", [listed_pairs]))
    known = [figure.quality for figure in run.cells if figure.interval.known]
    rows = [
        (quality.value, quality.meaning, f"{known.count(quality):,}")
        for quality in Quality
        if quality in known
    ]
    if rows:
        blocks.append(table_of("Quality", "quality | meaning:wide | cells:n", rows))
    blocks += titled("Without a figure", Items(facts.failure_lines(run)))
    warnings = (warning for figure in run.cells for warning in figure.warnings)
    blocks += titled("Warnings", Items(facts.warning_texts(warnings)))
    return Section("quality", "Quality", blocks, "Quality and noise floor")


def conditions_section(run: Run) -> Section:
    """Machine, policy and libraries."""
    blocks: list[Block] = [
        part
        for name, values in facts.condition_facts(run)
        for part in (Heading(name), Terms("facts", values))
    ]
    blocks += titled("Libraries", table_of("Libraries", _IDENTITIES, facts.identity_rows(run)))
    return Section("conditions", "Conditions", blocks)


def machines_section(runs: Sequence[Run], heads: Sequence[str]) -> Section:
    """The profiles of several machines, a column each: what differs, and folded below it the rest."""
    features, common = facts.feature_row(runs)
    profile = [*facts.profile_rows(runs), *([features] if {*features[1:]} != {"not listed"} else [])]
    alike = [row for row in profile if len({*row[1:]} - {facts.UNKNOWN}) < 2]
    rows = [row for row in profile if row not in alike]
    signs = [(facts.UNKNOWN, "not known"), *([("", common)] if common else [])]
    shown = [Head("what"), *(Head(name, "text") for name in heads)]
    blocks: list[Block] = [
        Listed(Listing("What differs between the machines", shown, rows), "profiles")
        if rows
        else Text("Nothing that is known of the machines differs.")
    ]
    if alike:
        same = Listed(Listing("What is the same in all runs", shown, alike), "profiles")
        blocks.append(Fold(f"The same in all runs ({len(alike)} rows)", [same]))
    return Section(
        "machines", "Machines", [*blocks, Terms("legend", signs)], "What differs between the machines"
    )


def _cell_names(cell: Any) -> list[Any]:
    return [
        plain(cell.algorithm, 60),
        plain(cell.operation, 24),
        [cell.size_bytes, size_label(cell.size_bytes)],
        plain(cell.runner, 40) + (f" (twin {cell.twin})" if cell.twin else ""),
        ", ".join(plain(part, 20) for part in (cell.cpu, cell.state) if part not in (FULL, LOOP)),
        plain(cell.contract, 30),
    ]


def _quality_columns(figure: CellFigure) -> list[Any]:
    """Samples, epochs and quality; another program's figure has none that anybody knows."""
    if not figure.interval.known:
        return [_GAP, _GAP, "unknown"]
    share = figure.clean_samples / figure.samples if figure.samples else 0.0
    return [
        [share, f"{figure.clean_samples} of {figure.samples}"],
        [figure.epochs, str(figure.epochs)],
        plain(figure.quality, 20),
    ]


def _pair(reading: Estimate | None) -> list[Any]:
    return [_finite(reading.value), value_text(reading)] if reading else [None, "–"]


def _finite(value: float) -> float | None:
    return float(f"{value:.7g}") if math.isfinite(value) else None


def behaviour_section(run: Run) -> Section:
    """What rows execute, use and tell: tables of what was counted, places, a card for each row; empty without any.

    Figures come from samples, counts from processes that nobody times, leaks from pairs of calls. They stand side by
    side, and none is computed from another.
    """
    cards = row_cards(run)
    blocks: list[Block] = []
    for part in behaviour_parts(run) if run.behaviours else ():
        blocks += [Heading(part.title), part] if isinstance(part, Listing) else [part]
    blocks += placement_parts(run.placements) if run.placements else []
    blocks += [Heading("Row by row")] if cards else []
    blocks += [Fold(title, part, open=len(cards) <= OPEN_CARDS) for title, part in cards]
    return Section("behaviour", "Behaviour", blocks, "What rows execute, use and tell")


def row_cards(run: Run) -> list[tuple[str, list[Block]]]:
    """The title and the content of the card of each row of which more than its time is known."""
    rows: dict[tuple[str, ...], dict[Cell, list[LeakFigure]]] = {}
    counted = {each.cell: each for each in run.behaviours if each.call or each.unknown}
    for cell in (*counted, *(leak.cell for leak in run.leaks)):
        of_row = (cell.algorithm, cell.operation, cell.runner, cell.cpu, cell.contract)
        rows.setdefault(of_row, {})[cell] = [leak for leak in run.leaks if leak.cell == cell]
    cards = []
    for key in sorted(rows, key=lambda row: tuple(map(natural, row))):
        algorithm, operation, runner, tier, contract = (plain(word, 60) for word in key)
        title = f"{algorithm} {operation}, {runner}{'' if tier == FULL else f' ({tier})'}, {contract}"
        leaks_of = sorted(rows[key].items(), key=lambda pair: pair[0].size_bytes)
        lines = [_size_line(cell, run.figure(cell), counted.get(cell), leaks) for cell, leaks in leaks_of]
        blocks: list[Block] = [table_of(title, _OF_ROW, lines)]
        told = [(size_label(cell.size_bytes), leak) for cell, leaks in leaks_of for leak in leaks]
        if told:
            blocks.append(
                Items([(size, f"{contrast_text(leak)}: {verdict_text(leak)}") for size, leak in told])
            )
        if any(leak.verdict == "leaks" for _, leak in told):
            blocks.append(Text("The time of this row depends on a secret.", "warned"))
        cards.append((title, blocks))
    return cards


def _size_line(
    cell: Cell, figure: CellFigure | None, counted: Behaviour | None, leaks: Sequence[LeakFigure]
) -> tuple[str, ...]:
    reading = read(figure, Unit.CYCLES_PER_BYTE) if figure else None
    rate = per_cycle(counted, figure) if counted else None
    call, setup = (counted.call, counted.setup) if counted else (None, None)
    return (
        size_label(cell.size_bytes),
        value_text(reading) if reading else _NO,
        width_text(reading) if reading else _NO,
        f"{call.instructions:,.0f}{'' if counted and counted.exact else ' ~'}" if call else _NO,
        f"{rate:.2f}" if rate else _NO,
        f"{counted.stack:,}" if counted and counted.stack else _NO,
        f"{call.heap_peak:,}" if call else _NO,
        f"{setup.heap_left:,}" if setup else _NO,
        f"{64 * call.code_lines:,}" if call else _NO,
        _LEAK_WORDS[worst.verdict] if (worst := worst_of(leaks)) else "not looked at",
    )
