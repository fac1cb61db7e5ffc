// Package authoring is agentls as the language server of the files that people write for it: definitions of agents,
// skills, configurations and other texts for agents, as documents. It tells by a path which kind of file a document is
// ([KindOf]), outlines one version of its text ([Sheet]), and finds in that outline what is wrong with the text, what
// can stand at a place, what a place means, and which symbols there are. What can be named is a [Vocabulary], which is
// also listed for the custom methods.
//
// Problems come from the code that loads the files. It is run on the text as it stands in the editor, so that an editor
// and a run never disagree. Everything else rests on package outline, which accepts every text, since a text that is
// being typed is seldom valid.
//
// The package takes values and returns values. It reads no file, holds no document, knows no connection, no client and
// no engine, starts no goroutine, and decides nothing about trust. Package lsp decides when a file is read again and
// whether its contents are used, and publishes the problems.
package authoring
