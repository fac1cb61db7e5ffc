package document

import (
	"net/url"
	"strings"

	"go.lsp.dev/uri"
)

// Scheme is that of the documents which the server itself has the text of:
//
//	agentls:/answers/RUN.md       what a run answered
//	agentls:/transcripts/RUN.md   the conversation of a run, so far
//	agentls:/plans/NAME.md        a plan that the user was asked about
//	agentls:/proposals/ID.diff    what a proposal would change, and parts of it
const Scheme = "agentls"

// Virtual is the URI of a document of the server's by its name, such as "answers/r1.md".
func Virtual(name string) uri.URI {
	return uri.URI(Scheme + ":/" + (&url.URL{Path: name}).EscapedPath())
}

// CutBoth takes both ends from a name, where it has them.
func CutBoth(name, prefix, suffix string) (string, bool) {
	rest, ok := strings.CutPrefix(name, prefix)
	if !ok {
		return "", false
	}
	return strings.CutSuffix(rest, suffix)
}
