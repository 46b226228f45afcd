"""What the name of a benchmark means: algorithm, operation and size, or the reason why that is not known.

Every word and every number of a name must be understood: as part of an algorithm's name, as its operation, as the
size, or as a word that says nothing of what is timed. One that is left over may change all of it (`update`, `batch`,
`private`), so there is no default: the answer is a sentence then. The words are in `benchmark_words.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from perbyte.catalogue import Catalogue
from perbyte.exchange.algorithm_names import (
    additions,
    bare,
    key_numbers,
    last_word,
    names_of,
    short_names,
    word_tables,
)
from perbyte.exchange.benchmark_sizes import BITS, SIZED, UNSIZED_BYTES, Sizes, units_of
from perbyte.model import Algorithm

_BOTH_WAYS = frozenset({"ctr", "ofb"})  # modes in which decryption is encryption
_LONGEST = 12  # atoms of an algorithm's name: hss sha 256 h 5 w 8 h 5 w 8
_SHORTEST = 2  # letters and digits of it
_PHRASE = 4
_DIGITS = 18
_UNTOLD = frozenset(
    {"keygen", "derive", "encapsulate", "decapsulate", "aggregate", "sum"}
)  # operations that take no data
_PLAIN_FROM = 8  # a smaller number without unit is rather a number of a variant than a length of data
_DECORATION = re.compile(
    r"/(?:real_time|process_time|manual_time|threads:1|iterations:\d+|repeats:\d+|min_(?:warmup_)?time:[\d.]+s?)(?=/|$)"
)
_THREADS = re.compile(r"/threads:(\d+)(?=/|$)")
_VARIANT = re.compile(
    r"(?<![a-z0-9])(?:avx(?:2|512)?|s?sse[234]?(?:[._]?[12])?|neon|aesni|shani)(?![a-z0-9])", re.I
)
_ATOM = re.compile(
    r"[KMG]i[Bb](?![a-z])|[kKMG][Bb](?![A-Za-z])|[0-9]+|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_]+"
)
_SETTING = re.compile(r"\s*([A-Za-z][A-Za-z_. -]*?)\s*[=:]\s*([^=:]+?)\s*")
_SIZE_SETTING = re.compile(r"size|len|bytes|input|message|msg|data|buf|^n$", re.IGNORECASE)
_OTHER_SETTING = re.compile(r"tag|nonce|\biv|aad|block|salt|digest|hash|out|offset|align", re.IGNORECASE)
_WHOSE = frozenset({"provider", "impl", "implementation", "library", "lib", "backend", "engine", "cpu"})


@dataclass(frozen=True, slots=True)
class Meaning:
    """The cell that a name stands for, without whose it is."""

    algorithm: Algorithm
    operation: str
    size_bytes: int


@dataclass(slots=True)
class _Atom:
    """A word or a number of a name, in lower case, with what stands between it and the one before."""

    text: str
    between: str
    used: bool = False

    @property
    def is_number(self) -> bool:
        return self.text.isdigit()


class _Unclear(Exception):
    """Why a name is not understood."""


def understand(
    name: str,
    catalogue: Catalogue,
    *,
    sizes: Sizes | None = None,
    package: str = "",
    settings: Iterable[tuple[str, str]] = (),
) -> Meaning | str:
    """Return what the benchmark `name` times, or why that is not known.

    `sizes` is what the tool says of a call's bytes. `package` is where the name stands, outer parts first; `settings`
    are named parameters. Raises nothing.
    """
    try:
        return _Name(name, catalogue, sizes or Sizes(), package, tuple(settings)).meaning()
    except _Unclear as unclear:
        return str(unclear)


def size_for(
    algorithm: Algorithm,
    name: str,
    catalogue: Catalogue,
    *,
    sizes: Sizes | None = None,
    settings: Iterable[tuple[str, str]] = (),
) -> int | str:
    """Return the bytes of a call of the benchmark `name`, which times `algorithm`; or why they are not known."""
    try:
        return _Name(name, catalogue, sizes or Sizes(), "", tuple(settings)).size_of(algorithm)
    except _Unclear as unclear:
        return str(unclear)


def package_is_of(package: str, algorithm: Algorithm, catalogue: Catalogue) -> bool:
    """False where the package `package` is one of another algorithm than `algorithm`."""
    of_package = names_of(catalogue)[0].get(last_word(package))
    return of_package is None or of_package is algorithm or last_word(package) in bare(algorithm.id)


class _Name:
    def __init__(
        self,
        name: str,
        catalogue: Catalogue,
        sizes: Sizes,
        package: str,
        settings: tuple[tuple[str, str], ...],
    ) -> None:
        self.catalogue, self.sizes, self.package = catalogue, sizes, package
        if (threads := _THREADS.search(name)) and threads[1] != "1":
            raise _Unclear(f"{threads[1]} threads at once are none of the catalogue's operations")
        text = _VARIANT.sub(" ", _DECORATION.sub("", name))
        parts, self.settings = _settings_in(text, settings)
        self.atoms = _atoms(parts)
        if any(atom.is_number and len(atom.text) > _DIGITS for atom in self.atoms):
            raise _Unclear("it has a number that is no size; say it with --map")
        self.keys: set[int] = set()  # lengths of keys that the name gives a label
        self.told: int | None = None  # a length of data that has a label
        for setting, value in self.settings:
            self._take_setting(setting, value)

    def _take_setting(self, setting: str, value: str) -> None:
        word = setting.lower()
        count, unit = _count(value)
        if word in _WHOSE:
            return
        if count is None:
            self.atoms += _atoms([value])
        elif "thread" in word:
            if count != 1:
                raise _Unclear(f"{count} threads at once are none of the catalogue's operations")
        elif "key" in word:
            self.keys |= {count, 8 * count}
        elif _OTHER_SETTING.search(word) or not _SIZE_SETTING.search(word) or "bit" in word:
            raise _Unclear(f"what its parameter {setting} is for is not known; say it with --map")
        elif self.told is not None:
            raise _Unclear("it has two parameters that may be the size; say it with --map")
        else:
            self.told = self._one_of(units_of(count, unit))

    def meaning(self) -> Meaning:
        algorithm = self._algorithm()
        operation = self._operation(algorithm, list(self._words(algorithm)))
        if operation not in _UNTOLD:
            return Meaning(algorithm, operation, self._size(algorithm))
        numbers = [at for at, atom in enumerate(self.atoms) if self._free_number(atom)]
        if self.told is not None or numbers or (self.sizes.known and not self.sizes.holds(UNSIZED_BYTES)):
            raise _Unclear(
                f"{operation} of {algorithm.id} takes no data, and its name tells a number; say it with --map"
            )
        return Meaning(algorithm, operation, UNSIZED_BYTES)

    def size_of(self, algorithm: Algorithm) -> int:
        """The size, where somebody else says what the algorithm is."""
        self._match_all()
        if self.keys and not self.keys & key_numbers(algorithm):
            raise _Unclear(f"its name tells a key of another length than {algorithm.id} has")
        if self.sizes.known and self.told is None and (size := self.sizes.roundest()):
            return size
        return self._size(algorithm)

    # ---- the algorithm

    def _algorithm(self) -> Algorithm:
        matches = self._match_all()
        chosen = matches[0] if matches else self._by_key_length() or self._of_package()
        if chosen is None:
            self._say_what_is_left_out()
            raise _Unclear("no algorithm of the catalogue is in its name; say it with --map")
        for other in matches[1:]:
            if other is not chosen and bare(other.id) not in additions(chosen):
                raise _Unclear(f"its name has {chosen.id} and {other.id}; say which with --map")
        self._agree_with_package(chosen)
        if self.keys and not self.keys & key_numbers(chosen):
            raise _Unclear(f"its name has {chosen.id}, and a key of another length; say it with --map")
        return chosen

    def _say_what_is_left_out(self) -> None:
        """Raise where an algorithm stands in it whose mode, parameters or rounds do not."""
        short = short_names(self.catalogue)
        for length in range(min(_LONGEST, len(self.atoms)), 0, -1):
            for at in range(len(self.atoms) - length + 1):
                joined = "".join(atom.text for atom in self.atoms[at : at + length])
                if joined in short:
                    known = short[joined].id
                    raise _Unclear(
                        f"'{joined}' leaves out mode or parameters (the catalogue has {known}); say it with --map"
                    )

    def _match_all(self) -> list[Algorithm]:
        """The algorithms whose names stand in it, the longest first; their atoms are used up."""
        names, _ = names_of(self.catalogue)
        matches: list[tuple[int, Algorithm]] = []
        for length in range(min(_LONGEST, len(self.atoms)), 0, -1):
            for at in range(len(self.atoms) - length + 1):
                part = self.atoms[at : at + length]
                joined = "".join(atom.text for atom in part)
                if any(atom.used for atom in part) or len(joined) < _SHORTEST:
                    continue
                if joined in word_tables()["unlike"]["names"]:
                    raise _Unclear(f"the catalogue does not have the algorithm '{joined}'")
                if joined not in names:
                    continue
                self._refuse_either(part, names)
                for atom in part:
                    atom.used = True
                matches.append((len(joined), names[joined]))
        return [algorithm for _, algorithm in sorted(matches, key=lambda entry: -entry[0])]

    def _refuse_either(self, part: list[_Atom], names: dict[str, Algorithm]) -> None:
        """A number behind a slash that ends a name may as well be the size, where the name is one without it."""
        shorter = "".join(atom.text for atom in part[:-1])
        if not part[-1].is_number or part[-1].between in ("", "-", "_"):
            return
        if names["".join(atom.text for atom in part)].kind not in SIZED:
            return  # its figures need no size
        if shorter in names or shorter in names_of(self.catalogue)[1]:
            others = [atom for atom in self.atoms if atom.is_number and atom not in part]
            if not others and self.told is None and not self.sizes.known:
                raise _Unclear(f"{part[-1].text} may be the size or a part of the name; say it with --map")

    def _by_key_length(self) -> Algorithm | None:
        """A name that tells the length of the key apart from the algorithm: AESGCM/Seal-128-64."""
        _, stems = names_of(self.catalogue)
        for length in range(min(6, len(self.atoms)), 0, -1):
            for at in range(len(self.atoms) - length + 1):
                part = self.atoms[at : at + length]
                members = stems.get("".join(atom.text for atom in part))
                if not members:
                    continue
                for atom in part:
                    atom.used = True
                return self._member(members)
        return None

    def _member(self, members: dict[int, Algorithm]) -> Algorithm:
        some = next(iter(members.values()))
        if labelled := {number for number in self.keys if number in members}:
            if len(labelled) == 1:
                return members[labelled.pop()]
            raise _Unclear(f"which length the key of {some.family} has is not clear; say it with --map")
        free = [(at, atom) for at, atom in enumerate(self.atoms) if atom.is_number and not atom.used]
        fitting = [(at, atom) for at, atom in free if int(atom.text) in members]
        with_bits = [(at, atom) for at, atom in fitting if self._unit_behind(at) in BITS]
        first = with_bits or fitting
        sized = SIZED & {some.kind}
        if sized and not self.sizes.known and self.told is None and len(free) < 2:
            first = with_bits  # a single number is as likely the length of the data
        if not first or first[0] != (with_bits or free)[0]:
            lengths = ", ".join(map(str, sorted(members)))
            raise _Unclear(f"which of its lengths ({lengths}) the name means is not clear; say it with --map")
        at, atom = first[0]
        atom.used = True
        if at + 1 < len(self.atoms) and self.atoms[at + 1].text in BITS:
            self.atoms[at + 1].used = True
        return members[int(atom.text)]

    def _of_package(self) -> Algorithm | None:
        names, _ = names_of(self.catalogue)
        return names.get(last_word(self.package))

    def _agree_with_package(self, algorithm: Algorithm) -> None:
        """Raise where the package's name makes another algorithm of the one that stands in the benchmark's."""
        known = "".join((bare(algorithm.id), *map(bare, algorithm.aliases)))
        last = re.split(r"[/.]", self.package)[-1]
        of_others = word_tables()["of_others"]["words"]
        words = {atom.text for atom in _atoms([last])} | {last_word(self.package)}
        foreign = {word for word in words if word in of_others and word not in known}
        of_package = self._of_package()
        if of_package and of_package is not algorithm and bare(of_package.id) not in known:
            foreign.add(last_word(self.package))
        if foreign:
            raise _Unclear(f"its package is {last}, its name has {algorithm.id}; say it with --map")

    # ---- the words

    def _words(self, algorithm: Algorithm) -> Iterator[str]:
        """The words that may be operations, phrases as one; raises for one that is not understood."""
        table = word_tables()
        neutral = set(table["neutral"]) | set(table["kind_neutral"].get(algorithm.kind, ()))
        own = {atom.text for name in (algorithm.id, algorithm.family) for atom in _atoms([name])}
        operations = {word for words in table["operations"][algorithm.kind].values() for word in words}
        added = additions(algorithm)
        at = 0
        while at < len(self.atoms):
            if self.atoms[at].used:
                at += 1
                continue
            for length in range(min(6, len(self.atoms) - at), 0, -1):
                part = self.atoms[at : at + length]
                if any(atom.used for atom in part):
                    continue
                if "".join(atom.text for atom in part) in added:
                    at += length
                    for atom in part:
                        atom.used = True
                    break
                words = " ".join(atom.text for atom in part)
                word = table["phrases"].get(words, words if length == 1 else "")
                if length > _PHRASE or not word or self.atoms[at].is_number:
                    continue
                if word in operations:
                    yield word
                elif not (word in neutral or word in own) and not self._is_unit(at):
                    if length > 1:
                        continue
                    if word == "key" and self._key_number(at, algorithm):
                        at += 1
                        break
                    raise _Unclear(f"'{word}' of its name is not understood; say it with --map")
                if not self._is_unit(at):
                    for atom in part:
                        atom.used = True
                at += length
                break
            else:
                at += 1  # a number: the size's business

    def _is_unit(self, at: int) -> bool:
        unit, before = self.atoms[at].text, self.atoms[at - 1]
        return at > 0 and before.is_number and self._unit_behind(at - 1).startswith(unit)

    def _key_number(self, at: int, algorithm: Algorithm) -> bool:
        """Whether 'key' stands beside the length of the algorithm's key, which is used up then."""
        for near in (at + 1, at - 1):
            if not (0 <= near < len(self.atoms) and self.atoms[near].is_number):
                continue
            if int(self.atoms[near].text) in (8 * algorithm.key_bytes, algorithm.key_bytes):
                self.atoms[near].used = self.atoms[at].used = True
                return True
        return False

    def _operation(self, algorithm: Algorithm, words: list[str]) -> str:
        table = word_tables()["operations"][algorithm.kind]
        meant = {name for name, known in table.items() if set(words) & set(known)}
        if len(meant) > 1:
            raise _Unclear(f"its name has {' and '.join(sorted(meant))}; say which with --map")
        if algorithm.kind == "password-hash" and "verify" in words:
            raise _Unclear("to verify a password is none of the catalogue's operations")
        name = meant.pop() if meant else ""
        if name and name not in algorithm.operations:
            raise _Unclear(f"the catalogue has no {name} of {algorithm.id}")
        if not name and algorithm.id in word_tables()["everyday"]["words"] and not self._has_kind(algorithm):
            raise _Unclear(f"'{algorithm.id}' may be a word of the language; say it with --map")
        if name:
            return name
        both = algorithm.kind == "stream-cipher" or algorithm.mode in _BOTH_WAYS
        if len(table) == 1 or both or algorithm.kind == "xof":
            return algorithm.operations[0]
        listed = ", ".join(algorithm.operations)
        raise _Unclear(
            f"which operation of {algorithm.id} is not said in its name ({listed}); say it with --map"
        )

    def _has_kind(self, algorithm: Algorithm) -> bool:
        kinds = word_tables()["kind_neutral"].get(algorithm.kind, ())
        return any(atom.text in kinds for atom in self.atoms)

    # ---- the size

    def _size(self, algorithm: Algorithm) -> int:
        numbers = [(at, int(atom.text)) for at, atom in enumerate(self.atoms) if self._free_number(atom)]
        own = {int(number) for number in re.findall(r"\d+", algorithm.id)} | {8 * algorithm.key_bytes}
        counted = word_tables()["counted"]["words"]
        if several := [
            at for at, _ in numbers if at + 1 < len(self.atoms) and self.atoms[at + 1].text in counted
        ]:
            raise _Unclear(self._left_over(several))
        values = {at: units_of(value, self._unit_behind(at)) for at, value in numbers}
        if self.sizes.known:
            fitting = [at for at in values if any(self.sizes.holds(value) for value in values[at])]
            left = [at for at, value in numbers if at not in fitting and value not in own]
            if left or len(fitting) > 1:
                raise _Unclear(self._left_over(left or fitting))
            if self.told is not None:
                if fitting or not self.sizes.holds(self.told):
                    raise _Unclear("its name and its throughput tell different sizes; say it with --map")
                return self.told
            if fitting:
                return next(value for value in values[fitting[0]] if self.sizes.holds(value))
            if size := self.sizes.roundest():
                return size
            raise _Unclear(
                f"its size is between {self.sizes.low:.0f} and {self.sizes.high:.0f} bytes; say it with --map"
            )
        if self.told is not None:
            if left := [at for at, value in numbers if value not in own]:
                raise _Unclear(self._left_over(left))
            return self.told
        if algorithm.kind not in SIZED and algorithm.kind != "signature":
            if numbers:
                raise _Unclear(self._left_over([at for at, _ in numbers]))
            return algorithm.block_bytes if algorithm.kind == "permutation" else UNSIZED_BYTES
        if len(numbers) > 1:
            raise _Unclear(self._left_over([at for at, _ in numbers]))
        if not numbers:
            if algorithm.kind == "signature":
                return UNSIZED_BYTES
            raise _Unclear("no size is in its name; say it with --map")
        return self._only_number(algorithm, *numbers[0])

    def _only_number(self, algorithm: Algorithm, at: int, value: int) -> int:
        unit, between = self._unit_behind(at), self.atoms[at].between.strip()
        if unit in BITS:
            raise _Unclear(f"{value} bits may be the key's or the data's; say it with --map")
        if not unit and value in word_tables()["unlike"]["numbers"].get(algorithm.id, ()):
            raise _Unclear(f"{value} may be the size or a part of the name; say it with --map")
        if not unit and value < _PLAIN_FROM and between not in ("/", "=", ":", "@", "("):
            raise _Unclear(self._left_over([at]))
        if not unit and algorithm.kind in ("block-cipher", "aead") and value == 8 * algorithm.key_bytes:
            raise _Unclear(f"{value} may be the size or the length of the key; say it with --map")
        return self._one_of(units_of(value, unit))

    @staticmethod
    def _one_of(values: tuple[int, ...]) -> int:
        if not values:
            raise _Unclear("it has a number that is no size; say it with --map")
        if len(values) != 1:
            raise _Unclear(
                "whether its size is in units of 1000 or of 1024 bytes is not known; say it with --map"
            )
        return values[0]

    def _left_over(self, left: list[int]) -> str:
        shown = " and ".join(self.atoms[at].text for at in left)
        return f"what {shown} in its name {'is' if len(left) == 1 else 'are'} is not known; say it with --map"

    @staticmethod
    def _free_number(atom: _Atom) -> bool:
        return atom.is_number and not atom.used

    def _unit_behind(self, at: int) -> str:
        """The unit that stands behind the number at `at`; '' without one."""
        if at + 1 >= len(self.atoms):
            return ""
        after = self.atoms[at + 1]
        if after.between.strip() not in ("", "-", "_") or not units_of(1, after.text):
            return ""
        either = self.sizes.known and after.text in ("k", "m", "g")  # the rate tells whether 10k is 10,000
        return f"{after.text}b" if either else after.text


def _settings_in(
    text: str, settings: tuple[tuple[str, str], ...]
) -> tuple[list[str], tuple[tuple[str, str], ...]]:
    """The parts of a name without its named parameters, and these with `settings`."""
    parts, named = [], list(settings)
    for part in re.split(r"(?=[/,;])", text):
        plain = part.lstrip("/,; ")
        if (match := _SETTING.fullmatch(plain)) and "::" not in plain:
            named.append((match[1], match[2]))
        else:
            parts.append(part)
    return parts, tuple(named)


def _atoms(parts: Iterable[str]) -> list[_Atom]:
    atoms: list[_Atom] = []
    for part in parts:
        end = 0
        for number, match in enumerate(_ATOM.finditer(part)):
            between = part[end : match.start()] or ("/" if not number and atoms else "")
            end = match.end()
            atoms.append(_Atom(match[0].lower() if match[0] not in ("B", "b") else match[0], between))
    for atom in atoms:
        atom.text = atom.text.lower()
    return atoms


def _count(value: str) -> tuple[int | None, str]:
    match = re.fullmatch(r"(\d{1,15})\s*([A-Za-z]*)", value.strip())
    if not match or not units_of(1, match[2].lower()):
        return None, ""
    return int(match[1]), match[2].lower()
