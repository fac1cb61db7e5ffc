package secret

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/zalando/go-keyring"
)

const (
	// keyringPrefix is the prefix of the name of a key in the system's keyring.
	keyringPrefix = "keyring:"
	// keyringService is the service of the keys in the keyring; their account is the rest of the name.
	keyringService = "agentls"
	// keyringTime bounds the wait for a keyring, which may ask its user to unlock it.
	keyringTime = 30 * time.Second
)

// Keys finds keys: in the environment, in a file of the user's, or, for names that begin with "keyring:", in the
// system's keyring. Its methods may be called from any goroutine; a call that asks the keyring waits for it.
type Keys struct {
	// Getenv reads the environment, as os.Getenv does.
	Getenv func(string) string
	// File holds lines NAME=value, and may be read by its owner only. It need not exist.
	File string

	mu   sync.Mutex
	kept map[string]string // what the keyring answered
}

// InKeyring reports whether a key's name says that the key lies in the system's keyring.
func InKeyring(name string) bool { return strings.HasPrefix(name, keyringPrefix) }

// Get is [Keys.Find] for callers that cannot report errors to the user; a key that cannot be read is empty.
func (k *Keys) Get(name string) string {
	key, _, err := k.Find(name)
	if err != nil {
		return ""
	}
	return key
}

// Find returns a key and the place where it was found; empty if there is none. The error says why the file or the
// keyring cannot be used.
func (k *Keys) Find(name string) (key, where string, err error) {
	if account, ok := strings.CutPrefix(name, keyringPrefix); ok {
		return k.fromKeyring(account)
	}
	if k.Getenv != nil {
		if key := strings.TrimSpace(k.Getenv(name)); key != "" {
			return key, "the environment", nil
		}
	}
	if k.File == "" {
		return "", "", nil
	}
	key, err = fromFile(k.File, name)
	if key == "" || err != nil {
		return "", "", err
	}
	return key, k.File, nil
}

func fromFile(path, name string) (string, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read the keys: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", fmt.Errorf("read the keys: %w", err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("the keys in %s are not used, since others may read it (mode %04o): run chmod 600 on it",
			path, info.Mode().Perm())
	}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		known, value, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(lines.Text()), "export "), "=")
		if ok && strings.TrimSpace(known) == name {
			return strings.Trim(strings.TrimSpace(value), `"'`), nil
		}
	}
	if err := lines.Err(); err != nil {
		return "", fmt.Errorf("read the keys in %s: %w", path, err)
	}
	return "", nil
}

func (k *Keys) fromKeyring(account string) (key, where string, err error) {
	where = "the keyring"
	k.mu.Lock()
	defer k.mu.Unlock()
	if key, ok := k.kept[account]; ok {
		return key, where, nil
	}
	type answer struct {
		key string
		err error
	}
	answers := make(chan answer, 1)
	// The keyring's library takes no context. If it hangs, the goroutine remains until it returns or the process ends.
	go func() {
		key, err := keyring.Get(keyringService, account)
		answers <- answer{key, err}
	}()
	timer := time.NewTimer(keyringTime)
	defer timer.Stop()
	select {
	case a := <-answers:
		if errors.Is(a.err, keyring.ErrNotFound) {
			return "", "", nil
		}
		if a.err != nil {
			return "", "",
				fmt.Errorf(
					"ask the system's keyring for %s of %s: %w; use an environment variable where there is no keyring",
					account, keyringService, a.err)
		}
		if k.kept == nil {
			k.kept = map[string]string{}
		}
		k.kept[account] = strings.TrimSpace(a.key)
		return k.kept[account], where, nil
	case <-timer.C:
		return "", "",
			fmt.Errorf("the system's keyring did not answer within %s; unlock it, or use an environment variable",
				keyringTime)
	}
}
