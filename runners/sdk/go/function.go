package perbyte

// #include "foreign.h"
import "C"

import (
	"crypto/rand"
	"encoding/json"
	"os"
	"strconv"
	"time"
)

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
		open: func(g *given) (operation, error) { return &called{call, inverse, g}, nil },
		look: func(size int) { look(size, key, nonce, output, calls, call) }}
}

func drawn(length int) (made [16][]byte) {
	for i := range made {
		made[i] = make([]byte, length)
		rand.Read(made[i])
	}
	return made
}

// look prints a line: whether the function gives its output, and passes of 16 calls on new data, on these again, and on
// one of them.
func look(size, key, nonce, output int, function string, call Call) {
	out, keys, nonces, aad := make([]byte, size+output+8192), drawn(key), drawn(nonce), drawn(13)
	pass := func(ring [16][]byte) float64 {
		began := time.Now()
		for i, data := range ring {
			call(out, keys[0], nonces[i], data, aad[0])
		}
		return float64(time.Since(began).Nanoseconds()) / 16
	}
	fault, first := "", drawn(size)[0]
	for _, when := range []string{"", ", the second time that it was given the same data"} {
		if fault == "" && !call(out, keys[0], nonces[0], first, aad[0]) {
			fault = "an error, or an output of another length" + when
		}
	}
	var fresh, again, same []float64
	for round := 0; fault == "" && round < 10; round++ {
		ring := drawn(size)
		fresh = append(fresh, pass(ring))
		again = append(again, pass(ring))
		for i := range ring {
			ring[i] = ring[15]
		}
		same = append(same, pass(ring))
	}
	json.NewEncoder(os.Stdout).Encode(map[string]any{
		"function": function, "fault": fault, "new": fresh, "again": again, "same": same})
}

// looks is true where only a look was asked for, which has been taken then.
func looks(rows []Row) bool {
	size, err := strconv.Atoi(os.Getenv("PERBYTE_LOOK"))
	if err == nil && len(rows) == 1 && rows[0].look != nil {
		rows[0].look(size)
		return true
	}
	return false
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
