"""Cores on paper: what processors are like, as numbers, and a library that answers the SDK's readings from them.

The C part (paper/) simulates a pipeline and compiles the SDK's own window.c, contention.c and gauge.c against it: the
sources that are tested are those that are shipped. Sizes of real cores are those of vendors' guides and of published
measurements (docs/supported-machines.md); what nobody publishes (what is left to a thread beside another one, say) is
made up within what was seen on Zen 3, 4 and 5.
"""

from __future__ import annotations

import ctypes
import subprocess
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path

HERE = Path(__file__).with_name("paper")
SDK = Path(__file__).parents[2] / "runners" / "sdk" / "c"
COMPANY = {"alone": 0, "at times": 0.3, "rarely alone": 0.98, "never alone": 1}
PRIORS = {"right": 1, "absent": 0, "half": 0.5, "twice": 2}
NONE, HALVES, COMPETES, FIXED = range(4)
FILLERS = ("nops", "vectors", "integers")
CERTAINTIES = ("none", "halved", "likely", "sure")


@dataclass(frozen=True)
class Kind:
    """A core; the fields and their order are those of paper_kind (paper/paper.h), where their units stand."""

    rob: float
    vectors: float
    integers: float
    own_vectors: float = 16
    own_integers: float = 20
    reserved: float = 0
    latency: float = 18
    interval: float = 6
    width: float = 6
    retire: float = 8
    nop_rate: float = 6
    vector_rate: float = 3
    integer_rate: float = 3
    nops_per_entry: float = 1
    scheduler: float = 64
    second: float = HALVES
    fixed: float = 0
    held: float = 0
    hz: float = 3.5e9


@dataclass(frozen=True)
class World:
    """Who else is there, and how time is told; the fields are those of paper_world."""

    share: float = 0
    interrupts: float = 250
    steals: float = 5
    clock_s: float = 0
    clock_step: float = 0
    tick_hz: float = 2.6e9
    tick_step: float = 1
    signature: float = 0
    always_held: float = 0


@dataclass(frozen=True)
class Core:
    """A core with a name and the world that it comes with; `made_up`: no such core is sold."""

    name: str
    kind: Kind
    world: World = field(default_factory=World)
    made_up: bool = False
    shows: bool = True  # does any filler show a leap on it?
    together: bool = False  # fillers end at one place even alone
    graded: bool = (
        False  # what another thread takes grows with its work, so that effect alone shows the right length
    )

    @property
    def entries(self) -> float:
        """As many no-ops fit."""
        return self.kind.rob * max(self.kind.nops_per_entry, 1)

    def company(self) -> dict[str, float]:
        """The company that it can have, as shares of time: a core without a second thread is always alone."""
        return COMPANY if self.kind.second != NONE else {"alone": 0}


CORES = (
    Core(
        "Nehalem",
        Kind(128, 0, 0, latency=21, interval=21, width=4, retire=4, nop_rate=4, integer_rate=3),
        shows=False,
    ),
    Core(
        "Sandy Bridge",
        Kind(
            168,
            144,
            160,
            latency=21,
            interval=21,
            width=4,
            retire=4,
            nop_rate=4,
            integer_rate=3,
            scheduler=54,
        ),
        shows=False,
    ),
    Core(
        "Skylake",
        Kind(
            224, 168, 180, latency=16, interval=6, width=4, retire=4, nop_rate=4, scheduler=97, integer_rate=4
        ),
    ),
    Core(
        "Ice Lake",
        Kind(
            352,
            224,
            280,
            own_vectors=40,
            latency=16,
            interval=6,
            width=5,
            retire=8,
            nop_rate=5,
            scheduler=97,
            integer_rate=4,
        ),
    ),
    Core(
        "Golden Cove",
        Kind(512, 332, 280, own_vectors=40, latency=18, interval=6, integer_rate=5, scheduler=97),
    ),
    Core(
        "Lion Cove",
        Kind(
            576,
            416,
            290,
            own_vectors=24,
            latency=16,
            interval=6,
            width=8,
            retire=12,
            nop_rate=8,
            integer_rate=6,
            scheduler=114,
            second=NONE,
        ),
    ),
    Core(
        "Gracemont",
        Kind(
            256, 207, 214, latency=20, interval=13, width=5, retire=8, nop_rate=5, scheduler=35, second=NONE
        ),
        shows=False,
    ),
    Core(
        "Zen",
        Kind(
            192,
            160,
            168,
            latency=20,
            interval=10,
            width=5,
            nop_rate=5,
            integer_rate=4,
            scheduler=96,
            reserved=1,
        ),
        World(tick_step=36),
    ),
    Core(
        "Zen 2",
        Kind(
            224,
            160,
            180,
            latency=20,
            interval=9,
            width=5,
            nop_rate=5,
            integer_rate=4,
            scheduler=100,
            reserved=1,
        ),
        World(tick_step=36),
    ),
    Core(
        "Zen 3",
        Kind(256, 160, 192, own_vectors=4, latency=20, interval=9, integer_rate=4, scheduler=128, held=8),
        World(tick_step=34),
    ),
    Core(
        "Zen 4",
        Kind(320, 192, 224, own_vectors=20, latency=21, interval=9, integer_rate=4, scheduler=128, held=10),
        World(tick_step=34),
    ),
    Core(
        "Zen 5",
        Kind(
            448,
            384,
            240,
            own_vectors=26,
            latency=20,
            interval=9.5,
            width=8,
            nop_rate=8,
            vector_rate=2.7,
            scheduler=114,
            held=8,
            hz=3.7e9,
        ),
        World(tick_hz=2.596e9, tick_step=26),
    ),
    Core(
        "buffer of 1,024",
        Kind(1024, 700, 600, width=10, retire=16, nop_rate=10, integer_rate=6, vector_rate=4, scheduler=200),
        made_up=True,
    ),
    Core("no-ops take no entry", Kind(256, 168, 180, nops_per_entry=0), made_up=True),
    Core("no-ops fuse in pairs", Kind(320, 224, 220, nops_per_entry=2), made_up=True),
    Core("slow long no-ops", Kind(320, 224, 220, nop_rate=1), made_up=True),
    Core("ticks of 40 ns", Kind(320, 224, 220), World(tick_hz=1e9, tick_step=40), made_up=True),
    Core(
        "clock changes every ms",
        Kind(320, 224, 220),
        World(clock_s=1e-3, clock_step=0.1, tick_step=26),
        made_up=True,
    ),
    Core("registers before half", Kind(512, 116, 300), made_up=True),
    Core("root of 4 cycles", Kind(320, 224, 220, latency=4, interval=2), made_up=True),
    Core("pipelined root", Kind(320, 224, 220, latency=18, interval=1), made_up=True),
    Core("competitive sharing", Kind(320, 224, 220, second=COMPETES), made_up=True, graded=True),
    Core("fixed share of 96", Kind(320, 224, 220, second=FIXED, fixed=96), made_up=True),
    Core(
        "registers in the buffer",
        Kind(128, 0, 0, latency=20, interval=6, width=4, retire=4, nop_rate=4),
        made_up=True,
        together=True,
    ),
    Core("held registers", Kind(320, 224, 220, held=32), made_up=True),
    Core("held all the time", Kind(320, 224, 220, held=32), World(always_held=1), made_up=True),
    Core(
        "in order",
        Kind(16, 0, 0, latency=20, interval=20, width=2, retire=2, nop_rate=2),
        made_up=True,
        shows=False,
    ),
    Core(
        "server that holds registers",
        Kind(512, 332, 280, own_vectors=32, latency=18, interval=6, integer_rate=5, scheduler=97, held=32),
        World(tick_step=2, always_held=1),
    ),
    Core(
        "Zen 3, registers held",
        Kind(256, 160, 192, own_vectors=4, latency=20, interval=9, integer_rate=4, scheduler=128, held=16),
        World(tick_step=24.5, always_held=1),
    ),
    Core("noisy host", Kind(352, 224, 280), World(interrupts=4000, steals=100), made_up=True),
)


class Found(ctypes.Structure):
    """pb_found of window.h."""

    _fields_ = (
        ("filler", ctypes.c_uint),
        ("chain", ctypes.c_uint),
        ("length", ctypes.c_uint),
        ("rounds", ctypes.c_uint),
        ("certainty", ctypes.c_int),
        ("alone", ctypes.c_double),
        ("past", ctypes.c_double),
        ("costs", ctypes.c_double),
        ("ends", ctypes.c_uint * 3),
    )

    @property
    def word(self) -> str:
        """How sure it is."""
        return CERTAINTIES[self.certainty]

    def __str__(self) -> str:
        """As the SDK writes it."""
        ends = " ".join(str(end) for end in self.ends)
        return (
            f"{FILLERS[self.filler]} {self.chain} {self.length} {self.word} (ends {ends})"
            if self.length
            else "none"
        )


class Figures(ctypes.Structure):
    """paper_figures of paper/paper.h."""

    _fields_ = (
        *(
            (name, ctypes.c_double)
            for name in ("trusted", "check_add", "check_rotate", "floor", "limit", "length")
        ),
        *((name, ctypes.c_double) for name in ("samples", "clean", "cycles")),
        ("found", ctypes.c_char * 64),
    )


def build(target: Path) -> ctypes.CDLL:
    """Compile the SDK against the processor on paper, and load it."""
    sources = [
        HERE / "paper_core.c",
        HERE / "pipeline.c",
        *(
            SDK / f"{n}.c"
            for n in ("window", "window_text", "effect", "contention", "counter", "gauge", "kernel")
        ),
    ]
    flags = [
        "-std=c11",
        "-D_GNU_SOURCE",
        "-O2",
        "-fPIC",
        "-shared",
        f"-I{HERE}",
        f"-I{SDK}",
        "-DPB_NO_RSEQ",
        "-include",
        "paper_probe.h",
    ]
    subprocess.run(["cc", *flags, "-o", target, *sources, "-lm"], check=True)
    library = ctypes.CDLL(str(target))
    library.paper_now.restype = library.paper_round.restype = library.pb_window_limit.restype = (
        ctypes.c_double
    )
    library.paper_readings.restype = ctypes.c_long
    library.pb_window_limit.argtypes = (ctypes.c_double, ctypes.c_double)
    library.paper_learn.argtypes = (ctypes.c_double, ctypes.POINTER(Found))
    library.paper_holds.argtypes = (ctypes.c_double, ctypes.POINTER(Found))
    counts = ctypes.POINTER(ctypes.c_long)
    library.paper_measure.argtypes = (ctypes.c_double, ctypes.c_long, ctypes.POINTER(Figures))
    library.paper_watch.argtypes = (
        ctypes.POINTER(Found),
        ctypes.c_double,
        ctypes.c_long,
        ctypes.c_double,
        counts,
        counts,
    )
    return library


def numbers(what: Kind | World) -> ctypes.Array[ctypes.c_double]:
    """As the C part takes it."""
    values = astuple(what)
    return (ctypes.c_double * len(values))(*values)


@dataclass(frozen=True)
class Seen:
    """Readings of known truth: how many there were alone and shared, and the share of each that was called so."""

    alone: int
    shared: int
    alone_right: float
    shared_right: float


class Paper:
    """The processor on paper."""

    def __init__(self, library: ctypes.CDLL) -> None:
        """`library`: what build() made."""
        self.library = library

    def start(self, core: Core, seed: int = 1, **world: float) -> None:
        """Begin anew on a core, in its own world with what is named changed."""
        self.core = core
        self.world = replace(core.world, **world)
        self.library.paper_start(numbers(core.kind), numbers(self.world), ctypes.c_uint64(seed))

    def change(self, core: Core | None = None, **world: float) -> None:
        """Another core, or another company, from now on."""
        self.core = core or self.core
        self.world = replace(self.world, **world)
        self.library.paper_change(numbers(self.core.kind), numbers(self.world))

    def learn(self, entries: float = 0) -> tuple[Found, float, int]:
        """pb_window_learn: what it found, seconds of the modelled clock, readings."""
        learnt, began, before = Found(), self.library.paper_now(), self.library.paper_readings()
        self.library.paper_learn(entries, ctypes.byref(learnt))
        return learnt, self.library.paper_now() - began, self.library.paper_readings() - before

    def holds(self, learnt: Found, entries: float = 0) -> bool:
        """pb_window_holds."""
        return bool(self.library.paper_holds(entries, ctypes.byref(learnt)))

    def now(self) -> float:
        """Seconds of the modelled clock."""
        return float(self.library.paper_now())

    def readings(self) -> int:
        """How many were taken."""
        return int(self.library.paper_readings())

    def round(self, filler: str, chain: int, length: int, *, shared: bool = False) -> float:
        """Ticks of a round in steady state."""
        place = FILLERS.index(filler)
        return float(self.library.paper_round(place, chain, length, 2 if shared else 0))

    def watch(self, learnt: Found, count: int = 6000, pause_s: float = 10e-6) -> Seen:
        """Readings of the window that was found, judged by its limit."""
        limit = self.library.pb_window_limit(learnt.alone, learnt.past)
        seen, above = (ctypes.c_long * 4)(), (ctypes.c_long * 4)()
        self.library.paper_watch(ctypes.byref(learnt), limit, count, pause_s, seen, above)
        alone_right = 1 - above[0] / seen[0] if seen[0] else 1.0
        return Seen(seen[0], seen[2], alone_right, above[2] / seen[2] if seen[2] else 1.0)

    def measure(self, cycles: float, samples: int = 300) -> Figures:
        """A calibration by the SDK's gauge, and what it says of a work of `cycles` core cycles."""
        figures = Figures()
        self.library.paper_measure(cycles, samples, ctypes.byref(figures))
        return figures


def learn_in(paper: Paper, core: Core, share: float, prior: float) -> tuple[Found, float, int]:
    """What pb_window_learn finds on a core that is shared for this share of the time."""
    paper.start(core, share=share)
    return paper.learn(core.kind.rob * prior)


def healed(paper: Paper, learnt: Found, prior: float, processes: int = 4) -> Found:
    """What is known after some more processes, each of which checks what it is told and learns where that fails."""
    for share in (COMPANY["at times"],) * processes:
        paper.change(share=share)
        if not (learnt.length and paper.holds(learnt)):
            learnt, *_ = paper.learn(paper.core.kind.rob * prior)
    return learnt


def works(paper: Paper, learnt: Found, share_right: float) -> bool:
    """Does the window tell alone from shared, on a core that is shared at times?"""
    paper.change(share=COMPANY["at times"])
    seen = paper.watch(learnt)
    return bool(learnt.length) and min(seen.alone_right, seen.shared_right) >= share_right
