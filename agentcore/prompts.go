package agentcore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/mcpname"
	"github.com/agentls/agentls/agentcore/mention"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/prompt"
	"github.com/agentls/agentls/agentcore/promptfile"
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/agentcore/registry"
	"github.com/agentls/agentls/agentcore/run"
	"github.com/agentls/agentls/agentcore/toolset"
)

// Prompts are those that a user may call in a session by "/" and their name: the user's own, those of trusted folders,
// and skills. It reads the files anew, in a few milliseconds; the error is ctx's. Any goroutine may call it.
func Prompts(ctx context.Context, s *Session) (*promptfile.Set, error) {
	user := s.engine.process.User
	return promptfile.Load(ctx, promptfile.Folders(user.Folder, user.Home, s.trustedRoots()...), s.vouch,
		promptfile.OfSkills(s.shared.Skills())...)
}

// Expansion is what becomes of a prompt before it is sent.
type Expansion struct {
	// Text is what the run would be told: the words, and behind them what these bring.
	Text string
	// Prompt is the prompt that it calls; nil for none.
	Prompt *promptfile.Prompt
	// Parts are what it is made of: its words, then what these bring.
	Parts []ExpandedPart
	// Refused is what keeps it from being sent; empty where nothing does.
	Refused []Refusal
}

// ExpandedPart is a part of an expanded prompt.
type ExpandedPart struct {
	Kind prompt.Kind
	// Name is what it is called in the prompt, and About what of it; empty for the words themselves.
	Name, About string
	// Path is the absolute path of a file; empty for others.
	Path string
	// Text is what is sent of it; empty for a command, which is not run to find that out.
	Text string
}

// Refusal says why something of a prompt may not be sent.
type Refusal struct {
	// Mention is what it is about, as it stands in the prompt.
	Mention string
	Err     error
}

// Expand says what would be sent for a request, and runs nothing. The error is that of the request itself, such as an
// agent that there is not. Any goroutine may call it; it reads the disk.
func Expand(ctx context.Context, s *Session, request RunRequest) (Expansion, error) {
	if err := request.ReadIterations(); err != nil {
		return Expansion{}, err
	}
	x := Expansion{}
	call, err := findPrompt(ctx, s, request.Prompt)
	if err != nil {
		name, _, _ := strings.Cut(strings.TrimSpace(request.Prompt), " ")
		x.Refused = append(x.Refused, Refusal{name, err})
	}
	words := request.Prompt
	if call != nil {
		x.Prompt, words = call.prompt, call.text
		if err := suit(s, &request, call); err != nil {
			x.Refused = append(x.Refused, Refusal{"/" + call.prompt.Name, err})
		}
		for _, line := range call.commands {
			if err := mayRun(s, request.Agent, line); err != nil {
				x.Refused = append(x.Refused, Refusal{commandName(line), err})
			}
		}
	}
	if _, err := registry.Find(s.engine.Agents(), request.Agent, s.engine.Config()); err != nil {
		return Expansion{}, err
	}
	found, refused, err := readMentions(ctx, s, request.Agent, words, request.Context.Paths...)
	if err != nil {
		return Expansion{}, err
	}
	x.Refused = append(x.Refused, refused...)
	if name, blind := unseen(s, request, found); blind != "" {
		x.Refused = append(x.Refused, Refusal{mention.Write(name), &fault.Error{
			Kind: fault.NotAllowed, Detail: blind + " takes no images", Hint: "choose another model, or leave it out",
		}})
	}
	redact := s.engine.process.Redactor.Text
	x.Text = redact(words + prompt.Attached(found))
	x.Parts = append(x.Parts, ExpandedPart{Kind: prompt.Words, Text: redact(words)})
	for _, a := range found {
		x.Parts = append(x.Parts, ExpandedPart{
			Kind: a.Kind, Name: a.Name, About: a.About, Path: a.Path, Text: redact(a.Text),
		})
	}
	if call != nil {
		for _, line := range call.commands {
			x.Parts = append(x.Parts, ExpandedPart{Kind: prompt.Command, Name: redact(commandName(line))})
		}
	}
	return x, nil
}

// unseen is an image that the model of a request would not take, and that model; empty for none.
func unseen(s *Session, request RunRequest, list []prompt.Attachment) (name, taker string) {
	i := slices.IndexFunc(list, func(a prompt.Attachment) bool { return a.Picture != nil })
	if i < 0 {
		return "", ""
	}
	cfg := s.engine.Config()
	definition, err := registry.Find(s.engine.Agents(), request.Agent, cfg)
	if err != nil {
		return "", "" // which is told elsewhere
	}
	choice := provider.Choice{Override: request.Model, Definition: definition.Model}
	found, err := s.engine.process.OpenModel(choice.With(cfg))
	if err != nil || model.Sees(found) {
		return "", "" // the run says that there is none
	}
	return list[i].Name, found.Name()
}

// commandName is a command as the prompt has it.
func commandName(line string) string { return "!`" + line + "`" }

// calledPrompt is a prompt that a request calls, with its arguments put in.
type calledPrompt struct {
	prompt *promptfile.Prompt
	text   string
	// commands are those whose output is wanted, each once.
	commands []string
}

// findPrompt finds the prompt that a text calls by its first word, nil for none. A word that may be a path is one where
// no prompt is called so; any other that calls nothing is refused.
func findPrompt(ctx context.Context, s *Session, text string) (*calledPrompt, error) {
	call, plain, ok := promptfile.CallIn(text)
	if !ok || mcpname.Is(call.Name) {
		return nil, nil
	}
	set, err := Prompts(ctx, s)
	if err != nil {
		return nil, err
	}
	found, err := set.Find(call.Name)
	switch {
	case err != nil && (!plain || exists("/"+call.Name)):
		return nil, nil
	case err != nil:
		hint := "see those that there are with `agentls prompts`, or begin the prompt with another word"
		if len(s.trustedRoots()) < len(s.shared.View.Folders()) {
			hint += "; prompts of a folder count once it is trusted"
		}
		return nil, &fault.Error{Kind: fault.NotFound, Detail: err.Error(), Hint: hint}
	}
	c := &calledPrompt{prompt: found}
	for _, part := range found.Expand(call.Arguments) {
		c.text += part.Text
		if part.Command != "" && !slices.Contains(c.commands, part.Command) {
			c.commands = append(c.commands, part.Command)
		}
	}
	if strings.TrimSpace(c.text) == "" {
		return nil, &fault.Error{
			Kind: fault.InvalidRequest, Detail: fmt.Sprintf("the prompt /%s is empty", found.Name),
			Hint: "write it below the frontmatter of " + found.Path,
		}
	}
	return c, nil
}

// fillPrompt puts into a request what its prompt calls, unless that may not be sent.
func fillPrompt(ctx context.Context, s *Session, request *RunRequest) error {
	if request.Lead != "" {
		defer request.Join()
	}
	call, err := findPrompt(ctx, s, request.Prompt)
	if err != nil || call == nil {
		return err
	}
	if err := fits(s, request, call); err != nil {
		return err
	}
	request.Expanded, request.Commands = call.text, call.commands
	return nil
}

// fits gives a request what a prompt asks for, as suit does. The error says why the prompt may not be sent.
func fits(s *Session, request *RunRequest, call *calledPrompt) error {
	if err := suit(s, request, call); err != nil {
		return err
	}
	for _, line := range call.commands {
		if err := mayRun(s, request.Agent, line); err != nil {
			return err
		}
	}
	return nil
}

// plans are the words by which other tools call agents that change nothing, and works those of agents that work as any.
var (
	plans = []string{"plan", "ask"}
	works = []string{"agent", "build", "edit", "general", "general-purpose", "inherit"}
)

// suit gives a request the agent, the model and the tools that a prompt asks for. What the request itself says of agent
// and model counts before that; a mode that only reads, and fewer tools, count in any case. An error means that the
// agent is not there.
func suit(s *Session, request *RunRequest, call *calledPrompt) error {
	p := call.prompt
	if kept := p.Keeps(); !kept.All {
		if len(kept.Tools) == 0 && len(kept.Unknown) > 0 {
			return &fault.Error{
				Kind: fault.NotFound, Detail: fmt.Sprintf("the prompt /%s is for tools that there are not: %s", p.Name,
					permission.Visible(strings.Join(kept.Unknown, ", "))),
				Hint: "name tools that there are, or take them out of " + p.Path,
			}
		}
		request.Only = &run.Kept{Tools: kept.Tools, Calls: kept.Rules}
	}
	if p.Agent != "" {
		_, err := s.engine.Agents().Find(p.Agent)
		word := strings.ToLower(p.Agent)
		switch {
		case err == nil && request.Agent == "":
			request.Agent = p.Agent
		case err == nil:
		case slices.Contains(plans, word):
			request.PermissionMode = permission.Plan
		case p.Source != promptfile.Native && slices.Contains(works, word):
		case request.Agent == "":
			return &fault.Error{
				Kind: fault.NotFound, Detail: fmt.Sprintf("the prompt /%s is for the agent %s, which there is not",
					p.Name, permission.Visible(p.Agent)),
				Hint: "name an agent that there is, or take `agent` out of " + p.Path,
			}
		}
	}
	if p.Model != "" && request.Model == "" && (p.Source == promptfile.Native || hasModel(s, p.Model)) {
		request.Model = p.Model
	}
	return nil
}

// hasModel reports whether a model that a file of another tool names can be had here.
func hasModel(s *Session, name string) bool {
	_, err := s.engine.process.OpenModel(provider.Choice{Override: name}.With(s.engine.Config()))
	return err == nil
}

// mayRun says why a command of a prompt may not run for an agent, nil where it may. Nobody is asked: who calls a prompt
// has not seen its commands.
func mayRun(s *Session, agent, line string) error {
	refused := func(detail, hint string) error {
		return &fault.Error{
			Kind:   fault.NotAllowed,
			Detail: fmt.Sprintf("%s: may not run: %s", permission.Visible(commandName(line)), detail), Hint: hint,
		}
	}
	if !s.isTrusted() {
		return refused(toolset.UntrustedCommands, "trust the folder by `agentls trust` or in the editor's own way")
	}
	rights, err := rightsOf(s, agent)
	if err != nil {
		return err
	}
	e, err := rights.Explain(s.engine.process.Tools, "bash", line)
	if err != nil {
		return err
	}
	if e.Action != permission.Allow {
		return refused(e.Reason, "allow it by a rule, or take it out of the prompt's file")
	}
	return nil
}
