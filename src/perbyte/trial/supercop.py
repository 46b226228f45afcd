"""Directories in SUPERCOP's layout: `crypto_OP/PRIMITIVE/IMPLEMENTATION/` with an `api.h`, each a runner of its own.

The layout is general and names no repository. What SUPERCOP generates around an implementation is generated here: the
headers `crypto_OP.h`, `crypto_OP_PRIMITIVE.h` of sub-primitives (taken from the same tree), `crypto_verify_N`,
`randombytes.h`, `crypto_uint32.h` and its kin. An implementation that lacks something is an outcome with its reason.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from perbyte.catalogue import load
from perbyte.errors import PerbyteError, UsageError
from perbyte.model import Algorithm
from perbyte.trial.adapter import write_adapter
from perbyte.trial.program import COMPILED, Source, digest_of
from perbyte.trial.prototype import c_prototype
from perbyte.trial.roles import Call, assign

FLAGS = ("-O3", "-march=native", "-fwrapv")
_BYTES, _GIVEN, _LENGTH = "unsigned char *", "const unsigned char *", "unsigned long long "
# Functions of each operation: (name's ending, parameters). o: written, i: read, n: length, l: given back.
_FUNCTIONS: dict[str, tuple[tuple[str, str], ...]] = {
    "hash": (("", "o:out i:in n:inlen"),),
    "stream": (("", "o:c n:clen i:n i:k"), ("_xor", "o:c i:m n:mlen i:n i:k")),
    "auth": (("", "o:a i:m n:mlen i:k"), ("_verify", "i:a i:m n:mlen i:k")),
    "onetimeauth": (("", "o:a i:m n:mlen i:k"), ("_verify", "i:a i:m n:mlen i:k")),
    "aead": (
        ("_encrypt", "o:c l:clen i:m n:mlen i:ad n:adlen i:nsec i:npub i:k"),
        ("_decrypt", "o:m l:mlen o:nsec i:c n:clen i:ad n:adlen i:npub i:k"),
    ),
    "kem": (("_keypair", "o:pk o:sk"), ("_enc", "o:ct o:ss i:pk"), ("_dec", "o:ss i:ct i:sk")),
    "sign": (
        ("_keypair", "o:pk o:sk"),
        ("", "o:sm l:smlen i:m n:mlen i:sk"),
        ("_open", "o:m l:mlen i:sm n:smlen i:pk"),
    ),
    "scalarmult": (("", "o:q i:n i:p"), ("_base", "o:q i:n")),
    "core": (("", "o:out i:in i:k i:c"),),
    "hashblocks": (("", "o:statebytes i:in n:inlen"),),
    "verify": (("", "i:x i:y"),),
}
# What becomes of them: step, ending, and the text of a prototype where roles need better names.
_STEPS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "hash": (("digest", "", "o:out i:in n:inlen"),),
    "stream": (("encrypt", "_xor", "o:out i:in n:inlen i:nonce i:key"),),
    "auth": (("mac", "", "o:out i:in n:inlen i:key"),),
    "onetimeauth": (("mac", "", "o:out i:in n:inlen i:key"),),
    "aead": (("seal", "_encrypt", ""), ("open", "_decrypt", "")),
    "kem": (("keypair", "_keypair", ""), ("encapsulate", "_enc", ""), ("decapsulate", "_dec", "")),
    "sign": (
        ("keypair", "_keypair", ""),
        ("sign", "_detached", "o:sig l:siglen i:m n:mlen i:sk"),
        ("verify", "_checked", "i:sig i:m n:mlen i:pk"),
    ),
    "scalarmult": (("base", "_base", "o:pk i:sk"), ("derive", "", "o:out i:sk i:pk")),
}
_CONSTANTS = (
    *(
        "BYTES",
        "KEYBYTES",
        "NONCEBYTES",
        "NPUBBYTES",
        "NSECBYTES",
        "ABYTES",
        "PUBLICKEYBYTES",
        "SECRETKEYBYTES",
    ),
    *(
        "CIPHERTEXTBYTES",
        "OUTPUTBYTES",
        "INPUTBYTES",
        "CONSTBYTES",
        "STATEBYTES",
        "BLOCKBYTES",
        "SCALARBYTES",
    ),
)
_INCLUDED = re.compile(r'#\s*include\s*[<"](crypto_([a-z]+)_(\w+))\.h[>"]')
_MACHINES = {"x86_64": {"amd64", "x86_64", "x86"}, "aarch64": {"aarch64", "armv8", "arm64"}}
_LENGTHS = {"key_bytes": "KEYBYTES", "tag_bytes": "BYTES"}


@dataclass(frozen=True, slots=True)
class Implementation:
    """One directory. `operation` without `crypto_`."""

    operation: str
    primitive: str
    name: str
    place: Path

    @property
    def tree(self) -> Path:
        """The directory that holds the `crypto_` directories."""
        return next(parent for parent in self.place.parents if parent.name.startswith("crypto_")).parent


Part = tuple[Path, tuple[str, ...], tuple[Path, ...]]  # a file, its flags, its include directories


class Unusable(Exception):
    """An implementation cannot be built here; the argument says why."""


def find_implementations(places: Iterable[Path]) -> tuple[Implementation, ...]:
    """All implementations in or below `places`. Raises UsageError where there is none."""
    found: dict[Path, Implementation] = {}
    for place in places:
        if not place.is_dir():
            raise UsageError(f"{place} is no directory", hint="name a directory that holds api.h somewhere")
        before = len(found)
        for api in sorted(place.resolve().rglob("api.h")):
            if (one := _implementation(api.parent)) and one.place not in found:
                found[one.place] = one
        if len(found) == before:
            raise UsageError(
                f"{place}: there is no crypto_OP/PRIMITIVE/IMPLEMENTATION/api.h in it",
                hint=f"operations that can be tried: {', '.join('crypto_' + name for name in _STEPS)}",
            )
    return tuple(found.values())


def algorithm_of(one: Implementation, asked: Algorithm | None) -> Algorithm:
    """The algorithm that a primitive is. Raises UsageError when the catalogue has none of its name."""
    if asked:
        return asked
    bare = re.sub(r"v\d+$", "", one.primitive)
    for name in (one.primitive, bare, re.sub(r"([a-z])(\d)", r"\1-\2", bare)):
        try:
            return load().find(name)
        except UsageError:
            continue
    raise UsageError(
        f"crypto_{one.operation}/{one.primitive}: the catalogue has no algorithm of this name",
        hint="say it with --as, or describe it in a directory that PERBYTE_CATALOGUE names",
    )


def make_implementation(
    one: Implementation, algorithm: Algorithm, flags: Sequence[str], name: str, scratch: Path
) -> Source:
    """The source of the runner of `one`; generated files go into `scratch`.

    Raises Unusable with the reason, UsageError when the algorithm is of another kind.
    """
    if machines := _read(one.place / "architectures").split("\n"):
        named = {line.split()[0] for line in machines if line.split()}
        here = _MACHINES.get(platform.machine(), {platform.machine()})
        if named and not named & here:
            raise Unusable(f"made for {', '.join(sorted(named))}")
    constants = constants_of(one)
    for field, constant in _LENGTHS.items():
        expected = getattr(algorithm, field)
        if constant in constants and expected and constants[constant] != expected and field != "tag_bytes":
            raise Unusable(
                f"api.h: CRYPTO_{constant} is {constants[constant]}, {algorithm.id} has {expected}"
            )
    scratch.mkdir(parents=True, exist_ok=True)
    _write_headers(scratch, one, constants)
    own = _sources(one.place)
    if not own:
        raise Unusable("no sources")
    renamed: list[Part] = []
    for full, operation, primitive in _needed(one.place):
        renamed += _sub_primitive(one.tree, full, operation, primitive, scratch)
    (scratch / "support.c").write_text(_SUPPORT + _glue(one, constants), encoding="utf-8")
    calls = _calls(one.operation)
    adapter = write_adapter(
        algorithm,
        calls,
        name=name,
        library=f"crypto_{one.operation}/{one.primitive}/{one.name}",
        version=digest_of(own),
    )
    texts = "".join(_read(file) for file in own)
    return Source(
        name=name,
        files=(*own, scratch / "support.c"),
        flags=tuple(flags),
        table=adapter.table,
        include=(one.place, scratch),
        forced=(f"crypto_{one.operation}.h",),
        link=("-lcrypto",) if re.search(r"#\s*include\s*<openssl/", texts) else (),
        others=tuple(renamed),
    )


def _implementation(place: Path) -> Implementation | None:
    parts = place.parts
    for index in range(len(parts) - 3, -1, -1):
        operation = parts[index].removeprefix("crypto_")
        if parts[index].startswith("crypto_") and operation in _STEPS:
            return Implementation(operation, parts[index + 1], "-".join(parts[index + 2 :]), place)
    return None


def _calls(operation: str) -> dict[str, Call]:
    found = {}
    given = dict(_FUNCTIONS[operation])
    for step, ending, parameters in _STEPS[operation]:
        function = f"crypto_{operation}{ending}"
        prototype = c_prototype(function, f"{_declared(function, parameters or given[ending])};")
        assert prototype
        found[step] = assign(step, function, prototype)
    return found


def _declared(function: str, parameters: str) -> str:
    kinds = {"o": _BYTES, "i": _GIVEN, "n": _LENGTH, "l": f"{_LENGTH}*"}
    told = [kinds[kind] + name for kind, name in (one.split(":") for one in parameters.split())]
    return f"int {function}({', '.join(told)})"


def _write_headers(scratch: Path, one: Implementation, constants: Mapping[str, int]) -> None:
    (scratch / f"crypto_{one.operation}.h").write_text(
        _header(f"crypto_{one.operation}", one.operation, constants), encoding="utf-8"
    )
    for bits in (8, 16, 32, 64):
        for sign in ("", "u"):
            name = f"crypto_{sign}int{bits}"
            text = f"#pragma once\n#include <stdint.h>\ntypedef {sign}int{bits}_t {name};\n"
            (scratch / f"{name}.h").write_text(text, encoding="utf-8")
    for length in (8, 16, 32, 64):
        text = _header(f"crypto_verify_{length}", "verify", {"BYTES": length})
        (scratch / f"crypto_verify_{length}.h").write_text(text, encoding="utf-8")
    random = _guarded("extern void randombytes(unsigned char *, unsigned long long);\n")
    (scratch / "randombytes.h").write_text(random, encoding="utf-8")


def _header(full: str, operation: str, constants: Mapping[str, int]) -> str:
    lines = [f"#define {full}_{name} {value}" for name, value in constants.items()]
    lines += [f"extern {_declared(full + ending, given)};" for ending, given in _FUNCTIONS[operation]]
    return _guarded("\n".join(lines) + "\n")


def _guarded(text: str) -> str:
    return f'#pragma once\n#ifdef __cplusplus\nextern "C" {{\n#endif\n{text}#ifdef __cplusplus\n}}\n#endif\n'


def _constants(api: Path, operation: str) -> dict[str, int]:
    """The lengths that an `api.h` defines, as CRYPTO_X or crypto_OP_X."""
    text = _read(api)
    found = {}
    for name in _CONSTANTS:
        match = re.search(rf"#\s*define\s+(?:CRYPTO|crypto_{operation}\w*?)_{name}\s+\(?(\d+)\)?", text)
        if match:
            found[name] = int(match[1])
    return found


def constants_of(one: Implementation) -> dict[str, int]:
    """The lengths that the `api.h` of `one` defines, in bytes, by SUPERCOP's names without `CRYPTO_`."""
    return _constants(one.place / "api.h", one.operation)


def _sources(place: Path) -> tuple[Path, ...]:
    return tuple(sorted(file for file in place.iterdir() if file.suffix in COMPILED and file.is_file()))


def _needed(place: Path) -> list[tuple[str, str, str]]:
    """Sub-primitives whose headers the sources include: (crypto_hash_sha512, hash, sha512)."""
    found: dict[tuple[str, str, str], None] = {}
    for file in sorted(place.iterdir()):
        if file.suffix in (*COMPILED, ".h"):
            for full, operation, primitive in _INCLUDED.findall(_read(file)):
                if operation in _FUNCTIONS and operation != "verify":
                    found[full, operation, primitive] = None
    return list(found)


def _sub_primitive(tree: Path, full: str, operation: str, primitive: str, scratch: Path) -> list[Part]:
    """Sources of a sub-primitive, its functions renamed; writes its header."""
    home = tree / f"crypto_{operation}" / primitive
    choices = sorted(home.glob("*/api.h"), key=lambda api: (api.parent.name != "ref", api.parent.name))
    if not choices:
        raise Unusable(f"needs {full}, which is not in the tree")
    place = choices[0].parent
    constants = _constants(choices[0], operation)
    (scratch / f"{full}.h").write_text(_header(full, operation, constants), encoding="utf-8")
    inner = scratch / full
    inner.mkdir(exist_ok=True)
    (inner / f"crypto_{operation}.h").write_text(
        _header(f"crypto_{operation}", operation, constants), encoding="utf-8"
    )
    renames = tuple(f"-Dcrypto_{operation}{ending}={full}{ending}" for ending, _ in _FUNCTIONS[operation])
    found: list[Part] = [(file, renames, (place, inner, scratch)) for file in _sources(place)]
    for deeper, other, name in _needed(place):
        found += _sub_primitive(tree, deeper, other, name, scratch)
    return found


def _glue(one: Implementation, constants: Mapping[str, int]) -> str:
    """Signatures come glued to their messages here, signature first; the SDK wants them apart."""
    if one.operation != "sign":
        return ""
    return _SIGN_GLUE.replace("SIGNATURE", str(constants.get("BYTES", 0)))


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def reason(error: PerbyteError | Exception) -> str:
    """An outcome's reason in one line."""
    return re.sub(r"\s+", " ", str(error))[:300]


_SUPPORT = "/* Written by `perbyte try`: what SUPERCOP provides around an implementation. */\n" + "".join(
    f"""int crypto_verify_{length}(const unsigned char *x, const unsigned char *y)
{{
	unsigned different = 0;
	for (int i = 0; i < {length}; i++)
		different |= x[i] ^ y[i];
	return (int)(1 & ((different - 1) >> 8)) - 1;
}}
"""
    for length in (8, 16, 32, 64)
)
_SIGN_GLUE = """
#include <stdlib.h>
#include <string.h>

typedef unsigned long long length;
extern int crypto_sign(unsigned char *, length *, const unsigned char *, length, const unsigned char *);
extern int crypto_sign_open(unsigned char *, length *, const unsigned char *, length, const unsigned char *);
static unsigned char *room;
static length room_bytes;

static unsigned char *make_room(length bytes)
{
	if (bytes > room_bytes)
		room = realloc(room, room_bytes = bytes);
	return room;
}

int crypto_sign_detached(unsigned char *sig, length *siglen, const unsigned char *m, length mlen,
                         const unsigned char *sk)
{
	length smlen = 0;
	unsigned char *sm = make_room(2 * (mlen + SIGNATURE) + 64);
	int answer = crypto_sign(sm, &smlen, m, mlen, sk);
	memcpy(sig, sm, SIGNATURE);
	*siglen = smlen - mlen;
	return answer;
}

int crypto_sign_checked(const unsigned char *sig, const unsigned char *m, unsigned long long mlen,
			const unsigned char *pk)
{
	length opened = 0;
	unsigned char *sm = make_room(2 * (mlen + SIGNATURE) + 64);
	memcpy(sm, sig, SIGNATURE);
	memcpy(sm + SIGNATURE, m, mlen);
	return crypto_sign_open(sm + mlen + SIGNATURE, &opened, sm, mlen + SIGNATURE, pk);
}
"""
