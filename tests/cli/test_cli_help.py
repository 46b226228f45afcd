"""Help: groups, examples, what comes near, and what is missing or absurd."""

from __future__ import annotations

import re

import click
import pytest

from perbyte.cli.declared import OTHERS, SectionedCommand
from perbyte.cli.group import COMMANDS, HIDDEN, commands


def complained(answer, code, *words):
    """One error on stderr, nothing on stdout, no traceback."""
    assert answer.returncode == code, (answer.stdout, answer.stderr)
    assert answer.stdout == ""
    assert "Traceback" not in answer.stderr
    for word in words:
        assert word in answer.stderr


def test_help_and_version_are_commands_too(perbyte):
    assert perbyte("version").stdout == perbyte("--version").stdout
    assert perbyte("help").stdout == perbyte("--help").stdout
    assert perbyte("help", "measure").stdout == perbyte("measure", "--help").stdout
    assert perbyte("help", "run", "merge").stdout == perbyte("run", "merge", "--help").stdout
    assert perbyte("help", "study", "run").stdout.startswith("Usage: perbyte study run")
    complained(perbyte("help", "mesure"), 2, "no such command 'mesure'", "measure")
    complained(perbyte("help", "show", "me"), 2, "'perbyte show' has no commands of its own")


@pytest.mark.parametrize("name", HIDDEN)
def test_old_names_are_accepted_and_not_shown(perbyte, name):
    assert f"\n  {name} " not in perbyte("--help").stdout
    assert perbyte(name, "--help").stdout.startswith(f"Usage: perbyte {name}")


def test_commands_are_in_groups_with_examples_for_newcomers(perbyte):
    text = perbyte("--help").stdout
    places = [
        text.index(f"\n{title}:")
        for title in ("Measure", "Results", "Publish", "Many machines", "Maintenance")
    ]
    assert places == sorted(places)
    for word in ("advise tls", "perbyte try", "perbyte compare"):
        assert word in text.split("Options:")[0]
    for command in ("--help", "measure --help", "try --help", "compare --help"):
        told = perbyte(*command.split()).stdout
        assert "ecb" not in told
        assert "cbc" not in told
    assert len(COMMANDS) <= 22


@pytest.mark.parametrize(
    ("asked", "first"),
    [("aes", "aes-128-gcm"), ("sha", "sha-256"), ("chacha", "chacha20"), ("sha256x", "sha-256")],
)
def test_nobody_is_led_to_what_nobody_should_use(perbyte, asked, first):
    answer = perbyte("list", "providers", asked)
    assert answer.returncode == 2
    near = answer.stderr.split("did you mean ")[1].split("?")[0].split(", ")
    assert near[0].startswith(first)
    assert not any(
        algorithm.endswith("-ecb") or algorithm in ("sha-1", "md5", "hmac-sha-1") for algorithm in near[:2]
    )


def test_a_runner_without_its_slash_is_understood(perbyte, world, script):
    world.add(script("alpha"))
    complained(perbyte("measure", "alhpa", "--dry-run"), 2, "did you mean the runner 'alpha/*'?")


@pytest.mark.parametrize(
    ("asked", "bytes_a_second"), [("2GB/s", 2e9), ("2gB/s", 2e9), ("10gbit/s", 1.25e9), ("500 kB/s", 5e5)]
)
def test_rates_are_taken_in_any_case_where_they_are_clear(asked, bytes_a_second):
    from perbyte.app.quantities import read_rate

    assert read_rate(asked) == bytes_a_second


def test_a_rate_in_b_is_asked_back(perbyte):
    complained(perbyte("show", "--rate", "2gb/s"), 2, "invalid rate '2gb/s': 2gB/s or 2gbit/s?")


def test_what_is_missing_or_absurd_is_told_in_a_line(perbyte):
    complained(perbyte("list"), 2, "an argument is missing: one of algorithms, providers, runners")
    complained(perbyte("advise"), 2, "an argument is missing: one of disk, tls")
    complained(perbyte("measure", "--budget", "1000000h"), 2, "a week (168h) at the most")
    complained(perbyte("measure", "--precision", "1"), 2, "e.g. 1% or 0.0025")


@pytest.mark.parametrize("name", ["measure", "try", "compare", "advise"])
def test_long_lists_of_options_are_in_sections(perbyte, name):
    """Each option stands once, under a title; only help itself is left to the last one."""
    command = commands.get_command(click.Context(commands), name)
    assert isinstance(command, SectionedCommand)
    text = perbyte(name, "--help").stdout
    places = [text.index(f"\n{title}:") for title in (*command.sections, OTHERS)]
    assert places == sorted(places)
    for param in command.params:
        if isinstance(param, click.Option):
            assert len(re.findall(rf"^  (?:\S+, )*{param.opts[0]}(?= |,|$)", text, re.MULTILINE)) == 1, (
                param.name
            )
    assert text.partition(f"\n{OTHERS}:\n")[2].split("\n\n")[0].split()[0] in ("-h,", "--help")


def test_a_section_names_options_of_its_command_only():
    with pytest.raises(ValueError, match="nothing"):
        SectionedCommand("one", params=[click.Option(["--this"])], sections={"First": "this nothing"})
    with pytest.raises(ValueError, match="a name twice"):
        SectionedCommand("one", params=[click.Option(["--this"])], sections={"First": "this this"})


@pytest.mark.parametrize("group", ["study", "fleet", "atlas", "import"])
def test_the_lists_of_commands_cut_no_words(perbyte, group: str):
    assert "..." not in perbyte(group, "--help").stdout.partition("Commands:")[2]
