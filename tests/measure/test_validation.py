"""Validation: what computes the wrong thing is never timed, and what is found says expected and got."""

from __future__ import annotations

import pytest
from fake_scripts import answers, fault, lie, row

from perbyte.catalogue import load

SHA = [row("sha-256", "digest", "oneshot/1")]
GCM = [row("aes-128-gcm", operation, "message/1") for operation in ("seal", "open")]
BOTH = [row("aes-128-ecb", operation, "message/1") for operation in ("encrypt", "decrypt")]


def trio(*lies, operations=SHA, names=("alpha", "beta", "gamma")):
    """Runners of the same operations; the last `len(lies)` of them lie."""
    honest = [{"name": name, "operations": operations} for name in names]
    for script, told in zip(reversed(honest), reversed(lies), strict=False):
        script["lies"] = [told]
    return honest


def timed(done):
    return {burst.cell.address for burst in done.notes.bursts}


def test_honest_runners_pass_and_are_timed(lab):
    done = lab.run(*trio(), ask="*/sha-256@16,64")
    assert done.failures() == {}
    assert len(done.outcome.cells) == 6
    assert done.outcome.complete


def test_a_wrong_answer_at_one_size_costs_that_size_only(lab):
    done = lab.run(*trio(lie("check", sizes=[64])), ask="*/sha-256@16,64,256")
    wrong = "gamma/sha-256/digest@64+contract=oneshot/1"
    assert done.failures() == {wrong: "incorrect"}
    assert wrong not in timed(done)
    assert len(done.outcome.cells) == 8
    failure = done.failure(wrong)
    assert "alpha, beta" in failure.message
    assert "at 64 bytes" in failure.message
    assert failure.expected.startswith("32 bytes, digest ")
    assert failure.got.startswith("32 bytes, digest ")
    assert failure.expected != failure.got


def test_the_minority_of_three_fails(lab):
    done = lab.run(*trio(lie("check")), ask="*/sha-256@16")
    assert {burst.cell.runner for burst in done.notes.bursts} == {"alpha", "beta"}
    assert done.failures() == {"gamma/sha-256/digest@16+contract=oneshot/1": "incorrect"}


@pytest.mark.parametrize("twins", [False, True])
def test_of_two_that_disagree_both_fail_and_a_twin_is_no_witness(lab, twins):
    done = lab.run(*trio(lie("check"), names=("alpha", "beta")), ask="*/sha-256@16", twins=twins)
    assert timed(done) == set()
    assert done.outcome.cells == ()
    for runner in ("alpha", "beta"):
        failure = done.failure(f"{runner}/sha-256/digest@16+contract=oneshot/1")
        assert failure.kind == "disputed"
        assert failure.expected == "agreement"
        assert failure.got.startswith("32 bytes")


def test_a_tier_is_no_witness_for_its_own_library(lab):
    """Two tiers of one library share their mistakes; they are one voice."""
    scripts = trio(lie("check"), names=("alpha", "beta"))
    done = lab.run(*scripts, ask="*/sha-256@16+cpu=full,soft", cpus=("full", "soft"))
    assert timed(done) == set()
    assert set(done.failures().values()) == {"disputed"}
    assert len(done.failures()) == 4


def test_a_wrong_tier_is_found_by_the_other_tiers(lab):
    scripts = trio(lie("check", cpu=["soft"]), names=("alpha", "beta"))
    done = lab.run(*scripts, ask="*/sha-256@16+cpu=full,soft", cpus=("full", "soft"))
    assert done.failures() == {"beta/sha-256/digest@16+contract=oneshot/1+cpu=soft": "incorrect"}


def test_three_that_all_differ_all_fail(lab):
    scripts = trio(operations=[row("serpent-128-cbc", "encrypt", "message/1", key_bytes=16)])
    scripts[1]["lies"] = [lie("check")]
    scripts[2]["operations"] = [row("serpent-128-cbc", "encrypt", "message/1", key_bytes=24)]
    done = lab.run(*scripts, ask="*/serpent-128-cbc@16+contract=message")
    assert timed(done) == set()
    assert len(done.failures()) == 3


def test_a_wrong_known_answer_fails_every_size_of_the_row(lab):
    script = {"name": "alpha", "operations": [*SHA, row("md5", "digest", "oneshot/1")]}
    script["lies"] = [lie("vector", algorithm="sha-256")]
    done = lab.run(script, ask="alpha/*@16,64,256+contract=oneshot")
    assert timed(done) == {f"alpha/md5/digest@{size}+contract=oneshot/1" for size in (16, 64, 256)}
    failures = [done.failure(f"alpha/sha-256/digest@{size}+contract=oneshot/1") for size in (16, 64, 256)]
    for failure in failures:
        assert failure.kind == "incorrect"
        assert "known" in failure.message
        assert "FIPS" in failure.message or "NIST" in failure.message, "the source of the answer is named"
        assert len(failure.expected) == len(failure.got) == 64
        assert failure.expected[:-2] == failure.got[:-2], "the fake changes the last byte"
        assert failure.expected != failure.got


def test_known_answers_are_asked_of_every_tier_and_twin(lab):
    script = {"name": "alpha", "operations": SHA, "lies": [lie("vector", cpu=["soft"])]}
    done = lab.run(script, ask="alpha/sha-256@16,64+cpu=full,soft", cpus=("full", "soft"))
    assert timed(done) == {f"alpha/sha-256/digest@{size}+contract=oneshot/1" for size in (16, 64)}


def test_a_cipher_that_knows_the_standard_answers_passes(lab):
    known = load().known_answers("aes-128-ecb", "encrypt")
    assert known, "the catalogue has known answers of AES"
    right = {"name": "alpha", "operations": [row()], "answers": answers(known)}
    wrong = {"name": "beta", "operations": [row()], "vectors": "toy"}
    done = lab.run(right, wrong, ask="*/aes-128-ecb@16+contract=message")
    assert list(done.failures()) == ["beta/aes-128-ecb/encrypt@16+contract=message/1"]
    assert {burst.cell.runner for burst in done.notes.bursts} == {"alpha"}


def test_a_broken_round_trip(lab):
    script = {"name": "alpha", "operations": BOTH, "lies": [lie("round_trip", operation="decrypt")]}
    done = lab.run(script, ask="alpha/aes-128-ecb@16,64+contract=message")
    assert timed(done) == {f"alpha/aes-128-ecb/encrypt@{size}+contract=message/1" for size in (16, 64)}
    failure = done.failure("alpha/aes-128-ecb/decrypt@16+contract=message/1")
    assert (failure.kind, failure.expected, failure.got) == ("incorrect", "the input", "something else")
    assert "round trip" in failure.message


def test_a_round_trip_made_once_for_several_large_cells_holds_for_all_of_them(lab):
    size = 1 << 17
    script = {"name": "alpha", "operations": BOTH, "lies": [lie("round_trip", sizes=[size])]}
    done = lab.run(script, ask=f"alpha/aes-128-ecb@{size}+contract=message")
    assert timed(done) == set()
    assert set(done.failures()) == {
        f"alpha/aes-128-ecb/{operation}@{size}+contract=message/1" for operation in ("encrypt", "decrypt")
    }


def test_an_accepted_forgery(lab):
    script = {"name": "alpha", "operations": GCM, "lies": [lie("forgery")]}
    done = lab.run(script, ask="alpha/aes-128-gcm@64")
    opened = "alpha/aes-128-gcm/open@64+contract=message/1"
    failure = done.failure(opened)
    assert (failure.kind, failure.expected, failure.got) == ("incorrect", "a refusal", "an acceptance")
    assert opened not in timed(done)


def test_seal_is_not_timed_where_its_own_open_accepts_a_forgery(lab):
    """Whoever asks for `seal` alone learns nothing of `open`; who asks for both must not see half of it."""
    script = {"name": "alpha", "operations": GCM, "lies": [lie("round_trip", operation="seal")]}
    done = lab.run(script, ask="alpha/aes-128-gcm/seal@64")
    assert timed(done) == set()
    assert done.failures() == {"alpha/aes-128-gcm/seal@64+contract=message/1": "incorrect"}


@pytest.mark.parametrize("twins", [False, True])
def test_wrong_only_in_the_timing_withdraws_the_figure(lab, twins):
    scripts = trio(lie("measure", sizes=[64]), names=("alpha", "beta"))
    done = lab.run(*scripts, ask="*/sha-256@16,64", twins=twins)
    wrong = "beta/sha-256/digest@64+contract=oneshot/1"
    assert wrong in timed(done), "it looked right when it was let in"
    assert done.failures() == {wrong: "incorrect"}
    failure = done.failure(wrong)
    assert "last timed call" in failure.message
    assert "alpha" in failure.message
    assert len(failure.expected) == len(failure.got) == 16
    assert failure.expected != failure.got
    assert {figure.cell.address for figure in done.outcome.cells} == {
        "alpha/sha-256/digest@16+contract=oneshot/1",
        "alpha/sha-256/digest@64+contract=oneshot/1",
        "beta/sha-256/digest@16+contract=oneshot/1",
    }


def test_wrong_only_in_the_timing_is_seen_without_another_implementation(lab):
    done = lab.run(*trio(lie("measure"), names=("alpha",)), ask="alpha/sha-256@16")
    assert set(done.failures().values()) == {"incorrect"}
    assert done.outcome.cells == ()


def test_wrong_only_in_the_second_epoch_withdraws_all_of_it(lab):
    # start 0 answers the survey, 1 and 2 are the epochs
    done = lab.run(*trio(lie("measure", starts=[2]), names=("alpha",)), ask="alpha/sha-256@16")
    assert {burst.epoch for burst in done.notes.bursts} == {0, 1}
    assert done.failures() == {"alpha/sha-256/digest@16+contract=oneshot/1": "incorrect"}
    assert done.outcome.cells == ()


def test_a_call_longer_than_a_sample_is_compared_with_what_the_gate_saw(lab):
    operations = [row("sha-256", "digest", "oneshot/1", per_call=5e6)]
    script = {"name": "alpha", "operations": operations, "lies": [lie("measure")]}
    done = lab.run(script, ask="alpha/sha-256@16")
    failure = done.failure("alpha/sha-256/digest@16+contract=oneshot/1")
    assert "before the timing" in failure.message


def test_chaining_is_compared_beyond_the_first_call(lab):
    """A stream that restarts with every call gives the right first answer and no other."""
    scripts = trio(operations=[row("aes-128-ctr", "encrypt", "stream/1")])
    before = (
        len(load().known_answers("aes-128-ctr", "encrypt")) + 3
    )  # a counter that carries, the round trip, and one call
    scripts[2]["faults"] = [fault("check", "patch", nth=before + 1, fields={"digest": "0" * 16})]
    done = lab.run(*scripts, ask="*/aes-128-ctr/encrypt@64")
    assert done.failures() == {"gamma/aes-128-ctr/encrypt@64+contract=stream/1": "incorrect"}


def test_one_implementation_without_known_answers_is_remarked(lab):
    catalogue = load()
    unknown = next(
        value.id
        for value in catalogue.algorithms.values()
        if value.kind == "block-cipher"
        and "encrypt" in value.operations
        and not catalogue.known_answers(value.id, "encrypt")
    )
    script = {"name": "alpha", "operations": [row(unknown, "encrypt", "message/1", key_bytes=8)]}
    done = lab.run(script, ask=f"alpha/{unknown}@64+contract=message")
    assert done.failures() == {}
    assert any(unknown in remark and "one implementation" in remark for remark in done.watch.notes)


def test_a_loop_of_known_cost_needs_no_second_opinion(lab):
    script = {"name": "alpha", "operations": [row("probe-imul", "run", "stream/1")]}
    done = lab.run(script, ask="alpha/probe-imul@64")
    assert len(done.outcome.cells) == 1
    assert not any("one implementation" in remark for remark in done.watch.notes)


def test_an_ordinary_no_is_unsupported_and_no_crime(lab):
    script = {
        "name": "alpha",
        "operations": SHA,
        "faults": [fault("prepare", "refuse", sizes=[64], code="unsupported", message="not that long")],
    }
    done = lab.run(script, ask="alpha/sha-256@16,64")
    failure = done.failure("alpha/sha-256/digest@64+contract=oneshot/1")
    assert (failure.kind, failure.message) == ("unsupported", "not that long")
    assert len(done.outcome.cells) == 1


def test_the_gate_is_passed_once_and_before_any_timing(lab):
    done = lab.run(*trio(), ask="*/sha-256@16,64", epochs=3, max_epochs=3)
    stages = [moment.stage for moment in done.watch.moments]
    checked = [index for index, stage in enumerate(stages) if stage.startswith("checking")]
    rounds = [index for index, stage in enumerate(stages) if "round" in stage]
    assert len(checked) == 6
    assert max(checked) < min(rounds)


@pytest.mark.parametrize(
    ("algorithm", "operation", "contract"),
    [
        ("random-bytes", "draw", "random/1"),
        ("tls13-x25519-ecdsa-p256", "handshake", "handshake/1"),
        ("tls13-x25519-resumed", "client", "handshake/1"),
    ],
)
def test_what_draws_the_same_twice_is_never_timed(lab, algorithm, operation, contract):
    """The scripted runner computes a hash of the run's data, the same in each call."""
    made = row(algorithm, operation, contract, kind="hash")
    done = lab.run({"name": "alpha", "operations": [made]}, ask=f"alpha/{algorithm}@32")
    address = f"alpha/{algorithm}/{operation}@32+contract={contract}"
    assert done.failures() == {address: "incorrect"}
    assert "draw the same" in done.failure(address).message
    assert timed(done) == set()


def test_records_are_compared_with_those_of_others(lab):
    records = [row("tls13-aes-128-gcm", "receive", "record/1", kind="hash")]
    done = lab.run(*trio(lie("check"), operations=records), ask="*/tls13-aes-128-gcm@64")
    assert done.failures() == {"gamma/tls13-aes-128-gcm/receive@64+contract=record/1": "incorrect"}
