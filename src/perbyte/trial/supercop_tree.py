"""What a whole tree in SUPERCOP's layout provides around an implementation: headers, libraries of the tree, names.

The tree's own `include/`, `cryptoint/` and `s2n-bignum/` are used where they are there. Names begin with the operation
itself, `crypto_hash`, since each implementation is a program of its own here.
"""

from __future__ import annotations

import ast
import hashlib
import json
import operator
import os
import platform
import re
import shutil
import subprocess
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from perbyte import places
from perbyte.errors import UsageError
from perbyte.runners.build import run_tool
from perbyte.runners.needs import compiler
from perbyte.trial.building import captured, home
from perbyte.trial.crates import PRODUCT, write_crate
from perbyte.trial.program import Unusable

Part = tuple[Path, tuple[str, ...], tuple[Path, ...]]  # a file, its flags, its include directories
PROVIDED = (8, 16, 32, 64)  # lengths of crypto_verify that are made here
_LIMIT_S = 20
_LIBRARY_S = 600
_CARGO_S = 300
_OF_CRATES = ("hash", "stream", "scalarmult", "aead")  # operations that sdk/try/supercop.rs has functions for
_DEFINED = re.compile(
    r"^[ \t]*#[ \t]*define[ \t]+(?:CRYPTO|crypto_[a-z]+)_([A-Za-z0-9_]*[A-Z0-9])\b[ \t]*(.*)$", re.M
)
_BINARY = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.floordiv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}
_LIBRARIES = (
    (r"[<\"]openssl/", "-lcrypto"),
    (r"[<\"]cryptopp/", "-lcryptopp"),
    (r"<gmp\.h>", "-lgmp"),
    (r"<gmpxx\.h>", "-lgmpxx"),
    (r"<NTL/", "-lntl"),
    (r"<sodium\.h>", "-lsodium"),
)


def namespace(top: str) -> tuple[str, ...]:
    """The macros under which SUPERCOP compiles, `top` standing for the place of the implementation."""
    macros = ["-DSUPERCOP", "-DCRYPTO_ALIGN(n)=__attribute__((aligned(n)))"]
    for line in ("", "_"):  # the macros for names that begin with an underscore do so too
        macros.append(f"-D{line}CRYPTO_NAMESPACETOP={line}{top}")
        for name in ("NAMESPACE", "SHARED_NAMESPACE"):
            macros.append(f"-D{line}CRYPTO_{name}(name)={line}{top}_##name")
    return tuple(macros)


@dataclass(frozen=True, slots=True)
class Tree:
    """The directory that holds the `crypto_` directories."""

    root: Path

    @property
    def include(self) -> tuple[Path, ...]:
        """Directories of headers of the tree's own."""
        wanted = ("include", "cryptoint", "s2n-bignum/include")
        return tuple(place for name in wanted if (place := self.root / name).is_dir())

    @property
    def has_integers(self) -> bool:
        """True where the tree brings crypto_uint32.h and its kin."""
        return (self.root / "cryptoint" / "crypto_uint32.h").is_file()

    def parts_for(self, text: str) -> list[Part]:
        """Files of the tree's libraries that sources with this `text` need."""
        parts: list[Part] = []
        if self.has_integers and re.search(r"crypto_u?int(?:8|16|32|64)", text):
            blockers = sorted((self.root / "cryptoint").glob("*int[0-9]*_optblocker.c"))
            parts += [(file, (), (self.root / "cryptoint",)) for file in blockers]
        if "s2n-bignum" in text or "bignum_" in text:
            known = _bignum(self.root)
            files = sorted({known[name] for name in re.findall(r"\b\w+\b", text) if name in known})
            parts += [(file, (), self.include) for file in files]
        return parts


_BUILDING = threading.Lock()


def keccak(root: Path, abi: Sequence[str]) -> tuple[Path, Path]:
    """The tree's own Keccak library (`k/`), built once: where its headers are, and the archive. Raises Unusable."""
    with _BUILDING:
        try:
            return _keccak(root, tuple(abi))
        except subprocess.TimeoutExpired as error:
            raise Unusable(f"needs libkeccak, which is not built within {error.timeout:g} s") from None


@cache
def _keccak(root: Path, abi: tuple[str, ...]) -> tuple[Path, Path]:
    if not (root / "k" / "Makefile").is_file() or not (root / "k-targets").is_file():
        raise Unusable("needs libkeccak, whose source the tree does not have in k/")
    if not shutil.which("xsltproc"):
        raise Unusable("needs libkeccak, which is made by xsltproc: install that")
    command = [*compiler("c"), *abi, "-O3", "-march=native", "-fwrapv"]
    stamp = hashlib.sha256(f"{root} {command} {(root / 'version').exists()}".encode()).hexdigest()[:12]
    place = home() / "supercop" / f"keccak-{stamp}"
    archive, complaint = place / "libkeccak.a", ""
    if archive.is_file():
        return place, archive
    machine = "x86" if "-m32" in abi else {"x86_64": "amd64"}.get(platform.machine(), platform.machine())
    named = run_tool(["sh", str(root / "k-targets"), machine, *command], root, _LIMIT_S)
    for target in named.stdout.split():
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(root / "k", place / "k", symlinks=True)
        environment = os.environ | {"CC": command[0], "CFLAGS": " ".join(command[1:])}
        made = run_tool(["make", f"{target}/libXKCP.a"], place / "k", _LIBRARY_S, environment)
        built = place / "k" / "bin" / target
        if not made.returncode and (built / "libXKCP.a").is_file():
            shutil.copytree(built / "libXKCP.a.headers", place / "libkeccak.a.headers")
            (built / "libXKCP.a").replace(archive)
            shutil.rmtree(place / "k")
            return place, archive
        complaint = (made.stdout.strip().splitlines() or ["no word"])[-1]
    raise Unusable(f"needs libkeccak, which does not build: {complaint}")


@cache
def _bignum(root: Path) -> dict[str, Path]:
    """Functions of the tree's s2n-bignum for this machine, by name."""
    place = root / "s2n-bignum" / ("x86" if platform.machine() == "x86_64" else "arm")
    headers: dict[str, Path] = {}
    for file in sorted(place.rglob("*.S")):
        if not file.parent.name.endswith("_att"):
            text = file.read_text(encoding="utf-8", errors="replace")
            for name in re.findall(r"^\s*S2N_BN_SYM_VISIBILITY_DIRECTIVE\((\w+)\)", text, re.MULTILINE):
                headers.setdefault(name, file)
    return headers


def libraries(text: str) -> tuple[str, ...]:
    """The system's libraries that sources with this `text` need, as flags of the linker."""
    return tuple(flag for pattern, flag in _LIBRARIES if re.search(rf"#\s*include\s*{pattern}", text))


def read_constants(api: Path, include: Sequence[Path]) -> dict[str, int]:
    """What an `api.h` defines as numbers for the preprocessor, by SUPERCOP's names without `CRYPTO_`."""
    try:
        text = api.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.DOTALL)
    constants: dict[str, int] = {}
    open_names = []
    for name, value in _DEFINED.findall(text):
        number = _number(value)
        if number is None:
            open_names.append(name)
        else:
            constants.setdefault(name, number)
    return constants | (_preprocessed(api, open_names, include) if open_names else {})


def _preprocessed(api: Path, names: Sequence[str], include: Sequence[Path]) -> dict[str, int]:
    asked = "".join(f"PB_ASKED {name} = CRYPTO_{name}\n" for name in names)
    command = [*compiler("c"), "-E", "-P", "-x", "c", *namespace("crypto"), f"-I{api.parent}"]
    command += [*(f"-I{place}" for place in include), "-"]
    try:
        ended = captured(command, _LIMIT_S, given=f'#include "{api}"\n{asked}')
    except (OSError, subprocess.TimeoutExpired):
        return {}
    constants = re.findall(r"^PB_ASKED (\w+) = (.*)$", ended.stdout, re.MULTILINE)
    return {name: number for name, value in constants if (number := _number(value)) is not None}


def _number(text: str) -> int | None:
    """The value of a constant expression of C; None where it is none."""
    bare = re.sub(r"\b(0[xX][0-9a-fA-F]+|\d+)[uUlL]+\b", r"\1", text.strip())
    try:
        return _value(ast.parse(bare, mode="eval").body)
    except (SyntaxError, ValueError, KeyError, ZeroDivisionError, RecursionError, MemoryError):
        return None


def _value(node: ast.expr) -> int:
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand)
    if isinstance(node, ast.BinOp):
        left, right = _value(node.left), _value(node.right)
        if abs(left) > 1 << 64 or abs(right) > 1 << 64 or (isinstance(node.op, ast.LShift) and right > 64):
            raise ValueError(node)
        made: int = _BINARY[type(node.op)](left, right)
        return made
    raise ValueError(node)


def guarded(text: str) -> str:
    """A header that C++ can include as well."""
    return f'#pragma once\n#ifdef __cplusplus\nextern "C" {{\n#endif\n{text}#ifdef __cplusplus\n}}\n#endif\n'


def header(full: str, constants: Mapping[str, int], prototypes: Sequence[str]) -> str:
    """The header of an operation or of a sub-primitive: its lengths and its functions."""
    lines = [f"#define {full}_{name} {value}" for name, value in constants.items()]
    return guarded("\n".join([*lines, *prototypes]) + "\n")


def support(operation: str, constants: Mapping[str, int]) -> str:
    """The C that stands beside an implementation of `operation`; `constants` are the lengths of its api.h."""
    signature = f"#define SIGNATURE {constants.get('BYTES', 0)}\n" if operation == "sign" else ""
    return f'{signature}#include "{places.data_dir("runners") / "sdk" / "try" / "supercop.c"}"\n'


def build_crate(
    place: Path, operation: str, constants: Mapping[str, int], flags: Sequence[str], scratch: Path
) -> Path:
    """Build the crate in `place` as a static library with C's functions of its operation. Raises Unusable."""
    if operation not in _OF_CRATES:
        raise Unusable(f"made with Cargo: crypto_{operation} of Rust is not called here")
    lengths = "".join(f"const {constant}: usize = {value};\n" for constant, value in constants.items())
    functions = places.data_dir("runners") / "sdk" / "try" / "supercop.rs"
    lib = f"#![allow(non_snake_case, dead_code, unexpected_cfgs)]\n{lengths}include!({json.dumps(str(functions))});\n"
    crate = scratch / "crate"
    try:
        write_crate(crate, place, lib, operation)
    except (OSError, UsageError) as error:
        raise Unusable(str(error)) from error
    _run_cargo(crate, flags)
    return crate / PRODUCT


def _run_cargo(crate: Path, flags: Sequence[str]) -> None:
    level = next((flag[2:] for flag in reversed(flags) if flag.startswith("-O")), "3")
    words = [f"-Copt-level={level}", *(["-Ctarget-cpu=native"] if "-march=native" in flags else [])]
    command = ["cargo", "build", "--release", "--quiet", f"--target-dir={crate / 'target'}"]
    try:
        ended = run_tool(command, crate, _CARGO_S, os.environ | {"RUSTFLAGS": " ".join(words)})
    except FileNotFoundError:
        raise Unusable("made with Cargo, and there is none here") from None
    except subprocess.TimeoutExpired:
        raise Unusable(f"Cargo needs more than {_CARGO_S} s") from None
    if ended.returncode:
        errors = [line for line in ended.stdout.splitlines() if line.startswith("error")]
        raise Unusable(f"Cargo: {(errors or [ended.stdout.strip() or 'no word'])[0]}")
