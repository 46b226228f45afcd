"""Every command that reads a stored run says that a signed one is not what was signed, and still answers."""

from __future__ import annotations

import shutil
import subprocess

import click
import pytest

pytestmark = pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="ssh-keygen is not installed")

ROW = "alpha/aes-128-ecb"
READERS = (  # RUN: the damaged run, OTHER: a whole one, OUT: a place for what is written
    "show RUN",
    "show RUN --json",
    "show RUN --audit *",
    "compare RUN OTHER",
    f"compare {ROW} beta/aes-128-ecb --run RUN",
    "report RUN --chart OUT/bars.svg",
    "run merge RUN OTHER --out OUT/merged",
    "query SELECT_1 RUN",
    "query SELECT_1_FROM_samples RUN",
    "methods RUN",
    "export RUN",
    "export RUN --format openssl-speed",
    "advise disk --run RUN",
    "atlas add RUN --atlas OUT/atlas",
    "study judge RUN",
    "study page kompara-2020 RUN",
    "study timeline RUN",
    "list runs",
)
# The first three look closer, and have tests of their own; the last one reads an atlas
OTHERWISE = {"verify", "run recover", "run sign", "atlas pull"}


def sign(place, key):
    words = ["ssh-keygen", "-q", "-Y", "sign", "-f", key, "-n", "perbyte-run", place / "manifest.json"]
    subprocess.run(words, check=True, capture_output=True)


@pytest.fixture
def key(tmp_path):
    words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / "key")]
    subprocess.run(words, check=True, stdin=subprocess.DEVNULL)
    return tmp_path / "key"


@pytest.fixture
def signed(measured, world, key):
    """A signed run in a home of runs."""
    place = world.home / "runs" / "signed"
    shutil.copytree(measured.path, place)
    sign(place, key)
    return place


@pytest.fixture
def other(measured, tmp_path):
    """The same run again, by another name and without a signature."""
    place = tmp_path / "other"
    shutil.copytree(measured.path, place)
    content = (place / "run.json").read_bytes()
    return place if content else None


@pytest.fixture
def read(perbyte, signed, other, tmp_path):
    """`read(words)`: a command of `READERS`."""
    places = {"RUN": str(signed), "OTHER": str(other)}

    def run(words):
        out = tmp_path / "out"
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        words = [places.get(word, word.replace("OUT", str(out))) for word in words.split()]
        return perbyte(*(word.replace("_", " ") if word.startswith("SELECT") else word for word in words))

    return run


def unlisted_journal(place):
    (place / "journal.jsonl").write_text('{"event":"spent","seq":10000,"measuring_s":5.2}\n')
    return "journal.jsonl: "


def other_manifest(place):
    """All that lies there is listed, and the signature is of something else."""
    manifest = (place / "manifest.json").read_text()
    (place / "manifest.json").write_text(manifest + "\n")
    return "manifest.json.sig: a signature that does not fit"


@pytest.mark.parametrize("change", [unlisted_journal, other_manifest])
@pytest.mark.parametrize("words", READERS)
def test_every_reader_says_that_a_signed_run_is_damaged(read, signed, words, change):
    whole = read(words)
    assert "damaged" not in whole.stderr
    what = change(signed)
    answer = read(words)
    assert answer.returncode == whole.returncode
    assert answer.stderr.count(f"damaged: {what}") == 1, answer.stderr
    assert answer.stderr.count(f"perbyte verify {signed}") == 1


def test_no_command_that_reads_a_run_is_left_out():
    from perbyte.cli.group import commands

    def leaves(group, words=()):
        with click.Context(group) as context:
            for name in group.list_commands(context):
                command = group.get_command(context, name)
                if isinstance(command, click.Group):
                    yield from leaves(command, (*words, name))
                elif any(
                    isinstance(parameter, click.Argument)
                    and "RUN" in (parameter.metavar or parameter.name.upper()).strip("[].").split()
                    for parameter in command.params
                ):
                    yield " ".join((*words, name))

    known = {words.partition(" RUN")[0] for words in READERS}
    missing = {name for name in leaves(commands) if not any(words.startswith(name) for words in known)}
    assert missing == OTHERWISE
