package agentls_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSecurityNamesItsTests expects that each test that SECURITY.md names as the proof of a promise is there.
func TestSecurityNamesItsTests(t *testing.T) {
	document, err := os.ReadFile("SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	var tests strings.Builder
	err = filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
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
	names := regexp.MustCompile("`(Test[A-Za-z0-9]+)`").FindAllStringSubmatch(string(document), -1)
	if len(names) < 15 {
		t.Fatalf("SECURITY.md names %d tests", len(names))
	}
	for _, name := range names {
		if !strings.Contains(tests.String(), "func "+name[1]+"(t *testing.T)") {
			t.Errorf("SECURITY.md names %s, which is not there", name[1])
		}
	}
}
