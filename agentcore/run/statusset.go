package run

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/spelling"
	"github.com/agentls/agentls/agentcore/statusline"
	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/workspace"
)

// statusKey is the configuration's key for the status line.
const statusKey = "statusline"

// maxStatusSetting bounds a line that an agent sets, in characters, so that a person can read all of it.
const maxStatusSetting = 500

// The answers to the question whether the status line is to be set.
const (
	statusSet   = "Set it"
	statusLeave = "Leave it as it is"
)

// Statusline tells the model what the status line is now.
func (h hostUser) Statusline() (string, error) {
	c := h.run.process.Config()
	text := "The status line is the built-in one: nothing is set.\n"
	if c.Statusline != "" {
		text = fmt.Sprintf("The status line is set in %s to:\n%s\n", c.Origin(statusKey), c.Statusline)
	}
	file := h.run.process.User.Config
	if file == "" {
		return text + "It cannot be set from here: this process has no configuration file.", nil
	}
	return text + "It is set in " + file + ".\nNames for templates, and of the JSON that a command gets: " +
		strings.Join(statusline.Names(), ", ") +
		".\nA template has {{name}} and {{#if name}} … {{else}} … {{/if}}, where 0 and nothing are false.", nil
}

// SetStatusline asks the user about exactly this line, and writes it into the user's own configuration. That is no file
// of the workspace, and every server reads it again by itself. A command is tried before it is kept.
func (h hostUser) SetStatusline(ctx context.Context, line string) (string, error) {
	p := h.run.process
	line = strings.TrimSpace(line)
	if err := h.soundStatus(line); err != nil {
		return "", err
	}
	if p.User.Config == "" {
		return "", errors.New("this process has no configuration file; give the user the line for config.toml instead")
	}
	was := p.Config()
	if was.Statusline == line {
		return "The status line is that already; nothing was changed.", nil
	}
	if _, _, err := h.withStatus(line); err != nil {
		return "", err // nobody is asked about a line that could not be kept
	}
	text := fmt.Sprintf("Shall the status line be set, in %s, to: %s", p.User.Config,
		cmp.Or(line, "(the built-in one)"))
	set := tool.Option{Label: statusSet}
	if strings.HasPrefix(line, "!") {
		set.Description = "the command runs as you, outside of any sandbox, whenever something changes"
	}
	replies, err := h.run.questions.askQuestions(h.call, "", tool.Question{
		Text: text, Header: "status line", Options: []tool.Option{set, {Label: statusLeave}}, Closed: true,
	})
	if err != nil {
		return "", err
	}
	switch words := strings.Join(replies[0].Answers, "; "); words {
	case statusSet:
	case statusLeave:
		return "The user wants the status line to stay as it is. Nothing was changed; end now.", nil
	case "":
		return fmt.Sprintf("Nothing was changed: %s. Give the user the line for config.toml instead: statusline = '…'.",
			cmp.Or(replies[0].Why, "nobody answered")), nil
	default:
		return "Nothing was changed. The user says: " + words, nil
	}
	shows := ""
	if command, is := strings.CutPrefix(line, "!"); is {
		shown, err := h.tryStatus(ctx, command)
		if err != nil {
			return "", fmt.Errorf("%w; nothing was changed: mend the command and set it again", err)
		}
		shows = "\nNow it prints: " + shown
	}
	path, changed, err := h.withStatus(line) // read again, since it may have changed while the question was open
	if err != nil {
		return "", err
	}
	if err := writeUserFile(path, changed); err != nil {
		return "", fmt.Errorf("write %s: %w; nothing was changed", path, err)
	}
	former := cmp.Or(was.Statusline, "(the built-in one)")
	told := fmt.Sprintf("The status line is set. It was: %s%s", former, shows)
	if o := was.Origin(statusKey); o.Layer > config.LayerUser {
		told += fmt.Sprintf("\nBut %s sets another status line, which replaces this one: tell the user to remove it there.", o)
	}
	return told, nil
}

// soundStatus returns what is wrong with a line, or nil.
func (h hostUser) soundStatus(line string) error {
	switch {
	case permission.Visible(line) != line:
		return errors.New("the line has invisible characters or line breaks; write one line of visible characters")
	case len([]rune(line)) > maxStatusSetting:
		return fmt.Errorf(
			"the line is longer than %d characters, too long for a person to check; make it shorter, or name a script "+
				"of the user's", maxStatusSetting)
	case hostWeb(h).HoldsSecret(line):
		return errors.New("the line holds a secret; leave the secret out")
	case line == "!":
		return errors.New("the line is only an exclamation mark; write the command behind it")
	case strings.HasPrefix(line, "!"):
		return nil
	}
	template, problems := agent.ParseTemplate(line)
	if len(problems) > 0 {
		return fmt.Errorf("the template is broken: %s", problems[0].Message)
	}
	names := statusline.Names()
	for _, name := range template.Names() {
		if !slices.Contains(names, name) {
			near := ""
			if n := spelling.Nearest(name, names); n != "" {
				near = fmt.Sprintf(" (did you mean %s?)", n)
			}
			return fmt.Errorf("there is no {{%s}}%s; there are %s", name, near, strings.Join(names, ", "))
		}
	}
	return nil
}

// tryStatus runs a command for the status line on an example.
func (h hostUser) tryStatus(ctx context.Context, command string) (string, error) {
	r := h.run
	cost := 0.02
	facts := statusline.Facts{
		Session: r.session.ID, Running: 1, Agent: "coder", Model: "a model", Title: "an example",
		Activity: "reads a file", Turn: 1, Findings: 1, Edits: 2, Tokens: 1200, Cost: &cost,
	}
	if roots := r.session.View.Roots(); len(roots) > 0 {
		facts.Project, facts.WorkingDirectory = roots[0].Name, roots[0].Path
		facts.GitBranch = workspace.Branch(roots[0].Path)
	}
	input, err := json.Marshal(facts)
	if err != nil {
		return "", fmt.Errorf("encode an example for the status line: %w", err)
	}
	return statusline.Run(ctx, r.redactor, strings.TrimSpace(command), facts.WorkingDirectory, input)
}

// withStatus is the user's configuration with another status line, and the path of the file behind a link.
func (h hostUser) withStatus(line string) (path string, changed []byte, err error) {
	path = h.run.process.User.Config
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // the link stays, and the file that it leads to is written
	}
	for _, root := range h.run.session.View.Folders() {
		if real, err := filepath.EvalSymlinks(root); err == nil {
			root = real
		}
		if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
			return "", nil,
				fmt.Errorf(
					"%s lies in the workspace, where nothing is written for the user; give the user the line instead: "+
						"%s = '…'", path, statusKey)
		}
	}
	text, err := config.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", nil, fmt.Errorf("read %s: %w; tell the user", path, err)
	}
	if shown, err := h.run.session.View.Read(path); err == nil && shown.Text != string(text) {
		return "", nil, fmt.Errorf("%s is open in the editor and not saved; ask the user to save it first", path)
	}
	if changed, err = config.WithText(text, statusKey, line); err != nil {
		return "", nil, fmt.Errorf("set %s in %s: %w: %s = '…'", statusKey, path, err, statusKey)
	}
	return path, changed, nil
}

func writeUserFile(path string, text []byte) error {
	mode := fs.FileMode(0o600)
	info, err := os.Stat(path)
	switch {
	case err == nil:
		mode = info.Mode().Perm()
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return replaceFile(path, string(text), mode)
}
