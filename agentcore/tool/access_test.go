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
		{"edit", `{"path":"a.go","old_string":"x"}`, []string{"a.go"}},
		{"patch", `{"patch":"cat <<EOF\n *** Begin Patch\n *** Add File: a\n+*** Add File: x\n *** update file : b \n *** Move to: c\n@@\n-x\n *** Delete File: d\nEOF"}`, []string{"a", "b", "c", "d"}},
		{"patch", `{"patch":"--- a/a.go\n+++ b/b.go\n@@ -1 +1 @@\n-x\n+y\n"}`, []string{"a.go", "b.go"}},
		{"patch", `{"patch":"*** Begin Patch\nwhat\n*** Update File: a\n-x"}`, []string{"a"}},
		{"patch", `{"patch":`, nil},
		{"notebook_edit", `{"path":"a.ipynb"}`, []string{"a.ipynb"}},
	} {
		if got := AccessOf(Spec{Name: test.name}, json.RawMessage(test.arguments)).Paths; !slices.Equal(got, test.want) {
			t.Errorf("AccessOf(%s, %s) = %q, want %q", test.name, test.arguments, got, test.want)
		}
	}
}
