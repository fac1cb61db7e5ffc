// Package prompt writes the first texts that a run's model gets: the system prompt, which is the unchanging beginning
// of every request of the run, and the first message. Everything variable, even the time, is fixed here, once.
package prompt

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/clip"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/instruction"
	"github.com/agentls/agentls/agentcore/skill"
	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/toolset"
	"github.com/agentls/agentls/agentcore/workspace"
)

const (
	// maxSelection bounds the variable selection, in bytes.
	maxSelection = 16 << 10
	// maxSkillList bounds the list of skills in the prompt, in bytes; the names behind that have no description.
	maxSkillList = 4 << 10
	// maxWithheld is how many of the tools that a run is not offered its prompt names.
	maxWithheld = 12
)

// Facts are what a run is told about itself. They are never changed.
type Facts struct {
	Definition *agent.Definition
	Config     *config.Config
	Skills     *skill.Set
	Tools      *toolset.Set
	View       *workspace.View
	Limits     agent.Limits
	Created    time.Time
	// Role is the run's role, and Path the agents above it with its own name: "coder ▸ tester".
	Role, Path string
	Depth      int
	// Parent is the run that started this one; nil if the user did.
	Parent *Parent
	// Task is the task for which another agent started the run; nil for a run of the user, or one per file.
	Task *tool.Task
	// Instructions are the instructions of the user and the project.
	Instructions instruction.Set
	// Prompt is what the user or the starting agent wrote, or what the file of the prompt that they called makes of it.
	// Expanded is what a command of an MCP server made from it. Each is empty for none.
	Prompt, Expanded string
	// Inherited is what a child knows of its parent's conversation; empty for nothing.
	Inherited string
	// Paths are the files that the prompt is about, absolute. If there is only one, StartLine and EndLine are its
	// lines: 1-based, inclusive, 0 for the whole file.
	Paths              []string
	StartLine, EndLine int
	// Finding is the finding that the prompt is about, if any.
	Finding *event.Finding
	// Attachments are what the prompt brings along.
	Attachments []Attachment
	// Changes are the changes that the prompt is about; nil for none.
	Changes *Changes
	// Comment is the first line, 1-based, of the comment that contains the request; 0 for none.
	Comment int
	// Commands says how the run's commands are kept apart, in a line; empty if the run has no commands.
	Commands string
}

// Parent is the run that started another one.
type Parent struct{ Agent, Role, Path string }

// System is the system prompt: the definition's own prompt, the skills that it names, and what holds for the whole run.
// missing are the errors of the skills that it names and that cannot be read.
func (f *Facts) System() (text string, missing []error) {
	var b strings.Builder
	b.WriteString(f.Own())
	missing = f.writeSkills(&b)
	if !f.Definition.NoDefaultPrefix {
		f.writeEnvironment(&b)
	}
	if text := f.Instructions.Write(f.View.Shown, true); text != "" {
		// The instructions come last, so that nothing in them can look like text of the engine.
		if f.Definition.NoDefaultPrefix {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "\n%s\n", text)
	}
	return b.String(), missing
}

// Own is the definition's prompt with its variables replaced.
func (f *Facts) Own() string {
	template, _ := agent.ParseTemplate(f.Definition.Prompt) // its problems were reported when it was loaded
	names := template.Names()
	if len(names) == 0 {
		return template.Expand(nil)
	}
	values := f.variables(func(name string) bool {
		return slices.ContainsFunc(names, func(used string) bool { return strings.EqualFold(used, name) })
	})
	maps.Copy(values, f.Config.PromptVariables)
	maps.Copy(values, f.Definition.Variables)
	return strings.TrimRight(template.Expand(values), " \t\r\n")
}

// variables are the values of agent.Builtins. Values for which a file must be read are computed only if they are used.
func (f *Facts) variables(used func(string) bool) map[string]string {
	created := f.Created.Local()
	subagents := f.Tools.Subagents()
	values := map[string]string{
		"time":         created.Format("2006-01-02 15:04 MST"),
		"date":         created.Format(time.DateOnly),
		"cwd":          "",
		"project":      "",
		"git_branch":   "",
		"open_file":    "",
		"selection":    "",
		"os":           runtime.GOOS,
		"role":         f.Role,
		"depth":        strconv.Itoa(f.Depth),
		"max_depth":    strconv.Itoa(f.Config.MaxDepth),
		"can_delegate": strconv.FormatBool(len(subagents) > 0),
		"can_run":      strconv.FormatBool(f.Tools.Offers("bash")),
		"can_ask":      strconv.FormatBool(f.Tools.Offers("question")),
		"subagents":    strings.Join(subagents, ", "),
		"max_turns":    strconv.Itoa(f.Limits.MaxTurns),
		"timeout":      Duration(f.Limits.Timeout),
		"agent":        f.Definition.Slug,
		"parent_role":  "",
		"task":         f.Prompt,
		"criteria":     "",
		"can/cannot":   "cannot",
	}
	if len(subagents) > 0 {
		values["can/cannot"] = "can"
	}
	if f.Parent != nil {
		values["parent_role"] = f.Parent.Role
	}
	if f.Task != nil {
		values["criteria"] = strings.TrimSpace(f.Task.Criteria)
	}
	if roots := f.View.Roots(); len(roots) > 0 {
		values["cwd"], values["project"] = roots[0].Path, roots[0].Name
		if values["project"] == "" {
			values["project"] = filepath.Base(roots[0].Path)
		}
		if used("git_branch") {
			values["git_branch"] = workspace.Branch(roots[0].Path)
		}
	}
	if paths := f.Paths; len(paths) > 0 {
		values["open_file"] = f.View.Shown(paths[0])
		if used("selection") {
			values["selection"] = f.selection(paths[0])
		}
	}
	for other, name := range map[string]string{
		"current_time": "time", "working_directory": "cwd", "max_iterations": "max_turns", "max_duration": "timeout",
		"allowed_delegations": "subagents",
	} {
		values[other] = values[name]
	}
	return values
}

// selection is the text of the lines that the request is about.
func (f *Facts) selection(path string) string {
	if f.StartLine < 1 {
		return ""
	}
	file, err := f.View.Read(path)
	if err != nil {
		return "" // the run gets the error when it reads the file itself
	}
	var b strings.Builder
	number := 0
	for line := range strings.Lines(file.Text) {
		if number++; number >= f.StartLine && number <= max(f.StartLine, f.EndLine) {
			b.WriteString(line)
		}
	}
	text := strings.TrimRight(b.String(), "\r\n")
	if len(text) > maxSelection {
		text = strings.ToValidUTF8(text[:maxSelection], "") + "\n…"
	}
	return text
}

// Duration writes 5m0s as 5m, and rounds the rest of a parent's time; no limit is "none".
func Duration(d time.Duration) string {
	if d == 0 {
		return "none"
	}
	unit := time.Second
	switch { // a short limit, such as 1500ms, is no other in words
	case d < time.Second:
		unit = time.Millisecond
	case d < 10*time.Second:
		unit = 10 * time.Millisecond
	case d < time.Minute:
		unit = 100 * time.Millisecond
	}
	text := max(d.Round(unit), unit).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// writeSkills writes the skills that the definition names, and the list of the others for the skill tool.
func (f *Facts) writeSkills(b *strings.Builder) (missing []error) {
	for _, name := range f.Definition.Skills {
		s, err := f.Skills.Find(name)
		if err != nil {
			missing = append(missing, err)
			continue
		}
		fmt.Fprintf(b, "\n\n<skill name=%q>\n%s\n</skill>", s.Name, Skill(s))
	}
	if !f.Tools.Offers("skill") {
		return missing
	}
	b.WriteString(
		"\n\n<skills>\nInstructions for certain tasks. Load one with `skill` before you begin a task of its kind.\n")
	var rest []string
	listed := 0
	for _, s := range f.Tools.Loadable() {
		line := fmt.Sprintf("- %s: %s\n", s.Name, s.Description)
		if listed += len(line); listed > maxSkillList {
			rest = append(rest, s.Name)
			continue
		}
		b.WriteString(line)
	}
	if len(rest) > 0 {
		fmt.Fprintf(b, "- and %s\n", strings.Join(rest, ", "))
	}
	b.WriteString("</skills>")
	return missing
}

// Skill is a skill as a model gets it.
func Skill(s *skill.Skill) string {
	if s.Path == "" {
		return s.Text
	}
	return fmt.Sprintf("(from %s)\n\n%s", s.Path, s.Text)
}

// writeEnvironment tells the run where it is and what its place is.
func (f *Facts) writeEnvironment(b *strings.Builder) {
	b.WriteString("\n\n<environment>\n")
	for _, root := range f.View.Roots() {
		fmt.Fprintf(b, "workspace folder: %s (%s)\n", root.Name, root.Path)
	}
	fmt.Fprintf(b, "platform: %s\n", runtime.GOOS)
	fmt.Fprintf(b, "date: %s\n", f.Created.Local().Format(time.DateOnly))
	fmt.Fprintf(b, "role: %s, depth %d of %d\n", f.Role, f.Depth, f.Config.MaxDepth)
	if f.Parent != nil {
		fmt.Fprintf(b, "started by: %s; it sees only your result\n", f.Parent.Path)
	}
	fmt.Fprintf(b, "limits: %s\n", f.limitsInWords())
	if f.Tools.OnlyTurn && !f.Tools.Offers(toolset.Submit) && !f.Definition.Mode.Toolless() {
		b.WriteString("this is your only turn: answer in text, no call is made\n")
	}
	b.WriteString(f.Commands)
	f.writeMissing(b)
	b.WriteString("</environment>\n")
}

// limitsInWords are the limits that the run itself can watch.
func (f *Facts) limitsInWords() string {
	return fmt.Sprintf("%s, %s", clip.Counted(f.Limits.MaxTurns, "turn", "turns"), Duration(f.Limits.Timeout))
}

// writeMissing names the tools that the run lacks and that its definition, or its task, may expect.
func (f *Facts) writeMissing(b *strings.Builder) {
	if slices.Contains(f.Definition.Tools, "websearch") && f.Config.WebsearchKind == "" {
		b.WriteString("no websearch: the user has set up no search engine; fetch pages whose address you know, " +
			"and follow their links\n")
	}
	for _, why := range []string{toolset.UntrustedCommands, toolset.DeniedByRules, toolset.DeniedToChildren} {
		var names []string
		for _, kept := range f.Tools.Withheld() {
			if kept.Why == why {
				names = append(names, kept.Name)
			}
		}
		if len(names) == 0 {
			continue
		}
		if more := len(names) - maxWithheld; more > 0 {
			names = append(slices.Clip(names[:maxWithheld]), fmt.Sprintf("%d more", more))
		}
		instead := "if the task cannot be done without, say so in your result"
		if why == toolset.UntrustedCommands {
			instead = toolset.WithoutCommands
		}
		fmt.Fprintf(b, "not for you: %s (%s); %s\n", strings.Join(names, ", "), why, instead)
	}
}

// First is the first message: the definition's reminder, the user's words, then what they are about in a block of
// its own.
func (f *Facts) First() string {
	var b strings.Builder
	if f.Definition.Reminder != "" {
		fmt.Fprintf(&b, "<reminder>\n%s\n</reminder>\n\n", f.Definition.Reminder)
	}
	b.WriteString(cmp.Or(f.Expanded, f.Prompt))
	b.WriteString(Attached(f.Attachments))
	f.writeTask(&b)
	if len(f.Paths) == 0 && f.Finding == nil && f.Changes == nil {
		return b.String()
	}
	b.WriteString("\n\n<context>\n")
	for _, path := range f.Paths {
		fmt.Fprintf(&b, "file: %s\n", f.View.Shown(path))
	}
	if f.StartLine > 0 {
		fmt.Fprintf(&b, "lines: %d-%d\n", f.StartLine, max(f.StartLine, f.EndLine))
	}
	if f.Comment > 0 {
		fmt.Fprintf(&b,
			"request: it stands as a comment at line %d of this file, and is about the code there; leave the comment "+
				"as it is, since it is taken out when you are done\n", f.Comment)
	}
	if found := f.Finding; found != nil {
		fmt.Fprintf(&b, "line: %d\n", found.Span.StartLine+1)
		if found.Rule != "" {
			fmt.Fprintf(&b, "rule: %s\n", found.Rule)
		}
		fmt.Fprintf(&b, "finding: %s\n", strings.Join(strings.Fields(found.Message), " "))
	}
	if f.Changes != nil {
		f.Changes.write(&b, f.View)
	}
	b.WriteString("</context>\n")
	return b.String()
}

// writeTask tells a child what is expected of it, and within which limits.
func (f *Facts) writeTask(b *strings.Builder) {
	if f.Task == nil {
		return
	}
	b.WriteString("\n\n<task>\n")
	fmt.Fprintf(b, "you are: %s, started by %s\n", f.Path, f.Parent.Agent)
	if f.Definition.NoDefaultPrefix { // otherwise the system prompt says it
		fmt.Fprintf(b, "limits: %s\n", f.limitsInWords())
	}
	if f.Task.Criteria != "" {
		fmt.Fprintf(b, "success criteria: %s\n", strings.TrimSpace(f.Task.Criteria))
	}
	if f.Task.Thoroughness != "" {
		fmt.Fprintf(b, "thoroughness: %s\n", f.Task.Thoroughness)
	}
	if slugs := f.Tools.Subagents(); len(slugs) > 0 {
		fmt.Fprintf(b, "you may delegate to: %s\n", strings.Join(slugs, ", "))
	}
	switch {
	case f.Tools.Offers(toolset.Submit) && f.Tools.OnlyTurn:
		b.WriteString("this is your only turn: answer by submit_result, or in text\n")
	case f.Tools.Offers(toolset.Submit):
		b.WriteString("end with: submit_result\n")
	}
	b.WriteString("</task>")
	f.writeInherited(b)
}

// writeInherited puts what a child knows of the conversation into its task.
func (f *Facts) writeInherited(b *strings.Builder) {
	if text := strings.TrimSpace(f.Inherited); text != "" {
		fmt.Fprintf(b, "\n\nWhat %s and its user said so far, for you to know; your task is the one above.\n%s",
			f.Parent.Agent, text)
	}
}
