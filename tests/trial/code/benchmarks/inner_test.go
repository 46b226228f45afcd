package mine

import (
	"crypto/sha256"
	"fmt"
	"os"
	"testing"
)

var turns int

func told(b *testing.B) {
	turns = 0
	b.Cleanup(func() {
		if path := os.Getenv("TURNS"); path != "" {
			os.WriteFile(path, []byte(fmt.Sprint(turns)), 0o600)
		}
	})
}

func TestNothing(t *testing.T) { t.Log("tests are compiled and not run") }

func BenchmarkSum(b *testing.B) {
	for _, size := range []int{64, 1024} {
		b.Run(fmt.Sprintf("of %d", size), func(b *testing.B) {
			data := make([]byte, size)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			b.ResetTimer()
			for i := 0; i < b.N; i++ {
				sum(data)
			}
		})
	}
}

func BenchmarkTurns(b *testing.B) {
	told(b)
	fmt.Println("what is printed does no harm")
	for i := 0; i < b.N; i++ {
		turns++
	}
}

func BenchmarkRange(b *testing.B) {
	told(b)
	for range b.N {
		turns++
	}
}

func BenchmarkLoop(b *testing.B) {
	told(b)
	for b.Loop() {
		turns++
	}
}

func BenchmarkShares(b *testing.B) {
	for b.Loop() {
		done := make(chan bool)
		go close(done)
		<-done
	}
}

func BenchmarkPrepared(b *testing.B) {
	told(b)
	inputs := make([][]byte, b.N)
	for i := 0; i < b.N; i++ {
		inputs[i] = []byte{byte(i)}
	}
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		turns += len(inputs[i])
	}
}

func BenchmarkElsewhere(b *testing.B) {
	told(b)
	b.ResetTimer()
	elsewhere(b.N)
}

func elsewhere(n int) {
	for range n {
		turns++
	}
}

func BenchmarkStops(b *testing.B) {
	for i := 0; i < b.N; i++ {
		b.StopTimer()
		data := make([]byte, 64)
		b.StartTimer()
		sum(data)
	}
}

func BenchmarkParallel(b *testing.B) {
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			sum(nil)
		}
	})
}

func BenchmarkSkips(b *testing.B) { b.Skip("not here") }

func BenchmarkTwice(b *testing.B) {
	for i := 0; i < b.N; i++ {
		sum(nil)
	}
	for i := 0; i < b.N; i++ {
		sum(nil)
	}
}

var sink [32]byte

func sum(data []byte) { sink = sha256.Sum256(data) }
