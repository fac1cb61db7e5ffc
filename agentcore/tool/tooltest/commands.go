package tooltest

import (
	"context"
	"fmt"
	"time"

	"github.com/agentls/agentls/agentcore/tool"
)

// Commands implements tool.Commands, and runs nothing.
type Commands struct {
	// Results are what commands lead to, by their script.
	Results map[string]tool.CommandResult
	// Background is how far those in the background are, by their id, which is the script.
	Background map[string]tool.BackgroundCommand
	// Ran are those that were run or started so far, in order.
	Ran []tool.Command
}

var _ tool.Commands = (*Commands)(nil)

// RunCommand implements tool.Commands.
func (c *Commands) RunCommand(_ context.Context, command tool.Command) (tool.CommandResult, error) {
	c.Ran = append(c.Ran, command)
	result, ok := c.Results[command.Script]
	if !ok {
		return result, fmt.Errorf("the test has no command %q", command.Script)
	}
	return result, nil
}

// StartCommand implements tool.Commands.
func (c *Commands) StartCommand(_ context.Context, command tool.Command) (string, error) {
	c.Ran = append(c.Ran, command)
	return command.Script, nil
}

// CommandOutput implements tool.Commands.
func (c *Commands) CommandOutput(_ context.Context, id string, _ time.Duration) (tool.BackgroundCommand, error) {
	state, ok := c.Background[id]
	if !ok {
		return state, fmt.Errorf("there is no command %q", id)
	}
	return state, nil
}

// KillCommand implements tool.Commands.
func (c *Commands) KillCommand(ctx context.Context, id string) (tool.BackgroundCommand, error) {
	state, err := c.CommandOutput(ctx, id, 0)
	state.Ended = true
	return state, err
}
