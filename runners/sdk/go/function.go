package perbyte

// #include "foreign.h"
import "C"

// A Kind is what a Function does.
type Kind C.int

// The kinds of functions that take all they need in each call.
const (
	OfHash   Kind = C.PB_HASH
	OfMAC    Kind = C.PB_MAC
	OfStream Kind = C.PB_STREAM
	OfAEAD   Kind = C.PB_AEAD
)

// A Call makes one call and tells whether it went well; out has room for more than the output.
type Call func(out, key, nonce, data, aad []byte) bool

// Function is a function that takes key, nonce and data in each call; what a MAC or a hash does not take is empty. What
// is opened was sealed with key 0 and nonce 0; inverse is nil where there is no opening.
func Function(algorithm string, kind Kind, key, nonce, output int, calls string, call, inverse Call) Row {
	return Row{algorithm: algorithm, kind: C.int(kind), calls: calls, key: key, nonce: nonce, output: output,
		open: func(g *given) (operation, error) { return &called{call, inverse, g}, nil }}
}

type called struct {
	call, inverse Call
	g             *given
}

func (c *called) run(n uint64, which C.int) (bad uint64) {
	g, call, out, data, aad := c.g, c.call, c.g.out, c.g.in, c.g.aad
	for i := uint64(0); i < n; i++ {
		good := false
		switch which {
		case C.PB_MESSAGE:
			good = call(out, g.key[0], g.nonce[i&15], data, aad)
		case C.PB_REKEY:
			good = call(out, g.key[i&15], g.nonce[i&15], data, aad)
		default:
			good = c.inverse(out, g.key[0], g.nonce[0], data, aad)
		}
		if !good {
			bad++
		}
	}
	return bad
}
