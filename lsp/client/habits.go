package client

import "strings"

// habits are behaviours that are known by an editor's name, since LSP has no capability for them.
type habits struct{ name string }

// PrintsEdits reports whether the client prints the label of an edit as a message, as Neovim does. It uses the label
// for nothing else, and a message that is wider than the screen stops the user.
func (h habits) PrintsEdits() bool { return strings.EqualFold(h.name, "neovim") }

// HidesErrors reports whether the client only logs an error that answers a command, as Helix does.
func (h habits) HidesErrors() bool { return strings.EqualFold(h.name, "helix") }

// LeavesOutStaleEdits reports whether the client skips edits of an older version of a document, applies the other
// edits, and answers that it applied all, as Neovim does.
func (h habits) LeavesOutStaleEdits() bool { return strings.EqualFold(h.name, "neovim") }

// RefreshesWorkspaceAlone reports whether the client, asked to pull diagnostics again, pulls only those of the
// workspace if it can, and ignores their part about open documents, as Neovim 0.12 does.
func (h habits) RefreshesWorkspaceAlone() bool { return strings.EqualFold(h.name, "neovim") }

// HidesLastLineEnd reports whether the client shows no line behind the last line end of a text, as Neovim does. It
// fails to show a document to the user with the cursor in that line.
func (h habits) HidesLastLineEnd() bool { return strings.EqualFold(h.name, "neovim") }

// ShowsEmptyLine reports whether the client shows an empty file as one empty line with a line end, as Neovim does. A
// text that is inserted before that line would leave the line behind.
func (h habits) ShowsEmptyLine() bool { return strings.EqualFold(h.name, "neovim") }
