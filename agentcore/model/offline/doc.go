// Package offline is the model that is always there: no language model, but rules behind the same interface. It reads
// its request as a model would, calls the tools that are offered, reports findings and proposes safe fixes, and says in
// every answer that no language model was used. It keeps nothing between requests: each turn is computed from the
// messages alone, and the calls that were made tell how far a search or a fan-out has come.
//
// Only a run of depth 0 delegates, by the depth in its prompt: one explorer, then a child for each file, at most eight
// in a turn. Where no child can be started, the run does the work itself. A search asks for definitions apart from
// uses, since grep shows the first matches of a common word, and weighs words by how few files have them.
package offline
