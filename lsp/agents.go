package lsp

// The built-in agents behind the commands.
const (
	reviewerAgent  = "reviewer"
	explainerAgent = "explore"
	fixerAgent     = "coder"
	testerAgent    = "tester"
	plannerAgent   = "planner"
	// ourselves is who asks where no agent does.
	ourselves = "agentls"
)
