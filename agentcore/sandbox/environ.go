package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// runVariable is in the environment of every process that is started for a run; its value is the run's id. A spare
// lacks it, since it belongs to no command yet.
const runVariable = "AGENTLS_RUN"

// plain are variables that say how tools work and that hold no secrets.
var plain = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TERM", "COLORTERM", "NO_COLOR", "CI",
	"EDITOR", "PAGER",
	"GOROOT", "GOPATH", "GOBIN", "GOCACHE", "GOMODCACHE", "GOFLAGS", "GOOS", "GOARCH", "GOTOOLCHAIN", "GOEXPERIMENT",
	"GOWORK", "CGO_ENABLED",
	"CC", "CXX", "AR", "CFLAGS", "CXXFLAGS", "LDFLAGS", "PKG_CONFIG_PATH", "MAKEFLAGS",
	"CARGO_HOME", "RUSTUP_HOME", "RUSTFLAGS", "RUSTUP_TOOLCHAIN", "JAVA_HOME", "GRADLE_USER_HOME", "MAVEN_HOME",
	"ANDROID_HOME",
	"NODE_ENV", "NODE_PATH", "NODE_OPTIONS", "NVM_DIR", "VOLTA_HOME", "PNPM_HOME", "BUN_INSTALL", "DENO_DIR",
	"VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME", "PYENV_ROOT", "PYENV_VERSION", "CONDA_PREFIX", "UV_CACHE_DIR",
	"PIP_CACHE_DIR",
	"RBENV_ROOT", "GEM_HOME", "GEM_PATH", "ASDF_DIR", "ASDF_DATA_DIR", "MISE_DATA_DIR", "SDKMAN_DIR",
	"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "SYSTEMROOT", "COMSPEC",
	"PATHEXT", "WINDIR",
	"TEMP", "TMP", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PROGRAMFILES", "PROGRAMDATA",
}

// Environ picks from an environment, as os.Environ returns it, the variables that a command may see: those that say how
// tools work, and those named in extra.
func Environ(environ, extra []string) []string {
	var picked []string
	for _, pair := range environ {
		name, _, ok := strings.Cut(pair, "=")
		if ok && (slices.Contains(plain, strings.ToUpper(name)) || strings.HasPrefix(name, "LC_") ||
			slices.Contains(extra, name)) {
			picked = append(picked, pair)
		}
	}
	return picked
}

// lookup finds a variable in a list of KEY=value; the last one counts.
func lookup(env []string, name string) string {
	for _, pair := range slices.Backward(env) {
		if key, value, ok := strings.Cut(pair, "="); ok && key == name {
			return value
		}
	}
	return ""
}

// Cache is a folder of a tool that commands find filled.
type Cache struct {
	// Path is absolute.
	Path string
	// Content says that the folder holds downloads, so that it is worth showing even read-only.
	Content bool
}

// DefaultCaches are the caches of Go, npm, yarn, pnpm, cargo, pip and uv, at the paths that the environment names, or
// that are usual for the tool.
func DefaultCaches(env []string, home string) []Cache {
	if home == "" {
		return nil
	}
	or := func(name string, otherwise ...string) string {
		if value := lookup(env, name); filepath.IsAbs(value) {
			return value
		}
		return filepath.Join(append([]string{home}, otherwise...)...)
	}
	cache := or("XDG_CACHE_HOME", ".cache")
	gopath := filepath.SplitList(or("GOPATH", "go"))[0]
	inCache := func(name, folder string) string {
		if value := lookup(env, name); filepath.IsAbs(value) {
			return value
		}
		return filepath.Join(cache, folder)
	}
	modules := filepath.Join(gopath, "pkg", "mod")
	if value := lookup(env, "GOMODCACHE"); filepath.IsAbs(value) {
		modules = value
	}
	cargo := or("CARGO_HOME", ".cargo")
	return []Cache{
		{inCache("GOCACHE", "go-build"), false},
		{modules, true},
		{filepath.Join(home, ".npm", "_cacache"), true},
		{filepath.Join(cargo, "registry"), true},
		{filepath.Join(cargo, "git"), true},
		{inCache("PIP_CACHE_DIR", "pip"), true},
		{inCache("UV_CACHE_DIR", "uv"), true},
		{filepath.Join(cache, "yarn"), true},
		{or("PNPM_HOME", ".local", "share", "pnpm"), true},
	}
}

// toolHomes are folders in which version managers keep the programs that entries of PATH lead to.
var toolHomes = []string{
	".pyenv", ".nvm", ".rbenv", ".asdf", ".volta", ".bun", ".deno", ".sdkman", ".rustup", ".nodenv", ".goenv",
	".jenv", ".fnm",
	".local/share/mise", ".local/share/uv", ".local/share/fnm", ".local/share/pipx", ".local/pipx", ".local/lib", "sdk",
}

// DefaultTools are the folders below home that programs on PATH need: those of PATH itself and of known version
// managers. A folder that has to be seen for this is shown read-only.
func DefaultTools(env []string, home string) []string {
	if home == "" || home == "/" {
		return nil
	}
	var tools []string
	add := func(path string) {
		if info, err := os.Stat(path); err == nil && info.IsDir() &&
			!slices.ContainsFunc(tools, func(t string) bool { return below(path, t) }) {
			tools = append(tools, path)
		}
	}
	for _, name := range toolHomes {
		add(filepath.Join(home, filepath.FromSlash(name)))
	}
	for _, dir := range append(filepath.SplitList(lookup(env, "PATH")), lookup(env, "GOROOT"),
		lookup(env, "VIRTUAL_ENV")) {
		// If PATH holds the home folder itself, showing it would show everything in it.
		if filepath.IsAbs(dir) && below(filepath.Clean(dir), home) && filepath.Clean(dir) != home {
			add(filepath.Clean(dir))
		}
	}
	return tools
}

// lookPath finds a program by the PATH of an environment.
func lookPath(name string, env []string, dir string) (string, error) {
	if strings.ContainsRune(name, filepath.Separator) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return exec.LookPath(name)
	}
	for _, folder := range filepath.SplitList(lookup(env, "PATH")) {
		if !filepath.IsAbs(folder) {
			folder = filepath.Join(dir, folder)
		}
		if path, err := exec.LookPath(filepath.Join(folder, name)); err == nil {
			return path, nil
		}
	}
	return "", &exec.Error{Name: name, Err: exec.ErrNotFound}
}
