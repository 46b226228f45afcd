"""Cores on paper: the chooser of the probe and the gauge's calibration are right on cores that nobody has here.

Each core is learnt in company (alone, shared at times, rarely alone, never alone) and with a prior (the family's size
right, absent, half, twice). What must hold of all of them:

- a window that is sure of itself tells alone from shared in 99 % of readings;
- in quiet or half-quiet weather a core that shows its window gets one, whatever the prior, short of one that is twice;
- nothing learnt in bad weather, and no prior, spoils a core for good: four processes later the window works, or the
  SDK says that it knows none (then it calls nobody shared, as if there were no probe).
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from paper_cores import COMPANY, CORES, PRIORS, Core, Found, Paper, build, healed, learn_in, works

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(platform.machine() != "x86_64", reason="the window probe is one of x86-64"),
]
MOST_READINGS = 700_000
AT_TIMES = COMPANY["at times"]
SHOWING = [core for core in CORES if core.shows]


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> Paper:
    """The SDK, compiled against the processor on paper."""
    return Paper(build(tmp_path_factory.mktemp("paper") / "paper.so"))


Learn = Callable[[Core, float, float], tuple[Found, int]]


@pytest.fixture(scope="module")
def learn(paper: Paper) -> Learn:
    """`learn(core, share, prior)`: what is learnt, and the readings it took; each is learnt once for all tests."""
    known: dict[tuple[str, float, float], tuple[bytes, int]] = {}

    def found(core: Core, share: float, prior: float) -> tuple[Found, int]:
        asked = (core.name, share, prior)
        if asked in known:
            paper.start(core, share=share)
        else:
            learnt, _, readings = learn_in(paper, core, share, prior)
            known[asked] = (bytes(learnt), readings)
        return Found.from_buffer_copy(known[asked][0]), known[asked][1]

    return found


def named(name: str) -> Core:
    return next(core for core in CORES if core.name == name)


def test_there_are_enough_cores_and_each_has_a_name_of_its_own() -> None:
    assert len({core.name for core in CORES}) == len(CORES) >= 20
    assert sum(core.made_up for core in CORES) >= 9


def test_the_model_reads_like_the_zen_5_that_was_measured(paper: Paper) -> None:
    """No-ops and 12 roots: 83 ticks a round while three chains overlap, 182 from 448 on; 5 roots: 42 and 94 ticks."""
    paper.start(named("Zen 5"))
    for length, roots, measured in ((64, 12, 83), (464, 12, 184), (64, 5, 42), (464, 5, 94)):
        assert paper.round("nops", roots, length) == pytest.approx(measured, rel=0.25)
    assert paper.round("nops", 12, 448) > 1.4 * paper.round("nops", 12, 416)
    assert paper.round("nops", 12, 224, shared=True) > 1.4 * paper.round("nops", 12, 192, shared=True)


@pytest.mark.apart
@pytest.mark.parametrize("core", CORES, ids=lambda core: core.name)
def test_what_is_learnt_in_any_company_and_with_any_prior_is_honest(
    paper: Paper, learn: Learn, core: Core
) -> None:
    for company, share in core.company().items():
        for prior, factor in PRIORS.items():
            learnt, readings = learn(core, share, factor)
            case = f"{company}, prior {prior}: {learnt}"
            assert readings <= MOST_READINGS, case
            if not core.shows:
                assert learnt.word in ("none", "likely"), case
                continue
            if learnt.word == "sure":
                assert works(paper, learnt, 0.99), case
            if share <= AT_TIMES and prior != "twice" and not core.together and not core.graded:
                assert learnt.word in ("likely", "sure"), case
                assert works(paper, learnt, 0.985), case
            if learnt.word == "halved":
                assert learnt.alone == learnt.past == 0, case


@pytest.mark.apart
@pytest.mark.parametrize("core", SHOWING, ids=lambda core: core.name)
def test_no_prior_and_no_company_spoils_a_core_for_good(paper: Paper, learn: Learn, core: Core) -> None:
    for company, share in core.company().items():
        for prior, factor in PRIORS.items():
            learnt, _ = learn(core, share, factor)
            learnt = healed(paper, learnt, factor)
            case = f"{company}, prior {prior}: {learnt}"
            if prior == "twice" and learnt.word in ("halved", "none"):
                assert learnt.alone == 0, case  # no limit: nobody is called shared
            else:
                assert works(paper, learnt, 0.98), case


@pytest.mark.parametrize("core", SHOWING, ids=lambda core: core.name)
def test_a_window_holds_on_its_core_and_no_longer_than_it_works_on_another(
    paper: Paper, learn: Learn, core: Core
) -> None:
    """A core with half of the buffer, alone, cannot be told from the first one beside somebody."""
    learnt, _ = learn(core, 0, 1)
    if learnt.word == "halved":
        return
    for other in (core, *map(named, ("Skylake", "Golden Cove", "Zen 3", "Zen 5", "buffer of 1,024"))):
        paper.start(core)
        paper.change(other)
        copied = Found.from_buffer_copy(learnt)
        held = paper.holds(copied)
        case = f"on {other.name}: {copied}"
        if other is core:
            assert held, case
            assert paper.readings() <= 1_200, case
        elif held and copied.alone:
            assert paper.watch(copied, 500).alone_right >= 0.98, case
        elif held:
            assert 0.4 < other.kind.rob / core.entries < 0.6, case


@pytest.mark.parametrize("core", SHOWING, ids=lambda core: core.name)
def test_a_window_is_kept_while_the_core_is_never_alone(paper: Paper, learn: Learn, core: Core) -> None:
    """It still means the same core; what it reads alone is then known from elsewhere, or the length is learnt anew."""
    learnt, _ = learn(core, AT_TIMES, 1)
    paper.change(share=1)
    known = Found.from_buffer_copy(learnt)
    if paper.holds(known) and known.alone:
        assert learnt.word != "sure", f"{core.name}: a shared core is called alone: {known}"


@pytest.mark.parametrize("share", [0, AT_TIMES])
@pytest.mark.parametrize("core", CORES, ids=lambda core: core.name)
def test_the_gauge_counts_cycles_right(paper: Paper, core: Core, share: float) -> None:
    """The SDK's gauge as it is shipped: the self-check holds, and clean samples of 20,000 cycles say 20,000 cycles."""
    paper.start(core, share=share)
    figures = paper.measure(20_000)
    assert figures.trusted, f"{figures.check_add}, {figures.check_rotate}"
    assert figures.check_add == pytest.approx(1, abs=0.0025)
    assert figures.check_rotate == pytest.approx(1, abs=0.0025)
    assert figures.cycles == pytest.approx(20_000, rel=0.0025)
    if figures.limit > 0:
        assert figures.clean >= 0.8 * figures.samples  # waiting for a quiet moment finds one


@pytest.mark.parametrize("core", CORES, ids=lambda core: core.name)
def test_the_gauge_never_waits_for_ever_on_a_core_that_is_never_alone(paper: Paper, core: Core) -> None:
    paper.start(core, share=1)
    figures = paper.measure(20_000, samples=50)
    assert figures.samples == 50
    if core.world.clock_s == 0:
        assert figures.check_add == pytest.approx(1, abs=0.005)
    assert paper.now() < 3


def test_the_family_decides_only_where_a_core_is_never_alone(paper: Paper) -> None:
    """What CPUID says of Zen 5 (family 26, model 2) gives the inferred length; without it twice the half is taken."""
    zen_5 = 1 << 16 | 26 << 8 | 2
    lengths = {}
    for share in (AT_TIMES, 1):
        for signature in (0, zen_5):
            paper.start(named("Zen 5"), share=share, signature=signature)
            lengths[share, signature] = paper.measure(20_000, samples=1).found.decode().split()[:3]
    assert lengths[AT_TIMES, 0] == lengths[AT_TIMES, zen_5]
    assert lengths[1, zen_5] == ["nops", "12", str((448 - 12 - 16) * 3 // 4)]
    assert lengths[1, 0] != lengths[1, zen_5]
