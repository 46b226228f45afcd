"""The machine's profile, and the core to measure on. What the system does not tell stays empty."""

from __future__ import annotations

import dataclasses
import os
import platform
import subprocess
import sys

import pytest

from perbyte.errors import EnvironmentLacking, UsageError
from perbyte.measure import choose_cores, describe_machine, machine
from perbyte.measure.machine import require_linux

AMD = """processor\t: 0
vendor_id\t: AuthenticAMD
cpu family\t: 25
model\t\t: 33
model name\t: AMD Ryzen 9 5950X @ 3.40GHz
stepping\t: 2
microcode\t: 0xa20120a
flags\t\t: fpu aes vaes hypervisor sha_ni

processor\t: 1
model name\t: something else
"""
ARM = """processor\t: 0
BogoMIPS\t: 243.75
Features\t: fp asimd aes pmull sha1 sha2
CPU implementer\t: 0x41
"""


@pytest.fixture
def files(monkeypatch):
    """Replace what /proc and /sys say."""

    def put(**message):
        table = {"/" + name.replace("__", "/"): text for name, text in message.items()}
        monkeypatch.setattr(machine, "_read", lambda path: table.get(str(path), ""))

    return put


def test_this_machine_is_described():
    machine = describe_machine()
    assert machine.cores == os.cpu_count()
    assert machine.kernel == platform.release()
    assert machine.memory_bytes > 2**28
    assert machine.cpu_flags == tuple(sorted(machine.cpu_flags))
    assert machine == describe_machine()


def test_the_first_processor_speaks(files):
    files(proc__cpuinfo=AMD, proc__meminfo="MemFree: 1 kB\nMemTotal:       2048 kB\n")
    machine = describe_machine()
    assert machine.cpu_model == "AMD Ryzen 9 5950X @ 3.40GHz"
    assert machine.cpu_vendor == "AuthenticAMD"
    assert machine.cpu_family == "cpu family 25 model 33 stepping 2"
    assert machine.microcode == "0xa20120a"
    assert machine.cpu_flags == ("aes", "fpu", "hypervisor", "sha_ni", "vaes")
    assert machine.memory_bytes == 2048 * 1024
    assert machine.clock_hz_nominal == 3.4e9


def test_an_arm_core_is_described_by_what_it_has(files):
    files(proc__cpuinfo=ARM)
    machine = describe_machine()
    assert machine.cpu_vendor == "0x41"
    assert "pmull" in machine.cpu_flags
    assert machine.clock_hz_nominal == 0.0


GRAVITON = """processor\t: 0
BogoMIPS\t: 2100.00
Features\t: fp asimd evtstrm aes pmull sha1 sha2 crc32
CPU implementer\t: 0x41
CPU architecture: 8
CPU variant\t: 0x1
CPU part\t: 0xd40
CPU revision\t: 1
"""
VISIONFIVE = """processor\t: 0
hart\t\t: 1
isa\t\t: rv64imafdc_zicntr_zicsr_zba_zbb
mmu\t\t: sv39
uarch\t\t: sifive,u74-mc
mvendorid\t: 0x489
marchid\t\t: 0x8000000000000007
mimpid\t\t: 0x4210427
"""
IBM = """vendor_id       : IBM/S390
# processors    : 2
bogomips per cpu: 21881.00
features\t: esan3 zarch stfle msa ldisp eimm dfp te vx
processor 0: version = 00,  identification = 133EC8,  machine = 8561

cpu number      : 0
"""


@pytest.mark.parametrize(
    ("text", "model", "vendor", "family", "flags"),
    [
        (
            GRAVITON,
            "Neoverse V1",
            "0x41",
            "cpu architecture 8 cpu variant 0x1 cpu part 0xd40 cpu revision 1",
            {"aes", "sha2"},
        ),
        (
            VISIONFIVE,
            "sifive,u74-mc",
            "0x489",
            "marchid 0x8000000000000007 mimpid 0x4210427",
            {"c", "zba", "zbb"},
        ),
        (IBM, "IBM 8561", "IBM/S390", "", {"msa", "vx"}),
    ],
    ids=["aarch64", "riscv64", "s390x"],
)
def test_cores_that_are_not_x86_are_named(files, text, model, vendor, family, flags):
    files(proc__cpuinfo=text)
    machine = describe_machine()
    assert (machine.cpu_model, machine.cpu_vendor, machine.cpu_family) == (model, vendor, family)
    assert flags <= set(machine.cpu_flags)


def test_an_unknown_number_is_no_name(files, monkeypatch):
    monkeypatch.setattr(platform, "processor", lambda: "")
    files(proc__cpuinfo=GRAVITON.replace("0xd40", "0xfff"))
    assert describe_machine().cpu_model == ""


def test_a_guest_of_a_mainframe_knows_its_host(files):
    files(proc__cpuinfo=IBM, proc__sysinfo="VM00 Name: a\nVM00 Control Program: KVM/Linux\n")
    assert describe_machine().virtualisation == "kvm/linux"


@pytest.mark.parametrize(
    ("vendor", "named"),
    [("QEMU", "qemu"), ("VMware, Inc.", "vmware"), ("Hallo GmbH", "virtual machine (Hallo GmbH)")],
)
def test_a_hypervisor_is_named(files, vendor, named):
    files(proc__cpuinfo=AMD, sys__class__dmi__id__sys_vendor=vendor)
    assert describe_machine().virtualisation == named


@pytest.mark.parametrize(
    ("clocks", "named"),
    [
        ("tsc kvm-clock \n", "kvm"),
        ("hyperv_clocksource_tsc_page tsc acpi_pm", "hyper-v"),
        ("tsc", "virtual machine (unnamed)"),
    ],
)
def test_without_firmware_the_kernels_clocks_name_the_hypervisor(files, clocks, named):
    files(proc__cpuinfo=AMD, sys__devices__system__clocksource__clocksource0__available_clocksource=clocks)
    assert describe_machine().virtualisation == named


def test_the_hypervisors_own_word_and_the_firmwares_go_before_clocks(files):
    clock = {"sys__devices__system__clocksource__clocksource0__available_clocksource": "tsc kvm-clock"}
    files(proc__cpuinfo=AMD, sys__hypervisor__type="xen", **clock)
    assert describe_machine().virtualisation == "xen"
    files(proc__cpuinfo=AMD, sys__class__dmi__id__sys_vendor="Amazon EC2", **clock)
    assert describe_machine().virtualisation == "kvm (Amazon)"


def test_clocks_of_a_hypervisor_make_no_virtual_machine(files):
    files(
        proc__cpuinfo=AMD.replace(" hypervisor", ""),
        sys__devices__system__clocksource__clocksource0__available_clocksource="tsc kvm-clock",
    )
    assert describe_machine().virtualisation == ""


def test_where_nothing_can_be_read_nothing_is_guessed(files):
    files()
    machine = describe_machine()
    message = {name: value for name, value in dataclasses.asdict(machine).items() if value}
    from_elsewhere = {"cpu_model", "cores", "architecture", "kernel"}  # from the C library
    assert set(message) <= {*from_elsewhere, "label"}, "and a label that Perbyte has drawn"


@pytest.mark.parametrize(
    ("no_turbo", "boost", "turbo"), [("1", "", "off"), ("0", "", "on"), ("", "0", "off"), ("", "", "")]
)
def test_turbo_is_told_where_it_is_known(monkeypatch, no_turbo, boost, turbo):
    table = {
        "/sys/devices/system/cpu/intel_pstate/no_turbo": no_turbo,
        "/sys/devices/system/cpu/cpufreq/boost": boost,
    }
    monkeypatch.setattr(machine, "_read", lambda path: table.get(str(path), ""))
    assert describe_machine().turbo == turbo


def test_all_cores_of_one_kind_are_chosen_and_others_are_refused():
    allowed = sorted(os.sched_getaffinity(0))
    assert choose_cores()[0] == allowed[-1]
    assert set(choose_cores()) <= set(allowed)
    assert choose_cores([allowed[0]]) == (allowed[0],)
    with pytest.raises(UsageError, match="core 99999 is not available") as error:
        choose_cores([99999])
    assert str(allowed[-1]) in f"{error.value.hint}"


def test_cores_of_another_kind_and_second_threads_of_a_core_are_left_alone(monkeypatch):
    """Six threads: 0 and 1 on one core, 2 and 3 on another, 4 and 5 on small cores."""
    blocks = [f"processor: {n}\nmodel name: {'big' if n < 4 else 'small'}" for n in range(6)]
    siblings = {0: "0-1", 1: "0-1", 2: "2,3", 3: "2,3", 4: "4", 5: "5"}
    table = {f"/sys/devices/system/cpu/cpu{n}/topology/thread_siblings_list": t for n, t in siblings.items()}
    table["/proc/cpuinfo"] = "\n\n".join(blocks)
    monkeypatch.setattr(machine, "_read", lambda path: table.get(str(path), ""))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: set(range(6)))
    assert choose_cores() == (5, 4)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: set(range(4)))
    assert choose_cores() == (3, 1)


def test_the_orchestrator_steps_off_the_measuring_core():
    code = (
        "import os; from perbyte.measure.machine import step_aside, choose_cores\n"
        "core = choose_cores()[0]; before = os.sched_getaffinity(0); step_aside([core])\n"
        "after = os.sched_getaffinity(0)\n"
        "assert after == (before - {core} or before), (before, after)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_another_system_is_told_what_it_can_do(monkeypatch):
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    with pytest.raises(EnvironmentLacking, match="needs Linux; this is Darwin") as error:
        require_linux()
    assert "perbyte show" in f"{error.value.hint}"


def test_own_caches_are_those_of_levels_1_and_2(tmp_path):
    sizes = {
        "cpu0": ("48K", "1024K", "32768K"),
        "cpu11": ("64K", "4096K", ""),
        "cpufreq": ("9999K", "9999K", ""),
    }
    for core, by_level in sizes.items():
        for level, size in enumerate(by_level, 1):
            place = tmp_path / core / "cache" / f"index{level}"
            place.mkdir(parents=True)
            (place / "level").write_text(f"{level}\n")
            (place / "size").write_text(f"{size}\n")
    assert machine.own_cache_bytes(tmp_path) == 4 << 20
    assert machine.own_cache_bytes(tmp_path / "nothing") == 0
