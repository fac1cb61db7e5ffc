package permission

import (
	"fmt"
	"path"
	"strings"

	"github.com/agentls/agentls/agentcore/mcpname"
)

// foreignTools are the names, in lower case, that other programs use for tools of agentls.
var foreignTools = map[string]string{
	"bash": "bash", "shell": "bash", "read": "read", "grep": "grep", "glob": "glob", "ls": "list", "list": "list",
	"edit": "edit", "multiedit": "edit", "write": "write", "patch": "patch", "notebookedit": "notebook_edit",
	"notebook_edit": "notebook_edit",
	"webfetch":      "webfetch", "websearch": "websearch", "task": "task", "agent": "task", "skill": "skill",
	"todowrite": "todo", "todoread": "todo", "question": "question", "lsp": "symbols",
}

// FromClaude reads a rule as Claude Code's settings and agents write it: `Bash(git status:*)`, `Read(./src/**)`,
// `WebFetch(domain:x)`, `mcp__server__tool`. The rules never let through more than was written; where they let through
// less, a warning says so. (Claude Code, "Settings: permission rule syntax"; paths there follow gitignore.)
func FromClaude(entry string, action Action) (rules []Rule, warnings []string) {
	entry = strings.TrimSpace(entry)
	name, inside, ok := strings.Cut(entry, "(")
	name = strings.TrimSpace(name)
	if ok {
		if inside, ok = strings.CutSuffix(inside, ")"); !ok {
			return broken(entry, action, "its parenthesis is not closed")
		}
		inside = strings.TrimSpace(inside)
	}
	if mcpname.Is(name) {
		if inside != "" {
			return broken(entry, action, "rules on MCP tools have no pattern")
		}
		return []Rule{{Tool: mcpname.Pattern(name), Action: action}}, nil
	}
	tool, known := foreignTools[strings.ToLower(name)]
	switch {
	case !known && (name == "*" || name == ""):
		return broken(entry, action, "it names no tool")
	case !known && inside == "" && !strings.Contains(name, "*"):
		return []Rule{{Tool: name, Action: action}}, nil
	case !known:
		return broken(entry, action, "its tool is not known here")
	case inside == "" || inside == "*" || inside == ":*" || inside == "**":
		return []Rule{{Tool: tool, Action: action}}, nil
	}
	switch tool {
	case "bash":
		if command, ok := strings.CutSuffix(inside, ":*"); ok {
			return words(entry, strings.TrimSpace(command), true, action)
		}
		return words(entry, inside, false, action)
	case "webfetch":
		host, ok := strings.CutPrefix(inside, "domain:")
		if !ok || strings.ContainsAny(host, "/ ") {
			return broken(entry, action, "only domains can be named")
		}
		rules = []Rule{{tool, host, action}}
		if action != Allow && !strings.HasPrefix(host, "*") {
			rules = append(rules, Rule{tool, "*." + host, action})
		}
		return rules, nil
	case "read", "edit", "write", "patch", "notebook_edit", "remember", "glob", "grep", "list":
		return ignoreGlob(entry, tool, inside, action)
	case "task", "skill":
		if command, ok := strings.CutSuffix(inside, ":*"); ok {
			inside = command + "*"
		}
		return []Rule{{tool, inside, action}}, nil
	}
	return broken(entry, action, "rules on this tool have no pattern")
}

// broken reports a rule that cannot be translated. A rule that allows is left out; any other rule is made to hold for
// more calls than were meant.
func broken(entry string, action Action, why string) ([]Rule, []string) {
	entry = Visible(entry)
	if action == Allow {
		return nil, []string{fmt.Sprintf("%s allows nothing here: %s", entry, why)}
	}
	name, _, _ := strings.Cut(entry, "(")
	name = strings.TrimSpace(name)
	if tool, ok := foreignTools[strings.ToLower(name)]; ok {
		name = tool
	} else if name == "" {
		name = "*"
	}
	return []Rule{{Tool: name, Action: action}}, []string{fmt.Sprintf("%s is taken as %s for every call of %s: %s",
		entry, action, name, why)}
}

// words translates a command's pattern, in which * is any text. prefix says that the pattern matches whatever follows,
// too.
func words(entry, text string, prefix bool, action Action) (rules []Rule, warnings []string) {
	stem := false // the last word is only the begin of a word
	for strings.HasSuffix(text, "*") {
		text = strings.TrimSuffix(text, "*")
		stem = !strings.HasSuffix(text, " ")
		prefix = true
	}
	if text = strings.TrimSpace(text); text == "" {
		return []Rule{{Tool: "bash", Action: action}}, nil
	}
	if strings.ContainsAny(text, "*") {
		if action != Allow {
			// * may stand for several words there, so that the rest cannot be matched.
			kept, _, _ := strings.Cut(text, "*")
			if i := strings.LastIndexByte(kept, ' '); i >= 0 {
				return []Rule{{"bash", strings.TrimSpace(kept[:i]) + "*", action}}, []string{
					fmt.Sprintf("%s is taken as %s for whatever begins with %q: a * inside is one word here",
						Visible(entry), action, Visible(kept[:i])),
				}
			}
			return broken("bash", action, "a * inside a pattern is one word here, and "+Visible(entry)+" means several")
		}
		warnings = append(warnings, fmt.Sprintf("%s allows less here: a * inside is one word", Visible(entry)))
	}
	pattern := text
	switch {
	case prefix && stem && action != Allow:
		pattern += "**"
	case prefix:
		pattern += "*"
	}
	r := Rule{"bash", pattern, action}
	if err := r.Check(); err != nil {
		_, wrong := broken(entry, action, err.Error())
		if action == Allow {
			return nil, wrong
		}
		return []Rule{{Tool: "bash", Action: action}}, wrong
	}
	return []Rule{r}, warnings
}

// ignoreGlob translates a pattern of gitignore's kind.
func ignoreGlob(entry, tool, text string, action Action) ([]Rule, []string) {
	if strings.HasPrefix(text, "!") {
		return broken(entry, action, "it excludes")
	}
	directory := strings.HasSuffix(text, "/")
	text = strings.TrimRight(text, "/")
	switch {
	case text == "" || text == ".":
		return []Rule{{tool, "**", action}}, nil
	case strings.HasPrefix(text, "//"):
		text = text[1:] // from the root of the file system
	case strings.HasPrefix(text, "~/"):
	case strings.HasPrefix(text, "/"):
		text = text[1:] // from the root of the project
	case strings.HasPrefix(text, "./"):
		text = path.Clean(text)
	case !strings.Contains(text, "/") && !directory:
		text = "**/" + text
	case !strings.Contains(text, "/"):
		text = "**/" + text
	}
	if strings.HasPrefix(text, "../") || text == ".." {
		return broken(entry, action, "it leads out of the project")
	}
	var rules []Rule
	if !directory {
		rules = append(rules, Rule{tool, text, action})
	}
	if directory || action != Allow && !strings.HasSuffix(text, "/**") {
		rules = append(rules, Rule{tool, text + "/**", action}) // a pattern that matches a folder matches what is in it
	}
	for _, r := range rules {
		if err := r.Check(); err != nil {
			return broken(entry, action, err.Error())
		}
	}
	return rules, nil
}

// FromOpenCode reads a rule as opencode's `permission` has it: a tool, a pattern in which * is any text (`*` where
// there is none), and an action. The rules never allow more than was written; where they allow less, a warning says so.
// In agentls, a deny wins over all rules behind it; in opencode it does not. The caller has to say so.
func FromOpenCode(name, pattern string, action Action) (rules []Rule, warnings []string) {
	entry := fmt.Sprintf("%s %q", name, pattern)
	tool, known := foreignTools[strings.ToLower(name)]
	if !known {
		switch {
		case name == "*":
			tool = "*"
		case name == "doom_loop" || name == "external_directory":
			return nil, []string{
				fmt.Sprintf("%s has no counterpart: agentls asks or denies outside the workspace by itself", name),
			}
		case pattern == "*" || pattern == "":
			return []Rule{{name, pattern, action}}, nil
		default:
			if action == Allow {
				return nil, []string{Visible(entry) + " allows nothing here: its tool is not known"}
			}
			return []Rule{{Tool: name, Action: action}}, []string{
				fmt.Sprintf("%s is taken as %s for every call: its tool is not known here", Visible(entry), action),
			}
		}
	}
	if pattern == "*" || pattern == "" || pattern == "**" {
		return []Rule{{tool, pattern, action}}, nil
	}
	switch tool {
	case "bash":
		return words(entry, pattern, false, action)
	case "read", "edit", "write", "patch", "remember", "glob", "grep", "list":
		glob := strings.TrimPrefix(pattern, "./")
		if action != Allow && strings.Contains(glob, "*") {
			glob = strings.ReplaceAll(glob, "**", "*")
			glob = strings.ReplaceAll(glob, "*", "{*,**/*,*/**/*}") // there, * crosses folders
			glob = strings.ReplaceAll(glob, "/{*,**/*,*/**/*}", "/{*,**/*}")
		}
		r := Rule{tool, glob, action}
		if err := r.Check(); err != nil {
			return broken(name, action, Visible(entry)+": "+err.Error())
		}
		if action == Allow && strings.Contains(strings.ReplaceAll(glob, "**", ""), "*") {
			warnings = []string{Visible(entry) + " allows less here: a * does not cross folders"}
		}
		return []Rule{r}, warnings
	case "*":
		return broken("*", action, Visible(entry)+" has a pattern for tools of every kind")
	}
	return []Rule{{tool, pattern, action}}, nil
}
