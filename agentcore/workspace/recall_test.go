package workspace

import (
	"path/filepath"
	"testing"
)

// What a run no longer has before its eyes it knows in part: by the same stamp, but not whole.
func TestRecall(t *testing.T) {
	v, dir := open(t, map[string]string{"a": five, "b": five})
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	layer := v.NewSession(SessionOptions{}).Fork()
	for _, path := range []string{a, b} {
		if _, err := layer.Read(path); err != nil {
			t.Fatal(err)
		}
	}
	layer.NextTurn()
	before, _ := layer.Seen(b)
	layer.Recall(func(path string) bool { return path == a })
	if _, ok := layer.SeenWhole(a); !ok {
		t.Error("the file that is still shown is forgotten")
	}
	if _, ok := layer.SeenWhole(b); ok {
		t.Error("a file that is shown no more is known whole")
	}
	if now, ok := layer.Seen(b); !ok || now != before {
		t.Errorf("the stamp of a file that is shown no more is %q, want %q", now, before)
	}
}
