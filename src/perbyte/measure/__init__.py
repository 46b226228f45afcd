"""The room that measures: plan, gate, epochs, rounds, and the machine they run on.

It writes to the Sink it is given and knows neither store nor report. What makes a figure trustworthy lives
here and in the runners' SDK; what a figure is, lives in `stats`.
"""

from perbyte.measure.history import History, Outcome
from perbyte.measure.machine import choose_cores, describe_machine, require_linux, step_aside
from perbyte.measure.plan import Plan, Request, draw_plan, wanted_cpus
from perbyte.measure.progress import Moment, Unwatched, Watcher
from perbyte.measure.run import Measurement
from perbyte.measure.survey import Survey, survey
from perbyte.measure.watch import CoreWatch, watch_cores

__all__ = [
    "CoreWatch",
    "History",
    "Measurement",
    "Moment",
    "Outcome",
    "Plan",
    "Request",
    "Survey",
    "Unwatched",
    "Watcher",
    "choose_cores",
    "describe_machine",
    "draw_plan",
    "require_linux",
    "step_aside",
    "survey",
    "wanted_cpus",
    "watch_cores",
]
