package secret

import (
	"net/url"
	"runtime"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/lazyregexp"
)

// passed are the variables that a child process may have: what programs need to find files, speak the user's language
// and use their caches. Any other variable may be a secret, or may change what a harmless program does.
var passed = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "COLORTERM", "NO_COLOR", "LANG", "LANGUAGE", "TZ",
	"TMPDIR", "PWD",
	"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR",
	"GOPATH", "GOROOT", "GOCACHE", "GOMODCACHE", "GOFLAGS", "GOPROXY", "GOSUMDB", "GONOSUMDB", "GONOPROXY", "GOPRIVATE",
	"GOTOOLCHAIN", "GOOS", "GOARCH", "GOWORK", "CGO_ENABLED",
	"CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "NVM_DIR", "npm_config_cache", "PIP_CACHE_DIR",
	"VIRTUAL_ENV", "PYTHONPATH",
	"JAVA_HOME", "GRADLE_USER_HOME", "CC", "CXX", "CI",
	// Windows does not start a program without these.
	"SystemRoot", "SystemDrive", "ComSpec", "PATHEXT", "TEMP", "TMP", "USERPROFILE", "LOCALAPPDATA", "APPDATA",
	"ProgramData", "ProgramFiles", "windir",
}

// Environ returns the variables of an environment (as of os.Environ) that a child process may have: those of an
// allow-list, the locale's variables, and those named in addition. A variable whose value contains a secret that the
// redactor knows is left out, whatever its name.
func (r *Redactor) Environ(env []string, also ...string) []string {
	var kept []string
	for _, variable := range env {
		name, value, ok := strings.Cut(variable, "=")
		if !ok || r.Text(value) != value {
			continue
		}
		if strings.HasPrefix(name, "LC_") || contains(passed, name) || contains(also, name) {
			kept = append(kept, variable)
		}
	}
	return kept
}

func contains(names []string, name string) bool {
	return slices.ContainsFunc(names, func(known string) bool {
		return known == name || runtime.GOOS == "windows" && strings.EqualFold(known, name)
	})
}

// secretName matches the names of variables that hold secrets.
var secretName = lazyregexp.New(`(?i)(_|^)(API)?(KEY|TOKEN|PAT|PASS|PASSWD|PASSWORD)$|SECRET|CREDENTIAL|PASSWORD`)

// AddEnviron adds secrets from an environment: the values of variables whose names say that they are secret, and
// passwords in URLs.
func (r *Redactor) AddEnviron(env []string) {
	for _, variable := range env {
		name, value, _ := strings.Cut(variable, "=")
		if strings.Contains(value, "://") {
			if u, err := url.Parse(value); err == nil && u.User != nil {
				if password, ok := u.User.Password(); ok {
					r.Add(name, password)
				}
			}
			continue
		}
		// Paths and sentences are no secrets, and occur in many texts.
		if secretName().MatchString(name) && !strings.HasPrefix(value, "/") && !strings.Contains(value, " ") {
			r.Add(name, value)
		}
	}
}
