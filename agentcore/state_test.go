package agentcore_test

import (
	"path/filepath"
	"testing"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/permission"
)

// TestState asks for trust before there is an engine, which then works on the same store and closes it, also where it
// cannot be opened.
func TestState(t *testing.T) {
	o := agentcore.Options{StateDir: t.TempDir()}
	for _, fails := range []bool{false, true} {
		var err error
		if o.State, err = agentcore.OpenState(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		trust, err := o.State.FolderTrust(t.Context(), t.TempDir())
		if err != nil || trust.Standing == permission.Trusted {
			t.Errorf("%+v, %v", trust, err)
		}
		if fails {
			if err := o.State.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}
		e, err := agentcore.Open(t.Context(), o)
		if fails != (err != nil) {
			t.Fatalf("fails %v: %v", fails, err)
		}
		if err == nil {
			err = e.Close(t.Context())
		}
		if err != nil && !fails {
			t.Error(err)
		}
		owners, err := filepath.Glob(filepath.Join(o.StateDir, "agentls.db-owners", "[0-9]*"))
		if err != nil || len(owners) > 0 {
			t.Errorf("the store is left open: %q, %v", owners, err)
		}
	}
}
