"""How the fake runner measures: the rules of runners/sdk/c/gauge.c and burst.c on the virtual clock.

Looks before a sample, a change of core where the present one stays shared, a sample's worth of calls untimed after
either, the probes around the sample. A script without a neighbour, cores and the reorder-buffer probe has none of
that but the probes: then a burst is what it always was. Standard library only.
"""

import math

from simulation import FLAGGED_CYCLES, FLAGS
from toy import fnv1a64

COLD_AFTER = 8  # looks that find the core busy
WARMED_UP_TO = 10  # samples that one call lasts
STILL_VALID_TICKS = 20000  # a clock probe, for the sample that follows
LOOKS_WANTED_S = 0.003  # alone on a core, for a calibration
STEP_S = 1e-4  # of a calibration
HOP_US = 50.0  # what a change of core costs
MEASURED = (
    "start",
    "ticks",
    "clock_before",
    "clock_after",
    "contention_before",
    "contention_after",
    "flags",
)


class Gauge:
    """One process's cores, and what it knows about each."""

    def __init__(self, simulation):
        """`simulation` is the clock and the noise."""
        self.simulation = simulation
        beside = simulation.script.get("neighbour", {})
        self.hop_s = beside.get("hop_us", HOP_US) * 1e-6
        self.modern = bool(simulation.two_modes or simulation.neighbours or "cores" in simulation.script)
        self.cores, self.place, self.alone_share = [], 0, []
        self.change_s = 0.0
        self.clock_at = self.clock_ticks = None
        self.calibrated = False
        self.bursts = 0

    def columns(self, rows):
        """The columns of an answer that samples have in common."""
        counted = rows if self.simulation.clock["pmu"] else []
        return {
            **{name: [row[name] for row in rows] for name in MEASURED},
            "cycles": [row["cycles"] for row in counted],
        }

    def use_cores(self, text):
        """Take the cores of a list as Linux writes it; what cannot be read ends it."""
        self.cores, self.place = [], 0
        for part in text.split(","):
            first, _, last = part.partition("-")
            if not first.isdigit() or not (last or first).isdigit():
                break
            self.cores.extend(range(int(first), int(last or first) + 1))
        self.alone_share = [0.5] * len(self.cores)
        self.change_s = 0.0
        self.simulation.core = self.cores[0] if self.cores else 0

    def change_core(self):
        """Go on to the next core; nothing happens where there is one only."""
        if len(self.cores) < 2:
            return
        self.place = (self.place + 1) % len(self.cores)
        self.simulation.core = self.cores[self.place]
        self.simulation.now += self.hop_s
        self.simulation.disturbed_s = math.inf
        self.change_s = self.hop_s

    def note_core(self, alone, seconds):
        """What was seen of the present core; what was seen of others fades."""
        fade = math.exp(-seconds / 0.1)
        for place in range(len(self.cores)):
            here = place == self.place
            goal, slower = (alone, fade) if here else (0.5, fade**0.25)
            self.alone_share[place] = goal + (self.alone_share[place] - goal) * slower

    def stay_s(self):
        """How long to stay on a busy core."""
        following = self.alone_share[(self.place + 1) % len(self.cores)]
        better = (self.alone_share[self.place] + 0.02) / (following + 0.02)
        return self.change_s * min(max(better, 0.5), 50)

    def to_cycles(self):
        """Core cycles per tick."""
        return self.simulation.core_hz() / self.simulation.clock["tick_hz"]

    def limit(self, request):
        """Core cycles of a contention reading up to which the core is quiet."""
        slack = self.simulation.clock["tick_quantum"] * self.to_cycles() if self.modern else 0.0
        return request["contention_floor"] * (1 + request["contention_tolerance"]) + slack

    def wait(self, request):
        """Look until the core is quiet or patience ends; how many looks found it busy."""
        simulation, waits, since = self.simulation, 0, self.simulation.now
        if not request["contention_floor"]:
            return 0
        limit, several = self.limit(request), len(self.cores) > 1
        while waits < request["patience"]:
            waits += self.skip_looks(request["patience"] - waits, since)
            if waits == request["patience"]:
                break
            if self.modern and not simulation.two_modes:
                self.read_clock()
            if simulation.contention_probe() * self.to_cycles() <= limit:
                break
            waits += 1
            if several and simulation.now - since > self.stay_s():
                self.note_core(0.0, simulation.now - since)
                self.change_core()
                since = simulation.now
        if waits and several:
            self.note_core(0.0, simulation.now - since)
        return waits

    def skip_looks(self, most, since):
        """Make the looks that a busy interval surely holds in one go, all but the last; how many they were."""
        simulation = self.simulation
        if not simulation.two_modes or not simulation.neighbours:
            return 0
        state, _, left = simulation.neighbour.at(simulation.now)
        if state != "b":
            return 0
        look_s = simulation.clock["contention_shared"] / simulation.core_hz()
        if len(self.cores) > 1:
            left = min(left, max(0.0, since + self.stay_s() - simulation.now))
        looks = max(0, min(int(left / look_s) - 1, most - 1))
        simulation.now += looks * look_s
        simulation.disturbed_s += looks * look_s
        return looks

    def read_clock(self):
        """A clock probe, kept for the sample that follows at once."""
        self.clock_ticks = self.simulation.clock_probe()
        self.clock_at = self.simulation.now
        return self.clock_ticks

    def clock_before(self):
        """The last clock probe where it is fresh, else another."""
        if self.modern and self.clock_at is not None:
            fresh = (self.simulation.now - self.clock_at) * self.simulation.clock[
                "tick_hz"
            ] < STILL_VALID_TICKS
            if fresh:
                return self.clock_ticks
        return self.read_clock()

    def sample(self, toy, tier, calls, moment):
        """One sample as the numbers of SPEC section 7, in a dict."""
        simulation = self.simulation
        row = {"contention_before": simulation.contention_probe(), "clock_before": self.clock_before()}
        if simulation.two_modes:
            row["contention_before"] = max(row["contention_before"], simulation.contention_probe())
        row["start"] = simulation.ticks()
        flags = 0
        for name, chance in simulation.script.get("flags", {}).items():
            flags |= FLAGS[name] if simulation.uniform() < chance else 0
        row["ticks"], cycles = simulation.work(toy, tier, calls, moment, FLAGGED_CYCLES if flags & 7 else 0)
        row["cycles"] = round(cycles)
        after = simulation.contention_probe() if simulation.two_modes else 0
        row["clock_after"] = self.read_clock()
        row["contention_after"] = max(after, simulation.contention_probe())
        row["flags"] = flags
        row["core"] = simulation.core
        if flags:
            self.clock_at = None
        simulation.taken[id(toy.whole)] = simulation.taken.get(id(toy.whole), 0) + 1
        return row

    def is_clean(self, row, request):
        """The rule by which a burst stops early."""
        quiet = max(row["contention_before"], row["contention_after"]) * self.to_cycles() <= self.limit(
            request
        )
        apart = abs(row["clock_before"] - row["clock_after"])
        slack = self.simulation.clock["tick_quantum"] if self.modern else 0
        steady = apart <= request["clock_tolerance"] * max(row["clock_before"], 1) + slack
        return quiet and steady and not row["flags"]

    def burst(self, toy, tier, calls, request):
        """Samples until there are enough, enough clean ones, or time is up: (rows, waits)."""
        simulation, rows, waits, clean = self.simulation, [], 0, 0
        begun, limit_s = simulation.now, request["limit_ms"] / 1000
        self.bursts += 1
        moment = self.burst_factor(toy)
        call_s = simulation.true_cycles(toy, tier) / simulation.core_hz()
        warm = self.modern and (calls > 1 or call_s < WARMED_UP_TO * request["sample_us"] * 1e-6)
        if warm:
            simulation.work(toy, tier, calls)
            until = simulation.now + request.get("warm_us", 0) * 1e-6
            if self.modern and simulation.now < until:  # no need to count the calls
                simulation.now, simulation.disturbed_s = until, 0.0
            begun = simulation.now
        while True:
            found_busy = self.wait(request)
            waits += found_busy
            while warm and found_busy >= COLD_AFTER and simulation.now - begun <= limit_s:
                simulation.work(toy, tier, calls)
                found_busy = self.wait(request)
                waits += found_busy
            rows.append(self.sample(toy, tier, calls, moment))
            if self.cores:
                self.note_core(1.0, rows[-1]["ticks"] / simulation.clock["tick_hz"])
            clean += self.is_clean(rows[-1], request)
            late = simulation.now - begun >= limit_s
            if len(rows) >= request["samples"] or late or (request["clean"] and clean >= request["clean"]):
                return rows, waits

    def burst_factor(self, toy):
        """What a core has learnt about a loop, relative: drawn for each burst (uniform, of this standard deviation)."""
        spread = toy.row.get("burst_spread", self.simulation.script.get("burst_spread", 0.0))
        if not spread:
            return 1.0
        drawn = self.simulation.drawn(toy, f"/burst/{self.bursts}/{fnv1a64(str(self.bursts).encode())}")
        return 1 + spread * math.sqrt(12) * (drawn - 0.5)

    def calibrate(self, request):
        """The virtual clock's own words. Beside a neighbour the time passes that it takes to be alone for a while."""
        simulation = self.simulation
        names = (
            "cycle_source",
            "reason",
            "tick_hz",
            "tick_quantum",
            "probe_cycles",
            "fixed_ticks",
            "selfcheck",
        )
        answer = {name: simulation.clock[name] for name in names}
        answer["contention_floor"] = simulation.clock.get(
            "contention_floor", simulation.clock["contention_cycles"]
        )
        if self.modern:
            self.use_cores(request.get("cores", ""))
        alone_s = spent_s = 0.0
        begun = simulation.now
        if simulation.neighbours:
            limit_s = request["limit_ms"] / 1000
            patience_s = request.get("patience_ms", 0) / 1000
            while spent_s < limit_s or (
                alone_s < LOOKS_WANTED_S and simulation.now - begun < limit_s + patience_s
            ):
                alone = sum(
                    s for state, s in simulation.neighbour.intervals(simulation.now, STEP_S) if state == "q"
                )
                alone_s, spent_s = alone_s + alone, spent_s + STEP_S
                simulation.now += STEP_S
                if alone < STEP_S / 2:
                    self.change_core()
        if simulation.two_modes:
            answer["contention_probe"] = "reorder-buffer"
            answer["contention_length"] = simulation.clock["contention_length"]
            answer["contention_window"] = f"nops 8 {simulation.clock['contention_length']} 10 0 sure"
            answer["contention_shared"] = simulation.clock["contention_shared"]
            answer["waited_ms"] = (simulation.now - begun) * 1000
            answer["alone"] = alone_s / spent_s if simulation.neighbours else 1.0
            if simulation.neighbours and not alone_s:  # both modes were not seen
                answer["contention_floor"] = request.get("contention_floor", 0.0)
                answer["contention_shared"] = request.get("contention_shared", 0.0)
        self.calibrated = True
        return answer

    def watch(self, limit_ms):
        """Who else was on the core, and for how many ticks: (core, states, ticks); then on to the next core."""
        simulation, seconds, found = self.simulation, limit_ms / 1000, []
        beside = simulation.neighbour
        for state, spent in beside.intervals(simulation.now, seconds) if beside else [("q", seconds)]:
            if found and found[-1][0] == state:
                found[-1][1] += spent
            else:
                found.append([state, spent])
        core = simulation.core
        simulation.now += seconds
        self.change_core()
        ticks = [round(spent * simulation.clock["tick_hz"]) for _, spent in found]
        return core, "".join(state for state, _ in found), ticks
