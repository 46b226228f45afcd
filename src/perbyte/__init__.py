"""Perbyte measures how fast cryptography really is, in true cycles per byte, with an honest interval."""

__version__ = "0.1.0"
