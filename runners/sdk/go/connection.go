package perbyte

// #include "foreign.h"
import "C"

import (
	"io"
	"iter"
	"net"
	"time"
)

// Secure is one end of a secure connection, over the connection that it was given.
type Secure interface {
	Handshake() error
	io.ReadWriter
	// Secret is what both ends export, once the connection is what its row says.
	Secret(length int) ([]byte, error)
}

// Handshake is a kind of connection; ends gives what makes its ends. An end runs on the thread of the timed loop: where it
// waits for the other one it is left, and entered again (iter.Pull).
func Handshake(algorithm, calls string, ends func() (func(over net.Conn, client bool) Secure, error)) Row {
	return Row{algorithm: algorithm, kind: C.PB_HANDSHAKE, calls: calls, output: 44, open: joined(ends)}
}

// Records are data over such a connection.
func Records(algorithm, calls string, ends func() (func(over net.Conn, client bool) Secure, error)) Row {
	return Row{algorithm: algorithm, kind: C.PB_RECORDS, calls: calls, open: joined(ends)}
}

func joined(ends func() (func(net.Conn, bool) Secure, error)) func(*given) (operation, error) {
	return func(*given) (operation, error) {
		make, err := ends()
		return connections(make), err
	}
}

type connections func(over net.Conn, client bool) Secure

func (connections) run(n uint64, _ C.int) uint64 { return n } // ends.c makes the calls

// What is under way to one end.
type stream struct {
	bytes []byte
	from  int
	sent  uint64
}

type wire struct{ up, down stream }

type end struct {
	net.Conn // what nobody asks for
	in, out  *stream
	secure   Secure
	wait     func(struct{}) bool // in a handshake
	next     func() (struct{}, bool)
	stop     func()
	err      error
}

// Nothing is there yet; crypto/tls goes on after an error that is temporary.
type notYet struct{}

func (notYet) Error() string   { return "nothing is there yet" }
func (notYet) Timeout() bool   { return true }
func (notYet) Temporary() bool { return true }

func (e *end) Read(into []byte) (int, error) {
	for e.in.from == len(e.in.bytes) {
		if e.wait == nil || !e.wait(struct{}{}) {
			return 0, notYet{}
		}
	}
	n := copy(into, e.in.bytes[e.in.from:])
	if e.in.from += n; e.in.from == len(e.in.bytes) {
		e.in.bytes, e.in.from = e.in.bytes[:0], 0
	}
	return n, nil
}

func (e *end) Write(data []byte) (int, error) {
	e.out.bytes = append(e.out.bytes, data...)
	e.out.sent += uint64(len(data))
	return len(data), nil
}

func (*end) Close() error                     { return nil }
func (*end) SetDeadline(time.Time) error      { return nil }
func (*end) SetReadDeadline(time.Time) error  { return nil }
func (*end) SetWriteDeadline(time.Time) error { return nil }

// C holds numbers for what Go has to keep.
var (
	parts    = map[uintptr]any{}
	lastPart uintptr
)

func keep(part any) C.uintptr_t {
	lastPart++
	parts[lastPart] = part
	return C.uintptr_t(lastPart)
}

func endOf(number C.uintptr_t) *end { return parts[uintptr(number)].(*end) }

func truth(yes bool) C.int {
	if yes {
		return 1
	}
	return 0
}

//export goWire
func goWire() C.uintptr_t { return keep(&wire{}) }

//export goEnd
func goEnd(c *C.pb_case, between C.uintptr_t, client C.int) C.uintptr_t {
	w := parts[uintptr(between)].(*wire)
	e := &end{in: &w.up, out: &w.down}
	if client != 0 {
		e.in, e.out = e.out, e.in
	}
	e.secure = prepared[c].(connections)(e, client != 0)
	e.next, e.stop = iter.Pull(func(yield func(struct{}) bool) {
		e.wait = yield
		e.err = e.secure.Handshake()
		e.wait = nil
	})
	return keep(e)
}

// goStep goes on with a handshake until it waits, or is done.
//
//export goStep
func goStep(number C.uintptr_t, done C.int) C.int {
	e := endOf(number)
	_, waits := e.next()
	return truth(waits == (done == 0) && e.err == nil)
}

//export goCollect
func goCollect(number C.uintptr_t) C.int {
	var none [1]byte
	_, err := endOf(number).secure.Read(none[:])
	return truth(err == notYet{})
}

//export goPut
func goPut(number C.uintptr_t, data *C.uint8_t, size C.size_t) C.int {
	n, err := endOf(number).secure.Write(bytes(data, size))
	return truth(err == nil && n == int(size))
}

//export goGet
func goGet(number C.uintptr_t, data *C.uint8_t, size C.size_t) C.int {
	_, err := io.ReadFull(endOf(number).secure, bytes(data, size))
	return truth(err == nil)
}

//export goExport
func goExport(number C.uintptr_t, secret *C.uint8_t, length C.size_t) C.int {
	made, err := endOf(number).secure.Secret(int(length))
	copy(bytes(secret, length), made)
	return truth(err == nil)
}

//export goSent
func goSent(between C.uintptr_t, up C.int) C.uint64_t {
	w := parts[uintptr(between)].(*wire)
	if up != 0 {
		return C.uint64_t(w.up.sent)
	}
	return C.uint64_t(w.down.sent)
}

//export goFree
func goFree(number C.uintptr_t) {
	if e, yes := parts[uintptr(number)].(*end); yes {
		e.stop()
	}
	delete(parts, uintptr(number))
}
