package authority

import (
	"testing"
	"time"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/store"
)

// ids are the grants that hold at a time.
func (g *grants) ids(now time.Time) string {
	list := ""
	for _, one := range g.holding(now) {
		list += string(one.ID)
	}
	return list
}

func grantAt(id string, created, expires time.Time) permission.Grant {
	return permission.Grant{
		ID: event.GrantID(id), Scope: permission.Project, Root: "/w", Tool: "bash", Pattern: "*",
		Decision: permission.Allow, Created: created, Expires: expires,
	}
}

// TestExpiredGrantsStayExpired: neither a clock that jumps back nor the store brings back a grant that was seen to have
// expired.
func TestExpiredGrantsStayExpired(t *testing.T) {
	now := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	var g grants
	first := grantAt("a", now, now.Add(time.Hour))
	g.add([]permission.Grant{first, grantAt("b", now, time.Time{}), grantAt("c", now, now.Add(3*time.Hour))})
	if got := g.ids(now); got != "abc" {
		t.Errorf("before: %s", got)
	}
	if got := g.ids(now.Add(time.Hour)); got != "bc" {
		t.Errorf("when one expires: %s", got)
	}
	if got := g.ids(now); got != "bc" {
		t.Errorf("after the clock was set back: %s", got)
	}
	g.meet([]store.Grant{grantRow(first)})
	if got := g.ids(now); got != "bc" {
		t.Errorf("after the store was read again: %s", got)
	}
}

// TestGrantsMeetThoseOfOthers: what is not stored yet stays, what others granted comes, what they took back goes, and
// what was taken back here does not come back from a store that does not know it yet.
func TestGrantsMeetThoseOfOthers(t *testing.T) {
	now := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	var g grants
	mine, gone, theirs, late := grantAt("m", now.Add(2), time.Time{}), grantAt("g", now.Add(1), time.Time{}),
		grantAt("t", now, time.Time{}), grantAt("l", now.Add(3), time.Time{})
	g.add([]permission.Grant{gone, mine})
	held := g.holding(now)
	if _, ok := g.remove("g"); !ok {
		t.Fatal("it is not there")
	}
	g.meet([]store.Grant{grantRow(theirs), grantRow(gone), grantRow(late)})
	if got := g.ids(now); got != "tml" {
		t.Errorf("they are %s", got)
	}
	theirs.Revoked = now
	g.meet([]store.Grant{grantRow(theirs), grantRow(mine), grantRow(late)})
	g.meet([]store.Grant{grantRow(late)}) // it is as old as it is
	if got := g.ids(now); got != "ml" {
		t.Errorf("after one was taken back elsewhere: %s", got)
	}
	if len(held) != 2 || held[0].ID != "g" {
		t.Errorf("a list that was handed out has changed: %v", held)
	}
}
