"""The conversation of the fake runner: the protocol's questions, answered as the script says.

Standard library only, and few modules of it, because tests start hundreds of these.
"""

import os
import sys
import time

from changes import check_changes
from faults import applies, commit, say
from gauge import Gauge
from letters import dumps, loads
from pairs import KINDS, take_pairs
from simulation import SimulatedClock
from toy import Refused, Toy, digest, fold

LINE_LIMIT = 1_048_576
DEFAULT_OPERATIONS = [
    {"algorithm": algorithm, "operation": operation, "contract": contract}
    for algorithm, operations, contracts in (
        ("aes-128-ecb", ("encrypt", "decrypt"), ("stream/1", "message/1", "rekey/1", "setup/1")),
        ("aes-128-cbc", ("encrypt", "decrypt"), ("stream/1", "message/1", "rekey/1")),
        ("aes-128-ctr", ("encrypt", "decrypt"), ("stream/1", "message/1", "rekey/1", "setup/1")),
        ("aes-128-gcm", ("seal", "open"), ("message/1",)),
        ("sha-256", ("digest",), ("oneshot/1", "stream/1")),
        ("hmac-sha-256", ("mac",), ("message/1",)),
    )
    for operation in operations
    for contract in contracts
    if contract != "setup/1" or operation == "encrypt"
]
CHAINED = ("encrypt", "decrypt", "seal", "open", "digest", "squeeze", "mac", "expand", "hash", "sign")
FIELDS = {
    "prepare": {
        "algorithm": str,
        "operation": str,
        "contract": str,
        "size_bytes": int,
        "seed": int,
        "offset": int,
    },
    "check": {"handle": int},
    "calibrate": {"limit_ms": float},
    "measure": {
        "handle": int,
        "samples": int,
        "clean": int,
        "limit_ms": float,
        "calls": int,
        "sample_us": float,
        "contention_floor": float,
        "contention_tolerance": float,
        "clock_tolerance": float,
        "patience": int,
    },
    "watch": {"limit_ms": float},
    "audit": {"handle": int, "seed": int, "calls": int},
    "pairs": {
        "handle": int,
        "seed": int,
        "role": str,
        "first": str,
        "second": str,
        "pairs": int,
        "limit_ms": float,
    },
    "release": {"handle": int},
    "hello": {"protocol": int},
    "quit": {},
}


class Fake:
    """The conversation: handles, the script, and the counters by which faults are timed."""

    def __init__(self, script):
        self.script = script
        self.tier = os.environ.get("PERBYTE_CPU", "full")
        self.start = count_start(script)
        self.simulation = SimulatedClock(script, self.start)
        self.gauge = Gauge(self.simulation)
        self.rows = script.get("operations", DEFAULT_OPERATIONS)
        self.handles = {}
        self.next_handle = 1
        self.matched = {}

    def serve(self):
        """Answer until quit or end of file."""
        self.break_at("start", {})
        while True:
            line = sys.stdin.buffer.readline(LINE_LIMIT + 1)
            if not line:
                break
            while len(line) > LINE_LIMIT and not line.endswith(b"\n"):
                line = b"x" + sys.stdin.buffer.readline(LINE_LIMIT)[-LINE_LIMIT:]
            request, answer = self.answer(line)
            verb = request.get("verb")
            fault = self.break_at(verb, request) or {}
            if fault.get("do") == "refuse":
                answer = refusal(answer["id"], fault.get("code", "library"), fault.get("message", "scripted"))
            if fault.get("do") == "patch":
                answer.update(fault["fields"])
                answer = {key: value for key, value in answer.items() if key not in fault.get("without", [])}
            if fault.get("do") != "text":
                say(dumps(answer).encode() + b"\n")
            if fault.get("do") == "stray":
                say(fault.get("text", "tick").encode() + b"\n")
            if verb == "quit" and answer["ok"] and fault.get("do") != "stay":
                return
        if self.script.get("stubborn"):
            time.sleep(3600)

    def answer(self, line):
        """(request, answer) for one line."""
        try:
            request = loads(line.decode("utf-8"))
            if not isinstance(request, dict) or not is_a(request.get("id"), int):
                raise ValueError
            verb = request["verb"]
            if not isinstance(verb, str):
                raise ValueError
        except (ValueError, KeyError, RecursionError):
            return {}, refusal(0, "malformed", "not a request")
        new = {"watch": self.gauge.modern, "pairs": "leak" in self.script}
        if verb not in FIELDS or not new.get(verb, True):
            return request, refusal(request["id"], "unknown-verb", f"no verb {verb[:40]}")
        for name, kind in FIELDS[verb].items():
            value = request.get(name)
            if not is_a(value, kind) or (kind is not str and name != "handle" and value < 0):
                return request, refusal(request["id"], "malformed", f"{name} is missing or of a wrong type")
        try:
            fields = getattr(self, verb)(request)
        except Refused as reason:
            return request, refusal(request["id"], *reason.args)
        return request, {"id": request["id"], "ok": True, **fields}

    def hello(self, request):
        """Who is there; all of it the script's word."""
        script = self.script
        return {
            "protocol": script.get("protocol", 1),
            "runner": script.get("name", "fake"),
            "sdk": "fake/1",
            "library": script.get("library", "Fake"),
            "library_version": script.get("library_version", "1.0"),
            "license": "Apache-2.0",
            "compiler": f"CPython {sys.version.split()[0]}",
            "flags": "",
            "object": os.path.realpath(__file__),
            "cpu_features": script.get("cpu_features", ""),
            "tier": script.get("tier", self.tier),
            "operations": [
                {
                    "algorithm": row["algorithm"],
                    "operation": row["operation"],
                    "contract": row["contract"],
                    "calls": row.get("calls", "nothing at all"),
                    **({"code_path": row["code_path"][self.tier]} if "code_path" in row else {}),
                }
                for row in self.rows
            ],
        }

    def prepare(self, request):
        """A toy for the row that was asked for."""
        wanted = tuple(request[name] for name in ("algorithm", "operation", "contract"))
        row = next(
            (row for row in self.rows if (row["algorithm"], row["operation"], row["contract"]) == wanted),
            None,
        )
        if row is None:
            raise Refused("unsupported", "not in the script")
        data = None
        if "input_path" in request:
            try:
                with open(request["input_path"], "rb") as file:  # noqa: PTH123 - pathlib would take longer to import than all the rest
                    data = file.read(request["size_bytes"])
            except (OSError, TypeError, ValueError) as error:
                raise Refused("input", str(error)) from None
            if len(data) < request["size_bytes"]:
                raise Refused("input", "the file is too short")
        toy = Toy(row, request["size_bytes"], request["seed"], request["offset"], data)
        handle, self.next_handle = self.next_handle, self.next_handle + 1
        self.handles[handle] = toy
        return {"handle": handle}

    def check(self, request):
        """What a call gives, or a verdict."""
        toy = self.find(request)
        if request.get("round_trip") is True:
            passed = toy.round_trip()
            if passed is None:
                raise Refused("unsupported", "no inverse")
            return {"passed": passed and not self.lies(toy, "round_trip"), "detail": "scripted"}
        if request.get("forgery") is True:
            passed = toy.refuses_forgery()
            if passed is None:
                raise Refused("unsupported", "nothing to forge")
            return {"passed": passed and not self.lies(toy, "forgery"), "detail": "scripted"}
        vector, changes = request.get("vector"), isinstance(request.get("changes"), str)
        if changes and vector is None:
            return check_changes(toy, request, [], lies=self.lies(toy, "forgery"))
        if vector is None and is_a(request.get("calls"), int) and request["calls"] > 0:
            return shown(self.bend(toy, "check", toy.output(request["calls"])))
        if not isinstance(vector, dict):
            raise Refused("malformed", "nothing to check")
        answers = self.script.get("answers", [])
        standing = self.script.get("vectors", "known")
        if standing == "unsupported" or (standing == "known" and not toy.has_real_answers() and not answers):
            raise Refused("unsupported", "a toy knows no standard's answers")
        try:
            if changes:
                return check_changes(toy, request, answers, lies=self.lies(toy, "forgery"))
            return shown(self.bend(toy, "vector", toy.vector(vector, answers)))
        except (ValueError, TypeError):
            raise Refused("malformed", "not hexadecimal") from None

    def calibrate(self, request):
        """The virtual clock's own words."""
        return self.gauge.calibrate(request)

    def watch(self, request):
        """Who else is on the present core."""
        if not self.gauge.calibrated:
            raise Refused("unsupported", "calibrate before watch")
        core, state, ticks = self.gauge.watch(request["limit_ms"])
        return {"core": core, "state": state, "ticks": ticks}

    def measure(self, request):
        """A burst of virtual samples."""
        toy = self.find(request)
        calls, piece_bytes = request["calls"], self.piece_bytes(toy, request)
        if piece_bytes:
            toy, calls = toy.piece(piece_bytes, self.script["pieces"]), 1
        if not calls:
            cost = self.simulation.true_cycles(toy, self.tier)
            calls = max(1, round(request["sample_us"] * 1e-6 * self.simulation.core_hz() / max(cost, 1e-9)))
        begun, spent = self.simulation.now, time.process_time()
        placed, self.simulation.moved = self.simulation.place(toy, request)
        rows, waits = self.gauge.burst(toy, self.tier, calls, request)
        if pace := self.script.get("pace"):
            time.sleep((self.simulation.now - begun) * pace)
        if burn := self.script.get("burn"):
            spent += (self.simulation.now - begun) * burn
            while time.process_time() < spent:
                pass
        answer = self.gauge.columns(rows)
        if self.gauge.cores:
            answer["core"] = [row["core"] for row in rows]
        output = self.bend(toy, "measure", toy.output(calls))
        if piece_bytes:
            answer["piece_bytes"] = piece_bytes
        if placed:
            answer |= {"forked": [len(rows)], "placed": placed}
        if self.script.get("walks", True):
            answer |= {name: request[name] for name in ("walk_bytes", "from_disk") if name in request}
        if (told := request.get("threads")) and self.script.get("threads", True):  # which do all the same
            cores = [int(core) for core in told.split(",")]
            if len(cores) > self.script.get("most_threads", 64):
                raise Refused("library", "thread 1 of 2 gave another output than alone")
            answer = {name: values * len(cores) for name, values in answer.items()}
            answer |= {"core": [core for core in cores for _ in rows], "threaded": [len(rows)] * len(cores)}
        return {"calls": calls, "waits": waits, "digest": digest(output), **answer}

    def audit(self, request):
        """A chain of calls; it takes the CPU time of as many calls where the script has any burnt."""
        toy, calls, spent = self.find(request), request["calls"], time.process_time()
        if not calls:
            raise Refused("malformed", "no calls")
        if toy.operation not in CHAINED or "chained" not in self.script:
            raise Refused("unsupported", "calls of this operation cannot be chained")
        repeat = request.get("repeat") or calls
        before, last = divmod(calls - 1, repeat)
        output, value, forged, refused = toy.chain(request["seed"], last + 1)
        if before:
            _, _, *once = toy.chain(request["seed"], repeat)
            forged, refused = forged + before * once[0], refused + before * once[1]
        cost = self.simulation.true_cycles(toy, self.tier) / self.simulation.core_hz()
        control = request.get("control") is True and "beside" in self.script
        dearer = self.script.get("dearer", {}).get(str(toy.size), self.script["chained"])
        links = self.script.get("beside", 0.0) + (0.0 if control else dearer)
        spent += self.script.get("burn", 0) * links * cost * calls
        while time.process_time() < spent:
            pass
        return {
            "length": len(output),
            "digest": f"{fold(value, self.bend(toy, 'audit', output)):016x}",
            "failures": 0,
            "forged": forged,
            "refused": 0 if self.lies(toy, "accept") else refused,
            "control": control,
            "repeat": request.get("repeat", 0),
        }

    def pairs(self, request):
        """Pairs of calls on two classes of a secret, where the script has any."""
        toy = self.find(request)
        if not request["pairs"]:
            raise Refused("malformed", "no pairs")
        if not {request["first"], request["second"]} <= set(KINDS[request["role"] == "input"]):
            raise Refused("unsupported", "no such class")
        return take_pairs(self.gauge, toy, self.tier, request, self.script["leak"])

    def piece_bytes(self, toy, request):
        """The length of the pieces that are asked for, where the script lets calls be cut; else 0."""
        asked = request.get("piece_bytes", 0)
        return (
            asked if "pieces" in self.script and toy.contract == "stream/1" and 2 * asked <= toy.size else 0
        )

    def release(self, request):
        """Forget a handle."""
        self.find(request)
        del self.handles[request["handle"]]
        return {}

    def quit(self, request):
        """Nothing to say."""
        return {}

    def find(self, request):
        """The toy behind a handle; raises Refused without one."""
        if request["handle"] not in self.handles:
            raise Refused("bad-handle", "no such handle")
        return self.handles[request["handle"]]

    def lies(self, toy, where):
        """Whether the script has this operation lie here."""
        return any(where in lie["in"] and applies(lie, toy, self) for lie in self.script.get("lies", []))

    def bend(self, toy, where, output):
        """The output, with its last byte changed when the script says so."""
        if output and self.lies(toy, where):
            return output[:-1] + bytes([output[-1] ^ 1])
        return output

    def break_at(self, verb, request):
        """Carry out the script's fault that is due now; the fault when the answer is still to be given."""
        for number, fault in enumerate(self.script.get("faults", [])):
            toy = self.handles.get(request.get("handle"))
            if fault["on"] != verb or not applies(fault, toy or request, self):
                continue
            self.matched[number] = self.matched.get(number, 0) + 1
            if fault.get("nth", 1) not in (0, self.matched[number]):
                continue
            if "stderr" in fault:
                os.write(2, fault["stderr"].encode() + b"\n")
            commit(fault)
            return fault
        return None


def shown(output):
    """The fields of the answer to `check`."""
    fields = {"length": len(output), "digest": digest(output), "head": output[:64].hex()}
    return {**fields, "output": output.hex()} if len(output) <= 4096 else fields


def refusal(number, code, message):
    """An answer with `ok: false`."""
    return {"id": number, "ok": False, "error": code, "message": message}


def is_a(value, kind):
    """JSON's idea of types: a bool is no number, an integer is a number too."""
    if isinstance(value, bool):
        return False
    return isinstance(value, (int, float) if kind is float else kind)


def count_start(script):
    """The number of this process among those started from the same script, counted in a file beside it."""
    if "start" in script or "starts_file" not in script:
        return script.get("start", 0)
    descriptor = os.open(script["starts_file"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(descriptor, b".")
    number = os.lseek(descriptor, 0, os.SEEK_CUR) - 1
    os.close(descriptor)
    return number


def read_script():
    """The script of PERBYTE_FAKE_SCRIPT: a path, or the JSON itself; empty without the variable."""
    given = os.environ.get("PERBYTE_FAKE_SCRIPT", "{}")
    if not given.lstrip().startswith("{"):
        with open(given, encoding="utf-8") as file:  # noqa: PTH123 - pathlib would take longer to import than all the rest
            given = file.read()
    return loads(given)
