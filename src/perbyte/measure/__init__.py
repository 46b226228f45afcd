"""The package that measures: plan, validation, epochs, rounds, and the machine they run on.

It writes to the Sink it is given and knows neither store nor report. What makes a figure trustworthy lives
here and in the runners' SDK; what a figure is, lives in `stats`.
"""

from perbyte.measure.conduct import Prepared, carry_out, note_after, prepare, prepare_plan, prepare_resumed
from perbyte.measure.cores import CoreWatch, watch_cores
from perbyte.measure.forecast import Forecast, foresee, recall_pace
from perbyte.measure.history import Moment, RunOutcome, Watcher
from perbyte.measure.learnt import recall
from perbyte.measure.machine import choose_cores, describe_machine
from perbyte.measure.plan import Plan, Request, Survey, built_runners, find_cells, left_out, may_mean, survey

__all__ = [
    "CoreWatch",
    "Forecast",
    "Moment",
    "Plan",
    "Prepared",
    "Request",
    "RunOutcome",
    "Survey",
    "Watcher",
    "built_runners",
    "carry_out",
    "choose_cores",
    "describe_machine",
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
