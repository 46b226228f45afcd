"""One listing in every form: text within a width, Markdown, JSON, and a table of a page."""

from __future__ import annotations

import math

import pytest

from perbyte.report import html, markdown
from perbyte.report.document import Heading, Items, Listed, Page, Section, Text
from perbyte.report.listing import Head, Listing, columns, from_records, lines, records
from perbyte.report.lists import query_listing, query_records
from perbyte.report.terminal import render

COLUMNS = (
    Head(None, "", "address"),
    Head("algorithm"),
    Head("library"),
    Head("operation", once=True),
    Head("cycles", "n", "cycles"),
    Head("interval", "n", "low high"),
    Head("limit", "n", "limit"),
)


def row(name: str, cycles: float, high: float = 9.0) -> tuple:
    return (
        ("", f"x/{name}"),
        name,
        "somebody's",
        "seal",
        (f"{cycles:.2f}", cycles),
        (f"{cycles - 1:.2f} to {high}", cycles - 1, high),
        ("–", ...),
    )


LISTING = Listing("What it takes", COLUMNS, [row("aes-128-gcm", 2.5), row("des-cbc", 100.25)], ("a note",), 3)


def test_text_tells_once_what_all_rows_share_and_puts_figures_to_the_right():
    text_lines = render([LISTING], width=90, colour=False).splitlines()
    assert text_lines == [
        "What it takes",
        "operation of all: seal",
        "algorithm    library     cycles      interval  limit",
        "aes-128-gcm  somebody's    2.50   1.50 to 9.0      –",
        "des-cbc      somebody's  100.25  99.25 to 9.0      –",
        "a note",
    ]


@pytest.mark.parametrize("width", range(40, 60))
def test_a_table_that_is_too_wide_stands_in_parts_with_the_same_names(width):
    told = [line for line, _ in lines(LISTING, width)]
    assert max(map(len, told)) <= width
    for name in ("aes-128-gcm", "des-cbc"):
        figures = "".join(line for line in told if line.startswith(name))
        assert all(part in figures for part in ("–", "to 9.0", "somebody's"))


def test_without_room_for_one_column_each_row_is_a_sentence():
    sentence = " ".join(line.strip() for line, _ in lines(LISTING, 30))
    assert "aes-128-gcm, somebody's: cycles 2.50; interval 1.50 to 9.0; limit –" in sentence


def test_programs_get_the_values_by_their_fields_and_null_where_nobody_knows():
    listing = Listing("", COLUMNS, [row("aes-128-gcm", 2.5, math.inf)])
    assert records(listing) == [{"address": "x/aes-128-gcm", "cycles": 2.5, "low": 1.5, "high": None}]
    plain = [{"name": "one", "year": 1999}, {"name": "another", "year": None}]
    assert records(from_records(plain, "name")) == plain


def test_a_page_and_a_comment_have_the_columns_that_readers_see():
    sections = [Section("all", "All", [Listed(LISTING, "wide"), LISTING])]
    page = html.render(Page("A page", [], sections))
    assert page.count('<th scope="col">algorithm</th><th scope="col">library</th>') == 2
    assert page.count('<td class="n">100.25</td><td class="n">99.25 to 9.0</td><td class="n">–</td>') == 2
    assert page.count('<table class="wide">') == page.count("<li>a note</li>") == 1
    told = markdown.lines(Listing("", columns("what | share:n"), [("a|b", "1 %")]))
    nasty = markdown.lines(Listing("", columns("what"), [("<b>\n\n# [x](javascript:1) `*`",)]))
    assert nasty[2:] == ["| &lt;b&gt; # \\[x\\](javascript:1) \\`\\*\\` |"]
    assert told == ["| what | share |", "| --- | --- |", "| a\\|b | 1 % |"]


def test_what_others_wrote_drives_no_terminal_and_breaks_no_line():
    [_, line] = [line for line, _ in lines(Listing("", columns("a | b:n"), [("x\x1b[2J\ny", "1")]))]
    assert line == "x[2J y  1"


def test_a_query_shows_columns_of_the_same_name_and_the_names_without_rows():
    heads, values = (line.split() for line, _ in lines(query_listing(("a", "a"), [(1, 2)])))
    assert (heads, values) == (["a", "a"], ["1", "2"])
    assert lines(query_listing(("a", "b"), []))[0][0].split() == ["a", "b"]
    assert query_records(("a", "a", "a_2", "a"), [(1, 2, 3, 4)]) == [{"a": 1, "a_3": 2, "a_2": 3, "a_4": 4}]


BLOCKS = (
    Heading("A heading"),
    Text("A sentence with \x1b[2J and [a link](x)."),
    Items(["a line", ("lead", "first", "second")]),
    Listing("A table", columns("name | size:n"), [("x", 1024)]),
)


def test_three_writers_draw_one_document():
    assert render(BLOCKS, width=80, colour=False).splitlines() == [
        "A heading",
        "A sentence with \\u001b[2J and [a link](x).",
        "- a line",
        "- lead: first",
        "  second",
        "",
        "A table",
        "name   size",
        "x     1,024",
    ]
    assert markdown.render(BLOCKS).splitlines() == [
        "## A heading",
        "",
        "A sentence with \\[2J and \\[a link\\](x).",
        "",
        "- a line",
        "- lead: first; second",
        "",
        "| name | size |",
        "| --- | --- |",
        "| x | 1,024 |",
    ]
    page = html.render(Page("A page", [], [Section("all", "All", BLOCKS), Section("none", "None", [])]))
    assert "<h3>A heading</h3>" in page
    assert "<p>A sentence with \\u001b[2J and [a link](x).</p>" in page
    assert "<li>a line</li><li><b>lead</b><br>first; second</li>" in page
    assert '<th scope="row" class="">x</th><td class="n">1,024</td>' in page
    assert 'id="none"' not in page
