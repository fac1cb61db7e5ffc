// Package spelling guesses which known word an unknown one was meant to be, for hints in errors. A leaf.
package spelling

import "strings"

// longest bounds the words that are compared, in bytes: the cost grows with the square.
const longest = 64

// Nearest returns the known word that is nearest to a word, or "" where none is near. Letter case and the
// separators "_", "-" and "." do not count. A dotted word is also known by what is behind its last dot, and any by its
// beginning. Of equally near words the first is taken.
func Nearest(word string, known []string) string {
	plain := fold(word)
	if plain == "" || len(plain) > longest {
		return ""
	}
	best, least := "", tolerated(len(plain))+1
	for _, k := range known {
		p := fold(k)
		if len(p) > longest {
			continue
		}
		d := distance(plain, p)
		switch {
		case fold(k[strings.LastIndexByte(k, '.')+1:]) == plain:
			d = 0
		case strings.HasPrefix(p, plain) && len(plain) > 1:
			d = min(d, 1)
		}
		if d < least {
			best, least = k, d
		}
	}
	if least >= len(plain) && least > 0 {
		return "" // nothing in common
	}
	return best
}

// tolerated is how far a known word may be from one of a length: of a short word nothing would be left.
func tolerated(length int) int {
	if length <= 4 {
		return 1
	}
	return max(2, length/3)
}

var separators = strings.NewReplacer("_", "", "-", "", ".", "")

func fold(word string) string { return separators.Replace(strings.ToLower(word)) }

// distance is the number of bytes to insert, delete, replace or swap with their neighbour to make b of a
// (optimal string alignment).
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
