"""The pages: of a run, of runs beside each other, and of the history, each as a list of sections.

What a section holds is put together here from the views; `html` draws it. A reader meets the main chart first, then
what it means, then everything else. Every string that comes from a run passes `plain`; escaping is the template's
business.
"""

from __future__ import annotations

import math
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from perbyte.errors import UsageError
from perbyte.model import Run
from perbyte.model.text import plain
from perbyte.report import findings, sections
from perbyte.report.card import compared_rows, comparison_card, run_card
from perbyte.report.document import (
    Block,
    Card,
    Code,
    Fold,
    Items,
    Line,
    Page,
    Section,
    Text,
    Widget,
    figures,
    titled,
)
from perbyte.report.facts import MEASURED, commands, failure_lines
from perbyte.report.files import Say, silent, written
from perbyte.report.grid import Grid, compare_runs
from perbyte.report.history import history_card, history_certainty, history_found, left_out_lines, run_line
from perbyte.report.html import write
from perbyte.report.pictures import (
    comparison_pictures,
    history_pictures,
    not_drawn,
    pictures_of,
    run_pictures,
    write_charts,
)
from perbyte.report.pivot import comparison_pivot, run_pivot
from perbyte.report.ratiocharts import counted_in, mean_ratios
from perbyte.report.runview import RunView
from perbyte.report.studyview import tally
from perbyte.report.trials import beside_line
from perbyte.report.wording import numbered, percent, sentence, three_digits
from perbyte.stats.across import floor_across
from perbyte.stats.compare import Answer
from perbyte.stats.trials import beside_the_best
from perbyte.studies.history import History
from perbyte.studies.judge import history_of, judgement_of
from perbyte.studies.model import Judgement

NOT_STATED = "not stated"  # the licence that `perbyte try` gives a user's program
SHOWN = 4  # rows of a user's function that a page opens with
_GROWN = "How much faster has cryptography become since it was first published?"


def write_run_page(run: Run, path: Path, judgement: Judgement | None = None, say: Say = silent) -> Path:
    """Write the page of a run, with its study's claims and history; returns `path`. Raises EnvironmentLacking."""
    return write(whole_page(run, judgement), path, say)


def write_study_pages(
    run: Run, directory: Path, judgement: Judgement, copy: Path | None, say: Say = silent
) -> tuple[Path, Path]:
    """Write the page and the charts of a study's run into its directory, and the page to `copy` as well.

    Returns where the charts are, and the page that was written last. Raises EnvironmentLacking.
    """
    page, charts = write_run_page(run, directory / "report.html", judgement, say), directory / "charts"
    if copy:
        drawn = page
        page = written(copy, lambda part: shutil.copyfile(drawn, part), say)
    write_charts(pictures_of(run, judgement), charts, say)
    return charts, page


def whole_page(run: Run, judgement: Judgement | None = None) -> Page:
    """The page of a run with the claims of its study, judged here if need be; what cannot be judged is said there."""
    notes, history = [""], None
    if judgement is None:
        judgement, notes[0] = judgement_of(run)
    if judgement is not None:
        history, text = history_of(run)
        notes.append(text)
    return run_page(run, judgement=judgement, history=history, notes=tuple(filter(None, notes)))


def run_page(
    run: Run,
    *,
    judgement: Judgement | None = None,
    history: History | None = None,
    notes: Sequence[str] = (),
) -> Page:
    """The page of a run; with a `judgement` the study's claims as well, with a `history` that too.

    `notes` are sentences that stand first.
    """
    view = RunView(run, judgement=judgement)
    main, *others = figures(run_pictures(view), "figure")
    tables = [block for grid in view.grids for block in run_pivot(grid, view)]
    repeat = [part for label, command in commands(run) for part in (Text(label), Code(command))]
    charts = [sections.READ, *others, *map(Text, not_drawn(view))]
    parts = [
        Section("summary", "Summary", _summary(view, judgement, notes, main)),
        *([sections.claims_section(view, judgement)] if judgement else []),
        Section("figures", "Charts", charts if others else []),
        Section("results", "Results", [Text(_how_read(run)), *tables]),
        *([sections.history_section(history)] if history else []),
        *sections.listing_sections(view),
        sections.behaviour_section(run),
        sections.cells_section(run),
        sections.quality_section(run, findings.counts(run)),
        sections.conditions_section(run),
        Section("repeat", "Repeat", repeat, "How to repeat it"),
    ]
    heading, run_id = _title(run, judgement), plain(run.conditions.run_id, 80)
    return Page(heading, [_lead(run)], parts, run_id, sections.cell_rows(run))


def _summary(view: RunView, judgement: Judgement | None, notes: Sequence[str], picture: Block) -> list[Block]:
    run = view.run
    warned = [] if run.complete else ["This run was interrupted; it shows what was measured until then."]
    return [
        *(Text(plain(note, 600), "warned") for note in [*warned, *notes]),
        *(_judged(judgement, run) if judgement else [_tried(run) or run_card(run)]),
        picture,
        _found_and_sure(
            findings.found(view) or ["This run has no two cells of the same contract to compare."],
            findings.certainty(run),
        ),
    ]


def comparison_page(runs: Sequence[Run], *, names: Sequence[str] | None = None) -> Page:
    """The page of several runs: a column per run, ratios to the first. Raises UsageError for fewer than two runs."""
    if len(runs) < 2:
        raise UsageError("a comparison needs two or more runs", hint="name two runs or more")
    heads = [plain(name, 24) for name in names or run_names(runs)]
    grids = compare_runs(runs, heads)
    floors = [floor_across((runs[0].noise_floor, run.noise_floor)) for run in runs]
    warned = [f"{name} was interrupted." for name, run in zip(heads, runs, strict=True) if not run.complete]
    missing: list[Block] = [
        part
        for name, run in zip(heads, runs, strict=True)
        for part in titled(name, Items(failure_lines(run)))
    ]
    tables = [block for grid in grids for block in comparison_pivot(grid, floors)]
    paths = " ".join(plain(run.path or run.conditions.run_id, 200) for run in runs)
    summary: list[Block] = [
        *(Text(warning, "warned") for warning in warned),
        comparison_card(grids),
        *figures(
            comparison_pictures(grids),
            "figure",
            "There is nothing to draw: no cell is in the first run and in another one.",
        ),
        _found_and_sure(_compared(grids, heads), _comparison_certainty(grids, runs)),
    ]
    repeat: list[Block] = [
        Code(f"perbyte report {paths} -o report.html"),
        Text("For the report of a single run: perbyte report RUN."),
    ]
    return Page(
        f"{len(runs)} runs compared: {', '.join(heads)}",
        [f"A column per run; ratios are what a call costs as a multiple of {heads[0]}: above ×1 is slower."],
        [
            Section("summary", "Summary", summary),
            Section("side-by-side", "Side by side", tables or [Text("The runs hold no figures.")]),
            sections.machines_section(runs, heads),
            Section("missing", "Without a figure", missing or [Text("Nothing failed in these runs.")]),
            Section("repeat", "Repeat", repeat, "How to repeat it"),
        ],
    )


def history_page(history: History) -> Page:
    """The page of all studies on common lines, with the measured points of runs."""
    years = sorted({point.year for point in history.points})
    span = f", {years[0]} to {years[-1]}" if years else ""
    main, *others = figures(history_pictures(history), "history")
    jumps = history_found(history) or ["No algorithm was both published and measured."]
    sure = _found_and_sure(jumps, history_certainty(history))
    summary = [replace(history_card(history), question=_GROWN), main, sure]
    sources = []
    for study in history.studies:
        machines = [plain(machine.name, 160) for machine in study.machines]
        sources.append((plain(study.name, 60), "; ".join([plain(study.citation, 600), *machines])))
    measured = titled("Measured", Items([run_line(run) for run in history.runs]))
    paths = "".join(f"{plain(run.path or run.conditions.run_id, 200)} " for run in history.runs)
    repeat = Code(f"perbyte report --history {paths}-o history.html")
    return Page(
        f"The speed of cryptography{span}",
        ["What published studies measured and what was measured with Perbyte, on common algorithms."],
        [
            Section("summary", "Summary", summary),
            Section("history", "History", [sections.READ, *others] if others else []),
            Section(
                "explanations",
                "What explains it",
                sections.explanation_blocks(history),
                "What explains the jumps",
            ),
            Section("points", "Every point", sections.point_blocks(history)),
            Section("left-out", "Left out", [Items(left_out_lines(history))], "Figures on no line"),
            Section("sources", "Sources", [Items(sources), *measured]),
            Section("repeat", "Repeat", [repeat], "How to repeat it"),
        ],
    )


def run_names(runs: Sequence[Run]) -> list[str]:
    """What to call the columns: the directories' names, numbered where they occur more than once."""
    return numbered([run.path.resolve().name if run.path else run.conditions.run_id for run in runs])


def own_programs(run: Run) -> list[str]:
    """The programs of a run of `perbyte try` that are its user's."""
    tried = run.conditions.command[:1] == ("try",)
    names = {each.runner for each in run.conditions.identities if tried and each.license == NOT_STATED}
    return sorted(names)


def _found_and_sure(findings_of: Sequence[str], certain: Sequence[str]) -> Widget:
    return Widget("cards", [("What was found", findings_of), ("How sure that is", certain)])


def _tried(run: Run) -> Card | None:
    bests = beside_the_best(run, own_programs(run))
    several = len({best.own.cell.contract for best in bests}) > 1
    lines = [Line("", "", plain(beside_line(best, several=several), 300)) for best in bests]
    rest = [line.winner for line in lines[SHOWN:]]
    return Card(tuple(lines[:SHOWN]), tuple(rest)) if lines else None


def _judged(judgement: Judgement, run: Run) -> list[Block]:
    """Who wins in this run, and by how much; below it the study's answer, folded but for its first line."""
    answers = [plain(line, 1200) for line in judgement.answers] or ["No claim answers it."]
    told, first = sentence(tally(judgement)) + ".", run_card(run).lines[:1]
    card = Card(first, (told,)) if first else Card((Line("", "", answers.pop(0), cost=told),))
    rest = [Text(line) for line in answers]
    return [
        replace(card, question=plain(judgement.study.question, 1000)),
        *rest[:1],
        *([Fold(f"The rest of the answer ({len(rest) - 1})", rest[1:])] if len(rest) > 1 else []),
    ]


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
    if own := own_programs(run):
        return f"{plain(', '.join(own), 120)} beside the libraries on {machine}"
    return f"How fast cryptography is on {machine}" if run.cells else "A run without figures"


def _how_read(run: Run) -> str:
    printed = run.cells and not any(figure.interval.known for figure in run.cells)
    middle = "Median of the epochs' figures and half-width of the interval."
    values = "Values as the other program printed them." if printed else middle
    return f"{values} Only calls of the same contract are in one table."


def _compared(grids: Sequence[Grid], names: Sequence[str]) -> list[str]:
    sentences = []
    means = mean_ratios(grids)
    for index, name in enumerate(names[1:], start=1):
        pairs = compared_rows(grids, index)
        if not pairs:
            sentences.append(f"{name} has no cell in common with {names[0]}.")
            continue
        ends = [pick(pairs, key=lambda pair: pair[1].ratio.value) for pick in (min, max)]
        span = " to ".join(
            f"{three_digits(comparison.ratio.value)} ({row.cell.algorithm}, {row.label})"
            for row, comparison in ends
        )
        answers = Counter(comparison.direction for _, comparison in pairs)
        blind = sum(not comparison.ratio.known for _, comparison in pairs)
        counts = (
            *((answers[answer], answer.value) for answer in (Answer.FASTER, Answer.SLOWER, Answer.TIED)),
            (answers[Answer.UNDECIDED] - blind, "of which it is not known which costs less"),
            (blind, "without an interval, where no difference is claimed"),
        )
        told = ", ".join(f"{count:,} {words}" for count, words in counts if count)
        sentences.append(
            f"{name} against {names[0]}, {len(pairs):,} common cells: {three_digits(means[name])} times the "
            f"{counted_in({comparison.unit for _, comparison in pairs})} in the geometric mean, from "
            f"{plain(span, 300)}; {told}."
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
    floor = floor_across(run.noise_floor for run in runs)
    if floor and math.isfinite(floor.relative):
        lines.append(
            f"No difference below the larger noise floor of two is claimed (up to {percent(floor.relative)})."
        )
    lines.append("Machines, kernels, compilers and library versions may differ at once: see Machines.")
    return lines
