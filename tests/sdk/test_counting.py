"""What the SDK counts, on calls whose instructions, stack and heap are written down, and on other people's code."""

from __future__ import annotations

import ctypes
import platform
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from perbyte import places
from perbyte.measure import behaviour as counting
from perbyte.measure.behaviour import count_cell
from perbyte.model import Cell
from perbyte.model.behaviour import KINDS
from perbyte.runners.locate import read_spec
from perbyte.runners.session import Session

SDK = places.data_dir("runners") / "sdk" / "c"
SPEC = """\
[runner]
library = "none"
license = "Apache-2.0"
language = "python"
[build]
kind = "python"
[run]
command = ["{program}"]
"""
LOOP = 4  # instructions a turn that a compiler may spend on the loop itself
pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="counting is of x86-64")


@pytest.fixture(scope="module")
def spec(tmp_path_factory):
    here = tmp_path_factory.mktemp("counted") / "counted"
    here.mkdir()
    sources = [Path(__file__).with_name("counted.c"), *SDK.glob("*.c")]
    options = ("-O1", "-D_GNU_SOURCE", f"-I{SDK}", "-o", here / "counted")
    subprocess.run(["cc", *options, *sources, "-lm", "-ldl", "-lpthread"], check=True)
    (here / "runner.toml").write_text(SPEC.replace("{program}", str(here / "counted")))
    return read_spec(here / "runner.toml")


def counted(spec, algorithm):
    return count_cell(spec, Cell("counted", algorithm, "encrypt", 64, "stream/1"), 7)


def test_instructions_and_their_kinds_are_those_that_were_written(spec):
    behaviour = counted(spec, "aes-128-ecb")
    assert behaviour.exact
    assert behaviour.calls == 16
    assert 19 <= behaviour.call.instructions <= 19 + LOOP
    kinds = behaviour.call.kinds
    assert set(kinds) == set(KINDS)
    assert (kinds["multiply"], kinds["load"], kinds["store"]) == (1, 1, 1)
    assert kinds["branch"] == 6  # five of the call, one of the loop around it
    assert kinds["aes"] == kinds["vector_128"] == kinds["vector_512"] == kinds["divide"] == 0


def test_a_repetition_is_one_instruction(spec):
    call = counted(spec, "aes-192-ecb").call
    assert 3 <= call.instructions <= 10
    assert call.kinds["load"] == call.kinds["store"] == 1


def test_the_stack_is_as_deep_as_what_was_written_to(spec):
    behaviour = counted(spec, "aes-256-ecb")
    assert 20000 <= behaviour.stack <= 20200
    assert 0 < behaviour.setup_stack < 20000


def test_the_heap_is_what_was_asked_for(spec):
    behaviour = counted(spec, "aes-128-cbc")
    assert (behaviour.call.heap_calls, behaviour.call.heap_bytes) == (3, 100 + 150 + 70)
    assert (behaviour.call.heap_peak, behaviour.call.heap_left) == (250, 0)
    setup = behaviour.setup
    assert (setup.heap_calls, setup.heap_bytes) == (4, 1000 + 10 + 200 + 5000)
    assert (setup.heap_peak, setup.heap_left) == (6200, 1200)


@pytest.mark.parametrize("algorithm", ["aes-128-ecb", "aes-128-ctr"])
def test_single_steps_of_the_processor_agree(spec, algorithm, monkeypatch):
    monkeypatch.syspath_prepend(places.data_dir("runners").parent / "bench")
    from counting import per_call, stepping

    cell = Cell("counted", algorithm, "encrypt", 64, "stream/1")
    steps = per_call(stepping, spec, cell)
    if steps is None:
        pytest.skip("this system lets no process step another")
    assert 0 <= steps - counted(spec, algorithm).call.instructions <= LOOP


def test_threads_are_said_and_not_counted(spec):
    behaviour = counted(spec, "aes-192-cbc")
    assert behaviour.call is None
    assert "threads" in behaviour.unknown or "signal" in behaviour.unknown
    assert behaviour.setup.heap_left == 1200  # what another fork has seen


def test_the_page_of_the_kernel_is_a_system_call(spec):
    call = counted(spec, "aes-256-cbc").call
    assert call.system_calls == 1
    assert call.instructions < 100


def test_calls_by_pointer_and_vectors_of_the_c_library_are_followed(spec):
    behaviour = counted(spec, "aes-128-ctr")
    assert behaviour.exact
    assert 200 < behaviour.call.instructions < 5000
    assert behaviour.call.code_pages >= 3
    assert 64 * behaviour.call.code_lines < 4096 * behaviour.call.code_pages


def test_what_takes_too_long_says_so(spec, monkeypatch):
    monkeypatch.setattr(counting, "LIMIT_MS", 200.0)
    behaviour = counted(spec, "aes-192-ctr")
    assert behaviour.call is None
    assert "longer than the limit" in behaviour.unknown


def test_counting_leaves_the_process_as_it_was(spec):
    with Session(spec, gentle=True) as session:
        session.hello()
        handle = session.prepare("aes-128-ctr", "encrypt", "stream/1", 64, seed=7)
        before = session.check_calls(handle, 3).output
        for _ in range(2):
            request = counting.CountCalls(id=session.next_id(), handle=handle, limit_ms=5000)
            session.ask(request, counting.CountAnswer, 60)
        assert session.check_calls(handle, 3).output == before


def test_a_runner_without_the_verb_is_said(fake_runners):
    (fake,) = fake_runners({"name": "old"})
    behaviour = count_cell(fake, Cell("old", "aes-128-ctr", "encrypt", 64, "stream/1"), 7)
    assert behaviour.call is None
    assert not behaviour.exact
    assert "count" in behaviour.unknown


class Instruction(ctypes.Structure):
    """pb_instruction of decode.h."""

    _fields_ = (
        ("length", ctypes.c_uint8),
        ("flow", ctypes.c_uint8),
        ("condition", ctypes.c_uint8),
        ("modrm_at", ctypes.c_uint8),
        ("rex", ctypes.c_uint8),
        ("segment", ctypes.c_uint8),
        ("short_address", ctypes.c_uint8),
        ("drop", ctypes.c_uint16),
        ("kinds", ctypes.c_uint16),
        ("distance", ctypes.c_int64),
    )


@pytest.fixture(scope="module")
def decode(tmp_path_factory):
    place = tmp_path_factory.mktemp("decode") / "decode.so"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", place, SDK / "decode.c"], check=True)
    library = ctypes.CDLL(str(place))

    def read(code: bytes) -> tuple[int, set[str], int]:
        instruction = Instruction()
        library.pb_decode(code + bytes(16), ctypes.byref(instruction))
        kinds = {name for bit, name in enumerate(KINDS) if instruction.kinds >> bit & 1}
        return instruction.length, kinds, instruction.distance

    return read


@pytest.mark.parametrize(
    ("code", "kinds"),
    [
        ("660f38dcc1", "aes vector_128"),  # aesenc xmm0, xmm1
        ("62f27d48dc00", "aes vector_512 load"),  # vaesenc zmm0, zmm0, [rax]
        ("c4e37d44c111", "clmul vector_256"),  # vpclmulqdq ymm0, ymm0, ymm1, 0x11
        ("0f38cbc1", "sha vector_128"),  # sha256rnds2 xmm0, xmm1
        ("c4e2ebf6c1", "multiply"),  # mulx rax, rdx, rcx
        ("48f7f1", "divide"),  # div rcx
        ("480fafc1", "multiply"),  # imul rax, rcx
        ("62f17c481100", "vector_512 store"),  # vmovups [rax], zmm0
        (
            "62f17c1858c1",
            "vector_512",
        ),  # vaddps zmm0, zmm0, zmm1 with rounding, which takes the place of the length
        ("c5fd7f00", "vector_256 store"),  # vmovdqa [rax], ymm0
        ("0fefc1", ""),  # pxor of MMX: no vector register
        ("488b00", "load"),  # mov rax, [rax]
        ("488900", "store"),  # mov [rax], rax
        ("480100", "load store"),  # add [rax], rax
        ("483900", "load"),  # cmp [rax], rax
        ("488d00", ""),  # lea rax, [rax]
        ("0f1f4000", ""),  # nop [rax]
        ("50", "store"),  # push rax
        ("c3", "load branch"),  # ret
        ("e800000000", "store branch"),  # call
        ("ff10", "load store branch"),  # call [rax]
        ("7505", "branch"),  # jnz
        ("f3a4", "load store"),  # rep movsb
        ("48b80102030405060708", ""),  # mov rax, 64 bits
        ("66b80102", ""),  # mov ax, 16 bits
        ("c4e1f891c0", ""),  # kmov: no vector
    ],
)
def test_an_instruction_is_of_its_kinds(decode, code, kinds):
    length, decoded, _ = decode(bytes.fromhex(code))
    assert (length, decoded) == (len(code) // 2, set(kinds.split()))


@pytest.mark.skipif(not shutil.which("objdump"), reason="no objdump")
def test_the_decoder_agrees_with_objdump_on_the_c_library(decode):
    maps = Path("/proc/self/maps").read_text()
    library = re.search(r"\S+/libc\.so\.6$", maps, re.MULTILINE)
    assert library
    message = subprocess.run(
        ["objdump", "-d", "-w", "--insn-width=16", library[0]], capture_output=True, text=True, check=True
    ).stdout
    seen, wrong = 0, []
    for line in message.splitlines()[::5]:
        match = re.match(r"\s*[0-9a-f]+:\t((?:[0-9a-f]{2} )+)\s*\t?(.*)", line)
        if not match or not match[2] or "(bad)" in match[2]:
            continue
        seen += 1
        code, words = bytes.fromhex(match[1]), match[2].partition("#")[0].partition("<")[0]
        widths = {"zmm": "vector_512", "ymm": "vector_256", "xmm": "vector_128"}
        width = next((kind for name, kind in widths.items() if f"%{name}" in words), None)
        length, kinds, _ = decode(code)
        if length != len(code) or (width or set()) != (
            next(iter(kinds & set(widths.values())), None) or set()
        ):
            wrong.append(line)
    assert seen > 10000
    assert wrong == []
