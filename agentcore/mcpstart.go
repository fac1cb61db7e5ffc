package agentcore

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/mcp"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/process"
	"github.com/agentls/agentls/agentcore/process/command"
	"github.com/agentls/agentls/agentcore/sandbox"
	"github.com/agentls/agentls/agentcore/secret"
	"github.com/agentls/agentls/agentcore/workspace"
)

// mcpStarter starts a server on pipes, each time that its client wants it. One goroutine uses it, that of the client.
type mcpStarter struct {
	// run is the first one that wanted the server: whose configuration it is, and whose mark it carries.
	run    *run
	server mcpServer // with its variables filled in
	starts int
}

// withholds says why the server may not be started here and now, or nothing. As with hooks, one of the user runs in
// folders that are not trusted, too, but only with walls, and not as a program of such a folder.
func (s *mcpStarter) withholds() string {
	session, level := s.run.session, s.run.rights.sandboxLevel()
	trusted := session.isTrusted()
	switch {
	case session.home() == "":
		return "no workspace folder is open"
	case s.server.project && !trusted:
		return errUntrustedServer.Error()
	case s.server.project && level != permission.Full:
		return "it comes from the workspace, and there is no full sandbox to hold it (see `agentls doctor`)"
	case trusted:
		return ""
	case level != permission.Full:
		return "the workspace is not trusted, and there is no full sandbox to hold what the server may start of it"
	}
	for _, root := range session.view.Roots() {
		dir, err := os.OpenRoot(root.Path)
		if err != nil {
			continue // nothing in it can be named
		}
		files := namedFiles(serverWords(s.server.command, s.server.env), root.Path, dir)
		dir.Close() // only read from
		if len(files) > 0 {
			return files[0] + ", which it names, is a file of a workspace that is not trusted"
		}
	}
	return ""
}

// open starts the server.
func (s *mcpStarter) open(ctx context.Context) (*process.Live, error) {
	if why := s.withholds(); why != "" {
		return nil, mcp.Permanent(errors.New(why))
	}
	s.starts++
	if s.run.rights.unsandboxed() {
		return s.direct()
	}
	return s.sandboxed(ctx)
}

// variables are those of the server's configuration, and its marks.
func (s *mcpStarter) variables() []string {
	list := []string{"AGENTLS_SESSION=" + string(s.run.session.ID)}
	for name, value := range s.server.env {
		list = append(list, name+"="+value)
	}
	slices.Sort(list)
	return list
}

func (s *mcpStarter) sandboxed(ctx context.Context) (*process.Live, error) {
	r := s.run
	ignored := r.session.proposal.Fork().Ignored()
	options, _, err := r.commands.Options(func() *workspace.Ignored { return ignored })
	if err != nil {
		return nil, mcp.Permanent(err)
	}
	if !s.server.project {
		options.Tools = append(options.Tools, programFolders(s.server.command, options.Home)...)
	}
	start := sandbox.Command{Argv: s.server.command, Dir: s.server.dir, Env: s.variables()}
	if !s.server.project && !r.session.isTrusted() {
		start.Dir = "/tmp" // what looks for programs where it starts must not find those of the workspace
	}
	return command.Live(ctx, options, start, s.howItEnded)
}

// howItEnded is the end of a server in one line, with its last words.
func (s *mcpStarter) howItEnded(exit process.Exit, words []byte, err error) string {
	how := command.Ending(permission.Visible(filepath.Base(s.server.command[0])), exit, words, err)
	return s.run.engine.redactor.Text(how)
}

// programFolders are folders below the home folder with the programs that a server of the user names, which sandboxes
// then show: of a file in a package, with what it needs beside it, the package.
func programFolders(command []string, home string) []string {
	var list []string
	if home == "" {
		return nil
	}
	for _, word := range command {
		if rest, ok := strings.CutPrefix(word, "~/"); ok {
			word = filepath.Join(home, rest)
		}
		rel, err := filepath.Rel(home, word)
		if err != nil || !filepath.IsAbs(word) || !filepath.IsLocal(rel) || rel == "." ||
			permission.Secret(filepath.ToSlash(word)) {
			continue
		}
		info, err := os.Stat(word)
		if err != nil || !info.Mode().IsRegular() && !info.IsDir() {
			continue
		}
		shown := filepath.Clean(word)
		for dir, up := filepath.Dir(shown), 0; up < 5 && dir != home &&
			len(dir) > len(home); dir, up = filepath.Dir(dir), up+1 {
			if slices.ContainsFunc([]string{"package.json", "pyproject.toml", "pyvenv.cfg"}, func(name string) bool {
				_, err := os.Stat(filepath.Join(dir, name))
				return err == nil
			}) {
				shown = dir
				break
			}
		}
		list = append(list, shown)
	}
	return list
}

// reference is ${NAME} or ${NAME:-default} in a server's configuration.
var reference = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*|keyring:[^}:]+)(:-([^}]*))?\}`)

// secretNames are parts of the names of variables and headers whose values are secret.
var secretNames = regexp.MustCompile(`(?i)key|token|secret|passw|auth|credential|cookie`)

// expandServer puts in what a server's configuration names of the environment, of the user's file of keys, or of the
// keyring. One of a project gets what any command gets, and no keys. The redactor learns what may be secret.
func expandServer(s mcpServer, get func(string) string, redactor *secret.Redactor) (mcpServer, error) {
	if s.project {
		harmless := map[string]string{}
		for _, pair := range redactor.Environ(os.Environ()) {
			name, value, _ := strings.Cut(pair, "=")
			harmless[name] = value
		}
		get = func(name string) string { return harmless[name] }
	}
	var missing []string
	expand := func(text string) string {
		return reference.ReplaceAllStringFunc(text, func(found string) string {
			parts := reference.FindStringSubmatch(found)
			value := get(parts[1])
			switch {
			case value == "" && parts[2] != "":
				return parts[3]
			case value == "":
				missing = append(missing, parts[1])
			case secretNames.MatchString(parts[1]) || strings.HasPrefix(parts[1], "keyring:"):
				redactor.Add(parts[1], value)
			}
			return value
		})
	}
	learn := func(name, value string) string {
		value = expand(value)
		if secretNames.MatchString(name) {
			redactor.Add(s.name+" "+name, value)
			if _, token, ok := strings.Cut(value, " "); ok { // Bearer …
				redactor.Add(s.name+" "+name, token)
			}
		}
		return value
	}
	expanded := s
	expanded.command, expanded.env, expanded.headers = nil, map[string]string{}, map[string]string{}
	for _, word := range s.command {
		expanded.command = append(expanded.command, expand(word))
	}
	expanded.url = expand(s.url)
	if u, err := url.Parse(expanded.url); err == nil {
		if password, ok := u.User.Password(); ok {
			redactor.Add(s.name+" password", password)
		}
		for name, values := range u.Query() {
			if secretNames.MatchString(name) {
				redactor.Add(s.name+" "+name, values[0])
			}
		}
	}
	for name, value := range s.env {
		expanded.env[name] = learn(name, value)
	}
	for name, value := range s.headers {
		expanded.headers[name] = learn(name, value)
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		why := "set it in the environment, or in the file of keys"
		if s.project {
			why = "a project's server gets no keys of yours: configure it in your own config.toml where it needs one"
		}
		return expanded, fmt.Errorf("%s is not set, which its configuration names; %s",
			strings.Join(slices.Compact(missing), ", "), why)
	}
	return expanded, nil
}
