package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Prefix begins the names of all tools of servers, and of no others.
const Prefix = "mcp__"

const (
	// maxName is how long the name of a tool may be for the wires of models, in bytes.
	maxName = 64
	// maxServerName leaves room for the tool's own name.
	maxServerName = 28
)

// ServerName is a server's name as the names of its tools have it: letters, digits, hyphens and single underscores,
// which neither begin nor end it, so that "__" behind it always ends it. It is empty where nothing is left.
func ServerName(name string) string {
	clean := plain(name)
	for strings.Contains(clean, "__") {
		clean = strings.ReplaceAll(clean, "__", "_")
	}
	return shorten(strings.Trim(clean, "_"), name, maxServerName)
}

// ToolName is what agents call a tool of a server: mcp__server__tool. server is as [ServerName] gives it.
func ToolName(server, tool string) string {
	head := Prefix + server + "__"
	return head + shorten(plain(tool), tool, maxName-len(head))
}

// SplitName takes the name of a tool apart; ok is false for one of no server.
func SplitName(name string) (server, tool string, ok bool) {
	rest, ok := strings.CutPrefix(name, Prefix)
	if !ok {
		return "", "", false
	}
	server, tool, ok = strings.Cut(rest, "__")
	return server, tool, ok && server != "" && tool != ""
}

// plain puts an underscore in the place of all that the wires of models do not take in a name.
func plain(name string) string {
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
	return strings.TrimRight(clean[:limit-9], "_") + "-" + digest(original)[:8]
}

// digest is the SHA-256 of a text in hex digits.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
