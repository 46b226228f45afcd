package perbyte

// #include <stdlib.h>
// #include "foreign.h"
import "C"

import (
	"errors"
	"runtime/metrics"
	"unsafe"
)

// Steps is a benchmark that is ready to be measured. Begin brings it, untimed, to the beginning of a loop of n turns; Run
// makes these and returns; Close ends it.
type Steps interface {
	Begin(n uint64) error
	Run() bool
	Why() error // of a Run that was false
	Close()
}

// Routine is a benchmark that a user wrote: nobody knows what it should compute, which its id says. name is the user's.
func Routine(id, name string, open func() (Steps, error)) Row {
	return Row{algorithm: id, kind: C.PB_ROUTINE, calls: name,
		open: func(*given) (operation, error) {
			steps, err := open()
			if err != nil {
				return nil, err
			}
			return &routine{steps: steps}, nil
		}}
}

// Entering is what entering a loop takes besides what every row's takes; it is subtracted from each sample. Set before Main.
func Entering(once func()) { enter = once }

// KeepOutput makes answers go to what is standard output now, and what is printed to standard error. Called before Main.
func KeepOutput() { C.pb_keep_output() }

var enter = func() {}

var errNotReady = errors.New("the benchmark did not come to its loop")

type routine struct {
	steps Steps
	ready bool
	why   error
}

func (r *routine) begin(n uint64) error {
	r.ready = false
	if n == 0 {
		return errNotReady
	}
	err := r.steps.Begin(n)
	r.ready = err == nil
	return err
}

func (r *routine) run(n uint64, _ C.int) uint64 {
	if !r.ready {
		return n
	}
	r.ready = false
	if !r.steps.Run() {
		r.why = r.steps.Why()
		return n
	}
	return 0
}

func (r *routine) close() { r.steps.Close() }

func say(c *C.pb_case, err error) {
	words := C.CString(err.Error())
	C.pb_foreign_say(c, words)
	C.free(unsafe.Pointer(words))
}

// makes is true of what allocates before its samples too, so that it is looked at before each of them.
func makes(c *C.pb_case) bool {
	_, yes := prepared[c].(preparing)
	return yes
}

var allocatedBytes = []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}

// allocated is how many bytes ever were; asking stops nobody.
func allocated() uint64 {
	metrics.Read(allocatedBytes)
	return allocatedBytes[0].Value.Uint64()
}
