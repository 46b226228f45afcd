"""What a command needs and does not find built is built by it; what is missing is told with the way to get it."""

from __future__ import annotations

import json

import pytest

BUILDS = {"PERBYTE_BUILD": "", "PATH": "/usr/bin:/bin"}


@pytest.fixture
def compiled(world, script):
    """A function that turns a scripted runner into one with a build step, which leaves a mark each time."""

    def turn(name, *, command="touch {out}/made; echo made >>{here}/builds", needs="", opt_in=False):
        (here,) = world.add(script(name))
        text = (here / "runner.toml").read_text()
        text = text.replace('kind = "python"', f'kind = "command"\ncommand = ["sh", "-c", "{command}"]')
        if opt_in:
            text = text.replace("[runner]", "[runner]\nopt_in = true")
        if needs:
            text += f'\n[find]\nprograms = ["{needs}"]\n\n[packages]\n'
            text += "".join(
                f'{manager} = ["{manager}-{needs}"]\n' for manager in ("apt", "dnf", "pacman", "apk", "brew")
            )
        (here / "runner.toml").write_text(text)
        return here

    return turn


def measure(world, *words, **environment):
    return world.perbyte(
        "measure", *words, "--epochs", 1, "--precision", "20%", environment=BUILDS | environment
    )


def test_measure_builds_what_its_selector_means_and_only_once(world, compiled):
    here, other = compiled("alpha"), compiled("beta")
    first = measure(world, "alpha/sha-256@64")
    assert first.returncode == 0, first.stderr
    assert "building alpha, once for this version of Perbyte" in first.stderr
    assert (here / "builds").read_text() == "made\n"
    assert not (other / "builds").exists()
    again = measure(world, "alpha/sha-256@64")
    assert "building" not in again.stderr
    assert (here / "builds").read_text() == "made\n"


def test_sources_that_changed_since_are_built_again(world, compiled):
    here = compiled("alpha")
    measure(world, "alpha/sha-256@64", "-q")
    (here / "runner.toml").write_text((here / "runner.toml").read_text() + "\n# changed\n")
    assert measure(world, "alpha/sha-256@64", "-q").returncode == 0
    assert (here / "builds").read_text() == "made\nmade\n"


def test_an_opt_in_runner_is_built_where_it_is_named_only(world, compiled):
    compiled("alpha")
    slow = compiled("alpha-slow", opt_in=True)
    assert measure(world, "alph*/sha-256@64", "-q").returncode == 0
    assert not (slow / "builds").exists()
    assert measure(world, "{alpha,alpha-slow}/sha-256@64", "-q").returncode == 0
    assert (slow / "builds").exists()


def test_a_star_says_which_libraries_it_leaves_out_although_they_are_built(world, compiled):
    compiled("alpha")
    compiled("alpha-slow", opt_in=True)
    named = measure(world, "{alpha,alpha-slow}/sha-256@64")
    assert named.returncode == 0, named.stderr
    assert "not asked" not in named.stderr
    star = measure(world, "*/sha-256@64", "--json", PERBYTE_BUILD="off")
    assert {cell["runner"] for cell in json.loads(star.stdout)["cells"]} == {"alpha"}
    assert "not asked, though built: alpha-slow ('*' leaves opt-in libraries out" in star.stderr
    every = measure(world, "?*/sha-256@64", "--json", PERBYTE_BUILD="off")
    assert {cell["runner"] for cell in json.loads(every.stdout)["cells"]} == {"alpha", "alpha-slow"}
    assert "not asked" not in every.stderr


def test_what_is_missing_is_left_out_with_the_way_to_get_it(world, compiled):
    compiled("alpha")
    compiled("alpha-two", needs="no-such-tool")
    done = measure(world, "alpha*/sha-256@64", "--json")
    assert done.returncode == 0, done.stderr
    assert {cell["runner"] for cell in json.loads(done.stdout)["cells"]} == {"alpha"}
    assert "not everything that they need is here: alpha-two" in done.stderr


def test_where_nothing_can_be_built_the_packages_are_named_for_each_manager(world, compiled, tmp_path):
    compiled("alpha", needs="no-such-tool")
    (tmp_path / "bin").mkdir()
    done = measure(world, "alpha/sha-256@64", PATH=str(tmp_path / "bin"))  # without any package manager
    assert done.returncode == 3
    assert "error: no runner can be built: alpha (lacks command no-such-tool)" in done.stderr
    for word in (
        "apt-get install -y apt-no",
        "dnf install -y dnf-no",
        "pacman -S",
        "apk add apk-no",
        "brew install",
    ):
        assert word in done.stderr
    assert "no cells" not in done.stdout


def test_a_build_that_fails_names_itself_and_costs_itself_only(world, compiled):
    compiled("alpha")
    compiled("alpha-two", command="echo broken >&2; exit 1")
    done = measure(world, "alpha*/sha-256@64")
    assert done.returncode == 0, done.stderr
    assert "perbyte build alpha-two" in done.stderr


def test_nothing_is_built_where_that_is_said(world, compiled):
    here = compiled("alpha")
    done = measure(world, "alpha/sha-256@64", PERBYTE_BUILD="off")
    assert done.returncode == 3
    assert "no runner is built" in done.stderr
    assert not (here / "builds").exists()
