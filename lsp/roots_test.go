package lsp

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore/workspace"
)

func TestRootsOf(t *testing.T) {
	for _, c := range []struct {
		params string
		want   []workspace.Root
	}{
		{`{"capabilities":{}}`, nil},
		{`{"capabilities":{},"rootUri":null,"rootPath":null,"workspaceFolders":null}`, nil},
		{`{"capabilities":{},"rootPath":"/w/old"}`, []workspace.Root{{Path: "/w/old", Name: "old"}}},
		{
			`{"capabilities":{},"rootPath":"/w/old","rootUri":"file:///w/a%20b/"}`,
			[]workspace.Root{{Path: "/w/a b", Name: "a b"}},
		},
		{`{"capabilities":{},"rootUri":"untitled:x"}`, nil},
		// Folders of the same name, one in another, and one that is no file: the others still count.
		{
			`{"capabilities":{},"rootUri":"file:///w/old","workspaceFolders":[{"uri":"file:///w/a","name":"a"},{"uri":"vscode-vfs://x/a","name":"a"},{"uri":"file:///w/a/b","name":""}]}`,
			[]workspace.Root{{Path: "/w/a", Name: "a"}, {Path: "/w/a/b", Name: "b"}},
		},
	} {
		var p protocol.InitializeParams
		if err := protocol.Unmarshal([]byte(c.params), &p); err != nil {
			t.Fatalf("%s: %v", c.params, err)
		}
		if diff := cmp.Diff(c.want, rootsOf(&p)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", c.params, diff)
		}
	}
}
