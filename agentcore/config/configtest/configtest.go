// Package configtest reads configurations that tests write down.
package configtest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/agentls/agentls/agentcore/config"
)

// User reads a text as the user's config.toml. Any problem fails the test.
func User(t testing.TB, text string) *config.Config {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, problems := config.Load(config.Sources{UserFile: file})
	for _, p := range problems {
		t.Errorf("the configuration: %s", p)
	}
	return cfg
}
