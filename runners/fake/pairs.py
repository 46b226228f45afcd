"""How the fake runner answers `pairs`: samples of the virtual clock, and a second class that costs what a script says.

The script's `leak` has `cycles` (the second class takes so many more), `spread` (up to so many more or less, evenly),
`role` (in this secret alone) and `null` (true: the harness leaks, and the second class against itself differs as well).
Standard library only.
"""

KINDS = (
    ("fixed", "random", "zeros", "sparse"),
    ("genuine", "changed", "early", "late"),
)  # the latter of inputs
MOST_PAIRS = 2000


def take_pairs(gauge, toy, tier, request, leak):
    """The fields of the answer; classes follow each other in an order drawn for each pair."""
    simulation = gauge.simulation
    asked = {
        "samples": 2,
        "clean": 0,
        "sample_us": 50,
        "contention_floor": 0,
        "contention_tolerance": 0.01,
        "clock_tolerance": 0.005,
        "patience": 0,
        **request,
        "limit_ms": 1e9,
    }
    same = request["first"] == request["second"]
    here = leak.get("role", request["role"]) == request["role"] and (not same or leak.get("null"))
    per_cycle = simulation.clock["tick_hz"] / simulation.core_hz()
    rows, order, begun, waits = [], "", simulation.now, 0
    for pair in range(min(request["pairs"], MOST_PAIRS)):
        if pair and (simulation.now - begun) * 1000 >= request["limit_ms"]:
            break
        two, waited = gauge.burst(toy, tier, 1, asked)
        waits += waited
        letters = "01" if simulation.uniform() < 0.5 else "10"
        for row, letter in zip(two, letters, strict=True):
            more = leak.get("cycles", 0) + leak.get("spread", 0) * (2 * simulation.uniform() - 1)
            row["ticks"] += round(more * per_cycle) if here and letter == "1" else 0
        rows += two
        order += letters
    names = (
        "start",
        "ticks",
        "clock_before",
        "clock_after",
        "contention_before",
        "contention_after",
        "flags",
    )
    answer = {name: [row[name] for row in rows] for name in names}
    answer["cycles"] = [row["cycles"] for row in rows] if simulation.clock["pmu"] else []
    return {**answer, "order": order, "waits": waits, "failures": [0, 0], "afresh": False}
