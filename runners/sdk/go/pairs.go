package perbyte

// #include "foreign.h"
import "C"

// Pairs makes new key pairs by the library's own generator; length is that of a public key in bytes. What fresh gives
// tells, untimed, the public key, and whether the pair works on a message.
func Pairs(algorithm string, length int, calls string, fresh func() (func(message []byte) (public []byte, works bool), error)) Row {
	return Row{algorithm: algorithm, kind: C.PB_PAIRS, calls: calls, key: length, output: length,
		open: func(g *given) (operation, error) { return &pairs{fresh: fresh, g: g}, nil }}
}

// NewPair is Pairs where each takes the same time; key is the length of a private key in bytes.
func NewPair(algorithm string, key, length int, calls string, fresh func() (func(message []byte) (public []byte, works bool), error)) Row {
	row := Pairs(algorithm, length, calls, fresh)
	row.kind, row.key = C.PB_NEW_PAIR, key
	return row
}

type pairs struct {
	fresh func() (func(message []byte) ([]byte, bool), error)
	last  func(message []byte) ([]byte, bool)
	g     *given
}

func (p *pairs) run(n uint64, _ C.int) (bad uint64) {
	for ; n > 0; n-- {
		made, err := p.fresh()
		if err != nil {
			bad++
			continue
		}
		p.last = made
	}
	return bad
}

// show tells the last pair's public key; it says whether that pair works.
func (p *pairs) show() bool {
	if p.last == nil {
		return true
	}
	public, works := p.last(p.g.in[:min(len(p.g.in), 32)])
	copy(p.g.out, public)
	return works && len(public) == p.g.tag
}

// What has something to bring out after its calls, untimed.
type showing interface{ show() bool }

//export goShow
func goShow(c *C.pb_case) {
	if held, yes := prepared[c].(showing); yes && !held.show() {
		c.failures++
	}
}
