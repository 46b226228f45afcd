"""The vocabulary of claims: every form a study may use, by name.

Small and closed. A form answers with findings, one per group; what they amount to is `perbyte.studies.judge`'s.
"""

from __future__ import annotations

from collections.abc import Mapping

from perbyte.studies.claims import (
    against_print,
    availability,
    effects,
    ranking,
    ratios,
    resemblance,
    series,
    sizes,
)
from perbyte.studies.claims.vocabulary import Finding, Form, Kind, Parameter, Required, Scene, State

FORMS: Mapping[str, Form] = {
    form.name: form
    for module in (ranking, ratios, series, sizes, effects, resemblance, availability, against_print)
    for form in module.FORMS
}

__all__ = ["FORMS", "Finding", "Form", "Kind", "Parameter", "Required", "Scene", "State"]
