// Package mcpname knows how the tools of MCP servers are named: it is the one place that makes such names and takes
// them apart. A name is mcp__server__tool; lists and rules name all tools of a server as mcp__server, or by a pattern
// such as mcp__server__*.
package mcpname

import (
	"crypto/sha256"
	"fmt"
	"path"
	"strings"
)

const (
	// Prefix begins the names of all tools of servers, and of no others.
	Prefix = "mcp__"
	// between stands between a server and its tool.
	between = "__"
)

const (
	// MaxTool is how long the name of a tool may be for the wires of models, in bytes.
	MaxTool = 64
	// maxServer leaves room for the tool's own name.
	maxServer = 28
)

// Server is a server's name as the names of its tools have it: letters, digits, hyphens and single underscores, which
// neither begin nor end it, so that "__" behind it always ends it. It is empty where nothing is left.
func Server(name string) string {
	clean := Plain(name)
	for strings.Contains(clean, between) {
		clean = strings.ReplaceAll(clean, between, "_")
	}
	return shorten(strings.Trim(clean, "_"), name, maxServer)
}

// Tool is what agents call a tool of a server. server is as [Server] gives it.
func Tool(server, tool string) string {
	head := Begins(server)
	return head + shorten(Plain(tool), tool, MaxTool-len(head))
}

// Whole names all tools of a server in a list of tools.
func Whole(server string) string { return Prefix + server }

// Begins is what the names of all tools of a server begin with.
func Begins(server string) string { return Whole(server) + between }

// All is the pattern of all tools of a server.
func All(server string) string { return Begins(server) + "*" }

// Is reports whether a name, or a pattern of names, is of tools of servers.
func Is(name string) bool { return strings.HasPrefix(name, Prefix) }

// Pattern is the pattern of the tools that an entry of a list names: all of a server where it names the server.
func Pattern(entry string) string {
	if isWhole(entry) {
		return entry + between + "*"
	}
	return entry
}

// isWhole reports whether an entry of a list, which is one of servers, names a server and no tool.
func isWhole(entry string) bool { return !strings.Contains(strings.TrimPrefix(entry, Prefix), between) }

// Matches reports whether an entry of a list of tools names a tool of a server: by its name, with * for any part of it,
// or as all tools of the server.
func Matches(entry, name string) bool {
	if entry == name || entry == "*" {
		return true
	}
	if !Is(entry) {
		return false
	}
	if matched, err := path.Match(entry, name); err == nil && matched {
		return true
	}
	return isWhole(entry) && strings.HasPrefix(name, entry+between)
}

// Split takes the name of a tool apart; ok is false for one of no server.
func Split(name string) (server, tool string, ok bool) {
	rest, ok := strings.CutPrefix(name, Prefix)
	if !ok {
		return "", "", false
	}
	server, tool, ok = strings.Cut(rest, between)
	return server, tool, ok && server != "" && tool != ""
}

// Plain puts an underscore in the place of all that the wires of models do not take in a name.
func Plain(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return '_'
	}, name)
}

// shorten cuts a name that is too long; its end then tells it from others that begin like it.
func shorten(clean, original string, limit int) string {
	if len(clean) <= limit {
		return clean
	}
	return strings.TrimRight(clean[:limit-9], "_") + fmt.Sprintf("-%x", sha256.Sum256([]byte(original)))[:9]
}
