// Package lsptest drives a language server as an editor does, and checks everything that the server sends. Only tests
// import it.
//
// Editor is a fake editor with a JSON-RPC implementation of its own, so that it does not share the mistakes of the
// server's. Scenario is a txtar file with a workspace, a script of what the user does, and what must be seen; Run runs
// all scenarios of a folder against any server that can be started.
package lsptest
