"""A machine's profile from what its system said of it."""

from __future__ import annotations

import pytest

from perbyte.exchange import make_run, read_listings, read_machine
from perbyte.model import Machine


@pytest.fixture
def machines(listing_text) -> list[Machine]:
    listings = read_listings(listing_text("three-machines.txt"), "test")
    return [make_run(listing, name="x").conditions.machine for listing in listings]


def test_freebsd_boot_messages(machines):
    pentium, xeon, _ = machines
    assert pentium.cpu_model == "Intel(R) Pentium(R) 4 CPU 3.00GHz"
    assert pentium.cpu_vendor == "GenuineIntel"
    assert pentium.cpu_family == "cpu family 15 model 4 stepping 1"
    assert pentium.clock_hz_nominal == pytest.approx(2992.53e6)
    assert {"sse2", "sse3", "nx", "tm"} <= set(pentium.cpu_flags)
    assert "sse3" not in xeon.cpu_flags
    assert (pentium.cores, pentium.threads_per_core) == (2, 2)
    assert (xeon.cores, xeon.threads_per_core) == (4, 2)
    assert pentium.memory_bytes == 2147483648
    assert xeon.memory_bytes == 4294967296
    assert xeon.cpu_family == "cpu family 15 model 2 stepping 7"
    assert pentium.architecture == "i686"


def test_linux_boot_messages(machines):
    atom = machines[2]
    assert atom.cpu_model == "Intel(R) Atom(TM) CPU N270 @ 1.60GHz"
    assert atom.clock_hz_nominal == pytest.approx(1.6e9)
    assert atom.caches == ("L1i 32K", "L1d 24K", "L2 512K")
    assert (atom.cores, atom.threads_per_core) == (2, 2)
    assert atom.cpu_family == "stepping 2"
    assert atom.memory_bytes == 0  # not told, so not known


NEWER = """\
[    0.000000] Linux version 6.1.0-18-amd64 (gcc-12)
[    0.000000] Hypervisor detected: KVM
[    0.000011] tsc: Detected 2100.000 MHz processor
[    0.030000] Memory: 16292344K/16664588K available (14336K kernel code)
[    0.100000] smpboot: CPU0: Intel(R) Xeon(R) CPU E5-2686 v4 @ 2.30GHz (family: 0x6, model: 0x4f, stepping: 0x1)
[    0.200000] smp: Brought up 1 node, 8 CPUs
"""
LSCPU = """\
Architecture:                    x86_64
CPU(s):                          16
Vendor ID:                       AuthenticAMD
Model name:                      AMD Ryzen 7 7700 8-Core Processor
Thread(s) per core:              2
L1d cache:                       256 KiB (8 instances)
L3 cache:                        32 MiB (1 instance)
Flags:                           fpu aes sha_ni
"""
CPUINFO = "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Some CPU @ 2.00GHz\nflags\t\t: fpu aes\n"


def test_newer_linux_boot_messages():
    machine = read_machine(NEWER.splitlines())
    assert machine.kernel == "6.1.0-18-amd64"
    assert machine.virtualisation == "KVM"
    assert machine.clock_hz_nominal == pytest.approx(2.1e9)
    assert machine.memory_bytes == 16664588 * 1024
    assert machine.cpu_model == "Intel(R) Xeon(R) CPU E5-2686 v4 @ 2.30GHz"
    assert machine.cpu_family == "cpu family 6 model 79 stepping 1"
    assert machine.cores == 8


def test_lscpu_and_cpuinfo():
    lscpu = read_machine(LSCPU.splitlines())
    assert lscpu.cores == 16
    assert lscpu.threads_per_core == 2
    assert lscpu.caches == ("L1d 32K", "L3 32768K")
    assert lscpu.cpu_flags == ("aes", "fpu", "sha_ni")
    assert lscpu.architecture == "x86_64"
    cpuinfo = read_machine(CPUINFO.splitlines())
    assert cpuinfo.cpu_model == "Some CPU @ 2.00GHz"
    assert cpuinfo.cpu_vendor == "GenuineIntel"
    assert cpuinfo.clock_hz_nominal == pytest.approx(2e9)


def test_what_is_known_already_is_not_overwritten_and_prose_tells_nothing():
    known = Machine(cpu_model="mine", cores=3)
    machine = read_machine(
        ["CPU(s): 8", "model name : other", "CPU: very fast", "I have 16 GB of memory"], known
    )
    assert machine == known


def test_a_profile_from_elsewhere_fills_gaps_only(listing_text):
    (_, _, atom) = read_listings(listing_text("three-machines.txt"), "test")
    more = Machine(cpu_model="wrong", memory_bytes=2**30)
    machine = make_run(atom, name="x", machine=more).conditions.machine
    assert machine.cpu_model.startswith("Intel(R) Atom")
    assert machine.memory_bytes == 2**30


def test_numbers_that_nothing_has_are_bounded_and_no_instance_divides_nothing():
    lines = [
        "MemTotal:       999999999999999999 kB",
        "L2:   1 MiB (0 instances)",
        "cpu cores : 999999999999999999",
    ]
    machine = read_machine(lines)
    assert machine.memory_bytes == 2**62
