import pytest

from perbyte.catalogue import load, parse_selector
from perbyte.errors import UsageError
from perbyte.model import Cell, parse_address

CELL = Cell("openssl", "aes-128-cbc", "encrypt", 16, "message/1")


def test_every_address_selects_its_own_cell_and_no_other():
    everything = [
        Cell(runner, algorithm, operation, size, contract, cpu, twin)
        for runner in ("openssl", "openssl-lowlevel", "fake")
        for algorithm in ("aes-128-cbc", "seal-3.0", "3-way-ecb", "sha-256", "not-in-the-catalogue")
        for operation in ("encrypt", "digest")
        for size in (0, 16, 10_485_760)
        for contract in ("stream/1", "message/12")
        for cpu in ("full", "soft")
        for twin in (0, 1)
    ]
    for cell in everything:
        assert parse_address(cell.address) == cell
        selector = parse_selector(cell.address)
        assert [other_cell for other_cell in everything if selector.matches(other_cell)] == [cell]


@pytest.mark.parametrize("known", load().algorithms.values(), ids=lambda known: known.id)
def test_every_algorithm_of_the_catalogue_can_be_addressed(known):
    cell = Cell("openssl", known.id, known.operations[0], 16, load().default_contract(known))
    assert parse_selector(cell.address).matches(cell)
    assert parse_selector(known.id).algorithms() == (known.id,)
    for alias in known.aliases:
        assert parse_selector(alias).matches(cell)


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("aes-128-cbc", {"runner": "*", "algorithm": "aes-128-cbc", "operation": "*", "sizes": None}),
        ("*/sha-256", {"runner": "*", "algorithm": "sha-256", "contracts": None, "cpus": None, "twin": None}),
        ("openssl/aes-*-cbc/*@16,8192", {"runner": "openssl", "algorithm": "aes-*-cbc", "sizes": (16, 8192)}),
        ("*/aes-128-ctr+cpu=soft,full", {"cpus": ("soft", "full"), "sizes": None}),
        (
            "openssl/aes-128-ecb/encrypt@16+contract=message/1+cpu=soft",
            {"operation": "encrypt", "sizes": (16,), "contracts": ("message/1",), "cpus": ("soft",)},
        ),
        ("md5+contract=oneshot,stream", {"contracts": ("oneshot/1", "stream/1")}),
        ("md5+contract=stream/7", {"contracts": ("stream/7",)}),
        ("md5@1k,1KiB,1kB,10MB", {"sizes": (1024, 1000, 10_000_000)}),
        ("md5@*", {"sizes": None}),
        ("md5+twin=1", {"twin": 1}),
        ("  md5  ", {"algorithm": "md5", "text": "md5"}),
        ("*/AES-128-CBC", {"algorithm": "aes-128-cbc"}),
        ("3des", {"algorithm": "des-ede3-cbc"}),
        ("{3des,sha256}", {"algorithm": "{des-ede3-cbc,sha-256}"}),
        ("camellia256-c*", {"algorithm": "{camellia-256-cbc,camellia-256-ctr}"}),
        ("{openssl,nettle}/md5/digest", {"runner": "{openssl,nettle}"}),
        ("md5/digest", {"runner": "*", "algorithm": "md5", "operation": "digest"}),
    ],
)
def test_parsing(text, fields):
    selector = parse_selector(text)
    assert {name: getattr(selector, name) for name in fields} == fields


@pytest.mark.parametrize(
    "text",
    [
        "aes-128-cbc",
        "*/aes128-cbc/encrypt",
        "open*/aes-{128,192}-cbc/enc*@16,32+contract=message",
        "{openssl,nettle}/aes-1[0-9][0-9]-cbc/{en,de}crypt",
        "*/*/*@*+contract=*+cpu=*+twin=*",
        "*/*+contract=mess*",
    ],
)
def test_selectors_that_take_the_cell(text):
    assert parse_selector(text).matches(CELL)


@pytest.mark.parametrize(
    "text",
    [
        "aes-128-ecb",
        "nettle/aes-128-cbc",
        "*/aes-128-cbc/decrypt",
        "aes-128-cbc@17",
        "aes-128-cbc+contract=stream",
        "aes-128-cbc+cpu=soft",
        "aes-128-cbc+twin=1",
        "openss/aes-128-cbc",
        "*/aes-128-cb",
    ],
)
def test_selectors_that_leave_the_cell(text):
    assert not parse_selector(text).matches(CELL)


def test_absent_tier_and_twin_mean_what_they_mean_in_addresses():
    soft = Cell("openssl", "aes-128-cbc", "encrypt", 16, "message/1", cpu="soft")
    twin = Cell("openssl", "aes-128-cbc", "encrypt", 16, "message/1", twin=1)
    assert not parse_selector("aes-128-cbc").matches(soft)
    assert not parse_selector("aes-128-cbc").matches(twin)
    assert parse_selector("aes-128-cbc+cpu=*").matches(soft)
    assert parse_selector("aes-128-cbc+cpu=soft,full").matches(CELL)
    assert parse_selector("aes-128-cbc+twin=*").matches(twin)
    assert parse_selector("aes-128-cbc+twin=*").matches(CELL)


def test_matches_operation_sets_sizes_and_options_aside():
    selector = parse_selector("open*/aes-*-cbc/decrypt@16+cpu=soft")
    assert selector.matches_operation("openssl", "aes-256-cbc", "decrypt")
    assert not selector.matches_operation("openssl", "aes-256-cbc", "encrypt")
    assert not selector.matches_operation("nettle", "aes-256-cbc", "decrypt")
    assert not selector.matches_operation("openssl", "aes-256-ctr", "decrypt")


def test_algorithms_expands_through_the_catalogue():
    assert parse_selector("*/aes-{128,256}-gcm").algorithms() == ("aes-128-gcm", "aes-256-gcm")


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("*/aes-128-cbx", "selector '*/aes-128-cbx': the catalogue has no algorithm", "aes-128-cbc"),
        ("openssl", "no algorithm 'openssl'", "openssl/*"),
        ("*/zz-*", "no algorithm fits 'zz-*'", "perbyte list algorithms"),
    ],
)
def test_algorithms_refuses_what_the_catalogue_lacks(text, message, hint):
    with pytest.raises(UsageError) as raised:
        parse_selector(text).algorithms()
    assert message in str(raised.value)
    assert hint in raised.value.hint


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("", "a name is empty", "looks like"),
        ("/md5", "a name is empty", "looks like"),
        ("a/b/c/d", "'a/b/c/d' has 4 parts", "looks like"),
        ("md5@", "no size follows '@'", "looks like"),
        ("md5@x", "'x' is not a size", "8KiB"),
        ("md5@16,,32", "'' is not a size", "8KiB"),
        ("md5@16@32", "'16@32' is not a size", "8KiB"),
        ("md5@-1", "'-1' is not a size", "8KiB"),
        ("md5+", "unknown option '+'", "+cpu="),
        ("md5+size=16", "unknown option '+size'", "+cpu="),
        ("md5+cpu", "'+cpu' lacks a value", "looks like"),
        ("md5+cpu=", "'+cpu=' lacks a value", "looks like"),
        ("md5+cpu=soft,", "'+cpu=soft,' lacks a value", "looks like"),
        ("md5+cpu=soft+cpu=full", "duplicate '+cpu='", "comma"),
        ("md5+contract=massage", "no contract 'massage'", "message/1"),
        ("md5+twin=one", "'+twin=one' is not a number", "looks like"),
        ("openssl,nettle/md5", "'openssl,nettle' holds a comma", "{openssl,nettle}"),
        ("{openssl,nettle/md5", "braces of '{openssl,nettle' do not pair up", "{one,other}, no slash"),
        ("*/md}5", "braces of 'md}5' do not pair up", "{one,other}, no slash"),
        ("open ssl/md5", "'open ssl' holds a blank", "looks like"),
    ],
)
def test_wrong_selectors_name_the_offending_part(text, message, hint):
    with pytest.raises(UsageError) as raised:
        parse_selector(text)
    assert str(raised.value).startswith(f"selector '{text}': ")
    assert message in str(raised.value)
    assert hint in raised.value.hint
