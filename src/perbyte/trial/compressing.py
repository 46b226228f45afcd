"""Functions that only compress blocks into a state: MD5, SHA-1 and SHA-2 without padding, as intrinsics have them.

The initial state and the padding are those of RFC 1321 and FIPS 180-4, and belong to the call that is timed.
"""

from __future__ import annotations

import math

_OLD = (0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476)
_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53)


def _roots(primes: tuple[int, ...], bits: int, precision: int) -> tuple[int, ...]:
    """The last `bits` of `precision` bits of the fractions of square roots."""
    return tuple(math.isqrt(prime << 2 * precision) & ((1 << bits) - 1) for prime in primes)


# initial state, bytes of a word, bytes of a block
_STATES = {
    "md5": (_OLD, 4, 64),
    "sha-1": ((*_OLD, 0xC3D2E1F0), 4, 64),
    "sha-224": (_roots(_PRIMES[8:], 32, 64), 4, 64),
    "sha-256": (_roots(_PRIMES[:8], 32, 32), 4, 64),
    "sha-384": (_roots(_PRIMES[8:], 64, 64), 8, 128),
    "sha-512": (_roots(_PRIMES[:8], 64, 64), 8, 128),
}


def compresses(algorithm: str) -> bool:
    """True where blocks can be padded here."""
    return algorithm in _STATES


def compressing(algorithm: str, call: str, output: int) -> str:
    """The C of `trial_compress(state, out, in, size)`; `call` compresses `size` bytes at `in`, whole blocks.

    Raises KeyError for another algorithm.
    """
    words, width, block = _STATES[algorithm]
    values = ", ".join(f"0x{word:x}{'u' if width == 4 else 'ull'}" for word in words)
    sizes = {"block": block, "width": width, "output": output, "low": int(algorithm == "md5")}
    return _TEXT.format(kind=f"uint{8 * width}_t", values=values, call=call, **sizes)


_TEXT = """\
static void trial_blocks(struct trial_state *state, const uint8_t *in, size_t size)
{{
	if (size)
		(void)({call});
}}

static void trial_compress(struct trial_state *state, uint8_t *out, const uint8_t *in, size_t size)
{{
	static const {kind} initial[] = {{{values}}};
	size_t whole = size / {block} * {block}, left = size - whole;
	size_t padded = left < {block} - 2 * {width} ? {block} : 2 * {block};
	uint8_t last[2 * {block}] = {{0}};
	memcpy(state->context, initial, sizeof initial);
	trial_blocks(state, in, whole);
	memcpy(last, in + whole, left);
	last[left] = 0x80;
	for (size_t i = 0; i < 8; i++)
		last[padded - ({low} ? 8 - i : 1 + i)] = (uint8_t)((uint64_t)size * 8 >> 8 * i);
	trial_blocks(state, last, padded);
	for (size_t i = 0; i < {output}; i++) {{
		{kind} word;
		memcpy(&word, state->context + i / {width} * {width}, {width});
		out[i] = (uint8_t)(word >> 8 * ({low} ? i % {width} : {width} - 1 - i % {width}));
	}}
}}
"""
