package main

import "github.com/agentls/agentls/agentcore/lazyregexp"

// The colours are SGR parameters (ECMA-48 8.3.117).
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
	blue   = "34"
	cyan   = "36"
)

// painter returns a function that colours a text, or leaves it alone.
func painter(color bool) func(sgr, text string) string {
	if !color {
		return func(_, text string) string { return text }
	}
	return func(sgr, text string) string {
		if text == "" {
			return ""
		}
		return "\x1b[" + sgr + "m" + text + "\x1b[0m"
	}
}

var escape = lazyregexp.New("\x1b\\[[0-9;]*m")

// bare is a text without its colours.
func bare(text string) string { return escape().ReplaceAllString(text, "") }
