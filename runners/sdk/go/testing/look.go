package testing

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"
)

// An event is what a benchmark says of its time.
type event byte

const (
	reset event = iota
	start
	halt
	loopBegins
	loopEnds
)

const shared = "it starts goroutines, which share one core here (GOMAXPROCS is 1)"

const anew = "it is called anew for each sample, so that the first turns are cold"

const (
	mostEvents = 4096
	fewTurns   = 3  // of a second call, where no loop is seen: what stands in one comes as often
	whole      = -1 // in place of a loop's number where the time is that of a whole benchmark
	byLoop     = -2 // and where it is that of Loop
)

// Found is a benchmark that there is. Place says what of it is timed: the number of a loop over N, or one of the names
// above; Marks is how many events come before the time of a whole one.
type Found struct {
	ID       string `json:"id"`
	Function string `json:"function"`
	Name     string `json:"name"`
	Bytes    int64  `json:"bytes"`
	Contract string `json:"contract"`
	Why      string `json:"why"` // it cannot be measured; empty where it can
	Place    int    `json:"place"`
	Marks    int    `json:"marks"`
	Note     string `json:"note"` // what has to be known of its figure
}

// look finds the benchmarks of a function, by calling each of them with one turn.
func look(function string, f func(*B)) (found []Found) {
	w := &way{looking: true}
	w.told = func(one Found) {
		one.Function = function
		found = append(found, one)
	}
	w.examine(&B{name: function, way: w}, f)
	return found
}

func (w *way) examine(b *B, f func(*B)) {
	before := goroutine()
	for (before-1)%batch > batch/2 {
		before = goroutine()
	}
	first := w.once(b, f, 1)
	started := goroutine() - before - 1
	if first.children != nil {
		return // others are within it, and were told
	}
	found := Found{Name: b.name, Bytes: first.bytes, Contract: "routine/1", Why: first.why}
	if found.Why == "" {
		found.read(first.B, func() B { return w.once(b, f, fewTurns).B })
		if started > 0 {
			found.note(shared)
		}
		if first.allocs {
			found.note(w.allocations(b, f))
		}
		if len(first.metrics) > 0 {
			found.note("its own figures are not shown: " + strings.Join(first.metrics, ", "))
		}
	}
	w.told(found)
}

// A processor takes the numbers of goroutines in batches of so many, and those of the next may be others' (the runtime's
// _GoidCacheBatch): a number before the middle of one is followed by the next.
const batch = 16

// goroutine is the number of one that is started now. On one processor they are counted one by one within a batch, so
// that two of them tell how many were started between.
func goroutine() (number int) {
	told := make(chan string)
	go func() {
		text := make([]byte, 64)
		told <- string(text[:runtime.Stack(text, false)])
	}()
	fmt.Sscanf(<-told, "goroutine %d ", &number)
	return number
}

func (l *Found) note(words string) {
	l.Note = strings.TrimPrefix(l.Note+"; "+words, "; ")
}

// allocations tells what a turn allocates: more turns less fewer, so that setting up does not count.
func (w *way) allocations(b *B, f func(*B)) string {
	const few, many = 2, 18
	var before, between, after runtime.MemStats
	runtime.ReadMemStats(&before)
	w.once(b, f, few)
	runtime.ReadMemStats(&between)
	w.once(b, f, many)
	runtime.ReadMemStats(&after)
	per := func(first, second, third uint64) float64 {
		return max(0, (float64(third)-2*float64(second)+float64(first))/(many-few))
	}
	return fmt.Sprintf("%.4g allocations and %.5g bytes a turn",
		per(before.Mallocs, between.Mallocs, after.Mallocs),
		per(before.TotalAlloc, between.TotalAlloc, after.TotalAlloc))
}

type called struct {
	B
	why string
}

// once calls a benchmark with n turns and tells what became of it.
func (w *way) once(b *B, f func(*B), n int) (seen called) {
	copied := &B{name: b.name, way: w, bytes: b.bytes, N: n, leaf: true, began: time.Now()}
	defer func() {
		why := ""
		if r := recover(); r != nil {
			why = reason(r)
		} else if copied.failed {
			why = "it failed"
		}
		copied.finish()
		seen = called{*copied, why}
	}()
	f(copied)
	return
}

func reason(r any) string {
	if s, yes := r.(stopped); yes {
		return s.why
	}
	return fmt.Sprintf("it panicked: %v", r)
}

// read finds what is timed: the loop that runs while the timer does, behind the last reset.
func (l *Found) read(b B, again func() B) {
	if b.rounds > 0 {
		l.Place = byLoop
		return
	}
	running, inside, loop := true, false, -1
	var timed []int
	for at, what := range b.events {
		switch what {
		case loopBegins:
			if loop++; running && !inside {
				timed = append(timed, loop)
			}
			inside = true
		case loopEnds:
			inside = false
		default:
			if inside {
				l.Why = "it stops, starts or resets the timer within its loop, where it would be timed itself"
				return
			}
			running = what == start || (running && what == reset)
			if what == reset {
				timed = nil
			}
			if what != halt {
				l.Marks = at + 1
			}
		}
	}
	switch len(timed) {
	case 1:
		l.Place = timed[0]
		if !b.stays {
			l.Note = anew
		}
	case 0:
		l.Place, l.Note = whole, anew
		if len(b.events) > 0 && !slices.Equal(b.events, again().events) {
			l.Why = "it stops, starts or resets the timer as often as it makes turns"
		}
	default:
		l.Why = "it has several loops in its time; make a benchmark of each"
	}
}

// identify gives each benchmark the catalogue's form of its name: nobody knows what it should compute, and the id says so.
func identify(found []Found) {
	const longest = 80
	known := map[string]bool{}
	for i := range found {
		plain := strings.Map(func(c rune) rune {
			if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
				return c
			}
			return ' '
		}, strings.ToLower(strings.TrimPrefix(found[i].Name, "Benchmark")))
		stem := "unverified-" + strings.Join(strings.Fields(plain), "-")
		stem = strings.TrimRight(stem[:min(len(stem), longest)], "-")
		id := stem
		for number := 2; known[id]; number++ {
			id = fmt.Sprintf("%s-%d", stem, number)
		}
		known[id], found[i].ID = true, id
	}
}
