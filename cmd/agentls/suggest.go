package main

import "strings"

// didYouMean is ", did you mean X?" for the known word that is nearest to one that is not known, or "" where
// none is near.
func didYouMean(word string, known []string) string {
	best, least := "", max(2, len(word)/3)+1
	for _, k := range known {
		d := distance(strings.ToLower(word), strings.ToLower(k))
		if word != "" && strings.HasPrefix(k, word) {
			d = 1
		}
		if d < least {
			best, least = k, d
		}
	}
	if best == "" || least >= len(word) {
		return ""
	}
	return ", did you mean " + best + "?"
}

// distance is the number of bytes to insert, delete, replace or swap with their neighbour to make b of a
// (optimal string alignment).
func distance(a, b string) int {
	if max(len(a), len(b)) > 64 {
		return 64 // no name of ours is that long
	}
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
