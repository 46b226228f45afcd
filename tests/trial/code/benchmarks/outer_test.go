package mine_test

import (
	tt "testing"

	"example.com/mine"
)

func BenchmarkOuter(b *tt.B) {
	b.SetBytes(8)
	b.StopTimer()
	data := make([]byte, 8)
	b.StartTimer()
outer:
	for i := 0; i < b.N; i++ {
		for range 3 {
			if mine.Double(len(data)) != 16 {
				b.Fatal("8 and 8 are 16")
			}
			continue outer
		}
	}
	b.StopTimer()
}
