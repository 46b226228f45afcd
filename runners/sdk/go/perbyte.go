// Package perbyte makes functions of Go a runner of Perbyte. Protocol, data, clock and checks are those of the C SDK,
// which calls the loops in this package; so a sample contains one call from C to Go, whose cost is measured and subtracted.
//
// Nothing is collected while the clock runs: the collector is off, and runs between samples when enough was allocated.
//
//	perbyte.Main(perbyte.Library{Name: "mine", License: "MIT", Version: "1.0"},
//		perbyte.Hash("sha-256", 32, "mine.Sum256", func(out, data []byte) { ... }))
package perbyte

// #include "foreign.h"
// int pb_go_main(const char *, const char *, const char *, const char *, const char *);
import "C"

import (
	"crypto/cipher"
	"hash"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"unsafe"
)

// Library says who answers. Features is what the library says about the processor, where it says anything.
type Library struct {
	Name, License, Version, Features string
}

// A Row is an algorithm of the catalogue with the function that does it.
type Row struct {
	algorithm          string
	kind               C.int
	calls              string
	key, nonce, output int
	open               func(*given) (operation, error)
	look               func(size int) // of a Function; nil for others
}

// An operation is prepared for one case; run makes n timed calls of one sort and tells how many went wrong.
type operation interface {
	run(n uint64, which C.int) uint64
}

// What an operation may do besides: get ready for n calls, untimed, and be ended.
type (
	preparing interface{ begin(n uint64) error }
	closing   interface{ close() }
)

// What the SDK hands over, as slices of memory that belongs to C.
type given struct {
	in, out, aad []byte
	key, nonce   [16][]byte
	message      [16][]byte
	size, tag    int
	inverse      bool
	vector       bool
}

var (
	rows      []Row
	prepared  = map[*C.pb_case]operation{}
	materials = map[*C.pb_case]*given{}
	before    uint64 // allocated when the last collection was over
)

const (
	heapBytes    = 96 << 20 // touched at the start, so that no page is new to a timed call
	collectAfter = 48 << 20 // allocated since the last collection
	lookEvery    = 64       // samples
)

func bytes(at *C.uint8_t, length C.size_t) []byte {
	if length == 0 || at == nil {
		return []byte{}
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(at)), int(length))
}

//export goOpen
func goOpen(c *C.pb_case, index C.int) C.int {
	row := rows[index]
	g := &given{
		in:      bytes(c.in, c.in_len),
		aad:     bytes(c.aad, c.aad_len),
		size:    int(c.size),
		tag:     row.output,
		inverse: c.inverse != 0,
		vector:  c.given != 0,
	}
	g.out = unsafe.Slice((*byte)(unsafe.Pointer(c.out)), int(c.size)+row.output+8192)
	for i := range g.key {
		g.key[i] = bytes(c.key[i], c.key_len)
		g.nonce[i] = bytes(c.nonce[i], c.nonce_len)
		g.message[i] = bytes(c.message[i], c.size)
	}
	length := g.size
	switch row.kind {
	case C.PB_HASH, C.PB_MAC, C.PB_AGREEMENT:
		length = row.output
	case C.PB_AEAD, C.PB_LETTER:
		if !g.inverse {
			length += row.output
		}
	case C.PB_SIGNATURE:
		length = row.output
		if g.inverse {
			length = 0
		}
	case C.PB_KEM:
		length = row.output
		if !g.inverse {
			length += row.nonce
		}
	case C.PB_CHAIN, C.PB_PAIRS, C.PB_NEW_PAIR:
		length = row.output
	case C.PB_ROUTINE:
		length = 0
	}
	state, err := row.open(g)
	if err != nil {
		say(c, err)
		return 0
	}
	c.out_len = C.size_t(length)
	prepared[c], materials[c] = state, g
	_, begins := state.(preparing)
	_, shows := state.(showing)
	if _, counts := state.(*chain); !begins && !shows && !counts && c.ctx == nil {
		c.ctx = unsafe.Pointer(&C.pb_foreign_rests)
	}
	return 1
}

//export goClose
func goClose(c *C.pb_case) {
	if held, yes := prepared[c].(closing); yes {
		held.close()
	}
	delete(prepared, c)
	delete(materials, c)
}

//export goRun
func goRun(c *C.pb_case, n C.uint64_t, which C.int) {
	if c == nil {
		enter()
		return
	}
	bad := uint64(0)
	if C.pb_foreign_walk.area == nil {
		bad = prepared[c].run(uint64(n), which)
	} else {
		bad = walk(prepared[c], materials[c], uint64(n), which)
	}
	if bad != 0 {
		c.failures += C.uint64_t(bad)
		if held, yes := prepared[c].(*routine); yes && held.why != nil {
			say(c, held.why)
		}
	}
}

// walk makes calls that take the next bytes of an area each. The loop is entered once for each.
func walk(work operation, g *given, n uint64, which C.int) (bad uint64) {
	way, same := &C.pb_foreign_walk, g.in
	area, at := bytes(way.area, way.bytes), int(way.at)
	for ; n > 0; n-- {
		if at+g.size > len(area) {
			at = 0
		}
		g.in = area[at : at+g.size]
		bad += work.run(1, which)
		at += g.size
	}
	g.in, way.at = same, C.size_t(at)
	return bad
}

var samples int

//export goBegin
func goBegin(c *C.pb_case, _ C.int) {
	switch held := prepared[c].(type) {
	case *chain:
		held.x = chainStart
	case preparing:
		defer func() { // what was collected must not be missed by what it makes
			if err := held.begin(uint64(c.calls)); err != nil {
				say(c, err)
			}
		}()
	}
	if samples++; C.pb_auditing != 0 || samples%lookEvery != 0 && !makes(c) {
		return
	}
	if now := allocated(); now-before > collectAfter {
		runtime.GC()
		before = allocated()
	}
}

// Main speaks the protocol until it ends. Its name is that of the program's file.
func Main(l Library, all ...Row) {
	if looks(all) {
		return
	}
	runtime.LockOSThread()
	debug.SetGCPercent(-1)
	ballast := make([]byte, heapBytes)
	for i := 0; i < len(ballast); i += 4096 {
		ballast[i] = 1
	}
	ballast = nil
	runtime.GC()
	before = allocated()
	rows = append(all, probes()...)
	C.pb_foreign_rows(C.int(len(rows)))
	for i, row := range rows {
		C.pb_foreign_row(C.int(i), C.CString(row.algorithm), row.kind, C.CString(row.calls), C.uint(row.key),
			C.uint(keyNonce(row)), C.uint(row.output))
	}
	name := filepath.Base(os.Args[0])
	os.Exit(int(C.pb_go_main(C.CString(name), C.CString(l.Name), C.CString(l.License), C.CString(l.Version), C.CString(l.Features))))
}

// The row's nonce: of a key agreement the peer's private key; the field holds the ciphertext's length in a KEM.
func keyNonce(row Row) int {
	switch row.kind {
	case C.PB_AGREEMENT:
		return row.key
	case C.PB_KEM:
		return 0
	}
	return row.nonce
}

// Hash is a hash in one call; output in bytes.
func Hash(algorithm string, output int, calls string, digest func(out, data []byte)) Row {
	return Row{algorithm: algorithm, kind: C.PB_HASH, calls: calls, output: output,
		open: func(g *given) (operation, error) { return &hashed{digest, g.out[:output], g}, nil }}
}

// Random is the library's own generator; draw fills out.
func Random(algorithm, calls string, draw func(out []byte)) Row {
	return Row{algorithm: algorithm, kind: C.PB_RANDOM, calls: calls, open: func(g *given) (operation, error) {
		return &hashed{func(out, _ []byte) { draw(out) }, g.out[:g.size], g}, nil
	}}
}

type hashed struct {
	digest func(out, data []byte)
	out    []byte
	g      *given
}

func (h *hashed) run(n uint64, _ C.int) uint64 {
	digest, out, data := h.digest, h.out, h.g.in
	for ; n > 0; n-- {
		digest(out, data)
	}
	return 0
}

// MAC is a MAC whose state can be used again: Reset, Write, Sum.
func MAC(algorithm string, key, output int, calls string, keyed func(key []byte) (hash.Hash, error)) Row {
	return Row{algorithm: algorithm, kind: C.PB_MAC, calls: calls, key: key, output: output,
		open: func(g *given) (operation, error) {
			state, err := keyed(g.key[0])
			return &maced{keyed, state, g}, err
		}}
}

type maced struct {
	keyed func(key []byte) (hash.Hash, error)
	state hash.Hash
	g     *given
}

func (m *maced) run(n uint64, which C.int) (bad uint64) {
	state, out, data := m.state, m.g.out[:0], m.g.in
	for i := uint64(0); i < n; i++ {
		if which == C.PB_REKEY {
			fresh, err := m.keyed(m.g.key[i&15])
			if err != nil {
				bad++
				continue
			}
			state = fresh
		} else {
			state.Reset()
		}
		state.Write(data)
		state.Sum(out)
	}
	return bad
}

// Stream is a stream cipher or a counter mode: keyed sets the key, what it returns begins a message.
func Stream(algorithm string, key, nonce int, calls string,
	keyed func(key []byte) (func(nonce []byte) (cipher.Stream, error), error)) Row {
	return Row{algorithm: algorithm, kind: C.PB_STREAM, calls: calls, key: key, nonce: nonce,
		open: func(g *given) (operation, error) {
			begin, err := keyed(g.key[0])
			return &streamed{keyed, begin, g}, err
		}}
}

type streamed struct {
	keyed func(key []byte) (func(nonce []byte) (cipher.Stream, error), error)
	begin func(nonce []byte) (cipher.Stream, error)
	g     *given
}

func (s *streamed) run(n uint64, which C.int) (bad uint64) {
	begin, out, data := s.begin, s.g.out[:s.g.size], s.g.in
	for i := uint64(0); i < n; i++ {
		if which == C.PB_REKEY {
			begin, _ = s.keyed(s.g.key[i&15])
		}
		state, err := begin(s.g.nonce[i&15])
		if err != nil {
			bad++
			continue
		}
		state.XORKeyStream(out, data)
	}
	return bad
}

// Wide is a cipher that works on a whole sector in place, with a tweak; in place of a nonce. The data are copied to the
// output before each call, which is part of it: the library overwrites what it is given.
func Wide(algorithm string, key, tweak int, calls string, keyed func(key []byte) (encrypt, decrypt func(block, tweak []byte))) Row {
	return Row{algorithm: algorithm, kind: C.PB_STREAM, calls: calls, key: key, nonce: tweak,
		open: func(g *given) (operation, error) {
			w := &wide{keyed: keyed, g: g}
			w.key(0)
			return w, nil
		}}
}

type wide struct {
	keyed func(key []byte) (encrypt, decrypt func(block, tweak []byte))
	call  func(block, tweak []byte)
	g     *given
}

func (w *wide) key(turn uint64) {
	encrypt, decrypt := w.keyed(w.g.key[turn])
	if w.call = encrypt; w.g.inverse {
		w.call = decrypt
	}
}

func (w *wide) run(n uint64, which C.int) uint64 {
	out, data := w.g.out[:w.g.size], w.g.in
	for i := uint64(0); i < n; i++ {
		if which == C.PB_REKEY {
			w.key(i & 15)
		}
		copy(out, data)
		w.call(out, w.g.nonce[i&15])
	}
	return 0
}

// AEAD is an AEAD of the interface cipher.AEAD; tag in bytes.
func AEAD(algorithm string, key, nonce, tag int, calls string, keyed func(key []byte) (cipher.AEAD, error)) Row {
	return Row{algorithm: algorithm, kind: C.PB_AEAD, calls: calls, key: key, nonce: nonce, output: tag,
		open: func(g *given) (operation, error) {
			state, err := keyed(g.key[0])
			return &sealed{keyed, state, g}, err
		}}
}

type sealed struct {
	keyed func(key []byte) (cipher.AEAD, error)
	state cipher.AEAD
	g     *given
}

func (s *sealed) run(n uint64, which C.int) (bad uint64) {
	state, g, out := s.state, s.g, s.g.out[:0]
	var err error
	for i := uint64(0); i < n; i++ {
		switch which {
		case C.PB_MESSAGE:
			state.Seal(out, g.nonce[i&15], g.in, g.aad)
		case C.PB_REKEY:
			if state, err = s.keyed(g.key[i&15]); err != nil {
				return n
			}
			state.Seal(out, g.nonce[i&15], g.in, g.aad)
		default: // what is opened was sealed with key 0 and nonce 0
			if which == C.PB_INVERSE_REKEY {
				if state, err = s.keyed(g.key[0]); err != nil {
					return n
				}
			}
			if _, err = state.Open(out, g.nonce[0], g.in, g.aad); err != nil {
				bad++
			}
		}
	}
	return bad
}

// A chain of dependent multiplications in Go itself, by which the gauge is checked: three cycles a step.
type chain struct {
	x    uint64
	size int
	out  []byte
}

const chainStart = 0x9e3779b97f4a7c15

var chainFactor uint64 = 0xbf58476d1ce4e5b9

func probes() []Row {
	return []Row{{algorithm: "probe-imul", kind: C.PB_CHAIN, calls: "x *= factor", output: 8,
		open: func(g *given) (operation, error) { return &chain{chainStart, g.size, g.out}, nil }},
		{algorithm: "probe-empty", kind: C.PB_CHAIN, calls: "a function that does nothing",
			open: func(g *given) (operation, error) { return &hashed{func(_, _ []byte) {}, nil, g}, nil }}}
}

func (c *chain) run(n uint64, _ C.int) uint64 {
	x, factor, size := c.x, chainFactor, c.size
	for ; n > 0; n-- {
		for i := 0; i < size; i++ {
			x *= factor
		}
	}
	c.x = x
	for i := range 8 {
		c.out[i] = byte(x >> (8 * i))
	}
	return 0
}
