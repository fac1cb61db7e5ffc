package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/git"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/agentcore/run"
	"github.com/agentls/agentls/agentcore/sandbox"
	"github.com/agentls/agentls/agentcore/store"
)

// checkConfig reports the configuration files and what is wrong in them.
func checkConfig(dirs config.Dirs, dir string, trust authority.FolderTrust, problems []config.Problem) []check {
	var checks []check
	user := check{Name: "configuration", Outcome: checkOK, Detail: dirs.File}
	if _, err := os.Stat(dirs.File); errors.Is(err, fs.ErrNotExist) {
		user.Detail += " does not exist; the defaults count"
	}
	checks = append(checks, user)
	project := filepath.Join(dir, filepath.FromSlash(config.ProjectFile))
	if _, err := os.Stat(project); err == nil {
		c := check{Name: "project configuration", Outcome: checkOK, Detail: project}
		if trust.Standing != permission.Trusted {
			c.Outcome, c.Detail = checkWarning, project+" is not used: this folder is not trusted"
			c.Hint = "look at it and trust it with `agentls trust`"
		}
		checks = append(checks, c)
	}
	for _, p := range problems {
		outcome := checkWarning
		if p.Severity == config.SeverityError {
			outcome = checkFailed
		}
		bare := p
		bare.Hint = ""
		checks = append(checks, check{Name: "configuration", Outcome: outcome, Detail: bare.String(), Hint: p.Hint})
	}
	return checks
}

// checkState opens the database in the state folder. It makes both if they are missing.
func checkState(ctx context.Context, dirs config.Dirs) check {
	result := check{Name: "state", Outcome: checkOK, Detail: dirs.State}
	fail := func(err error) check {
		result.Outcome = checkFailed
		result.Detail = err.Error()
		result.Hint = "make " + dirs.State + " writable, or name another folder in AGENTLS_STATE"
		return result
	}
	opened, err := store.Open(ctx, filepath.Join(dirs.State, "agentls.db"), store.Options{})
	if err != nil {
		return fail(err)
	}
	if err := opened.Close(ctx); err != nil {
		return fail(fmt.Errorf("close the store: %w", err))
	}
	result.Detail += " is writable, the database opens"
	return result
}

// checkProviders reports which providers can be asked. It shows no key.
func (v *environment) checkProviders(dirs config.Dirs, cfg *config.Config) []check {
	var checks []check
	keys := v.keys(dirs)
	for _, name := range slices.Sorted(maps.Keys(cfg.Providers)) {
		provider := cfg.Providers[name]
		result := check{Name: "provider " + name, Outcome: checkOK}
		key, where, err := keys.Find(provider.KeyEnv)
		switch {
		case err != nil:
			result.Outcome, result.Detail = checkWarning, err.Error()
		case provider.KeyEnv == "":
			result.Detail = "is asked without a key"
		case key != "":
			result.Detail = "has a key in " + provider.KeyEnv + ", from " + where
		default:
			result.Detail = "has no key"
			result.Hint = "set " + provider.KeyEnv + " to use it"
		}
		if slices.Contains(cfg.Unlisted(), name) {
			result.Outcome = checkWarning
			result.Detail = "no model of it is known, so that it is taken only where one is named; it " + result.Detail
			result.Hint = `add models = ["…"] to [providers.` + name + "], or name one as " + name + "/MODEL"
		}
		switch at := withoutPassword(provider.BaseURL); {
		case provider.BaseURL == "":
		case err != nil: // the error ends with what to do
			result.Detail = "at " + at + ": " + result.Detail
		default:
			result.Detail += ", at " + at
		}
		checks = append(checks, result)
	}
	return checks
}

// checkSearch reports which search engine websearch uses. It shows no key, and asks nothing.
func (v *environment) checkSearch(dirs config.Dirs, cfg *config.Config) check {
	result := check{Name: "web search", Outcome: checkOK}
	if cfg.WebsearchKind == "" {
		result.Detail = "no search engine is configured, so agents are not offered websearch"
		result.Hint = "set websearch.kind in config.toml to searxng, brave or tavily to use one"
		return result
	}
	result.Detail = cfg.WebsearchKind
	if cfg.WebsearchBaseURL != "" {
		result.Detail += " at " + withoutPassword(cfg.WebsearchBaseURL)
	}
	if cfg.WebsearchKeyEnv == "" {
		result.Detail += ", asked without a key"
		return result
	}
	switch key, where, err := v.keys(dirs).Find(cfg.WebsearchKeyEnv); {
	case err != nil:
		result.Outcome, result.Detail = checkWarning, result.Detail+": "+err.Error()
	case key == "":
		result.Outcome, result.Detail = checkWarning, result.Detail+" has no key"
		result.Hint = "set " + cfg.WebsearchKeyEnv + " to use it"
	default:
		result.Detail += " has a key in " + cfg.WebsearchKeyEnv + ", from " + where
	}
	return result
}

// withoutPassword is a URL without the parts that may hold keys: user information and query.
func withoutPassword(raw string) string {
	parsed, err := url.Parse(raw)
	if err != nil {
		return "a base_url that is no URL"
	}
	parsed.User, parsed.RawQuery = nil, ""
	return parsed.String()
}

// checkAgents reports how many agents there are, which definitions are broken, and whether the default agent exists.
func (v *environment) checkAgents(ctx context.Context, dirs config.Dirs, cfg *config.Config,
	trust authority.FolderTrust,
) check {
	result := check{Name: "agents", Outcome: checkOK}
	registry, _, err := v.definitions(ctx, cfg, dirs, trustedFolders(trust, v.dir)...)
	if err != nil {
		return check{
			Name: "agents", Outcome: checkFailed, Detail: err.Error(),
			Hint: "make the folders of definitions readable",
		}
	}
	wrong, hidden, locked, unread := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, problem := range registry.Problems() {
		if problem.Severity == event.SeverityError {
			wrong[problem.File] = true
		} else if problem.Hides() {
			hidden[problem.File] = true
		} else if problem.Locked {
			locked[problem.File] = true
		} else if problem.Unread() {
			unread[problem.File] = true
		}
	}
	result.Detail = fmt.Sprintf("%s in files and built in, by default %s", count(len(registry.List("")), "agent"),
		cfg.DefaultAgent)
	for _, of := range []struct {
		what  string
		files map[string]bool
	}{{"with errors", wrong}, {"not used, since others have their names", hidden}, {
		"without a key for their model",
		locked,
	}, {"not read there", unread}} {
		if len(of.files) == 0 {
			continue
		}
		result.Outcome = checkWarning
		result.Detail += "; " + of.what + ": " + strings.Join(slices.Sorted(maps.Keys(of.files)), ", ")
		result.Hint = "`agentls agents check FILE` says what is wrong"
	}
	for _, d := range registry.List("") {
		if !d.IsProgram() {
			continue
		}
		if path, err := exec.LookPath(d.Program.Command[0]); err == nil {
			result.Detail += fmt.Sprintf("; %s is the program %s", d.Slug, path)
		} else {
			result.Outcome = checkWarning
			result.Detail += fmt.Sprintf("; %s is the program %s, which is not there", d.Slug, d.Program.Command[0])
			result.Hint = cmp.Or(result.Hint, "install it, or write its path into the definition")
		}
	}
	if _, err := registry.Find(cfg.DefaultAgent); err != nil && !registeredAgent(ctx, dirs, cfg.DefaultAgent) {
		result.Outcome, result.Detail = checkFailed, "default_agent: "+err.Error()
		result.Hint = "set default_agent in config.toml to one of `agentls agents list`"
	}
	return result
}

// registeredAgent reports whether an agent of that name was registered at run time.
func registeredAgent(ctx context.Context, dirs config.Dirs, name string) bool {
	path := filepath.Join(dirs.State, "agentls.db")
	if _, err := os.Stat(path); err != nil {
		return false
	}
	s, err := store.Open(ctx, path, store.Options{})
	if err != nil {
		return false // the check of the state reports this
	}
	rows, err := s.Agents(ctx)
	closed := s.Close(ctx)
	return err == nil && closed == nil && slices.ContainsFunc(rows, func(a store.Agent) bool { return a.Slug == name })
}

// checkModel reports which model a run would use, and why. It does not ask the model.
func (v *environment) checkModel(ctx context.Context, dirs config.Dirs, cfg *config.Config,
	local *provider.LocalServers,
) (check, string) {
	resolved := provider.Choice{Config: cfg}.Resolve(ctx,
		provider.Surroundings{Getenv: v.keys(dirs).Get, Local: local.Find})
	result := check{Name: "model", Outcome: checkOK, Detail: resolved.Name + ", because of " + resolved.Because}
	if resolved.Name == provider.Offline {
		result.Outcome = checkWarning
		result.Detail = "the offline rules, because " + resolved.Because
		result.Hint = "set ANTHROPIC_API_KEY, GEMINI_API_KEY or OPENAI_API_KEY, or default_model in config.toml, to " +
			"use a language model"
	}
	if err := resolved.Usable(cfg, v.keys(dirs).Get); err != nil {
		failure := fault.Explain(err)
		result.Outcome, result.Detail, result.Hint = checkFailed, failure.Detail, failure.Hint
	}
	return result, resolved.Name
}

// checkWorkspace reports which folder a command that is started here would work on.
func checkWorkspace(dir string) check {
	top := git.Top(dir)
	if top == "" {
		return check{Name: "workspace", Outcome: checkOK, Detail: dir + " is in no git repository"}
	}
	return check{Name: "workspace", Outcome: checkOK, Detail: dir + ", in the git repository " + top}
}

// checkSandbox tries how well commands of agents are kept apart here.
func checkSandbox(ctx context.Context, dirs config.Dirs, cfg *config.Config) check {
	result := check{Name: "sandbox", Outcome: checkOK}
	if cfg.Sandbox == config.SandboxOff {
		result.Detail = "is off: commands of agents run as you would run them, where a rule or you allow it"
		return result
	}
	report := sandbox.Probe(ctx, run.SandboxDir(dirs.State))
	first, _, _ := strings.Cut(report.String(), "\n")
	result.Detail = strings.TrimPrefix(first, "sandbox: ")
	if reason := report.Reason(); reason != "" {
		result.Detail += "; " + reason
	}
	switch report.Level {
	case sandbox.Full:
		if cfg.SandboxNetwork {
			result.Detail += ", with the network"
		} else if len(cfg.NetworkAllow) > 0 {
			result.Detail += ", with these hosts alone: " + strings.Join(cfg.NetworkAllow, ", ")
		}
	case sandbox.Bubblewrap:
	default:
		result.Outcome = checkWarning
		result.Hint = "agents ask before each command; on Linux, allow user namespaces, or install bubblewrap"
	}
	return result
}

// program is a program that agentls uses if it is on PATH.
type program struct {
	name    string
	version []string // arguments that print its version
	use     string
}

// programs are the checkers that the diagnostics tool runs, and git.
var programs = []program{
	{"git", []string{"--version"}, "knows the repository"},
	{"go", []string{"version"}, "checks Go"},
	{"python3", []string{"--version"}, "checks Python's syntax"},
	{"ruff", []string{"--version"}, "checks Python"},
	{"node", []string{"--version"}, "checks JavaScript's syntax"},
	{"shellcheck", []string{"--version"}, "checks shell scripts"},
}

// programTime is how long a program may take to print its version.
const programTime = 5 * time.Second

// checkPrograms looks for the programs and asks each for its version, all at once.
func (v *environment) checkPrograms(ctx context.Context) []check {
	checks := make([]check, len(programs))
	var group sync.WaitGroup
	for i, program := range programs {
		group.Go(func() { checks[i] = v.checkProgram(ctx, program) })
	}
	group.Wait()
	return checks
}

func (v *environment) checkProgram(ctx context.Context, program program) check {
	result := check{Name: program.name, Outcome: checkOK}
	path := v.lookPath(program.name)
	if path == "" {
		result.Outcome = checkWarning
		result.Detail = "is not on PATH"
		result.Hint = "install it if you need it: it " + program.use
		return result
	}
	ctx, cancel := context.WithTimeout(ctx, programTime)
	defer cancel()
	command := exec.CommandContext(ctx, path, program.version...)
	command.Dir = os.TempDir() // outside of any project, which could configure it
	command.WaitDelay = time.Second
	var out bytes.Buffer
	command.Stdout = &out
	if err := command.Run(); err != nil {
		result.Outcome = checkWarning
		result.Detail = fmt.Sprintf("%s does not tell its version: %v", path, cmp.Or(context.Cause(ctx), err))
		result.Hint = "repair or remove it: it " + program.use
		return result
	}
	result.Detail = versionLine(out.String()) + " (" + path + ")"
	return result
}

// versionLine is the first line of a program's output with a digit: the one with the version.
func versionLine(out string) string {
	for line := range strings.Lines(out) {
		if line = strings.TrimSpace(line); strings.ContainsAny(line, "0123456789") {
			return fit(oneLine(line), 60)
		}
	}
	return "no version"
}

// lookPath finds a program on the PATH of the environment. It ignores relative entries, since programs in the current
// folder must not be run.
func (v *environment) lookPath(name string) string {
	for _, dir := range filepath.SplitList(v.getenv("PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path
		}
	}
	return ""
}
