package permission

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/agentls/agentls/agentcore/event"
)

// Setup describes the policy of a run.
type Setup struct {
	// Layers, the weakest first.
	Layers []Layer
	Mode   Mode
	// Session and Run select the grants that hold.
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

// Child returns the policy of a run that this run starts. Session, folders and grants are the same. No decision allows
// more than this policy's, except by what the user granted to the child itself.
func (p *Policy) Child(run event.RunID, mode Mode, layers []Layer) *Policy {
	child := *p
	child.chain, child.runs = slices.Clone(p.chain), slices.Clone(p.runs)
	return child.add(run, mode, layers)
}

func (p *Policy) add(run event.RunID, mode Mode, layers []Layer) *Policy {
	l := level{run: run, mode: mode}
	for _, layer := range layers {
		for _, r := range layer.Rules {
			c := compile(r, layer.Name, layer.Narrow, p.home)
			c.set = layer.BuiltIn
			if slices.Contains(p.roots, layer.Root) {
				c.root = filepath.ToSlash(layer.Root)
			}
			l.rules = append(l.rules, c)
		}
	}
	p.chain, p.runs = append(p.chain, l), append(p.runs, run)
	return p
}

// Mode is the mode of the run, bounded by those of all runs above it. The engine applies edits without review only
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
	// What is the object of the decision, in one line and with hidden characters visible.
	What   string
	Action Action
	// Rule is the rule that decides; nil for the default. Layer is its layer's name, or the grant's id.
	Rule   *Rule
	Layer  string
	Reason string
}

// Decision is the decision on a call: the strictest of the decisions on its parts.
type Decision struct {
	Action Action
	// Rule is the rule that decides, and Layer its layer; nil where the default decides.
	Rule  *Rule
	Layer string
	// Reason is for people.
	Reason string
	// Advice tells the model what it may do instead, where the call is denied or the user is asked.
	Advice string
	// Always are the rules that an "always" would grant, one for each part that asks. It is empty where no rule
	// describes the call: then the answer holds once.
	Always []Rule
	Parts  []Part
}

// Step is one thing that a decision looked at.
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

// Decide decides on a call. grants are all that may apply; it ignores those that have expired, were taken back or
// belong to others.
func (p *Policy) Decide(r Request, grants []Grant) Decision {
	return p.decide(r, grants, func(Step) {})
}

// ReadsFreely reports that no rule and no grant keeps a tool from any file, or has the user asked about one. Decide
// then lets it read each file of the workspace that does not look like one with secrets (see [Secret]). It takes a
// small part of Decide's time, for callers that ask about many files.
func (p *Policy) ReadsFreely(tool string, grants []Grant) bool {
	for i := range p.chain {
		rules := p.chain[i].rules
		for k := range rules {
			if rules[k].Action != Allow && rules[k].matchesTool(tool) {
				return false
			}
		}
	}
	return !slices.ContainsFunc(grants, func(g Grant) bool { return g.Decision != Allow })
}

// Explain decides as Decide does, and lists the steps.
func (p *Policy) Explain(r Request, grants []Grant) Explanation {
	var e Explanation
	e.Decision = p.decide(r, grants, func(s Step) { e.Trail = append(e.Trail, s) })
	return e
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
	items := p.items(r, grants)
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
		d.Always = p.lasting(asking, d.Always)
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
	part.Reason = fmt.Sprintf("since the user said so on %s (%s%s)", g.Created.Format(time.DateTime),
		g.Scope, g.until())
	tell(Step{What: it.what, Run: g.Run, Layer: part.Layer, Rule: part.Rule, Action: part.Action, Note: part.Reason})
	return part
}

// matches reports whether a rule, whose tool fits already, applies to a part.
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

// matchesCommand is matches for a command: a rule that allows must match every word; other rules reach further.
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

// reaches reports whether a rule that does not allow applies to a command, to what starts it or to what it starts.
func (c *compiled) reaches(s *simple, loose bool) bool {
	reached := func(args []word) bool { return c.words.reach(args, loose) }
	return reached(s.args) || slices.ContainsFunc(s.outer, reached) || slices.ContainsFunc(s.inner, reached)
}

// judgement is the state of one level's decision on a part.
type judgement struct {
	verdict
	run    event.RunID
	it     *item
	tell   func(Step)
	denied *compiled
	kept   *compiled // a rule that denies what a command may start
	// mightDeny and mightAsk say that the command could be one that a rule denies or asks about.
	mightDeny, mightAsk bool
}

func (j *judgement) step(rule *compiled, note string) {
	s := Step{What: j.it.what, Run: j.run, Layer: "default", Action: j.action, Note: note}
	if rule != nil {
		copied := rule.Rule
		s.Layer, s.Rule = rule.layer, &copied
	}
	j.tell(s)
}

// judge is one level's decision on a part.
func (l *level) judge(it *item, tell func(Step)) verdict {
	j := &judgement{run: l.run, it: it, tell: tell}
	j.action, j.note = it.fallback()
	j.step(nil, j.note)
	for i := range l.rules {
		j.weigh(&l.rules[i])
	}
	if j.denied != nil {
		j.action, j.rule, j.note = Deny, j.denied, fmt.Sprintf("by %s (%s)", j.denied.Text(), j.denied.layer)
		j.step(j.denied, "a deny wins over all others")
		return j.verdict
	}
	j.doubt()
	l.applyMode(it, &j.verdict, j.step)
	if it.guard != "" && j.action == Allow {
		j.action, j.rule, j.note = Ask, nil, "since it "+it.guard
		j.step(nil, j.note)
	}
	return j.verdict
}

// weigh takes a rule into account. A later rule replaces the ones before it, but a deny wins over all.
func (j *judgement) weigh(c *compiled) {
	if j.it.fix && c.set {
		return
	}
	if !c.matchesTool(j.it.tool) && !(j.it.shell && c.all && c.matchesTool("bash")) {
		if j.it.command != nil && c.Action == Deny && !c.all && c.matchesTool("read") &&
			slices.ContainsFunc(j.it.args, c.matchesPath) {
			j.denied = c
		}
		return
	}
	if j.it.command != nil && j.it.command.unsure != "" && !c.all {
		switch c.Action {
		case Allow:
		case Ask:
			j.mightAsk = true
		default:
			j.mightDeny = true
		}
	}
	if !c.matches(j.it) {
		if j.it.command != nil && c.Action == Deny && len(c.words.words) > 0 {
			j.mightDeny = j.mightDeny || c.reaches(j.it.command, true)
			if j.kept == nil && (j.it.command.any ||
				slices.ContainsFunc(j.it.command.may, func(args []word) bool { return c.words.reach(args, true) })) {
				j.kept = c
			}
		}
		return
	}
	switch {
	case c.Action.rank() == Deny.rank():
		j.denied = c
	case j.it.full && c.Action == Ask:
		j.step(c, "does not bind in a full sandbox")
		return
	case c.narrow && c.Action.rank() >= j.action.rank():
		j.step(c, "is not used, since its layer can only take away")
		return
	case j.it.shell && j.it.file.write && c.Action == Allow && c.all && !c.matchesTool("bash"):
		j.step(c, "does not name the file, which would be written without a proposal")
		return
	case j.it.secret && c.Action != Deny && !c.namesSecret():
		j.step(c, "does not name the file, which looks like one that holds keys or passwords")
		return
	}
	if c.Action == Allow && c.all {
		j.mightAsk = false
	}
	j.action, j.rule, j.note = c.Action, c, fmt.Sprintf("by %s (%s)", c.Text(), c.layer)
	j.step(c, "matches")
}

// doubt makes the user be asked about a command that is allowed but could be another one, and gives the reason of a
// question.
func (j *judgement) doubt() {
	if s := j.it.command; s != nil && j.action == Allow && j.kept != nil && !j.mightDeny {
		j.action, j.rule, j.note = Ask, nil, fmt.Sprintf("since it may start a command that %s (%s) keeps from running",
			j.kept.Text(), j.kept.layer)
		j.step(nil, j.note)
	} else if s != nil && j.action == Allow && (j.mightDeny || j.mightAsk && !j.it.full) {
		j.action, j.rule, j.note = Ask, nil, "since "+cmp.Or(s.unsure,
			"it holds a wildcard")+", so that it could be a command that a rule keeps from running"
		j.step(nil, j.note)
	} else if s != nil && j.action == Ask && j.rule == nil {
		switch {
		case s.unsure != "":
			j.note = "since " + s.unsure
		case s.risk != "":
			j.note = "since " + s.risk
		}
	}
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

// namesSecret reports whether a rule is about files that look like secrets on purpose.
func (c *compiled) namesSecret() bool {
	return !c.all && c.glob != "" && Secret(c.glob)
}
