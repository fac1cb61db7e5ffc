package permission

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/agentls/agentls/agentcore/glob"
	"github.com/agentls/agentls/agentcore/spelling"
)

// Action is what a rule decides. Values: Allow, Ask, Deny. Anything else counts as Deny.
type Action string

const (
	// Allow lets a matching call through.
	Allow Action = "allow"
	// Ask asks the user about a matching call.
	Ask Action = "ask"
	// Deny refuses a matching call, whatever the other rules say.
	Deny Action = "deny"
)

// rank orders actions: the smaller lets less through.
func (a Action) rank() int {
	switch a {
	case Allow:
		return 2
	case Ask:
		return 1
	}
	return 0
}

// Min is the action that lets less through.
func Min(a, b Action) Action {
	if b.rank() < a.rank() {
		return b
	}
	return a
}

// Rule decides on the calls of a tool that its pattern matches.
type Rule struct {
	// Tool that the rule is about, by its canonical name; * stands for any part of a name. `edit` speaks for all
	// tools that change files, and `read` for all that read them.
	Tool string `json:"tool"`
	// Which calls: the words of a command for bash, a path glob from the workspace root for file tools, a host for
	// the network. Empty, or *: every call.
	Pattern string `json:"pattern,omitempty"`
	// What the rule decides.
	Action Action `json:"action"`
}

// Text is the rule as people write it: `deny bash(git push*)`.
func (r Rule) Text() string { return string(r.Action) + " " + r.Calls() }

// Calls names the calls that the rule is about, as people write them: `bash(git push*)`.
func (r Rule) Calls() string {
	if r.Pattern == "" {
		return Visible(r.Tool)
	}
	return Visible(fmt.Sprintf("%s(%s)", r.Tool, r.Pattern))
}

// Check returns what is wrong with a rule, for whoever wrote it. A rule with an error allows nothing; one that denies
// or asks is taken to match every call of its tool.
func (r Rule) Check() error {
	if r.Tool == "" {
		return fmt.Errorf("the rule names no tool: write one, or * for all")
	}
	if actions := []string{string(Allow), string(Ask), string(Deny)}; !slices.Contains(actions, string(r.Action)) {
		return fmt.Errorf("the rule's action is %q: write allow, ask or deny%s", r.Action,
			didYouMean(string(r.Action), actions))
	}
	return compile(r, "", false, "").broken
}

func didYouMean(word string, known []string) string {
	if near := spelling.Nearest(word, known); near != "" {
		return fmt.Sprintf(" (did you mean %s?)", near)
	}
	return ""
}

// Layer is a list of rules with one origin. Of all matching rules in all layers the last decides, but a deny anywhere
// wins.
type Layer struct {
	// Name is for people: "agent coder", "user config".
	Name string `json:"name"`
	// Rules in the order in which they were written.
	Rules []Rule `json:"rules"`
	// Root is the workspace folder whose configuration has the rules: path patterns that are not absolute are meant
	// below it, and nowhere else. Empty means below each folder.
	Root string `json:"root,omitempty"`
	// Narrow layers only take away: their rules count where they let less through than the layers before. So are
	// those that come from a project.
	Narrow bool `json:"narrow,omitempty"`
	// BuiltIn layers are the named sets ([Set]). They say what an agent does by its own tools, and do not bind the
	// fixes of its findings.
	BuiltIn bool `json:"builtIn,omitempty"`
}

// Mode is how much a run asks. Values: Default, Plan, AcceptEdits, Bypass; anything else counts as Default. No mode
// lifts a deny.
type Mode string

const (
	// Default asks where a rule or the default says so.
	Default Mode = "default"
	// Plan denies every edit, and asks for each command that no rule allows.
	Plan Mode = "plan"
	// AcceptEdits asks for edits of protected files, and not for other edits.
	AcceptEdits Mode = "accept_edits"
	// Bypass asks for nothing but edits of protected files.
	Bypass Mode = "bypass"
)

// editing and reading are the tools that rules for `edit` and `read` speak for. A rule that kept only one of them away
// from a file would keep nothing away.
var (
	editing = []string{"edit", "write", "patch", "notebook_edit", "remember"}
	reading = []string{"read", "glob", "grep", "list", "symbols", "diagnostics", "report_finding"}
)

// Researcher is the name of the set for agents that are there to read the web.
const Researcher = "researcher"

// Set returns the rules of a named set, which a definition's `permissions` names: primary, planner, explorer or
// researcher. ok is false for any other name.
func Set(name string) (l Layer, ok bool) {
	l = Layer{Name: "built-in " + name, BuiltIn: true}
	deny := func(tools ...string) {
		for _, t := range tools {
			l.Rules = append(l.Rules, Rule{Tool: t, Action: Deny})
		}
	}
	switch name {
	case "primary":
	case "planner":
		deny("edit", "bash")
	case "explorer":
		deny("edit", "bash", "webfetch", "websearch")
	case Researcher:
		deny("edit", "bash")
	default:
		return Layer{}, false
	}
	return l, true
}

// compiled is a rule that is ready to be matched.
type compiled struct {
	Rule
	layer  string
	narrow bool
	root   string // the slash path of the folder that path patterns are meant below; "" for each
	set    bool   // of a built-in set
	broken error
	all    bool
	words  wordPattern
	glob   string // cleaned; "" where the pattern can be none
	folded string // the same in lower case
}

func compile(r Rule, layer string, narrow bool, home string) compiled {
	c := compiled{Rule: r, layer: layer, narrow: narrow}
	switch pattern := strings.TrimSpace(r.Pattern); {
	case pattern == "" || pattern == "*" || pattern == "**":
		c.all = true
	default:
		c.words, c.broken = parsePattern(pattern)
		clean := cleanGlob(pattern, home)
		if c.matchesTool("bash") && c.broken == nil && !glob.Valid(clean) {
			return c // words need not be a glob
		}
		if c.broken != nil && !c.matchesTool("bash") {
			c.broken = nil // nor the other way round
		}
		if glob.Valid(clean) {
			c.glob, c.folded = clean, strings.ToLower(clean)
		} else {
			c.broken = fmt.Errorf("%q is no glob: look for a bracket or brace that is not closed, or for too many "+
				"braces", r.Pattern)
		}
	}
	return c
}

// cleanGlob brings a path pattern to the form that paths have: from the root, without ./, or absolute.
func cleanGlob(pattern, home string) string {
	if rest, ok := strings.CutPrefix(pattern, "~/"); ok && home != "" {
		pattern = strings.TrimSuffix(home, "/") + "/" + rest
	}
	for strings.HasPrefix(pattern, "./") {
		pattern = strings.TrimLeft(pattern[2:], "/")
	}
	if strings.HasSuffix(pattern, "/") {
		pattern += "**"
	}
	return pattern
}

// matchesTool reports whether the rule speaks for a tool.
func (c *compiled) matchesTool(tool string) bool {
	return EditsAs(c.Tool, tool) || c.Tool == "read" && slices.Contains(reading, tool) || wildcard(c.Tool, tool)
}

// EditsAs reports whether a name is `edit`, which speaks for all tools that change files, and the tool is one of these.
func EditsAs(name, tool string) bool { return name == "edit" && slices.Contains(editing, tool) }

// matchesPath reports whether the rule speaks for a file. What does not allow matches in any letter case, since a file
// system may not tell the cases apart.
func (c *compiled) matchesPath(p location) bool {
	if c.all || c.broken != nil {
		return c.all || c.Action != Allow
	}
	if c.glob == "" {
		return false
	}
	name := p.rel
	switch absolute := strings.HasPrefix(c.glob, "/"); {
	case absolute || c.root == "" && p.root == "":
		name = p.abs
	case c.root != "":
		below, ok := strings.CutPrefix(p.abs, strings.TrimSuffix(c.root, "/")+"/")
		if !ok && p.abs != c.root {
			return false
		}
		if name = below; !ok {
			name = "."
		}
	}
	if doublestar.MatchUnvalidated(c.glob, name) {
		return true
	}
	if c.Action == Allow {
		return false
	}
	// A rule on what is in a folder is one on the folder: it must not be replaced.
	folded := strings.ToLower(name)
	return doublestar.MatchUnvalidated(c.folded, folded) || doublestar.MatchUnvalidated(c.folded, FoldPath(name))
}

// matchesHost reports whether the rule speaks for a host, with or without a port. `*.example.org` is every name below
// example.org.
func (c *compiled) matchesHost(host string) bool {
	if c.all || c.broken != nil && c.Action != Allow {
		return true
	}
	if c.broken != nil {
		return false
	}
	pattern, host := strings.TrimPrefix(strings.ToLower(c.Pattern), "domain:"),
		strings.TrimSuffix(strings.ToLower(host), ".")
	name, port := splitPort(host)
	wanted, wantedPort := splitPort(pattern)
	if wantedPort != "" && wantedPort != port {
		return false
	}
	return wildcard(wanted, strings.TrimSuffix(name, "."))
}

func splitPort(host string) (name, port string) {
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") &&
		strings.Count(host[:i], ":") == strings.Count(host[:strings.LastIndexByte(host, ']')+1], ":") {
		return host[:i], host[i+1:]
	}
	return host, ""
}

// matchesCall reports whether the rule speaks for a call that is neither command, file nor host, by what it names, such
// as a subagent or a skill.
func (c *compiled) matchesCall(call string) bool {
	if c.all || c.broken != nil && c.Action != Allow {
		return true
	}
	return wildcard(c.Pattern, call)
}

// location is a file, seen from the roots.
type location struct {
	abs, root, rel string // slash paths; root is "" outside, and rel then empty
	write          bool
}
