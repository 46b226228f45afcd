"""Finding, building and speaking to runners: the only package that starts processes.

It knows neither statistics nor storage. What a runner is and how one is added stands in docs/runner-toml.md,
what is said to it in protocol/SPEC.md.
"""

from perbyte.runners.build import BuildOutcome, BuildState, build, build_all, stale
from perbyte.runners.locate import find, locate
from perbyte.runners.machinecode import lacking
from perbyte.runners.needs import install_advice, missing
from perbyte.runners.session import Session, TimeLimits
from perbyte.runners.spec import RunnerSpec, Tier, not_built
from perbyte.runners.versions import unfold

__all__ = [
    "BuildOutcome",
    "BuildState",
    "RunnerSpec",
    "Session",
    "Tier",
    "TimeLimits",
    "build",
    "build_all",
    "find",
    "install_advice",
    "lacking",
    "locate",
    "missing",
    "not_built",
    "stale",
    "unfold",
]
