"""Directories in SUPERCOP's layout: `crypto_OP/PRIMITIVE/IMPLEMENTATION/` with an `api.h`, each a runner of its own.

The headers that SUPERCOP generates around an implementation are generated here. An implementation that lacks something
is an outcome with its reason.
"""

from __future__ import annotations

import platform
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from perbyte import places
from perbyte.catalogue import load
from perbyte.errors import PerbyteError, UsageError
from perbyte.model import Algorithm
from perbyte.trial.adapter import write_adapter
from perbyte.trial.program import COMPILED, Source, Unusable, digest_of
from perbyte.trial.prototype import c_prototype
from perbyte.trial.roles import Call, assign
from perbyte.trial.supercop_tree import (
    PROVIDED,
    Part,
    Tree,
    build_crate,
    guarded,
    header,
    keccak,
    libraries,
    namespace,
    read_constants,
    support,
)

FLAGS = ("-O3", "-march=native", "-fwrapv")
_BYTES, _GIVEN, _LENGTH = "unsigned char *", "const unsigned char *", "unsigned long long "
WORDS = tomllib.loads((places.data_dir("catalogue") / "supercop.toml").read_text(encoding="utf-8"))
_FUNCTIONS: dict[str, dict[str, str]] = WORDS["functions"]
_STEPS: dict[str, dict[str, str]] = WORDS["steps"]
OPERATIONS = tuple(_STEPS)
"""What can be measured, without `crypto_`."""
_INCLUDED = re.compile(r'#\s*include\s*[<"](crypto_([a-z]+)_(\w+?))(_publicinputs)?\.h[>"]')
_MACHINES = {"x86_64": {"amd64", "x86_64"}, "aarch64": {"aarch64", "armv8", "arm64"}}
# what the machine runs besides, and the compiler's flags for it: Debian has the kernel's headers, which are the same,
# where only compilers of 64 bits look, unless gcc-multilib makes a link
_HALF = {"x86_64": ("x86", ("-m32", "-idirafter/usr/include/x86_64-linux-gnu"))}
_ALIGNED = 64  # SUPERCOP's own buffers are
_LARGEST_SIGNATURE = 65_535


@dataclass(frozen=True, slots=True)
class Implementation:
    """One directory. `operation` without `crypto_`."""

    operation: str
    primitive: str
    name: str
    place: Path

    @property
    def full(self) -> str:
        """The operation as SUPERCOP writes it."""
        return f"crypto_{self.operation}"

    @property
    def tree(self) -> Path:
        """The directory that holds the `crypto_` directories."""
        return next(parent for parent in self.place.parents if parent.name.startswith("crypto_")).parent


def find_implementations(places: Iterable[Path]) -> tuple[Implementation, ...]:
    """All implementations in or below `places`. Raises UsageError where there is none."""
    implementations: dict[Path, Implementation] = {}
    for place in places:
        if not place.is_dir():
            raise UsageError(
                f"{place} is not a directory", hint="name a directory that holds api.h somewhere"
            )
        before = len(implementations)
        for api in sorted(place.resolve().rglob("api.h")):
            if impl := _implementation(api.parent):
                implementations.setdefault(impl.place, impl)
        if len(implementations) == before:
            raise UsageError(
                f"{place}: there is no crypto_OP/PRIMITIVE/IMPLEMENTATION/api.h in it",
                hint=f"operations that can be tried: {', '.join('crypto_' + name for name in OPERATIONS)}",
            )
    return tuple(implementations.values())


def primitives_of(root: Path) -> dict[str, int]:
    """How many primitives the tree has of each operation, measured here or not."""
    return {
        place.name.removeprefix("crypto_"): sum(path.is_dir() for path in place.iterdir())
        for place in sorted(root.glob("crypto_*"))
        if place.is_dir()
    }


def algorithm_of(impl: Implementation, asked: Algorithm | None) -> Algorithm:
    """The algorithm that a primitive is, whose name has no hyphens. Raises UsageError when the catalogue has none."""
    if asked:
        return asked
    bare = re.sub(r"v\d+$", "", impl.primitive)
    for name in (impl.primitive, bare, re.sub(r"([a-z])(\d)", r"\1-\2", bare)):
        try:
            return load().find(name)
        except UsageError:
            continue
    for name in (impl.primitive, bare):
        if algorithm := load().find_bare(name):
            return algorithm
    if algorithm := load().algorithms.get(own_id(impl)):
        return algorithm
    raise UsageError(
        f"{impl.full}/{impl.primitive}: the catalogue has no algorithm of this name",
        hint="give --as, or describe it in a directory that PERBYTE_CATALOGUE names",
    )


def own_id(impl: Implementation) -> str:
    """The id under which a primitive that the catalogue lacks is measured."""
    named = f"{impl.operation}-{impl.primitive}".lower()
    return f"supercop-{re.sub(r'[^a-z0-9]+', '-', named).strip('-')}"


def make_implementation(
    impl: Implementation,
    algorithm: Algorithm,
    flags: Sequence[str],
    name: str,
    scratch: Path,
    compilers: tuple[tuple[str, ...], tuple[str, ...]] = ((), ()),
    programs: Mapping[str, str] | None = None,
) -> Source:
    """The source of a runner; generated files go into `scratch`. Raises Unusable, UsageError for another kind."""
    if elsewhere := _made_for(impl.place):
        raise Unusable(f"made for {elsewhere}")
    flags = (*flags, *_abi_of(impl.place))
    tree = Tree(impl.tree)
    constants = constants_of(impl)
    _check_lengths(impl, algorithm, constants)
    scratch.mkdir(parents=True, exist_ok=True)
    _write_headers(scratch, impl, constants, tree)
    own = _own_files(impl, constants, flags, scratch)
    subs = _Subs(tree, scratch)
    for needed in _needed(impl.place):
        subs.add(*needed)
    (scratch / "support.c").write_text(support(impl.operation, constants), encoding="utf-8")
    calls = _calls(impl.operation)
    table = write_adapter(
        algorithm,
        calls,
        name=name,
        library=f"{impl.full}/{impl.primitive}/{impl.name}",
        version=digest_of(own),
        room=max(constants.get("PUBLICKEYBYTES", 0), constants.get("SECRETKEYBYTES", 0)),
        aligned=_ALIGNED,
    )
    texts = _sources_text(impl.place) + subs.texts
    headers: tuple[Path, ...] = ()
    archives: tuple[str, ...] = ()
    if "libkeccak.a.headers/" in texts:
        place, archive = keccak(tree.root, _abi_of(impl.place))
        headers, archives = (place,), (str(archive),)
    return Source(
        name=name,
        files=(*own, scratch / "support.c"),
        flags=tuple(flags),
        table=table,
        include=(impl.place, scratch, *tree.include, *headers),
        forced=(f"{impl.full}.h",),
        link=(*archives, *libraries(texts)),
        others=tuple(
            (file, flags, (*include, *headers))
            for file, flags, include in (*subs.parts, *tree.parts_for(texts))
        ),
        defines=namespace(impl.full),
        compilers=compilers,
        programs=programs or {},
    )


def _own_files(
    impl: Implementation, constants: Mapping[str, int], flags: Sequence[str], scratch: Path
) -> tuple[Path, ...]:
    """The sources of an implementation, or the library that Cargo makes of it. Raises Unusable."""
    if own := _sources(impl.place):
        return own
    if (impl.place / "Cargo.toml").is_file():
        return (build_crate(impl.place, impl.operation, constants, flags, scratch),)
    raise Unusable("no sources")


def _check_lengths(impl: Implementation, algorithm: Algorithm, constants: Mapping[str, int]) -> None:
    """Raise Unusable where the lengths of api.h are not the algorithm's, or too large here."""
    given, expected = constants.get("KEYBYTES"), algorithm.key_bytes
    if given is not None and expected and given != expected:
        raise Unusable(f"api.h: CRYPTO_KEYBYTES is {given}, {algorithm.id} has {expected}")
    if impl.operation == "sign" and constants.get("BYTES", 0) > _LARGEST_SIGNATURE:
        raise Unusable(f"signatures of {constants['BYTES']} bytes; {_LARGEST_SIGNATURE} at the most here")


def narrower(flags: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Flags for narrower processors than this one, the widest first: some sources refuse what has wider code beside."""
    levels = ("x86-64-v3", "x86-64-v2", "x86-64") if platform.machine() == "x86_64" else ()
    if "-march=native" not in flags:
        return ()
    return tuple(
        tuple(f"-march={level}" if flag == "-march=native" else flag for flag in flags) for level in levels
    )


def _made_for(place: Path) -> str:
    named, here = _machines(place)
    half, _ = _HALF.get(platform.machine(), ("", ()))
    return "" if not named or named & {*here, half} else ", ".join(sorted(named))


def _abi_of(place: Path) -> tuple[str, ...]:
    """The flags for what is made for the smaller machine alone that this one also is: x86, of 32 bits."""
    named, here = _machines(place)
    half, flags = _HALF.get(platform.machine(), ("", ()))
    return flags if half in named and not named & here else ()


def _machines(place: Path) -> tuple[set[str], set[str]]:
    """The machines that an implementation names, and the names of this one."""
    named = {line.split()[0] for line in _read(place / "architectures").split("\n") if line.split()}
    return named, _MACHINES.get(platform.machine(), {platform.machine()})


def _implementation(place: Path) -> Implementation | None:
    parts = place.parts
    for index in range(len(parts) - 3, -1, -1):
        operation = parts[index].removeprefix("crypto_")
        if parts[index].startswith("crypto_") and operation in OPERATIONS:
            return Implementation(operation, parts[index + 1], "-".join(parts[index + 2 :]), place)
    return None


def _calls(operation: str) -> dict[str, Call]:
    calls, given = {}, {**_FUNCTIONS[operation], **WORDS["apart"]}
    for step, ending in _STEPS[operation].items():
        function = f"crypto_{operation}{ending}"
        prototype = c_prototype(function, f"{_declared(function, given[ending])};")
        assert prototype
        calls[step] = assign(step, function, prototype)
    return calls


def _declared(function: str, parameters: str) -> str:
    if "(" in parameters:
        result, rest = parameters.split(" (", 1)
        return f"{result} {function}({rest}"
    kinds = {"o": _BYTES, "i": _GIVEN, "n": _LENGTH, "l": f"{_LENGTH}*"}
    told = [kinds[kind] + name for kind, name in (part.split(":") for part in parameters.split())]
    return f"int {function}({', '.join(told)})"


def _write_headers(scratch: Path, impl: Implementation, constants: Mapping[str, int], tree: Tree) -> None:
    full = impl.full
    more = [
        f'#define {full}_PRIMITIVE "{impl.primitive}"',
        f'#define {full}_IMPLEMENTATION "{impl.name}"',
    ]
    text = header(full, constants, [*more, *prototypes(full, impl.operation)])
    for name in (full, f"{full}_{impl.primitive}"):
        (scratch / f"{name}.h").write_text(text, encoding="utf-8")
    if not tree.has_integers:
        for bits in (8, 16, 32, 64):
            for sign in ("", "u"):
                name = f"crypto_{sign}int{bits}"
                text = f"#pragma once\n#include <stdint.h>\ntypedef {sign}int{bits}_t {name};\n"
                (scratch / f"{name}.h").write_text(text, encoding="utf-8")
    for length in PROVIDED:
        name = f"crypto_verify_{length}"
        text = header(name, {"BYTES": length}, prototypes(name, "verify"))
        (scratch / f"{name}.h").write_text(text, encoding="utf-8")
    random = guarded("extern void randombytes(unsigned char *, unsigned long long);\n")
    (scratch / "randombytes.h").write_text(random, encoding="utf-8")
    if not any((place / "crypto_declassify.h").is_file() for place in tree.include):
        text = guarded("extern void crypto_declassify(const void *, unsigned long long);\n")
        (scratch / "crypto_declassify.h").write_text(text, encoding="utf-8")


def prototypes(full: str, operation: str) -> list[str]:
    """The declarations in C of the functions of `operation`, whose names begin with `full`."""
    return [f"extern {_declared(full + ending, given)};" for ending, given in _FUNCTIONS[operation].items()]


def constants_of(impl: Implementation) -> dict[str, int]:
    """The lengths that the `api.h` of `impl` defines, in bytes, by SUPERCOP's names without `CRYPTO_`."""
    return read_constants(impl.place / "api.h", Tree(impl.tree).include)


def _sources(place: Path) -> tuple[Path, ...]:
    return tuple(sorted(file for file in place.iterdir() if file.suffix in COMPILED and file.is_file()))


def _sources_text(place: Path) -> str:
    """All that stands in the sources and headers of a directory."""
    files = (file for file in sorted(place.iterdir()) if file.suffix in (*COMPILED, ".h", ".inc"))
    return "\n".join(map(_read, files))


def _needed(place: Path) -> list[tuple[str, str, str]]:
    """Sub-primitives whose headers the sources include, each once: (crypto_hash_sha512, hash, sha512)."""
    included = [groups[:3] for groups in _INCLUDED.findall(_sources_text(place))]
    provided = {("verify", str(length)) for length in PROVIDED}
    return [
        needed for needed in dict.fromkeys(included) if needed[1] in _FUNCTIONS and needed[1:] not in provided
    ]


class _Subs:
    """The sub-primitives of an implementation, each once: their parts, and the text of their sources."""

    def __init__(self, tree: Tree, scratch: Path) -> None:
        self.tree = tree
        self.scratch = scratch
        self.parts: list[Part] = []
        self.texts = ""
        self._added: set[str] = set()

    def add(self, full: str, operation: str, primitive: str) -> None:
        """Write the header of one, and take its sources with its functions renamed. Raises Unusable."""
        if full in self._added:
            return
        self._added.add(full)
        home = self.tree.root / f"crypto_{operation}" / primitive
        choices = [
            api for api in sorted(home.glob("*/api.h")) if not _made_for(api.parent) and _sources(api.parent)
        ]
        if not choices:
            raise Unusable(f"needs {full}, which is not in the tree")
        place = min(choices, key=lambda api: (api.parent.name != "ref", api.parent.name)).parent
        constants = read_constants(place / "api.h", self.tree.include)
        text = header(full, constants, prototypes(full, operation))
        for ending in ("", "_publicinputs"):
            (self.scratch / f"{full}{ending}.h").write_text(text, encoding="utf-8")
        inner = self.scratch / full
        inner.mkdir(exist_ok=True)
        bare = f"crypto_{operation}"
        text = header(bare, constants, prototypes(bare, operation))
        (inner / f"{bare}.h").write_text(text, encoding="utf-8")
        renames = tuple(f"-D{bare}{ending}={full}{ending}" for ending in _FUNCTIONS[operation])
        flags = (*renames, *namespace(full))
        include = (place, inner, self.scratch, *self.tree.include)
        self.parts += [(file, flags, include) for file in _sources(place)]
        self.texts += _sources_text(place)
        for deeper in _needed(place):
            self.add(*deeper)


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def reason(error: PerbyteError | Exception) -> str:
    """An outcome's reason in one line."""
    return re.sub(r"\s+", " ", str(error))[:300]
