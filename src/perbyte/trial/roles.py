"""What each parameter of a function is for: names, types and neighbours tell, or the user does.

A *role* is what Perbyte hands over: `out`, `in`, `size` and so on. One that is missing is an error that shows what was
understood and how to say the rest.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from perbyte.errors import UsageError
from perbyte.trial.cpp import copies
from perbyte.trial.prototype import Parameter, Prototype, Shape
from perbyte.trial.steps import (
    BACKWARDS,
    LENDING,
    LENGTH_LIKE,
    LENGTH_OF,
    LENT,
    LITERALS,
    MAKING,
    MEANINGS,
    NAMES,
    NUMBER,
    NUMBERS_RETURNED,
    OF_POINTERS,
    OFFSETS,
    RETURNED_ROLES,
    RETURNING,
    ROUNDS,
    STEPS,
)

_READ, _WRITTEN = (Shape.READ, Shape.READ_SLICE), (Shape.WRITTEN, Shape.WRITTEN_SLICE)
_ANY = (*_READ, *_WRITTEN, Shape.CONTEXT, Shape.LENGTH_BACK)


@dataclass(frozen=True, slots=True)
class Call:
    """A function with the role of each of its parameters.

    `freed` is the function that frees what this one returns, '' where it returns nothing of that sort: a buffer with
    the output, or the state (see `makes`). `held`: its state is what another one returned. `one_block`: it takes one
    block or state and is not told how many bytes these have.
    """

    step: str
    function: str
    roles: tuple[str, ...]
    prototype: Prototype | None = None
    freed: str = ""
    one_block: bool = False
    held: bool = False

    @property
    def makes(self) -> bool:
        """True for a function that returns the state."""
        return bool(self.freed) and self.step in MAKING

    @property
    def hands_over(self) -> bool:
        """True for a function that writes to `out` where its output lies, which another function frees."""
        return bool(self.freed) and self.step in RETURNING and self.has("out")

    @property
    def returns_number(self) -> int:
        """Bytes of the number that a function returns as its output, 0 where it returns none."""
        if self.step not in RETURNING or not self.prototype or self.has("out") or self.freed:
            return 0
        return NUMBERS_RETURNED.get(self.prototype.result.removeprefix("const ").strip(), 0)

    @property
    def returns_bytes(self) -> bool:
        """True where it returns its output as bytes, of a length that its language knows."""
        return bool(self.prototype and self.prototype.result.startswith(("[u8", "Vec<u8>", "Vec <u8>")))

    def has(self, role: str) -> bool:
        """True when one of the parameters has this role."""
        return role in self.roles


def assign(
    step: str,
    function: str,
    prototype: Prototype,
    freed: str = "",
    *,
    one_block: bool = False,
    state: str = "",
) -> Call:
    """Give each parameter of `prototype` its role in `step`. Raises UsageError when one is left in doubt.

    `freed` is the function that frees what a function of C returns, where the user named one. `one_block`: the function
    takes one block or state, whose words may be of any width. `state` is the type of the state that another function
    works on (see `state_type`): what has it is the state here, too.
    """
    allowed = (*STEPS[step].needs, *STEPS[step].takes)
    roles: dict[int, str] = {}
    reads = any(parameter.shape in _READ for parameter in prototype.parameters)
    for index, parameter in enumerate(prototype.parameters):
        structure = parameter.shape is Shape.CONTEXT
        if structure and "context" in allowed and _as_state(parameter) == state:
            roles[index] = "context"
            break
    for index, parameter in enumerate(prototype.parameters):
        if index in roles:
            continue
        fitting = [
            role
            for role in allowed
            if role not in roles.values() and _fits(step, role, parameter, one_block=one_block)
        ]
        joined = _squeezed(parameter.name).rstrip("0123456789") or parameter.name
        own = joined in _names(step, "secret-key") - _names(step, "out")
        if step == "derive" and reads and parameter.shape in _WRITTEN and not own:
            fitting = [role for role in fitting if role == "out"]
        spellings = {parameter.name.lower(), _plain(parameter.name), joined, _OWNER.sub("", joined)}
        spellings.add(_without_container(parameter.name))
        if named := [role for role in fitting if spellings & _names(step, role)]:
            roles[index] = named[0]
    for index, parameter in enumerate(prototype.parameters):
        if (
            index not in roles
            and "context" in {*allowed} - {*roles.values()}
            and _as_state(parameter) == state
        ):
            roles[index] = "context"
    _by_neighbours(prototype.parameters, roles, allowed)
    if step == "digest" and "in" not in roles.values():  # hashes of tables call their data the key
        roles = {at: {"key": "in", "key-length": "size"}.get(role, role) for at, role in roles.items()}
    _by_elimination(step, prototype.parameters, roles, allowed)
    if prototype.language == "javascript":  # what a caller may leave out, as packages of npm have it
        roles = dict.fromkeys(range(len(prototype.parameters)), "null") | roles
    if one_block:
        _in_place(prototype.parameters, roles)
    told = tuple(roles.get(index, "") for index in range(len(prototype.parameters)))
    return _call(step, function, told, prototype, freed, one_block)


def state_type(call: Call) -> str:
    """The state that a function works on: the type of a structure, else type and name of its bytes; '' without."""
    parameters = call.prototype.parameters if call.prototype else ()
    for role, parameter in zip(call.roles, parameters, strict=bool(parameters)):
        if role == "context":
            return _as_state(parameter)
    return ""


def _as_state(parameter: Parameter) -> str:
    if parameter.shape is Shape.NUMBER:
        return "no state"
    name = "" if parameter.shape is Shape.CONTEXT else parameter.name
    words = f"{parameter.type} {name}".replace("*", " ").split()
    return " ".join(word for word in words if word not in ("const", "struct"))


def say(
    step: str,
    function: str,
    words: Sequence[str],
    prototype: Prototype | None,
    freed: str = "",
    *,
    one_block: bool = False,
) -> Call:
    """Take the roles from the user's own words; `one_block` where they name no size. Raises UsageError for no call."""
    roles = tuple(word.strip().lower().replace("_", "-") for word in words)
    for role in roles:
        if role not in MEANINGS and not NUMBER.fullmatch(role):
            raise UsageError(f"--signature: there is no role '{role}'", hint=explain(step))
    if prototype and len(prototype.parameters) != len(roles):
        raise UsageError(
            f"--signature names {len(roles)} parameters, and {prototype.text} has {len(prototype.parameters)}",
            hint=explain(step),
        )
    one_block = one_block and not {"size", "blocks"} & set(roles)
    return _call(step, function, roles, prototype, freed, one_block)


def _call(
    step: str, function: str, roles: tuple[str, ...], prototype: Prototype | None, freed: str, one_block: bool
) -> Call:
    gives = prototype and _gives_buffer(step, prototype, roles)
    if prototype and _lends(step, prototype, roles):
        freed, gives = LENT, True
    call = Call(step, function, roles, prototype, freed if gives else "", one_block)
    _check(call)
    return call


def _lends(step: str, prototype: Prototype, roles: Sequence[str]) -> bool:
    """True for a function that returns a pointer to constant output, which stays the library's."""
    result = prototype.result.split()
    return step in LENDING and "out" not in roles and "const" in result and result[-1] == "*"


def _gives_buffer(step: str, prototype: Prototype, roles: Sequence[str]) -> bool:
    """True for a function of C that allocates its output or its state: returned, or written to a pointer's pointer."""
    if step in RETURNING and "out" in roles:
        return prototype.parameters[list(roles).index("out")].type.count("*") > 1
    lacks = (step in RETURNING and "out" not in roles) or (step in MAKING and "context" not in roles)
    return lacks and prototype.result.rstrip().endswith("*")


def understood(call: Call) -> str:
    """What each parameter was taken for: `my_hash(out is out, msg is in, n is size)`."""
    if call.prototype and call.prototype.written:
        return call.prototype.written
    told = [
        role if name.replace("_", "-") == role else f"{name} is {role}" for name, role in _named_roles(call)
    ]
    result = "its result is the state" if call.makes else "its result is out"
    if call.freed == LENT:
        return f"{call.function}({', '.join(told)}), {result}"
    if copies(call.prototype):
        told.append("the data are copied into a container in each call, which is timed")
    freed = f", {'out' if call.hands_over else result}, freed by {call.freed}" if call.freed else ""
    return f"{call.function}({', '.join(told)}){freed}"


def _named_roles(call: Call) -> list[tuple[str, str]]:
    """The parameters by name, or by role where only those are known, each with its role."""
    names = [parameter.name for parameter in call.prototype.parameters] if call.prototype else call.roles
    return list(zip(names, call.roles, strict=True))


def explain(step: str, roles: Sequence[str] = (), language: str = "") -> str:
    """The roles of a step in words, for a message's way out, some of them understood; a `language` may lack some."""
    known = tuple(
        role
        for role in (*STEPS[step].needs, *STEPS[step].takes, *LITERALS)
        if not language or role not in OF_POINTERS
    )
    told = "; ".join(f"{role}: {MEANINGS[role]}" for role in known)
    words = ",".join(role or "?" for role in roles or STEPS[step].needs)
    step = "final" if step == "finish" else step
    return f"say what each parameter is, in its order: --signature {step}={words}  ({told})"


def _in_place(parameters: Sequence[Parameter], roles: dict[int, str]) -> None:
    """The only pointer without a role is the block or state itself, where nothing else is data."""
    left = [
        index
        for index, parameter in enumerate(parameters)
        if index not in roles and parameter.shape is not Shape.NUMBER
    ]
    if len(left) == 1 and not {"in", "out", "buffer"} & set(roles.values()):
        roles[left[0]] = "buffer"


def _fits(step: str, role: str, parameter: Parameter, *, one_block: bool = False) -> bool:
    if one_block and role in ("in", "out", "buffer", "key"):
        constant = "const" in parameter.type.split()
        return parameter.shape in _ANY and not (constant and role in ("out", "buffer"))
    if role == "out" and step in ("digest", "final") and parameter.shape is Shape.CONTEXT:
        # a structure that holds the output, by its name
        return "const" not in parameter.type.split() and parameter.name.lower() in _OUTPUTS
    if role == "tag" and step in ("seal", "sign"):
        return parameter.shape in _WRITTEN
    return parameter.shape in _shapes(role)


def _shapes(role: str) -> tuple[Shape, ...]:
    if is_number(role):
        return (Shape.NUMBER,)
    if role == "length-back":
        return (Shape.LENGTH_BACK,)
    if role in ("begin", *OFFSETS):
        return (Shape.NUMBER,)
    if role in ("context", "secret-number"):
        return _ANY
    return _WRITTEN if role in ("out", "buffer") else (*_READ, *_WRITTEN)


def is_number(role: str) -> bool:
    """True for a role of a number, not of a pointer."""
    if role in ("size", "blocks", "counter", "begin", *OFFSETS) or role.endswith(("-length", "-bits")):
        return True
    return bool(NUMBER.fullmatch(role))


def _names(step: str, role: str) -> set[str]:
    names = set(NAMES[role].split())
    if step in BACKWARDS and role in ("in", "out"):
        there, back = (
            {"ciphertext", "cipher", "ct", "c"},
            {"plaintext", "plain", "pt", "p", "m", "msg", "message"},
        )
        names = names - back | there if role == "in" else names - there | back
    if step in ("seal", "open") and role == "out":
        names -= {"mac", "tag"}
    return names


_OUTPUTS = {"digest", "hash", "md", "result", "out", "output"}
_CONTAINERS = {"buffer", "buf", "data", "ptr", "bytes", "array", "block", "p", "str", "string", "text"}


def _without_container(name: str) -> str:
    """`InBuffer`, `bufIn` and `input_data` without what they say of where bytes lie: `in`, `in`, `input`."""
    words = [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)]
    left = [word for word in words if word not in _CONTAINERS]
    return left[0] if len(left) == 1 and len(words) > 1 else ""


_OWNER = re.compile(r"^(?:your|their|my|our|peer|own|other|expected)s?")


def _plain(name: str) -> str:
    return name.lower().replace("_", "").removeprefix("p") if len(name) > 3 else name.lower().strip("_")


def _by_neighbours(parameters: Sequence[Parameter], roles: dict[int, str], allowed: Sequence[str]) -> None:
    """A number that is called after a pointer, or stands behind one, is its length, unless its name says otherwise."""
    pointers = {_squeezed(parameters[index].name): role for index, role in roles.items()}
    for index, parameter in enumerate(parameters):
        bare = _LENGTH_WORD.sub("", _squeezed(parameter.name))
        length = LENGTH_OF.get(pointers.get(bare) or roles.get(index - 1, ""), "")
        free = index not in roles and length in allowed and length not in roles.values()
        if (
            free
            and parameter.shape is Shape.NUMBER
            and (bare in pointers or LENGTH_LIKE.search(_plain(parameter.name)))
        ):
            roles[index] = length


_LENGTH_WORD = re.compile(r"^(?:n|num|sizeof|len)(?=...)|_?(?:len|length|size|sz|bytes|n)$")


def _squeezed(name: str) -> str:
    return name.lower().replace("_", "")


def _by_elimination(
    step: str, parameters: Sequence[Parameter], roles: dict[int, str], allowed: Sequence[str]
) -> None:
    """What is missing and what is left belong together where there is one of each. Constant data are read."""
    slices = {LENGTH_OF.get(role, "") for index, role in roles.items() if parameters[index].is_slice}
    for _ in allowed:
        missing = [role for role in STEPS[step].needs if role not in roles.values() and role not in slices]
        left = [index for index in range(len(parameters)) if index not in roles]
        before = len(roles)
        for index in left:
            parameter = parameters[index]
            fitting = [role for role in missing if _fits(step, role, parameter)]
            if _plain(parameter.name) in ROUNDS:
                continue
            if parameter.shape in _READ and "in" in fitting:
                fitting = [role for role in fitting if role != "out"]
            strict = [role for role in fitting if not (role == "in" and parameter.shape in _WRITTEN)]
            alone = [i for i in left if strict and _fits(step, strict[0], parameters[i])]
            if len(strict) == 1 and len(alone) == 1:
                roles[index] = strict[0]
                break
        if len(roles) == before:
            return


def _check(call: Call) -> None:
    shown = call.prototype.text if call.prototype else f"{call.function}({', '.join(call.roles)})"
    named = _named_roles(call)
    understood = ", ".join(f"{name} is {role}" for name, role in named if role)
    if lost := [name for name, role in named if not role]:
        raise UsageError(
            f"{shown}: what '{lost[0]}' is for is not clear" + (f" ({understood})" if understood else ""),
            hint=explain(call.step, call.roles, call.prototype.language if call.prototype else ""),
        )
    present = set(call.roles) | _implied(call)
    if call.one_block:
        present.add("size")
    lacking = [role for role in STEPS[call.step].needs if role not in present]
    if call.step in ("seal", "open"):  # another function may take it, or that of the key
        lacking = [role for role in lacking if role != "nonce"]
    if call.step in ("encrypt", "decrypt", "permute") and "buffer" not in present:
        lacking += [role for role in ("out", "in") if role not in present]
    allocates = call.prototype and _gives_buffer(call.step, call.prototype, call.roles) and not call.freed
    if allocates and lacking in ([], ["out"], ["context"]):
        made = "returns" if lacking else "allocates"
        raise UsageError(
            f"{shown}: what it {made} must be freed, and by which function is not known",
            hint=f"--function {call.step}={call.function},free=free, or another function's name",
        )
    if lacking:
        what = ", ".join(f"{role} ({MEANINGS[role]})" for role in lacking)
        raise UsageError(
            f"{shown}: there is no parameter for {what}" + (f"; {understood}" if understood else ""),
            hint=explain(call.step),
        )
    twice = [role for role in call.roles if role in NAMES and call.roles.count(role) > 1]
    if twice:
        raise UsageError(f"{shown}: two parameters are {twice[0]}", hint=explain(call.step))


def _implied(call: Call) -> set[str]:
    """Roles that need no parameter: lengths of slices, output that is returned, sizes told in blocks."""
    roles = {"size"} if call.has("blocks") else set()
    if not call.prototype:
        return roles
    for role, parameter in zip(call.roles, call.prototype.parameters, strict=True):
        if parameter.is_slice:
            roles.add(LENGTH_OF.get(role, ""))
            if role == "buffer":
                roles.add("size")
    if call.returns_bytes or call.freed or call.returns_number:
        roles.add("context" if call.makes else "out")
    if call.prototype.has_runtime:
        roles |= {"out-length", *RETURNED_ROLES.get(call.step, ())}
    return roles
