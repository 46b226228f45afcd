"""JSON by the functions in C that Python's package stands on.

The package itself imports `re`, which takes as long as the rest of this runner's start. Where a Python has other
functions the package is used.
"""

try:
    import _json

    class _Reading:
        """What the scanner asks: plain JSON, as `json.loads` reads it."""

        strict = True
        object_hook = object_pairs_hook = None
        parse_float, parse_int = float, int
        parse_constant = {name: float(name.lower()) for name in ("NaN", "Infinity", "-Infinity")}.__getitem__

    def _refused(value):
        raise TypeError(f"{type(value).__name__} is no JSON")

    _scan = _json.make_scanner(_Reading)
    _chunks = _json.make_encoder(
        None, _refused, _json.encode_basestring_ascii, None, ": ", ", ", False, False, True
    )

    def loads(text):
        """The value of a text. Raises ValueError."""
        text = text.strip(" \t\n\r")
        try:
            value, end = _scan(text, 0)
        except (StopIteration, SystemError):  # it takes its own error from the package, if that is there
            raise ValueError("no JSON") from None
        if end != len(text):
            raise ValueError("more than one value")
        return value

    def dumps(value):
        """The text of a value."""
        return "".join(_chunks(value, 0))

    assert loads(dumps([1, {"a": 0.5}])) == [1, {"a": 0.5}]
except (ImportError, AttributeError, TypeError, AssertionError):
    from json import dumps, loads
