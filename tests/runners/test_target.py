"""Building for another processor, and starting what was built: what the environment and the programs themselves say."""

from __future__ import annotations

import platform
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from perbyte.errors import EnvironmentLacking, UsageError
from perbyte.runners import Session, find, target
from perbyte.runners.machinecode import read_flags
from perbyte.runners.needs import Missing, compiler, look

FOREIGN = "s390x" if platform.machine() != "s390x" else "riscv64"
NUMBERS = {"x86_64": 62, "aarch64": 183, "riscv64": 243, "s390x": 22, "ppc64": 21, "ppc64le": 21, "arm": 40}


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CC", "CXX", "PERBYTE_TARGET", "PERBYTE_EMULATOR", "PKG_CONFIG", "PKG_CONFIG_LIBDIR"):
        monkeypatch.delenv(name, raising=False)


def program(place: Path, machine: str) -> Path:
    """The beginning of an ELF file for a processor."""
    order = "big" if machine in ("s390x", "ppc64") else "little"
    head = b"\x7fELF" + bytes([1 if machine == "arm" else 2, 2 if order == "big" else 1]) + bytes(10)
    made = place / f"for-{machine}"
    made.write_bytes(head + (2).to_bytes(2, order) + NUMBERS[machine].to_bytes(2, order) + bytes(40))
    made.chmod(0o755)
    return made


@pytest.mark.parametrize("machine", NUMBERS)
def test_a_program_says_what_it_is_for(tmp_path: Path, machine: str) -> None:
    assert target.machine_of(program(tmp_path, machine)) == machine


def test_what_is_no_program_says_nothing(tmp_path: Path) -> None:
    text = tmp_path / "script"
    text.write_text("#!/bin/sh\n", encoding="utf-8")
    assert [target.machine_of(path) for path in (text, tmp_path, tmp_path / "none")] == ["", "", ""]


def test_a_target_has_compilers_and_a_place_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = find("reference")
    own = spec.out(sanitize=False)
    monkeypatch.setenv("PERBYTE_TARGET", "riscv64-linux-gnu")
    assert compiler("c") == ("riscv64-linux-gnu-gcc",)
    assert compiler("c++") == ("riscv64-linux-gnu-g++",)
    assert spec.out(sanitize=False).parent.name == "runners-riscv64-linux-gnu"
    assert spec.out(sanitize=True).parent.name == "runners-riscv64-linux-gnu-sanitized"
    assert own.parent.name == "runners"
    monkeypatch.setenv("CC", "clang --target=riscv64-linux-gnu")
    assert compiler("c") == ("clang", "--target=riscv64-linux-gnu")


@pytest.mark.parametrize("named", ["arm; rm", "../up", "RISCV", "x86_64"])
def test_what_is_no_target_is_refused(monkeypatch: pytest.MonkeyPatch, named: str) -> None:
    monkeypatch.setenv("PERBYTE_TARGET", named)
    with pytest.raises(UsageError, match="PERBYTE_TARGET"):
        target.triplet()


def test_this_machines_own_target_needs_no_emulator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERBYTE_TARGET", f"{platform.machine()}-linux-gnu")
    assert not target.foreign()
    assert target.started(["/bin/sh", "-c", "true"]) == (["/bin/sh", "-c", "true"], {})


def test_a_foreign_program_gets_the_emulator_in_front(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = str(program(tmp_path, FOREIGN))
    monkeypatch.setenv("PERBYTE_EMULATOR", "emulate -L '/a b'")
    command, told = target.started([made, "x"])
    assert command == ["emulate", "-L", "/a b", made, "x"]
    assert told == {"PERBYTE_EMULATOR": "emulate -L '/a b'"}


def test_a_shell_that_starts_a_foreign_program_is_told_how(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERBYTE_TARGET", f"{FOREIGN}-linux-gnu")
    monkeypatch.setenv("PERBYTE_EMULATOR", "emulate")
    assert target.started(["sh", "-c", "exec"]) == (["sh", "-c", "exec"], {"PERBYTE_EMULATOR": "emulate"})


def test_without_an_emulator_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EnvironmentLacking, match=f"no qemu-{FOREIGN}") as caught:
        target.started([str(program(tmp_path, FOREIGN))])
    assert "qemu-user" in caught.value.hint


def test_a_build_script_for_this_machine_only_is_absent_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = replace(find("blake3"), programs=())
    assert not isinstance(look(spec), Missing)
    monkeypatch.setenv("PERBYTE_TARGET", f"{FOREIGN}-linux-gnu")
    assert not isinstance(look(spec), Missing)
    needs = look(replace(spec, cross=False))
    assert isinstance(needs, Missing)
    assert f"{FOREIGN}-linux-gnu" in needs.what[0]


def test_pkg_config_of_this_machine_is_not_asked_about_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would name this machine's libraries."""
    asked = tmp_path / "pkg-config"
    asked.write_text(f"#!/bin/sh\ntouch {tmp_path}/asked\n", encoding="utf-8")
    asked.chmod(asked.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(tmp_path))
    spec = replace(find("openssl"), headers=(), libraries=())
    monkeypatch.setenv("PERBYTE_TARGET", f"{FOREIGN}-linux-gnu")
    monkeypatch.setenv("CC", str(asked))
    assert isinstance(look(spec), Missing)
    assert not (tmp_path / "asked").exists()


def test_an_emulator_is_started_and_the_runner_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fake_runners
) -> None:
    """A program that claims to be foreign, and an emulator that says what it was given."""
    (spec,) = fake_runners({"name": "alpha"})
    heard = tmp_path / "heard"
    shim = tmp_path / "emulate"
    shim.write_text(f'#!/bin/sh\necho "$PERBYTE_EMULATOR $*" >{heard}\nexit 0\n', encoding="utf-8")
    shim.chmod(0o755)
    made = program(tmp_path, FOREIGN)
    monkeypatch.setenv("PERBYTE_EMULATOR", f"{shim} -L /somewhere")
    with Session(spec, command=[str(made)]) as session:
        session.process.wait(5)
    assert heard.read_text(encoding="utf-8").split() == [
        *(str(shim), "-L", "/somewhere"),
        *("-L", "/somewhere", str(made)),
    ]


def test_features_are_read_from_every_systems_words() -> None:
    assert read_flags("processor: 0\nflags\t: fpu aes\nflags: other") == {"fpu", "aes"}
    assert read_flags("Features\t: fp asimd pmull\n") == {"fp", "asimd", "pmull"}
    assert read_flags("isa\t: rv64imac_zkne_zbc\n") == {"i", "m", "a", "c", "zkne", "zbc"}
    assert read_flags("nothing: here") == frozenset()
