"""The runner of docs/runner-in-any-language.md, with lies: `liar.py BASE LIE`. BASE is that runner's file.

Each lie is a few lines that take the place of the honest ones. They take real time, so that the audit from outside has
something to see.
"""

import hashlib
import os
import sys
import threading
import time

BASE, LIE = sys.argv[1:3]
with open(BASE, encoding="utf-8") as file:  # noqa: PTH123 - a runner of few imports
    honest = {"__name__": "honest"}
    exec(compile(file.read().removesuffix("main()\n"), BASE, "exec"), honest)
hello, calibrate, measure, audit, take = (
    honest[n] for n in ("hello", "calibrate", "measure", "audit", "take")
)
honest_take = take
now, cache, todo = time.perf_counter_ns, {}, []


def answering(**fields):
    """An answer with some fields replaced; functions get the honest value."""

    def change(answer):
        return answer | {k: v(answer[k]) if callable(v) else v for k, v in fields.items()}

    return change


def scaled(factor):
    """Readings times a factor."""
    return lambda values: [round(value * factor) for value in values]


def timed(work, after=lambda data, calls: None):
    """A sample of other work than the calls; `after` is done when the clock has stopped."""

    def sample(data, calls):
        start = now()
        work(data, calls)
        ticks = max(1, now() - start)
        after(data, calls)
        return start, ticks, 0, hashlib.sha256(data).digest()

    return sample


def full(data, calls):
    """The honest work."""
    for _ in range(calls):
        hashlib.sha256(data).digest()


def half(data, calls):
    """Half of each call."""
    for _ in range(calls):
        hashlib.sha256(data[: len(data) // 2]).digest()


def cached(data, calls):
    """The answer of the last time."""
    for _ in range(calls):
        cache.setdefault(data[:64], None) or cache.__setitem__(data[:64], hashlib.sha256(data).digest())


def short_ones(data, calls):
    """The answers to short inputs, some hundred of them."""
    for _ in range(calls):
        if len(data) > 1024:
            hashlib.sha256(data).digest()
        elif data not in cache:
            len(cache) > 256 and cache.clear()
            cache[bytes(data)] = hashlib.sha256(data).digest()


def ring(data, calls):
    """A ring of answers."""
    for turn in range(calls):
        if (turn % 16, len(data)) not in cache:
            cache[turn % 16, len(data)] = hashlib.sha256(data).digest()


def threaded(data, calls):
    """Half of the calls in another thread; hashlib lets both run."""
    other = threading.Thread(target=full, args=(data, calls - calls // 2))
    other.start()
    full(data, calls // 2)
    other.join()


def forked(data, calls):
    """The calls in another process, which is waited for."""
    if pid := os.fork():
        os.waitpid(pid, 0)
    else:
        full(data, calls)
        os._exit(0)


def twice(data, calls):
    """Twice as many calls as were asked for."""
    full(data, 2 * calls)


def working():
    """A thread that waits for work."""
    while not asked.acquire() or full(*todo.pop()) or done.release() or True:
        pass


asked, done = threading.Semaphore(0), threading.Semaphore(0)


def pooled(data, calls):
    """Half of the calls in a thread that stays."""
    if not cache:
        cache["thread"] = threading.Thread(target=working, daemon=True).start()
    todo.append((data, calls - calls // 2))
    asked.release()
    full(data, calls // 2)
    done.acquire()


def split(data, calls):
    """Each call split over two threads."""
    pieces = data[: len(data) // 2], data[len(data) // 2 :]
    for _ in range(calls):
        other = threading.Thread(target=full, args=(pieces[1], 1))
        other.start()
        full(pieces[0], 1)
        other.join()


def serving(data, calls, disowned=False):
    """The calls in a process that stays, which is asked over pipes; `disowned`: its parent has left it."""
    if not cache:
        to, fro = os.pipe(), os.pipe()
        if os.fork() == 0:
            if not disowned or os.fork() == 0:
                os.close(to[1])
                os.close(0)
                while line := os.read(to[0], 64):
                    full(data, int(line))
                    os.write(fro[1], b"x")
            os._exit(0)
        cache["pipes"] = to[1], fro[0]
        disowned and os.wait()
    os.write(cache["pipes"][0], str(calls).encode())
    os.read(cache["pipes"][1], 1)


def hoisted(data, calls):
    """A pure call, hoisted out of the loop."""
    hashlib.sha256(data).digest()


def two_in_three(data, calls):
    """Two calls of three."""
    full(data, (2 * calls + 2) // 3)


def overhead(data, calls):
    """All of the work, less 2.3 us that are called loop overhead."""
    start = now()
    full(data, calls)
    ticks = now() - start
    return start, max(1, ticks - 2300), 0, hashlib.sha256(data).digest()


def dear_control(request, handles):
    """Control chains that take as long as the calls would, so that nothing seems to be left for these."""
    if request.get("control"):
        audit(request | {"control": False}, handles)
    return audit(request, handles)


def when_calls_are_one(request, handles):
    """Ticks halved where a sample holds one call."""
    answer = measure(request, handles)
    return answer | ({"ticks": scaled(0.5)(answer["ticks"])} if answer["calls"] == 1 else {})


def in_most_samples(request, handles):
    """Ticks a third less in seven samples of ten."""
    answer = measure(request, handles)
    return answer | {"ticks": [round(t * (1, 0.66)[i % 10 < 7]) for i, t in enumerate(answer["ticks"])]}


def when_asked_much(shortened):
    """Honest to questions for few samples, as the audit's are."""

    def measured(request, handles):
        honest["take"] = honest_take if request["samples"] <= 3 else timed(shortened)
        return measure(request, handles)

    return {"measure": measured}


def flagging(request, handles):
    """Every second sample cut short, and the others called disturbed."""
    answer = measure(request, handles)
    middle = sorted(answer["ticks"])[len(answer["ticks"]) // 2]
    return answer | {"flags": [int(ticks > middle) for ticks in answer["ticks"]]}


def wrong_sometimes(request, handles):
    """One call of a thousand is wrong while audited."""
    answer = audit(request, handles)
    wrong = int(answer["digest"], 16) % 1000 < request["calls"]
    return answer | {"digest": f"{int(answer['digest'], 16) ^ wrong:016x}"}


def wrong_beyond(request, handles):
    """Wrong on long data."""
    long = len(handles[request["handle"]]) > 1 << 20
    return audit(request, handles) | ({"digest": "0" * 16} if long else {})


def in_short_chains(request, handles):
    """Honest in chains of few links, whose results are compared, and an eighth of the data in longer ones."""
    data = handles[request["handle"]]
    if request["calls"] <= 8:
        return audit(request, handles)
    handles[request["handle"]] = data[: len(data) // 8]
    answer = audit(request, handles)
    handles[request["handle"]] = data
    return answer


def burn():
    """Work for nobody, in the background."""
    threading.Thread(target=lambda: [hashlib.sha256(b"x" * 10**6) for _ in range(10**9)], daemon=True).start()


def stacked(request, handles):
    """Ticks 4 % too few on top of all else."""
    return answering(ticks=scaled(0.96))(measure(request, handles))


def clocked(rate, cycles=None):
    """A clock probe of its own: the core runs at 3.5 GHz, or `rate` times that, by what it says."""

    def calibrated(request, handles):
        answer = calibrate(request, handles)
        return answer | {"cycle_source": "probe" if cycles is None else "pmu", "probe_cycles": 12000.0}

    def measured(request, handles):
        answer = measure(request, handles)
        probe = [round(12000 / 3.5 / rate)] * len(answer["ticks"])
        answer |= {"clock_before": probe, "clock_after": probe}
        return answer | ({"cycles": [round(t * 3.5 * cycles) for t in answer["ticks"]]} if cycles else {})

    return {"calibrate": calibrated, "measure": measured}


TAKES = {
    "cut-short": timed(half),
    "nothing-at-all": timed(lambda data, calls: None),
    "cache-of-one": timed(cached),
    "cache-of-a-ring": timed(ring),
    "cache-of-short-inputs": timed(short_ones),
    "put-off": timed(lambda data, calls: None, full),
    "put-off-to-the-next": timed(
        lambda data, calls: [full(*call) for call in todo[-2:-1]], lambda *call: todo.append(call)
    ),
    "half-the-calls": timed(lambda data, calls: full(data, (calls + 1) // 2)),
    "one-sample-in-two": lambda data, calls: (timed(full) if now() // 1000 % 2 else timed(half))(data, calls),
    "some-processes": lambda data, calls: (timed(half) if os.getpid() % 5 < 3 else timed(full))(data, calls),
    "two-threads": timed(threaded),
    "another-process": timed(forked),
    "thread-pool": timed(pooled),
    "call-split-over-two": timed(split),
    "process-that-stays": timed(serving),
    "disowned-process": timed(lambda data, calls: serving(data, calls, disowned=True)),
    "twice-the-calls": timed(twice),
    "hoisted": timed(hoisted),
    "two-in-three": timed(two_in_three),
    "loop-overhead-subtracted": overhead,
    "seven-tenths": timed(lambda data, calls: full(data[: len(data) * 7 // 10], calls)),
    "four-fifths": timed(lambda data, calls: full(data[: len(data) * 4 // 5], calls)),
    "honest-when-long": lambda data, calls: (timed(half) if calls < 6 else timed(full))(data, calls),
}
MEASURED = {
    "ticks-halved": answering(ticks=scaled(0.5)),
    "ticks-nine-tenths": answering(ticks=scaled(0.85)),
    "ticks-less-four-in-a-hundred": answering(ticks=scaled(0.96)),
    "ticks-of-microseconds": answering(ticks=scaled(0.001)),
    "ticks-lower-as-it-goes-on": lambda answer: (
        answer
        | {"ticks": [round(t * (1 - 0.4 * i / len(answer["ticks"]))) for i, t in enumerate(answer["ticks"])]}
    ),
    "ticks-of-the-least": lambda answer: (
        answer | {"ticks": [min(answer["ticks"]) * 4 // 5] * len(answer["ticks"])}
    ),
    "ticks-doubled": answering(ticks=scaled(2)),
    "ticks-of-one": answering(ticks=lambda values: [1] * len(values)),
    "no-tick": answering(ticks=lambda values: [0] * len(values)),
    "calls-of-the-moon": answering(calls=10**8),
    "ticks-without-end": answering(ticks=lambda values: [2**62] * len(values)),
}
CALIBRATED = {
    "slow-clock": answering(tick_hz=2e9),
    "fast-clock": answering(tick_hz=5e8),
    "fixed-cost": answering(fixed_ticks=5000),
    "small-fixed-cost": answering(fixed_ticks=2300),
    "fixed-cost-beyond-a-call": answering(fixed_ticks=50000),
    "absurd-rate": answering(tick_hz=1e300),
    "less-than-no-cost": answering(fixed_ticks=-5000),
}
OTHERS = {
    "honest": {},
    "honest-too": {"hello": lambda request, handles: hello(request, handles) | {"library": "another"}},
    "honest-when-audited": when_asked_much(half),
    "stacked-small": {
        "take": timed(lambda data, calls: full(data[: len(data) * 9 // 10], max(1, calls * 9 // 10))),
        "measure": stacked,
        "calibrate": lambda request, handles: calibrate(request, handles) | {"fixed_ticks": 900},
    },
    "stacked-large": {
        "take": timed(lambda data, calls: full(data[: len(data) * 4 // 5], max(1, calls * 4 // 5))),
        "measure": stacked,
    },
    "nearly-honest": when_asked_much(lambda data, calls: full(data[: len(data) * 9 // 10], calls)),
    "flags-the-honest-samples": {"measure": flagging, "take": TAKES["one-sample-in-two"]},
    "tier-not-taken": {
        "hello": lambda request, handles: hello(request, handles) | {"tier": os.environ["PERBYTE_CPU"]}
    },
    "clock-and-probes-halved": clocked(1.0) | {"half": True},
    "probes-doubled": clocked(0.5),
    "probes-halved": clocked(2.0),
    "cycles-invented": clocked(1.0, cycles=0.4),
    "ticks-halved-where-calls-are-one": {"measure": when_calls_are_one},
    "ticks-less-in-most-samples": {"measure": in_most_samples},
    "hoisted-with-a-dear-control": {"take": timed(hoisted), "audit": dear_control},
    "half-with-a-dear-control": {"take": TAKES["half-the-calls"], "audit": dear_control},
    "honest-in-short-chains": {
        "take": timed(lambda data, calls: full(data[: len(data) // 8], calls)),
        "audit": in_short_chains,
    },
    "half-not-audited": {
        "take": TAKES["cut-short"],
        "NEEDED": {k: v for k, v in honest["NEEDED"].items() if k != "audit"},
    },
    "wrong-sometimes": {"audit": wrong_sometimes},
    "wrong-beyond-a-mebibyte": {"audit": wrong_beyond},
    "wrong-audit": {"audit": lambda request, handles: audit(request, handles) | {"digest": "0" * 16}},
    "audit-unsupported": {"NEEDED": {k: v for k, v in honest["NEEDED"].items() if k != "audit"}},
    "afresh": {"audit": lambda request, handles: audit(request, handles) | {"afresh": True}},
    "failing-audit": {"audit": lambda request, handles: audit(request, handles) | {"failures": 3}},
    "device": {"hello": lambda request, handles: hello(request, handles) | {"object": "/dev/zero"}},
    "another-each-time": {
        "hello": lambda request, handles: hello(request, handles) | {"library_version": str(now())}
    },
    "works-unasked": {"burn": True},
}
if LIE in TAKES:
    honest["take"] = TAKES[LIE]
elif LIE in MEASURED:
    honest["measure"] = lambda request, handles: MEASURED[LIE](measure(request, handles))
elif LIE in CALIBRATED:
    honest["calibrate"] = lambda request, handles: CALIBRATED[LIE](calibrate(request, handles))
else:
    honest.update(OTHERS[LIE])
    if OTHERS[LIE].get("half"):
        inner = honest["measure"]
        halved = answering(**dict.fromkeys(("ticks", "clock_before", "clock_after"), scaled(0.5)))
        honest["measure"] = lambda request, handles: halved(inner(request, handles))
    if OTHERS[LIE].get("burn"):
        burn()
if __name__ == "__main__":
    honest["main"]()
