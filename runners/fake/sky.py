"""The virtual clock and weather of the fake runner: what a sample would show on a machine that is scripted.

Nothing here looks at a real clock. Time passes only by what is measured, so that a script gives the same
figures on every machine and in no time at all. Every draw comes from the script's seed, the number of the
process start, and a counter.
"""

import math

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
FLAGS = {"switched": 1, "migrated": 2, "faulted": 4, "collected": 8, "failed_call": 16}
FLAGGED_CYCLES = 20000


class Sky:
    """The state of one process: virtual seconds since its start, and what weather there is."""

    def __init__(self, script, start):
        """`start` is the number of this process among those of its script, from 0."""
        self.script = script
        self.clock = {**CLOCK, **script.get("clock", {})}
        self.noise = {**NOISE, **script.get("noise", {})}
        self.start = start
        self.now = 0.0
        self.draws = 0
        self.seed = mix(script.get("seed", 1) * 0x9E3779B97F4A7C15 + start * 0xD1B54A32D192ED03)
        self.taken = {}

    def uniform(self):
        """The next draw from [0, 1)."""
        self.draws += 1
        return mix(self.seed + self.draws * 0x9E3779B97F4A7C15) / (MASK + 1)

    def normal(self):
        """The next draw from the standard normal distribution (Box and Muller 1958)."""
        return math.sqrt(-2 * math.log(1 - self.uniform())) * math.cos(2 * math.pi * self.uniform())

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

    def elapse(self, cycles, quantised=True):
        """Let `cycles` core cycles pass; the ticks they take."""
        seconds = cycles / self.core_hz()
        self.now += seconds
        quantum = self.clock["tick_quantum"] if quantised else 1
        return max(0, round(seconds * self.clock["tick_hz"] / quantum) * quantum)

    def clock_probe(self):
        """Ticks of the clock probe: it knows the frequency and is blind to contention."""
        return self.elapse(self.clock["probe_cycles"] * (1 + self.noise["probe"] * self.normal()))

    def contention_probe(self):
        """Ticks of the contention probe."""
        stretched = self.clock["contention_cycles"] * self.contention()[0]
        return self.elapse(stretched * (1 + self.noise["probe"] * abs(self.normal())))

    def ticks(self):
        """The tick counter."""
        quantum = self.clock["tick_quantum"]
        return round(self.now * self.clock["tick_hz"] / quantum) * quantum

    def true_cycles(self, toy, tier):
        """Core cycles per call as the script says, without noise, luck or trend."""
        row = toy.row
        cost = row.get("per_call", 100.0) + row.get("per_byte", 1.0) * toy.size
        return cost * row.get("tiers", {}).get(tier, self.script.get("tiers", {}).get(tier, 1.0))

    def luck(self, toy):
        """The factor of this process's layout: drawn once per start, operation, size and buffer offset."""
        spread = toy.row.get("layout", self.script.get("layout", 0.0))
        if not spread:
            return 1.0
        what = f"{toy.row['algorithm']}/{toy.operation}/{toy.contract}@{toy.size}+{toy.offset}"
        return 1 + spread * (2 * mix(self.seed ^ fnv1a64(what.encode())) / (MASK + 1) - 1)

    def sample(self, toy, tier, calls, request):
        """One sample as the nine numbers of SPEC section 7, in a dict; `waits` beside them."""
        key = id(toy)
        waits = 0
        floor = request["contention_floor"] * (1 + request["contention_tolerance"])
        while request["patience"] > waits and floor:
            probed = self.contention_probe() * self.core_hz() / self.clock["tick_hz"]
            if probed <= floor:
                break
            waits += 1
        row = {"contention_before": self.contention_probe(), "clock_before": self.clock_probe()}
        row["start"] = self.ticks()
        flags = 0
        for name, chance in self.script.get("flags", {}).items():
            flags |= FLAGS[name] if self.uniform() < chance else 0
        trend = toy.row.get("trend", self.script.get("trend"))
        drift = 1.0
        if trend:
            done = self.taken.get(key, 0)
            drift += trend["relative"] * math.exp(-done / trend.get("samples", 100.0))
        cost = self.true_cycles(toy, tier) * self.luck(toy) * drift * calls * self.contention()[1]
        cost *= 1 + toy.row.get("noise", self.noise["sample"]) * self.normal()
        cost += FLAGGED_CYCLES if flags & 7 else 0
        fixed = self.clock["fixed_ticks"] * self.core_hz() / self.clock["tick_hz"]
        row["ticks"] = self.elapse(cost + fixed)
        row["cycles"] = round(cost + fixed)
        row["clock_after"] = self.clock_probe()
        row["contention_after"] = self.contention_probe()
        row["flags"] = flags
        self.taken[key] = self.taken.get(key, 0) + 1
        return row, waits

    def is_clean(self, row, request):
        """The rule by which a burst stops early."""
        to_cycles = self.core_hz() / self.clock["tick_hz"]
        floor = request["contention_floor"] * (1 + request["contention_tolerance"])
        quiet = max(row["contention_before"], row["contention_after"]) * to_cycles <= floor
        apart = abs(row["clock_before"] - row["clock_after"]) / max(row["clock_before"], 1)
        return quiet and apart <= request["clock_tolerance"] and not row["flags"]

    def calibration(self):
        """The fields of the answer to `calibrate`."""
        names = (
            "cycle_source",
            "reason",
            "tick_hz",
            "tick_quantum",
            "probe_cycles",
            "fixed_ticks",
            "selfcheck",
        )
        answer = {name: self.clock[name] for name in names}
        answer["contention_floor"] = self.clock.get("contention_floor", self.clock["contention_cycles"])
        return answer
