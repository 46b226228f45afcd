"""The machine's profile: what a repeater must know about the hardware and the system under a run.

Read from /proc and /sys and from nothing that needs a privilege. What the system does not tell stays empty:
a guess in the conditions of a run would be worse than a gap. Decides nothing.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from perbyte.errors import EnvironmentLacking, UsageError
from perbyte.measure.labels import own_label
from perbyte.model import Machine
from perbyte.runners.machinecode import read_flags

_VIRTUAL_BY_VENDOR = {
    "KVM": "kvm",
    "QEMU": "qemu",
    "VMware": "vmware",
    "Xen": "xen",
    "Microsoft": "hyper-v",
    "Google": "kvm (Google)",
    "Amazon": "kvm (Amazon)",
    "innotek": "virtualbox",
}
# Beside the firmware's words, which small virtual machines do not have: what a guest's kernel offers only where it
# found that hypervisor. Linux registers these clocks after it has asked the processor (CPUID leaf 0x40000000).
_VIRTUAL_BY_CLOCK = {"kvm-clock": "kvm", "hyperv_clocksource": "hyper-v", "xen": "xen"}


# What tells one revision of a core from another: on x86-64, AArch64, RISC-V.
_REVISION = (
    *("cpu family", "model", "stepping"),
    *("cpu architecture", "cpu variant", "cpu part", "cpu revision"),
    *("marchid", "mimpid"),
)
_CORE = "/sys/devices/system/cpu/cpu{}/"


def describe_machine() -> Machine:
    """Return the profile of the machine this process runs on. Never raises: unknown fields stay empty."""
    info = next(cpu_facts())
    profile = Machine(
        cpu_model=core_name(info) or platform.processor(),
        cpu_vendor=info.get("vendor_id") or info.get("cpu implementer") or info.get("mvendorid", ""),
        cpu_family=" ".join(f"{name} {info[name]}" for name in _REVISION if info.get(name)),
        cpu_flags=tuple(sorted(read_flags(_read("/proc/cpuinfo")))),
        microcode=info.get("microcode", ""),
        cores=os.cpu_count() or 0,
        threads_per_core=len(_list_of_cores(_read(_CORE.format(0) + "topology/thread_siblings_list"))),
        caches=_caches(),
        memory_bytes=int(_found(r"^MemTotal:\s+(\d+) kB", "/proc/meminfo") or 0) * 1024,
        architecture=platform.machine(),
        kernel=platform.release(),
        distribution=_found(r'^PRETTY_NAME="?([^"\n]*)', "/etc/os-release"),
        virtualisation=_virtualisation(info),
        governor=_read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        turbo=_turbo(),
        clock_hz_nominal=_nominal_hz(info),
    )
    return replace(profile, label=own_label(profile))


def choose_cores(wanted: Sequence[int] = ()) -> tuple[int, ...]:
    """Return the cores to measure on, the preferred one first: `wanted`, or all of one kind that this process may use.

    Of the kinds the one that the last core belongs to is taken (interrupts prefer the first core), and of the hardware
    threads of one core only one. Raises UsageError when one of `wanted` is not among the cores that are allowed.
    """
    allowed = sorted(os.sched_getaffinity(0))
    for core in wanted:
        if core not in allowed:
            raise UsageError(
                f"core {core} is not available here", hint=f"use one of: {', '.join(map(str, allowed))}"
            )
    if wanted:
        return tuple(dict.fromkeys(wanted))
    kinds = _kinds_of_cores()
    chosen: list[int] = []
    taken: set[int] = set()
    for core in reversed(allowed):
        threads = _list_of_cores(_read(_CORE.format(core) + "topology/thread_siblings_list")) or {core}
        if kinds.get(core) == kinds.get(allowed[-1]) and not threads & taken:
            chosen.append(core)
            taken |= threads
    return tuple(chosen)


def step_aside(cores: Collection[int]) -> None:
    """Move this process off the measuring cores, where there is another one to go to."""
    others = os.sched_getaffinity(0) - set(cores)
    if others:
        os.sched_setaffinity(0, others)


def _kinds_of_cores() -> dict[int, tuple[str, ...]]:
    kinds = {}
    for facts in cpu_facts():
        if not facts.get("processor", "").isdigit():
            continue
        place = _CORE.format(facts["processor"])
        kinds[int(facts["processor"])] = (
            *(facts.get(name, "") for name in ("model name", "uarch", "isa", "cpu implementer", *_REVISION)),
            _read(place + "cpu_capacity"),
            _read(place + "cpufreq/cpuinfo_max_freq"),
            *(_read(place + f"cache/index{k}/size") for k in range(3)),
        )
    return kinds


def _list_of_cores(text: str) -> set[int]:
    """The cores of a list as Linux writes it: `0-3,8`."""
    cores: set[int] = set()
    for part in filter(None, text.split(",")):
        low, _, high = part.partition("-")
        cores |= set(range(int(low), int(high or low) + 1))
    return cores


def require_linux() -> None:
    """Raise EnvironmentLacking where the gauge's counters and pinning do not exist."""
    if platform.system() != "Linux":
        raise EnvironmentLacking(
            f"measuring needs Linux; this is {platform.system() or 'unknown'}",
            hint="read runs made elsewhere with 'perbyte show' and 'perbyte report'",
        )


def _read(path: str | Path) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").strip("\0\n ")
    except OSError:
        return ""


def _found(pattern: str, path: str) -> str:
    match = re.search(pattern, _read(path), re.MULTILINE)
    return match[1] if match else ""


def cpu_facts() -> Iterator[dict[str, str]]:
    """What Linux says of each processor in /proc/cpuinfo, by names in lower case; at least one, which may be empty."""
    for block in _read("/proc/cpuinfo").split("\n\n"):
        pairs = (line.partition(":") for line in block.splitlines())
        yield {name.strip().lower(): value.strip() for name, _, value in pairs}


def _caches() -> tuple[str, ...]:
    levels = []
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind, size = (_read(index / name) for name in ("level", "type", "size"))
        if level and size:
            letter = {"Data": "d", "Instruction": "i"}.get(kind, "")
            levels.append(f"L{level}{letter} {size}")
    return tuple(levels)


def own_cache_bytes(system: Path = Path("/sys/devices/system/cpu")) -> int:
    """Return the size in bytes of the largest cache of levels 1 and 2, of any core; 0 where `system` names none.

    Beyond level 2 caches belong to several cores, or to other machines on the same host as well.
    """
    sizes = [
        int(size[:-1]) << 10
        for index in system.glob("cpu[0-9]*/cache/index*")
        if _read(index / "level") in ("1", "2") and (size := _read(index / "size")).endswith("K")
    ]
    return max(sizes, default=0)


def _virtualisation(info: dict[str, str]) -> str:
    if "hypervisor" not in info.get("flags", "").split():
        if info.get("flags"):
            return ""
        guest = _found(r"^VM00 Control Program:\s*(\S+)", "/proc/sysinfo")  # s390x
        return guest.lower() or _read("/sys/hypervisor/type")
    vendor = _read("/sys/class/dmi/id/sys_vendor") + " " + _read("/sys/class/dmi/id/product_name")
    clocks = _read("/sys/devices/system/clocksource/clocksource0/available_clocksource").split()
    return (
        # Firmware first: it may tell whose KVM it is.
        next((name for word, name in _VIRTUAL_BY_VENDOR.items() if word in vendor), "")
        or _read("/sys/hypervisor/type")
        or next((name for word, name in _VIRTUAL_BY_CLOCK.items() for clock in clocks if word in clock), "")
        or f"virtual machine ({vendor.strip() or 'unnamed'})"
    )


def _turbo() -> str:
    if no_turbo := _read("/sys/devices/system/cpu/intel_pstate/no_turbo"):
        return "off" if no_turbo == "1" else "on"
    return {"1": "on", "0": "off"}.get(_read("/sys/devices/system/cpu/cpufreq/boost"), "")


def _nominal_hz(info: dict[str, str]) -> float:
    base = _read("/sys/devices/system/cpu/cpu0/cpufreq/base_frequency")
    if base.isdigit():
        return float(base) * 1e3
    named = re.search(r"@\s*([\d.]+)\s*GHz", info.get("model name", ""))
    return float(named[1]) * 1e9 if named else 0.0


# Arm's manuals (MIDR_EL1) and Linux (`arch/arm64/include/asm/cputype.h`); a number that is not here stays a number
_ARM = {
    0x41: {
        0xD03: "Cortex-A53",
        0xD04: "Cortex-A35",
        0xD05: "Cortex-A55",
        0xD07: "Cortex-A57",
        0xD08: "Cortex-A72",
        0xD09: "Cortex-A73",
        0xD0A: "Cortex-A75",
        0xD0B: "Cortex-A76",
        0xD0C: "Neoverse N1",
        0xD0D: "Cortex-A77",
        0xD40: "Neoverse V1",
        0xD41: "Cortex-A78",
        0xD44: "Cortex-X1",
        0xD46: "Cortex-A510",
        0xD47: "Cortex-A710",
        0xD48: "Cortex-X2",
        0xD49: "Neoverse N2",
        0xD4D: "Cortex-A715",
        0xD4E: "Cortex-X3",
        0xD4F: "Neoverse V2",
        0xD80: "Cortex-A520",
        0xD81: "Cortex-A720",
        0xD82: "Cortex-X4",
        0xD83: "Neoverse V3AE",
        0xD84: "Neoverse V3",
        0xD8E: "Neoverse N3",
    },
    0x43: {0x0AF: "Cavium ThunderX2"},
    0x46: {0x001: "Fujitsu A64FX"},
    0x48: {0xD01: "HiSilicon TSV110"},
    0x61: {
        0x022: "Apple M1 Icestorm",
        0x023: "Apple M1 Firestorm",
        0x032: "Apple M2 Blizzard",
        0x033: "Apple M2 Avalanche",
    },
    0xC0: {0xAC3: "Ampere-1", 0xAC4: "Ampere-1A"},
}


def core_name(info: Mapping[str, str]) -> str:
    """Return what the facts of a processor in `/proc/cpuinfo` (names in lower case) call it; '' where they do not."""
    for key in ("model name", "cpu model", "uarch"):
        if info.get(key):
            return info[key]
    named = _ARM.get(_number(info.get("cpu implementer", "")), {}).get(_number(info.get("cpu part", "")), "")
    if named:
        return named
    _, _, machine = info.get("processor 0", "").partition("machine = ")
    return f"IBM {machine.strip()}" if machine else ""


def _number(text: str) -> int:
    try:
        return int(text, 0)
    except ValueError:
        return -1
