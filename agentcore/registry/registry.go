// Package registry holds the agents of an engine: the definitions that it was given, and above them those that were
// registered at run time, by whatever process, and are stored.
package registry

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/agentcore/store"
	"github.com/agentls/agentls/agentcore/tool"
)

// Options are what Agents are made of.
type Options struct {
	Store *store.Store
	// Base are the definitions that were not registered at run time.
	Base *agent.Registry
	// Known is what a definition may name now.
	Known  func() agent.Known
	Logger *slog.Logger
}

// Agents are the definitions of an engine. The methods may be called from any goroutine.
type Agents struct {
	store  *store.Store
	known  func() agent.Known
	logger *slog.Logger
	now    atomic.Pointer[agent.Registry] // the snapshot that everybody reads

	mu      sync.Mutex // of the writers
	base    *agent.Registry
	runtime map[string]*agent.Definition // by slug
	stored  map[string]string            // their texts, also of those that cannot be read
}

// Open reads the stored definitions.
func Open(ctx context.Context, o Options) (*Agents, error) {
	r := &Agents{
		store: o.Store, known: o.Known, logger: o.Logger, base: o.Base,
		runtime: map[string]*agent.Definition{}, stored: map[string]string{},
	}
	r.publish()
	return r, r.Read(ctx)
}

// Fixed holds definitions to which none can be registered.
func Fixed(base *agent.Registry) *Agents {
	r := &Agents{base: base}
	r.publish()
	return r
}

// Now returns the definitions of this moment. A run keeps the one that it started with.
func (r *Agents) Now() *agent.Registry { return r.now.Load() }

// SetBase replaces the definitions that were not registered at run time.
func (r *Agents) SetBase(base *agent.Registry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.base = base
	r.publish()
}

// Read takes in which agents other processes have registered.
func (r *Agents) Read(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.read(ctx)
}

// strictly is what definitions may name that are registered.
func (r *Agents) strictly() agent.Known {
	known := r.known()
	known.Strict = true
	return known
}

// read takes in what is stored by now, by whatever process. A definition that cannot be read is logged and left out.
// The caller holds the writers' lock.
func (r *Agents) read(ctx context.Context) error {
	rows, err := r.store.Agents(ctx)
	if err != nil {
		return fmt.Errorf("read the registered agents: %w", err)
	}
	stored, runtime := map[string]string{}, map[string]*agent.Definition{}
	for _, row := range rows {
		stored[row.Slug] = string(row.Definition)
		if r.stored[row.Slug] == stored[row.Slug] {
			if d := r.runtime[row.Slug]; d != nil {
				runtime[row.Slug] = d
			}
			continue
		}
		file := agent.ParseAs(agent.JSON, "", stored[row.Slug])
		if agent.Failed(file.Problems) || len(file.Definitions) != 1 {
			r.logger.Error("a registered agent cannot be used", "agent", row.Slug, "problems", texts(file.Problems))
			continue
		}
		runtime[row.Slug] = runtimeDefinition(file.Definitions[0])
	}
	if !maps.Equal(stored, r.stored) {
		r.stored, r.runtime = stored, runtime
		r.publish()
	}
	return nil
}

// publish makes the snapshot anew. Only a writer calls it.
func (r *Agents) publish() {
	var above []*agent.Definition
	for _, slug := range slices.Sorted(maps.Keys(r.runtime)) {
		above = append(above, r.runtime[slug])
	}
	r.now.Store(r.base.With(above...))
}

func runtimeDefinition(d *agent.Definition) *agent.Definition {
	d.Source = agent.Source{Layer: agent.LayerRuntime}
	return d
}

// Known is what a definition may name with a configuration, tools (nil for the built-in ones) and surroundings, but for
// skills and other agents.
func Known(cfg *config.Config, tools []tool.Tool, in provider.Surroundings) agent.Known {
	names := slices.Collect(tool.Names())
	for _, t := range tools {
		if name := tool.Brief(t).Name; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	providers := map[string]bool{
		"anthropic": true, "openai": true, "gemini": true, provider.OfEditor: true,
		provider.Ollama: true, provider.Offline: true,
	}
	for name := range cfg.Providers {
		providers[name] = true
	}
	all := sync.OnceValue(func() []tool.Tool {
		if tools == nil {
			return tool.Builtin()
		}
		return tools
	})
	models, keyless := provider.Served(cfg, in)
	return agent.Known{
		Tools: names, Models: models, Keyless: keyless, Locked: provider.Locked(cfg, in),
		Tool: func(name string) tool.Tool {
			if i := slices.IndexFunc(all(), func(t tool.Tool) bool { return tool.Brief(t).Name == name }); i >= 0 {
				return all()[i]
			}
			return nil
		},
		ResolveTool: func(name string) (string, bool) {
			if slices.Contains(names, name) {
				return name, true
			}
			return tool.Resolve(name)
		},
		Presets:   append([]string{}, slices.Sorted(maps.Keys(cfg.Presets))...),
		Providers: slices.Sorted(maps.Keys(providers)),
		Variables: slices.Sorted(maps.Keys(cfg.PromptVariables)),
		Callable:  callable(cfg),
	}
}

// callable are the names and patterns of tools that a configuration lets children call without a question.
func callable(cfg *config.Config) []string {
	if cfg.SubagentAsk == config.AskBubble {
		return []string{"*"} // the user is asked, and may allow it
	}
	list := []string{}
	for _, p := range cfg.Permissions {
		if p.Action == permission.Allow {
			list = append(list, p.Tool)
		}
	}
	return list
}

// Register adds an agent at run time: it is stored, and there after a restart. It hides an agent of the same
// slug in an earlier layer. Where anything is wrong with the definition, the error says everything, and nothing is
// changed. It waits for the disk. The caller may change d afterwards.
func (r *Agents) Register(ctx context.Context, d *agent.Definition) error {
	return r.fromCode(d, func(format agent.Format, text string) ([]agent.Problem, error) {
		_, problems, err := r.RegisterText(ctx, format, text)
		return problems, err
	})
}

// Update replaces the definition of an agent that was registered at run time, which is that of d.Slug. It is
// otherwise like Register.
func (r *Agents) Update(ctx context.Context, d *agent.Definition) error {
	return r.fromCode(d, func(format agent.Format, text string) ([]agent.Problem, error) {
		_, problems, err := r.UpdateText(ctx, d.Slug, format, text)
		return problems, err
	})
}

// fromCode passes a definition that a program made through the same checks as one that somebody wrote.
func (r *Agents) fromCode(d *agent.Definition, do func(agent.Format, string) ([]agent.Problem, error)) error {
	text, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("register the agent %s: %w", d.Slug, err)
	}
	problems, err := do(agent.JSON, string(text))
	if err != nil {
		return err
	}
	if agent.Failed(problems) {
		return &fault.Error{
			Kind:   fault.InvalidDefinition,
			Detail: fmt.Sprintf("the agent %q cannot be registered: %s", d.Slug, texts(problems)),
		}
	}
	return nil
}

// texts are the errors among problems, in one line, without places.
func texts(problems []agent.Problem) string {
	var list []string
	for _, p := range problems {
		if p.Severity != event.SeverityError {
			continue
		}
		text := p.Message
		if p.Hint != "" {
			text += " (" + p.Hint + ")"
		}
		list = append(list, text)
	}
	return strings.Join(list, "; ")
}

// Check reads a text and finds everything that is wrong with it. The path may be empty; it and the text decide
// the format where format is empty.
func Check(known agent.Known, format agent.Format, path, text string) *agent.File {
	var file *agent.File
	if format == "" {
		file = agent.Parse(path, text)
	} else {
		file = agent.ParseAs(format, path, text)
	}
	file.Validate(known)
	return file
}

// RegisterText is Register for a definition in one of the formats. Where a problem is an error, nothing is
// changed and the definition is nil. The problems have places in the text. The error is for what is not the text's
// fault.
func (r *Agents) RegisterText(ctx context.Context, format agent.Format,
	text string,
) (*agent.Definition, []agent.Problem, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.read(ctx); err != nil {
		return nil, nil, err
	}
	file := Check(r.strictly(), format, "", text)
	d, problems := sole(file)
	if d != nil && r.runtime[d.Slug] != nil {
		problems = append(problems,
			atName(file, fmt.Sprintf("there is already an agent %s that was registered at run time", d.Slug),
				"update it, or choose another name"))
	}
	return r.keep(ctx, file, d, problems)
}

// UpdateText is Update for a definition in one of the formats, as RegisterText.
func (r *Agents) UpdateText(ctx context.Context, slug string, format agent.Format,
	text string,
) (*agent.Definition, []agent.Problem, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.read(ctx); err != nil {
		return nil, nil, err
	}
	if r.runtime[slug] == nil {
		return nil, nil, r.notRegistered(slug)
	}
	file := Check(r.strictly(), format, "", text)
	d, problems := sole(file)
	if d != nil && d.Slug != slug {
		problems = append(problems, atName(file, fmt.Sprintf("the name is %q, not %s", d.Slug, slug),
			"an update keeps the name; register the agent anew to give it another"))
	}
	return r.keep(ctx, file, d, problems)
}

// Unregister removes an agent that was registered at run time. Its runs go on. It waits for the disk.
func (r *Agents) Unregister(ctx context.Context, slug string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.read(ctx); err != nil {
		return err
	}
	if r.runtime[slug] == nil {
		return r.notRegistered(slug)
	}
	if err := r.submit(ctx, store.Batch{AgentsRemoved: []string{slug}}); err != nil {
		return fmt.Errorf("unregister the agent %s: %w", slug, err)
	}
	delete(r.runtime, slug)
	delete(r.stored, slug)
	r.publish()
	return nil
}

func (r *Agents) notRegistered(slug string) error {
	known := slices.Sorted(maps.Keys(r.runtime))
	hint := "no agent was registered at run time"
	if len(known) > 0 {
		hint = "the agents that were registered at run time are " + strings.Join(known, ", ")
	}
	if d, err := r.Now().Find(slug); err == nil {
		hint = fmt.Sprintf("%s comes from elsewhere (%s); %s", d.Slug, d.Source, hint)
	}
	return &fault.Error{
		Kind:   fault.NotFound,
		Detail: fmt.Sprintf("there is no agent %q that was registered at run time", slug), Hint: hint,
	}
}

// sole is the one definition of a file, even where it has errors, and its problems.
func sole(file *agent.File) (*agent.Definition, []agent.Problem) {
	problems := slices.Clone(file.Problems)
	if len(file.Definitions) == 1 {
		return file.Definitions[0], problems
	}
	if len(file.Definitions) > 1 || !agent.Failed(problems) {
		problems = append(problems, agent.Problem{
			Severity: event.SeverityError, Message: fmt.Sprintf("the text has %d definitions", len(file.Definitions)),
			Hint: "register one at a time",
		})
	}
	return nil, problems
}

// atName is an error at the definition's name.
func atName(file *agent.File, message, hint string) agent.Problem {
	p := agent.Problem{Severity: event.SeverityError, Key: "name", Message: message, Hint: hint}
	for _, f := range file.Fields {
		if f.Key == "name" {
			p.Span = f.ValueSpan
		}
	}
	return p
}

// keep stores a definition and publishes it, where nothing is wrong with it. The caller holds the writers' lock.
func (r *Agents) keep(ctx context.Context, file *agent.File, d *agent.Definition,
	problems []agent.Problem,
) (*agent.Definition, []agent.Problem, error) {
	if d == nil {
		return nil, problems, nil
	}
	for _, alias := range d.Aliases {
		if other, err := r.Now().Find(alias); err == nil && other.Slug != d.Slug {
			problems = append(problems,
				atName(file, fmt.Sprintf("the alias %s is taken by the agent %s", alias, other.Slug), "choose another"))
			// Where definitions lie beside each other this is no error, and told as such.
			problems = slices.DeleteFunc(problems, func(p agent.Problem) bool { return p.Beside && p.Key == "aliases" })
		}
	}
	if d.PromptFile != "" && d.Prompt == "" {
		problems = append(problems,
			atName(file, "an agent that is registered at run time has no folder to read prompt_file from",
				"write the prompt into the definition"))
	}
	if agent.Failed(problems) {
		return nil, problems, nil
	}
	runtimeDefinition(d)
	text, err := json.Marshal(d)
	if err != nil {
		return nil, problems, fmt.Errorf("register the agent %s: %w", d.Slug, err)
	}
	now := time.Now().UTC()
	if err := r.submit(ctx,
		store.Batch{
			Agents: []store.Agent{{Slug: d.Slug, ID: d.ID, Definition: text, Created: now, Updated: now}},
		}); err != nil {
		return nil, problems, fmt.Errorf("register the agent %s: %w", d.Slug, err)
	}
	r.runtime[d.Slug], r.stored[d.Slug] = d, string(text)
	r.publish()
	return d, problems, nil
}

// submit waits until a batch is on disk, even where the caller does not any more: the snapshot must be what is
// stored.
func (r *Agents) submit(ctx context.Context, batch store.Batch) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if err := r.store.Submit(batch).Wait(context.WithoutCancel(ctx)); err != nil {
		return errors.Join(errors.New("it could not be stored"), err)
	}
	return nil
}

// Find returns an agent by its slug or an alias; "" is the default one of the configuration.
func Find(agents *agent.Registry, name string, cfg *config.Config) (*agent.Definition, error) {
	definition, err := agents.Find(cmp.Or(name, cfg.DefaultAgent))
	if err != nil {
		if name == "" {
			err = fmt.Errorf("default_agent of the configuration: %w", err)
		}
		return nil, Unknown(err)
	}
	return definition, nil
}

// Unknown is the error for people and programs where a registry does not find an agent.
func Unknown(err error) error {
	if broken, ok := errors.AsType[*agent.BrokenError](err); ok {
		return &fault.Error{
			Kind: fault.InvalidDefinition, Detail: err.Error(),
			Hint: "`agentls agents check " + broken.Problem.File + "` says all that is wrong", Cause: err,
		}
	}
	return &fault.Error{Kind: fault.NotFound, Detail: err.Error(), Hint: "see `agentls agents list`", Cause: err}
}
