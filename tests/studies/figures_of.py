"""Published figures of a study, by name and in sum."""

from __future__ import annotations

import math

from perbyte.studies import PublishedFigure, Study


def figure_named(study: Study, id: str) -> PublishedFigure:
    return next(figure for figure in study.published if figure.id == id)


def value(study: Study, id: str) -> float | None:
    return figure_named(study, id).value


def total(study: Study, **wanted: object) -> float:
    """The sum of those that have all that is wanted; there is one at least."""
    chosen = [
        figure for figure in study.published if all(getattr(figure, name) == v for name, v in wanted.items())
    ]
    assert chosen
    return math.fsum(figure.value for figure in chosen if figure.value is not None)
