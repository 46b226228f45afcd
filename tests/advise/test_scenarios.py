"""Golden scenarios: for scripted figures, what is recommended, how sure, and the reasons that are given."""

from __future__ import annotations

import datetime
from dataclasses import replace

import pytest
from made_cases import LATE, TODAY, case, figure

from perbyte.advise import Case, Mix, Sure, View, changes, decide, decide_passwords, read_histogram
from perbyte.errors import UsageError
from perbyte.model import Doubt, Interval, Quality, Warning
from perbyte.report.advice import Limits, Told, side_by_side, tell
from perbyte.report.listing import records

DISK = {
    "alpha/aes-128-xts": 0.4,
    "alpha/aes-256-xts": 0.55,
    "beta/aes-128-xts": 0.5,
    "beta/serpent-256-xts": 12.0,
    "beta/twofish-256-xts": 9.0,
}
SOFT = {"alpha/aes-128-xts+soft": 14.0, "alpha/aes-256-xts+soft": 19.0}
TLS = {"alpha/aes-128-gcm": 0.5, "alpha/aes-256-gcm": 0.65, "alpha/chacha20-poly1305": 1.1}
TLS_SOFT = {"alpha/aes-128-gcm+soft": 18.0, "alpha/aes-256-gcm+soft": 24.0}


def said(told: Told, heading: str) -> str:
    return " ".join(dict(told.lines).get(heading, ()))


def told_of(made, **more) -> Told:
    decision = decide(made)
    return tell(decision, changes(decision), Limits(**more))


def test_the_cheapest_that_is_allowed_is_recommended_with_its_runner_up():
    told = told_of(case("disk", DISK | SOFT), rate=1e9)
    assert told.answer == "AES-128 in XTS, in Alpha 1.0"
    assert told.decision.sure is Sure.CERTAIN
    assert said(told, "How sure").startswith(
        "Certain: the runner-up, AES-256 in XTS, in Alpha 1.0, costs ×1.37"
    )
    assert "encrypt, 512 B: 102.4 ns a sector" in said(told, "What it costs")
    assert "1 GB/s takes 20% of a core" in said(told, "What it costs")
    assert "NIST says “approved for storage devices only" in said(told, "Status")
    assert "Profile cnsa2: AES-256 in XTS." in said(told, "What would change the answer")
    assert "no AES instructions (tier soft): Twofish-256 in XTS, in Beta 1.0" in said(
        told, "What would change the answer"
    )
    assert "Adiantum: no figure of it is here" in said(told, "No figure")
    assert "Camellia-256 in XTS" in said(told, "No figure")


def test_without_aes_hardware_the_figures_decide():
    """Nothing is known of instructions: a machine without them shows it in what AES costs."""
    slow = {name: cost * 40 if "aes" in name else cost for name, cost in TLS.items()}
    told = told_of(case("tls", slow))
    assert told.answer == "ChaCha20-Poly1305, in Alpha 1.0"
    assert "the runner-up, AES-128 in GCM" in said(told, "How sure")
    assert "Profile nist: AES-128 in GCM." not in said(told, "What would change the answer")
    assert "AES-128 in GCM" in said(told, "What would change the answer"), "nist and bsi do not list ChaCha20"


def test_a_peer_without_aes_pays_too():
    assert told_of(case("tls", TLS | TLS_SOFT)).answer == "AES-128 in GCM, in Alpha 1.0"
    told = told_of(case("tls", TLS | TLS_SOFT, view=View.PEER))
    assert told.answer == "ChaCha20-Poly1305, in Alpha 1.0"
    assert "The peer without AES instructions is reckoned by the tier soft" in said(told, "What it costs")
    unknown = decide(case("tls", TLS, view=View.PEER))
    assert [cell.algorithm.id for cell in unknown.ranking] == ["chacha20-poly1305"], (
        "no guess without soft figures"
    )


def test_a_slow_disk_is_the_limit_and_a_very_fast_one_is_not():
    told = told_of(case("disk", DISK), disk={"read": 5e8, "write": 1e8})
    assert said(told, "What is the limit").count("the disk is the limit") == 2
    assert "Just as fast on this disk, at a larger share of a core: AES-256 in XTS" in said(
        told, "What is the limit"
    )
    assert "Serpent" not in said(told, "What is the limit"), "it cannot keep up with 500 MB/s"
    fast = told_of(case("disk", DISK), disk={"read": 14e9})
    assert "the cipher is the limit on one core" in said(fast, "What is the limit")
    assert "2.800 cores" in said(fast, "What is the limit")
    assert fast.answer == told.answer


def test_a_tie_is_a_tie():
    told = told_of(case("tls", TLS | {"alpha/aes-256-gcm": 0.5004}))
    assert told.decision.sure is Sure.CLOSE
    assert told.answer == "AES-256 in GCM, in Alpha 1.0 or AES-128 in GCM, in Alpha 1.0"
    assert said(told, "How sure").startswith("Close: the runner-up, AES-128 in GCM")
    assert "AES-256 in GCM: " in said(told, "Status"), "the status of both is told"


def unseen(given: Case, runner: str) -> Case:
    """The case, had nobody seen the work behind a library's figures."""
    warning = Warning(Doubt.UNCHAINED, "its work was not audited on new data")
    return replace(
        given,
        figures=tuple(
            replace(each_figure, warnings=(warning,)) if each_figure.cell.runner == runner else each_figure
            for each_figure in given.figures
        ),
    )


def test_work_that_nobody_saw_ranks_above_what_was_seen_only_beyond_what_a_lie_could_make():
    two = case("tls", {"alpha/aes-256-gcm": 1.0, "beta/aes-256-gcm": 1.4, "beta/chacha20-poly1305": 3.0})
    assert decide(two).first.best.runner == "alpha"
    decision = decide(unseen(two, "alpha"))
    assert (decision.first.algorithm.id, [option.runner for option in decision.first.options]) == (
        "aes-256-gcm",
        ["beta", "alpha"],
    )
    far = unseen(case("tls", {"alpha/aes-256-gcm": 1.0, "beta/aes-256-gcm": 2.0}), "alpha")
    assert decide(far).first.best.runner == "alpha", "a factor of two is no doubt"
    alone = unseen(case("tls", {"alpha/aes-256-gcm": 1.0, "beta/chacha20-poly1305": 1.4}), "alpha")
    decision = decide(alone)
    assert decision.first.algorithm.id == "chacha20-poly1305"
    assert decision.sure is Sure.DOUBTFUL, "the other may cost less, and nobody saw that it does"
    dear = unseen(case("tls", {"alpha/aes-256-gcm": 9.0, "beta/chacha20-poly1305": 3.0}), "alpha")
    assert decide(dear).sure is Sure.CERTAIN
    neither = unseen(unseen(alone, "alpha"), "beta")
    assert decide(neither).first.algorithm.id == "aes-256-gcm"


def without_audit(given, runner, cells):
    """The case in which the audit did not see the work of `runner` in `cells` (operation, size)."""
    warning = Warning(Doubt.UNCHAINED, "memory takes too much to tell")
    return replace(
        given,
        figures=tuple(
            replace(each_figure, warnings=(warning,))
            if each_figure.cell.runner == runner
            and (each_figure.cell.operation, each_figure.cell.size_bytes) in cells
            else each_figure
            for each_figure in given.figures
        ),
    )


def test_work_that_was_seen_at_one_size_counts_as_seen():
    made = case("disk", {"alpha/aes-128-gcm": 0.6, "beta/xchacha20-poly1305": 0.8}, task=1)
    decision = decide(without_audit(made, "alpha", {("seal", 4096)}))
    assert (decision.first.algorithm.id, decision.sure) == ("aes-128-gcm", Sure.CERTAIN)
    nowhere = without_audit(made, "alpha", {("seal", 512), ("seal", 4096)})
    assert decide(nowhere).first.algorithm.id == "xchacha20-poly1305"


def test_opening_that_takes_as_long_as_sealing_that_was_seen_counts_as_seen():
    made = case("archive", {"alpha/aes-128-gcm": 0.6, "beta/aes-256-gcm": 0.65})
    opened = without_audit(made, "alpha", {("open", 65536)})
    assert decide(opened).first.algorithm.id == "aes-128-gcm"
    quick = replace(
        opened,
        figures=tuple(
            figure(each_figure.cell, each_figure.per_call / 2, warnings=each_figure.warnings)
            if each_figure.warnings
            else each_figure
            for each_figure in opened.figures
        ),
    )
    assert decide(quick).first.algorithm.id == "aes-256-gcm", "it may have kept what it opened before"
    neither = without_audit(made, "alpha", {("open", 65536), ("seal", 65536)})
    assert decide(neither).first.algorithm.id == "aes-256-gcm"


def test_a_noisy_figure_claims_nothing():
    made = case("tls", TLS)
    noisy = replace(
        made, figures=tuple(replace(each_figure, quality=Quality.NOISY) for each_figure in made.figures)
    )
    told = told_of(noisy)
    assert told.decision.sure is Sure.DOUBTFUL
    assert said(told, "How sure").startswith("Noisy, another may cost as little: AES-256 in GCM")
    assert "costs ×1.30 (×0.647 to ×2.62; noisy)" in said(told, "How sure")
    far = {"alpha/aes-128-gcm": 0.5, "alpha/chacha20-poly1305": 1.1}
    made = case("tls", far)
    noisy = replace(
        made, figures=tuple(replace(each_figure, quality=Quality.NOISY) for each_figure in made.figures)
    )
    assert decide(noisy).sure is Sure.LIKELY, "a neighbour on the core costs half of it at the most"
    assert "costs ×2.20 (at least ×1.09; noisy) as much" in said(told_of(noisy), "How sure"), "rounded down"


def test_figures_without_an_interval_are_ranked_but_nothing_is_claimed():
    made = case("tls", TLS)
    blind = Interval(0.0, float("inf"), dominated_by="unknown")
    decision = decide(
        replace(
            made,
            figures=tuple(
                replace(each_figure, interval=blind, epoch_cycles=()) for each_figure in made.figures
            ),
        )
    )
    assert decision.first.algorithm.id == "aes-128-gcm"
    assert decision.sure is Sure.DOUBTFUL


def test_everything_ruled_out_is_said_with_who_ruled_it_out():
    told = told_of(case("disk", {"alpha/serpent-256-xts": 12.0}, profile="nist"))
    assert told.answer.startswith("Nothing: what is not ruled out has no figure here: AES-128 in XTS (")
    told = told_of(
        case("hash", {"alpha/md5": 5.0, "alpha/sha-1": 4.0, "alpha/blake2b-512": 3.0}, profile="cnsa2")
    )
    assert told.decision.first is None
    assert told.answer.startswith("Nothing: ")
    assert "BLAKE2b" not in told.answer, "ruled out, too"
    assert "MD5: NSA (CNSA 2.0) does not list it for this use (profile cnsa2)." in said(told, "Ruled out")
    assert not said(told, "How sure")
    assert "SHA-512: no figure of it is here" in said(told, "No figure")


def test_what_is_ruled_out_says_that_it_would_have_been_faster():
    told = told_of(case("hash", {"alpha/md5": 1.0, "alpha/sha-256": 2.0, "alpha/sha-1": 3.0}))
    assert told.answer == "SHA-256, in Alpha 1.0"
    assert (
        "IETF says “no longer acceptable where collision resistance is required” from 2011-03-01 (RFC 6151"
        in said(told, "Ruled out")
    )
    assert (
        "Considerations for the MD5 Message-Digest, 2011-03, section 2): Collisions of MD5 are found"
        in said(told, "Ruled out")
    )
    assert ", table 8): These hashes are acceptable for every use" in said(told, "Status"), (
        "a table is named as one"
    )
    assert "It would be faster: what is recommended costs ×2.00" in said(told, "Ruled out")
    assert "It would not be faster" in said(told, "Ruled out")


SIGN = {"alpha/ed25519": 1e5, "alpha/ecdsa-p256": 9e4, "alpha/ml-dsa-44": 4e5, "alpha/slh-dsa-sha2-128f": 3e7}


def test_a_date_in_2036_rules_out_what_is_classical():
    now = told_of(case("signature", SIGN))
    assert now.answer == "ECDSA on P-256, in Alpha 1.0"
    assert "From 2036-01-01: ML-DSA-44, in Alpha 1.0; by then " in said(now, "What would change the answer")
    nist = told_of(case("signature", SIGN, date=LATE, profile="nist"))
    assert nist.answer == "ML-DSA-44, in Alpha 1.0", (
        "a draft puts back what it would end, and rules nothing out"
    )
    assert "NIST" not in said(nist, "Ruled out")
    later = told_of(case("signature", SIGN, date=LATE))
    assert later.answer == "ML-DSA-44, in Alpha 1.0"
    out = said(later, "Ruled out")
    assert "BSI says “classical signatures alone until the end of 2035” from 2036-01-01" in out
    assert told_of(case("signature", SIGN, date=LATE, profile="cnsa2")).decision.first is None


def test_a_date_before_a_prohibition_does_not_know_of_it():
    costs = {"alpha/aes-128-cbc": 30.0, "alpha/idea-cbc": 20.0}
    made = case("disk-2013", costs, date=datetime.date(2013, 5, 19), volume_bytes=1e6)
    assert decide(made).first.algorithm.id == "aes-128-cbc", "IDEA is discouraged: blocks of 64 bits"
    assert [cell.algorithm.id for cell in decide(made).ranking] == ["aes-128-cbc", "idea-cbc"]
    late = told_of(replace(made, asked=replace(made.asked, date=TODAY)))
    assert "IDEA in CBC: IETF says “must not be used to encrypt (OpenPGP)”" in said(late, "Ruled out")
    [record] = records(side_by_side([("a laptop", decide(made), late.decision)], 2013))
    assert record["machine"] == "a laptop"
    assert record["status_of_2013"].startswith("AES-128 in CBC")


def test_blocks_of_64_bits_are_held_to_the_volume_of_data():
    costs = {"alpha/blowfish-cbc": 20.0}
    small = decide(case("disk-2013", costs, volume_bytes=1e6))
    assert small.first.standing.effect == "discouraged"
    told = told_of(case("disk-2013", costs, volume_bytes=32 * 2**30))
    assert told.decision.first is None
    assert "two of them are equal with a chance of 39%" in said(told, "Ruled out")
    assert "more than the 2^20 blocks (8 MiB) a key that SP 800-67 allows" in said(told, "Ruled out")


def test_missing_libraries_are_said_with_the_way_to_get_them():
    reasons = {"ml-dsa-44": "no library that is built here has it; perbyte build openssl-4 would add one"}
    told = told_of(case("signature", {"alpha/ed25519": 1e5}, date=LATE, why_missing=reasons))
    assert told.answer.startswith(
        f"Nothing: what is not ruled out has no figure here: ML-DSA-44 ({reasons['ml-dsa-44']}"
    )
    assert "ML-DSA-44: no library that is built here has it; perbyte build openssl-4 would add one." in said(
        told, "No figure"
    )


def test_of_what_has_no_figure_the_card_names_first_what_the_authority_recommends():
    told = told_of(case("kem", {"alpha/x25519": 1e5}, profile="bsi", date=datetime.date(2032, 1, 1)))
    assert told.answer.startswith("Nothing: what is not ruled out has no figure here: X25519MLKEM768 (")
    assert "ML-KEM-512" not in told.answer, "which the BSI does not recommend"


def test_only_the_users_libraries_count():
    costs = {"alpha/aes-128-gcm": 0.5, "beta/chacha20-poly1305": 1.0, "beta/aes-128-gcm": 9.0}
    assert decide(case("tls", costs)).first.best.runner == "alpha"
    told = told_of(case("tls", costs, runners=frozenset({"beta"})))
    assert told.answer == "ChaCha20-Poly1305, in Beta 1.0"
    assert "With Beta 1.0 alone: ChaCha20-Poly1305." in said(
        told_of(case("tls", costs)), "What would change the answer"
    )


def test_half_of_the_work_is_no_option():
    made = case("tls", TLS)
    half = replace(
        made,
        figures=tuple(each_figure for each_figure in made.figures if each_figure.cell.operation == "seal"),
    )
    assert decide(half).first is None
    assert tell(decide(half)).answer.startswith(
        "Nothing: what is not ruled out has no figure here: AES-128 in GCM"
    )


def test_a_histogram_of_tiny_messages_turns_the_answer(tmp_path):
    """A cipher that is dear to set up wins long messages only."""
    path = tmp_path / "sizes.txt"
    path.write_text("# sizes of our messages\n16 900000\n24 90000\n4096 10\n")
    mix = read_histogram(path)
    assert mix.sizes == (16, 24, 4096)
    cheap_long = case("message", {"alpha/aes-128-gcm": 0.5}, setup=900.0)
    cheap_short = case("message", {"alpha/chacha20-poly1305": 1.5}, setup=300.0)

    def both(mix: Mix):
        parts = [
            case("message", {"alpha/aes-128-gcm": 0.5}, setup=900.0, mix=mix),
            case("message", {"alpha/chacha20-poly1305": 1.5}, setup=300.0, mix=mix),
        ]
        return replace(parts[0], figures=(*parts[0].figures, *parts[1].figures))

    assert decide(both(Mix((16384,)))).first.algorithm.id == "aes-128-gcm"
    told = told_of(both(mix))
    assert told.decision.first.algorithm.id == "chacha20-poly1305"
    assert "The 990,010 messages of the histogram" in said(told, "What it costs")
    assert "For 4 KiB alone: AES-128 in GCM" in said(told, "What would change the answer")
    assert cheap_long.mix == cheap_short.mix


def test_a_histogram_that_is_no_text_is_said_in_plain_words(tmp_path):
    (tmp_path / "sizes").write_bytes(b"\xcd\x00\xff")
    with pytest.raises(UsageError, match=r"cannot be read: it is not text$"):
        read_histogram(tmp_path / "sizes")
    with pytest.raises(UsageError, match=r"cannot be read: No such file or directory$"):
        read_histogram(tmp_path / "none")


def test_a_histogram_is_grouped_and_its_mistakes_are_named(tmp_path):
    path = tmp_path / "sizes.txt"
    path.write_text("\n".join(f"{size} 10" for size in range(1, 400)))
    mix = read_histogram(path, 16)
    assert len(mix.sizes) == 5
    assert all(size % 16 == 0 for size in mix.sizes)
    assert sum(mix.counts) == mix.messages == 3990
    for text, complaint in (
        ("x 3", "line 1: 'x 3' is not a size"),
        ("", "holds no message"),
        ("5 0", "holds no message"),
    ):
        path.write_text(text)
        with pytest.raises(UsageError, match=complaint):
            read_histogram(path)


def test_checksums_have_no_status():
    told = told_of(case("checksum", {"alpha/crc32c": 0.3, "alpha/sha-256": 2.0}))
    assert told.answer == "CRC-32C (Castagnoli), in Alpha 1.0"
    assert said(told, "Status") == "No authority has a say here: nothing of this is for security."


PASSWORDS = {
    "alpha/argon2id-64mib-2-1": 3e8,  # 150 ms
    "alpha/scrypt-16384-8-1": 1e8,  # 50 ms
    "alpha/bcrypt-10": 1.2e8,  # 60 ms
    "alpha/pbkdf2-sha-256-4096": 4e8 * 4096 / 600000,  # 200 ms for 600,000
}


def test_parameters_take_the_asked_time_and_memory():
    passwords = decide_passwords(case("password", PASSWORDS), 250e6, 64 << 20)
    words = {parameter.ranked.algorithm.id: parameter for parameter in passwords.parameters}
    assert words["argon2id-64mib-2-1"].words == "64 MiB, 3 passes, 1 lane"
    assert words["scrypt-16384-8-1"].words == "N = 65536 (2^16), r = 8, p = 1"
    assert words["bcrypt-10"].words == "cost 12"
    assert words["pbkdf2-sha-256-4096"].words == "750,000 iterations"
    assert words["argon2id-64mib-2-1"].time_ns.value == pytest.approx(225e6)
    assert words["bcrypt-10"].guesses_s == pytest.approx(1e9 / 240e6)
    assert all(parameter.time_ns.value <= 250e6 for parameter in passwords.parameters)
    assert [parameter.ranked.algorithm.id for parameter in passwords.parameters][-2:] == [
        "bcrypt-10",
        "pbkdf2-sha-256-4096",
    ]
    told = tell(passwords)
    assert told.answer.startswith("Argon2id with 64 MiB, 3 passes, 1 lane") or told.answer.startswith(
        "scrypt with"
    )
    small = decide_passwords(case("password", PASSWORDS), 10e6, 64 << 20)
    argon = next(
        parameter for parameter in small.parameters if parameter.ranked.algorithm.id.startswith("argon2id")
    )
    assert argon.words == "8 MiB, 1 pass, 1 lane", "less memory where the time is short"


def test_a_profile_rules_out_password_hashes_too():
    told = tell(decide_passwords(case("password", PASSWORDS, profile="nist"), 250e6, 64 << 20))
    assert told.answer.startswith("PBKDF2-HMAC-SHA-256 with 750,000 iterations")
    assert "Argon2id: NIST does not list it for this use" in said(told, "Ruled out")


def test_a_run_that_lacks_a_part_says_which_and_what_measures_it():
    whole = case("disk", DISK)
    figures = tuple(
        each_figure
        for each_figure in whole.figures
        if (each_figure.cell.algorithm, each_figure.cell.operation) != ("aes-256-xts", "decrypt")
    )
    told = told_of(replace(whole, figures=figures))
    lacking = said(told, "No figure")
    assert "was measured, but not decrypt at 512 B, tier full" in lacking
    assert "/aes-256-xts/{encrypt,decrypt}@" in lacking
