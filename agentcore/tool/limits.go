package tool

// Limits of what tools answer, so that one call does not fill the model's context.
const (
	// lineLimit is in characters of one line.
	lineLimit = 2000
	// outputLimit is in bytes of one answer.
	outputLimit = 50_000
)
