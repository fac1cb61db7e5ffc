package permission

import (
	"path/filepath"
	"slices"
	"time"

	"github.com/agentls/agentls/agentcore/event"
)

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

// Grant is a user's former answer to a question for permission. It holds for similar calls.
type Grant struct {
	ID    event.GrantID
	Scope Scope
	// Tool and Pattern say which calls, as in a [Rule].
	Tool, Pattern string
	// Decision is Allow or Deny; anything else counts as Deny.
	Decision Action
	// Session, Run or Root (an absolute path) is set for a grant of the scope Session, Run or Project.
	Session event.SessionID
	Run     event.RunID
	Root    string
	Created time.Time
	// Expires is zero for a grant that does not expire. Revoked is zero for a grant that was not taken back.
	Expires, Revoked time.Time
}

// Active reports whether a grant holds at this time.
func (g Grant) Active(now time.Time) bool {
	return g.Revoked.IsZero() && (g.Expires.IsZero() || now.Before(g.Expires))
}

// until says, for people, when a grant ends; "" for one that does not end.
func (g Grant) until() string {
	if g.Expires.IsZero() {
		return ""
	}
	return " until " + g.Expires.Format(time.DateTime)
}

// granted returns the grant that decides on a part: a grant that denies, or else the grant that was given last.
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
		if !p.covers(Rule{Tool: g.Tool, Pattern: g.Pattern, Action: action}, it) {
			continue
		}
		if found == nil || (found.Decision == Allow) == (action == Allow) && !g.Created.Before(found.Created) ||
			found.Decision == Allow && action == Deny {
			found = g
		}
	}
	return found
}

// covers reports whether a grant with this rule applies to a part.
func (p *Policy) covers(rule Rule, it *item) bool {
	c := compile(rule, "", false, p.home)
	if !c.matchesTool(it.tool) || !c.matches(it) {
		return false
	}
	return rule.Action != Allow || it.guard == "" || c.glob != "" && c.glob == it.guarded()
}

// lasting returns the rules that would be granted by an answer for more than one call. It returns none if the same
// question would come again in spite of them, so that the user is not offered an answer without effect.
func (p *Policy) lasting(asking []item, rules []Rule) []Rule {
	for i := range asking {
		if !slices.ContainsFunc(rules, func(rule Rule) bool {
			rule.Action = Allow
			return p.covers(rule, &asking[i])
		}) {
			return nil
		}
	}
	return rules
}

// guarded is the exact name that a grant for a protected file must have.
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
