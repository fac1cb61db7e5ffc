// Package e2e drives the built server from real editors. Its tests carry the build tag e2e and are run by make e2e,
// which builds the server, installs the editors and names both in the environment:
//
//	AGENTLS_BIN   the path of the server
//	AGENTLS_NVIM  the paths of the Neovim binaries, separated by colons
//	AGENTLS_GOPLS the folder of gopls, which agents ask about symbols
//	AGENTLS_EMACS, AGENTLS_HELIX, AGENTLS_VIM  the other editors; Vim's is told where ALE is by AGENTLS_ALE
//	AGENTLS_PROBE the folder of the probe that judges what both sides say, where there is one
//
// A story is a file in testdata: Lua runs inside a headless Neovim, on a copy of the sample project or a small file,
// and fails by a Lua error. Emacs runs its own. Helix and Vim are played on a terminal of Neovim's: keys go in, and the
// screen is read.
//
// The stories in testdata/probe are played by the probe's editor, which can be any client: see suite.py.
package e2e
