// Package e2e drives the built server from real editors. Its tests carry the build tag e2e and are run by make e2e,
// which builds the server, installs the editors and names both in the environment:
//
//	AGENTLS_BIN   the path of the server
//	AGENTLS_NVIM  the paths of the Neovim binaries, separated by colons
//	AGENTLS_PROBE the folder of the probe that judges what both sides say, where there is one
//
// A story is a Lua file in testdata. It runs inside a headless Neovim, on a copy of the sample project,
// and fails by a Lua error.
package e2e
