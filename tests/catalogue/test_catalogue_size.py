import pytest

from perbyte.catalogue import parse_bytes, parse_size, parse_sizes
from perbyte.catalogue.pattern import expand_braces, is_pattern, matches
from perbyte.errors import UsageError


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0", 0),
        ("16", 16),
        ("16B", 16),
        (" 16 ", 16),
        ("8k", 8192),
        ("8K", 8192),
        ("8KiB", 8192),
        ("8kB", 8000),
        ("8KB", 8000),
        ("1M", 1_048_576),
        ("10MB", 10_000_000),
        ("10 MB", 10_000_000),
        ("10MiB", 10_485_760),
        ("1.5MiB", 1_572_864),
        ("0.1MB", 100_000),
        ("1GB", 10**9),
        ("1GiB", 1 << 30),
        ("2g", 2 << 30),
    ],
)
def test_sizes(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize(
    "text", ["", "x", "-1", "+1", "1.", ".5k", "1e6", "16 bytes", "0x10", "10EB", "١٦", "1,000"]
)
def test_what_is_no_size(text):
    with pytest.raises(UsageError) as raised:
        parse_size(text)
    assert f"'{text}' is not a size" in str(raised.value)
    assert "10MB (10,000,000)" in raised.value.hint


def test_a_size_is_a_whole_number_that_memory_could_hold():
    with pytest.raises(UsageError, match="not a whole number"):
        parse_size("1.0001k")
    with pytest.raises(UsageError, match="too large: a call works on 274,877,906,944 bytes at the most"):
        parse_size("9999999999999GB")


def test_lists_keep_their_order_and_name_a_size_once():
    assert parse_sizes("8192,16,8k,512") == (8192, 16, 512)
    with pytest.raises(UsageError, match="'' is not a size"):
        parse_sizes("16,")


@pytest.mark.parametrize(
    ("pattern", "alternatives"),
    [
        ("abc", ("abc",)),
        ("a{b,c}d", ("abd", "acd")),
        ("{a,b}{1,2}", ("a1", "a2", "b1", "b2")),
        ("a{b,c{1,2}}", ("ab", "ac1", "ac2")),
        ("a{,b}", ("a", "ab")),
        ("{a,a}", ("a",)),
        ("{*-cbc,md?}", ("*-cbc", "md?")),
    ],
)
def test_braces(pattern, alternatives):
    assert expand_braces(pattern) == alternatives


@pytest.mark.parametrize("pattern", ["{", "}", "a{b", "a}b", "}{", "{a,{b}", "{a}}"])
def test_braces_that_do_not_pair_up(pattern):
    with pytest.raises(UsageError, match="do not pair up"):
        expand_braces(pattern)


def test_matching_is_of_the_whole_name_and_minds_case():
    assert matches("aes-128-cbc", "aes-*-cbc")
    assert matches("aes-128-cbc", "{sha*,aes-???-{ecb,cbc}}")
    assert matches("odd[name", "odd[name")
    assert not matches("aes-128-cbc", "aes-*-cb")
    assert not matches("aes-128-cbc", "es-128-cbc")
    assert not matches("AES", "aes")


def test_what_counts_as_a_pattern():
    assert all(is_pattern(text) for text in ("*", "a?", "[ab]", "{a,b}", "a}"))
    assert not is_pattern("seal-3.0")


@pytest.mark.parametrize("text", ["64k", "64kB", "64KiB", "1.5MiB", "19MiB", "1TB"])
def test_options_of_amounts_know_the_grammar_of_sizes(text):
    from perbyte.app.quantities import read_size

    assert read_size(text) == parse_bytes(text)


@pytest.mark.parametrize(
    "pattern",
    [
        "{a,b}" * 26,
        "{{a,b}{a,b},{a,b}{a,b}}" * 9,
        "{" + ",".join(map(str, range(4097))) + "}",
        "{" * 5000 + "a" + "}" * 5000,
        "{a}" * 2000,
        "x" * 200_000 + "{a,b}",
    ],
)
def test_braces_that_mean_too_much_are_refused_before_they_are_written_out(pattern):
    with pytest.raises(UsageError, match="alternatives") as refused:
        expand_braces(pattern)
    assert len(str(refused.value)) < 300
    assert "several selectors" in refused.value.hint
    assert len(expand_braces("{a,b}" * 12)) == 4096
