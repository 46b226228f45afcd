"""`perbyte.app` as a program calls it: values come back, nothing is printed, and the examples of the page work."""

from __future__ import annotations

import re
import threading
from pathlib import Path

import pytest
from fake_scripts import row

from perbyte.app import Listener, cells_table, load, measure, samples_table
from perbyte.errors import NoSuchRun, UsageError
from perbyte.model import Policy, Quality

ROOT = Path(__file__).parent.parent.parent
QUICK = Policy(budget_s=5, precision=0.2, epochs=1)


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch, fake_runners):
    monkeypatch.setenv("PERBYTE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PERBYTE_BUILD", "off")
    fake_runners({"name": "alpha", "operations": [row("sha-256", "digest", "oneshot/1")]})


def test_what_is_measured_comes_back_and_is_stored(capfd):
    heard: list[str] = []
    run = measure("alpha/sha-256", sizes=[16, 64], policy=QUICK, listener=Listener(say=heard.append))
    assert [figure.cell.size_bytes for figure in run.cells] == [16, 64]
    assert all(figure.ns_per_call > 0 and isinstance(figure.quality, Quality) for figure in run.cells)
    assert run.complete
    assert run.conditions.command == ("measure", "alpha/sha-256")
    assert load() == load(run.path) == load(run.conditions.run_id) == run
    assert any("2 cells" in line for line in heard)
    assert capfd.readouterr() == ("", "")


def test_tables_are_those_of_the_query():
    from perbyte.store import query

    run = measure("alpha/sha-256@16,64", policy=QUICK)
    table = cells_table(run)
    columns, rows = query(run.path, "SELECT * FROM cells")
    assert tuple(table.column_names) == columns
    assert [tuple(each_row.values()) for each_row in table.to_pylist()] == rows
    assert table.column("megabytes_per_second").to_pylist() == pytest.approx(
        [figure.megabytes_per_second for figure in run.cells]
    )
    assert samples_table(run).num_rows == query(run.path, "SELECT count(*) FROM samples")[1][0][0] > 0


def test_a_budget_somebody_chose_is_not_raised():
    with pytest.raises(UsageError, match="too much for a budget"):
        measure("alpha/sha-256@16", policy=Policy(budget_s=0.001, epochs=900))


def test_what_does_not_exist_is_an_exception():
    with pytest.raises(NoSuchRun):
        load("nothing-of-that-name")
    with pytest.raises(UsageError):
        measure("nobody/sha-256")
    with pytest.raises(UsageError, match="no selector"):
        measure()


def test_another_thread_measures_too():
    results: list[object] = []
    worker = threading.Thread(target=lambda: results.append(measure("alpha/sha-256@16", policy=QUICK)))
    worker.start()
    worker.join(60)
    assert len(results) == 1
    assert results[0].cells


def test_the_examples_of_the_page_work(capsys):
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    examples = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(examples) == 4
    names: dict[str, object] = {}
    for code in examples:
        exec(compile(code, "docs/python.md", "exec"), names)
    assert "alpha/sha-256/digest@64" in capsys.readouterr().out
