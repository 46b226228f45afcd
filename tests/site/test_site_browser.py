"""The site in a real browser, from the disk and from a server: search, sorting, widths, and nothing from elsewhere."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from browsing import Opened
from site_of import HOSTILE, figure

pytestmark = pytest.mark.browser

PAGES = (
    "index.html",
    "algorithms.html",
    "data.html",
    "algorithm/sha-256.html",
    "library/swift.html",
    "machine/a.html",
    "date/2026-03.html",
)


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def server(site: Path) -> Iterator[str]:
    handler = functools.partial(Quiet, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as served:
        threading.Thread(target=served.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{served.server_port}"
        served.shutdown()


@pytest.mark.parametrize("width", [390, 800, 1200, 1920])
def test_no_page_is_wider_than_its_window_and_none_complains(browser, site, width):
    for name in PAGES:
        opened = Opened(browser, site / name, viewport={"width": width, "height": 900})
        wide = opened.page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width, (name, wide)
        assert opened.complaints == [], name
        assert all(url.startswith("file://") for url in opened.requests)
        opened.context.close()


@pytest.mark.parametrize("where", ["disk", "server"])
def test_search_finds_and_leads(browser, site, server, where):
    opened = Opened(browser, site / "machine/a.html")
    page = opened.page
    if where == "server":
        page.goto(f"{server}/machine/a.html")
    page.fill("#search input", "sha")
    page.wait_for_selector("#hits a")
    assert page.text_content("#hits a") == "SHA-256algorithm"
    page.press("#search input", "Enter")
    page.wait_for_url("**/algorithm/sha-256.html")
    assert page.text_content("h1").startswith("SHA-256")
    page.fill("#search input", "r-c-2")
    page.wait_for_selector("#hits a")
    page.click("#hits a")
    page.wait_for_url("**/machine/c.html#run-r-c-2")
    page.fill("#search input", "nothing of this name")
    assert page.text_content("#hits .told") == "nothing found"
    assert opened.complaints == []
    opened.context.close()


def test_a_table_sorts_by_number_and_back(browser, site):
    opened = Opened(browser, site / "algorithm/aes-128-gcm.html")
    page = opened.page
    costs = "(rows) => rows.map(row => +row.cells[2].getAttribute('data-v'))"
    head = "th[data-key='2'] button >> nth=0"
    for sign in (1, -1):
        page.click(head)
        shown_costs = page.eval_on_selector_all("section[data-list] >> nth=0 >> tbody tr", costs)
        assert shown_costs == sorted(shown_costs, key=lambda cost: sign * cost)
        assert len(shown_costs) == 3
    assert opened.complaints == []
    opened.context.close()


def test_without_scripts_every_table_and_picture_is_there(browser, site):
    opened = Opened(browser, site / "algorithm/sha-256.html", java_script_enabled=False)
    page = opened.page
    assert page.locator("svg").first.is_visible()
    assert page.locator("table tbody tr").count() > 5
    assert not page.locator("#search").is_visible()
    page.click("nav a >> text=Machines")
    page.click("tbody a >> nth=0")
    assert page.text_content("h1") == "a"
    opened.context.close()


def test_dark_pictures_are_drawn_in_dark_colours(browser, site):
    opened = Opened(browser, site / "algorithm/sha-256.html", color_scheme="dark")
    fill = opened.page.evaluate("getComputedStyle(document.querySelector('figure svg > rect')).fill")
    assert fill == "rgb(15, 20, 25)"
    opened.context.close()


def test_hostile_names_run_nothing(browser, one_run, specimens):
    cells = [figure(specimens, HOSTILE, 100.0, library=HOSTILE, algorithm=HOSTILE)]
    site = one_run(*cells)
    for page in sorted(site.rglob("*.html")):
        opened = Opened(browser, page)
        opened.page.fill("#search input", "script")
        opened.page.wait_for_selector("#hits li")
        assert opened.complaints == [], page
        opened.context.close()
