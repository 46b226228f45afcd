"""Puts a site into a directory: pages, style, scripts, the index that search reads.

The same atlas gives the same bytes, whenever and wherever. A directory that holds anything but a site is refused, and
nothing in it is removed: a page of an earlier site that nothing leads to any more keeps its address.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import jinja2

from perbyte import __version__
from perbyte.atlas.export import Gathered
from perbyte.atomic import new_file
from perbyte.errors import UsageError
from perbyte.model.text import plain
from perbyte.report.document import Page, Section
from perbyte.report.html import page_template, site_style, template_file
from perbyte.report.site import addresses, front, parts
from perbyte.report.site.algorithms import algorithm_page
from perbyte.report.site.libraries import library_page, shelves
from perbyte.report.site.machines import machine_page
from perbyte.report.site.months import month_page, month_title, months, new_libraries
from perbyte.report.site.view import SiteView
from perbyte.report.templating import embedded

MARK = "perbyte-site.txt"
Found = list[tuple[str, str, str, str]]
"""What search knows: (what it is, name, more words, address)."""


def write_site(
    gathered: Gathered,
    directory: Path,
    data: Callable[[Path], dict[str, int]],
    title: str = "What cryptography costs",
) -> int:
    """Write all pages into `directory`, the data by `data` into its `data`; return how many pages there are.

    Raises UsageError for a directory that is not empty and no site.
    """
    if directory.is_dir() and any(directory.iterdir()) and not (directory / MARK).is_file():
        raise UsageError(
            f"{directory} is not empty and holds no site", hint="choose an empty or a new directory"
        )
    directory.mkdir(parents=True, exist_ok=True)
    _put(
        directory,
        MARK,
        "A site of perbyte atlas site. Pages are replaced; other files here are not changed.\n",
    )
    counts = data(directory / "data")
    files = [(name, rows, (directory / "data" / name).stat().st_size) for name, rows in counts.items()]
    view = SiteView(gathered)
    drawing = page_template("site.html")
    written = 0
    for address, page in site_pages(view, title, files):
        _put(directory, address, render_page(drawing, page, address, title))
        written += 1
    _put(directory, "assets/style.css", site_style())
    _put(directory, "assets/page.js", template_file("report.js"))
    _put(directory, "assets/search.js", template_file("search.js"))
    _put(directory, "assets/index.js", f"window.perbyteFound = {embedded(search_index(view))};\n")
    return written


def site_pages(view: SiteView, title: str, files: list[tuple[str, int, int]]) -> Iterator[tuple[str, Page]]:
    """All pages with their addresses."""
    shelf, by_month, fresh = shelves(view), months(view), new_libraries(view)
    yield "index.html", front.front_page(view, title, shelf, by_month)
    lists = (
        ("algorithms", "Every algorithm", front.algorithms_table(view)),
        ("libraries", "Every library", front.libraries_table(view, shelf)),
        ("machines", "Every machine", front.machines_table(view)),
        ("dates", "Every month", front.dates_table(by_month, fresh)),
    )
    for name, text, block in lists:
        yield f"{name}.html", Page(text, [], [Section("summary", text, [block])])
    yield "data.html", front.data_page(view, files)
    for name in sorted(view.main):
        yield addresses.algorithm(name), algorithm_page(view, name)
    for address, library_shelf in shelf.items():
        yield address, library_page(view, library_shelf)
    for name in view.runs:
        yield addresses.machine(name), machine_page(view, name)
    for name, runs in by_month.items():
        yield addresses.month(name), month_page(view, name, runs, fresh.get(name, []))


def render_page(drawing: jinja2.Template, page: Page, address: str, title: str) -> str:
    """The text of one page; `address` is where it lies below the top."""
    return drawing.render(
        page=page,
        site=plain(title, 120),
        up="../" * address.count("/"),
        address=address,
        lists=front.LISTS,
        version=__version__,
    )


def search_index(view: SiteView) -> Found:
    """Everything that has an address, with the words it may be looked for by."""
    entries: Found = []
    for name in sorted(view.main):
        runners = [plain(stand.runner, 40) for stand in view.gathered.stands if stand.work.algorithm == name]
        words = [plain(name, 60), *dict.fromkeys(runners)]
        entries.append(("algorithm", view.title(name), " ".join(words), addresses.algorithm(name)))
    for address, shelf in shelves(view).items():
        versions = sorted({plain(stand.cost.version, 30) for stand in shelf.stands})
        entries.append(
            ("library", plain(shelf.name, 60), " ".join([*sorted(shelf.runners), *versions]), address)
        )
    for name, runs in view.runs.items():
        newest = runs[0]
        words = [plain(newest.cpu_model, 120), plain(newest.provider, 40), plain(newest.architecture, 30)]
        entries.append(("machine", plain(name, 80), " ".join(words), addresses.machine(name)))
        for run in runs:
            words = [
                plain(name, 80),
                parts.day(run.started_at),
                *(plain(known, 60) for known in run.libraries),
            ]
            address = parts.run_address(name, run.key)
            entries.append(("run", plain(run.run, 80), " ".join(words), address))
    entries += [("month", month_title(name), name, addresses.month(name)) for name in months(view)]
    return entries


def _put(directory: Path, address: str, content: str) -> None:
    target = directory / address
    target.parent.mkdir(parents=True, exist_ok=True)
    with new_file(target) as part:
        part.write_text(content, encoding="utf-8")
