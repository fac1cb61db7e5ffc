package workspace

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// commonLines returns how long the longest common subsequences of all beginnings are, [i][j] lines of either text.
func commonLines(a, b []string) [][]int {
	length := make([][]int, len(a)+1)
	length[0] = make([]int, len(b)+1)
	for i := range a {
		length[i+1] = make([]int, len(b)+1)
		for j := range b {
			length[i+1][j+1] = max(length[i][j+1], length[i+1][j])
			if a[i] == b[j] {
				length[i+1][j+1] = length[i][j] + 1
			}
		}
	}
	return length
}

// TestUnsureLinesAgainstAllScripts compares the lines that are unsure with what a table of all common subsequences
// says.
func TestUnsureLinesAgainstAllScripts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := NewIndex(texts("\n").Draw(t, "a")), NewIndex(texts("\n").Draw(t, "b"))
		a, b := Lines(x.Text()), Lines(y.Text())
		before := commonLines(a, b)
		slices.Reverse(a)
		slices.Reverse(b)
		after := commonLines(a, b)
		slices.Reverse(a)
		slices.Reverse(b)
		n, m := len(a), len(b)
		var want []int
		for i := range n {
			ways := 0
			for j := range m + 1 {
				if before[i][j]+after[n-i-1][m-j] == before[n][m] {
					ways += 2
				}
				if j < m && a[i] == b[j] && before[i][j]+1+after[n-i-1][m-j-1] == before[n][m] {
					ways++
				}
			}
			if ways != 1 {
				want = append(want, i)
			}
		}
		unsure, ok := newAlignment(x, y, margin).unsure()
		if !ok {
			t.Fatal("the script is too long")
		}
		var got []int
		for _, s := range unsure {
			for i := s.from; i < s.to; i++ {
				got = append(got, i)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q to %q: lines %v are unsure, want %v", a, b, got, want)
		}
	})
}
