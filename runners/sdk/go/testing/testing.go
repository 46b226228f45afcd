// Package testing stands in for Go's own in copies of benchmark files, in which `perbyte bench` has put a mark before and
// behind each loop over b.N. A benchmark runs up to its loop, waits there until the clock is read, makes its turns, and
// waits until the clock is read again: it is a coroutine on the thread that reads the clock.
package testing

import (
	"fmt"
	"os"
	"strings"
	real "testing"
	"time"
)

// What has no part in measuring is Go's own.
type (
	T               = real.T
	F               = real.F
	M               = real.M
	TB              = real.TB
	BenchmarkResult = real.BenchmarkResult
)

// As in Go's package.
var AllocsPerRun = real.AllocsPerRun

// Short is false: nothing is left out.
func Short() bool { return false }

// Verbose is false.
func Verbose() bool { return false }

// Testing is true, since test files were compiled.
func Testing() bool { return true }

// CoverMode is empty: nothing is covered.
func CoverMode() string { return "" }

// Benchmark measures nothing here.
func Benchmark(func(*B)) BenchmarkResult { return BenchmarkResult{} }

// PB is what RunParallel would hand over.
type PB struct{}

// Next is never called.
func (*PB) Next() bool { return false }

// B is what a benchmark gets. What it has of TB and not here is there for the compiler only.
type B struct {
	real.TB
	N int

	name     string
	way      *way
	leaf     bool // the one that is measured or looked at, not what leads to it
	left     int  // turns of Loop that are still to be made
	loops    int  // over N that were begun
	rounds   int  // of Loop, while it is looked at
	stays    bool // in a loop over N, which can grow
	children map[string]int
	bytes    int64
	events   []event
	failed   bool
	allocs   bool     // of a turn are asked for
	metrics  []string // units of its own figures
	undo     []func()
	began    time.Time
}

// stopped ends a benchmark from within, by a panic that is recovered in this package.
type stopped struct{ why string }

func (b *B) stop(why string) { panic(stopped{why}) }

// Name is the name with those of its parents.
func (b *B) Name() string { return b.name }

// SetBytes says how many bytes a turn works on.
func (b *B) SetBytes(n int64) { b.bytes = n }

// ReportAllocs asks for the allocations of a turn, which are told beside the figure.
func (b *B) ReportAllocs() { b.allocs = true }

// ReportMetric is a figure of the benchmark's own: its unit is told, for nobody knows how it came about.
func (b *B) ReportMetric(_ float64, unit string) { b.metrics = append(b.metrics, unit) }

// SetParallelism has no effect.
func (b *B) SetParallelism(int) {}

// Helper has no effect.
func (b *B) Helper() {}

// Elapsed is no measurement.
func (b *B) Elapsed() time.Duration { return time.Since(b.began) }

// RunParallel is named and not measured.
func (b *B) RunParallel(func(*PB)) {
	b.stop("RunParallel works on several threads; a figure here is that of one")
}

// Run runs a benchmark within this one, if it is meant.
func (b *B) Run(name string, f func(*B)) bool { return b.way.within(b, name, f) }

// Log prints to standard error.
func (b *B) Log(words ...any) { fmt.Fprintf(os.Stderr, "%s: %s", b.name, fmt.Sprintln(words...)) }

// Logf prints to standard error.
func (b *B) Logf(format string, words ...any) { b.Log(fmt.Sprintf(format, words...)) }

// Fail marks it as failed: it has no figure.
func (b *B) Fail() { b.failed = true }

// Failed tells whether it was marked.
func (b *B) Failed() bool { return b.failed }

// Skipped is false: what is skipped ends.
func (b *B) Skipped() bool { return false }

// FailNow ends it.
func (b *B) FailNow() { b.stop("it failed") }

// Error is Log and Fail.
func (b *B) Error(words ...any) {
	b.Log(words...)
	b.Fail()
}

// Errorf is Logf and Fail.
func (b *B) Errorf(format string, words ...any) { b.Error(fmt.Sprintf(format, words...)) }

// Fatal ends it with words.
func (b *B) Fatal(words ...any) { b.stop("it failed: " + line(words)) }

// Fatalf ends it with words.
func (b *B) Fatalf(format string, words ...any) { b.Fatal(fmt.Sprintf(format, words...)) }

// SkipNow ends it.
func (b *B) SkipNow() { b.stop("it skips itself") }

// Skip ends it with words.
func (b *B) Skip(words ...any) { b.stop("it skips itself: " + line(words)) }

// Skipf ends it with words.
func (b *B) Skipf(format string, words ...any) { b.Skip(fmt.Sprintf(format, words...)) }

func line(words []any) string { return strings.TrimSpace(fmt.Sprintln(words...)) }

// Cleanup calls f when the benchmark has come to its end.
func (b *B) Cleanup(f func()) { b.undo = append(b.undo, f) }

// TempDir is a directory that is removed at the end.
func (b *B) TempDir() string {
	place, err := os.MkdirTemp("", "perbyte-bench-")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { os.RemoveAll(place) })
	return place
}

// Setenv sets a variable until the end.
func (b *B) Setenv(key, value string) {
	before, was := os.LookupEnv(key)
	if err := os.Setenv(key, value); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if was {
			os.Setenv(key, before)
		} else {
			os.Unsetenv(key)
		}
	})
}

// finish calls what Cleanup was given, the last first.
func (b *B) finish() {
	for len(b.undo) > 0 {
		last := b.undo[len(b.undo)-1]
		b.undo = b.undo[:len(b.undo)-1]
		last()
	}
}

// Loop is true for as many turns as are timed. The benchmark stays in its loop between samples, and is called once.
func (b *B) Loop() bool {
	if b.left > 0 {
		b.left--
		return true
	}
	return b.way.turnOver(b)
}

// ResetTimer begins the time anew.
func (b *B) ResetTimer() { b.way.mark(b, reset) }

// StartTimer begins the time.
func (b *B) StartTimer() { b.way.mark(b, start) }

// StopTimer ends it.
func (b *B) StopTimer() { b.way.mark(b, halt) }

// LoopBegins is put before each loop over N.
func (b *B) LoopBegins() { b.way.mark(b, loopBegins) }

// Again is put into the condition of a loop over N where N is used nowhere else: N grows, and the loop goes on. So the
// benchmark stays in it between samples.
func (b *B) Again() bool { return b.way.again(b) }

// LoopEnds is put behind each loop over N.
func (b *B) LoopEnds() { b.way.mark(b, loopEnds) }
