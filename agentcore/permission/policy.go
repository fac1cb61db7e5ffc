package permission

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/event"
)

// Effect is what a call does, which decides where no rule does. Values: Internal, Read, Propose, Execute, Network, External; anything else counts as External.
type Effect string

const (
	// Internal calls act on the run alone, such as those of `todo` and `task`: allowed.
	Internal Effect = "internal"
	// Read calls read files: allowed inside the workspace.
	Read Effect = "read"
	// Propose calls propose edits, which change nothing by themselves: allowed inside the workspace.
	Propose Effect = "propose"
	// Execute calls run a command: allowed in a full sandbox.
	Execute Effect = "execute"
	// Network calls reach hosts: asked for.
	Network Effect = "network"
	// External calls act where agentls does not see it, such as those of MCP servers: asked for.
	External Effect = "external"
)

// Level is how well a command is kept apart from the machine. Values: None, Partial, Full; only Full spares asking.
type Level string

const (
	// None runs the command as the user would.
	None Level = "none"
	// Partial keeps the command's changes away from the workspace, and no more.
	Partial Level = "partial"
	// Full keeps the command from all but a copy-on-write view of the workspace.
	Full Level = "full"
)

// Path is a file that a call touches. A file reached through a symbolic link is two paths: the one that was named and the one that it
// leads to.
type Path struct {
	// Name is an absolute, clean path in the machine's notation.
	Name string
	// Write says that the file is to be changed, not read.
	Write bool
	// Linked says that the file has further hard links (nlink > 1), so that a change is seen elsewhere.
	Linked bool
	// Protected is why the disk says that the file acts by itself ([ProtectedBelow]), or "".
	Protected string
}

// Request is a call to decide on. What it does not name is not decided on.
type Request struct {
	// Tool by its canonical name.
	Tool string
	// Effect of the call.
	Effect Effect
	// Call is what rules match where the call is neither command, file nor host: a subagent's type, a skill's name.
	Call string
	// Command line, of `bash` alone.
	Command string
	// Dir is where the command runs: an absolute path in the machine's notation.
	Dir string
	// Paths that the call touches, all of them.
	Paths []Path
	// Hosts that the call reaches, as host or host:port. Those of a command are decided on as `webfetch` ones.
	Hosts []string
	// Sandbox that the command would run in.
	Sandbox Level
}

// Scope is how long a grant holds. Values: Once, Run, Session, Project.
type Scope string

const (
	// Once is for one call, and never found again.
	Once Scope = "once"
	// Run is for a run and the runs below it.
	Run Scope = "run"
	// Session is for all runs of a session.
	Session Scope = "session"
	// Project is for a workspace folder, in all sessions.
	Project Scope = "project"
)

// Grant is what a user once answered to an ask, for calls like it.
type Grant struct {
	ID    event.GrantID
	Scope Scope
	// Tool and Pattern say which calls, as in a [Rule].
	Tool, Pattern string
	// Decision is Allow or Deny; anything else counts as Deny.
	Decision Action
	// Session, Run or Root, an absolute path, binds a grant of the scope Session, Run or Project.
	Session event.SessionID
	Run     event.RunID
	Root    string
	Created time.Time
	// Expires is zero for a grant that does not expire, Revoked for one that was not taken back.
	Expires, Revoked time.Time
}

// Active reports whether a grant holds at a time.
func (g Grant) Active(now time.Time) bool {
	return g.Revoked.IsZero() && (g.Expires.IsZero() || now.Before(g.Expires))
}

// Setup is what the policy of a run is made of.
type Setup struct {
	// Layers, the weakest first.
	Layers []Layer
	Mode   Mode
	// Session and Run find the grants that hold.
	Session event.SessionID
	Run     event.RunID
	// Roots are the workspace folders, as absolute clean paths in the machine's notation.
	Roots []string
	// Home stands for ~ in path patterns; empty where there is none.
	Home string
}

// Policy is what a run may do. It is immutable and may be used from any goroutine.
type Policy struct {
	chain   []level // of the root run first
	session event.SessionID
	runs    []event.RunID
	roots   []string
	home    string
}

// level is one run's own part of a policy.
type level struct {
	run   event.RunID
	mode  Mode
	rules []compiled
}

// New returns the policy of a root run. A rule with an error (see [Rule.Check]) never allows.
func New(s Setup) *Policy {
	p := &Policy{session: s.Session, roots: slices.Clone(s.Roots), home: s.Home}
	return p.add(s.Run, s.Mode, s.Layers)
}

// Child returns the policy of a run that this one starts: session, folders and grants are the same, and no decision
// lets through more than this policy's, but for what the user granted to the child itself.
func (p *Policy) Child(run event.RunID, mode Mode, layers []Layer) *Policy {
	child := *p
	child.chain, child.runs = slices.Clone(p.chain), slices.Clone(p.runs)
	return child.add(run, mode, layers)
}

func (p *Policy) add(run event.RunID, mode Mode, layers []Layer) *Policy {
	l := level{run: run, mode: mode}
	for _, layer := range layers {
		for _, r := range layer.Rules {
			l.rules = append(l.rules, compile(r, layer.Name, layer.Narrow, p.home))
		}
	}
	p.chain, p.runs = append(p.chain, l), append(p.runs, run)
	return p
}

// Mode is the least asking mode that the run has with all of its parents. The engine applies edits without review only
// where it is AcceptEdits or Bypass and [Policy.Decide] allows them.
func (p *Policy) Mode() Mode {
	order := []Mode{Plan, Default, AcceptEdits, Bypass}
	least := Bypass
	for _, l := range p.chain {
		mode := l.mode
		if !slices.Contains(order, mode) {
			mode = Default
		}
		if slices.Index(order, mode) < slices.Index(order, least) {
			least = mode
		}
	}
	return least
}

// Part is the decision on one simple command, file or host of a call.
type Part struct {
	// What is decided on, in one line and with hidden characters visible.
	What   string
	Action Action
	// Rule that decides; nil for the default. Layer is its layer's name, or the grant's id.
	Rule   *Rule
	Layer  string
	Reason string
}

// Decision is what becomes of a call: the least that any of its parts lets through.
type Decision struct {
	Action Action
	// Rule that decides, and its layer; nil where the default does.
	Rule  *Rule
	Layer string
	// Reason is for people.
	Reason string
	// Advice tells the model what it may do instead, where the call is denied or asked for.
	Advice string
	// Always are the rules that an "always" would allow, one for each part that asks. It is empty where nothing
	// short of the very call can be named: then the answer holds once.
	Always []Rule
	Parts  []Part
}

// Step is one thing that was looked at for a decision.
type Step struct {
	// What part of the call it is about.
	What string
	// Run whose level of the chain it is about.
	Run event.RunID
	// Layer and Rule that matched; a nil rule is the default.
	Layer string
	Rule  *Rule
	// Action that stands behind this step.
	Action Action
	Note   string
}

// Explanation is a decision with all that led to it, in order.
type Explanation struct {
	Decision
	Trail []Step
}

// Decide decides on a call. grants are all that may hold; those that have expired, were taken back or belong to others
// are not looked at.
func (p *Policy) Decide(r Request, grants []Grant) Decision {
	return p.decide(r, grants, func(Step) {})
}

// Explain decides as Decide does, and tells the way.
func (p *Policy) Explain(r Request, grants []Grant) Explanation {
	var e Explanation
	e.Decision = p.decide(r, grants, func(s Step) { e.Trail = append(e.Trail, s) })
	return e
}

// item is one part of a call while it is decided on.
type item struct {
	what    string
	tool    string
	effect  Effect
	file    *location
	host    string
	call    string
	command *simple
	full    bool       // part of a command in a full sandbox
	shell   bool       // the shell itself opens the file
	guard   string     // why it asks by name, whatever the rules say
	always  []Rule     // that an "always" would allow
	args    []location // what the command's words could name
	secret  bool
}

// location is a file, seen from the roots.
type location struct {
	abs, root, rel string // slash paths; root is "" outside, and rel then empty
	write          bool
}

func (p *Policy) locate(name string) location {
	name = filepath.ToSlash(name)
	l := location{abs: path.Clean(name)}
	for _, root := range p.roots {
		root = strings.TrimSuffix(filepath.ToSlash(root), "/")
		rel, ok := strings.CutPrefix(l.abs, root+"/")
		if l.abs == root || root == "" && l.abs == "/" {
			rel, ok = ".", true
		}
		if ok && len(root) >= len(l.root) {
			l.root, l.rel = root, rel
			if root == "" {
				l.root = "/"
			}
		}
	}
	return l
}

// show is how people call a file.
func (l location) show() string {
	if l.root == "" {
		return Visible(l.abs)
	}
	return Visible(l.rel)
}

func (p *Policy) items(r Request) []item {
	var list []item
	if r.Tool == "bash" {
		list = append(list, p.commandItems(r)...)
	}
	for _, f := range r.Paths {
		list = append(list, p.fileItem(r.Tool, f, false))
	}
	for _, h := range r.Hosts {
		tool := r.Tool
		if tool == "bash" {
			tool = "webfetch"
		}
		list = append(list, item{what: Visible(h), tool: tool, effect: Network, host: h, always: []Rule{{tool, h, Allow}}})
	}
	if len(list) == 0 {
		what := r.Tool
		always := []Rule{{Tool: r.Tool, Action: Allow}}
		if r.Call != "" {
			what += " " + r.Call
			always[0].Pattern = r.Call
			if strings.Contains(r.Call, "*") {
				always = nil
			}
		}
		list = append(list, item{what: Visible(what), tool: r.Tool, effect: r.Effect, call: r.Call, always: always})
	}
	return list
}

// fileItem is the part of a call that touches a file. real says that a command changes it, not a proposal.
func (p *Policy) fileItem(tool string, f Path, real bool) item {
	l := p.locate(f.Name)
	l.write = f.Write
	it := item{what: "read " + l.show(), tool: tool, effect: Read, file: &l}
	named := l.rel
	if l.root == "" {
		named = l.abs
	}
	it.secret = !f.Write && Secret(named)
	if f.Write {
		it.what, it.effect = "change "+l.show(), Propose
		if real {
			it.what, it.effect = "write "+l.show(), Execute
		}
		if why, ok := Protected(named); ok {
			it.guard = "is protected: " + why
		} else if f.Protected != "" {
			it.guard = "is protected: " + f.Protected
		} else if f.Linked {
			it.guard = "has further hard links: the change is seen elsewhere, too"
		}
	}
	if !strings.ContainsAny(named, `*?[]{}\`) {
		it.always = []Rule{{tool, named, Allow}}
	}
	return it
}

// fallback is what stands where no rule matches.
func (it *item) fallback() (Action, string) {
	switch it.effect {
	case Internal:
		return Allow, "by default, since it acts on the run alone"
	case Read:
		switch {
		case it.full:
			return Allow, "by default, in the sandbox"
		case it.secret:
			return Deny, "by default, since it looks like a file that holds keys or passwords"
		case it.file != nil && it.file.root == "":
			return Ask, "by default, since it lies outside the workspace"
		}
		return Allow, "by default, since it reads inside the workspace"
	case Propose:
		if it.file != nil && it.file.root == "" {
			return Deny, "by default, since it lies outside the workspace"
		}
		return Allow, "by default, since a proposal changes nothing until it is accepted"
	case Execute:
		if it.full {
			return Allow, "by default, in the sandbox"
		}
		if it.file != nil {
			return Ask, "by default, since outside of a sandbox a redirection writes the file itself"
		}
		return Ask, "by default, since it runs outside of a full sandbox"
	case Network:
		return Ask, "by default, since it reaches the network"
	}
	return Ask, "by default, since agentls does not see what it does"
}

// verdict is the decision of one level on one item.
type verdict struct {
	action Action
	rule   *compiled
	note   string
}

func (p *Policy) decide(r Request, grants []Grant, tell func(Step)) Decision {
	d := Decision{Action: Allow}
	deciding := -1
	var asking []item
	items := p.items(r)
	for _, it := range items {
		part := p.part(&it, grants, tell)
		if deciding < 0 || part.Action.rank() < d.Parts[deciding].Action.rank() {
			deciding = len(d.Parts)
		}
		if part.Action == Ask {
			asking = append(asking, it)
		}
		d.Parts = append(d.Parts, part)
	}
	decided := d.Parts[deciding]
	d.Action, d.Rule, d.Layer = decided.Action, decided.Rule, decided.Layer
	d.Reason = fmt.Sprintf("%s: %s, %s", decided.What, said(d.Action), decided.Reason)
	switch d.Action {
	case Ask:
		for _, it := range asking {
			if len(it.always) == 0 {
				d.Always = nil
				break
			}
			for _, rule := range it.always {
				if !slices.Contains(d.Always, rule) {
					d.Always = append(d.Always, rule)
				}
			}
		}
		d.Advice = advice(asking[0])
	case Deny:
		d.Advice = advice(items[deciding])
	}
	return d
}

func said(a Action) string {
	switch a {
	case Allow:
		return "allowed"
	case Ask:
		return "asked for"
	}
	return "denied"
}

// part decides on one part: a deny of any level wins; then a grant; then the least of all levels.
func (p *Policy) part(it *item, grants []Grant, tell func(Step)) Part {
	part := Part{What: it.what, Action: Allow}
	first := true
	for i := range p.chain {
		l := &p.chain[i]
		v := l.judge(it, tell)
		if first || v.action.rank() < part.Action.rank() {
			first = false
			part.Action, part.Reason, part.Rule, part.Layer = v.action, v.note, nil, ""
			if v.rule != nil {
				rule := v.rule.Rule
				part.Rule, part.Layer = &rule, v.rule.layer
			}
		}
	}
	if part.Action == Deny || it.effect == Internal && part.Action == Allow {
		return part
	}
	g := p.granted(it, grants)
	if g == nil {
		return part
	}
	rule := Rule{Tool: g.Tool, Pattern: g.Pattern, Action: g.Decision}
	if rule.Action != Allow {
		rule.Action = Deny
	}
	part.Action, part.Rule, part.Layer = rule.Action, &rule, "grant "+string(g.ID)
	part.Reason = fmt.Sprintf("since the user said so on %s (%s)", g.Created.Format(time.DateTime), g.Scope)
	tell(Step{What: it.what, Run: g.Run, Layer: part.Layer, Rule: part.Rule, Action: part.Action, Note: part.Reason})
	return part
}

// granted is the grant that decides on a part: one that denies, else the last that was given.
func (p *Policy) granted(it *item, grants []Grant) *Grant {
	now := time.Now()
	var found *Grant
	for i := range grants {
		g := &grants[i]
		if !g.Active(now) || !p.owns(g, it) {
			continue
		}
		action := g.Decision
		if action != Allow {
			action = Deny
		}
		c := compile(Rule{Tool: g.Tool, Pattern: g.Pattern, Action: action}, "", false, p.home)
		if !c.matchesTool(it.tool) || !c.matches(it) {
			continue
		}
		if action == Allow && it.guard != "" && (c.glob == "" || c.glob != it.guarded()) {
			continue
		}
		if found == nil || (found.Decision == Allow) == (action == Allow) && !g.Created.Before(found.Created) || found.Decision == Allow && action == Deny {
			found = g
		}
	}
	return found
}

// guarded is the name that a grant for a protected file must have.
func (it *item) guarded() string {
	if it.file.root == "" {
		return it.file.abs
	}
	return it.file.rel
}

// owns reports whether a grant is for this policy's run.
func (p *Policy) owns(g *Grant, it *item) bool {
	switch g.Scope {
	case Run:
		return slices.Contains(p.runs, g.Run)
	case Session:
		return g.Session == p.session
	case Project:
		if it.file != nil && it.file.root != "" {
			return filepath.ToSlash(g.Root) == it.file.root
		}
		return slices.Contains(p.roots, g.Root)
	}
	return false
}

// matches reports whether a rule, of this tool already, speaks for a part.
func (c *compiled) matches(it *item) bool {
	switch {
	case it.command != nil:
		return c.matchesCommand(it.command)
	case it.file != nil:
		return c.matchesPath(*it.file)
	case it.host != "":
		return c.matchesHost(it.host)
	}
	return c.matchesCall(it.call)
}

// matchesCommand: what allows must know every word; what does not reaches further.
func (c *compiled) matchesCommand(s *simple) bool {
	switch {
	case c.all || c.broken != nil:
		return c.all || c.Action != Allow
	case len(c.words.words) == 0:
		return false
	case c.Action != Allow:
		return c.reaches(s, c.Action == Ask)
	case s.unsure != "":
		return false
	case s.risk != "":
		return c.words.exact() && c.words.match(s.args)
	}
	return c.words.match(s.args)
}

// reaches reports whether a rule that does not allow speaks for a command or what starts it.
func (c *compiled) reaches(s *simple, loose bool) bool {
	return c.words.reach(s.args, loose) || slices.ContainsFunc(s.outer, func(args []word) bool { return c.words.reach(args, loose) })
}

// judge is one level's decision on a part.
func (l *level) judge(it *item, tell func(Step)) verdict {
	v := verdict{}
	v.action, v.note = it.fallback()
	step := func(rule *compiled, note string) {
		s := Step{What: it.what, Run: l.run, Layer: "default", Action: v.action, Note: note}
		if rule != nil {
			copied := rule.Rule
			s.Layer, s.Rule = rule.layer, &copied
		}
		tell(s)
	}
	step(nil, v.note)
	var denied *compiled
	mightDeny, mightAsk := false, false
	for i := range l.rules {
		c := &l.rules[i]
		if !c.matchesTool(it.tool) && !(it.shell && c.all && c.matchesTool("bash")) {
			if it.command != nil && c.Action == Deny && !c.all && c.matchesTool("read") && slices.ContainsFunc(it.args, c.matchesPath) {
				denied = c
			}
			continue
		}
		if it.command != nil && it.command.unsure != "" && !c.all {
			switch c.Action {
			case Allow:
			case Ask:
				mightAsk = true
			default:
				mightDeny = true
			}
		}
		if !c.matches(it) {
			if it.command != nil && c.Action == Deny && len(c.words.words) > 0 && c.reaches(it.command, true) {
				mightDeny = true
			}
			continue
		}
		switch {
		case c.Action.rank() == Deny.rank():
			denied = c
		case it.full && c.Action == Ask:
			step(c, "does not bind in a full sandbox")
			continue
		case c.narrow && c.Action.rank() >= v.action.rank():
			step(c, "is not used, since its layer can only take away")
			continue
		case it.shell && it.file.write && c.Action == Allow && c.all && !c.matchesTool("bash"):
			step(c, "does not name the file, which would be written without a proposal")
			continue
		case it.secret && c.Action != Deny && !c.namesSecret():
			step(c, "does not name the file, which looks like one that holds keys or passwords")
			continue
		}
		if c.Action == Allow && c.all {
			mightAsk = false
		}
		v.action, v.rule, v.note = c.Action, c, fmt.Sprintf("by %s (%s)", c.Text(), c.layer)
		step(c, "matches")
	}
	if denied != nil {
		v.action, v.rule, v.note = Deny, denied, fmt.Sprintf("by %s (%s)", denied.Text(), denied.layer)
		step(denied, "a deny wins over all others")
		return v
	}
	if s := it.command; s != nil && v.action == Allow && (mightDeny || mightAsk && !it.full) {
		v.action, v.rule, v.note = Ask, nil, "since "+cmp.Or(s.unsure, "it holds a wildcard")+", so that it could be a command that a rule keeps from running"
		step(nil, v.note)
	} else if s != nil && v.action == Ask && v.rule == nil {
		switch {
		case s.unsure != "":
			v.note = "since " + s.unsure
		case s.risk != "":
			v.note = "since " + s.risk
		}
	}
	l.applyMode(it, &v, step)
	if it.guard != "" && v.action == Allow {
		v.action, v.rule, v.note = Ask, nil, "since it "+it.guard
		step(nil, v.note)
	}
	return v
}

func (l *level) applyMode(it *item, v *verdict, step func(*compiled, string)) {
	before := v.action
	switch l.mode {
	case Plan:
		switch {
		case it.effect == Propose:
			v.action, v.note = Deny, "in plan mode, where nothing is edited"
		case it.effect == Execute && v.action == Allow && v.rule == nil:
			v.action, v.note = Ask, "in plan mode, where only commands that a rule allows run without a question"
		}
	case AcceptEdits:
		if it.effect == Propose && v.action == Ask {
			v.action, v.note = Allow, "in the mode accept_edits"
		}
	case Bypass:
		if v.action == Ask {
			v.action, v.note = Allow, "in the mode bypass"
		}
	}
	if v.action != before {
		v.rule = nil
		step(nil, v.note)
	}
}

// namesSecret reports whether a rule speaks of secret-looking files on purpose.
func (c *compiled) namesSecret() bool {
	return !c.all && c.glob != "" && Secret(c.glob)
}

func advice(it item) string {
	switch {
	case it.guard != "":
		return "leave this file as it is, and tell the user what to change there"
	case it.secret:
		return "do not read it; ask the user for what you need to know of it"
	case it.effect == Network:
		return "work with what is in the workspace, or ask the user for what you need from there"
	case it.command != nil && it.command.unsure != "":
		return "write the command with plain words only, one simple command a call, without variables, substitutions or wildcards"
	case it.effect == Execute && it.file != nil:
		return "let the command print its output, and write files with the edit tools"
	case it.effect == Execute:
		return "use the file tools instead, or go on without it and say what the user should run"
	case it.effect == Propose:
		return "describe the change instead of making it"
	case it.effect == Read:
		return "go on without it, or ask the user for what you need to know of it"
	}
	return "go on without it, and say so in your answer"
}
