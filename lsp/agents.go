package lsp

// The built-in agents behind the commands.
const (
	reviewerAgent  = "reviewer"
	explainerAgent = "explore"
	fixerAgent     = "coder"
	testerAgent    = "tester"
	plannerAgent   = "planner"
	// ourselves is the name under which the server itself asks something.
	ourselves = "agentls"
)
