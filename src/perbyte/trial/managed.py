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
import stat
from collections.abc import Sequence
from pathlib import Path

from perbyte import places
from perbyte.errors import EnvironmentLacking
from perbyte.runners import RunnerSpec
from perbyte.trial.building import replacing, words_of
from perbyte.trial.foreign import said_by, sdk_library, tool, write_start
from perbyte.trial.golang import write_go
from perbyte.trial.jvm import write_jvm
from perbyte.trial.language import Managed
from perbyte.trial.program import DoesNotBuild, describe, digest_of
from perbyte.trial.signatures import TYPED

_EXPORTED = (
    r"\bexport\s+(?:default\s+)?(?:async\s+)?(?:function|const|let|var)\s+{name}\b"
    r"|\bexport\s*\{{[^}}]*\b{name}\b|\bexports\b[^;]*\b{name}\b"
)
_TYPES_SINCE = (22, 18)  # the first node that leaves types out by itself


def build_managed(asked: Managed, place: Path, flags: Sequence[str] = ()) -> RunnerSpec:
    """Build the program into `place` (replaced).

    Raises UsageError for what cannot be tried this way, DoesNotBuild with the tool's words, EnvironmentLacking where a
    toolchain is missing.
    """
    with replacing(place) as scratch:
        subject = scratch / "subject"
        subject.mkdir()
        for file in asked.files:
            shutil.copy(file, subject / file.name)
        _WAYS[asked.language](asked, scratch, flags)
        program = scratch / "runner"
        program.chmod(program.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    return describe(asked.name, place, asked.files, language=asked.language)


def _python(asked: Managed, scratch: Path, _flags: Sequence[str]) -> None:
    interpreter = os.environ.get("PYTHON") or tool("python3", "apt-get install python3")
    library = sdk_library(said_by(interpreter, "--version"))
    key, nonce, output = asked.lengths
    codes = ", ".join(f"{name}: {json.dumps(code)}" for name, code in asked.codes().items())
    functions = ", ".join(f'"{call.function}": subject.{call.function}' for call in asked.calls.values())
    opened = ""
    for step, call in asked.calls.items():
        if step in ("open", "verify"):
            refusals = "(None, False)" if step == "open" else "(False,)"
            opened += f'names["{call.function}"] = refusing(subject.{call.function}, {refusals})\n'
    pair = ""
    if made := asked.calls.get("keypair"):
        pair = f"    public, private = subject.{made.function}(given.keys[0])\n"
    elif made := asked.calls.get("base"):
        pair = f"    public = given.data if given.given else subject.{made.function}(given.nonces[0])\n"
        pair += "    private = given.keys[0]\n"
    (scratch / "runner.py").write_text(
        _PYTHON.format(
            sdk=str(places.data_dir("runners") / "sdk" / "python"),
            origin=str(asked.main.parent),
            module=asked.main.stem,
            functions=functions,
            opened=opened,
            version=digest_of(asked.files),
            library=asked.main.name,
            row=f'"{asked.algorithm.id}", {asked.kind}, {key}, {nonce}, {output}, {{{codes}}}, values, '
            f"{asked.algorithm.ciphertext_bytes}",
            pair=pair or "    public = private = None\n",
        ),
        encoding="utf-8",
    )
    write_start(
        scratch,
        asked.name,
        library,
        f'{shlex.quote(interpreter)} -s -B "$here/runner.py"',
        "PYTHONHASHSEED=0 ",
    )


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
    names = [call.function for call in asked.calls.values()]
    hidden = [name for name in names if not re.search(_EXPORTED.format(name=re.escape(name)), text)]
    for name in hidden:
        text += f"\nexport {{ {name} }};\n" if esm else f"\nmodule.exports.{name} = {name};\n"
    subject.write_text(text, encoding="utf-8")
    (subject.parent / "package.json").write_text(json.dumps({"type": "module" if esm else "commonjs"}))
    for parent in asked.main.parents:
        if (parent / "node_modules").is_dir():
            (subject.parent / "node_modules").symlink_to(parent / "node_modules")
            break
    key, nonce, output = asked.lengths
    kind = asked.kind.lower()
    pair = "{}"
    if call := asked.calls.get("keypair"):
        pair = f"pairOf(names[{json.dumps(call.function)}](keys[0]))"
    elif call := asked.calls.get("base"):
        pair = f"{{ private: keys[0], public: given ? data : names[{json.dumps(call.function)}](nonces[0]) }}"
    order = ("MESSAGE", "REKEY", "INVERSE", "INVERSE_REKEY")
    codes = ", ".join(f"{order.index(name)}: {json.dumps(code)}" for name, code in asked.codes().items())
    (scratch / "runner.cjs").write_text(
        _JAVASCRIPT.format(
            sdk=json.dumps(str(sdk / "node" / "perbyte.cjs")),
            file=subject.name,
            names=", ".join(f"{json.dumps(name)}" for name in names),
            refusing=json.dumps(
                {call.function: step for step, call in asked.calls.items() if step in ("open", "verify")}
            ),
            pair=pair,
            row=f"algorithm: {json.dumps(asked.algorithm.id)}, kind: '{kind}', key: {key}, nonce: {nonce}, "
            f"output: {output}, ciphertext: {asked.algorithm.ciphertext_bytes}, code: {{ {codes} }}",
            library=json.dumps(asked.main.name),
            version=json.dumps(digest_of(asked.files)),
        ),
        encoding="utf-8",
    )
    command = f'{shlex.quote(node)} --v8-pool-size=0 --single-threaded "$here/runner.cjs"'
    write_start(scratch, asked.name, library, command)


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
    runners = places.data_dir("runners")
    write_go(asked, scratch, runners / "sdk" / "go")
    library = sdk_library(said_by(go, "version").removeprefix("go version "), static=True)
    c, foreign = runners / "sdk" / "c", runners / "sdk" / "foreign"
    environment = {
        "CGO_ENABLED": "1",
        "CGO_CFLAGS": f"-O2 -I{c} -I{foreign}",
        "CGO_LDFLAGS": f"{library} -lm -ldl -lpthread",
        "GOFLAGS": "-mod=mod",
    }
    words = [f"{name}={value}" for name, value in environment.items()]
    out = ["env", *words, go, "build", *flags, "-trimpath", "-o", str(scratch / asked.name), "."]
    if text := words_of(out, scratch / "subject"):
        raise DoesNotBuild(re.sub(r"^# .*\n", "", text))
    write_start(scratch, asked.name, library, f'"$here/{asked.name}"', "GODEBUG=asyncpreemptoff=1 ")


_WAYS = {"python": _python, "javascript": _javascript, "go": _go, "java": write_jvm, "kotlin": write_jvm}
_PYTHON = """\
# Written by `perbyte try`: a user's function behind the SDK for Python.
import pathlib
import sys

here = pathlib.Path(__file__).parent
sys.path[0:0] = [{sdk!r}, str(here / "subject")]
sys.path.append({origin!r})
from perbyte_runner import AEAD, AGREEMENT, EXPAND, HASH, KEM, MAC, SIGNATURE, STREAM
from perbyte_runner import INVERSE, INVERSE_REKEY, MESSAGE, REKEY, Library, Row, main
import {module} as subject


def refusing(function, refusals):
    def called(*given):
        answer = function(*given)
        if any(answer is refusal for refusal in refusals):
            raise ValueError("refused")
        return answer

    return called


names = {{{functions}}}
{opened}

def values(given):
{pair}    return names | {{
        "public": public, "private": private, "messages": given.messages, "size": given.size,
        "message": given.data[: given.size], "signature": given.data[given.size :],
        "data": given.data, "aad": given.aad, "keys": given.keys, "nonces": given.nonces,
        "key0": given.keys[0], "nonce0": given.nonces[0],
    }}


main(Library({library!r}, "not stated", {version!r}), [Row({row})])
"""
_JAVASCRIPT = """\
// Written by `perbyte try`: a user's function behind the SDK for JavaScript.
'use strict';
const path = require('node:path');
const {{ pathToFileURL }} = require('node:url');
const {{ main }} = require({sdk});
const pairOf = (made) => (Array.isArray(made)
  ? {{ public: made[0], private: made[1] }} : {{ public: made.publicKey, private: made.privateKey ?? made.secretKey }});
import(pathToFileURL(path.join(__dirname, 'subject', '{file}')).href).then((subject) => {{
  const names = {{}};
  for (const name of [{names}]) {{
    const it = subject[name] ?? subject.default?.[name];
    const step = {refusing}[name];
    names[name] = step ? (...given) => {{
      const answer = it(...given);
      const nothing = answer === null || answer === undefined;
      if (answer === false || (step === 'open' && nothing)) throw new Error('refused');
      return answer;
    }} : it;
  }}
  main({{ name: {library}, license: 'not stated', version: {version} }}, [{{
    {row},
    names: ({{ data, size, keys, nonces, messages, aad, given }}) => ({{
      ...names, data, size, keys, nonces, messages, aad, key0: keys[0], nonce0: nonces[0],
      message: data.subarray(0, size), signature: data.subarray(size), ...{pair},
    }}),
  }}]);
}}).catch((error) => {{
  process.stderr.write(`${{error.stack}}\\n`);
  process.exit(1);
}});
"""
