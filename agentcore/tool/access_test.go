package tool

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestAccessPaths(t *testing.T) {
	for _, test := range []struct {
		name, arguments string
		want            []string
	}{
		{"edit", `{"path":"a.go","old_string":"x","new_string":"y"}`, []string{"a.go"}},
		{
			"patch",
			`{"patch":"cat <<EOF\n *** Begin Patch\n *** Add File: a\n+*** Add File: x\n *** update file : b \n *** Move to: c\n@@\n-x\n *** Delete File: d\nEOF"}`,
			[]string{"a", "b", "c", "d"},
		},
		{"patch", `{"patch":"--- a/a.go\n+++ b/b.go\n@@ -1 +1 @@\n-x\n+y\n"}`, []string{"a.go", "b.go"}},
		{"patch", `{"patch":"*** Begin Patch\nwhat\n*** Update File: a\n-x"}`, []string{"a"}},
		{"notebook_edit", `{"path":"a.ipynb"}`, []string{"a.ipynb"}},
	} {
		call, err := builtin(t, test.name).Decode(json.RawMessage(test.arguments))
		if err != nil || !slices.Equal(call.Access.Paths, test.want) {
			t.Errorf("%s of %s reaches for %+v, %v; want %q", test.name, test.arguments, call.Access, err, test.want)
		}
	}
}

// Every built-in tool declares what its calls reach for, and what rules say of its subject they see in the call.
func TestEveryToolDeclaresItsAccess(t *testing.T) {
	for _, tool := range Builtin() {
		spec := tool.Spec()
		call, err := Parse(tool, json.RawMessage(tool.(interface{ checked() *shape }).checked().example), nil)
		if err != nil {
			t.Errorf("the example of %s: %v", spec.Name, err)
			continue
		}
		access := call.Access
		switch {
		case access == nil:
			t.Errorf("%s declares nothing", spec.Name)
		case spec.Effect == Executes && access.Command == "", spec.Effect == Fetches && len(access.Hosts) == 0 &&
			!access.Network,
			spec.Effect == Proposes && len(access.Paths) == 0:
			t.Errorf("%s reaches for %+v, which does not go with its effect %s", spec.Name, *access, spec.Effect)
		}
	}
}
