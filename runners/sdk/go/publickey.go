package perbyte

// #include "foreign.h"
import "C"

// Signature is made of a key pair from its seed.
func Signature(algorithm string, key, length int, calls string,
	pair func(seed []byte) (sign func(message []byte) ([]byte, error), verify func(message, signature []byte) bool, err error)) Row {
	return Row{algorithm: algorithm, kind: C.PB_SIGNATURE, calls: calls, key: key, output: length,
		open: func(g *given) (operation, error) {
			sign, verify, err := pair(g.key[0])
			return &signed{sign, verify, g}, err
		}}
}

type signed struct {
	sign   func(message []byte) ([]byte, error)
	verify func(message, signature []byte) bool
	g      *given
}

func (s *signed) run(n uint64, which C.int) (bad uint64) {
	for i := uint64(0); i < n; i++ {
		if which == C.PB_INVERSE {
			if !s.verify(s.g.in[:s.g.size], s.g.in[s.g.size:]) {
				bad++
			}
			continue
		}
		made, err := s.sign(s.g.message[i&15])
		if err != nil || len(made) != s.g.tag {
			bad++
			continue
		}
		copy(s.g.out, made)
	}
	return bad
}

// Agreement derives a secret from the own private key and the peer's public one; public gives a private key's public one.
func Agreement(algorithm string, key, secret int, calls string, public func(private []byte) ([]byte, error),
	pair func(private, public []byte) (func() ([]byte, error), error)) Row {
	return Row{algorithm: algorithm, kind: C.PB_AGREEMENT, calls: calls, key: key, output: secret,
		open: func(g *given) (operation, error) {
			peer, err := g.in, error(nil)
			if !g.vector {
				peer, err = public(g.nonce[0])
			}
			if err != nil {
				return nil, err
			}
			derive, err := pair(g.key[0], peer)
			return &agreed{derive, g.out}, err
		}}
}

type agreed struct {
	derive func() ([]byte, error)
	out    []byte
}

func (a *agreed) run(n uint64, _ C.int) (bad uint64) {
	for ; n > 0; n-- {
		secret, err := a.derive()
		if err != nil {
			bad++
			continue
		}
		copy(a.out, secret)
	}
	return bad
}

// KEM is made of a key pair from its seed; lengths in bytes.
func KEM(algorithm string, seed, ciphertext, secret int, calls string,
	pair func(seed []byte) (encapsulate func() (secret, sent []byte), decapsulate func(sent []byte) ([]byte, error), err error)) Row {
	return Row{algorithm: algorithm, kind: C.PB_KEM, calls: calls, key: seed, nonce: ciphertext, output: secret,
		open: func(g *given) (operation, error) {
			encapsulate, decapsulate, err := pair(g.key[0])
			return &kem{encapsulate, decapsulate, g, ciphertext}, err
		}}
}

type kem struct {
	encapsulate func() (secret, sent []byte)
	decapsulate func(sent []byte) ([]byte, error)
	g           *given
	ciphertext  int
}

func (k *kem) run(n uint64, which C.int) (bad uint64) {
	for ; n > 0; n-- {
		if which == C.PB_MESSAGE {
			secret, sent := k.encapsulate()
			copy(k.g.out, sent)
			copy(k.g.out[k.ciphertext:], secret)
			continue
		}
		secret, err := k.decapsulate(k.g.in)
		if err != nil {
			bad++
			continue
		}
		copy(k.g.out, secret)
	}
	return bad
}
