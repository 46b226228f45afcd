"""`perbyte study timeline` and `perbyte study new`, as a user calls them."""

from __future__ import annotations

TABLE = """\
algorithm,operation,size_bytes,value,unit
aes-128-ctr,encrypt,1024,0.9,cycles/byte
chacha20,encrypt,1024,1.5,cycles/byte
"""
ABOUT = (
    "--title",
    "T",
    "--author",
    "A",
    "--year",
    2024,
    "--citation",
    "C",
    "--question",
    "Q?",
    "--machine",
    "M",
)


def test_the_timeline_of_print_has_its_sources(perbyte, tmp_path):
    shown = perbyte("study", "timeline", "--chart", tmp_path / "timeline.svg")
    assert shown.returncode == 0, shown.stderr
    for line in ("SHA-256", "AES-128 in CBC", "ChaCha20"):
        assert f"\n{line}\n" in f"\n{shown.stdout}"
    assert "AMD Bulldozer" in shown.stdout
    sources = shown.stdout.split("Sources\n")[1]
    for study in ("roe-1994: M. Roe", "openssl-chacha-2017: A. Polyakov", "kompara-2020: M. Kompara"):
        assert study in sources
    assert "left out: their clock is not known" in sources
    assert max(map(len, shown.stdout.splitlines())) <= 100
    assert shown.stdout.count("\nyear  cycles/byte  uses") >= 6, (
        "one table a line, whatever the machine is called"
    )
    assert "own instructions  M3 (Apple M3)" in shown.stdout
    assert (tmp_path / "timeline.svg").read_text(encoding="utf-8").startswith("<svg")


def test_a_wrong_name_of_a_chart_is_refused_before_anything_is_printed(perbyte, tmp_path):
    charts = tmp_path / "charts"
    charts.mkdir()
    for name, complaint in (
        ("bars.svg", "no chart is called 'bars'"),
        ("timeline.gif", "a chart's file ends in"),
    ):
        refused = perbyte("study", "timeline", "--chart", charts / name)
        assert refused.returncode == 2
        assert complaint in refused.stderr
        assert refused.stdout == ""
    assert list(charts.iterdir()) == []


def test_a_new_study_is_listed_shown_and_refuses_to_be_overwritten(perbyte, tmp_path, monkeypatch):
    figures = tmp_path / "figures.csv"
    figures.write_text(TABLE, encoding="utf-8")
    made = perbyte("study", "new", "doe-2024", figures, "--into", tmp_path / "own", *ABOUT)
    assert made.returncode == 0, made.stderr
    assert "2 figures, 2 with a cell of today, 2 algorithms" in made.stdout
    assert "in print: reproduced: aes-128-ctr is the fastest." in made.stdout
    monkeypatch.setenv("PERBYTE_STUDIES", str(tmp_path / "own"))
    assert "Q?" in perbyte("study", "show", "doe-2024").stdout
    again = perbyte("study", "new", "doe-2024", figures, "--into", tmp_path / "own", *ABOUT)
    assert again.returncode == 2
    assert "exists already" in again.stderr


def test_the_machine_is_not_asked_for_where_every_row_names_one(perbyte, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.stdin.isatty", lambda: False)
    figures, (first, *rows) = tmp_path / "figures.csv", TABLE.strip().splitlines()
    figures.write_text(
        "\n".join([f"{first},machine", *(f"{row},a laptop" for row in rows)]), encoding="utf-8"
    )
    made = perbyte("study", "new", "doe-2024", figures, "--into", tmp_path / "own", *ABOUT[:-2])
    assert made.returncode == 0, made.stderr
    assert 'name = "a laptop"' in (tmp_path / "own" / "doe-2024" / "study.toml").read_text(encoding="utf-8")


def test_what_is_not_told_is_asked_for_only_at_a_terminal(perbyte, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.stdin.isatty", lambda: False)
    figures = tmp_path / "figures.csv"
    figures.write_text(TABLE, encoding="utf-8")
    silent = perbyte("study", "new", "doe-2024", figures, "--into", tmp_path / "own", *ABOUT[:-2])
    assert silent.returncode == 2
    assert "--machine is not given" in silent.stderr
    assert not (tmp_path / "own").exists()
