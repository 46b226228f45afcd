package testing

import (
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"
)

// Where a benchmark waits.
type state int

const (
	idle  state = iota // for a number of turns
	ready              // for the clock to be read, before its time
	done               // for the clock to be read, behind it
	ended
)

var errOther = errors.New("its loops and timers come otherwise than when it was looked at")

// A way leads to one benchmark: through those that it is within, up to its time, and back and forth from there.
type way struct {
	looking bool
	told    func(Found)

	plan   Found
	turns  int
	events int // of the benchmark, since it was called
	state  state
	why    error

	yield  func(struct{}) bool
	next   func() (struct{}, bool)
	cancel func()
}

// newWay runs the function of `plan` up to the benchmark in it, which waits for turns then.
func newWay(plan Found, f func(*B)) (*way, error) {
	w := &way{plan: plan}
	w.next, w.cancel = iter.Pull(func(yield func(struct{}) bool) {
		w.yield = yield
		defer func() {
			if r := recover(); r != nil {
				w.why = errors.New(reason(r))
			}
			w.state = ended
		}()
		w.go_(&B{name: plan.Function, way: w}, f)
	})
	w.next()
	if w.state == ended {
		return nil, w.failure()
	}
	return w, nil
}

func (w *way) failure() error {
	if w.why != nil {
		return w.why
	}
	return errOther
}

// within is Run: it looks at the benchmark, goes to it, or passes it by.
func (w *way) within(parent *B, name string, f func(*B)) bool {
	if parent.children == nil {
		parent.children = map[string]int{}
	}
	plain := strings.ReplaceAll(name, " ", "_")
	number := parent.children[plain]
	parent.children[plain]++
	if number > 0 || plain == "" {
		plain = fmt.Sprintf("%s#%02d", plain, number)
	}
	child := &B{name: parent.name + "/" + plain, way: w, bytes: parent.bytes}
	switch {
	case w.looking:
		w.examine(child, f)
	case w.state != ended && (w.plan.Name == child.name || strings.HasPrefix(w.plan.Name, child.name+"/")):
		w.go_(child, f)
	}
	return true
}

// go_ is the benchmark that is meant, or what leads to it.
func (w *way) go_(b *B, f func(*B)) {
	if b.name != w.plan.Name {
		b.N = 1
		defer b.finish()
		f(b)
		return
	}
	for w.wait(idle) { // each time for a number of turns
		again := &B{name: b.name, way: w, bytes: b.bytes, N: w.turns, leaf: true, began: time.Now()}
		w.events = 0
		if w.plan.Place == whole && w.plan.Marks == 0 {
			w.clock(ready)
		}
		w.call(again, f)
		if again.failed {
			w.why = errors.New("it failed")
		} else if w.state != done {
			w.why = errOther
		}
	}
	w.state = ended
}

func (w *way) call(b *B, f func(*B)) {
	defer b.finish()
	f(b)
	if w.state == ready { // its end is that of its time
		w.clock(done)
	}
}

// wait hands over to the SDK; false when it wants nothing more.
func (w *way) wait(for_ state) bool {
	w.state = for_
	return w.yield(struct{}{})
}

// clock hands over to who reads the clock, before and behind the time.
func (w *way) clock(before state) {
	if !w.wait(before) {
		panic(stopped{"it was closed"})
	}
}

// mark is what a benchmark says of its time: where the time that was found begins or ends, the clock is read.
func (w *way) mark(b *B, what event) {
	if !b.leaf {
		return
	}
	if w.looking {
		if len(b.events) < mostEvents {
			b.events = append(b.events, what)
		}
		return
	}
	if w.plan.Place == whole {
		if w.events++; w.events == w.plan.Marks {
			w.clock(ready)
		} else if w.state == ready && what == halt {
			w.clock(done)
		}
		return
	}
	switch what {
	case loopBegins:
		if b.loops++; b.loops-1 == w.plan.Place {
			w.clock(ready)
		}
	case loopEnds:
		if w.state == ready {
			w.clock(done)
		}
	default:
		if w.state == ready {
			w.why = errOther
		}
	}
}

// again is true where a loop over N goes on, in the next sample.
func (w *way) again(b *B) bool {
	b.stays = true
	if w.looking || w.state != ready || b.loops-1 != w.plan.Place {
		return false
	}
	w.clock(done)
	w.clock(idle)
	b.N += w.turns
	w.clock(ready)
	return true
}

// turnOver is Loop where the turns it was given are over.
func (w *way) turnOver(b *B) bool {
	if !b.leaf || w.looking {
		b.rounds++
		return b.rounds == 1
	}
	if w.state == ready {
		w.clock(done)
		w.clock(idle)
	}
	w.clock(ready)
	b.left = w.turns - 1
	return true
}

// Begin brings the benchmark to the beginning of its time with n turns ahead.
func (w *way) Begin(n uint64) error {
	w.turns, w.why = int(n), nil
	for range 3 { // behind its last time it becomes idle first
		if w.state == ended {
			return w.failure()
		}
		w.next()
		if w.state == ready {
			return w.why
		}
	}
	return w.failure()
}

// Run lets it make its turns.
func (w *way) Run() bool {
	w.next()
	return w.state == done && w.why == nil
}

// Why is what ended it, or kept it from its turns.
func (w *way) Why() error { return w.failure() }

// Close ends it.
func (w *way) Close() { w.cancel() }
