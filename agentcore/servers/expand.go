package servers

import (
	"fmt"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/secret"
)

// reference is ${NAME} or ${NAME:-default} in a server's configuration.
var reference = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*|keyring:[^}:]+)(:-([^}]*))?\}`)

// secretNames are parts of the names of variables and headers whose values are secret.
var secretNames = regexp.MustCompile(`(?i)key|token|secret|passw|auth|credential|cookie`)

// expand puts in what a server's configuration names of the environment, of the user's file of keys, or of the
// keyring. One of a project gets what any command gets, and no keys. The redactor learns what may be secret.
func expand(s Server, get func(string) string, redactor *secret.Redactor) (Server, error) {
	if s.Project {
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
			redactor.Add(s.Name+" "+name, value)
			if _, token, ok := strings.Cut(value, " "); ok { // Bearer …
				redactor.Add(s.Name+" "+name, token)
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
			redactor.Add(s.Name+" password", password)
		}
		for name, values := range u.Query() {
			if secretNames.MatchString(name) {
				redactor.Add(s.Name+" "+name, values[0])
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
		if s.Project {
			why = "a project's server gets no keys of yours: configure it in your own config.toml where it needs one"
		}
		return expanded, fmt.Errorf("%s is not set, which its configuration names; %s",
			strings.Join(slices.Compact(missing), ", "), why)
	}
	return expanded, nil
}
