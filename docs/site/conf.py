"""How Sphinx makes the site of the documents, from where they lie in the repository (`make site`).

No page is copied or written twice: the top of the repository is the source directory, and README.md is the first page.
Two things are done to a page when it is read. The README gets the table of contents, which a reader of the repository
does not need; a link to a directory becomes a link to its README.md, or plain text where it has none.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]

project = "Perbyte"
author = "the authors of Perbyte"
html_title = "Perbyte"
root_doc = "README"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
include_patterns = [
    *("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "SECURITY.md", "CHANGELOG.md"),
    *("docs/**.md", "protocol/**.md", "catalogue/**.md", "runners/**.md", "studies/**.md", "tests/**.md"),
]
exclude_patterns = [".*", "build", "dist", "out", "**/node_modules", "**/target", "docs/site"]
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure"]  # `...` in a listing, and names after a language
html_theme = "furo"
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_theme_options = {"sidebar_hide_name": False}
language = "en"

PARTS: dict[str, dict[str, str]] = {
    "Six aims": {
        "Choose": "docs/advise",
        "My own function": "docs/try",
        "A paper": "docs/paper",
        "Continuous integration": "docs/ci",
        "Many machines": "docs/fleet",
        "Add a library": "docs/add-a-library",
    },
    "Use": {
        "Install": "docs/install",
        "The command line": "docs/cli",
        "Libraries": "docs/libraries",
        "My function in another language": "docs/try-languages",
        "Benchmark files": "docs/benchmark-files",
        "What people brought": "docs/brought",
        "Languages": "docs/languages",
        "Java": "docs/jca",
        "The site of an atlas": "docs/atlas",
        "SUPERCOP trees": "docs/supercop",
        "Trees of any layout": "docs/layouts",
        "Secrets that show in time": "docs/leak",
        "Instructions and memory": "docs/behaviour",
        "Places in memory": "docs/placement",
        "From Python": "docs/python",
        "Repeat a study": "docs/repeat-a-study",
        "Supported machines": "docs/supported-machines",
        "Other machines": "docs/other-machines",
    },
    "How good a figure is": {
        "How a figure comes about": "docs/measurement",
        "How good the figures are": "docs/trust",
        "Validation": "docs/validation/README",
        "Few samples": "docs/validation/few-samples",
        "The basis of every constant": "docs/constants",
        "Security": "SECURITY",
    },
    "Add to it": {
        "Contributing": "CONTRIBUTING",
        "runner.toml": "docs/runner-toml",
        "A runner in any language": "docs/runner-in-any-language",
        "The protocol": "protocol/SPEC",
        "The catalogue": "catalogue/README",
        "A study": "docs/add-a-study",
        "Claims": "docs/claims",
        "Architecture": "ARCHITECTURE",
        "Decisions": "docs/adr/README",
        "Changes": "CHANGELOG",
    },
    "Answers": {},
    "Studies": {},
    "Runners and tests": {},
}
GLOBS = {
    "Answers": ("docs/answers/*",),
    "Studies": ("docs/studies/*", "studies/*/*"),
    "Runners and tests": ("runners/**", "protocol/transcripts/*", "tests/**"),
}
_LINK = re.compile(r"(?<!!)\[([^]\n]*)\]\(([^)\s#]+/?)\)")


def contents() -> str:
    """The table of contents, as MyST wants it; decisions stand below their own page."""
    found = []
    for part, pages in PARTS.items():
        lines = [f"{title} </{page}>" for title, page in pages.items()]
        lines += [f"/{glob}" for glob in GLOBS.get(part, ())]
        glob = ":glob:\n" if part in GLOBS else ""
        found.append(f"```{{toctree}}\n:hidden:\n:caption: {part}\n{glob}\n" + "\n".join(lines) + "\n```")
    return "\n\n".join(found)


def read(_app: Any, name: str, content: list[str]) -> None:
    """Lead links to directories to what is on the site, and add the tables of contents."""
    here = (ROOT / name).parent

    def led(link: re.Match[str]) -> str:
        text, target = link.groups()
        if not (here / target).is_dir():
            return link[0]
        return (
            f"[{text}]({target.rstrip('/')}/README.md)" if (here / target / "README.md").is_file() else text
        )

    content[0] = _LINK.sub(led, content[0])
    if name == root_doc:
        content[0] += f"\n\n{contents()}\n"
    if name == "docs/adr/README":
        content[0] += "\n\n```{toctree}\n:hidden:\n:glob:\n\n/docs/adr/0*\n```\n"


def setup(app: Any) -> None:
    """Let Sphinx know of `read`."""
    app.connect("source-read", read)
