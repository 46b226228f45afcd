"""How Sphinx makes the site of the documents, from where they lie in the repository (`make site`).

No page is copied or written twice: the top of the repository is the source directory, and README.md is the first page.
Two things are done to a page when it is read. The README gets the table of contents, which a reader of the repository
does not need; a link to a directory becomes a link to its README.md, or plain text where it has none. A link to the
atlas becomes one to its pages, which `perbyte atlas site` writes beside these.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
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
        "The cores side by side": "docs/cores",
        "Supported machines": "docs/supported-machines",
        "Other machines": "docs/other-machines",
    },
    "How good a figure is": {
        "How a figure comes about": "docs/measurement",
        "How good the figures are": "docs/trust",
        "What other tools measure": "docs/peers",
        "Validation": "docs/validation/README",
        "Few samples": "docs/validation/few-samples",
        "Large runs, atlases and fleets": "docs/scale",
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
        if (here / target).resolve() == ROOT / "atlas":
            return f'<a href="{target.rstrip("/")}/index.html">{text}</a>'
        return (
            f"[{text}]({target.rstrip('/')}/README.md)" if (here / target / "README.md").is_file() else text
        )

    content[0] = _LINK.sub(led, content[0])
    if name == root_doc:
        content[0] += f"\n\n{contents()}\n"
    if name == "docs/adr/README":
        content[0] += "\n\n```{toctree}\n:hidden:\n:glob:\n\n/docs/adr/0*\n```\n"


# Sphinx gives every page that has a word the same score, and puts equal scores in the order of the alphabet. Here a
# page counts more the more often it says the word, pages for users more than decisions.
LEAST_TIMES = 3  # that a page says a word: fewer make no difference
BY_PLACE = {"docs/adr/": -10.0, "CHANGELOG": -8.0, "runners/": -3.0, "studies/": -3.0, "tests/": -5.0}
AIMS, GUIDES = 6.0, 3.0
EXCERPT = 200  # characters of a page's first paragraph
SCORER = """
var PERBYTE = %s;
var Scorer = {
  objNameMatch: 11, objPartialMatch: 6, objPrio: {0: 15, 1: 5, 2: -5}, objPrioDefault: 0, title: 15, partialTitle: 7,
  term: 5, partialTerm: 2,
  score: function (item) {
    var wanted = (new URLSearchParams(location.search).get("q") || "").toLowerCase().split(/[^a-z0-9]+/);
    var page = PERBYTE[item[0]] || {score: 0, words: {}, about: ""};
    // a page that is read from the disk may not read others for an excerpt
    if (location.protocol === "file:" && !item[3]) { item[3] = page.about; }
    return wanted.reduce(function (sum, word) { return sum + (page.words[word] || 0); }, item[4] + page.score);
  }
};
"""


def scores() -> dict[str, dict[str, Any]]:
    """Of each page its score, what each word that it often says adds to it, and its first sentences."""
    pages: dict[str, dict[str, Any]] = {}
    for pattern in include_patterns:
        for place in sorted(ROOT.glob(pattern.replace("**.md", "**/*.md"))):
            name = str(place.relative_to(ROOT).with_suffix(""))
            text = place.read_text(encoding="utf-8")
            plain = re.sub(r"```.*?```|<[^>]*>|[`*_|]|\]\([^)]*\)|\[", " ", text, flags=re.DOTALL)
            said = Counter(re.findall(r"[a-z0-9]+", text.lower()))
            first = next(
                (each for each in plain.split("\n\n") if each.strip() and not each.startswith("#")), ""
            )
            by_place = next((score for start, score in BY_PLACE.items() if name.startswith(start)), 0.0)
            by_part = (
                AIMS
                if name in PARTS["Six aims"].values()
                else GUIDES
                if name in PARTS["Use"].values()
                else 0.0
            )
            pages[name] = {
                "score": by_place + by_part,
                "words": {
                    word: round(2 * math.log2(count), 1)
                    for word, count in said.items()
                    if count >= LEAST_TIMES
                },
                "about": " ".join(first.split())[:EXCERPT],
            }
    return pages


def write_scorer(app: Any, config: Any) -> None:
    """Write the script that puts what a search finds in order, and name it to Sphinx."""
    place = Path(app.doctreedir) / "scorer.js"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(SCORER % json.dumps(scores(), separators=(",", ":")), encoding="utf-8")
    config.html_search_scorer = str(place)


def setup(app: Any) -> None:
    """Let Sphinx know of `read` and of the order of what is found."""
    app.connect("source-read", read)
    app.connect("config-inited", write_scorer)
