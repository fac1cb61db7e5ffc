package servers

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/lazyregexp"
	"github.com/agentls/agentls/agentcore/mcpname"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/secret"
)

// Server is an MCP server as it is configured. It is never changed.
type Server struct {
	// name is the server's name as its tools have it.
	Name    string
	command []string // only for a server on pipes
	env     map[string]string
	url     string // only for a server over HTTP
	headers map[string]string
	// Project says that a workspace folder's configuration has the server: it needs trust and a sandbox.
	Project bool
	// dir is the folder whose configuration has it, and in which it runs; empty for the first folder.
	dir string
	// from is the place of its configuration, for people.
	from string
}

// key identifies a server: two servers with the same name that do the same are one.
func (s Server) key() string {
	parts := []string{s.Name, s.url, fmt.Sprint(s.Project), s.dir}
	parts = append(parts, s.command...)
	for _, m := range []map[string]string{s.env, s.headers} {
		parts = append(parts, "\x00")
		for _, name := range slices.Sorted(maps.Keys(m)) {
			parts = append(parts, name, m[name])
		}
	}
	return permission.Hash([]byte(strings.Join(parts, "\x00")))
}

// Configured are the MCP servers of a configuration, by name.
func Configured(cfg *config.Config) (list []Server, problems []string) {
	for _, name := range slices.Sorted(maps.Keys(cfg.MCP)) {
		c := cfg.MCP[name]
		s := Server{
			Name: mcpname.Server(name), env: c.Env, url: c.URL, headers: c.Headers,
			Project: c.Origin.Layer == config.LayerProject, dir: c.Origin.Folder(),
			from: cmp.Or(c.Origin.Shown, c.Origin.Layer.String()),
		}
		if c.Command != "" {
			s.command = append([]string{c.Command}, c.Args...)
		}
		switch i := slices.IndexFunc(list, func(o Server) bool { return o.Name == s.Name }); {
		case s.Name == "":
			problems = append(problems, fmt.Sprintf("the MCP server %q has no letter or digit in its name", name))
		case i < 0:
			list = append(list, s)
		case list[i].Project && !s.Project:
			list[i] = s
			fallthrough
		default:
			problems = append(problems, fmt.Sprintf("two MCP servers have the name %s, as tools have it", s.Name))
		}
	}
	return list, problems
}

// With are the servers of a list, with those of a definition, which describes them or names them among the configured
// ones. The problems are about the definition's servers.
func With(list, configured []Server, definition *agent.Definition) (with []Server, problems []string) {
	list = slices.Clone(list)
	for _, d := range definition.MCPServers {
		name := mcpname.Server(d.Name)
		at := func(list []Server) int {
			return slices.IndexFunc(list, func(s Server) bool { return s.Name == name })
		}
		if len(d.Command) == 0 && d.URL == "" {
			if at(list) < 0 && at(configured) >= 0 {
				list = append(list, configured[at(configured)])
			} else if at(list) < 0 {
				problems = append(problems,
					fmt.Sprintf("the definition of %s names the MCP server %s, which the configuration does not have",
						definition.Slug, permission.Visible(d.Name)))
			}
			continue
		}
		own := Server{
			Name: name, command: d.Command, env: d.Env, url: d.URL, headers: d.Headers,
			Project: definition.Source.Layer == agent.LayerProject, from: "the definition of " + definition.Slug,
		}
		switch i := at(list); {
		case name == "":
			problems = append(problems, fmt.Sprintf("the MCP server %q of %s has no letter or digit in its name",
				d.Name, definition.Slug))
		case i < 0:
			list = append(list, own)
		case own.Project && !list[i].Project:
			// The user's rules and grants for his server's tools must not hold for another server.
			problems = append(problems,
				fmt.Sprintf(
					"the definition of %s brings an MCP server %s, and you have one of that name: the project's is "+
						"left out", definition.Slug, name))
		default:
			list[i] = own
		}
	}
	return list, problems
}

// address is a server's command or URL for people, without parts that may be keys.
func (s Server) address() string {
	if s.url != "" {
		before, _, _ := strings.Cut(s.url, "?")
		return permission.Visible(before)
	}
	words := slices.Clone(s.command)
	if len(words) > 0 {
		words[0] = filepath.Base(words[0])
	}
	return permission.Visible(strings.Join(words, " "))
}

// reference matches ${NAME} or ${NAME:-default} in a server's configuration.
var reference = lazyregexp.New(`\$\{([A-Za-z_][A-Za-z0-9_]*|keyring:[^}:]+)(:-([^}]*))?\}`)

// secretNames matches parts of the names of variables and headers whose values are secret.
var secretNames = lazyregexp.New(`(?i)key|token|secret|passw|auth|credential|cookie`)

// expand replaces the references in a server's configuration to the environment, to the user's file of keys, and to the
// keyring. A project's server gets the variables that any command gets, and no keys. The redactor learns values that
// may be secret.
func expand(s Server, get func(string) string, redactor *secret.Redactor) (Server, error) {
	if s.Project {
		harmless := map[string]string{}
		for _, pair := range redactor.Environ(os.Environ()) {
			name, value, _ := strings.Cut(pair, "=")
			harmless[name] = value
		}
		get = func(name string) string { return harmless[name] }
	}
	x := &expansion{server: s.Name, get: get, redactor: redactor}
	expanded := s
	expanded.command, expanded.env, expanded.headers = nil, map[string]string{}, map[string]string{}
	for _, word := range s.command {
		expanded.command = append(expanded.command, x.text(word))
	}
	expanded.url = x.text(s.url)
	if u, err := url.Parse(expanded.url); err == nil {
		if password, ok := u.User.Password(); ok {
			redactor.Add(s.Name+" password", password)
		}
		for name, values := range u.Query() {
			if secretNames().MatchString(name) {
				redactor.Add(s.Name+" "+name, values[0])
			}
		}
	}
	for name, value := range s.env {
		expanded.env[name] = x.value(name, value)
	}
	for name, value := range s.headers {
		expanded.headers[name] = x.value(name, value)
	}
	if len(x.missing) > 0 {
		slices.Sort(x.missing)
		why := "set it in the environment, or in the file of keys"
		if s.Project {
			why = "a project's server gets no keys of yours: configure it in your own config.toml where it needs one"
		}
		return expanded, fmt.Errorf("%s is not set, which its configuration names; %s",
			strings.Join(slices.Compact(x.missing), ", "), why)
	}
	return expanded, nil
}

// expansion replaces the references in one server's configuration.
type expansion struct {
	server   string
	get      func(string) string
	redactor *secret.Redactor // learns the secrets that are filled in
	missing  []string         // names that have no value
}

// text replaces the references in a text.
func (x *expansion) text(text string) string {
	return reference().ReplaceAllStringFunc(text, func(found string) string {
		parts := reference().FindStringSubmatch(found)
		value := x.get(parts[1])
		switch {
		case value == "" && parts[2] != "":
			return parts[3]
		case value == "":
			x.missing = append(x.missing, parts[1])
		case secretNames().MatchString(parts[1]) || strings.HasPrefix(parts[1], "keyring:"):
			x.redactor.Add(parts[1], value)
		}
		return value
	})
}

// value is text for a variable or header whose name may say that it is secret.
func (x *expansion) value(name, value string) string {
	value = x.text(value)
	if secretNames().MatchString(name) {
		x.redactor.Add(x.server+" "+name, value)
		if _, token, ok := strings.Cut(value, " "); ok { // a value such as "Bearer …"
			x.redactor.Add(x.server+" "+name, token)
		}
	}
	return value
}
