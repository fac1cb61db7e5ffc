package client

import "strings"

// habits are what is known of editors by their names, since LSP has no capability for it.
type habits struct{ name string }

// PrintsEdits reports whether the client prints what names an edit, as Neovim does, which has no other use for it: a
// line that is wider than the screen stops the user, too.
func (h habits) PrintsEdits() bool { return strings.EqualFold(h.name, "neovim") }

// HidesErrors reports whether the client only logs the error that answers a command, as Helix does.
func (h habits) HidesErrors() bool { return strings.EqualFold(h.name, "helix") }

// LeavesOutStaleEdits reports whether the client leaves out an edit of an older version, does the rest, and says that
// all was applied, as Neovim does.
func (h habits) LeavesOutStaleEdits() bool { return strings.EqualFold(h.name, "neovim") }

// RefreshesWorkspaceAlone reports whether the client, told to pull diagnostics again, pulls those of the workspace
// where it can, and leaves out what it is answered for open documents, as Neovim 0.12 does.
func (h habits) RefreshesWorkspaceAlone() bool { return strings.EqualFold(h.name, "neovim") }

// ShowsEmptyLine reports whether the client shows an empty file as one empty line, with its end, as Neovim does: a text
// that is put before it would leave that line behind.
func (h habits) ShowsEmptyLine() bool { return strings.EqualFold(h.name, "neovim") }
