"""Advice for a terminal and for programs: the sentences of `advice`, within the width, or as JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rich.text import Text

from perbyte.advise import Ranked, Together
from perbyte.catalogue.facts import strength_of
from perbyte.model import Estimate
from perbyte.model.text import json_ready
from perbyte.report.advice import Told
from perbyte.report.advicecard import Advice
from perbyte.report.advicewords import standing_texts, status_word
from perbyte.report.lines import columns_of, listing_text, prose, to_text
from perbyte.report.listing import records
from perbyte.report.text import card_text
from perbyte.report.wording import sentence


def render_advice(advice: Advice, *, width: int | None = None, colour: bool | None = None) -> str:
    """Give the answers as text, the card first; the text ends with a line end."""
    width = columns_of(width)
    lines = [
        *prose(advice.question.title, width, "bold"),
        *prose(advice.question.asks, width),
        Text(),
        *card_text(advice.card, width)[:-1],
    ]
    if libraries := advice.libraries:
        lines += [Text(), *listing_text(libraries, width)]
    for task in advice.told:
        if not advice.single:
            heading = f"{sentence(task.title)}: {task.answer}"
            lines += [Text(), *prose(heading, width, "bold underline")]
        for heading, texts in advice.reasons(task):
            lines += [Text(), Text(heading, style="bold")]
            for line in texts:
                lines += prose(f"  {line}" if len(texts) == 1 else f"- {line}", width)
        lines += [Text(), *listing_text(replace(task.table, title=""), width)]
    if advice.machines:
        lines += [Text(), *listing_text(advice.machines, width)]
    for note in advice.notes:
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


def answers_json(advice: Advice, named: Mapping[str, str]) -> dict[str, Any]:
    """All answers for programs; `named`: what was asked, by the names of its fields."""
    run = advice.run
    return {
        "schema_version": 1,
        **named,
        "run": str(run.path) if run.path else run.conditions.run_id,
        "tasks": [told_json(task) for task in advice.told],
        **({"together": together_json(advice.together)} if advice.together else {}),
        "notes": advice.notes,
        **({"machines": records(advice.machines)} if advice.machines else {}),
    }


def told_json(told: Told) -> dict[str, Any]:
    """An answer for programs: the decision with its numbers, and the sentences by heading."""
    decision, passwords = told.decision, told.passwords
    profile = decision.case.asked.profile
    first, second = decision.first, decision.runner_up
    document: dict[str, Any] = {
        "task": decision.case.task.name,
        "answer": told.answer,
        "recommended": first.algorithm.id if first else None,
        "runner_up": second.algorithm.id if second else None,
        "sure": decision.sure.value if decision.sure else None,
        "ratio": _ends(decision.comparison.ratio) if decision.comparison else None,
        "equal": [entry.algorithm.id for entry in decision.equal],
        "ranking": [_ranked(entry, profile) for entry in decision.ranking],
        "ruled_out": [_ranked(entry, profile) for entry in decision.ruled_out],
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
                "ns_per_hash": _ends(parameters.time_ns),
                "memory_bytes": parameters.memory_bytes,
                "guesses_per_second": parameters.guesses_s,
            }
            for parameters in passwords.parameters
        ]
    return document


def _ranked(entry: Ranked, profile: str) -> dict[str, Any]:
    strength = strength_of(entry.algorithm.id)
    return {
        "algorithm": entry.algorithm.id,
        "status": status_word(entry.standing),
        "strength": strength.said if strength else None,
        "reasons": list(standing_texts(entry.standing, profile)),
        "options": [
            {
                "runner": option.runner,
                "library": option.library,
                "library_version": option.version,
                "cost": _ends(option.cost.estimate),
                "unit": option.unit,
                "doubt": option.doubt,
                "cells": {
                    f"{name}@{size}": figure.cell.address for (name, size), figure in option.figures.items()
                },
            }
            for option in entry.options
        ],
    }


def _ends(estimate: Estimate) -> Any:
    return json_ready(estimate) if math.isfinite(estimate.value) else None
