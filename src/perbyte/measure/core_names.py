"""What a core is called where the system gives numbers instead of a name: AArch64 and s390x.

Numbers and names as Arm's manuals (MIDR_EL1) and Linux (`arch/arm64/include/asm/cputype.h`) have them. A number that is
not here stays a number.
"""

from __future__ import annotations

from collections.abc import Mapping

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
