package secret

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/zalando/go-keyring"
)

func TestKeys(t *testing.T) {
	keyring.MockInit()
	if err := keyring.Set("agentls", "work", "from the ring"); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "keys.env")
	if err := os.WriteFile(file, []byte("# mine\nexport A=\"from the file\"\nB=other\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	k := Keys{
		File: file, Getenv: func(name string) string { return map[string]string{"B": " from the environment\n"}[name] },
	}
	for name, want := range map[string]string{
		"A": "from the file", "B": "from the environment", "C": "", "keyring:work": "from the ring", "keyring:none": "",
	} {
		if got, where, err := k.Find(name); err != nil || got != want || (got == "") != (where == "") {
			t.Errorf("%s: got %q from %q, %v; want %q", name, got, where, err, want)
		}
	}
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no modes of files, which the rest is about")
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if key, _, err := k.Find("A"); err == nil || key != "" || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a file that others may read was used: %q, %v", key, err)
	}
}

func TestNoKeyring(t *testing.T) {
	keyring.MockInitWithError(os.ErrPermission)
	k := Keys{}
	if key, _, err := k.Find("keyring:work"); err == nil || key != "" {
		t.Errorf("got %q, %v", key, err)
	}
}
