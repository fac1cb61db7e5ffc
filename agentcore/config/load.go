package config

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// Sources says where Load finds the layers. It does not read a source that is left empty.
type Sources struct {
	// Getenv returns a variable of the environment (os.Getenv). An empty value counts as not set.
	Getenv func(string) string
	// Home is the user's home folder; origins show it as ~.
	Home string
	// UserFile is the path of the user's config.toml: Dirs.File.
	UserFile string
	// Projects are the absolute paths of the workspace folders whose ProjectFile and ProjectServers are layers, in the
	// editor's order. They are only the folders whose present files the user trusts. The rules and hooks of all these
	// folders count, and so does the strictest limit. For any other key that several of them set, the first folder
	// counts.
	Projects []string
	// Initialization are the client's initializationOptions; Settings is its answer to workspace/configuration for the
	// section agentls. Both are JSON objects with the keys of config.toml, nested or dotted, at the top or under
	// "agentls". Settings take precedence. null counts as not set.
	Initialization, Settings json.RawMessage
	// Flags are key=value of the command line, the key dotted; the last one wins.
	Flags []string
	// ReadFile reads a configuration file; nil means this package's ReadFile. With a function of its own, a caller can
	// use exactly the bytes that the user trusted. Its error becomes a Problem, unless it is fs.ErrNotExist.
	ReadFile func(name string) ([]byte, error)
}

// maxProblems bounds how many problems one source can report.
const maxProblems = 100

// Load merges the layers. It always returns a valid configuration; everything that was wrong is in the problems, in the
// order of the layers. It keeps nothing of its argument. Since it reads files, it must not be called on a dispatch
// path.
//
// If a source could not be used at all, its Problem is Whole. A caller that loads again after a change should then keep
// its present configuration, since the new one lacks the user's deny rules and hooks.
func Load(s Sources) (*Config, []Problem) {
	l := newLoader(s)
	if s.UserFile != "" {
		l.begin(LayerUser, s.UserFile)
		named := s.Getenv != nil && s.Getenv("AGENTLS_CONFIG") != ""
		l.file(s.UserFile, named)
	}
	for _, dir := range s.Projects {
		name := filepath.Join(dir, filepath.FromSlash(ProjectFile))
		l.begin(LayerProject, name)
		l.file(name, false)
		name = filepath.Join(dir, ProjectServers)
		l.begin(LayerProject, name)
		l.readFile(name, false, l.servers)
	}
	if s.Getenv != nil {
		l.environment(s.Getenv)
	}
	for _, text := range []json.RawMessage{s.Initialization, s.Settings} {
		l.begin(LayerEditor, "")
		l.settings(text)
	}
	l.begin(LayerFlag, "")
	l.flags(s.Flags)
	l.finish()
	return l.config, l.problems
}

// Check returns what is wrong in the text of a configuration file by itself, as an editor shows it. layer is LayerUser
// or LayerProject; name is the file's path.
func Check(text []byte, layer Layer, name string) []Problem {
	l := newLoader(Sources{})
	l.begin(layer, name)
	l.text(text)
	l.finish()
	for _, name := range l.config.Unlisted() { // another layer may name models of these providers
		key := "providers." + quoteKey(name)
		l.origin, l.count = l.config.origins[key], 0
		l.tell(SeverityWarning, key, place{l.origin.Line, min(1, l.origin.Line)},
			"no model of it is known, so that it is taken only where one is named",
			`add models = ["…"], or name one as `+name+"/MODEL")
	}
	return l.problems
}

// loader merges one layer after the other. One goroutine uses it.
type loader struct {
	sources  Sources
	config   *Config
	problems []Problem

	origin Origin // the origin of the current layer, without a line
	count  int    // the number of problems of the current layer
}

// newLoader returns a loader that holds the defaults.
func newLoader(s Sources) *loader {
	l := &loader{sources: s, config: &Config{
		Providers: map[string]Provider{},
		Presets:   map[string]Preset{},
		Models:    map[string]Model{},
		Languages: map[string]Language{},
		Prices:    map[string]Price{},
		Hooks:     map[string][]Hook{},
		MCP:       map[string]MCPServer{},
		origins:   map[string]Origin{},
	}}
	fields := settings()
	for i := range fields {
		fields[i].setDefault(l.config)
	}
	return l
}

// begin starts a layer.
func (l *loader) begin(layer Layer, file string) {
	shown := file
	if home := l.sources.Home; home != "" && file != "" {
		if below, err := filepath.Rel(home, file); err == nil && filepath.IsLocal(below) {
			shown = filepath.Join("~", below)
		}
	}
	l.origin = Origin{Layer: layer, File: file, Shown: shown}
	l.count = 0
}

// tell reports a problem of the current layer.
func (l *loader) tell(severity Severity, key string, at place, message, hint string) {
	l.count++
	if l.count > maxProblems {
		return
	}
	if l.count == maxProblems {
		key, message, hint, severity = "", "more problems are not shown", "correct those above first", SeverityWarning
	}
	source := l.origin.Layer.String()
	if l.origin.Variable != "" {
		source += " " + l.origin.Variable
	}
	if l.origin.File != "" && at == (place{}) {
		at = place{1, 1}
	}
	l.problems = append(l.problems, Problem{
		Source: source, File: l.origin.File, Line: at.line, Column: at.column,
		Key: key, Message: message, Hint: hint, Severity: severity,
	})
}

// lose reports that nothing of the current layer can be used.
func (l *loader) lose(severity Severity, at place, message, hint string) {
	l.tell(severity, "", at, message, hint)
	l.problems[len(l.problems)-1].Whole = true
}

// loseText reports an error of a parser.
func (l *loader) loseText(err error) {
	f := &fault{message: err.Error()}
	errors.As(err, &f)
	l.lose(SeverityError, cmp.Or(f.at, place{1, 1}), f.message, f.hint)
}

// refuse reports an error of a key's value; at is the place of the key.
func (l *loader) refuse(key string, at place, err error) {
	f := &fault{message: err.Error()}
	errors.As(err, &f)
	l.tell(SeverityError, key, cmp.Or(f.at, at), f.message, f.hint)
}

// unknown warns of a key or name that means nothing.
func (l *loader) unknown(key string, at place, name string, known []string) {
	hint := ""
	if l.count < maxProblems { // looking for similar names takes longer than the rest of a load
		hint = didYouMean(name, known)
	}
	l.tell(SeverityWarning, key, at, "unknown key, ignored", hint)
}

// setFrom notes that the current layer set a key.
func (l *loader) setFrom(key string, at place) Origin {
	o := l.origin
	o.Line = at.line
	l.config.origins[key] = o
	return o
}

// taken reports whether another workspace folder has already set a key that can have only one value. If so, it adds a
// problem.
func (l *loader) taken(key string, at place) bool {
	former, set := l.config.origins[key]
	if !set || former.Layer != LayerProject || l.origin.Layer != LayerProject || former.Folder() == l.origin.Folder() {
		return false
	}
	l.tell(SeverityWarning, key, at, fmt.Sprintf("ignored: %s sets it, and its folder comes first", former.Shown),
		"set it in one of the folders, or in your own config.toml")
	return true
}

// file reads and merges a configuration file. A missing file is no problem unless the user named it.
func (l *loader) file(name string, mustExist bool) { l.readFile(name, mustExist, l.text) }

// readFile does the same for a file of any format.
func (l *loader) readFile(name string, mustExist bool, merge func([]byte)) {
	read := l.sources.ReadFile
	if read == nil {
		read = ReadFile
	}
	text, err := read(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if mustExist {
			l.lose(SeverityWarning, place{}, "the file that AGENTLS_CONFIG names does not exist",
				"create it, or unset AGENTLS_CONFIG")
		}
	case errors.Is(err, ErrUnsafe):
		l.lose(SeverityWarning, place{}, "not used: "+err.Error(), "make it yours and run chmod go-w on it")
	case err != nil:
		l.lose(SeverityError, place{}, "not used: "+err.Error(), "make it a file that you can read")
	default:
		merge(text)
	}
}

// servers merges a file of MCP servers ([ProjectServers]).
func (l *loader) servers(text []byte) {
	root, err := parseJSON(text)
	if err != nil {
		l.loseText(err)
		return
	}
	for _, e := range root {
		if e.name != "mcpServers" {
			l.unknown(quoteKey(e.name), e.node.at, e.name, []string{"mcpServers"})
			continue
		}
		all, ok := l.tableOf("mcp", e.node, "expected an object with servers")
		if !ok {
			continue
		}
		var known table
		for _, server := range all {
			inner, ok := server.node.value.(table)
			if !ok {
				known = append(known, server)
				continue
			}
			kind := ""
			inner = slices.DeleteFunc(slices.Clone(inner), func(key entry) bool {
				if key.name == "type" {
					kind, _ = key.node.value.(string)
				}
				return key.name == "type"
			})
			if !slices.Contains([]string{"", "stdio", "http", "streamable-http"}, kind) {
				l.tell(SeverityWarning, "mcp."+quoteKey(server.name), server.node.at,
					fmt.Sprintf("ignored: servers of the type %.20q are not spoken with", kind),
					`use one of the type "stdio" or "http"`)
				continue
			}
			known = append(known, entry{server.name, node{inner, server.node.at}})
		}
		l.apply("", table{{"mcp", node{known, e.node.at}}})
	}
}

// text merges TOML text.
func (l *loader) text(text []byte) {
	root, err := parseTOML(string(text))
	if err != nil {
		l.loseText(err)
		return
	}
	l.apply("", root)
}

// environment merges AGENTLS_<KEY> for each single key, AGENTLS_PROVIDERS_<NAME>_<KEY> for the vendors, and the
// vendors' own variables for base URLs.
func (l *loader) environment(getenv func(string) string) {
	set := func(variable, key string, path ...string) {
		value := getenv(variable)
		if value == "" {
			return
		}
		l.begin(LayerEnvironment, "")
		l.origin.Variable = variable
		l.apply("", nest(append(strings.Split(key, "."), path...), node{value: rawText(value)}).value.(table))
	}
	set("ANTHROPIC_BASE_URL", "providers.anthropic.base_url")
	set("OPENAI_BASE_URL", "providers.openai.base_url")
	set("GOOGLE_GEMINI_BASE_URL", "providers.gemini.base_url")
	for _, f := range settings() {
		if f.key == "providers" {
			for _, name := range []string{"anthropic", "openai", "gemini"} {
				for _, e := range f.entries {
					set("AGENTLS_PROVIDERS_"+strings.ToUpper(name+"_"+e.key), f.key, name, e.key)
				}
			}
			continue
		}
		set("AGENTLS_"+strings.ToUpper(strings.ReplaceAll(f.key, ".", "_")), f.key)
	}
}

// settings merges one object of the editor.
func (l *loader) settings(text json.RawMessage) {
	root, err := parseJSON(text)
	if err != nil {
		l.loseText(err)
		return
	}
	l.object(root)
}

// object merges the entries of an editor's object: first the entries under "agentls", then the others, dotted keys
// last.
func (l *loader) object(root table) {
	for _, e := range root {
		if inner, ok := e.node.value.(table); ok && e.name == "agentls" {
			l.object(inner)
		}
	}
	var plain, dotted table
	for _, e := range root {
		name := strings.TrimPrefix(e.name, "agentls.")
		switch {
		case e.name == "agentls" || e.name == "trusted":
			// The entry agentls was merged above. The second one belongs to the server.
		case strings.Contains(name, "."):
			if path, err := splitKey(name); err == nil {
				dotted = append(dotted, nest(path, e.node).value.(table)...)
				continue
			}
			plain = append(plain, e)
		default:
			plain = append(plain, entry{name, e.node})
		}
	}
	l.apply("", plain)
	l.apply("", dotted)
}

// flags merges key=value pairs.
func (l *loader) flags(flags []string) {
	for _, flag := range flags {
		key, value, ok := strings.Cut(flag, "=")
		path, err := splitKey(strings.TrimSpace(key))
		if !ok || err != nil {
			l.tell(SeverityError, "", place{}, fmt.Sprintf("%.40q is not key=value", key),
				"write for instance max_depth=2")
			continue
		}
		l.apply("", nest(path, node{value: rawText(value)}).value.(table))
	}
}

// apply merges the keys of a table at the top level (prefix "") or below the first part of a dotted key.
func (l *loader) apply(prefix string, t table) {
	fields := settings()
	for _, e := range t {
		key := prefix + e.name
		if i := slices.IndexFunc(fields, func(f field) bool { return f.key == key }); i >= 0 {
			l.applyField(&fields[i], e.node)
			continue
		}
		if prefix == "" &&
			slices.ContainsFunc(fields, func(f field) bool { return strings.HasPrefix(f.key, key+".") }) {
			if inner, ok := l.tableOf(key, e.node, "expected a table"); ok {
				l.apply(key+".", inner)
			}
			continue
		}
		known := make([]string, len(fields))
		for i, f := range fields {
			known[i] = f.key
		}
		l.unknown(prefix+quoteKey(e.name), e.node.at, key, known)
	}
}

// applyField merges one top-level field.
func (l *loader) applyField(f *field, n node) {
	if l.origin.Layer == LayerProject && f.wider != nil && f.wider(l.config, l.config) { // wider is never
		l.tell(SeverityWarning, f.key, n.at, "ignored: a project may not set this", "set it in your own config.toml")
		return
	}
	if f.shape != leaf {
		f.merge(l, f, n)
		return
	}
	if f.wider == nil && l.taken(f.key, n.at) {
		return // the layer below has the stricter limit, which counts
	}
	if m, ok := f.at(l.config).(*map[string]string); ok {
		l.mergeVariables(f, *m, n)
		return
	}
	next := *l.config
	if err := f.assign(&next, n); err != nil {
		l.refuse(f.key, n.at, err)
		return
	}
	if l.origin.Layer == LayerProject && f.wider != nil && f.wider(l.config, &next) {
		l.tell(SeverityWarning, f.key, n.at, "ignored: a project may only narrow this",
			"set it in your own config.toml")
		return
	}
	*l.config = next
	l.setFrom(f.key, n.at)
}

// tableOf returns a node's table, reading one from a variable's or flag's text.
func (l *loader) tableOf(key string, n node, want string) (table, bool) {
	if n = l.structured(key, n); n.value == nil {
		return nil, false
	}
	t, ok := n.value.(table)
	if !ok {
		l.tell(SeverityError, key, n.at, want+", found "+n.describe(), "")
	}
	return t, ok
}

// structured reads the text of a variable or flag as TOML, and returns other nodes as they are. After an error, which
// it reports, the node is absent.
func (l *loader) structured(key string, n node) node {
	raw, ok := n.value.(rawText)
	if !ok {
		return n
	}
	n, err := inlineTOML(string(raw))
	if err != nil {
		l.refuse(key, place{}, err)
		return node{}
	}
	return n
}

// finish completes values that depend on several keys.
func (l *loader) finish() {
	for name := range vendors {
		if _, ok := l.config.Providers[name]; !ok {
			l.config.Providers[name] = Provider{}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.config.Providers)) {
		p, key := l.config.Providers[name], "providers."+quoteKey(name)
		if p.Kind == "" {
			p.Kind = name
		}
		vendor, ok := vendors[p.Kind]
		if !ok {
			delete(l.config.Providers, name)
			l.origin, l.count = l.config.origins[key], 0
			l.tell(SeverityError, key, place{l.origin.Line, min(1, l.origin.Line)},
				"not used: it is not known what this provider speaks", `add kind = "openai", "anthropic" or "gemini"`)
			continue
		}
		// A vendor's key may go to another address only for the vendor's own provider, or if the user says so.
		if _, set := l.config.origins[key+".key_env"]; !set && (p.BaseURL == "" || name == p.Kind) {
			p.KeyEnv = vendor.KeyEnv
		}
		p.BaseURL = strings.TrimRight(cmp.Or(p.BaseURL, vendor.BaseURL), "/")
		if p.API == "" && p.BaseURL == vendor.BaseURL {
			p.API = vendor.API
		} else if p.API == "" && vendor.API != "" {
			p.API = "chat" // which all that is compatible with OpenAI speaks
		}
		l.config.Providers[name] = p
	}
	l.finishWebsearch()
}

// searchKeys are the default variables for the keys of search engines.
var searchKeys = map[string]string{"brave": "BRAVE_API_KEY", "tavily": "TAVILY_API_KEY"}

// finishWebsearch completes the settings of the search engine. A vendor's key goes to another address only if the user
// says so.
func (l *loader) finishWebsearch() {
	c := l.config
	if c.WebsearchKind == "searxng" && c.WebsearchBaseURL == "" {
		l.origin, l.count = c.origins["websearch.kind"], 0
		l.tell(SeverityError, "websearch.kind", place{l.origin.Line, min(1, l.origin.Line)},
			"not used: it is not known where this search engine answers",
			"add websearch.base_url, such as http://127.0.0.1:8888")
		c.WebsearchKind = ""
	}
	if c.WebsearchKeyEnv == "" && c.WebsearchBaseURL == "" {
		c.WebsearchKeyEnv = searchKeys[c.WebsearchKind]
	}
}
