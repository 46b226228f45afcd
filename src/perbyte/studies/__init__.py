"""Published studies: read as data, repeated here, judged claim by claim.

A study is a folder of the data directory `studies/`; adding one takes no Python. This package reads runs and measures
nothing. It decides on intervals and on the noise floor, never on p-values, and prefers "inconclusive" to a
verdict that changes with the next run.
"""

from perbyte.studies.evidence import published_run
from perbyte.studies.judge import PairedPoint, judge, judge_in_print, paired
from perbyte.studies.load import find, read_study, studies
from perbyte.studies.model import (
    CellGroup,
    Judgement,
    Outcome,
    PublishedFigure,
    Study,
    Verdict,
)

__all__ = [
    "CellGroup",
    "Judgement",
    "Outcome",
    "PairedPoint",
    "PublishedFigure",
    "Study",
    "Verdict",
    "find",
    "judge",
    "judge_in_print",
    "paired",
    "published_run",
    "read_study",
    "studies",
]
