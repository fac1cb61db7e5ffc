package store

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentls/agentls/agentcore/event"
)

func TestPermissionsComeBack(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "x.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(t.Context())
	now := time.UnixMicro(1_700_000_000_000_000).UTC()
	ask := Ask{
		ID: "a1", Session: "s1", Run: "r1", Call: "c1", Tool: "bash", Title: "coder wants to run ls",
		Arguments: []byte(`{"command":"ls"}`),
		State:     AskOpen, Opened: now, Deadline: now.Add(time.Minute),
	}
	session := Grant{
		ID: "g1", Scope: "session", Session: "s1", Tool: "bash", Pattern: "ls*",
		Decision: "allow", Created: now,
	}
	first := Grant{ID: "g3", Scope: "project", Root: "/x", Tool: "bash", Pattern: "ls", Decision: "deny", Created: now}
	project := Grant{
		ID: "g2", Scope: "project", Root: "/w", Tool: "bash", Pattern: "go test*", Decision: "allow",
		Created: now.Add(time.Second), Expires: now.Add(time.Hour),
	}
	commit := func(b Batch) {
		t.Helper()
		if err := s.Submit(b).Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	commit(Batch{
		Sessions: []Session{{ID: "s1"}}, Runs: []Run{{
			ID: "r1", Session: "s1",
			Ending: Ending{Status: event.StatusRunning},
		}},
		Asks: []Ask{ask}, Grants: []Grant{session, project, first},
		Trusted: []Trusted{
			{Root: "/w", Decision: "trusted", Decided: now},
			{Root: "/w", Path: "a.md", Hash: "1", Decision: "trusted", Decided: now},
			{Root: "/x", Decision: "untrusted"},
		},
	})
	grants, err := s.ProjectGrants(t.Context())
	if diff := cmp.Diff([]Grant{first, project}, grants); err != nil || diff != "" {
		t.Errorf("grants: %v\n%s", err, diff)
	}
	ask.State, ask.Decision, ask.Scope, ask.Resolved = AskAnswered, "allow", "once", now.Add(time.Second)
	project.Revoked = now.Add(time.Hour)
	commit(Batch{
		Asks: []Ask{ask}, Grants: []Grant{project}, TrustRemoved: []string{"/w"},
		Trusted: []Trusted{{Root: "/w", Path: "b.md", Hash: "2", Decision: "trusted"}},
	})
	asks, err := s.Asks(t.Context(), "s1")
	if diff := cmp.Diff([]Ask{ask}, asks); err != nil || diff != "" {
		t.Errorf("asks: %v\n%s", err, diff)
	}
	grants, err = s.ProjectGrants(t.Context())
	if diff := cmp.Diff([]Grant{first, project}, grants); err != nil || diff != "" {
		t.Errorf("after one was taken back: %v\n%s", err, diff)
	}
	trust, err := s.Trust(t.Context(), "/w")
	if diff := cmp.Diff([]Trusted{{Root: "/w", Path: "b.md", Hash: "2", Decision: "trusted"}}, trust); err != nil ||
		diff != "" {
		t.Errorf("trust: %v\n%s", err, diff)
	}
	roots, err := s.TrustedRoots(t.Context())
	if err != nil || len(roots) != 1 || roots[0].Root != "/x" {
		t.Errorf("roots: %v, %v", roots, err)
	}
}
