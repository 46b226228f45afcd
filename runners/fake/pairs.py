"""How the fake runner answers `pairs`: samples of the virtual clock, and a second class that costs what a script says.

The script's `leak` has `cycles` (the second class takes so many more), `spread` (up to so many more or less, evenly),
`role` (in this secret alone) and `null` (true: the harness leaks, and the second class against itself differs as well).
`value` (`[byte, value]`): only where a random secret of the second class has this value there. Standard library only.
"""

from toy import stream

KINDS = (
    ("fixed", "random", "zeros", "sparse"),
    ("genuine", "changed", "early", "late"),
)  # the latter of inputs
MOST_PAIRS = 2000
BASIS = 0xCBF29CE484222325  # of FNV-1a


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
        letters = 2 * str(request["only"]) if "only" in request else letters
        for row, letter in zip(two, letters, strict=True):
            more = leak.get("cycles", 0) + leak.get("spread", 0) * (2 * simulation.uniform() - 1)
            number = len(rows) + (row is two[1])
            hit = not leak.get("value") or has_value(toy, request, number, *leak["value"])
            row["ticks"] += round(more * per_cycle) if here and hit and letter == "1" else 0
        rows += two
        order += letters
    return {**gauge.columns(rows), "order": order, "waits": waits, "failures": [0, 0], "afresh": False}


def has_value(toy, request, number, byte, value):
    """True where the random secret of the second class has `value` in `byte` in sample `number` (SPEC section 14)."""
    length = toy.key_bytes if request["role"] == "key" else toy.size
    begun = BASIS ^ request["seed"]
    for unit in number.to_bytes(8, "little") + (1).to_bytes(8, "little"):
        begun = ((begun ^ unit) * 0x100000001B3) & (2**64 - 1)
    drawn = int.from_bytes(stream(begun, "leak", 8), "little")
    return request["second"] == "random" and stream(drawn, "leak/random", length)[byte] == value
