// Package lsptest drives a language server as an editor does, and checks every word that it says. Only tests
// import it.
//
// Editor is a fake editor on a JSON-RPC implementation of its own, so that a mistake in the server's is not
// made twice. Scenario is a txtar file with a workspace, a script of what the user does, and what has to be
// seen; Run runs all scenarios of a folder against any server that can be started.
package lsptest
