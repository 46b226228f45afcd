"""What a benchmark tool's output says of the machine and of the library's or runtime's version."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any

from perbyte.exchange.bootlog import read_machine
from perbyte.exchange.reading import BrokenListing, json_of
from perbyte.model import Machine
from perbyte.model.text import plain


@dataclass(frozen=True, slots=True)
class Origin:
    """Where figures come from, as far as the text tells it. `remarks` say what of it is in doubt."""

    machine: Machine = field(default_factory=Machine)
    version: str = ""
    remarks: tuple[str, ...] = ()


_VERSIONS = (
    re.compile(r"^# VM version: (.+)$", re.MULTILINE),
    re.compile(r"^\s*wolfSSL version (\S+)", re.MULTILINE),
    re.compile(r"^Botan (\d\S*)", re.MULTILINE),
)


def read_origin(form: str, text: str) -> Origin:
    """Return what `text`, the output of the tool `form`, says of its machine. Raises nothing."""
    if text.lstrip().startswith(("{", "[")):
        try:
            return _of_json(json_of(text))
        except BrokenListing:
            return Origin()
    lines = text.split("\n")
    version = next((match[1] for pattern in _VERSIONS if (match := pattern.search(text))), "")
    origin = Origin(read_machine(lines), plain(version, 80))
    return _of_benchfmt(lines, origin) if form == "benchfmt" else origin


_GO_ARCHITECTURES = {"amd64": "x86_64", "arm64": "aarch64", "386": "i686"}


def _of_benchfmt(lines: list[str], origin: Origin) -> Origin:
    """The configuration lines of Go: of several machines only the first is the run's, and the others are said."""
    told: dict[str, list[str]] = {}
    for line in lines:
        if match := re.match(r"(cpu|goarch|goos): *(\S.*)$", line):
            told.setdefault(match[1], []).append(plain(match[2].strip(), 120))
    cpus = list(dict.fromkeys(told.get("cpu", ())))
    architecture = next(iter(told.get("goarch", ())), "")
    machine = _added(
        origin.machine,
        cpu_model=cpus[0] if cpus else "",
        architecture=_GO_ARCHITECTURES.get(architecture, architecture),
    )
    more = (f"it is of several machines: {', '.join(cpus)}",) if len(cpus) > 1 else ()
    return replace(origin, machine=machine, remarks=(*origin.remarks, *more))


def _of_json(document: Any) -> Origin:
    if isinstance(document, list):
        return _of_jmh(document)
    context = document.get("context") if isinstance(document, dict) else None
    if isinstance(context, dict):
        cores, mhz = context.get("num_cpus"), context.get("mhz_per_cpu")
        return Origin(
            _added(
                Machine(),
                cores=cores if isinstance(cores, int) and 0 < cores < 2**20 else 0,
                clock_hz_nominal=mhz * 1e6 if isinstance(mhz, int | float) and 0 < mhz < 1e6 else 0.0,
            )
        )
    benchmarks = document.get("benchmarks") if isinstance(document, dict) else None
    metadata = [document.get("metadata")] if isinstance(document, dict) else []
    for benchmark in benchmarks if isinstance(benchmarks, list) else ():
        if isinstance(benchmark, dict):
            runs = benchmark.get("runs")
            metadata.append(benchmark.get("metadata"))
            metadata += (
                [run.get("metadata") for run in runs if isinstance(run, dict)]
                if isinstance(runs, list)
                else []
            )
    known = [entry for entry in metadata if isinstance(entry, dict)]

    def first(key: str) -> str:
        return plain(str(next((entry[key] for entry in known if entry.get(key)), "")), 120)

    python = " ".join(filter(None, (first("python_implementation"), first("python_version"))))
    return Origin(_added(Machine(), cpu_model=first("cpu_model_name")), plain(python, 80))


def _of_jmh(entries: list[Any]) -> Origin:
    versions = list(
        dict.fromkeys(
            plain(f"JDK {entry['jdkVersion']}", 80)
            for entry in entries
            if isinstance(entry, dict) and entry.get("jdkVersion")
        )
    )
    remarks = (f"it is of several runtimes: {', '.join(versions)}",) if len(versions) > 1 else ()
    return Origin(Machine(), versions[0] if len(versions) == 1 else "", remarks)


def _added(machine: Machine, **facts: Any) -> Machine:
    """`machine` with the facts that it lacks."""
    return replace(
        machine, **{name: value for name, value in facts.items() if value and not getattr(machine, name)}
    )
