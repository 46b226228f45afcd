"""Functions of Java and Kotlin behind the C SDK: the virtual machine is started in the process that reads the clock.

Java is compiled by `javac`, with what else it needs from the same source tree and from CLASSPATH; Kotlin by `kotlinc`,
or by its compiler where Maven has put it. Functions are static, or stand outside of classes.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from perbyte import places
from perbyte.atomic import new_file
from perbyte.errors import EnvironmentLacking, UsageError
from perbyte.runners.needs import compiler
from perbyte.trial.building import (
    filled_template,
    home,
    said_by,
    sdk_library,
    tool,
    words_of,
    write_generated,
    write_start,
)
from perbyte.trial.language import INVERSE, INVERSE_REKEY, Managed
from perbyte.trial.program import DoesNotBuild, digest_of
from perbyte.trial.prototype import JAVA, KOTLIN, without_comments
from perbyte.trial.written import last_apart

# a serial collector, a young generation whose pages are there, compilers that work while nobody times
OPTIONS = (
    *("-XX:+UseSerialGC", "-Xms96m", "-Xmx1g", "-Xmn64m", "-XX:+AlwaysPreTouch", "-XX:-UsePerfData"),
    *("-Xbatch", "-Xrs", "-Xshare:auto"),
)
_KINDS = {"HASH": 0, "MAC": 1, "STREAM": 2, "AEAD": 3}
_SCOPES = re.compile(r'"(?:\\.|[^"\\\n])*"|\b(?:class|interface|enum|record|object)\s+(\w+)|([{}])')
_COMPILER = "kotlin-compiler-embeddable"
_WITH_IT = (_COMPILER, "kotlin-stdlib", "kotlin-script-runtime", "kotlin-reflect", "kotlin-daemon-embeddable")
_BESIDE = ("kotlinx-coroutines-core-jvm", "trove4j", "annotations")


def write_jvm(asked: Managed, scratch: Path, flags: Sequence[str]) -> None:
    """Compile classes and loops, and write what starts them. Raises UsageError, DoesNotBuild, EnvironmentLacking."""
    javac = tool("javac", "apt-get install default-jdk-headless")
    classes = scratch / "classes"
    classes.mkdir()
    text = without_comments(asked.main)
    package = match[1] if (match := re.search(r"^\s*package\s+([\w.]+)", text, re.MULTILINE)) else ""
    path = [str(classes), *(part for part in os.environ.get("CLASSPATH", "").split(os.pathsep) if part)]
    jdk = Path(javac).resolve().parent.parent
    version = jdk_version(jdk)
    files = [str(file) for file in asked.files if file.suffix in JAVA]
    if asked.language == "kotlin":
        compiling, library = kotlin_compiler()
        path.append(library)
    into = ["-nowarn", "-cp", os.pathsep.join(path), "-d", str(classes)]
    if asked.language == "kotlin":
        every = [*files, *(str(file) for file in asked.files if file.suffix in KOTLIN)]
        _made([*quickened(compiling, version), *flags, *into, *every], scratch)
    else:
        root = asked.main.parent
        for _ in package.split(".") if package else ():
            root = root.parent
        if (root / "module-info.java").is_file():  # our class is no part of that module
            (scratch / "sources").mkdir()
            for place in filter(Path.is_dir, root.iterdir()):
                (scratch / "sources" / place.name).symlink_to(place)
            root = scratch / "sources"
        into = [*flags, *into, "-sourcepath", str(root)]
    _write_loops(asked, text, package, scratch)
    _made([*quickened([javac], version), *into, *files, "PerbyteCalls.java"], scratch)
    _start(asked, scratch, _program(jdk, version), package, path)


def jdk_version(jdk: Path) -> str:
    """`javac 17.0.15`, from the JDK's own file where it has one: asking the compiler starts a virtual machine."""
    try:
        text = (jdk / "release").read_text(encoding="utf-8")
    except OSError:
        text = ""
    match = re.search(r'^JAVA_VERSION="([^"]+)"', text, re.MULTILINE)
    return f"javac {match[1]}" if match else said_by(str(jdk / "bin" / "javac"), "-version")


def quickened(command: Sequence[str], version: str) -> list[str]:
    """A compiler's command with an archive of its classes, which saves half of its time; made at the first use.

    `command` is that of a virtual machine or of javac. Without change where this JDK makes no such archive (JEP 350).
    """
    launcher = "-J" if Path(command[0]).name == "javac" else ""
    if not launcher and Path(command[0]).name != "java":
        return list(command)
    key = hashlib.sha256(repr((list(command), version)).encode()).hexdigest()[:16]
    archive = home() / "sdk" / key / "compiler.jsa"
    quick = [
        f"{launcher}{option}" for option in ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xlog:disable")
    ]
    if not archive.is_file():
        _make_archive([command[0], *quick, *command[1:]], launcher, archive)
    if archive.is_file():
        quick += [f"{launcher}-XX:SharedArchiveFile={archive}", f"{launcher}-Xshare:auto"]
    return [command[0], *quick, *command[1:]]


def _make_archive(command: Sequence[str], launcher: str, archive: Path) -> None:
    archive.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".archive-", dir=archive.parent) as scratch:
        file = places.data_dir("runners") / "sdk" / "try" / ("Any.java" if launcher else "Any.kt")
        made = Path(scratch) / archive.name
        rest = [f"{launcher}-XX:ArchiveClassesAtExit={made}", *command[1:]]
        library = [] if launcher else ["-cp", kotlin_compiler()[1]]
        words_of([command[0], *rest, *library, "-nowarn", "-d", scratch, str(file)], Path(scratch))
        if made.is_file():
            made.replace(archive)


def _start(asked: Managed, scratch: Path, program: Path, package: str, path: Sequence[str]) -> None:
    name = f"{package.replace('.', '/')}/PerbyteCalls".lstrip("/")
    calls = ", ".join(call.function for call in asked.calls.values())
    numbers = map(str, (_KINDS[asked.kind], *asked.lengths))
    told = [name, asked.main.name, digest_of(asked.files), asked.algorithm.id, *numbers, calls, *OPTIONS]
    words = " ".join(map(shlex.quote, told))
    rest = "".join(f":{shlex.quote(entry)}" for entry in path[1:])
    command = f'{shlex.quote(str(program))} {words} "-Djava.class.path=$here/classes"{rest}'
    write_start(scratch, asked.name, program, command, "unset JAVA_TOOL_OPTIONS; ")


def _program(jdk: Path, version: str) -> Path:
    jvm = places.data_dir("runners") / "sdk" / "jvm" / "jvm.c"
    include, server = jdk / "include", jdk / "lib" / "server"
    if not (include / "jni.h").is_file() or not (server / "libjvm.so").is_file():
        raise EnvironmentLacking(
            f"there is no whole JDK in {jdk}", hint="apt-get install default-jdk-headless"
        )
    flags = (f"-I{include}", f"-I{include / 'linux'}")
    library = sdk_library(version, (jvm,), flags, "libperbyte.a")
    program = library.with_name("perbyte-jvm")
    if not program.is_file():
        linked = [str(library), f"-L{server}", f"-Wl,-rpath,{server}", "-ljvm", "-lm", "-ldl", "-pthread"]
        whole = ["-Wl,--whole-archive", linked[0], "-Wl,--no-whole-archive", *linked[1:]]
        with new_file(program) as new:
            if text := words_of([*compiler("c"), "-o", str(new), *whole], library.parent):
                raise EnvironmentLacking(f"the SDK cannot be linked: {text[:2000]}")
    return program


def kotlin_compiler() -> tuple[list[str], str]:
    """The command of Kotlin's compiler, and where its library lies."""
    if compiler := shutil.which("kotlinc"):
        home = Path(os.environ.get("KOTLIN_HOME", Path(compiler).resolve().parent.parent))
        for lib in (home / "lib", home / "libexec" / "lib"):
            if (lib / "kotlin-stdlib.jar").is_file():
                return [compiler], str(lib / "kotlin-stdlib.jar")
        raise EnvironmentLacking(f"there is no kotlin-stdlib.jar in {home}", hint="set KOTLIN_HOME")
    group = Path.home() / ".m2" / "repository" / "org" / "jetbrains"
    for place in sorted((group / "kotlin" / _COMPILER).glob("*"), reverse=True):
        jars = [group / "kotlin" / name / place.name / f"{name}-{place.name}.jar" for name in _WITH_IT]
        jars += [jar for name in _BESIDE for jar in sorted(group.rglob(f"{name}-[0-9]*.jar"))[-1:]]
        jars = [jar for jar in jars if jar.is_file()]
        if any(jar.name.startswith(_COMPILER) for jar in jars):
            standard = next(jar for jar in jars if jar.name.startswith("kotlin-stdlib"))
            path = os.pathsep.join(map(str, jars))
            java = tool("java", "apt-get install default-jdk-headless")
            main = ["org.jetbrains.kotlin.cli.jvm.K2JVMCompiler", "-no-stdlib", "-no-reflect"]
            return [java, "-cp", path, *main], str(standard)
    raise EnvironmentLacking(
        "there is no kotlinc here",
        hint=f"put it into the path, or: mvn dependency:get -Dartifact=org.jetbrains.kotlin:{_COMPILER}:2.1.20",
    )


def _made(command: Sequence[str], place: Path) -> None:
    if text := words_of(command, place):
        raise DoesNotBuild(text)


def _write_loops(asked: Managed, text: str, package: str, scratch: Path) -> None:
    output = asked.lengths[2]
    room = f"data.length + {output}" if asked.kind in ("STREAM", "AEAD") else str(output)
    loops, cases = [], []
    for number, (call, code) in asked.coded().items():
        if call.prototype and call.prototype.written:
            before, last = last_apart(code)
            line = f"{before}last = {last};"
        else:
            line = f"{_owner(asked, text, call.function)}.{code};"
            line = f"last = {line}" if call.returns_bytes else f"{line} last = out;"
        if number in (INVERSE, INVERSE_REKEY):
            line += " if (last == null) throw new Refused();"
        loops.append(filled_template("PerbyteLoop.java", number=number, line=line))
        cases.append(f"            case {number}: return loop{number}(s, n);")
    write_generated(
        scratch / "PerbyteCalls.java",
        package=f"package {package};\n" if package else "",
        room=room,
        key=asked.lengths[0],
        nonce=asked.lengths[1],
        function=re.sub(r"\W+", " ", next(iter(asked.calls.values())).function),
        loops="\n".join(loops),
        cases="\n".join(cases),
    )


def _owner(asked: Managed, text: str, function: str) -> str:
    """The class whose static method `function` is. Raises UsageError where it cannot be called without an object."""
    head = r"\bfun\s+" if asked.language == "kotlin" else r"\b(?:byte\s*\[\]|void|boolean|int|long)\s+"
    match = re.search(rf"(?:^|[;{{}}])[^\n=;{{}}]*{head}{re.escape(function)}\s*\(", text, re.MULTILINE)
    if not match:
        raise UsageError(f"there is no function '{function}' in {asked.main.name}")
    words = match[0].lstrip(";{}").split()
    scopes, pending, kinds = [], "", ""
    for mark in _SCOPES.finditer(text, 0, match.end()):
        if mark[1]:
            pending, kinds = mark[1], mark[0].split()[0]
        elif mark[2] == "{":
            scopes.append((kinds, pending))
            pending = kinds = ""
        elif mark[2] == "}" and scopes:
            scopes.pop()
    names = [name for _, name in scopes if name]
    if asked.language == "kotlin":
        named = re.search(r'@file:JvmName\("(\w+)"\)', asked.main.read_text(encoding="utf-8"))
        stem = re.sub(r"\W", "_", asked.main.stem)
        alone = named[1] if named else f"{stem[:1].upper()}{stem[1:]}Kt"
        if any(kind != "object" for kind, name in scopes if name) or "private" in words:
            raise UsageError(
                f"{function} cannot be called without an object", hint="put it outside of the class"
            )
        return f"{'.'.join(names)}.INSTANCE" if names else alone
    if "static" not in words or "private" in words:
        raise UsageError(
            f"{function} cannot be called from outside without an object",
            hint="make it static, or write the call: 'new ...(data)'",
        )
    return ".".join(names)
