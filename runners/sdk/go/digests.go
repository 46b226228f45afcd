package perbyte

// #include "foreign.h"
import "C"

// A Form is how a library writes signatures: Fixed gives one in as many bytes as the row says, Own is the way back, and
// nil where there is none. Both are made outside any timing.
type Form struct {
	Fixed, Own func(signature []byte) []byte
}

// AsIs is the form of signatures that have one length already.
var AsIs = Form{func(s []byte) []byte { return s }, func(s []byte) []byte { return s }}

// SignedDigest is a signature over a digest that was made beforehand; length is that of its fixed form.
func SignedDigest(algorithm string, key, length int, calls string, form Form,
	pair func(key []byte) (sign func(digest []byte) ([]byte, error), verify func(digest, signature []byte) bool, err error)) Row {
	return Row{algorithm: algorithm, kind: C.PB_SIGNATURE, calls: calls, key: key, output: length,
		open: func(g *given) (operation, error) {
			sign, verify, err := pair(g.key[0])
			return &digested{sign: sign, verify: verify, form: form, g: g}, err
		}}
}

type digested struct {
	sign       func(digest []byte) ([]byte, error)
	verify     func(digest, signature []byte) bool
	form       Form
	g          *given
	made, sent []byte
}

// begin takes the signature anew before every sample, because a forgery may have changed it.
func (d *digested) begin(uint64) error {
	if d.g.inverse && len(d.g.in) >= d.g.size {
		d.sent = d.form.Own(d.g.in[d.g.size:])
	}
	return nil
}

func (d *digested) run(n uint64, which C.int) (bad uint64) {
	digest := d.g.in[:d.g.size]
	for ; n > 0; n-- {
		if which == C.PB_INVERSE {
			if !d.verify(digest, d.sent) {
				bad++
			}
			continue
		}
		made, err := d.sign(digest)
		if err != nil {
			bad++
			continue
		}
		d.made = made
	}
	return bad
}

// show brings the last signature out; it says whether it has the length of the row.
func (d *digested) show() bool {
	if d.g.inverse || d.made == nil {
		return true
	}
	fixed := d.form.Fixed(d.made)
	copy(d.g.out, fixed)
	return len(fixed) == d.g.tag
}
