"""What is measured and counted to repeat a published study."""

from __future__ import annotations

from perbyte.app.conducting import Conducted, with_behaviours
from perbyte.app.listener import NOBODY, Listener
from perbyte.catalogue import parse_selector
from perbyte.measure import Request
from perbyte.studies import Study
from perbyte.studies.evidence import TIME


def study_request(study: Study, *, quick: bool = False) -> Request:
    """The cells of a study; `quick`: of its quick variant."""
    selectors = tuple(parse_selector(text) for text in study.selectors(quick=quick))
    return Request(selectors, contracts=(study.contract,))


def with_counts(done: Conducted, study: Study, listener: Listener = NOBODY) -> Conducted:
    """The same with counts of instructions and memory, where a claim of the study is about them."""
    timed = all(getattr(claim, "of", TIME) == TIME for claim in study.claims)
    return done if timed else with_behaviours(done, listener=listener)
