package client

import "strings"

// What is known of editors by their names, since LSP has no capability for it.

// PrintsEdits reports whether the client prints what names an edit, as Neovim does, which has no other use for it: a
// line that is wider than the screen stops the user, too.
func (c *Client) PrintsEdits() bool { return strings.EqualFold(c.name, "neovim") }

// HidesErrors reports whether the client only logs the error that answers a command, as Helix does.
func (c *Client) HidesErrors() bool { return strings.EqualFold(c.name, "helix") }

// LeavesOutStaleEdits reports whether the client leaves out an edit of an older version, does the rest, and says that
// all was applied, as Neovim does.
func (c *Client) LeavesOutStaleEdits() bool { return strings.EqualFold(c.name, "neovim") }

// RefreshesWorkspaceAlone reports whether the client, told to pull diagnostics again, pulls those of the workspace
// where it can, and leaves out what it is answered for open documents, as Neovim 0.12 does.
func (c *Client) RefreshesWorkspaceAlone() bool { return strings.EqualFold(c.name, "neovim") }

// ShowsEmptyLine reports whether the client shows an empty file as one empty line, with its end, as Neovim does: a text
// that is put before it would leave that line behind.
func (c *Client) ShowsEmptyLine() bool { return strings.EqualFold(c.name, "neovim") }
