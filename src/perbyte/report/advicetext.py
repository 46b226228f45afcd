"""Advice for a terminal and for programs: the sentences of `advice`, within the width, or as JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from rich.text import Text

from perbyte.advise import Option, Ranked
from perbyte.catalogue.questions import Question
from perbyte.model import Estimate
from perbyte.report.advice import Told, standing_texts, status_word
from perbyte.report.text import columns_of, prose, to_text
from perbyte.report.wording import sentence

Table = tuple[Sequence[str], Sequence[Sequence[str]]]


def render_advice(
    question: Question,
    told: Sequence[Told],
    notes: Sequence[str] = (),
    beside: Table | None = None,
    *,
    width: int | None = None,
    colour: bool | None = None,
) -> str:
    """Give the answers as text; `beside` is a table of other machines."""
    width = columns_of(width)
    lines = [
        *(Text(part.plain, style="bold") for part in prose(question.title, width)),
        *prose(question.asks, width),
    ]
    for one in told:
        lines += [Text()]
        if len(told) > 1:
            lines += [Text(part.plain, style="bold") for part in prose(sentence(one.title), width)]
        lines += [Text(part.plain, style="bold green") for part in prose(f"► {one.answer}", width)]
        for heading, said in one.lines:
            lines += [Text(), Text(heading, style="bold")]
            for line in said:
                lines += prose(f"  {line}", width) if len(said) == 1 else prose(f"- {line}", width)
        lines += [Text(), *_drawn(one.columns, one.rows, width)]
    if beside:
        lines += [Text(), Text("Other machines", style="bold"), *_drawn(*beside, width, lead=1)]
    for note in notes:
        lines += [Text(), *prose(note, width)]
    return to_text(lines, colour=colour)


def _drawn(columns: Sequence[str], rows: Sequence[Sequence[str]], width: int, *, lead: int = 2) -> list[Text]:
    """The table within `width`: names to the left, figures to the right; a sentence a row where it is too wide.

    `lead` columns say what a row is about.
    """
    if not rows:
        return []
    table = [columns, *rows]
    room = [max(len(row[place]) for row in table) for place in range(len(columns))]
    if sum(room) + 2 * len(room) <= width:
        return [
            Text(
                "  ".join(
                    cell.ljust(room[place]) if place < 2 or place == len(row) - 1 else cell.rjust(room[place])
                    for place, cell in enumerate(row)
                ).rstrip(),
                style="bold" if row is columns else "",
            )
            for row in table
        ]
    lines = []
    for row in rows:
        told = "; ".join(
            f"{head} {cell}" for head, cell in zip(columns[lead:], row[lead:], strict=True) if cell
        )
        lines += prose(f"{', '.join(row[:lead])}: {told}", width)
    return lines


def advice_json(told: Told) -> dict[str, Any]:
    """The same for programs: the decision with its numbers, and the sentences by heading."""
    decision, passwords = told.decision, told.passwords

    def ends(one: Estimate | None) -> dict[str, float | None] | None:
        if one is None or not math.isfinite(one.value):
            return None
        return {
            name: end if math.isfinite(end := getattr(one, name)) else None
            for name in ("value", "low", "high")
        }

    def option(one: Option) -> dict[str, Any]:
        return {
            "runner": one.runner,
            "library": one.library,
            "library_version": one.version,
            "cost": ends(one.cost.estimate),
            "unit": one.unit,
            "doubt": one.doubt,
            "cells": {f"{name}@{size}": figure.cell.address for (name, size), figure in one.figures.items()},
        }

    def ranked(one: Ranked) -> dict[str, Any]:
        return {
            "algorithm": one.algorithm.id,
            "status": status_word(one.standing),
            "reasons": list(standing_texts(one.standing, decision.case.asked.profile)),
            "options": [option(each) for each in one.options],
        }

    found: dict[str, Any] = {
        "task": decision.case.task.name,
        "answer": told.answer,
        "recommended": decision.first.algorithm.id if decision.first else None,
        "runner_up": decision.runner_up.algorithm.id if decision.runner_up else None,
        "sure": decision.sure.value if decision.sure else None,
        "ratio": ends(decision.comparison.ratio) if decision.comparison else None,
        "equal": [one.algorithm.id for one in decision.equal],
        "ranking": [ranked(one) for one in decision.ranking],
        "ruled_out": [ranked(one) for one in decision.ruled_out],
        "missing": [{"name": name, "reason": reason} for name, reason in decision.missing],
        "said": {heading: list(said) for heading, said in told.lines},
    }
    if passwords:
        found["recommended"] = passwords.parameters[0].ranked.algorithm.id if passwords.parameters else None
        found["parameters"] = [
            {
                "algorithm": one.ranked.algorithm.id,
                "parameters": one.words,
                "ns_per_hash": ends(one.time_ns),
                "memory_bytes": one.memory_bytes,
                "guesses_per_second": one.guesses_s,
            }
            for one in passwords.parameters
        ]
    return found
