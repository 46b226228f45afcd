"""A tree in SUPERCOP's layout, generated: a hash of ours in many implementations, good and bad. No cryptography."""

from __future__ import annotations

import subprocess
from pathlib import Path

CATALOGUE = """\
[shared]
kind = "hash"
origin = "the tests"
operations = ["digest"]
sources = ["tests/trial/supercop_tree.py"]

[algorithms.toymix]
name = "Toymix"
block_bytes = 8
tag_bytes = 16
year = 2026
"""
API = "#define CRYPTO_BYTES 16\n"
MACHINES = "amd64\nx86\naarch64\n"
HASH = """\
#include "crypto_hash.h"
#include <stdint.h>
{extra}
int crypto_hash(unsigned char *out, const unsigned char *in, unsigned long long inlen)
{{
	uint64_t a = 0x9e3779b97f4a7c15, b = inlen;
	unsigned long long i = 0;
	{unrolled}
	for (; i < inlen; i++) {{ {step} }}
	for (i = 0; i < 8; i++) out[i] = a >> 8 * i, out[8 + i] = b >> 8 * i;
	return 0;
}}
"""
STEP = "a = (a ^ in[i]) * 0x100000001b3; b = (b << 7 | b >> 57) + a;"
BAD = {
    "no-compile": "this is no C",
    "undefined": "int crypto_core(void); int crypto_hash(unsigned char *o, const unsigned char *i,"
    " unsigned long long n) { return crypto_core(); }",
    "wrong": HASH.format(extra="", unrolled="if (inlen > 20) a++;", step=STEP),
    "crashes": "int crypto_hash(unsigned char *o, const unsigned char *i, unsigned long long n)"
    " { return *(volatile int *)0; }",
    "hangs": "int crypto_hash(unsigned char *o, const unsigned char *i, unsigned long long n) { for (;;); }",
}
MISSING = '#include "crypto_core_nowhere.h"\nint crypto_hash(void) { return 0; }'
OUTCOMES = {
    "no-compile": "does not compile",
    "undefined": "does not compile",
    "wrong": "wrong",
    "crashes": "crashes",
    "hangs": "hangs",
    "sub-missing": "cannot be built",
    "elsewhere": "cannot be built",
}


def write(place: Path, files: dict[str, str]) -> Path:
    place.mkdir(parents=True)
    for name, text in {"api.h": API, **files}.items():
        (place / name).write_text(text)
    return place


def unrolled(times: int) -> str:
    steps = " ".join([STEP, "i++;"] * times)
    return f"for (; i + {times} <= inlen;) {{ {steps} }}"


def write_tree(root: Path) -> dict[str, str]:
    """Write the tree below `root` and return what must become of each implementation."""
    home = root / "crypto_hash" / "toymix"
    expected = dict(OUTCOMES)
    for times in range(1, 15):
        name = "ref" if times == 1 else f"unrolled{times}"
        body = HASH.format(extra="", unrolled=unrolled(times) if times > 1 else "", step=STEP)
        write(home / name, {"hash.c": body, "architectures": MACHINES if times % 2 else ""})
        expected[name] = "measured"
    write(
        home / "cxx",
        {"hash.cc": HASH.format(extra="static_assert(sizeof(char) == 1);", unrolled="", step=STEP)},
    )
    assembly = write(home / "assembly", {"build.c": HASH.format(extra="", unrolled=unrolled(2), step=STEP)})
    (assembly / "crypto_hash.h").write_text("")
    subprocess.run(["cc", "-O2", "-w", "-S", "-o", "hash.s", "build.c"], cwd=assembly, check=True)
    (assembly / "build.c").unlink()
    (assembly / "crypto_hash.h").unlink()
    core = """#include "crypto_core.h"
#include <string.h>
int crypto_core(unsigned char *out, const unsigned char *in, const unsigned char *k, const unsigned char *c)
{ unsigned long long a, b; memcpy(&a, out, 8); memcpy(&b, out + 8, 8);
a = (a ^ *in) * 0x100000001b3; b = (b << 7 | b >> 57) + a; memcpy(out, &a, 8); memcpy(out + 8, &b, 8); return 0; }
"""
    write(root / "crypto_core" / "toystep" / "ref", {"core.c": core})
    headers = ("crypto_core_toystep.h", "crypto_verify_16.h", "crypto_uint64.h", "string.h")
    with_core = "\n".join(f'#include "{name}"' for name in headers)
    use = (
        "unsigned char s[16]; memcpy(s, &a, 8); memcpy(s + 8, &b, 8); crypto_core_toystep(s, in + i, 0, 0); "
    )
    use += "memcpy(&a, s, 8); memcpy(&b, s + 8, 8); if (crypto_verify_16(s, s)) a = 0;"
    write(home / "with-core", {"hash.c": HASH.format(extra=with_core, unrolled="", step=use)})
    for name in ("cxx", "assembly", "with-core"):
        expected[name] = "measured"
    for name, text in BAD.items():
        write(home / name, {"hash.c": text})
    write(home / "sub-missing", {"hash.c": MISSING})
    write(home / "elsewhere", {"hash.c": "", "architectures": "sparcv9\n"})
    return expected
