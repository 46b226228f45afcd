"""A machine's profile from what its system said: boot messages of FreeBSD and Linux, /proc/cpuinfo, lscpu.

Each rule takes one fact from one kind of line; lines that no rule knows are passed over, and a fact that was told
twice keeps its first value. Nothing is looked up or guessed from a model's name but the clock that the name states.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from perbyte.model import Machine

_NUMBER = r"(\d+(?:\.\d+)?)"
_MOST = 2**62  # of any count: it is stored as a 64-bit number
_STAMP = re.compile(r"^\s*\[\s*\d+\.\d+\]\s*")
_UNITS = {"k": 2**10, "m": 2**20, "g": 2**30}

# (pattern, field) of facts that are one number or text each
_FACTS = (
    (r"^CPU\d*: (.+?)\s+\(\d+\.\d+-MHz [\w-]+ CPU\)", "cpu_model"),
    (r"^(?:smpboot: )?CPU0: (.+?)\s+(?:stepping \d+|\(fam.*)$", "cpu_model"),
    (r"^model name\s*: (.+)$", "cpu_model"),
    (r"^Model name:\s+(.+)$", "cpu_model"),
    (r"^cpu model\s*: (.+)$", "cpu_model"),
    (
        r"^(?:CPU|Processor)(?: model| name| type| model name)?\s*[:=]\s*((?=[^,;:]*[A-Za-z])(?!L\d)\S[^%]{3,119})$",
        "cpu_model",
    ),
    (r"^Origin\s?=\s?\"(\w+)\"", "cpu_vendor"),
    (r"^vendor_id\s*: (\S+)", "cpu_vendor"),
    (r"^Vendor ID:\s+(\S+)", "cpu_vendor"),
    (r"^microcode\s*: (\S+)", "microcode"),
    (r"^Architecture:\s+(\S+)", "architecture"),
    (r"^Linux version (\S+)", "kernel"),
    (r"^(FreeBSD \d+\.\d+-\w+)", "kernel"),
    (r"^Hypervisor detected: (\S+)", "virtualisation"),
    (r"^Hypervisor: Origin = \"(\w+)\"", "virtualisation"),
    (r"^Hypervisor vendor:\s+(\S+)", "virtualisation"),
)
_COUNTS = (
    (r"^FreeBSD/SMP: Multiprocessor System Detected: (\d+) CPUs", "cores"),
    (r"^(?:smp: )?Brought up (?:\d+ nodes?, )?(\d+) CPUs", "cores"),
    (r"^CPU\(s\):\s+(\d+)", "cores"),
    (r"^FreeBSD/SMP: .* x (\d+) (?:HTT|SMT|hardware) threads", "threads_per_core"),
    (r"^Thread\(s\) per core:\s+(\d+)", "threads_per_core"),
)
_CLOCKS = (
    (rf"^CPU\d*: .*\({_NUMBER}-MHz [\w-]+ CPU\)", 1e6),
    (rf"^(?:tsc: )?Detected {_NUMBER} MHz processor", 1e6),
    (rf"@\s*{_NUMBER}\s*GHz", 1e9),
)
_MEMORIES = (
    (r"^real memory\s*=\s*(\d+)", 1),
    (r"^MemTotal:\s+(\d+) kB", 1024),
    (r"^Memory: \d+[kK]/(\d+)[kK] available", 1024),
)
_FLAGS = re.compile(r"^(?:AMD |Structured Extended )?Features\d?=0x[0-9a-f]+<([^>]*)>?")
_LINUX_FLAGS = re.compile(r"^(?:flags|Flags|Features)\s*:\s+(.+)$")
_SIGNATURE = re.compile(r"\bId\s?=\s?0x([0-9a-f]+)")
_FAMILY = re.compile(
    r"^(?:smpboot: )?CPU0: .*\(fam(?:ily)?: (?:0x)?([0-9a-f]+), model: (?:0x)?([0-9a-f]+), "
    r"stepping: (?:0x)?([0-9a-f]+)\)"
)
_STEPPING = re.compile(r"^(?:smpboot: )?CPU0: .+ stepping (\d+)$")
_CLASS = re.compile(r"^CPU\d*: .*\(\d+\.\d+-MHz ([\w-]+)-class CPU\)")
_SIBLINGS = re.compile(r"^domain 0: span (\d+)-(\d+) level (?:SIBLING|SMT)")
_BOOT_CACHE = re.compile(r"(L\d)(?: ([ID]) cache| cache)?: (\d+)([KM])")
_LSCPU_CACHE = re.compile(
    r"^(L\d[di]?)(?: cache)?:\s+(\d+(?:\.\d+)?)\s?([KMG])i?B?(?: \((\d+) instances?\))?$"
)
_ARCHITECTURES = {"686": "i686", "586": "i586", "486": "i486", "K8": "x86_64"}


def read_machine(lines: Iterable[str], known: Machine | None = None) -> Machine:
    """Return `known` (an empty profile without it) with every fact that `lines` tell and it lacks."""
    facts: dict[str, Any] = {}
    flags: list[str] = []
    caches: list[str] = []
    for raw in lines:
        line = _STAMP.sub("", raw).strip()
        for name, value in _facts(line):
            facts.setdefault(name, value)
        if match := _FLAGS.match(line) or _LINUX_FLAGS.match(line):
            flags += re.split(r"[,\s]+", match[1].strip().lower())
        for cache in _caches(line):
            if cache not in caches:
                caches.append(cache)
    if flags:
        facts["cpu_flags"] = tuple(sorted(set(filter(None, flags))))
    if caches:
        facts["caches"] = tuple(caches)
    known = known or Machine()
    return replace(known, **{name: value for name, value in facts.items() if not getattr(known, name)})


def _facts(line: str) -> Iterable[tuple[str, Any]]:
    for pattern, name in _FACTS:
        if match := re.match(pattern, line, re.IGNORECASE if name == "cpu_model" else 0):
            yield name, re.sub(r"\s+", " ", match[1]).strip()
    for pattern, name in _COUNTS:
        if match := re.match(pattern, line):
            yield name, min(int(match[1]), _MOST)
    for pattern, factor in _CLOCKS:
        if match := re.search(pattern, line):
            yield "clock_hz_nominal", float(match[1]) * factor
    for pattern, unit in _MEMORIES:
        if match := re.match(pattern, line):
            yield "memory_bytes", min(int(match[1]) * unit, _MOST)
    if match := _CLASS.match(line):
        yield "architecture", _ARCHITECTURES.get(match[1], match[1])
    if match := _SIBLINGS.match(line):
        yield "threads_per_core", min(max(int(match[2]) - int(match[1]) + 1, 0), _MOST)
    if family := _family(line):
        yield "cpu_family", family


def _family(line: str) -> str:
    """Family, model and stepping in the words of /proc/cpuinfo; CPUID's signature is taken apart for it."""
    if match := _SIGNATURE.search(line):
        signature = int(match[1], 16)
        family, model = signature >> 8 & 15, signature >> 4 & 15
        if family in (6, 15):
            model += (signature >> 16 & 15) << 4
        if family == 15:
            family += signature >> 20 & 255
        return f"cpu family {family} model {model} stepping {signature & 15}"
    if match := _FAMILY.match(line):
        family, model, stepping = (int(match[part], 16) for part in (1, 2, 3))
        return f"cpu family {family} model {model} stepping {stepping}"
    if match := _STEPPING.match(line):
        return f"stepping {int(match[1])}"
    return ""


def _caches(line: str) -> list[str]:
    if match := _LSCPU_CACHE.match(line):
        size = float(match[2]) * _UNITS[match[3].lower()] / 1024 / max(1, int(match[4] or 1))
        return [f"{match[1]} {size:g}K"]
    if not line.startswith("CPU: L"):
        return []
    return [
        f"{level}{(kind or '').lower()} {int(size) * (1024 if unit == 'M' else 1)}K"
        for level, kind, size, unit in _BOOT_CACHE.findall(line)
    ]
