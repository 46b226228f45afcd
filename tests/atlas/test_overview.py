"""The page of an atlas: what is compared, who is unlike the others, and that nothing hostile gets into it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from perbyte.atlas import add, open_atlas
from perbyte.atlas.index import RunRow
from perbyte.atlas.overview import look_over
from perbyte.model import Doubt, Interval, Machine, Quality, Warning
from perbyte.report.atlas import _newest_versions, atlas_card, atlas_page, atlas_pictures
from perbyte.report.html import render
from perbyte.report.saving import as_svg
from perbyte.store import RunWriter

COSTS = {"a": 1.0, "b": 1.001, "c": 0.999, "d": 1.5}


@pytest.fixture
def atlas(tmp_path, specimens):
    """Four machines of one model, the last of them slow, and two versions of a library on the first."""
    url, number = str(tmp_path / "atlas"), 0
    for machine, cost in COSTS.items():
        for version in ("3.0.1", "3.5.0") if machine == "a" else ("3.0.1",):
            number += 1
            cells = []
            for size in (64, 1024):
                cycles = cost * (100 + size) * (1.2 if version == "3.5.0" else 1)
                cells.append(
                    replace(
                        specimens.figure(0),
                        cell=specimens.cell(
                            0, size_bytes=size, algorithm="<b>x" if size == 64 else "sha-256"
                        ),
                        library_version=version,
                        cycles_per_call=cycles,
                        ns_per_call=cycles / 2,
                        interval=Interval(cycles, cycles),
                    )
                )
            place = tmp_path / f"run-{number}"
            with RunWriter.create(place) as writer:
                writer.begin(
                    specimens.conditions(
                        run_id=f"r-{number}",
                        started_at=f"2026-01-0{number}",
                        machine=Machine(cpu_model="<script>Model", virtualisation="kvm"),
                    )
                )
                writer.finish(tuple(cells), specimens.floor(), 1.0, True)
            add(url, [place], machine=machine)
    return open_atlas(url)


def test_what_is_compared(atlas):
    overview = look_over(atlas)
    assert {point[0] for point in overview.points} == {"<b>x", "sha-256"}
    newest = overview.newest()
    point = next(point for point in overview.points if point[0] == "sha-256")
    assert newest[point, "a", "OpenSSL"].cycles == pytest.approx(1.2 * 1124 / 1024)
    assert newest[point, "d", "OpenSSL"].cycles == pytest.approx(1.5 * 1124 / 1024)
    assert newest[point, "d", "OpenSSL"].ns == pytest.approx(0.75 * 1124 / 1024)
    assert [machine_facts.machine for machine_facts in overview.unlike] == ["d"]
    assert overview.unlike[0].ratio == pytest.approx(1.5, rel=0.01)
    machine, costs = overview.versions()
    assert machine == "a"
    assert {cost.version for cost in costs} == {"3.0.1", "3.5.0"}
    assert overview.floors == (("kvm", pytest.approx(0.0012), 5),)


def test_the_page_holds_it_all_and_no_markup_of_others(atlas):
    page, overview = atlas_page(atlas)
    html = render(page)
    assert "<script>Model" not in html
    assert "<b>x" not in html
    assert "&lt;script&gt;Model" in html
    assert "1.5" in html
    heat = atlas_pictures(overview)[0]
    assert heat.narrow
    assert "1.646" in as_svg(heat.narrow), "tiles have their value, on a telephone too"
    hashed = next(line for line in atlas_card(overview).lines if line.about.startswith("sha-256"))
    assert (hashed.sign, hashed.winner) == ("=", "OpenSSL 3.0.1 on c or OpenSSL 3.0.1 on b")
    assert "the next, OpenSSL 3.5.0 on a, costs ×1.20" in hashed.sure
    assert html.index('class="answer"') < html.index("<figure")
    names = [picture.name for picture in atlas_pictures(overview)]
    assert names == ["heat-cycles", "heat-ns", "machines-cycles", "machines-ns", "versions"]
    assert "sha-256" in as_svg(atlas_pictures(overview)[-1].chart)


def test_libraries_are_named_by_the_version_that_was_measured_last():
    def row(started_at: str, *libraries: str) -> RunRow:
        return RunRow(run="r", machine="a", digest="0" * 64, started_at=started_at, libraries=libraries)

    rows = [row("2026-02", "A 2.0", "B 1"), row("2026-03", "A 1.9"), row("2026-01", "A 1.0", "No version")]
    assert _newest_versions(rows) == "A 1.9 and 2 others, B 1, No version"


def test_an_empty_atlas_has_a_page(tmp_path):
    page, _ = atlas_page(open_atlas(str(tmp_path / "atlas"), create=True))
    assert "There is nothing to draw" in render(page)


@pytest.fixture
def doubtful(tmp_path, specimens):
    """One machine: a cipher whose lowest figure is noisy and wide, and a signature."""
    url = str(tmp_path / "atlas")
    noisy = Warning(Doubt.NOISY, "only 3 of 550 samples were clean", (3, 550))
    made = [
        ("sha-256", "oneshot/1", 0.4 * 1024, 1.62, Quality.NOISY, (noisy,), "Noisy"),
        ("sha-256", "oneshot/1", 0.7 * 1024, 0.002, Quality.GOOD, (), "Quiet"),
        ("ed25519", "pk/1", 100_000.0, 0.01, Quality.GOOD, (), "Quiet"),
    ]
    cells = [
        replace(
            specimens.figure(0),
            cell=specimens.cell(
                0, size_bytes=1024, algorithm=algorithm, contract=contract, runner=library.lower()
            ),
            library=library,
            cycles_per_call=cycles,
            ns_per_call=cycles / 2,
            interval=Interval(cycles * (1 - width), cycles * (1 + width)),
            quality=quality,
            warnings=warnings,
        )
        for algorithm, contract, cycles, width, quality, warnings, library in made
    ]
    place = tmp_path / "run"
    with RunWriter.create(place) as writer:
        writer.begin(specimens.conditions(run_id="r-1"))
        writer.finish(tuple(cells), specimens.floor(), 1.0, True)
    add(url, [place], machine="one")
    return open_atlas(url)


def test_doubts_and_units_stay_with_the_figures(doubtful):
    page, overview = atlas_page(doubtful)
    html = render(page)
    assert "1 machine, 1 run" in html
    hashed, signed = atlas_card(overview).lines
    assert (hashed.sign, hashed.winner) == ("?", "Quiet 3.0.16"), "nobody comes first by a figure in doubt"
    assert hashed.sure.startswith("0.700 ±0.2")
    assert "Noisy 3.0.16 may be as fast, but its figure is in doubt" in hashed.sure
    assert (signed.sign, signed.winner, signed.cost) == ("", "Quiet 3.0.16", "0.0500 ms a call")
    assert signed.sure.startswith("100,000 ±1.0% cycles per call")
    assert hashed.sure in html
    noisy = next(cost for cost in overview.costs if cost.library == "Noisy")
    assert (noisy.doubted, noisy.qualities, noisy.doubts) == (True, ("noisy",), ("noisy",))
    assert noisy.width == pytest.approx(1.62)
    names = [picture.name for picture in atlas_pictures(overview)]
    assert names == ["machines-cycles", "machines-cycles-call"], "no map of one row, and no chart twice"
    assert "Machines unlike" not in html
    drawn = "".join(as_svg(picture.chart) for picture in atlas_pictures(overview))
    assert "0.4 ±162%!" in drawn
    assert "! too few clean samples" in drawn
