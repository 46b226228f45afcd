"""Plays the runner's side of a broken transcript: reads requests, writes `<` lines, breaks at `!`.

Run as `python player.py FILE`. A request that is not the one in the transcript ends it with status 99, so that
a test cannot mistake its own error for the fault. Standard library only.
"""

import json
import os
import signal
import sys
import time


def main():
    with open(sys.argv[1], encoding="utf-8") as file:  # noqa: PTH123 - pathlib is slow to import
        steps = [(line[:1], line[2:].rstrip("\n")) for line in file if line[:1] in "><!"]
    unwritten = ""
    for mark, text in [*steps, ("", "")]:
        if mark == "<":
            unwritten += text + "\n"
            continue
        os.write(1, unwritten.encode())
        unwritten = ""
        if mark == ">":
            line = sys.stdin.readline()
            if not line:
                return
            if json.loads(line) != json.loads(text):
                sys.stderr.write(f"expected {text}\ngot {line}")
                sys.exit(99)
        if mark == "!":
            commit(*text.split())
    time.sleep(3600)


def commit(fault, how="0"):
    if fault == "crashed" and how.isdigit():
        os._exit(int(how))
    if fault == "crashed":
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.kill(os.getpid(), signal.Signals[how])
    if fault == "ended":
        os._exit(0)
    while fault == "flooded":
        os.write(1, b"x" * 65536)


main()
