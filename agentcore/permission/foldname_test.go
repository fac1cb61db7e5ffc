package permission

import (
	"math/rand/v2"
	"testing"
)

// TestFoldName: the short way for plain names comes to what the long one does.
func TestFoldName(t *testing.T) {
	parts := []string{"a", ".env", "git", "~1", "~", " ", ".", ":", "ı", "ſ", "\u212a", "\u200d", "\xff", "-"}
	random := rand.New(rand.NewPCG(1, 2))
	plain := 0
	for range 5000 {
		name := ""
		for range random.IntN(4) {
			name += parts[random.IntN(len(parts))]
		}
		// What is after a colon does not count, so that this is the long way.
		if got, want := foldName(name), foldName(name+":"); got != want {
			t.Errorf("%q becomes %q, want %q", name, got, want)
		}
		if plainName(name) {
			plain++
		}
	}
	if plain < 500 || plain > 4500 {
		t.Errorf("%d of 5000 names are plain", plain)
	}
}

func BenchmarkSecret(b *testing.B) {
	for b.Loop() {
		if Secret("/w/src/p00/internal/m07/handler_test.go") {
			b.Fatal("it is none")
		}
	}
}
