"""The package that measures: plan, validation, epochs, rounds, and the machine they run on.

It writes to the Sink it is given and knows neither store nor report. What makes a figure trustworthy lives
here and in the runners' SDK; what a figure is, lives in `stats`.
"""

from perbyte.measure.conduct import Prepared, carry_out, note_after, prepare, prepare_plan, prepare_resumed
from perbyte.measure.cores import CoreWatch, watch_cores
from perbyte.measure.forecast import Forecast, Pace, foresee, recall_pace
from perbyte.measure.history import Moment, RunHistory, RunOutcome, Watcher
from perbyte.measure.learnt import Learnt, recall
from perbyte.measure.machine import choose_cores, describe_machine
from perbyte.measure.plan import (
    Plan,
    Request,
    Survey,
    built_runners,
    draw_plan,
    find_cells,
    left_out,
    may_mean,
    survey,
)
from perbyte.measure.run import Measurement

__all__ = [
    "CoreWatch",
    "Forecast",
    "Learnt",
    "Measurement",
    "Moment",
    "Pace",
    "Plan",
    "Prepared",
    "Request",
    "RunHistory",
    "RunOutcome",
    "Survey",
    "Watcher",
    "built_runners",
    "carry_out",
    "choose_cores",
    "describe_machine",
    "draw_plan",
    "find_cells",
    "foresee",
    "left_out",
    "may_mean",
    "note_after",
    "prepare",
    "prepare_plan",
    "prepare_resumed",
    "recall",
    "recall_pace",
    "survey",
    "watch_cores",
]
