package perbyte

// #include "foreign.h"
import "C"

// Letter is a message to a public key: seal makes a key pair of its own for each, and answers with what the recipient
// needs of it and the sealed text behind that. Lengths in bytes; info is the application's text, extra what a sealed
// text has more than the data.
func Letter(algorithm string, key, info, extra int, calls string,
	pair func(private []byte) (seal func(info, aad, data []byte) (sent, sealed []byte, err error), open func(info, aad, letter []byte) ([]byte, error), err error)) Row {
	return Row{algorithm: algorithm, kind: C.PB_LETTER, calls: calls, key: key, nonce: info, output: extra,
		open: func(g *given) (operation, error) {
			seal, open, err := pair(g.key[0])
			return &letter{seal, open, g}, err
		}}
}

type letter struct {
	seal func(info, aad, data []byte) (sent, sealed []byte, err error)
	open func(info, aad, letter []byte) ([]byte, error)
	g    *given
}

func (l *letter) run(n uint64, which C.int) (bad uint64) {
	g := l.g
	for ; n > 0; n-- {
		if which == C.PB_MESSAGE {
			sent, sealed, err := l.seal(g.nonce[0], g.aad, g.in)
			if err != nil {
				bad++
				continue
			}
			copy(g.out[copy(g.out, sent):], sealed)
			continue
		}
		data, err := l.open(g.nonce[0], g.aad, g.in)
		if err != nil {
			bad++
			continue
		}
		copy(g.out, data)
	}
	return bad
}
