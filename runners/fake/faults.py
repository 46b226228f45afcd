"""How the fake runner breaks, and for which requests a rule of its script is meant. Standard library only."""

import os
import time


def applies(rule, toy, fake):
    """Whether a lie or fault is meant for this operation, tier and process start."""
    if fake.start not in rule.get("starts", [fake.start]) or fake.tier not in rule.get("cpu", [fake.tier]):
        return False
    if not isinstance(toy, dict):
        given = {
            "size_bytes": toy.size,
            **{name: toy.row[name] for name in ("algorithm", "operation", "contract")},
        }
    else:
        given = toy
    sizes = rule.get("sizes")
    if sizes is not None and given.get("size_bytes") not in sizes:
        return False
    return all(
        rule[name] == given.get(name) for name in ("algorithm", "operation", "contract") if name in rule
    )


def commit(fault):
    """Break as told. What returns from here is followed by an answer, except after `text`."""
    do = fault["do"]
    if do == "crash":
        how = fault.get("how", "SIGSEGV")
        if isinstance(how, int):
            os._exit(how)
        import resource
        import signal

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        number = signal.Signals[how]
        signal.signal(number, signal.SIG_DFL) if number != signal.SIGKILL else None
        os.kill(os.getpid(), number)
        time.sleep(3600)
    if do == "end":
        os._exit(0)
    if do == "close":
        os.close(1)
        time.sleep(3600)
    if do == "hang":
        time.sleep(3600)
    if do == "stop":
        import signal

        os.kill(os.getpid(), signal.SIGSTOP)
    if do == "shout":
        for _ in range(fault.get("mebibytes", 1024)):
            os.write(2, b"x" * (1 << 20))
    if do == "spin":
        while True:
            pass
    if do == "flood":
        while True:
            say(b"x" * 65536)
    if do == "half":
        say(b'{"id": 1, "ok"')
        time.sleep(3600)
    if do == "text":
        say(fault["text"].encode("latin-1") + b"\n")
    if do == "slow":
        time.sleep(fault["seconds"])
    if do == "fork":
        spawn_orphan()


def spawn_orphan():
    """Leave a child behind that holds the pipes open."""
    if os.fork() == 0:
        time.sleep(3600)
        os._exit(0)


def say(data):
    """Write all of it now; a reader that has gone away ends the process."""
    while data:
        try:
            data = data[os.write(1, data) :]
        except BrokenPipeError:
            os._exit(0)
