"""Functions of languages with a runtime as runners, by the SDKs: what is generated around a user's files.

The files are copied into the program's directory, so that a kept baseline keeps its code; what else they import is
found where they lie. The program is called `runner`, as that of a trial in C.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from perbyte import places
from perbyte.atomic import new_directory
from perbyte.errors import EnvironmentLacking
from perbyte.runners import RunnerSpec
from perbyte.trial.building import (
    go_environment,
    make_executable,
    nearest,
    said_by,
    sdk_library,
    tool,
    words_of,
    write_generated,
    write_start,
)
from perbyte.trial.go_bench import module_over, write_modules
from perbyte.trial.jvm import write_jvm
from perbyte.trial.language import Managed, numbers_in
from perbyte.trial.looking import known_digest
from perbyte.trial.program import DoesNotBuild, describe, digest_of
from perbyte.trial.prototype import TYPED
from perbyte.trial.roles import Call
from perbyte.trial.steps import UNTIMED
from perbyte.trial.written import call_text, last_apart

_EXPORTED = (
    r"\bexport\s+(?:default\s+)?(?:async\s+)?(?:function|const|let|var)\s+{name}\b"
    r"|\bexport\s*\{{[^}}]*\b{name}\b|\bexports\b[^;]*\b{name}\b"
)
_NAMED = re.compile(r"""['"`](\.{1,2}/[^'"`\n]{1,200})['"`]""")
_ENDINGS = ("", ".js", ".cjs", ".mjs", ".ts", ".json", "/index.js")
_TYPES_SINCE = (22, 18)  # the first node that leaves types out by itself


def build_managed(asked: Managed, place: Path, flags: Sequence[str] = ()) -> RunnerSpec:
    """Build the program into `place` (replaced). Raises UsageError, DoesNotBuild, EnvironmentLacking."""
    with new_directory(place) as scratch:
        subject = scratch / "subject"
        subject.mkdir()
        for file in asked.files:
            shutil.copy(file, subject / file.name)
        _WAYS[asked.language](asked, scratch, flags)
        make_executable(scratch / "runner")
    return describe(asked.name, place, asked.files, language=asked.language)


def _facts(asked: Managed) -> dict[str, object]:
    key, nonce, output = asked.lengths
    return {
        "algorithm": asked.algorithm.id,
        "kind": asked.kind,
        "key": key,
        "nonce": nonce,
        "output": output,
        "ciphertext": asked.algorithm.ciphertext_bytes,
        "codes": asked.codes(),
        "function": next(iter(asked.coded().values()))[0].function,
        "known": known_digest(asked.algorithm),
        "functions": {step: call.function for step, call in asked.calls.items() if not _written(call)},
        "words": _words_written(asked),
        "makers": {
            step: call_text(call.prototype, "", ["given"])
            for step, call in asked.calls.items()
            if step in UNTIMED and _written(call)
        },
        "library": asked.main.name,
        "version": digest_of(asked.files),
    }


def _written(call: Call) -> str:
    return call.prototype.written if call.prototype else ""


def _words_written(asked: Managed) -> list[str]:
    """What written calls may name of a module: all of their words."""
    texts = " ".join(map(_written, asked.calls.values()))
    return list(dict.fromkeys(re.findall(r"(?<![\w.])[A-Za-z_$][\w$]*", texts)))


def _python(asked: Managed, scratch: Path, _flags: Sequence[str]) -> None:
    interpreter = os.environ.get("PYTHON") or tool("python3", "apt-get install python3")
    sdk = places.data_dir("runners") / "sdk" / "python"
    library = sdk_library(said_by(interpreter, "--version"), (sdk / "loops.c",))
    top, module = asked.main.parent, asked.main.stem
    while (top / "__init__.py").is_file():  # a package is copied whole: its modules import each other
        top, module = top.parent, f"{top.name}.{module}"
    if "." in module:
        name = module.partition(".")[0]
        shutil.copytree(top / name, scratch / "subject" / name, ignore=shutil.ignore_patterns("__pycache__"))
    facts = {**_facts(asked), "sdk": str(sdk), "origin": str(top)}
    write_generated(scratch / "runner.py", facts=repr(facts), module=module)
    command = f'{shlex.quote(interpreter)} -s -B "$here/runner.py"'
    write_start(scratch, asked.name, library, command, "PYTHONHASHSEED=0 ")


def _javascript(asked: Managed, scratch: Path, _flags: Sequence[str]) -> None:
    node = tool("node", "apt-get install nodejs libnode-dev")
    version = said_by(node, "--version")
    include = Path(os.environ.get("NODE_INCLUDE", Path(node).resolve().parent.parent / "include" / "node"))
    if not (include / "node_api.h").is_file():
        raise EnvironmentLacking(
            f"node_api.h is not in {include}", hint="apt-get install libnode-dev, or set NODE_INCLUDE"
        )
    sdk = places.data_dir("runners") / "sdk"
    library = sdk_library(f"node {version}", (sdk / "node" / "addon.c",), (f"-I{include}",), "perbyte.node")
    subject = scratch / "subject" / asked.main.name
    if asked.main.suffix in TYPED:
        subject = _without_types(subject, version)
    text = subject.read_text(encoding="utf-8")
    esm = subject.suffix == ".mjs" or bool(re.search(r"^\s*(?:export|import)\b", text, re.MULTILINE))
    names = [call.function for call in asked.calls.values()] + _words_written(asked)
    there = re.findall(r"^(?:async\s+)?(?:class|const|let|var|function)\s+(\w+)", text, re.MULTILINE)
    hidden = [
        name
        for name in dict.fromkeys(names)
        if name in there and not re.search(_EXPORTED.format(name=re.escape(name)), text)
    ]
    for name in hidden:
        text += f"\nexport {{ {name} }};\n" if esm else f"\nmodule.exports.{name} = {name};\n"
    subject.write_text(text, encoding="utf-8")
    package = subject.parent / "package.json"
    if subject.suffix not in (".mjs", ".cjs"):
        package.write_text(json.dumps({"type": "module" if esm else "commonjs"}))
    elif theirs := nearest(asked.main.parent, "package.json"):
        shutil.copy(theirs, package)  # it says what sort its other files are
    if modules := nearest(asked.main.parent, "node_modules"):
        (subject.parent / "node_modules").symlink_to(modules)
    _lay_beside(asked.main, subject.parent)
    facts = {**_facts(asked), "sdk": str(sdk / "node" / "perbyte.cjs"), "module": subject.name}
    write_generated(scratch / "runner.cjs", facts=json.dumps(facts))
    command = f'{shlex.quote(node)} --v8-pool-size=0 --single-threaded "$here/runner.cjs"'
    write_start(scratch, asked.name, library, command)


def _lay_beside(main: Path, subject: Path) -> None:
    """Copy what `main` and that name by a path, so that it is kept; link what else lies beside."""
    top, files, places = main.parent, [main], {main.parent}
    for file in files:
        for name in _NAMED.findall(file.read_text("utf-8", "replace")):
            paths = [Path(os.path.normpath(f"{file.parent / name}{end}")) for end in _ENDINGS]
            path = next(filter(Path.is_file, paths), main)
            if path not in files and path.is_relative_to(top):
                files.append(path)
        places |= {place for place in file.parents if place.is_relative_to(top)}
        copy = subject / file.relative_to(top)
        copy.parent.mkdir(parents=True, exist_ok=True)
        if not copy.exists():
            shutil.copy(file, copy)
    for place in places:
        for beside in place.iterdir():
            link = subject / beside.relative_to(top)
            if beside.name[0] != "." and not link.exists():
                link.symlink_to(beside)


def _without_types(file: Path, version: str) -> Path:
    """The JavaScript of a file of TypeScript, beside it."""
    numbers = tuple(int(number) for number in re.findall(r"\d+", version)[:2])
    if numbers >= _TYPES_SINCE:
        return file
    made = file.with_suffix(".mjs")
    ways = {
        "esbuild": ["esbuild", file.name, "--format=esm", "--target=es2022", f"--outfile={made.name}"],
        "bun": ["bun", "build", "--no-bundle", file.name, "--outfile", made.name],
    }
    for program, command in ways.items():
        if shutil.which(program):
            if words := words_of(command, file.parent):
                raise DoesNotBuild(words)
            return made
    wanted = ".".join(map(str, _TYPES_SINCE))
    raise EnvironmentLacking(
        f"node {version} cannot read TypeScript",
        hint=f"node {wanted} or newer can; or apt-get install esbuild, or name the .js that tsc makes",
    )


def _go(asked: Managed, scratch: Path, flags: Sequence[str]) -> None:
    go = tool("go", "apt-get install golang-go gcc")
    _write_go(asked, scratch / "subject")
    environment = go_environment(go) | {"GOFLAGS": "-mod=mod"}
    words = ["env", *_words(environment), go, "build", *flags, "-trimpath", "-o", str(scratch / asked.name)]
    text = words_of([*words, "."], scratch / "subject")
    if text and (text := _go_in_its_package(asked, scratch, go, environment, flags)):
        raise DoesNotBuild(re.sub(r"^# .*\n", "", text))
    library = environment["CGO_LDFLAGS"].split()[0]
    write_start(scratch, asked.name, Path(library), f'"$here/{asked.name}"', "GODEBUG=asyncpreemptoff=1 ")


def _go_in_its_package(
    asked: Managed, scratch: Path, go: str, environment: Mapping[str, str], flags: Sequence[str]
) -> str:
    """Build the package that the file belongs to, with all that is internal to its module. Gives what go said."""
    directory, own, laid_over = asked.main.parent, scratch / "own.mod", scratch / "overlay.json"
    module = nearest(directory, "go.mod")
    overlay = {} if module else module_over(directory, own)
    laid_over.write_text(json.dumps({"Replace": overlay}), encoding="utf-8")
    asking = [go, "list", f"-overlay={laid_over}", "-f", "{{.Name}} {{.ImportPath}}", "."]
    package, _, path = said_by("env", "-C", str(directory), "GOWORK=off", *asking).partition(" ")
    if not path or " " in path or package == "main":
        alone = ["env", *_words(environment), go, "build", *flags, "-o", "/dev/null", "."]
        return words_of(alone, scratch / "subject")
    laid = {
        directory
        / "perbyte_trial.go": f'package {package}\n\nimport "perbyte"\n\n// PerbyteRow is what is tried.\n'
        f"func PerbyteRow() perbyte.Row {{\n\treturn {_go_row(asked)}\n}}\n",
        directory / _GO_MAIN / "main.go": f'package main\n\nimport (\n\t"perbyte"\n\n\ttried "{path}"\n)\n\n'
        f"func main() {{\n\tperbyte.Main({_go_library(asked)}, tried.PerbyteRow())\n}}\n",
    }
    for number, (place, text) in enumerate(laid.items()):
        overlay[str(place)] = str(scratch / f"laid-{number}.go")
        (scratch / f"laid-{number}.go").write_text(text, encoding="utf-8")
    laid_over.write_text(json.dumps({"Replace": overlay}), encoding="utf-8")
    write_modules(module or own, places.data_dir("runners") / "sdk" / "go", scratch)
    words = [*_words(environment), "GOWORK=off", go, "build", *flags, "-trimpath"]
    words += [f"-modfile={scratch / 'go.mod'}", f"-overlay={laid_over}"]
    return words_of(["env", *words, "-o", str(scratch / asked.name), f"./{_GO_MAIN}"], directory)


def _words(environment: Mapping[str, str]) -> list[str]:
    return [f"{name}={value}" for name, value in environment.items()]


def _write_go(asked: Managed, subject: Path) -> None:
    for file in asked.files:
        if file.suffix == ".go":
            text = (subject / file.name).read_text(encoding="utf-8")
            text = re.sub(r"^package\s+\w+", "package main", text, count=1, flags=re.MULTILINE)
            text = re.sub(r"^func main\(\)", "func ownMain()", text, flags=re.MULTILINE)
            (subject / file.name).write_text(text, encoding="utf-8")
    asked.codes()  # raises for roles that cannot be given
    (subject / "perbyte_main.go").write_text(
        '// Written by `perbyte try`.\npackage main\n\nimport "perbyte"\n\nfunc main() {\n'
        f"\tperbyte.Main({_go_library(asked)},\n\t\t{_go_row(asked)})\n}}\n",
        encoding="utf-8",
    )
    sdk = places.data_dir("runners") / "sdk" / "go"
    lines = ["module trial", "", "go 1.24", "", "require perbyte v0.0.0", f"replace perbyte => {sdk}", ""]
    if module := nearest(asked.main.parent, "go.mod"):
        text = module.read_text(encoding="utf-8")
        lines += re.findall(r"^require\s+\([^)]*\)|^require\s+[^(\n]+$", text, re.MULTILINE)
    (subject / "go.mod").write_text("\n".join(lines) + "\n", encoding="utf-8")
    if sums := nearest(asked.main.parent, "go.sum"):
        (subject / "go.sum").write_bytes(sums.read_bytes())  # not its mode: Go writes it


def _go_row(asked: Managed) -> str:
    """The Go of the row: the functions, and what they are."""
    key, nonce, output = asked.lengths
    inverse = asked.calls.get("open")
    first = next(call for step, call in asked.calls.items() if step != "open")
    return (
        f'perbyte.Function("{asked.algorithm.id}", perbyte.{_GO_KINDS[asked.kind]}, {key}, {nonce}, {output}, '
        f"{json.dumps(first.function)}, {_closure(first, output, asked.kind)}, "
        f"{_closure(inverse, -output, asked.kind) if inverse else 'nil'})"
    )


def _go_library(asked: Managed) -> str:
    name, version = asked.main.name, digest_of(asked.files)
    return f'perbyte.Library{{Name: "{name}", License: "not stated", Version: "{version}"}}'


_GO_MAIN = "perbyte_trial_main"
_GO_KINDS = {"HASH": "OfHash", "MAC": "OfMAC", "STREAM": "OfStream", "AEAD": "OfAEAD"}


def _closure(call: Call, output: int, kind: str) -> str:
    """A function of Go that makes one call and says whether it gave its output."""
    length = str(output) if kind in ("HASH", "MAC") else f"len(data)+{output if kind == 'AEAD' else 0}"
    given = {"in": "data", "out-length": str(abs(output)), **numbers_in("go")}
    parameters = call.prototype.parameters if call.prototype else [None] * len(call.roles)
    arguments = [
        _go_array(given.get(role, role), parameter.type if parameter else "")
        for role, parameter in zip(call.roles, parameters, strict=True)
    ]
    before, text = last_apart(call_text(call.prototype, call.function, arguments))
    head = "func(out, key, nonce, data, aad []byte) bool {"
    if bits := 8 * call.returns_number:
        shift = "i" if call.step == "mac" else f"({bits - 8}-i)"  # of a checksum the highest byte comes first
        copied = f"for i := 0; i < {bits}; i += 8 {{ out[i/8] = byte(made >> {shift}) }}"
        return f"{head} made := {text}; {copied}; return true }}"
    if not call.returns_bytes:
        return f"{head} {text}; return true }}"
    failing = call.prototype and "error" in call.prototype.result
    made = f"made, err := {text}; if err != nil {{ return false }}" if failing else f"made := {text}"
    return f"{head} {before}{made}; return copy(out, made[:]) == {length} }}"


def _go_array(argument: str, kind: str) -> str:
    """A slice as an array of Go, where a function takes one."""
    return f"({kind})({argument})" if re.fullmatch(r"\*?\[\w+\]byte", kind) else argument


_WAYS = {"python": _python, "javascript": _javascript, "go": _go, "java": write_jvm, "kotlin": write_jvm}
