package testing

import (
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"perbyte"
	"runtime"
)

// InternalBenchmark is a function of a benchmark file.
type InternalBenchmark struct {
	Name string
	F    func(*B)
}

// Main lists the benchmarks of the functions, or speaks the protocol for those that PERBYTE_BENCH_PLAN lists.
func Main(library perbyte.Library, functions []InternalBenchmark) {
	if os.Getenv("PERBYTE_BENCH") == "list" {
		list(functions)
		return
	}
	runtime.LockOSThread()
	perbyte.KeepOutput()
	rows, err := rowsOf(os.Getenv("PERBYTE_BENCH_PLAN"), functions)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	perbyte.Entering(entering())
	perbyte.Main(library, rows...)
}

func list(functions []InternalBenchmark) {
	answer := os.Stdout
	os.Stdout = os.Stderr
	runtime.GOMAXPROCS(1)
	runtime.GC() // which starts goroutines of its own the first time
	var found []Found
	for _, one := range functions {
		found = append(found, look(one.Name, one.F)...)
	}
	identify(found)
	json.NewEncoder(answer).Encode(map[string]any{"benchmarks": found, "unheeded": []string{}})
}

func rowsOf(path string, functions []InternalBenchmark) (rows []perbyte.Row, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var plan struct{ Benchmarks []Found }
	if err := json.Unmarshal(text, &plan); err != nil {
		return nil, err
	}
	by := map[string]func(*B){}
	for _, one := range functions {
		by[one.Name] = one.F
	}
	for _, one := range plan.Benchmarks {
		if f := by[one.Function]; f != nil && one.Why == "" {
			rows = append(rows, perbyte.Routine(one.ID, one.Name, func() (perbyte.Steps, error) { return newWay(one, f) }))
		}
	}
	return rows, nil
}

// entering is a coroutine that does nothing: what going to it and back takes is none of a benchmark's turns.
func entering() func() {
	var next func() (struct{}, bool)
	return func() {
		if next == nil {
			next, _ = iter.Pull(func(yield func(struct{}) bool) {
				for yield(struct{}{}) {
				}
			})
			next()
		}
		next()
	}
}
