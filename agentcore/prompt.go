package agentcore

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
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/skill"
	"github.com/agentls/agentls/agentcore/toolset"
	"github.com/agentls/agentls/agentcore/workspace"
)

const (
	// maxSelection bounds the variable selection, in bytes.
	maxSelection = 16 << 10
	// maxSkillList bounds the list of skills in the prompt, in bytes; names that do not fit go without description.
	maxSkillList = 4 << 10
	// maxWithheld is how many of the tools that a run is not offered are named to it.
	maxWithheld = 12
)

// systemPrompt is the stable head of every request of the run: the definition's prompt, and what is
// true for the whole run. What varies, the time too, is fixed here, once.
func (r *run) systemPrompt() string {
	var b strings.Builder
	b.WriteString(r.ownPrompt())
	r.writeSkills(&b)
	if !r.definition.NoDefaultPrefix {
		r.writeEnvironment(&b)
	}
	return b.String()
}

// ownPrompt is the definition's prompt with its variables filled in.
func (r *spec) ownPrompt() string {
	template, _ := agent.ParseTemplate(r.definition.Prompt) // its problems were told when it was loaded
	names := template.Names()
	if len(names) == 0 {
		return template.Expand(nil)
	}
	values := r.variables(func(name string) bool {
		return slices.ContainsFunc(names, func(used string) bool { return strings.EqualFold(used, name) })
	})
	maps.Copy(values, r.config.PromptVariables)
	maps.Copy(values, r.definition.Variables)
	return strings.TrimRight(template.Expand(values), " \t\r\n")
}

// variables are the values of agent.Builtins. Those that cost a look at a file are only there if they are used.
func (r *spec) variables(used func(string) bool) map[string]string {
	created := r.created.Local()
	subagents := r.tools.Subagents()
	values := map[string]string{
		"time":         created.Format("2006-01-02 15:04 MST"),
		"date":         created.Format(time.DateOnly),
		"cwd":          "",
		"project":      "",
		"git_branch":   "",
		"open_file":    "",
		"selection":    "",
		"os":           runtime.GOOS,
		"role":         r.role(),
		"depth":        strconv.Itoa(r.depth),
		"max_depth":    strconv.Itoa(r.config.MaxDepth),
		"can_delegate": strconv.FormatBool(len(subagents) > 0),
		"can_run":      strconv.FormatBool(r.tools.Offers("bash")),
		"can_ask":      strconv.FormatBool(r.tools.Offers("question")),
		"subagents":    strings.Join(subagents, ", "),
		"max_turns":    strconv.Itoa(r.limits.MaxTurns),
		"timeout":      duration(r.limits.Timeout),
		"agent":        r.definition.Slug,
		"parent_role":  "",
		"task":         r.request.Prompt,
		"criteria":     "",
		"can/cannot":   "cannot",
	}
	if len(subagents) > 0 {
		values["can/cannot"] = "can"
	}
	if r.parent != nil {
		values["parent_role"] = r.parent.role()
	}
	if r.task != nil {
		values["criteria"] = strings.TrimSpace(r.task.Criteria)
	}
	if roots := r.session.view.Roots(); len(roots) > 0 {
		values["cwd"], values["project"] = roots[0].Path, roots[0].Name
		if values["project"] == "" {
			values["project"] = filepath.Base(roots[0].Path)
		}
		if used("git_branch") {
			values["git_branch"] = workspace.Branch(roots[0].Path)
		}
	}
	if paths := r.request.Context.Paths; len(paths) > 0 {
		values["open_file"] = r.session.view.Shown(paths[0])
		if used("selection") {
			values["selection"] = r.selection(paths[0])
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
func (r *spec) selection(path string) string {
	c := r.request.Context
	if c.StartLine < 1 {
		return ""
	}
	file, err := r.session.view.Read(path)
	if err != nil {
		return "" // the run itself says what is wrong when it reads the file
	}
	var b strings.Builder
	number := 0
	for line := range strings.Lines(file.Text) {
		if number++; number >= c.StartLine && number <= max(c.StartLine, c.EndLine) {
			b.WriteString(line)
		}
	}
	text := strings.TrimRight(b.String(), "\r\n")
	if len(text) > maxSelection {
		text = strings.ToValidUTF8(text[:maxSelection], "") + "\n…"
	}
	return text
}

// duration writes 5m0s as 5m, and rounds what is left of a parent's time; no limit is "none".
func duration(d time.Duration) string {
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

// writeSkills puts in the skills that the definition names, and the list of the others for the skill tool.
func (r *spec) writeSkills(b *strings.Builder) {
	for _, name := range r.definition.Skills {
		s, err := r.skills.Find(name)
		if err != nil {
			r.notice(event.NoticeWarning, fmt.Sprintf("the agent %s wants a skill: %v", r.definition.Slug, err),
				"run it without, or mend `skills` in its definition")
			continue
		}
		fmt.Fprintf(b, "\n\n<skill name=%q>\n%s\n</skill>", s.Name, skillText(s))
	}
	if !r.tools.Offers("skill") {
		return
	}
	b.WriteString(
		"\n\n<skills>\nInstructions for certain tasks. Load one with `skill` before you begin a task of its kind.\n")
	var rest []string
	listed := 0
	for _, s := range r.tools.Loadable() {
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
}

// skillText is a skill as a model gets it.
func skillText(s *skill.Skill) string {
	if s.Path == "" {
		return s.Text
	}
	return fmt.Sprintf("(from %s)\n\n%s", s.Path, s.Text)
}

// writeEnvironment tells the run where it is and what its place is.
func (r *run) writeEnvironment(b *strings.Builder) {
	b.WriteString("\n\n<environment>\n")
	for _, root := range r.session.view.Roots() {
		fmt.Fprintf(b, "workspace folder: %s (%s)\n", root.Name, root.Path)
	}
	fmt.Fprintf(b, "platform: %s\n", runtime.GOOS)
	fmt.Fprintf(b, "date: %s\n", r.created.Local().Format(time.DateOnly))
	fmt.Fprintf(b, "role: %s, depth %d of %d\n", r.role(), r.depth, r.config.MaxDepth)
	if r.parent != nil {
		fmt.Fprintf(b, "started by: %s; it sees only your result\n", r.parent.pathOfAgents())
	}
	fmt.Fprintf(b, "limits: %s\n", r.limitsInWords())
	if r.onlyTurn() && !r.tools.Offers(toolset.Submit) && !r.definition.Mode.Toolless() {
		b.WriteString("this is your only turn: answer in text, no call is made\n")
	}
	if r.tools.Offers("bash") {
		r.writeCommands(b)
	}
	r.writeMissing(b)
	b.WriteString("</environment>\n")
}

// limitsInWords are those that the run can keep an eye on.
func (r *spec) limitsInWords() string {
	return fmt.Sprintf("%s, %s", counted(r.limits.MaxTurns, "turn", "turns"), duration(r.limits.Timeout))
}

// writeMissing tells the run which tools it does without that its definition, or its task, may count on.
func (r *spec) writeMissing(b *strings.Builder) {
	if slices.Contains(r.definition.Tools, "websearch") && r.config.WebsearchKind == "" {
		b.WriteString("no websearch: the user has set up no search engine; fetch pages whose address you know, " +
			"and follow their links\n")
	}
	for _, why := range []string{toolset.UntrustedCommands, toolset.DeniedByRules, toolset.DeniedToChildren} {
		var names []string
		for _, kept := range r.tools.Withheld() {
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

// userPrompt is the first message: the definition's reminder, the user's words, then what they are about in a block of
// its own.
func (r *spec) userPrompt() string {
	var b strings.Builder
	if r.definition.Reminder != "" {
		fmt.Fprintf(&b, "<reminder>\n%s\n</reminder>\n\n", r.definition.Reminder)
	}
	b.WriteString(cmp.Or(r.expanded, r.request.Prompt))
	r.writeTask(&b)
	c := r.request.Context
	if len(c.Paths) == 0 && c.Finding == nil {
		return b.String()
	}
	b.WriteString("\n\n<context>\n")
	for _, path := range c.Paths {
		fmt.Fprintf(&b, "file: %s\n", r.session.view.Shown(path))
	}
	if c.StartLine > 0 {
		fmt.Fprintf(&b, "lines: %d-%d\n", c.StartLine, max(c.StartLine, c.EndLine))
	}
	if r.request.Comment != nil {
		r.request.Comment.write(&b)
	}
	if f := c.Finding; f != nil {
		fmt.Fprintf(&b, "line: %d\n", f.Span.StartLine+1)
		if f.Rule != "" {
			fmt.Fprintf(&b, "rule: %s\n", f.Rule)
		}
		fmt.Fprintf(&b, "finding: %s\n", strings.Join(strings.Fields(f.Message), " "))
	}
	b.WriteString("</context>\n")
	return b.String()
}

// firstLine shortens a text to one line of at most 80 characters.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return clip.Text(line, 80)
}
