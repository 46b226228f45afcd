"""The pages: of a run, of runs beside each other, and of the history, each as a list of sections.

What a section holds is put together here from the views; `html` draws it. A reader meets the main chart first, then
what it means, then everything else. Every string that comes from a run passes `plain`; escaping is the template's
business.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from perbyte.errors import UsageError
from perbyte.model import CellFigure, Estimate, Quality, Run
from perbyte.model.cell import FULL
from perbyte.report import findings
from perbyte.report.facts import (
    MEASURED,
    commands,
    condition_facts,
    failure_lines,
    feature_rows,
    identity_rows,
    kinds_of,
    noise_line,
    profile_rows,
)
from perbyte.report.grid import Grid, Mark, compare_runs, failed_cells, marks_of
from perbyte.report.historyview import (
    COLUMNS as POINT_COLUMNS,
)
from perbyte.report.historyview import (
    STEP_COLUMNS,
    explanations,
    history_certainty,
    history_found,
    left_out_lines,
    point_rows,
    run_line,
)
from perbyte.report.html import (
    Block,
    Page,
    Section,
    drawing,
    heading,
    legend,
    listed,
    table,
    text,
    unfolding,
)
from perbyte.report.pictures import (
    USELESS,
    comparison_pictures,
    counted_in,
    history_pictures,
    mean_ratios,
    run_pictures,
)
from perbyte.report.pivot import BAD, comparison_pivot, run_pivot
from perbyte.report.runview import RunView, interval_said
from perbyte.report.studyview import (
    PUBLISHED_COLUMNS,
    STATISTIC_COLUMNS,
    claims_view,
    published_ratio_rows,
    statistic_rows,
    tally,
)
from perbyte.report.wording import (
    number,
    percent,
    plain,
    ratio_text,
    sentence,
    size_label,
    three_digits,
    value_text,
)
from perbyte.stats.compare import larger_floor
from perbyte.stats.quantity import TABLE_UNITS, Unit, read
from perbyte.studies.history import History
from perbyte.studies.model import Judgement, Outcome

_GAP = (None, "–")
_READ = text(
    "Point at a mark to read it; with the keyboard, go to a chart and use the arrow keys. The tables hold the same "
    "figures.",
    "legend no-print",
)
CELL_COLUMNS = (
    ("algorithm", "text"),
    ("operation", ""),
    ("size", "n"),
    ("library", ""),
    ("tier", ""),
    ("contract", ""),
    ("cycles/byte", "n"),
    ("±", "n"),
    ("cycles/call", "n"),
    ("ns/call", "n"),
    ("MB/s", "n"),
    ("clean", "n"),
    ("epochs", "n"),
    ("quality", ""),
    ("warnings", "remarks"),
)
_COST_COLUMNS = (
    ("algorithm", ""),
    ("library", ""),
    ("operation", ""),
    ("contract", ""),
    ("setup", "n"),
    ("per message", "n"),
    ("per byte", "n"),
    ("furthest off", "n"),
)
_RATIO_COLUMNS = (
    ("algorithm", ""),
    ("library", ""),
    ("contract", ""),
    ("size", "n"),
    ("ratio of", ""),
    ("ratio", "n"),
    ("interval", "n"),
    ("", ""),
)
_IDENTITY_COLUMNS = (
    ("runner", ""),
    ("tier", ""),
    ("library", ""),
    ("licence", "text"),
    ("built with", "text"),
    ("code it uses", "text"),
    ("object", "text"),
    ("SHA-256", "text mono"),
)


def run_page(
    run: Run,
    *,
    judgement: Judgement | None = None,
    history: History | None = None,
    title: str | None = None,
    unit: Unit | None = None,
    notes: Sequence[str] = (),
) -> Page:
    """The page of a run; with a `judgement` the study's claims as well, with a `history` that too.

    `unit` is what the tables start with; `notes` are sentences that stand first.
    """
    view = RunView(run, judgement=judgement, unit=unit)
    main, *others = [
        drawing(one, f"figure-{number}") for number, one in enumerate(run_pictures(view), 1)
    ] or [text("There is nothing to draw.")]
    warned = [] if run.complete else ["This run was interrupted; it shows what was measured until then."]
    counts = findings.counts(run)
    if judgement:
        held = f"{judgement.count(Outcome.REPRODUCED)} of {len(judgement.verdicts)}"
        counts.insert(0, (held, f"claims {Outcome.REPRODUCED}"))
    told = [*([sentence(tally(judgement)) + "."] if judgement else []), *findings.found(view)]
    summary = [
        *(text(plain(one, 600), "warned") for one in [*warned, *notes]),
        Block("counts", counts),
        main,
        _cards(
            told or ["Nothing in this run stands beside another cell of the same contract."],
            findings.certainty(run),
        ),
    ]
    sections = [
        Section("summary", "Summary", "Summary", summary),
        *([_claims(view, judgement)] if judgement else []),
        Section("figures", "Charts", "Charts", [_READ, *others]) if others else None,
        Section(
            "results",
            "Results",
            "Results",
            [text(_how_read(run)), *(block for grid in view.grids for block in run_pivot(grid, view))],
        ),
        _history(history) if history else None,
        _costs(view),
        _ratios(view),
        _cells(run),
        _quality(run),
        _conditions(run),
        Section(
            "repeat",
            "Repeat",
            "How to repeat it",
            [part for said, command in commands(run) for part in (text(said), Block("code", command))],
        ),
    ]
    lead = [_lead(run), *([plain(judgement.study.question, 1000)] if judgement else [])]
    return Page(
        title or _title(run, judgement),
        lead,
        [one for one in sections if one],
        run_id=plain(run.conditions.run_id, 80),
        cells=cell_rows(run),
    )


def comparison_page(runs: Sequence[Run], *, names: Sequence[str] | None = None) -> Page:
    """The page of several runs: a column per run, ratios to the first. Raises UsageError for fewer than two runs."""
    if len(runs) < 2:
        raise UsageError("one run cannot be compared", way_out="name two runs or more")
    heads = [plain(name, 24) for name in names or run_names(runs)]
    grids = compare_runs(runs, heads)
    drawn = [drawing(one, "figure-1") for one in comparison_pictures(grids)]
    floors = [larger_floor((runs[0].noise_floor, run.noise_floor)) for run in runs]
    warned = [f"{name} was interrupted." for name, run in zip(heads, runs, strict=True) if not run.complete]
    missing = [
        part
        for name, run in zip(heads, runs, strict=True)
        if (lines := failure_lines(run))
        for part in (heading(name), listed(lines))
    ]
    tables = [block for grid in grids for block in comparison_pivot(grid, floors)]
    paths = " ".join(plain(run.path or run.conditions.run_id, 200) for run in runs)
    return Page(
        f"{len(runs)} runs compared: {', '.join(heads)}",
        [f"A column per run; ratios are what a call costs as a multiple of {heads[0]}: above ×1 is slower."],
        [
            Section(
                "summary",
                "Summary",
                "Summary",
                [
                    *(text(one, "warned") for one in warned),
                    *(
                        drawn
                        or [text("There is nothing to draw: no cell is in the first run and in another one.")]
                    ),
                    _cards(_compared(grids, heads), _comparison_certainty(grids, runs)),
                ],
            ),
            _machines(runs, heads),
            Section(
                "side-by-side", "Side by side", "Side by side", tables or [text("The runs hold no figures.")]
            ),
            Section(
                "missing",
                "Without a figure",
                "Without a figure",
                missing or [text("Nothing failed in these runs.")],
            ),
            Section(
                "repeat",
                "Repeat",
                "How to repeat it",
                [
                    Block("code", f"perbyte report {paths} -o report.html"),
                    text("Each run has a report of its own: perbyte report RUN."),
                ],
            ),
        ],
    )


def history_page(history: History) -> Page:
    """The page of all studies on common lines, with the measured points of runs."""
    years = sorted({point.year for point in history.points})
    span = f", {years[0]} to {years[-1]}" if years else ""
    drawn = [drawing(one, f"history-{number}") for number, one in enumerate(history_pictures(history), 1)]
    sources = [
        (
            plain(study.name, 60),
            "; ".join([plain(study.citation, 600), *(plain(one.name, 160) for one in study.machines)]),
        )
        for study in history.studies
    ]
    runs = [run_line(run) for run in history.runs]
    paths = "".join(f"{plain(run.path or run.conditions.run_id, 200)} " for run in history.runs)
    return Page(
        f"The speed of cryptography{span}",
        ["What published studies measured and what was measured with Perbyte, on common algorithms."],
        [
            Section(
                "summary",
                "Summary",
                "Summary",
                [
                    *(drawn[:1] or [text("There is nothing to draw.")]),
                    _cards(
                        history_found(history) or ["No algorithm was both published and measured."],
                        history_certainty(history),
                    ),
                ],
            ),
            *([Section("history", "History", "History", [_READ, *drawn[1:]])] if drawn[1:] else []),
            Section("explanations", "What explains it", "What explains the jumps", _explanations(history)),
            Section("points", "Every point", "Every point", _points(history)),
            Section("left-out", "Left out", "Figures on no line", [listed(left_out_lines(history))]),
            Section(
                "sources",
                "Sources",
                "Sources",
                [listed(sources), *([heading("Measured"), listed(runs)] if runs else [])],
            ),
            Section(
                "repeat",
                "Repeat",
                "How to repeat it",
                [Block("code", f"perbyte report --history {paths}-o history.html")],
            ),
        ],
    )


def run_names(runs: Sequence[Run]) -> list[str]:
    """What to call the columns: the directories' names, numbered where they occur more than once."""
    found = [run.path.resolve().name if run.path else run.conditions.run_id for run in runs]
    return [
        f"{name} ({number})" if found.count(name) > 1 else name for number, name in enumerate(found, start=1)
    ]


def cell_rows(run: Run) -> dict[str, Any]:
    """The list of all cells for the page's script: a row per figure and per failure that names a cell.

    A part is text, or a pair (number to sort by, text). Numbers that are not finite become null.
    """
    rows: list[list[Any]] = []
    for figure in run.cells:
        readings = {unit: read(figure, unit) for unit in TABLE_UNITS}
        first = readings[Unit.CYCLES_PER_BYTE] or readings[Unit.CYCLES_PER_CALL] or readings[Unit.NS_PER_CALL]
        said = "; ".join(plain(one, 160) for one in figure.warnings)
        rows.append(
            [
                *_cell_names(figure.cell),
                _pair(readings[Unit.CYCLES_PER_BYTE]),
                [_finite(first.relative), percent(first.relative)] if first else [None, "–"],
                *(
                    _pair(readings[unit])
                    for unit in (Unit.CYCLES_PER_CALL, Unit.NS_PER_CALL, Unit.MEGABYTES_PER_SECOND)
                ),
                *_quality_columns(figure),
                ["".join(marks_of(figure)), said],
            ]
        )
    for cell, failure in failed_cells(run):
        message = plain(failure.message, 200)
        if failure.expected or failure.got:
            message += f"; expected {plain(failure.expected, 72)}, got {plain(failure.got, 72)}"
        rows.append([*_cell_names(cell), *([_GAP] * 7), plain(failure.kind, 20), [message, message]])
    return {"kinds": [kind for _, kind in CELL_COLUMNS], "bad": list(BAD), "rows": rows}


def cost_rows(view: RunView) -> list[tuple[str, ...]]:
    """The cost models as text; costs in cycles (or ns, which is then said)."""
    rows: list[tuple[str, ...]] = []
    for cost in view.costs:
        cell, model = cost.cell, cost.model
        unit = "" if model.unit == "cycles" else " ns"
        halves = (model.per_message_interval.half_width, model.per_byte_interval.half_width)
        if model.worst_residual > USELESS:
            fitted = ("no straight line", "–")
        else:
            fitted = (
                f"{number(model.per_message, halves[0])} ± {number(halves[0], halves[0])}{unit}",
                f"{number(model.per_byte, halves[1])} ± {number(halves[1], halves[1])}{unit}",
            )
        rows.append(
            (
                view.name(cell),
                plain(cell.runner, 40),
                plain(cell.operation, 24),
                plain(cell.contract, 30),
                "–" if model.setup is None else number(model.setup, model.setup / 1000) + unit,
                *fitted,
                percent(model.worst_residual),
            )
        )
    return rows


def ratio_rows(view: RunView) -> list[tuple[str, ...]]:
    """The ratios of opposite operations as text."""
    return [
        (
            view.name(cell),
            plain(cell.runner, 40),
            plain(cell.contract, 30),
            size_label(cell.size_bytes) if cell.size_bytes else "",
            f"{cell.operation} over {one.below.cell.operation}",
            ratio_text(one.comparison.ratio),
            interval_said(one),
            "no difference can be told" if one.comparison.ratio.known and one.comparison.tie else "",
        )
        for one in view.ratios
        for cell in (one.above.cell,)
    ]


# --- sections -----------------------------------------------------------------------------------------------


def _cards(found: Sequence[str], certain: Sequence[str]) -> Block:
    return Block("cards", [("What was found", found), ("How sure that is", certain)])


def _claims(view: RunView, judgement: Judgement) -> Section:
    study = judgement.study
    blocks = [text(plain(study.citation, 600)), Block("claims", claims_view(judgement))]
    if rows := published_ratio_rows(view):
        said = (
            "Cost of one operation as a multiple of the other's; today's interval comes from shared epochs."
        )
        blocks += [
            heading("Published ratios and today's"),
            text(said),
            table(PUBLISHED_COLUMNS, rows, "Published ratios and today's"),
        ]
    if tests := judgement.statistics:
        blocks += [
            heading("The paper's own statistics"),
            *(text(plain(line, 800)) for line in tests.remarks),
            unfolding(
                f"Tests, group by group ({len(tests.groups)})",
                [table(STATISTIC_COLUMNS, statistic_rows(tests), "The paper's statistics")],
            ),
        ]
    if study.assumptions:
        assumed = [(plain(one.what, 800), plain(one.why, 1500)) for one in study.assumptions]
        blocks += [heading("What had to be assumed"), listed(assumed)]
    return Section("claims", "Claims", "Claims of the study, judged here", blocks)


def _history(history: History) -> Section:
    total = sum(len(study.published) for study in history.studies)
    said = (
        "All studies on common algorithms, with the measured points of this run. "
        f"{history.converted:,} of {total:,} published figures are on these lines; the best of each machine is shown."
    )
    rows, lines = point_rows(history), left_out_lines(history)
    return Section(
        "history",
        "History",
        "History",
        [
            text(said),
            *(drawing(one, f"history-{number}") for number, one in enumerate(history_pictures(history), 1)),
            unfolding(f"What explains the jumps ({len(history.explained)})", _explanations(history)),
            unfolding(f"Every point ({len(rows)})", _points(history)),
            unfolding(f"Figures on no line ({len(lines)})", [listed(lines)]),
        ],
    )


def _explanations(history: History) -> list[Block]:
    blocks = [text("Times as fast = clock × work per cycle, wherever both clocks are known.")]
    for one in explanations(history):
        blocks += [heading(one["title"]), text(one["text"])]
        if one["steps"]:
            blocks.append(table(STEP_COLUMNS, one["steps"], one["title"], "steps"))
        if one["missing"]:
            blocks.append(text(one["missing"], "lead"))
    return blocks


def _points(history: History) -> list[Block]:
    notes = [(plain(line.name, 60), plain(line.note, 300)) for line in history.lines if line.note]
    return [
        text(
            "The best that each machine has, at its longest message, told apart by what the code could use."
        ),
        Block("points", {"columns": POINT_COLUMNS, "rows": point_rows(history)}),
        legend(
            [
                ("× first", "throughput as a multiple of the fastest figure of the first year that has one"),
                ("per call", "bytes that one call works on"),
                ("instructions", "the processor's own for this algorithm"),
            ]
        ),
        *([listed(notes)] if notes else []),
    ]


def _costs(view: RunView) -> Section | None:
    rows = cost_rows(view)
    said = (
        "Cycles per call = per message + per byte × size, fitted to all sizes of a cell; “furthest off” is the largest "
        "distance between a measured figure and the model. Setup, where it was measured, is the key schedule alone."
    )
    models = unfolding(
        f"The models ({len(rows)})", [table(_COST_COLUMNS, rows, "Cost models")], open=len(rows) < 60
    )
    return Section("costs", "Costs", "What a call costs, by its size", [text(said), models]) if rows else None


def _ratios(view: RunView) -> Section | None:
    rows = ratio_rows(view)
    said = "Cost of a call as a multiple of the opposite operation's, compared epoch by epoch where both were measured."
    ratios = unfolding(
        f"The ratios ({len(rows)})",
        [table(_RATIO_COLUMNS, rows, "Ratios of operations")],
        open=len(rows) < 60,
    )
    return Section("ratios", "Ratios", "One operation over the other", [text(said), ratios]) if rows else None


def _cells(run: Run) -> Section:
    used = {mark for figure in run.cells for mark in marks_of(figure)}
    marks = [(str(mark), mark.meaning) for mark in Mark if mark in used]
    return Section(
        "cells",
        "Every cell",
        "Every cell",
        [
            text(
                "All figures of the run with their samples, quality and warnings, and every cell that has none, with "
                "the reason."
            ),
            Block("cells", CELL_COLUMNS),
            *([legend(marks, "print-only")] if marks else []),
        ],
    )


def _quality(run: Run) -> Section:
    blocks = [text(sentence(noise_line(run.noise_floor)) + ".")]
    if run.noise_floor and run.noise_floor.pairs:
        pairs = [(plain(address, 200), number(ratio, 0.0001)) for address, ratio in run.noise_floor.pairs]
        columns = (("cell, measured by two processes", "text mono"), ("ratio", "n"))
        blocks.append(unfolding(f"The pairs ({len(pairs)})", [table(columns, pairs, "A/A pairs")]))
    known = [figure.quality for figure in run.cells if figure.interval.known]
    if rows := [(str(one), one.meaning, f"{known.count(one):,}") for one in Quality if one in known]:
        blocks.append(table((("quality", ""), ("meaning", "wide"), ("cells", "n")), rows, "Quality"))
    if failures := failure_lines(run):
        blocks += [heading("Without a figure"), listed(failures)]
    if kinds := kinds_of(one for figure in run.cells for one in figure.warnings):
        lines = [said + (f" (and {count - 1} more like it)" if count > 1 else "") for said, count in kinds]
        blocks += [heading("Warnings"), listed(lines)]
    return Section("quality", "Quality", "Quality and noise floor", blocks)


def _conditions(run: Run) -> Section:
    blocks = [part for name, facts in condition_facts(run) for part in (heading(name), Block("facts", facts))]
    if rows := identity_rows(run):
        blocks += [heading("Libraries"), table(_IDENTITY_COLUMNS, rows, "Libraries")]
    return Section("conditions", "Conditions", "Conditions", blocks)


def _machines(runs: Sequence[Run], heads: Sequence[str]) -> Section:
    features = feature_rows(runs)
    rows = [
        (f"{row['name']} ≠" if row["differ"] else row["name"], *row["values"]) for row in profile_rows(runs)
    ]
    if features["known"]:
        rows.append(("CPU features that not all have", *(one or "none" for one in features["only"])))
    signs = [("≠", "not the same in all runs"), ("–", "not known")]
    if features["known"] > 1:
        signs.append(
            (
                "",
                f"{features['shared']} CPU features are common to the {features['known']} runs that list them",
            )
        )
    columns = (("what", ""), *((name, "text") for name in heads))
    return Section(
        "machines",
        "Machines",
        "Machines",
        [table(columns, rows, "Profiles of the machines", "profiles"), legend(signs)],
    )


def _lead(run: Run) -> str:
    conditions = run.conditions
    name = plain(conditions.run_id, 80)
    if not run.measuring_s and conditions.origin != MEASURED:
        source = plain(conditions.input.get("source", ""), 80)
        return f"Run {name}, {plain(conditions.origin, 40)}" + (f" from {source}." if source else ".")
    started = _moment(conditions.started_at)
    return f"Run {name}, started {started}, ended after {run.measuring_s:.0f} s of measuring."


def _moment(given: str) -> str:
    """A moment to the second, in UTC; what is none stays as it is."""
    try:
        moment = datetime.fromisoformat(given)
        return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC" if moment.tzinfo else plain(given, 40)
    except (ValueError, OverflowError):
        return plain(given, 40)


def _title(run: Run, judgement: Judgement | None) -> str:
    if judgement:
        return f"{judgement.study.title}: measured again"
    machine = plain(run.conditions.machine.cpu_model, 80) or "this machine"
    return f"How fast cryptography is on {machine}" if run.cells else "A run without figures"


def _how_read(run: Run) -> str:
    blind = run.cells and all(not figure.interval.known for figure in run.cells)
    what = (
        "Values as the other program printed them."
        if blind
        else "Median of the epochs' figures and half-width of the interval."
    )
    return f"{what} Only calls of the same contract are in one table."


def _compared(grids: Sequence[Grid], names: Sequence[str]) -> list[str]:
    sentences = []
    means = mean_ratios(grids)
    for index, name in enumerate(names[1:], start=1):
        pairs = [
            (row, one)
            for grid in grids
            for row in grid.rows
            if (one := row.entries[index].comparison) and one.ratio.value > 0
        ]
        if not pairs:
            sentences.append(f"{name} has no cell in common with {names[0]}.")
            continue
        ends = [pick(pairs, key=lambda pair: pair[1].ratio.value) for pick in (min, max)]
        span = " to ".join(
            f"{three_digits(one.ratio.value)} ({row.cell.algorithm}, {row.label})" for row, one in ends
        )
        known = [one.ratio for _, one in pairs if one.ratio.known]
        faster, slower = sum(one.below(1) for one in known), sum(one.above(1) for one in known)
        counts = (
            (faster, "faster"),
            (slower, "slower"),
            (len(known) - faster - slower, "tied"),
            (len(pairs) - len(known), "without an interval, where no difference is claimed"),
        )
        told = ", ".join(f"{count:,} {said}" for count, said in counts if count)
        sentences.append(
            f"{name} against {names[0]}, {len(pairs):,} common cells: {three_digits(means[name])} times the "
            f"{counted_in({one.unit for _, one in pairs})} in the geometric mean, from {plain(span, 300)}; {told}."
        )
    return sentences


def _comparison_certainty(grids: Sequence[Grid], runs: Sequence[Run]) -> list[str]:
    rows = [row for grid in grids for row in grid.rows]
    everywhere = sum(all(entry.figure for entry in row.entries) for row in rows)
    alone = sum(sum(bool(entry.figure) for entry in row.entries) == 1 for row in rows)
    lines = [
        f"{len(rows):,} cells: {everywhere:,} in all runs, {alone:,} in one only; both kinds are in the tables."
    ]
    if any(run.conditions.origin != MEASURED for run in runs):
        lines.append(
            "Some figures were imported: another program measured them, without intervals and without a check of its "
            "output. Ratios to them are marked ?."
        )
    floor = larger_floor(run.noise_floor for run in runs)
    if floor and math.isfinite(floor.relative):
        lines.append(
            f"No difference below the larger noise floor of two is claimed (up to {percent(floor.relative)})."
        )
    lines.append("Machines, kernels, compilers and library versions may differ at once: see Machines.")
    return lines


def _cell_names(cell: Any) -> list[Any]:
    return [
        plain(cell.algorithm, 60),
        plain(cell.operation, 24),
        [cell.size_bytes, size_label(cell.size_bytes)],
        plain(cell.runner, 40) + (f" (twin {cell.twin})" if cell.twin else ""),
        "" if cell.cpu == FULL else plain(cell.cpu, 20),
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
