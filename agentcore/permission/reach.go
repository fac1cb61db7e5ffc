package permission

// Reach is the most that any call of a tool could come to: allowed, asked for, or denied. Nothing is known of the call
// but its effect and the sandbox that a command would have. It may be more than what every call comes to in the end,
// but never less.
func (p *Policy) Reach(tool string, effect Effect, sandbox Level, grants []Grant) Action {
	it := item{tool: tool, effect: effect, full: effect == Execute && sandbox == Full}
	most := Allow
	for i := range p.chain {
		most = Min(most, p.chain[i].reach(&it))
	}
	if most != Ask {
		return most
	}
	for i := range grants {
		g := &grants[i]
		c := compiled{Rule: Rule{Tool: g.Tool}}
		if g.Decision == Allow && c.matchesTool(tool) && p.owns(g, &it) {
			return Allow
		}
	}
	return Ask
}

// reach is the most that a level lets a call of a tool come to, whatever the call is.
func (l *level) reach(it *item) Action {
	most, _ := it.fallback()
	if it.tool == "webfetch" {
		most = Allow // of well-known documentation
	}
	ruled := false
	for i := range l.rules {
		c := &l.rules[i]
		switch {
		case !c.matchesTool(it.tool):
		case c.Action.rank() == Deny.rank():
			if c.all || c.broken != nil {
				return Deny
			}
		case c.Action == Allow:
			if !c.narrow && c.broken == nil {
				most, ruled = Allow, true
			}
		case c.all && !it.full: // a full sandbox is not bound by it
			most = Min(most, Ask)
		}
	}
	switch {
	case l.mode == Plan && it.effect == Propose:
		return Deny
	case l.mode == Plan && it.effect == Execute && !ruled:
		return Min(most, Ask)
	case l.mode == Bypass, l.mode == AcceptEdits && it.effect == Propose:
		return Allow
	}
	return most
}
