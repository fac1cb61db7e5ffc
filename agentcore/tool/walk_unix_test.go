//go:build unix

package tool

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// lookingHost notes what is looked at on the disk once more, to decide whether it may be shown.
type lookingHost struct {
	readingHost
	looked map[string]bool
}

func (h lookingHost) MayRead(path string) bool {
	h.looked[filepath.Base(path)] = true
	return true
}

// What is listed is looked at again only where it may be something else than the listing tells: a link, or a document
// of the editor.
func TestListingLooksOnce(t *testing.T) {
	dir := t.TempDir()
	for i := range 100 {
		path := filepath.Join(dir, fmt.Sprintf("sub%d/f%d.go", i%7, i))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"link.go": "sub1/f1.go", "folder": "sub2"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, search := range map[string]func(Workspace) (Result, error){
		"list": func(h Workspace) (Result, error) { return list(t.Context(), h, listArguments{Depth: 20}) },
		"glob": func(h Workspace) (Result, error) { return globFiles(t.Context(), h, globArguments{Pattern: "*.go"}) },
	} {
		h := lookingHost{searching(t, dir), map[string]bool{}}
		h.layer.View().SetDocument(filepath.Join(dir, "sub3", "f3.go"), "package a\n", 1)
		result, err := search(h)
		if err != nil || result.Text == "" {
			t.Errorf("%s: %+v, %v", name, result, err)
		}
		var looked []string
		for path := range h.looked {
			looked = append(looked, path)
		}
		if slices.Sort(looked); !slices.Equal(looked, []string{"f3.go", "link.go"}) {
			t.Errorf("%s looks at %q", name, looked)
		}
	}
}
