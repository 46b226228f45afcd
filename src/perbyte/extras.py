"""What is installed only where it is asked for: the extras of the package, and the command that brings one.

Each stands for heavy packages that one part of Perbyte needs (docs/install.md#what-it-weighs). Whoever needs an extra
asks for it before the work, so that nothing is lost by its absence.
"""

from __future__ import annotations

import importlib.util
import json
import shlex
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

from perbyte.errors import EnvironmentLacking

EXTRAS = {
    "report": ("altair", "jinja2", "vl_convert"),
    "query": ("duckdb", "pyarrow"),
    "atlas": ("duckdb", "pyarrow", "fsspec"),
    "fleet": ("cryptography", "distributed", "duckdb", "pyarrow", "fsspec"),
}
"""The modules of each extra, as they are imported."""


def has(extra: str) -> bool:
    """True where everything of `extra` is installed."""
    return not _lacking(extra)


def require(extra: str, what: str) -> None:
    """Raise EnvironmentLacking, saying that `what` needs `extra`, with the command that installs it."""
    if lacking := _lacking(extra):
        raise EnvironmentLacking(
            f"{what} needs the extra '{extra}' ({', '.join(lacking)}), which is not installed",
            hint=f"run: {install_command(extra)}",
        )


def extra_of(module: str) -> str:
    """The smallest extra that has `module`; empty for a module that belongs to none."""
    return next((name for name, modules in EXTRAS.items() if module.partition(".")[0] in modules), "")


def install_command(extra: str) -> str:
    """The command that adds `extra` to this installation, by the tool that installed it, from where it came.

    Never the name of a package alone: an index could have one of that name that is somebody else's.
    """
    origin, editable = _origin()
    home = Path(sys.prefix)
    if editable and home == Path(origin, ".venv"):
        return shlex.join(["make", "-C", origin, "setup"])
    name = f"{origin}[{extra}]" if editable or not origin else f"perbyte[{extra}] @ {origin}"
    if (home / "pipx_metadata.json").is_file():
        words = ["pipx", "install", "--force", name]
    elif (home / "uv-receipt.toml").is_file():
        words = ["uv", "tool", "install", name]
    else:
        words = [sys.executable, "-m", "pip", "install", *["-e"] * editable, name]
    return shlex.join(words) if origin else f"{shlex.join(words[:-1])} 'CHECKOUT-OR-WHEEL{name}'"


def _lacking(extra: str) -> list[str]:
    return [name for name in EXTRAS[extra] if importlib.util.find_spec(name) is None]


def _origin() -> tuple[str, bool]:
    """Where this installation came from, and whether it is a checkout in place; empty where nobody knows (an index)."""
    import importlib.metadata  # slow to load, and only needed here

    try:
        text = importlib.metadata.distribution("perbyte").read_text("direct_url.json")
        origin = json.loads(text or "{}")
    except (importlib.metadata.PackageNotFoundError, ValueError):
        return "", False
    url = str(origin.get("url", ""))
    if not origin.get("dir_info", {}).get("editable"):
        return url, False
    return unquote(urlsplit(url).path), True
