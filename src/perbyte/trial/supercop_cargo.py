"""Implementations in a tree of SUPERCOP's that are Rust crates: each is linked as a static library with C's functions.

SUPERCOP calls them through functions of its own that take slices and arrays. The crate that is written here has them.
It depends on the implementation's crate and changes nothing of it. Cargo gets what that one needs from its registry.
"""

from __future__ import annotations

import json
import os
import subprocess
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from perbyte.runners.build import run_tool
from perbyte.trial.supercop_tree import Unusable

_LIMIT_S = 300
_COMMON = """\
#![allow(non_snake_case)]
use std::borrow::Cow;
use std::slice::{from_raw_parts, from_raw_parts_mut};

unsafe fn given<'a>(at: *const u8, bytes: u64) -> &'a [u8] {
    if bytes == 0 { &[] } else { unsafe { from_raw_parts(at, bytes as usize) } }
}

unsafe fn room<'a>(at: *mut u8, bytes: u64) -> &'a mut [u8] {
    if bytes == 0 { &mut [] } else { unsafe { from_raw_parts_mut(at, bytes as usize) } }
}

/// What is read may lie where is written.
unsafe fn apart<'a>(at: *const u8, bytes: u64, out: *const u8, written: u64) -> Cow<'a, [u8]> {
    let (a, b) = (at as u64, out as u64);
    let read = unsafe { given(at, bytes) };
    if a < b + written && b < a + bytes { Cow::Owned(read.to_vec()) } else { Cow::Borrowed(read) }
}
"""
_OF = {
    "hash": """
#[no_mangle]
pub unsafe extern "C" fn crypto_hash(out: *mut u8, m: *const u8, bytes: u64) -> i32 {
    unsafe { theirs::crypto_hash(&mut *(out as *mut [u8; BYTES]), &apart(m, bytes, out, BYTES as u64)) };
    0
}
""",
    "stream": """
#[no_mangle]
pub unsafe extern "C" fn crypto_stream(c: *mut u8, bytes: u64, n: *const u8, k: *const u8) -> i32 {
    unsafe {
        theirs::crypto_stream(room(c, bytes), &*(n as *const [u8; NONCEBYTES]), &*(k as *const [u8; KEYBYTES]))
    };
    0
}

#[no_mangle]
pub unsafe extern "C" fn crypto_stream_xor(
    c: *mut u8, m: *const u8, bytes: u64, n: *const u8, k: *const u8,
) -> i32 {
    unsafe {
        let m = apart(m, bytes, c, bytes);
        let (n, k) = (&*(n as *const [u8; NONCEBYTES]), &*(k as *const [u8; KEYBYTES]));
        theirs::crypto_stream_xor(room(c, bytes), &m, n, k)
    };
    0
}
""",
    "scalarmult": """
#[no_mangle]
pub unsafe extern "C" fn crypto_scalarmult(q: *mut u8, n: *const u8, p: *const u8) -> i32 {
    unsafe {
        let (n, p) = (*(n as *const [u8; SCALARBYTES]), *(p as *const [u8; BYTES]));
        theirs::crypto_scalarmult(&mut *(q as *mut [u8; BYTES]), &n, &p)
    };
    0
}

#[no_mangle]
pub unsafe extern "C" fn crypto_scalarmult_base(q: *mut u8, n: *const u8) -> i32 {
    unsafe {
        let n = *(n as *const [u8; SCALARBYTES]);
        theirs::crypto_scalarmult_base(&mut *(q as *mut [u8; BYTES]), &n)
    };
    0
}
""",
    "aead": """
#[no_mangle]
pub unsafe extern "C" fn crypto_aead_encrypt(
    c: *mut u8, clen: *mut u64, m: *const u8, mlen: u64, ad: *const u8, adlen: u64, _: *const u8,
    npub: *const u8, k: *const u8,
) -> i32 {
    unsafe {
        let bytes = mlen + ABYTES as u64;
        let (m, ad) = (apart(m, mlen, c, bytes), apart(ad, adlen, c, bytes));
        let (npub, k) = (*(npub as *const [u8; NPUBBYTES]), *(k as *const [u8; KEYBYTES]));
        *clen = theirs::crypto_aead_encrypt(room(c, bytes), &m, &ad, &[0u8; NSECBYTES], &npub, &k) as u64
    };
    0
}

#[no_mangle]
pub unsafe extern "C" fn crypto_aead_decrypt(
    m: *mut u8, mlen: *mut u64, _: *mut u8, c: *const u8, clen: u64, ad: *const u8, adlen: u64,
    npub: *const u8, k: *const u8,
) -> i32 {
    unsafe {
        if clen < ABYTES as u64 {
            return -1;
        }
        let bytes = clen - ABYTES as u64;
        let (c, ad) = (apart(c, clen, m, bytes), apart(ad, adlen, m, bytes));
        let (npub, k) = (*(npub as *const [u8; NPUBBYTES]), *(k as *const [u8; KEYBYTES]));
        let (got, answer) =
            theirs::crypto_aead_decrypt(room(m, bytes), &mut [0u8; NSECBYTES], &c, &ad, &npub, &k);
        *mlen = got as u64;
        answer as i32
    }
}
""",
}


def build_crate(
    place: Path, operation: str, constants: Mapping[str, int], flags: Sequence[str], scratch: Path
) -> Path:
    """Build the crate in `place` as a static library below `scratch`, with C's functions of `crypto_OPERATION`.

    `constants` are the lengths of its api.h. Raises Unusable with Cargo's first error.
    """
    if operation not in _OF:
        raise Unusable(f"made with Cargo: crypto_{operation} of Rust is not called here")
    try:
        name = tomllib.loads((place / "Cargo.toml").read_text(encoding="utf-8"))["package"]["name"]
    except (OSError, ValueError, KeyError) as error:
        raise Unusable(f"Cargo.toml: {error}") from error
    crate = scratch / "crate"
    crate.mkdir(parents=True, exist_ok=True)
    theirs = f"theirs = {{ package = {json.dumps(name)}, path = {json.dumps(str(place))} }}"
    (crate / "Cargo.toml").write_text(
        '[package]\nname = "implementation"\nversion = "0.0.0"\nedition = "2021"\n\n'
        f'[lib]\npath = "lib.rs"\ncrate-type = ["staticlib"]\n\n[dependencies]\n{theirs}\n\n[workspace]\n',
        encoding="utf-8",
    )
    lengths = "".join(
        f"#[allow(dead_code)]\nconst {constant}: usize = {value};\n" for constant, value in constants.items()
    )
    (crate / "lib.rs").write_text(_COMMON + lengths + _OF[operation], encoding="utf-8")
    _run_cargo(crate, flags)
    return crate / "target" / "release" / "libimplementation.a"


def _run_cargo(crate: Path, flags: Sequence[str]) -> None:
    level = next((flag[2:] for flag in reversed(flags) if flag.startswith("-O")), "3")
    words = [f"-Copt-level={level}", *(["-Ctarget-cpu=native"] if "-march=native" in flags else [])]
    command = ["cargo", "build", "--release", "--quiet", f"--target-dir={crate / 'target'}"]
    try:
        ended = run_tool(command, crate, _LIMIT_S, os.environ | {"RUSTFLAGS": " ".join(words)})
    except FileNotFoundError:
        raise Unusable("made with Cargo, and there is none here") from None
    except subprocess.TimeoutExpired:
        raise Unusable(f"Cargo needs more than {_LIMIT_S} s") from None
    if ended.returncode:
        errors = [line for line in ended.stdout.splitlines() if line.startswith("error")]
        raise Unusable(f"Cargo: {(errors or [ended.stdout.strip() or 'no word'])[0]}")
