"""From what the user named (files, functions, an algorithm) to the source of a runner.

`--function` names one function, or several with what each is for: `key=aes_setup,encrypt=aes_cbc`. Names alone are
sorted by the words in them (`init`, `update`, `final`). A mistake is an error that shows what the files hold.
"""

from __future__ import annotations

import contextlib
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from perbyte import places
from perbyte.catalogue.checking import MODES
from perbyte.errors import UsageError
from perbyte.model import Algorithm
from perbyte.runners import RunnerSpec
from perbyte.trial.adapter import write_adapter
from perbyte.trial.compressing import compresses
from perbyte.trial.cpp import classes_of, cpp_prototypes, cpp_wrapper, is_cpp, methods_of
from perbyte.trial.expressions import in_cpp, symbol, wrapped
from perbyte.trial.language import Managed
from perbyte.trial.managed import build_managed
from perbyte.trial.program import (
    COMPILED,
    HEADERS,
    LINKED,
    OTHER_LANGUAGES,
    Source,
    build_program,
    digest_of,
    from_pkg_config,
    link_words,
)
from perbyte.trial.prototype import MANAGED, Prototype, find_prototype, functions_of
from perbyte.trial.roles import Call, assign, explain, say, state_type
from perbyte.trial.steps import LENT, MAKING, RETURNING, STEPS, STEPS_OF, UNTIMED, WORDS
from perbyte.trial.wrappers import rust_wrapper, zig_wrapper
from perbyte.trial.written import ROLES, is_written, prototype_of, split_calls, step_of

_FREE = "free"  # of --function: what frees a buffer that is returned
_AS_AEAD = {"encrypt": "seal", "decrypt": "open"}


@dataclass(frozen=True, slots=True)
class TrialRequest:
    """What the command line said. `functions` and `signatures` as they stand there.

    `flags`: the compiler's words for each row, of which there is one for each.
    """

    files: tuple[Path, ...]
    algorithm: Algorithm
    functions: tuple[str, ...] = ()
    signatures: tuple[str, ...] = ()
    name: str = ""
    link: tuple[str, ...] = ()
    flags: tuple[tuple[str, ...], ...] = (("-O2",),)

    @property
    def title(self) -> str:
        """The name of the row, e.g. `my_hash`."""
        main = next((file for file in self.files if file.suffix not in HEADERS), self.files[0])
        stem = self.name or re.sub(r"[^A-Za-z0-9_.-]", "-", main.name.split(".")[0]) or "mine"
        taken = not self.name and (places.data_dir("runners") / stem).is_dir()
        return f"{stem}-mine" if taken else stem

    def row_name(self, flags: Sequence[str]) -> str:
        """The name of the row of these flags: they are part of it where there are several."""
        words = re.sub(r"[^A-Za-z0-9.]+", "-", " ".join(flags)).strip("-")
        return f"{self.title}-{words or 'plain'}" if len(self.flags) > 1 else self.title


def read_request(
    files: Sequence[Path],
    algorithm: Algorithm,
    functions: Sequence[str] = (),
    signatures: Sequence[str] = (),
    name: str = "",
    *,
    flags: Sequence[str] = (),
    defines: Sequence[str] = (),
    links: Sequence[str] = (),
    packages: Sequence[str] = (),
) -> TrialRequest:
    """The function in `files`, compiled with each of `flags`. Raises UsageError."""
    compiling, linking = from_pkg_config(packages)
    link = (*link_words(links), *linking)
    paths = read_files(files)
    foreign = managed(paths)
    if foreign and (link or compiling or defines):
        raise UsageError("--define, --link and --pkg-config are for compilers of C", hint="leave them out")
    more = (*(f"-D{define}" for define in defines), *compiling)
    usual: tuple[str, ...] = () if foreign else ("-O2",)
    rows = tuple((*words, *more) for words in [tuple(shlex.split(text)) for text in flags] or [usual])
    return TrialRequest(paths, algorithm, tuple(functions), tuple(signatures), name, link, rows)


def read_files(paths: Sequence[Path]) -> tuple[Path, ...]:
    """The files, absolute. Raises UsageError for one that is not there or empty."""
    files = []
    for path in paths:
        if path.suffix in OTHER_LANGUAGES:
            language, way = OTHER_LANGUAGES[path.suffix]
            raise UsageError(f"{path.name}: {language} is not compiled here", hint=way)
        if not path.is_file():
            what = "is a directory" if path.is_dir() else "is no file" if path.exists() else "does not exist"
            raise UsageError(f"{path} {what}", hint="name the files to build, e.g. my_hash.c tables.c")
        if not path.stat().st_size:
            raise UsageError(f"{path} is empty")
        files.append(path.resolve())
    kinds = {MANAGED.get(file.suffix, "c") for file in files if file.suffix in (*MANAGED, *COMPILED)}
    if len(kinds) > 1 and kinds not in ({"java", "kotlin"}, {"c", "go"}):
        names = ", ".join(file.name for file in files)
        raise UsageError(f"{names}: these are of several languages", hint="name the files of one program")
    return tuple(dict.fromkeys(files))


def read_calls(request: TrialRequest) -> dict[str, Call]:
    """The functions by what they are for, each parameter with its role. Raises UsageError with the way out."""
    signatures: dict[str, list[str]] = {}
    named = _named(request)
    freed = named.pop(_FREE, "")
    for text in request.signatures:
        step, equals, words = text.rpartition("=")
        if not equals and len(named) > 1:
            raise UsageError(
                "--signature does not name its function",
                hint=f"e.g. --signature {next(iter(named))}=out,in,size",
            )
        signatures[step or next(iter(named))] = words.split(",")
    if unknown := set(signatures) - set(named):
        raise UsageError(
            f"--signature {sorted(unknown)[0]}=...: no function is for that",
            hint=f"there are: {', '.join(named)}",
        )
    calls: dict[str, Call] = {}
    # those that make or set a state come first: by its type it is known elsewhere
    for step, function in sorted(named.items(), key=lambda item: item[0] not in MAKING):
        if is_written(function):
            calls[step] = written_call(step, function, request.files)
            continue
        several = cpp_prototypes(function, request.files)
        if len(scopes := {each.name for each in several}) > 1:
            raise UsageError(
                f"several functions are called {function}: {'; '.join(sorted(scopes))}",
                hint=f"say which: --function {step}={sorted(scopes)[0]}",
            )
        prototype = several[0] if several else find_prototype(function, request.files)
        if prototype and prototype.hidden:
            raise UsageError(
                f"{prototype.text} cannot be called from outside",
                hint="leave 'static' out; a function of Zig is 'pub' or 'export'",
            )
        if step in signatures:
            one_block = _takes_blocks(request.algorithm, step)
            read_as, roles = _finishing(step, named), signatures[step]
            calls[step] = say(read_as, function, roles, prototype, freed, one_block=one_block)
        elif prototype:
            reading = partial(_assigned, request.algorithm, _finishing(step, named))
            each_way = [partial(reading, each, freed, calls) for each in several or [prototype]]
            calls[step] = _first_clear(each_way)
        else:
            _explain_missing(request, step, function)
    if setting := _sets_nonce(request, calls):
        calls["nonce"] = _assigned(request.algorithm, "nonce", setting, "", calls)
    calls = {step: calls[step] for step in (*named, *(["nonce"] if setting else []))}
    if "digest" in calls and calls["digest"].step == "compress":
        calls = {"compress": calls["digest"]}
    if any(call.makes for call in calls.values()):
        calls = {step: replace(call, held=True) for step, call in calls.items()}
    if freed and not any(call.freed == freed for call in calls.values()):
        raise UsageError(
            f"--function free={freed}: no function returns a buffer that it could free",
            hint=f"of C: the output of {', '.join(RETURNING)}, or the state that {', '.join(MAKING)} returns",
        )
    return calls


def written_call(step: str, text: str, files: Sequence[Path]) -> Call:
    """A call as the user wrote it. Raises UsageError for C, whose functions are described, and without data."""
    file = next((file for file in files if file.suffix not in HEADERS), files[0])
    prototype, roles = prototype_of(step, text, file)
    if not prototype.language and file.suffix not in (".rs", ".zig") and not is_cpp(file):
        raise UsageError(
            f"{text}: a function of C is named", hint="--function NAME, and --signature out,in,size"
        )
    wanted = {"encapsulate", "keypair", "base", "derive"}
    if step not in wanted and not {"in", "ciphertext"} & set(roles):
        raise UsageError(f"{text}: it takes no data", hint=f"by these names: {', '.join(ROLES)}")
    return Call(step, text, roles, prototype)


def _first_clear(ways: Sequence[Callable[[], Call]]) -> Call:
    """What the first of several overloads is for, of those that are clear. Raises the first one's UsageError."""
    for way in ways[1:] and ways:
        with contextlib.suppress(UsageError):
            return way()
    return ways[0]()


def _sets_nonce(request: TrialRequest, calls: Mapping[str, Call]) -> Prototype | None:
    """The only function that sets a nonce by its name, where none of `calls` takes one; it is printed as understood."""
    wanted = request.algorithm.nonce_bytes and "nonce" in STEPS_OF.get(request.algorithm.kind, ())
    if not wanted or "key" not in calls or any(call.has("nonce") for call in calls.values()):
        return None
    names = [name for name in functions_of(request.files) if _guess(name, ("nonce",))]
    return find_prototype(names[0], request.files) if len(names) == 1 else None


def _takes_blocks(algorithm: Algorithm, step: str) -> bool:
    """True where a function may take one block or state alone: permutations, and ciphers in ECB."""
    return step == "permute" or (step in ("encrypt", "decrypt") and algorithm.mode == "ecb")


def _finishing(step: str, named: Mapping[str, str]) -> str:
    """The step by whose roles a function is read: where another squeezes the output, `final` gives none."""
    return "finish" if step == "final" and "squeeze" in named else step


def _assigned(
    algorithm: Algorithm, step: str, prototype: Prototype, freed: str, others: Mapping[str, Call]
) -> Call:
    """The function for `step`; in ECB one of a single block where it is not told the length of its data."""
    one_block = step == "permute"
    state = next(filter(None, map(state_type, others.values())), "")
    try:
        return assign(step, prototype.name, prototype, freed, one_block=one_block, state=state)
    except UsageError:
        if step == "digest" and compresses(algorithm.id):
            with contextlib.suppress(UsageError):
                return assign("compress", prototype.name, prototype)
        if not one_block and _takes_blocks(algorithm, step):
            with contextlib.suppress(UsageError):
                return assign(step, prototype.name, prototype, freed, one_block=True, state=state)
        raise


def make_source(
    request: TrialRequest, calls: Mapping[str, Call], flags: tuple[str, ...], name: str
) -> Source:
    """The source of the runner called `name`, compiled with `flags`."""
    files = ", ".join(file.name for file in request.files)
    version = digest_of(request.files)
    table = write_adapter(request.algorithm, calls, name=name, library=files, version=version, seeded=True)
    rust = next((file for file in request.files if file.suffix == ".rs"), None)
    exported = [call for call in calls.values() if wrapped(call)]
    wrapper = rust_wrapper(rust, exported) if rust and exported else ""
    if any(file.suffix == ".zig" for file in request.files):
        wrapper = zig_wrapper(exported)
    called = tuple(call.function for call in calls.values() if not wrapped(call) and not in_cpp(call))
    scoped = [(symbol(call), call.prototype) for call in calls.values() if call.prototype and in_cpp(call)]
    within = tuple(home for _, prototype in scoped if (home := prototype.home) and home.suffix in COMPILED)
    called += tuple(call.freed for call in calls.values() if call.freed not in ("", "free", LENT))
    return Source(
        name,
        request.files,
        flags,
        table,
        wrapper,
        link=request.link,
        called=called,
        cxx_wrapper=cpp_wrapper(scoped) if scoped else "",
        within=within,
    )


def build_row(
    request: TrialRequest, calls: Mapping[str, Call], flags: tuple[str, ...], place: Path
) -> RunnerSpec:
    """Build the program of one row into `place` (replaced). Raises as `build_program` and `build_managed`."""
    name = request.row_name(flags)
    if managed(request.files):
        return build_managed(Managed(name, request.files, request.algorithm, calls), place, flags)
    return build_program(make_source(request, calls, flags, name), place)


def managed(files: Sequence[Path]) -> bool:
    """True where the function is one of a language that brings its own runtime."""
    return any(file.suffix in MANAGED for file in files)


def _named(request: TrialRequest) -> dict[str, str]:
    """Functions by step. Raises UsageError for what is no step, and for names that do not tell theirs."""
    kind, functions = request.algorithm.kind, {}
    steps = STEPS_OF.get(kind, ())
    texts = [part for text in request.functions for part in split_calls(text)]
    if not texts:
        there = _likely_first((*functions_of(request.files), *classes_of(request.files)), request.algorithm)
        if len(there) != 1:
            raise UsageError(
                "which function is it?" if there else f"no function was found in {request.files[0].name}",
                hint="--function NAME"
                + (f"; there are: {', '.join(there[:12])}" if there else "; does the file compile?")
                + _several(_of_mode(there, request.algorithm), steps),
            )
        texts = list(there)
    if not steps:
        raise UsageError(
            f"{request.algorithm.id} is of the kind '{kind}', which cannot be tried this way",
            hint="write a runner: CONTRIBUTING.md",
        )
    if len(texts) == 1 and (parts := _of_class(texts[0], request.files, steps)):
        texts = parts
    first = "" if steps[0] in UNTIMED else steps[0]
    alone = sum(not text.startswith(f"{_FREE}=") for text in texts) == 1
    for text in texts:
        step, function = step_of(text, (_FREE,))
        if not step:
            step = (first if alone else "") or _guess(function, steps)
        step = _AS_AEAD.get(step, step) if kind == "aead" else step
        if step in functions or (step != _FREE and (step not in STEPS or step not in steps)):
            taken = f"a second '{step}'" if step in functions else f"what '{function}' is for is not known"
            raise UsageError(
                f"--function {text}: {taken}",
                hint=f"say it: {','.join(f'{step}=NAME' for step in steps)} (those that there are)",
            )
        if not is_written(function) and not re.fullmatch(r"(?:[A-Za-z_]\w*(?:::|\.))*[A-Za-z_]\w*", function):
            raise UsageError(f"--function: '{function}' is not a name of a function")
        functions[step] = function
    return functions


def _of_class(name: str, files: Sequence[Path], steps: Sequence[str]) -> list[str]:
    """A class that is made, fed and finished: the steps by the names of its members; [] where it is none."""
    if "=" in name or not {"init", "update", "final"} <= set(steps):
        return []
    told = {"init": name}
    for member in methods_of(name, files) if classes_of(files) else ():
        step = _guess(member.rpartition("::")[2], ("update", "final", "digest", "init", "squeeze"))
        told.setdefault("final" if step == "digest" else step, member)
    if "squeeze" in told and _gives_output(told.get("final", ""), files):
        del told["squeeze"]
    steps = [step for step in ("init", "update", "final", "squeeze") if step in told]
    return [f"{step}={told[step]}" for step in steps] if len(steps) > 2 else []


def _gives_output(function: str, files: Sequence[Path]) -> bool:
    """True where a member returns bytes, or has a parameter for them."""
    several = cpp_prototypes(function, files) if function else []
    return any(each.result.startswith("[u8") or len(each.parameters) > 1 for each in several)


def _of_mode(functions: Sequence[str], algorithm: Algorithm) -> list[str]:
    others = {mode for mode in MODES if algorithm.mode and mode not in algorithm.mode}
    return [name for name in functions if not others & set(re.split(r"_|(?<=[a-z])(?=[A-Z])", name.lower()))]


def _likely_first(functions: Sequence[str], algorithm: Algorithm) -> tuple[str, ...]:
    wanted = {
        word
        for word in re.split(r"[^a-z]+", f"{algorithm.id}-{algorithm.kind}-{algorithm.mode}")
        if len(word) > 2
    }
    return tuple(sorted(functions, key=lambda name: -sum(word in name.lower() for word in wanted)))


def _several(functions: Sequence[str], steps: Sequence[str]) -> str:
    told: dict[str, str] = {}
    for function in sorted(
        functions, key=lambda name: not re.search(r"(?:^|_)(?:iv|nonce)(?:_|$)|IV|Nonce", name)
    ):
        told.setdefault(_guess(function, steps), function)
    told.pop("", None)
    words = ",".join(f"{step}={function}" for step, function in told.items())
    return f"; several belong together: --function {words}" if len(told) > 1 else ""


def _guess(function: str, steps: Sequence[str]) -> str:
    for step, pattern in WORDS.items():
        if (step in steps or _AS_AEAD.get(step) in steps) and re.search(pattern, function, re.IGNORECASE):
            return step
    return ""


def _explain_missing(request: TrialRequest, step: str, function: str) -> None:
    there = _likely_first(functions_of(request.files), request.algorithm)
    if any(file.suffix in LINKED or file.suffix in (".S", ".s", ".asm") for file in request.files):
        raise UsageError(
            f"no prototype of {function} was found in the files: add its header, or {explain(step)}"
        )
    raise UsageError(
        f"there is no function '{function}' in {', '.join(file.name for file in request.files)}",
        hint=f"there are: {', '.join(there[:12]) or 'none to call; does the file compile?'}"
        + ("" if request.files[0].suffix == ".c" else f"; or the call as it is written: '{function}(data)'"),
    )
