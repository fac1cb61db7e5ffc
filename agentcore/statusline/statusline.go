// Package statusline holds what the status line of an editor can show, and runs the command of the user that makes it.
package statusline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/clip"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/hook"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/process"
	"github.com/agentls/agentls/agentcore/secret"
)

const (
	// statusTime is how long the user's command for the status line may take.
	statusTime = 5 * time.Second
	// maxStatus bounds the line that it prints, in characters.
	maxStatus = 200
)

// Run runs the user's command for the status line: by the shell, in a folder, with the input on its standard
// input. It returns the first line of its output without control characters and secrets, and when nothing of it is
// left. The command is of the user's own configuration, so it runs as the user's, without keys in its environment.
// Errors say what was wrong with it.
func Run(ctx context.Context, redactor *secret.Redactor, command, dir string, input []byte) (string, error) {
	mark := "AGENTLS_STATUSLINE=" + string(event.NewCallID())
	exit, err := process.Run(ctx, process.Program{
		Argv: []string{"sh", "-c", command}, Dir: dir, Env: redactor.Environ(os.Environ()), Mark: mark,
		Limit: statusTime, Stdin: bytes.NewReader(input),
	}, hook.MaxOutput)
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		return "", fmt.Errorf("start the command of the status line: %w", err)
	case exit.Late && exit.Signal != "":
		return "", fmt.Errorf("the command of the status line took longer than %s", statusTime)
	case exit.Code != 0 || exit.Signal != "":
		end := exit.String()
		if detail := clip.FirstLine(string(exit.Stderr)); detail != "" {
			end += ": " + detail
		}
		return "", errors.New("the command of the status line " + end)
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(exit.Stdout)), "\n")
	if line == "" {
		return "", errors.New("the command of the status line printed nothing")
	}
	return Text(redactor.Text(line)), nil
}

// Text is a text as it may stand in a status bar: one short line, hidden characters made visible.
func Text(text string) string {
	return clip.Text(permission.Visible(strings.Join(strings.Fields(text), " ")), maxStatus)
}

// Facts are what the status line can show. They are the JSON that the user's command gets, and, by the same
// names, the variables of a template.
type Facts struct {
	Session          event.SessionID `json:"session"`
	Version          string          `json:"version"`
	Project          string          `json:"project"`
	WorkingDirectory string          `json:"cwd"`
	GitBranch        string          `json:"git_branch"`
	// Running and Waiting count the runs under way, children included; Children those that another run started.
	Running  int `json:"running"`
	Waiting  int `json:"waiting"`
	Children int `json:"children"`
	// Agent, Model, Title and Activity are of the newest run of the user that is under way.
	Agent    string `json:"agent"`
	Model    string `json:"model"`
	Title    string `json:"title"`
	Activity string `json:"activity"`
	Turn     int    `json:"turn"`
	// Asks, Findings and Edits wait for the user.
	Asks     int `json:"asks"`
	Findings int `json:"findings"`
	Edits    int `json:"edits"`
	// Tokens and Cost are those of the runs under way; Cost is in US dollars, null where it is not known.
	Tokens int64    `json:"tokens"`
	Cost   *float64 `json:"cost"`
}

// Names are the names of what the status line can show, in their order.
func Names() []string {
	var names []string
	for field := range reflect.TypeFor[Facts]().Fields() {
		names = append(names, field.Tag.Get("json"))
	}
	return names
}
