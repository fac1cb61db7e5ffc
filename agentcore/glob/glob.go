// Package glob bounds the globs that people and models write: whether one can be matched with, in a time that nobody
// notices. The matching is doublestar's.
package glob

import "github.com/bmatcuk/doublestar/v4"

// maxAlternatives bounds the ways in which the braces of a glob can be read: a match tries all of them, so that twenty
// pairs of braces take longer than a person waits, and nothing can stop it.
const maxAlternatives = 1000

// Valid reports whether a glob, in doublestar's syntax, can be matched with.
func Valid(pattern string) bool {
	return doublestar.ValidatePattern(pattern) && alternatives(pattern) <= maxAlternatives
}

// alternatives is about how many globs without braces a glob stands for, as far as that is not above maxAlternatives.
func alternatives(pattern string) int {
	all := 1
	var open []int
	for _, c := range pattern {
		switch {
		case c == '{':
			open = append(open, 1)
		case c == ',' && len(open) > 0:
			open[len(open)-1]++
		case c == '}' && len(open) > 0:
			all *= open[len(open)-1]
			open = open[:len(open)-1]
		}
		if all > maxAlternatives {
			break
		}
	}
	return all
}
