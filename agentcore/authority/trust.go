package authority

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/hook"
	"github.com/agentls/agentls/agentcore/instruction"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/promptfile"
	"github.com/agentls/agentls/agentcore/store"
)

// FolderTrust is how far the user trusts a workspace folder, and what acts in it, or would.
type FolderTrust struct {
	// Root is the folder as an absolute path without symbolic links.
	Root string
	permission.Trust
	// Never says that the user does not want to be asked.
	Never bool
	// Actors are the files as they are now, by path.
	Actors []permission.Actor
	// Decided is when the user said so; zero where nothing is stored.
	Decided time.Time
}

// Hash is what was hashed of a file by its absolute path; ok is false for one that does not act.
func (t FolderTrust) Hash(name string) (hash string, ok bool) {
	rel, err := filepath.Rel(t.Root, name)
	if err != nil {
		return "", false
	}
	i := slices.IndexFunc(t.Actors, func(a permission.Actor) bool { return a.Path == filepath.ToSlash(rel) })
	if i < 0 {
		return "", false
	}
	return t.Actors[i].Hash, true
}

// Vouch says why a file is not part of what the user trusted, nil where it is: by its absolute path below a folder, as
// the caller names the folder, and its bytes.
func (t FolderTrust) Vouch(dir, name string, content []byte) error {
	rel, err := filepath.Rel(dir, name)
	if err != nil {
		return err
	}
	switch hash, ok := t.Hash(filepath.Join(t.Root, rel)); {
	case !ok:
		return errors.New("is none of the files that you trusted in this folder; `agentls trust` shows and trusts them")
	case hash != permission.Hash(content):
		return errors.New("has changed since you trusted the folder; `agentls trust` shows and trusts it")
	}
	return nil
}

// The decisions on a folder, as they are stored.
const (
	trusted   = "trusted"
	untrusted = "untrusted" // never ask
)

// RealRoot is the name that trust in a folder is stored under, so that it holds whatever links lead there.
func RealRoot(root string) (string, error) {
	real, err := filepath.EvalSymlinks(root)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return "", fmt.Errorf("find the folder %s: %w", root, err)
	}
	return real, nil
}

// Acting reads what acts, or would, in a workspace folder: configuration, definitions, skills, instructions and what
// they import, and the files of the folder that hooks and MCP servers of its configuration name. Of the folders below
// it the files with instructions are named, as slash paths. It reads the disk, and fails where there is more than can
// be looked at.
func Acting(ctx context.Context, root string, below ...string) ([]permission.Actor, error) {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, fmt.Errorf("open the folder %s: %w", root, err)
	}
	defer dir.Close() // only read from
	instructions := append(instruction.Named(), below...)
	actors, err := permission.Actors(ctx, dir, instructions...)
	if err != nil {
		return actors, err
	}
	more := importsOf(dir, actors)
	if slices.ContainsFunc(actors, func(a permission.Actor) bool { return isConfig(a.Path) }) {
		more = programs(ProjectConfig(root), root, dir)
	}
	for _, a := range actors {
		hooks, servers := definedCommands(dir, a.Path)
		for _, h := range hooks {
			more = append(more, NamedFiles(CommandWords(h.Command), root, dir)...)
		}
		for _, server := range servers {
			more = append(more, NamedFiles(ServerWords(server.Command, server.Env), root, dir)...)
		}
	}
	if len(more) == 0 {
		return actors, nil
	}
	return permission.Actors(ctx, dir, append(more, instructions...)...)
}

// isConfig reports whether a file of a folder, by its slash path, is configuration.
func isConfig(name string) bool { return name == config.ProjectFile || name == config.ProjectServers }

// ProjectConfig is what the folder's own configuration alone says.
func ProjectConfig(root string) *config.Config {
	cfg, _ := config.Load(config.Sources{Projects: []string{root}}) // who uses it tells the problems
	return cfg
}

// programs are the files of a folder that the commands of its configuration name, as slash paths.
func programs(cfg *config.Config, root string, dir *os.Root) []string {
	var words []string
	for _, hooks := range cfg.Hooks {
		for _, h := range hooks {
			words = append(words, CommandWords(h.Command)...)
		}
	}
	for _, server := range cfg.MCP {
		words = append(words, ServerWords(append([]string{server.Command}, server.Args...), server.Env)...)
	}
	return NamedFiles(words, root, dir)
}

// ServerWords are the words of an MCP server's command and of its variables that may name files.
func ServerWords(command []string, env map[string]string) []string {
	return append(CommandWords(command), CommandWords(slices.Collect(maps.Values(env)))...)
}

// maxDefinition is the largest file of definitions whose commands are looked at, in bytes.
const maxDefinition = 1 << 20

// definitionText is the text of a file of definitions in a folder, by its slash path; of any other file there is none.
func definitionText(dir *os.Root, name string) []byte {
	if _, ok := agent.Detect(name); !ok {
		return nil
	}
	if info, err := dir.Stat(name); err != nil || !info.Mode().IsRegular() || info.Size() > maxDefinition {
		return nil
	}
	text, err := dir.ReadFile(name)
	if err != nil {
		return nil // what cannot be read does not run
	}
	return text
}

// definedCommands are the hooks and MCP servers of the definitions in a file of a folder, by its slash path.
func definedCommands(dir *os.Root, name string) (hooks []agent.Hook, servers []agent.MCPServer) {
	text := definitionText(dir, name)
	if !bytes.Contains(text, []byte("hooks")) && !bytes.Contains(text, []byte("mcp")) {
		return nil, nil
	}
	return commandsOf(agent.Parse(name, string(text)).Definitions)
}

// commandsOf are the hooks and MCP servers of definitions.
func commandsOf(definitions []*agent.Definition) (hooks []agent.Hook, servers []agent.MCPServer) {
	for _, d := range definitions {
		hooks, servers = append(hooks, d.Hooks...), append(servers, d.MCPServers...)
	}
	return hooks, servers
}

// atRoot puts "." in the place of the variables with the workspace folder that hooks get.
var atRoot = strings.NewReplacer(
	`"$CLAUDE_PROJECT_DIR"`, ".", `"${CLAUDE_PROJECT_DIR}"`, ".", "$CLAUDE_PROJECT_DIR", ".",
	"${CLAUDE_PROJECT_DIR}", ".",
	`"$AGENTLS_PROJECT_DIR"`, ".", `"${AGENTLS_PROJECT_DIR}"`, ".", "$AGENTLS_PROJECT_DIR", ".",
	"${AGENTLS_PROJECT_DIR}", ".",
)

// CommandWords are the words of a command that may name files, also those of a script in it.
func CommandWords(command []string) (words []string) {
	for _, word := range command {
		words = append(words,
			strings.FieldsFunc(atRoot.Replace(word),
				func(r rune) bool { return strings.ContainsRune(" \t\n;&|<>()\"'`=", r) })...)
	}
	return words
}

// NamedFiles are those of a folder's files that words name, as sorted slash paths.
func NamedFiles(words []string, root string, dir *os.Root) []string {
	var list []string
	for _, word := range words {
		if filepath.IsAbs(word) {
			if rel, err := filepath.Rel(root, word); err == nil {
				word = rel
			}
		}
		if word = filepath.Clean(word); word == "." || !filepath.IsLocal(word) {
			continue
		}
		if info, err := dir.Stat(word); err == nil && info.Mode().IsRegular() {
			list = append(list, filepath.ToSlash(word))
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// UnknownTrust is [ReadTrust] where nothing is stored.
func UnknownTrust(ctx context.Context, root string) (t FolderTrust, err error) {
	t.Standing = permission.Unknown
	if t.Root, err = RealRoot(root); err != nil {
		return t, err
	}
	t.Actors, err = Acting(ctx, t.Root)
	return t, err
}

// ReadTrust reads how far the user trusts a workspace folder, from the store and the disk. A folder in which nothing
// acts is trusted where the user said so, as any other: checkers read its configuration only then. Of the folders below
// it, those files with instructions are looked at that the user trusted, and those that are named, as slash paths: any
// other counts for nobody ([FolderTrust.Vouch]). After an error it is not to be trusted.
func ReadTrust(ctx context.Context, s *store.Store, root string, below ...string) (t FolderTrust, err error) {
	t.Standing = permission.Unknown
	if t.Root, err = RealRoot(root); err != nil {
		return t, err
	}
	rows, err := s.Trust(ctx, t.Root)
	if err != nil {
		return t, fmt.Errorf("read whether %s is trusted: %w", t.Root, err)
	}
	var known []string
	for _, row := range rows {
		known = append(known, row.Path)
	}
	if t.Actors, err = Acting(ctx, t.Root, append(deep(known), below...)...); err != nil {
		return t, err
	}
	decided := false
	var then []permission.Actor
	for _, row := range rows {
		switch {
		case row.Path != "":
			then = append(then, permission.Actor{Path: row.Path, Hash: row.Hash})
		case row.Decision == trusted:
			decided, t.Decided = true, row.Decided
		default:
			t.Never, t.Decided = true, row.Decided
		}
	}
	t.Trust = permission.Compare(decided, then, t.Actors)
	return t, nil
}

// FolderTrust is [ReadTrust] with the store of the decisions.
func (d *Decisions) FolderTrust(ctx context.Context, root string, below ...string) (FolderTrust, error) {
	return ReadTrust(ctx, d.store, root, below...)
}

// WholeTrust is FolderTrust for who is about to trust a folder: it looks for [DeepInstructions].
func (d *Decisions) WholeTrust(ctx context.Context, root string) (FolderTrust, error) {
	real, err := RealRoot(root)
	if err != nil {
		return FolderTrust{Trust: permission.Trust{Standing: permission.Unknown}}, err
	}
	below, err := DeepInstructions(ctx, real)
	if err != nil {
		return FolderTrust{Root: real, Trust: permission.Trust{Standing: permission.Unknown}}, err
	}
	return ReadTrust(ctx, d.store, root, below...)
}

// TrustFolder stores that the user trusts a folder as it was shown: with these actors and no others. It returns when
// that is durable.
func (d *Decisions) TrustFolder(ctx context.Context, root string, shown []permission.Actor) error {
	now := time.Now().UTC()
	rows := []store.Trusted{{Hash: permission.Digest(shown), Decision: trusted, Decided: now}}
	for _, a := range shown {
		rows = append(rows, store.Trusted{Path: a.Path, Hash: a.Hash, Decision: trusted, Decided: now})
	}
	return d.storeTrust(ctx, root, rows)
}

// NeverTrust stores that the user does not trust a folder and does not want to be asked. It returns when that is
// durable.
func (d *Decisions) NeverTrust(ctx context.Context, root string) error {
	return d.storeTrust(ctx, root, []store.Trusted{{Decision: untrusted, Decided: time.Now().UTC()}})
}

// RevokeTrust forgets what the user said about a folder, which need not be there any more. It returns when that is
// durable.
func (d *Decisions) RevokeTrust(ctx context.Context, root string) error {
	return d.storeTrust(ctx, root, nil)
}

func (d *Decisions) storeTrust(ctx context.Context, root string, rows []store.Trusted) error {
	real, err := RealRoot(root)
	if err != nil {
		if len(rows) > 0 {
			return err
		}
		real = filepath.Clean(root) // it is gone, and its trust goes, too
	}
	for i := range rows {
		rows[i].Root = real
	}
	done, err := d.takeTurn(ctx)
	if err != nil {
		return err
	}
	defer done()
	if err := d.submit(ctx, store.Batch{TrustRemoved: []string{real}, Trusted: rows}); err != nil {
		return err
	}
	_, err = d.readNow(ctx) // whoever decides here knows it
	return err
}

// FolderDecision is what the user said about a folder.
type FolderDecision struct {
	Root string
	// Trusted, or else never to be asked about.
	Trusted bool
	Decided time.Time
}

// TrustedFolders lists what the user said about folders, by path. Whether a trusted one is as it was then only
// [Decisions.FolderTrust] tells.
func (d *Decisions) TrustedFolders(ctx context.Context) ([]FolderDecision, error) {
	rows, err := d.store.TrustedRoots(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the trusted folders: %w", err)
	}
	list := make([]FolderDecision, len(rows))
	for i, row := range rows {
		list[i] = FolderDecision{Root: row.Root, Trusted: row.Decision == trusted, Decided: row.Decided}
	}
	return list, nil
}

// ActingItem is something that acts in a folder once the user trusts it.
type ActingItem struct {
	// Path of its file below the folder, with slashes.
	Path string
	// Kind is "agent", "hook", "mcp", "config", "instructions", "skill" or "prompt".
	Kind string
	// Description is what it is, in one line with hidden characters visible.
	Description string
}

// DescribeActing says what the files of a folder would do, for people to decide on: hooks and MCP servers with their
// commands. Nothing of them is used.
func DescribeActing(root string, actors []permission.Actor) []ActingItem {
	var list []ActingItem
	add := func(name, kind, text string) {
		list = append(list, ActingItem{Path: name, Kind: kind, Description: permission.Visible(text)})
	}
	dir, err := os.OpenRoot(root)
	if err == nil {
		defer dir.Close() // only read from
	}
	defined, prompts := definedIn(dir, actors)
	var imported []string
	if dir != nil {
		imported = importsOf(dir, actors)
	}
	for _, a := range actors {
		first := len(list) // what the file itself is
		switch {
		case strings.HasPrefix(a.Hash, "unreadable"):
			add(a.Path, "config", a.Hash)
		case a.Path == config.ProjectFile:
			add(a.Path, "config", "Configuration that can narrow yours.")
			describeCommands(ProjectConfig(root), a.Path, func(kind, text string) { add(a.Path, kind, text) })
		case a.Path == config.ProjectServers:
			add(a.Path, "config", "MCP servers.")
			describeCommands(ProjectConfig(root), a.Path, func(kind, text string) { add(a.Path, kind, text) })
		case strings.Contains(a.Path, "/skills/") && path.Base(a.Path) == "SKILL.md":
			add(a.Path, "skill", "The skill "+path.Base(path.Dir(a.Path))+".")
		case strings.Contains(a.Path, "/skills/"):
			add(a.Path, "skill", "A file of a skill.")
		case prompts[a.Path]:
			add(a.Path, "agent", "A prompt of an agent.")
		case promptfile.Is(a.Path):
			add(a.Path, "prompt", "A prompt that you may call.")
			describePrompt(dir, a.Path, func(text string) { add(a.Path, "prompt", text) })
		case promptfile.Beside(a.Path):
			add(a.Path, "prompt", "A file beside prompts.")
		case len(defined[a.Path]) > 0:
			add(a.Path, "agent", namedAgents(defined[a.Path]))
		case strings.Contains(a.Path, "/agents/"), strings.Contains(a.Path, "/agent/"):
			add(a.Path, "agent", "A file beside agents, without one that can be read.")
		case strings.HasPrefix(a.Path, ".agentls/"):
			add(a.Path, "config", "A file of agentls.")
		case instruction.Is("/" + a.Path):
			add(a.Path, "instructions", "Instructions for agents.")
		case strings.HasPrefix(a.Path, ".github/"):
			add(a.Path, "instructions", "A file beside instructions.")
		case slices.Contains(imported, a.Path):
			add(a.Path, "instructions", "Imported by instructions.")
		default:
			add(a.Path, "hook", "A file that a command names.")
		}
		list[first].Description += unseenOf(a)
		describeDefined(defined[a.Path], func(kind, text string) { add(a.Path, kind, text) })
	}
	return list
}

// describeDefined tells what definitions start.
func describeDefined(defined []*agent.Definition, add func(kind, text string)) {
	hooks, servers := commandsOf(defined)
	for _, h := range hooks {
		add("hook", h.Event+" runs "+hook.Title(h.Command))
	}
	for _, server := range servers {
		switch {
		case server.URL != "":
			add("mcp", server.Name+" at "+server.URL)
		case len(server.Command) > 0:
			add("mcp", server.Name+" runs "+strings.Join(server.Command, " "))
		}
	}
}

// maxPromptCommands bounds the commands of a prompt that are told.
const maxPromptCommands = 20

// describePrompt tells which commands a prompt of a folder runs, by its slash path. dir may be nil, in which nothing
// is.
func describePrompt(dir *os.Root, name string, add func(text string)) {
	if dir == nil {
		return
	}
	text, err := readBelow(dir, name)
	if err != nil {
		return // what cannot be read is no prompt
	}
	for i, line := range promptfile.Commands(string(text)) {
		if i == maxPromptCommands {
			add("Calling it runs more commands.")
			return
		}
		add("Calling it runs " + line)
	}
}

// definedIn are the definitions in the files of a folder, by path, and the files that they take their prompts from. dir
// may be nil, in which nothing is.
func definedIn(dir *os.Root,
	actors []permission.Actor,
) (defined map[string][]*agent.Definition, prompts map[string]bool) {
	defined, prompts = map[string][]*agent.Definition{}, map[string]bool{}
	if dir == nil {
		return defined, prompts
	}
	for _, a := range actors {
		if text := definitionText(dir, a.Path); text != nil {
			defined[a.Path] = agent.Parse(a.Path, string(text)).Definitions
		}
		for _, d := range defined[a.Path] {
			if d.PromptFile != "" {
				prompts[path.Join(path.Dir(a.Path), filepath.ToSlash(d.PromptFile))] = true
			}
		}
	}
	return defined, prompts
}

// Defining is the file, by its slash path in the folder, that defines an agent of a slug, id or alias; ok is false
// where none does. It reads the disk, and uses nothing of what it finds.
func (t FolderTrust) Defining(name string) (file string, ok bool) {
	dir, err := os.OpenRoot(t.Root)
	if err != nil {
		return "", false
	}
	defer dir.Close() // only read from
	defined, _ := definedIn(dir, t.Actors)
	for _, file := range slices.Sorted(maps.Keys(defined)) {
		for _, d := range defined[file] {
			if slices.ContainsFunc(append([]string{d.Slug, d.ID}, d.Aliases...),
				func(s string) bool { return s != "" && strings.EqualFold(s, name) }) {
				return file, true
			}
		}
	}
	return "", false
}

// namedAgents says in a sentence which agents a file defines.
func namedAgents(definitions []*agent.Definition) string {
	const most = 20
	var names []string
	for _, d := range definitions {
		if name := cmp.Or(d.Slug, "without a name"); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	switch n := len(names); {
	case n == 1:
		return "The agent " + names[0] + "."
	case n > most:
		return fmt.Sprintf("The agents %s and %d more.", strings.Join(names[:most], ", "), n-most)
	default:
		return "The agents " + strings.Join(names[:n-1], ", ") + " and " + names[n-1] + "."
	}
}

// unseenOf warns of what the reader of a file does not see.
func unseenOf(a permission.Actor) string {
	switch a.Unseen {
	case 0:
		return ""
	case 1:
		return " It holds a character that cannot be seen."
	}
	return fmt.Sprintf(" It holds %d characters that cannot be seen.", a.Unseen)
}

// describeCommands says what a file of a configuration would run, by its slash path.
func describeCommands(cfg *config.Config, file string, add func(kind, text string)) {
	var events, servers []string
	for name := range cfg.Hooks {
		if file == config.ProjectFile {
			events = append(events, name)
		}
	}
	for name, server := range cfg.MCP {
		if strings.HasSuffix(filepath.ToSlash(server.Origin.File), "/"+file) {
			servers = append(servers, name)
		}
	}
	slices.Sort(events)
	slices.Sort(servers)
	for _, name := range events {
		for _, h := range cfg.Hooks[name] {
			add("hook", name+" runs "+strings.Join(h.Command, " "))
		}
	}
	for _, name := range servers {
		server := cfg.MCP[name]
		if server.URL != "" {
			add("mcp", name+" at "+server.URL)
			continue
		}
		add("mcp", name+" runs "+strings.Join(append([]string{server.Command}, server.Args...), " "))
	}
}

// Sources adds the folder's own configuration to what a configuration is loaded from, where the folder is trusted: the
// very bytes that were trusted, or none. dir is the folder as the caller names it.
func (t FolderTrust) Sources(s config.Sources, dir string) config.Sources {
	if t.Standing != permission.Trusted {
		return s
	}
	s.Projects = append(slices.Clone(s.Projects), dir)
	read := s.ReadFile // which knows of the folders before
	if read == nil {
		read = config.ReadFile
	}
	s.ReadFile = func(file string) ([]byte, error) {
		text, err := read(file)
		rel, relErr := filepath.Rel(dir, file)
		if err != nil || relErr != nil || !isConfig(filepath.ToSlash(rel)) {
			return text, err
		}
		if hash, ok := t.Hash(filepath.Join(t.Root, rel)); !ok || hash != permission.Hash(text) {
			return nil, errors.New("it has changed since the folder was trusted")
		}
		return text, nil
	}
	return s
}

// Unchanged fails where something else acts in the folder now. Who has read what acts asks it last, so that nothing
// counts that was put there meanwhile.
func (t FolderTrust) Unchanged(ctx context.Context) error {
	now, err := Acting(ctx, t.Root, deep(pathsOf(t.Actors))...)
	if err != nil {
		return err
	}
	if permission.Digest(now) != permission.Digest(t.Actors) {
		return fmt.Errorf("what acts in %s has changed while it was read; look at it again with `agentls trust`",
			t.Root)
	}
	return nil
}
