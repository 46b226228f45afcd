"""No claim of a study is toothless: changed figures turn each from reproduced to not reproduced, and back.

Figures are drawn around the printed ones, with random effects of group, library, direction and size, until every
claim has an example and a counter-example. A claim that no figures turn could not fail, or could not come out at all.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from msgspec import structs
from scripted_studies import figure_of, scripted_run

from perbyte.model import Cell, Run
from perbyte.studies import Outcome, Study, find, published_run, studies
from perbyte.studies.claims import Context, significance
from perbyte.studies.claims.availability import OutOfReach
from perbyte.studies.claims.significance import Effect, Significant, compute
from perbyte.studies.evidence import cells_of, gather
from perbyte.studies.judge import verdict

WANTED = {Outcome.REPRODUCED, Outcome.NOT_REPRODUCED}
LIBRARIES = ("openssl", "nettle", "cryptopp")
TRIES = 400


Costs = dict[object, float]


def printed_costs(study: Study) -> Costs:
    """Costs per byte as printed: by cell, by what is the same in every library, at every size, and in every mode."""
    costs: Costs = {}
    for machine in study.machines:
        for cell in published_run(study, machine.id).cells:
            for key in keys(cell.cell):
                costs.setdefault(key, cell.per_call / max(cell.cell.size_bytes, 1))
    return costs


def keys(cell: Cell) -> tuple[object, ...]:
    anywhere = (cell.algorithm, cell.operation, cell.cpu)
    any_mode = (cell.algorithm.rpartition("-")[0], cell.operation)
    return cell, (*anywhere, cell.size_bytes), anywhere, any_mode


def cells(study: Study) -> Iterator[tuple[str, Cell]]:
    for group in study.groups:
        for address in (cell for selector in group.selectors for cell in cells_of(selector)):
            for runner in LIBRARIES if address.runner == "*" else (address.runner,):
                yield group.name, replace(address.cell, runner=runner)


def drawn(study: Study, base: Costs, seed: int) -> Run:
    """Figures around the printed ones; the strength of each effect is drawn as well, from none to a factor of ten."""
    rng = random.Random(f"{study.name} {seed}")
    tags = sorted({tag for group in study.groups for tag in group.tags})
    single = ["group", "runner", "operation", "size", *tags]
    pairs = [f"{tag} {other}" for tag, other in itertools.combinations(tags, 2)]
    names = [*single, *pairs, "group runner", "group operation", "group size", "runner size", "address"]
    strong = rng.sample(names, rng.choice((0, 1, 2, 4)) if seed else 0)
    strength = {name: rng.choice((0.05, 0.3, 1.0, 2.0)) for name in strong}
    gone = rng.choice((0.0, 0.0, 0.0, 0.2, 0.8)) * (seed > 0)
    flatten = rng.choice((False, False, True)) and seed > 0
    effects: dict[tuple[str, ...], float] = {}
    lost: dict[tuple[str, str, str], bool] = {}
    figures = {}
    for group, cell in cells(study):
        if lost.setdefault((cell.runner, group, cell.algorithm), rng.random() < gone) or cell in figures:
            continue
        own = next(candidate for candidate in study.groups if candidate.name == group)
        dims = {
            "group": group,
            "runner": cell.runner,
            "operation": cell.operation,
            "size": str(cell.size_bytes),
        }
        dims |= {"address": cell.address, **own.tags}
        value = 0.0
        for name in strong:
            key = (name, *(dims.get(part, "") for part in name.split()))
            value += strength[name] * effects.setdefault(key, rng.gauss(0, 1))
        cost = next((base[key] for key in keys(cell) if key in base), 10.0)
        figures[cell] = figure_of(cell, (10.0 if flatten else cost) * math.exp(value), 1e-4, spread=1e-4)
    run = scripted_run(study=study.name, floor=0.0)
    return replace(run, cells=tuple(figures.values()))


def reprinted(study: Study, seed: int) -> Study:
    """The study with its printed figures as they are, shuffled, or those of its first machine for all."""
    rng = random.Random(seed)
    figures = list(study.published)
    if seed % 3 == 1:
        values = [figure.printed for figure in figures if figure.available]
        rng.shuffle(values)
        shuffled = iter(values)
        figures = [
            structs.replace(figure, printed=next(shuffled)) if figure.available else figure
            for figure in figures
        ]
    elif seed % 3 == 2:
        first = {figure.cell: figure.printed for figure in reversed(figures) if figure.available}
        figures = [
            structs.replace(figure, printed=first[figure.cell]) if figure.available else figure
            for figure in figures
        ]
    return structs.replace(study, published=tuple(figures))


LONGEST = "kompara-2020"


@pytest.mark.parametrize(
    "name",
    [pytest.param(study.name, marks=[pytest.mark.slow] * (study.name == LONGEST)) for study in studies()],
)
def test_every_claim_can_be_refuted_and_reproduced(name: str) -> None:
    study = find(name)
    base = printed_costs(study)
    left = {
        claim.id: (claim, set(WANTED))
        for claim in study.claims
        if not isinstance(claim, OutOfReach | Significant | Effect)
    }
    for seed in range(TRIES):
        run = drawn(study, base, seed)
        context = Context(reprinted(study, seed), gather(study, [run]), None)
        for id, (claim, wanted) in list(left.items()):
            wanted.discard(verdict(claim, context).outcome)
            if not wanted:
                del left[id]
        if not left:
            return
    assert {id: {str(form) for form in wanted} for id, (_, wanted) in left.items()} == {}


SPACINGS: tuple[Callable[[int, int], float], ...] = (
    lambda number, size: 1.0,
    lambda number, size: 1.5**number,
    lambda number, size: 100.0**number,
    lambda number, size: 1 + 1e-4 * 4**number,
    lambda number, size: 1 + number * (1e-3 if size == 16 else 0.2),
    lambda number, size: 1 + number * (0.2 if size == 16 else 1e-3),
)


def test_the_claims_on_statistics_turn_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Epochs and samples that are far apart, alike, normal or not, and that grow apart with size or together."""
    study = find("kompara-2020")
    assert study.statistics
    plan = structs.replace(study.statistics, where={**study.statistics.where, "runner": "nettle"})
    study = structs.replace(study, statistics=plan)
    left = {
        claim.id: (claim, set(WANTED)) for claim in study.claims if isinstance(claim, Significant | Effect)
    }
    rng = random.Random(1)
    for normal in (True, False):
        for apart in SPACINGS:
            figures, samples = {}, {}
            groups = [group.name for group in study.groups]
            for group, cell in cells(study):
                if cell.runner != "nettle" or cell in figures:
                    continue
                cost = apart(groups.index(group), cell.size_bytes)
                figure = figure_of(cell, cost, 1e-3, epochs=8, spread=1e-3)
                figures[cell] = figure
                drawn_ = [rng.gauss(0, 1) if normal else rng.expovariate(1) for _ in range(400)]
                samples[("scripted", cell)] = [cost * (1 + 1e-3 * share) for share in drawn_]
            run = replace(scripted_run(study=study.name), cells=tuple(figures.values()))
            monkeypatch.setattr(significance, "_samples", lambda runs, table, wanted, drawn=samples: drawn)
            table = gather(study, [run])
            context = Context(study, table, compute(study, table, [run]))
            for id, (claim, wanted) in list(left.items()):
                wanted.discard(verdict(claim, context).outcome)
                if not wanted:
                    del left[id]
    assert {id: {str(form) for form in wanted} for id, (_, wanted) in left.items()} == {}


def test_every_verdict_says_its_rule_and_what_would_refute_it() -> None:
    for study in studies():
        run = published_run(study)
        context = Context(study, gather(study, [run]), None)
        for claim in study.claims:
            judged = verdict(claim, context)
            assert len(judged.rule) > 20, claim.id
            assert len(judged.refuted_by) > 10, claim.id
            assert judged.rule != judged.refuted_by, claim.id
