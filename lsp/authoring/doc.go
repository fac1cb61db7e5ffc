// Package authoring is what agentls knows as the language server of the files that people write for it: definitions
// of agents, skills and configurations, as documents. It tells by a path which of them a document is ([KindOf]),
// outlines one version of its text ([Sheet]), and answers from that what is wrong with it, what can stand at a place,
// what a place means, and which symbols there are. What can be named is a [Vocabulary], which is also listed for the
// custom methods.
//
// Problems come from the code that loads the files, run on the text as it stands in the editor, so that an editor and
// a run never disagree. Everything else rests on package outline, which never gives up, since a text that is being
// typed is seldom valid.
//
// The package is given values and returns values. It reads no file, holds no document, knows no connection, no client
// and no engine, starts no goroutine, and decides nothing about trust: when a file is read again, and whether what it
// says is used, is for package lsp to say, which publishes the problems, too.
package authoring
