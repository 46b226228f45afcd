"""Advice for a terminal and for programs: the sentences of `advice`, within the width, or as JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rich.text import Text

from perbyte.advise import Option, Ranked, Together
from perbyte.catalogue.facts import strength_of
from perbyte.catalogue.questions import Question
from perbyte.model import Estimate, Run
from perbyte.model.text import json_ready
from perbyte.report.advice import Told
from perbyte.report.advicewords import standing_texts, status_word
from perbyte.report.card import Card
from perbyte.report.lines import columns_of, listing_text, prose, to_text
from perbyte.report.listing import Listing, records
from perbyte.report.text import card_text
from perbyte.report.wording import sentence


def render_advice(
    question: Question,
    told: Sequence[Told],
    notes: Sequence[str] = (),
    beside: Listing | None = None,
    *,
    card: Card,
    libraries: Listing | None = None,
    width: int | None = None,
    colour: bool | None = None,
) -> str:
    """Give the answers as text, `card` first; `libraries` is a table of them, `beside` one of other machines."""
    width = columns_of(width)
    lines = [
        *prose(question.title, width, "bold"),
        *prose(question.asks, width),
        Text(),
        *card_text(card, width)[:-1],
    ]
    if libraries:
        lines += [Text(), *listing_text(libraries, width)]
    several = len(told) > 1
    for task in told:
        if several:
            heading = f"{sentence(task.title)}: {task.answer}"
            lines += [Text(), *prose(heading, width, "bold underline")]
        for heading, texts in task.lines:
            if heading == "How sure" and not several:  # the card has said it
                continue
            lines += [Text(), Text(heading, style="bold")]
            for line in texts:
                lines += prose(f"  {line}", width) if len(texts) == 1 else prose(f"- {line}", width)
        lines += [Text(), *listing_text(replace(task.table, title=""), width)]
    if beside:
        lines += [Text(), *listing_text(beside, width)]
    for note in notes:
        lines += [Text(), *prose(note, width)]
    return to_text(lines, colour=colour)


def together_json(together: Together) -> dict[str, Any]:
    """The answer for one library as plain values: the libraries by cost, and what mixing would gain."""

    names = [case.task.name for case in together.cases]
    return {
        "recommended": together.first.runner if together.first else None,
        "ranking": [
            {
                "runner": library.runner,
                "algorithms": {
                    names[part]: option.algorithm.id
                    for part, option in zip(together.parts, library.options, strict=True)
                },
            }
            for library in together.ranking
        ],
        "ratio": json_ready(together.comparison.ratio) if together.comparison else None,
        "answer": together.comparison.answer.value if together.comparison else None,
        "gains": [
            {
                "task": names[gain.part],
                "runner": gain.option.runner,
                "algorithm": gain.option.algorithm.id,
                "ratio": json_ready(gain.comparison.ratio),
                "claimed": gain.comparison.claimed,
            }
            for gain in together.gains
        ],
        "lacks": {runner: [names[part] for part in parts] for runner, parts in together.lacks},
    }


def answers_json(
    named: Mapping[str, str],
    run: Run,
    told: Sequence[Told],
    together: Together | None,
    notes: Sequence[str],
    beside: Listing | None,
) -> dict[str, Any]:
    """All answers for programs; `named`: what was asked, by the names of its fields."""
    return {
        "schema_version": 1,
        **named,
        "run": str(run.path) if run.path else run.conditions.run_id,
        "tasks": [advice_json(advice) for advice in told],
        **({"together": together_json(together)} if together else {}),
        "notes": notes,
        **({"machines": records(beside)} if beside else {}),
    }


def figures_from(run: Run) -> str:
    """Where the figures of an answer are from."""
    conditions = run.conditions
    where = conditions.machine.cpu_model or "this machine"
    when = f"{conditions.started_at[:10]}, on {where}; {run.measuring_s:.0f} s of measuring"
    return f"Figures: run {conditions.run_id}, {when}."


def advice_json(told: Told) -> dict[str, Any]:
    """The same for programs: the decision with its numbers, and the sentences by heading."""
    decision, passwords = told.decision, told.passwords

    def ends(estimate: Estimate | None) -> Any:
        return json_ready(estimate) if estimate and math.isfinite(estimate.value) else None

    def option(option: Option) -> dict[str, Any]:
        return {
            "runner": option.runner,
            "library": option.library,
            "library_version": option.version,
            "cost": ends(option.cost.estimate),
            "unit": option.unit,
            "doubt": option.doubt,
            "cells": {
                f"{name}@{size}": figure.cell.address for (name, size), figure in option.figures.items()
            },
        }

    def ranked(entry: Ranked) -> dict[str, Any]:
        return {
            "algorithm": entry.algorithm.id,
            "status": status_word(entry.standing),
            "strength": strength.said if (strength := strength_of(entry.algorithm.id)) else None,
            "reasons": list(standing_texts(entry.standing, decision.case.asked.profile)),
            "options": [option(each) for each in entry.options],
        }

    document: dict[str, Any] = {
        "task": decision.case.task.name,
        "answer": told.answer,
        "recommended": decision.first.algorithm.id if decision.first else None,
        "runner_up": decision.runner_up.algorithm.id if decision.runner_up else None,
        "sure": decision.sure.value if decision.sure else None,
        "ratio": ends(decision.comparison.ratio) if decision.comparison else None,
        "equal": [entry.algorithm.id for entry in decision.equal],
        "ranking": [ranked(entry) for entry in decision.ranking],
        "ruled_out": [ranked(entry) for entry in decision.ruled_out],
        "missing": [{"name": name, "reason": reason} for name, reason in decision.missing],
        "said": {heading: list(texts) for heading, texts in told.lines},
    }
    if passwords:
        document["recommended"] = (
            passwords.parameters[0].ranked.algorithm.id if passwords.parameters else None
        )
        document["parameters"] = [
            {
                "algorithm": parameters.ranked.algorithm.id,
                "parameters": parameters.words,
                "ns_per_hash": ends(parameters.time_ns),
                "memory_bytes": parameters.memory_bytes,
                "guesses_per_second": parameters.guesses_s,
            }
            for parameters in passwords.parameters
        ]
    return document
