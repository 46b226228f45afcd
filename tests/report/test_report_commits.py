"""The picture of the last commits: what changed beyond doubt is marked, and nothing else."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

from perbyte.report.commits import SHOWN, Dot, Track, commits_svg, commits_table


def track(*dots: Dot) -> Track:
    return Track("mine, digest 1 KiB", "cycles/byte", dots)


def dot(number: int, cost: float = 10.0, machine: str = "one", **more) -> Dot:
    return Dot(f"c{number}", f"says <{number}>", machine, cost, cost - 0.1, cost + 0.1, **more)


def lines_between(svg: str) -> int:
    return len(re.findall(r'<path d="M[\d.]+ [\d.]+L', svg))


def test_only_what_is_known_to_have_changed_is_marked():
    dots = [dot(0), dot(1, 12.0, verdict="not known", ratio=1.2), dot(2, 12.0, verdict="slower", ratio=1.05)]
    svg = commits_svg([track(*dots)])
    ET.fromstring(svg)
    assert svg.count("stroke-dasharray") == 1
    assert "c2 +5.00 %" in svg
    assert commits_table([track(*dots)]).splitlines()[2:] == [
        "| mine, digest 1 KiB | c2 | +5.00 % | says &lt;2&gt; |"
    ]
    assert commits_table([track(dot(0))]) == "No change is known.\n"


def test_another_machine_begins_a_new_line():
    assert lines_between(commits_svg([track(dot(0), dot(1), dot(2))])) == 2
    assert lines_between(commits_svg([track(dot(0), dot(1, machine="two"), dot(2, machine="two"))])) == 1


def test_the_last_fifty_are_shown():
    svg = commits_svg([track(*(dot(number) for number in range(SHOWN + 10)))])
    assert svg.count("<circle") == SHOWN
    assert "c9 says" not in svg
    assert "c10 says &lt;10&gt;" in svg
    ET.fromstring(commits_svg([track(dot(0, 0.0))]))
