"""The forms of claims: every statement that a study's claims.toml can make.

A form answers with findings, one per group; what they amount to is decided in `perbyte.studies.judge`.
"""

from __future__ import annotations

from collections.abc import Mapping

from perbyte.studies.claims.availability import OutOfReach, Provided
from perbyte.studies.claims.distances import Clusters, DistancesGrow, Outliers
from perbyte.studies.claims.form import Context, Finding, Form, State
from perbyte.studies.claims.ranking import Rank, RankAgreement
from perbyte.studies.claims.ratios import CostClaim, RatioClaim, TrendClaim
from perbyte.studies.claims.significance import Effect, Significant

AnyClaim = (
    RatioClaim
    | Rank
    | TrendClaim
    | CostClaim
    | Clusters
    | Outliers
    | DistancesGrow
    | Significant
    | Effect
    | RankAgreement
    | Provided
    | OutOfReach
)
FORMS: Mapping[str, type[Form]] = {str(form.__struct_config__.tag): form for form in AnyClaim.__args__}

__all__ = ["FORMS", "AnyClaim", "Context", "Finding", "Form", "State"]
