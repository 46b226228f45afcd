"""Benchmark files of Go: copies of them, marked by `rewrite`, are laid over the package and built with a `main`.

Nothing is written to the project: go's overlay lays the copies over its directory, and a go.mod of our own takes the
place of the module's. Code without a module gets one.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from perbyte import places
from perbyte.errors import UsageError
from perbyte.trial.benchmark_file import BuiltBenchmarks, told_by
from perbyte.trial.building import go_environment, home, nearest, tool

ENVIRONMENT = {"GODEBUG": "asyncpreemptoff=1"}
_said = partial(told_by, "go", 900)
_MAIN, _OUTER = "perbyte_bench_main", "perbyte_bench_outer"


def build_go(directory: Path, flags: Sequence[str] = ()) -> BuiltBenchmarks:
    """Build the benchmarks of a package; `flags` are those of `go build`. Raises as `told_by`."""
    go = tool("go", "apt-get install golang-go gcc")
    sdk = places.data_dir("runners") / "sdk"
    place = home() / "go"
    place.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".go-", dir=place) as made:
        scratch = Path(made)
        laid = {} if nearest(directory, "go.mod") else module_over(directory, scratch / "own.mod")
        (scratch / "module.json").write_text(json.dumps({"Replace": laid}), encoding="utf-8")
        asking = [go, "list", "-json", *flags, f"-overlay={scratch / 'module.json'}", "."]
        package = json.loads(_said(asking, directory))
        _refuse(go, directory, package)
        overlay = laid | _overlay(go, sdk, package, scratch)
        (scratch / "overlay.json").write_text(json.dumps({"Replace": overlay}), encoding="utf-8")
        module = package["Module"]["GoMod"]
        write_modules(Path(laid.get(module, module)), sdk / "go", scratch)
        name = package["ImportPath"].rsplit("/", 1)[-1]
        product = place / f"{name}.built"
        command = [go, "build", *flags, "-mod=mod", f"-modfile={scratch / 'go.mod'}"]
        command += [f"-overlay={scratch / 'overlay.json'}", "-o", str(product), f"./{_MAIN}"]
        _said(command, directory, go_environment(go) | {"GOWORK": "off"})
    return BuiltBenchmarks(name, product, directory, "go", package["ImportPath"])


def _refuse(go: str, directory: Path, package: Mapping[str, Any]) -> None:
    if not package.get("Module"):
        raise UsageError(f"{directory}: it is not part of a module", hint="go mod init example.com/mine")
    if directory.is_relative_to(_said([go, "env", "GOMODCACHE"], directory).strip() or "/nowhere"):
        raise UsageError(
            f"{directory}: it lies in the cache of modules, over which go lays nothing",
            hint="copy the module, or clone it, and name the directory there",
        )
    if package["Name"] == "main" and package.get("TestGoFiles"):
        raise UsageError(
            f"{directory}: a package main cannot be imported, and so not measured",
            hint="move the measured code to a separate package",
        )


def module_over(directory: Path, own: Path) -> dict[str, str]:
    """A go.mod for code without one, in `own`: where go shall see it."""
    repository = nearest(directory, ".git")
    root = repository.parent if repository else directory
    settings = root / ".git" / "config"
    text = settings.read_text(encoding="utf-8", errors="replace") if settings.is_file() else ""
    cloned = re.search(
        r"url = (?:\w+://)?(?:[^@\s/]+@)?([\w-]+(?:\.[\w-]+)+)[:/]([\w./-]+?)(?:\.git)?/?\s", text
    )
    name = "/".join(cloned.groups()) if cloned else "example.com/mine"
    own.write_text(f"module {name}\n\ngo 1.21\n", encoding="utf-8")
    return {str(root / "go.mod"): str(own)}


def _overlay(go: str, sdk: Path, package: Mapping[str, Any], scratch: Path) -> dict[str, str]:
    """Marked copies of the test files in `scratch`, and where go shall see them. Raises UsageError without any."""
    directory, inner = Path(package["Dir"]), package["ImportPath"]
    # kind of test files: how main calls the package, its path, its name, and where go shall see it
    kinds = {
        "TestGoFiles": ("inner", inner, package["Name"], directory),
        "XTestGoFiles": ("outer", f"{inner}/{_OUTER}", f"{package['Name']}_test", directory / _OUTER),
    }
    seen: dict[str, str] = {}
    pairs, origin = [], {}
    for kind, (_, _, _, place) in kinds.items():
        for number, name in enumerate(package.get(kind) or ()):
            copy = scratch / f"{kind}-{number}.go"
            # as no test file, but with what its name says of the processor
            seen[str(place / f"perbyte_{name.removesuffix('_test.go')}.go")] = str(copy)
            pairs.append(f"{copy}={directory / name}")
            origin[str(directory / name)] = kind
    if not pairs:
        raise UsageError(
            f"{directory}: it has no test files", hint="name the directory of a package with *_test.go"
        )
    alone = {"GOWORK": "off", "GOFLAGS": "-mod=mod"}
    names_of = json.loads(_said([go, "run", "./rewrite", *pairs], sdk / "go", alone))
    imports, rows = [], []
    for kind, (alias, path, title, place) in kinds.items():
        names = [name for file, them in names_of.items() if origin[file] == kind for name in them or ()]
        if names:
            entries = "".join(f'\t{{"{name}", {name}}},\n' for name in names)
            (scratch / f"list-{alias}.go").write_text(
                f'package {title}\n\nimport perbyteTesting "perbyte/testing"\n\n// PerbyteBenchmarks are those of the '
                f"test files.\nvar PerbyteBenchmarks = []perbyteTesting.InternalBenchmark{{\n{entries}}}\n",
                encoding="utf-8",
            )
            seen[str(place / "perbyte_benchmarks.go")] = str(scratch / f"list-{alias}.go")
            imports.append(f'\t{alias} "{path}"\n')
            rows.append(f"\tall = append(all, {alias}.PerbyteBenchmarks...)\n")
    if not rows:
        raise UsageError(f"{directory}: its test files have no func BenchmarkX(b *testing.B)")
    version = package["Module"].get("Version") or "as it lies there"
    library = f'perbyte.Library{{Name: "{inner}", License: "not stated", Version: "{version}"}}'
    (scratch / "main.go").write_text(
        f'package main\n\nimport (\n\t"perbyte"\n\t"perbyte/testing"\n\n{"".join(imports)})\n\nfunc main() {{\n'
        f"\tvar all []testing.InternalBenchmark\n{''.join(rows)}\ttesting.Main({library}, all)\n}}\n",
        encoding="utf-8",
    )
    return seen | {str(directory / _MAIN / "main.go"): str(scratch / "main.go")}


def write_modules(module: Path, sdk: Path, scratch: Path) -> None:
    """A go.mod that requires Perbyte's too, with the sums of the module's."""
    text = module.read_text(encoding="utf-8")
    text += f"\nrequire perbyte v0.0.0\n\nreplace perbyte => {json.dumps(str(sdk))}\n"
    # what is replaced by a directory lies beside the module, and not beside the copy
    lines = []
    for line in text.splitlines():
        before, arrow, after = line.partition("=> ")
        if arrow and after.startswith("."):
            line = f"{before}=> {json.dumps(str((module.parent / after.split()[0]).resolve()))}"
        lines.append(line)
    (scratch / "go.mod").write_text("\n".join(lines) + "\n", encoding="utf-8")
    sums = module.with_name("go.sum")
    if sums.is_file():
        (scratch / "go.sum").write_bytes(sums.read_bytes())
