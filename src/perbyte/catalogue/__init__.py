"""The catalogue: what algorithms there are, what one timed call is, and what must come out.

The data lie in `catalogue/`, in TOML that people review; this package loads them, answers
questions about them and complains about contradictions. It is the only authority on names and lengths:
runners take key, nonce and tag lengths from here. It computes no cryptography and knows no runner.
"""

from perbyte.catalogue.catalogue import Catalogue, Suite, find_suite, load, read_catalogue, suites
from perbyte.catalogue.selector import Selector, parse_bytes, parse_selector, parse_size, parse_sizes

__all__ = [
    "Catalogue",
    "Selector",
    "Suite",
    "find_suite",
    "load",
    "parse_bytes",
    "parse_selector",
    "parse_size",
    "parse_sizes",
    "read_catalogue",
    "suites",
]
