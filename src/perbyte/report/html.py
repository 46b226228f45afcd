"""Writes the report of a run: one HTML file that opens from a disk, without a network, and holds everything.

Figures are drawn here as SVG, so that they are there without scripts, in print and in ten years; the page's
own small script sorts, filters and shows tooltips. Every string of a run is freed of control characters and
escaped; the data of the list of cells is JSON in which no `<` survives.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from perbyte.model import Run
from perbyte.report import gallery
from perbyte.report.conditions import failure_lines, noise_line
from perbyte.report.costs import COLUMNS, cost_rows
from perbyte.report.facts import commands, condition_facts, identity_rows
from perbyte.report.findings import certainty, found
from perbyte.report.historyview import history_view
from perbyte.report.inline import embedded
from perbyte.report.operations import COLUMNS as RATIO_COLUMNS
from perbyte.report.operations import PUBLISHED_COLUMNS, published_ratio_rows, ratio_rows, ratios_of
from perbyte.report.page import (
    cell_columns,
    cell_rows,
    counts,
    how_read,
    mark_legend,
    qualities,
    table_view,
    warning_counts,
)
from perbyte.report.points import Names
from perbyte.report.studypage import names_of, study_pictures, study_view, tally
from perbyte.report.surroundings import Drawn, drawn, render_page
from perbyte.report.units import number, plain, sentence
from perbyte.report.views import Table, tables
from perbyte.stats.quantity import Unit
from perbyte.studies.history import History
from perbyte.studies.model import Judgement, Outcome

_SECTIONS = (
    ("summary", "Summary"),
    ("claims", "Claims"),
    ("figures", "Figures"),
    ("results", "Results"),
    ("history", "Then and now"),
    ("costs", "Costs"),
    ("ratios", "Ratios"),
    ("cells", "Every cell"),
    ("quality", "Quality"),
    ("conditions", "Conditions"),
    ("repeat", "Repeat"),
)


def write_report(
    run: Run,
    path: Path | str,
    *,
    judgement: Judgement | None = None,
    history: History | None = None,
    title: str | None = None,
    unit: Unit | None = None,
    remarks: Sequence[str] = (),
) -> Path:
    """Write the report of `run` to `path` (one HTML file, UTF-8) and return the path.

    With a `judgement`, the study's claims, its published figures and its statistics are shown as well, with a
    `history` then and now. `unit` is what the tables start with; `remarks` are sentences that stand first. Raises
    OSError where the file cannot be written.
    """
    path = Path(path)
    text = render_report(run, judgement=judgement, history=history, title=title, unit=unit, remarks=remarks)
    path.write_text(text, encoding="utf-8")
    return path


def render_report(
    run: Run,
    *,
    judgement: Judgement | None = None,
    history: History | None = None,
    title: str | None = None,
    unit: Unit | None = None,
    remarks: Sequence[str] = (),
) -> str:
    """Give the report of `run` as the text of one HTML file; see `write_report`."""
    names = names_of(judgement.study) if judgement else None
    laid_out = tables(run, unit)
    costs, ratios = cost_rows(run, names), ratio_rows(ratios_of(run), names)
    there = {"claims": judgement, "history": history, "costs": costs, "ratios": ratios}
    return render_page(
        "report.html",
        title=title or _title(run, judgement),
        lead=_lead(run),
        run_id=plain(run.conditions.run_id, 80),
        sections=[one for one in _SECTIONS if there.get(one[0], True)],
        warned=[
            *([] if run.complete else ["This run was interrupted; it shows what was measured until then."]),
            *(plain(one, 600) for one in remarks),
        ],
        counts=[*_claim_counts(judgement), *counts(run)],
        found=[*([sentence(tally(judgement)) + "."] if judgement else []), *found(laid_out, names)],
        certainty=certainty(run),
        study=study_view(judgement) if judgement else None,
        history=history_view(history) if history else None,
        pictures=_pictures(run, judgement, names, laid_out),
        tables=[table_view(table, names) for table in laid_out],
        cell_columns=cell_columns(),
        cells=embedded(cell_rows(run)),
        how=how_read(run),
        mark_legend=mark_legend(run),
        cost_columns=COLUMNS,
        costs=costs,
        ratio_columns=RATIO_COLUMNS,
        ratios=ratios,
        published_ratio_columns=PUBLISHED_COLUMNS,
        published_ratios=published_ratio_rows(run, judgement.study) if judgement else [],
        noise=sentence(noise_line(run)) + ".",
        pairs=[(plain(address, 200), number(ratio, 0.0001)) for address, ratio in run.noise_floor.pairs]
        if run.noise_floor
        else [],
        qualities=qualities(run),
        failures=failure_lines(run),
        warnings=warning_counts(run),
        conditions=condition_facts(run),
        identities=identity_rows(run),
        commands=commands(run),
    )


def _lead(run: Run) -> str:
    conditions = run.conditions
    name = plain(conditions.run_id, 80)
    if not run.measuring_s and conditions.origin != "measured":
        source = plain(conditions.input.get("source", ""), 80)
        return f"Run {name}, {plain(conditions.origin, 40)}" + (f" from {source}." if source else ".")
    started = _moment(conditions.started_at)
    return f"Run {name}, started {started}, ended after {run.measuring_s:.0f} s of measuring."


def _moment(text: str) -> str:
    """A moment to the second, in UTC; what is none stays as it is."""
    try:
        moment = datetime.fromisoformat(text)
        return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC" if moment.tzinfo else plain(text, 40)
    except (ValueError, OverflowError):
        return plain(text, 40)


def _title(run: Run, judgement: Judgement | None) -> str:
    if judgement:
        return f"{judgement.study.title}: measured again"
    machine = plain(run.conditions.machine.cpu_model, 80) or "this machine"
    return f"How fast cryptography is on {machine}" if run.cells else "A run without figures"


def _claim_counts(judgement: Judgement | None) -> list[tuple[str, str]]:
    if judgement is None:
        return []
    findings = sum(judgement.count(outcome, "finding") for outcome in Outcome)
    return [(f"{judgement.count(Outcome.REPRODUCED, 'finding')} of {findings}", "findings reproduced here")]


def _pictures(
    run: Run, judgement: Judgement | None, names: Names | None, laid_out: Sequence[Table]
) -> list[Drawn]:
    chosen: Sequence[gallery.Picture] = gallery.pictures(run, names=names, laid_out=laid_out)
    of_study = study_pictures(run, judgement) if judgement else ()
    if any(picture.name == "ratios" for picture in of_study):  # the same figure with the published ones in it
        chosen = [picture for picture in chosen if picture.name != "operations"]
    return drawn((*of_study, *chosen))
