"""The virtual clock and the noise model of the fake runner: what a sample would show on a machine that is scripted.

Nothing here looks at a real clock. Time passes only by what is measured, so that a script gives the same
figures on every machine and in no time at all. Every draw comes from the script's seed, the number of the
process start, and a counter.
"""

import math

from neighbour import Neighbour
from toy import MASK, fnv1a64, mix

CLOCK = {
    "cycle_source": "probe",
    "reason": "",
    "tick_hz": 2.1e9,
    "core_hz": 2.7e9,
    "tick_quantum": 2,
    "probe_cycles": 6000,
    "contention_cycles": 5000.0,
    "fixed_ticks": 80,
    "selfcheck": {"add": 1.0, "rotate": 1.0},
    "pmu": False,
    "frequency": [],
}
NOISE = {"sample": 0.0, "probe": 0.0}
REORDER_BUFFER = {"contention_cycles": 680.0, "contention_length": 350}
CONTRAST = 1.7  # of the two modes of the reorder-buffer probe
SLOWED = 1.4  # calls beside a neighbour
FLAGS = {"switched": 1, "migrated": 2, "faulted": 4, "collected": 8, "failed_call": 16}
FLAGGED_CYCLES = 20000


class SimulatedClock:
    """The state of one process: virtual seconds since its start, and what noise there is."""

    def __init__(self, script, start):
        """`start` is the number of this process among those of its script, from 0."""
        self.script = script
        given = script.get("clock", {})
        self.two_modes = given.get("contention_probe") == "reorder-buffer"
        self.clock = {**CLOCK, **(REORDER_BUFFER if self.two_modes else {}), **given}
        self.clock.setdefault("contention_shared", CONTRAST * self.clock["contention_cycles"])
        self.noise = {**NOISE, **script.get("noise", {})}
        self.start = start
        self.now = 0.0
        self.draws = 0
        self.seed = mix(script.get("seed", 1) * 0x9E3779B97F4A7C15 + start * 0xD1B54A32D192ED03)
        self.taken = {}
        self.core = 0
        self.disturbed_s = 0.0
        self.moved = 1.0
        beside = script.get("neighbour", {})
        self.slowed = beside.get("slowed", SLOWED)
        self.cold = {"relative": 0.0, "us": 100.0, **beside.get("cold", {})}
        offset = beside.get("offset_s", 1e4 * mix(self.seed ^ 0x6E656967) / (MASK + 1))
        self.neighbours = [Neighbour(trace, offset) for trace in beside.get("cores", [])]

    @property
    def neighbour(self):
        """Who else is on the present core, or None."""
        return self.neighbours[self.core % len(self.neighbours)] if self.neighbours else None

    def uniform(self):
        """The next draw from [0, 1)."""
        self.draws += 1
        return mix(self.seed + self.draws * 0x9E3779B97F4A7C15) / (MASK + 1)

    def normal(self):
        """The next draw from the standard normal distribution (Box and Muller 1958)."""
        return math.sqrt(-2 * math.log(1 - self.uniform())) * math.cos(2 * math.pi * self.uniform())

    def scatter(self, deviation):
        """A normal draw of this standard deviation; 0 at once where there is none, with as many numbers drawn."""
        if not deviation:
            self.draws += 2
            return 0.0
        return deviation * self.normal()

    def core_hz(self):
        """The core's clock now: the last step of `frequency` ([seconds, hertz] pairs) that was reached."""
        hertz = self.clock["core_hz"]
        for since, value in self.clock["frequency"]:
            if self.now >= since:
                hertz = value
        return hertz

    def contention(self):
        """By what factor a neighbour stretches things now; 1 on a quiet core.

        `contention` is a list: {from_s, to_s, factor} for one stretch, {share, burst_s, factor} for bursts at
        random that fill `share` of the time. `hidden: true` keeps it from the contention probe.
        """
        seen = hidden = 1.0
        for number, spell in enumerate(self.script.get("contention", [])):
            if "share" in spell:
                slot = int(self.now / spell.get("burst_s", 0.001))
                drawn = mix(self.seed ^ mix(slot * 31 + number)) / (MASK + 1)
                there = drawn < spell["share"]
            else:
                there = spell.get("from_s", 0.0) <= self.now < spell.get("to_s", math.inf)
            if there:
                hidden *= spell["factor"]
                seen *= 1.0 if spell.get("hidden") else spell["factor"]
        return seen, hidden

    def elapse(self, cycles, slowed=1.0):
        """Work off `cycles` core cycles, `slowed` times as many beside a neighbour; the ticks that takes."""
        seconds = cycles / self.core_hz()
        if self.neighbours:  # the counter's steps meet the work at any phase
            before = self.ticks()
            self.now, disturbed = self.neighbour.end_of_work(self.now, seconds, slowed)
            self.disturbed_s += disturbed
            return self.ticks() - before
        self.now += seconds
        quantum = self.clock["tick_quantum"]
        return max(0, round(seconds * self.clock["tick_hz"] / quantum) * quantum)

    def clock_probe(self):
        """Ticks of the clock probe: it knows the frequency and is blind to contention."""
        return self.elapse(self.clock["probe_cycles"] * (1 + self.scatter(self.noise["probe"])))

    def contention_probe(self):
        """Ticks of the contention probe. The reorder-buffer probe has two modes; the front-end probe has any value."""
        cycles, seen = self.clock["contention_cycles"], self.contention()[0]
        contrast = self.clock["contention_shared"] / cycles
        if self.two_modes:
            seen = contrast if seen > 1 else 1.0
        stretched = cycles * seen * (1 + abs(self.scatter(self.noise["probe"])))
        return self.elapse(stretched, contrast if self.two_modes else None)

    def ticks(self):
        """The tick counter."""
        quantum = self.clock["tick_quantum"]
        return round(self.now * self.clock["tick_hz"] / quantum) * quantum

    def true_cycles(self, toy, tier):
        """Core cycles per call as the script says, without noise, layout or trend."""
        row = toy.row
        cost = row.get("per_call", 100.0) + row.get("per_byte", 1.0) * toy.size
        return cost * row.get("tiers", {}).get(tier, self.script.get("tiers", {}).get(tier, 1.0))

    def drawn(self, toy, what):
        """A draw from [0, 1) that belongs to this process and prepared operation."""
        name = f"{toy.row['algorithm']}/{toy.operation}/{toy.contract}@{toy.whole.size}+{toy.offset}{what}"
        return mix(self.seed ^ fnv1a64(name.encode())) / (MASK + 1)

    def layout_factor(self, toy, tier):
        """The factor of this process's layout: drawn once per start, operation, size and buffer offset.

        `modes` adds that so many processes of a hundred need some cycles more per call, as real cells do.
        """
        factor = 1.0
        if spread := toy.row.get("layout", self.script.get("layout", 0.0)):
            factor += spread * (2 * self.drawn(toy, "") - 1)
        if (modes := toy.row.get("modes")) and self.drawn(toy, "/mode") < modes["share"]:
            factor += modes["cycles"] / self.true_cycles(toy, tier)
        return factor

    def place(self, toy, request):
        """Where the calls of a burst lie, and the factor that this costs; nowhere and 1 without any in the script."""
        placed = toy.row.get("placed", self.script.get("placed"))
        if placed is None or not request.get("forks") or "places" not in request:
            return [], 1.0
        moved = [int(part) for part in request["places"].split(",")]
        pages = [(1 << 34) + 4096 * (mix(self.seed ^ which) % (1 << 20)) for which in range(6)]
        base = 16 * (mix(self.seed ^ 77) % 256)  # the system places the stack on 16 bytes, the rest on pages
        at = [page + by for page, by in zip(pages, [base + moved[0], *moved[1:], 0, 0x40], strict=True)]
        if placed.get("near"):
            at[5] = at[4] + (1 << 20)
        else:
            at[5] += 1 << 40
        known = dict(zip(("stack", "state", "input", "output"), at, strict=False))
        window = (known.get(placed.get("factor"), -1)) % 4096
        inside = placed.get("begin", 0) <= window < placed.get("end", 0) and "factor" in placed
        return at, 1 + placed.get("more", 0.0) * inside

    def work(self, toy, tier, calls, moment=1.0, extra=0.0):
        """Make calls; (ticks, core cycles) of a sample. `moment`: this burst's factor; `extra` cycles on top."""
        key = id(toy.whole)
        trend = toy.row.get("trend", self.script.get("trend"))
        drift = moment
        if trend:
            drift += trend["relative"] * math.exp(-self.taken.get(key, 0) / trend.get("samples", 100.0))
        if self.disturbed_s and self.cold["relative"]:
            drift += self.cold["relative"] * min(1.0, self.disturbed_s * 1e6 / self.cold["us"])
        self.disturbed_s = 0.0
        drift *= self.script.get("cores", {}).get(str(self.core), 1.0)
        cost = (
            self.true_cycles(toy, tier)
            * self.layout_factor(toy, tier)
            * self.moved
            * drift
            * calls
            * self.contention()[1]
        )
        cost *= 1 + self.scatter(toy.row.get("noise", self.noise["sample"]))
        if share := toy.row.get(
            "draws"
        ):  # so much of a call's cost is random: exponential, and the mean stays
            cost *= 1 - share - share * math.log(1 - self.uniform())
        cost += extra + self.clock["fixed_ticks"] * self.core_hz() / self.clock["tick_hz"]
        slowed = toy.row.get("slowed", self.slowed)
        return self.elapse(cost, None if slowed == "front-end" else slowed), cost
