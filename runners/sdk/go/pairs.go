package perbyte

// #include "foreign.h"
import "C"

// Pairs makes new key pairs by the library's own generator; length is that of a public key in bytes. What fresh gives
// tells, untimed, the public key, and whether the pair works on a message.
func Pairs(algorithm string, length int, calls string, fresh func() (func(message []byte) (public []byte, works bool), error)) Row {
	return Row{algorithm: algorithm, kind: C.PB_PAIRS, calls: calls, key: length, output: length,
		open: func(g *given) (operation, error) { return &pairs{fresh: fresh, g: g}, nil }}
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

//export goShow
func goShow(c *C.pb_case) {
	held, yes := prepared[c].(*pairs)
	if !yes || held.last == nil {
		return
	}
	public, works := held.last(held.g.in[:min(len(held.g.in), 32)])
	if !works || len(public) != held.g.tag {
		c.failures++
	}
	copy(held.g.out, public)
}
