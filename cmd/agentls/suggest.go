package main

import "github.com/agentls/agentls/agentcore/spelling"

// didYouMean is ", did you mean X?" with the known word that is most similar to an unknown one, or "" if none is
// similar.
func didYouMean(word string, known []string) string {
	if near := spelling.Nearest(word, known); near != "" {
		return ", did you mean " + near + "?"
	}
	return ""
}
