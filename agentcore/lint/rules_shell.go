package lint

import (
	"github.com/agentls/agentls/agentcore/lazyregexp"
)

// What shellcheck reports is not among them.
var shellRules = []Rule{
	{
		Name: "download-to-shell", Languages: Shell, Severity: Warning, check: lines(download, "curl", "wget"),
		Message: "What is downloaded runs at once, unseen and even when it is cut off half-way. Download it to a " +
			"file, verify it, then run it.",
	},
}

var download = lazyregexp.New(`\b(?:curl|wget)\b[^|;&]*\|\s*(?:sudo\s+(?:-\w+\s+)*)?(?:ba|z|da)?sh\b`)
