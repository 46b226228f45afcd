"""The site of an atlas: every link leads somewhere, addresses stay, answers stand first, nothing is left out unsaid."""

from __future__ import annotations

import csv
import gzip
import html
import io
import json
import math
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest
from site_of import HOSTILE, add_run, figure, made_site, three_machines

from perbyte.atlas import open_atlas
from perbyte.atlas.export import gather
from perbyte.errors import UsageError
from perbyte.model import Machine
from perbyte.report.site import addresses
from perbyte.report.site.view import SiteView
from perbyte.report.site.write import MARK, search_index


class Reading(HTMLParser):
    """Links, places and elements of a page."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.tags: list[str] = []
        self.events: list[str] = []
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if name in ("href", "src"):
                self.links.append(value or "")
            if name == "id":
                self.ids.append(value or "")
            if name.startswith("on") or name == "style":
                self.events.append(name)


def said(page: Path) -> str:
    """The text of a page without its elements."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page.read_text(encoding="utf-8"))).split())


def found_by_search(site: Path) -> list[list[str]]:
    text = (site / "assets/index.js").read_text(encoding="utf-8")
    document: list[list[str]] = json.loads(text.removeprefix("window.perbyteFound = ").rstrip(";\n"))
    return document


def addresses_of(site: Path) -> dict[str, list[str]]:
    return {str(page.relative_to(site)): Reading(page).ids for page in sorted(site.rglob("*.html"))}


def test_every_link_leads_to_a_page_and_a_place_of_it(site):
    places = addresses_of(site)
    for page in site.rglob("*.html"):
        read = Reading(page)
        assert len(read.ids) == len(set(read.ids)), page
        for link in read.links:
            path, _, place = link.partition("#")
            assert "://" not in link, "nothing is loaded from elsewhere"
            target = (page.parent / path).resolve() if path else page
            assert target.is_file(), (page, link)
            assert target.is_relative_to(site)
            if place:
                assert place in places[str(target.relative_to(site))], (page, link)


def test_every_page_is_led_to_from_the_first(site):
    seen, waiting = set(), [site / "index.html"]
    while waiting:
        page = waiting.pop()
        if page in seen:
            continue
        seen.add(page)
        for link in Reading(page).links:
            target = (page.parent / link.partition("#")[0]).resolve()
            if target.suffix == ".html":
                waiting.append(target)
    assert seen == set(site.rglob("*.html"))


def test_search_knows_every_page_and_every_run(site):
    hits = found_by_search(site)
    places = addresses_of(site)
    assert {entry[3].partition("#")[0] for entry in hits} == {name for name in places if "/" in name}
    for kind, _, _, address in hits:
        path, _, place = address.partition("#")
        assert path in places
        assert not place or place in places[path]
        assert kind in ("algorithm", "library", "machine", "run", "month")
    runs = {entry[1] for entry in hits if entry[0] == "run"}
    assert runs == {"r-a-1", "r-b-1", "r-c-2", "r-a-3"}
    algorithm = next(entry for entry in hits if entry[3] == "algorithm/sha-256.html")
    assert algorithm[1] == "SHA-256"
    assert {"sha-256", "swift", "slow"} <= set(algorithm[2].split())


def test_addresses_stay_when_a_machine_a_library_and_a_month_come(tmp_path, specimens):
    url = str(tmp_path / "atlas")
    three_machines(url, tmp_path, specimens)
    made_site(url, tmp_path / "site")
    before = addresses_of(tmp_path / "site")
    more = [
        figure(specimens, "aardvark", 5.0, library="SWIFT"),
        figure(specimens, "swift", 7.0, algorithm="sha256"),
    ]
    add_run(url, tmp_path, specimens, "0", 1, more, started_at="2025-12-31T23:59:59+00:00")
    made_site(url, tmp_path / "site")
    after = addresses_of(tmp_path / "site")
    assert set(before) < set(after)
    for page, places in before.items():
        lost = [place for place in places if place not in after[page]]
        assert lost == [], page
    assert {"machine/0.html", "algorithm/sha256.html", "date/2025-12.html"} <= set(after)
    assert "aardvark" in said(tmp_path / "site/library/swift.html"), "one library, however it is written"


def test_the_same_atlas_gives_the_same_bytes(site, tmp_path):
    made_site(str(site.parent / "atlas"), tmp_path / "again")
    for path in (each_path for each_path in site.rglob("*") if each_path.is_file()):
        assert path.read_bytes() == (tmp_path / "again" / path.relative_to(site)).read_bytes(), path


def test_who_is_the_fastest_stands_first_with_factor_and_certainty(site):
    page = said(site / "algorithm/aes-128-gcm.html")
    assert page.index("swift, on 2 of 3 machines") < page.index("machine by machine")
    assert "► swift, on 2 of 3 machines" not in page, "a sign of several machines holds for each"
    rows = (site / "algorithm/aes-128-gcm.html").read_text(encoding="utf-8").split("<tr")
    on_a = said_of(next(row for row in rows if ">a</a>" in row and "swift 1.0" in row))
    assert "×1.50" in on_a
    assert "► known" in on_a
    on_c = said_of(next(row for row in rows if ">c</a>" in row))
    assert on_c.index("slow 1.0") < on_c.index("×2.00")
    machine = said(site / "machine/c.html")
    assert "► slow is the fastest at 2 of 2 algorithms" in machine
    library = said(site / "library/swift.html")
    assert "The fastest at 2 of 2 algorithms, on most machines that have it" in library


def said_of(row: str) -> str:
    return html.unescape(re.sub(r"<[^>]*>", " ", row))


def test_the_newest_figure_stands_unless_it_is_in_doubt(site):
    gathered = gather(open_atlas(str(site.parent / "atlas")))
    on_a = {
        standing.runner: standing
        for standing in gathered.stands
        if standing.machine == "a" and standing.work[:4] == ("sha-256", "digest", "oneshot/1", 1024)
    }
    assert on_a["swift"].cost.version == "2.0"
    assert on_a["swift"].cost.runs == 2
    assert on_a["slow"].run == "r-a-1@a", "the newer one is noisy"
    assert (gathered.twins, gathered.unusable) == (1, 0)
    assert "1 figures of second processes" in said(site / "data.html")


def test_what_changed_is_told_by_month_algorithm_library_and_machine(site):
    for page in ("date/2026-03.html", "algorithm/sha-256.html", "library/swift.html", "machine/a.html"):
        text = said(site / page)
        assert "1 figure became dearer and 0 figures cheaper, 1 of them with another version" in text, page
        assert "1.0 to 2.0" in text
        assert "×1.200" in text
    assert "became dearer" not in said(site / "date/2026-01.html")
    assert "No figure is known to differ" in said(site / "date/2026-01.html")
    view = SiteView(gather(open_atlas(str(site.parent / "atlas"))))
    assert view.gathered.pairs == 2, "swift and slow were measured twice on a"


def test_what_failed_is_told(site):
    assert "Without a figure: 1 cell, and why" in said(site / "machine/a.html")
    assert "expected 00, got 01" in said(site / "machine/a.html")


def test_hostile_names_are_escaped_and_lead_nowhere_else(one_run, specimens, tmp_path):
    cells = [
        figure(
            specimens,
            HOSTILE,
            100.0,
            library=HOSTILE,
            version="</title><img src=x onerror=alert(1)>",
            algorithm=HOSTILE,
        ),
        figure(specimens, "=cmd|calc", 120.0, library="=HYPERLINK(1)", algorithm=HOSTILE),
        figure(specimens, "full-width", 130.0, library="＝HYPERLINK(1)"),
    ]
    profile = Machine(cpu_model="</script><script>alert(2)</script>", virtualisation='"><b>kvm')
    site = one_run(*cells, profile=profile, started_at="<i>when</i>")
    before = {path for path in tmp_path.rglob("*") if not path.is_relative_to(site)}
    assert not any(path.name == "x.html" for path in before)
    for page in site.rglob("*.html"):
        read = Reading(page)
        assert read.tags.count("script") == 2, page
        assert read.events == []
        assert not {"img", "i"} & set(read.tags)
        text = page.read_text(encoding="utf-8")
        assert "<script>alert" not in text
        assert '"><b>kvm' not in text
    assert "<" not in (site / "assets/index.js").read_text(encoding="utf-8")
    assert [path.name for path in (site / "date").iterdir()] == ["unknown.html"]
    with gzip.open(site / "data/figures.csv.gz", "rt", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {row["library"] for row in rows} == {HOSTILE, "'=HYPERLINK(1)", "'＝HYPERLINK(1)"}


def test_the_data_hold_every_figure_and_run(site):
    pq = pytest.importorskip("pyarrow.parquet")
    atlas = open_atlas(str(site.parent / "atlas"))
    figures = pq.read_table(site / "data/figures.parquet")
    assert figures.num_rows == sum(run.cells for run in atlas.runs.values())
    with gzip.open(site / "data/figures.csv.gz") as file:
        rows = list(csv.DictReader(io.TextIOWrapper(file, encoding="utf-8")))
    assert len(rows) == figures.num_rows
    assert [float(row["cycles_per_call"]) for row in rows] == figures.column("cycles_per_call").to_pylist()
    assert [row["run"] for row in rows] == [str(run_name) for run_name in figures.column("run").to_pylist()]
    assert {row["warning_kinds"] for row in rows} == {"", "noisy"}
    assert set(pq.read_table(site / "data/runs.parquet").column("run").to_pylist()) == set(atlas.runs)


def test_every_figure_that_stands_is_on_its_algorithms_and_its_machines_page(site):
    view = SiteView(gather(open_atlas(str(site.parent / "atlas"))))
    for folder, of in (
        ("algorithm", lambda entry: addresses.algorithm(entry.work[0])),
        ("machine", lambda entry: addresses.machine(entry.machine)),
    ):
        wanted: dict[str, int] = {}
        for standing in view.gathered.stands:
            wanted[of(standing)] = wanted.get(of(standing), 0) + 1
        for page, count in wanted.items():
            text = (site / page).read_text(encoding="utf-8")
            tables = re.findall(r'<table class="listing figures">.*?</table>', text, re.DOTALL)
            cells = [
                cell for table in tables for cell in re.findall(r'<td class="n[^"]*"[^>]*data-v=', table)
            ]
            assert len(cells) == count, (folder, page)


def test_no_picture_is_empty_and_each_bar_has_its_interval(site):
    pictures = 0
    for page in site.rglob("*.html"):
        for svg in re.findall(r"<svg.*?</svg>", page.read_text(encoding="utf-8"), re.DOTALL):
            marks = svg.count("data-tip=")
            assert marks > 0, page
            assert svg.count('stroke-width="1.5"') >= marks, "an interval for every mark"
            pictures += 1
    assert pictures >= 20


def test_without_cycles_and_intervals_there_is_a_site_too(one_run, specimens):
    cells = [
        figure(specimens, "timed", 100.0, cycles_per_call=None, width=float("nan")),
        figure(specimens, "signer", 1e5, algorithm="ed25519", operation="sign", contract="pk/1"),
    ]
    site = one_run(*cells)
    assert "timed, measured alone" in said(site / "algorithm/sha-256.html") or "timed 1.0 on a" in said(
        site / "algorithm/sha-256.html"
    )
    assert "cycles per call" in said(site / "algorithm/ed25519.html")
    assert "0 B" not in said(site / "algorithm/ed25519.html")


def test_machines_without_cycles_are_told_in_nanoseconds(tmp_path, specimens):
    url = str(tmp_path / "atlas")
    for machine in ("a", "b"):
        without = [
            figure(specimens, runner, 1000.0 * (1 + place), cycles_per_call=None, width=math.inf)
            for place, runner in enumerate(("swift", "slow"))
        ]
        add_run(url, tmp_path, specimens, machine, 1, without)
    made_site(url, tmp_path / "site")
    text = said(tmp_path / "site" / "algorithm/sha-256.html")
    assert "takes 0.488 to 0.488 nanoseconds per byte" in text
    assert "2 machines without cycles: see the table." in text


def test_sizes_of_a_library_stand_in_their_order(one_run, specimens):
    sizes = (64, 1024, 16384, 256)
    site = one_run(*(figure(specimens, "swift", 1000.0, size_bytes=size) for size in sizes))
    text = said(site / "library/swift.html")
    places = [text.index(f"digest {size} swift") for size in ("64 B", "256 B", "1 KiB")]
    assert places == sorted(places)


def test_an_empty_atlas_has_a_site(tmp_path):
    open_atlas(str(tmp_path / "atlas"), create=True)
    assert made_site(str(tmp_path / "atlas"), tmp_path / "site") == 6
    assert "There is no figure in this atlas yet" in said(tmp_path / "site/index.html")


def test_a_directory_of_others_is_left_alone(tmp_path):
    open_atlas(str(tmp_path / "atlas"), create=True)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.txt").write_text("years")
    with pytest.raises(UsageError, match="holds no site"):
        made_site(str(tmp_path / "atlas"), tmp_path / "mine")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.txt"]


def test_a_page_of_ones_own_stays_in_a_site(site, tmp_path):
    shutil.copytree(site, tmp_path / "site")
    (tmp_path / "site/about.html").write_text("mine")
    made_site(str(site.parent / "atlas"), tmp_path / "site")
    assert (tmp_path / "site/about.html").read_text() == "mine"
    assert (tmp_path / "site" / MARK).is_file()


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("sha-256", "sha-256"),
        ("x25519mlkem768", "x25519mlkem768"),
        ("Sha-256", "sha-256-"),
        ("..", "x-"),
        ("a/../b", "a-b-"),
        ("con", "con-"),
        ("crypto++", "crypto-"),
        ("", "x-"),
        ("ü" * 300, "u"),
    ],
)
def test_a_name_is_its_own_address_or_gets_a_digest(name, address):
    word = addresses.word(name)
    assert re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,79}", word)
    assert ".." not in word
    assert word == address if word == name else word.startswith(address) and len(word) >= 10


def test_names_that_differ_never_share_a_page():
    names = ["a b", "a-b", "A-b", "a_b", "a/b", "a+b", "a.b", "a..b", "ab", "a b ", "ä-b"]
    assert len({addresses.word(name) for name in names}) == len(names)


def test_search_names_come_without_markup(site):
    view = SiteView(gather(open_atlas(str(site.parent / "atlas"))))
    assert [list(entry) for entry in search_index(view)] == found_by_search(site)


def test_the_next_is_the_next_behind_those_who_are_alike(one_run, specimens):
    costs = {"one": 1000.0, "two": 1000.0, "three": 2000.0}
    figures = [figure(specimens, runner, cost) for runner, cost in costs.items()]
    front = said(one_run(*figures) / "index.html")
    assert "= one or two on a" in front
    assert "the next, three 1.0, costs ×2.00" in front
