"""Calls on changed material (SPEC section 5), of which a script may have some accepted."""

from toy import Refused, digest

HEX_DIGITS = frozenset("0123456789abcdefABCDEF")  # the module `string` imports `re`, which takes long
FIELDS = {"k": "key", "n": "nonce", "a": "aad", "i": "input"}


def check_changes(toy, request, answers, *, lies=False):
    """The answer to `changes`; with `lies` every change is accepted. Raises Refused."""
    changes, vector = request["changes"], request.get("vector")
    material = (
        {letter: bytes.fromhex(vector.get(name, "")) for letter, name in FIELDS.items()} if vector else {}
    )
    own = {"k": toy.keys[0], "n": toy.nonces[0], "a": toy.aad, "i": toy.data}
    whole = material or own
    every = [_changed(whole, change, own=not vector, toy=toy) for change in filter(None, changes.split(" "))]

    def outcome(parts):
        try:
            if not vector:
                return digest(toy.run(*(parts[letter] for letter in FIELDS)))
            return digest(toy.vector({name: parts[letter].hex() for letter, name in FIELDS.items()}, answers))
        except Refused:
            return ""

    genuine = outcome(whole)
    outcomes = [genuine if lies else outcome(parts) for parts in every]
    return {"input_length": len(whole["i"]), "outcomes": [genuine, *outcomes, genuine]}


def _changed(parts, change, *, own, toy):
    """The material with one change. Raises Refused where it is none, or reaches beyond the material."""
    parts, forms = dict(parts), set()
    for edit in change.split("+"):
        letter, form = edit[:1], "=" if edit[1:2] == "=" else ":"
        forms.add(form)
        offset, colon, digits = edit[1:].partition(form)
        fits = letter in FIELDS and colon and not len(digits) % 2 and set(digits) <= HEX_DIGITS
        if not fits or len(forms) > 1 or (form == ":") != (offset.isdecimal() and bool(digits)):
            raise Refused("malformed", "changes: letter, offset, colon, bits; or letter, =, other bytes")
        if own and (form == "=" or letter != "i" or toy.operation not in ("open", "verify", "decapsulate")):
            raise Refused("malformed", "changes: of the run's own material only bits of a made input")
        if form == "=":
            parts[letter] = bytes.fromhex(digits)
            continue
        at, bits = int(offset), bytes.fromhex(digits)
        if at + len(bits) > len(parts[letter]):
            raise Refused("malformed", "changes: beyond the material")
        there = bytearray(parts[letter])
        for number, flipped in enumerate(bits, at):
            there[number] ^= flipped
        parts[letter] = bytes(there)
    return parts
