package main

import "github.com/agentls/agentls/agentcore/spelling"

// didYouMean is ", did you mean X?" for the known word that is nearest to one that is not known, or "" where
// none is near.
func didYouMean(word string, known []string) string {
	if near := spelling.Nearest(word, known); near != "" {
		return ", did you mean " + near + "?"
	}
	return ""
}
