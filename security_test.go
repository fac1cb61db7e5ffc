package agentls_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocumentsNameTheirTests expects that each test is there that a document names as the proof of what it says.
func TestDocumentsNameTheirTests(t *testing.T) {
	var tests strings.Builder
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		tests.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	// least is how many tests a document names at the least: a form that the expression does not find would pass.
	for document, least := range map[string]int{"SECURITY.md": 15, "ARCHITECTURE.md": 50, "CONTRIBUTING.md": 1} {
		text, err := os.ReadFile(document)
		if err != nil {
			t.Error(err)
			continue
		}
		names := regexp.MustCompile("`(Test[A-Za-z0-9]+)`").FindAllStringSubmatch(string(text), -1)
		if len(names) < least {
			t.Errorf("%s names %d tests, fewer than %d", document, len(names), least)
		}
		for _, name := range names {
			if !strings.Contains(tests.String(), "func "+name[1]+"(t *testing.T)") {
				t.Errorf("%s names %s, which is not there", document, name[1])
			}
		}
	}
}
