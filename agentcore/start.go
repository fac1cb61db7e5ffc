package agentcore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/instruction"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/registry"
	"github.com/agentls/agentls/agentcore/run"
	"github.com/agentls/agentls/agentcore/store"
	"github.com/agentls/agentls/agentcore/workspace"
)

// The types of a request for a run, from package run.
type (
	// RunRequest asks for a run.
	RunRequest = run.Request
	// Context is what a prompt is about.
	Context = run.Context
	// Comment is the comment in a file that a prompt was written as.
	Comment = run.Comment
)

// Start checks the request and starts a run in the session. It reads the files of the context, so that a file which
// cannot be worked on is refused at once, and returns when the run is stored. ctx is for the start only: the run goes
// on until it ends or is cancelled.
func (s *Session) Start(ctx context.Context, request RunRequest) (_ event.RunID, err error) {
	if request.Remember == "" { // that prompt is no task
		if err := prepareRequest(ctx, s, &request); err != nil {
			return "", err
		}
	}
	if !s.isTrusted() { // the workspace may be trusted by now, and a run's offers do not change after its start
		if err := s.engine.process.Decisions.Read(ctx); err != nil {
			return "", err
		}
	}
	r, err := run.New(&s.engine.process, s.shared, nil, request)
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			r.Cancel(fault.ErrCancelled) // the caller does not get the run's id
		}
	}()
	for _, path := range append(append([]string(nil), request.Context.Paths...), request.Each...) {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		if _, err := s.shared.View.Read(path); err != nil {
			return "", fmt.Errorf("look at the file for the %s: %w", r.Agent(), err)
		}
	}
	created, err := s.launch(r)
	if err != nil {
		return "", err
	}
	if err := created.Wait(ctx); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", fault.Unstored(err)
	}
	return r.ID(), nil
}

// prepareRequest puts into a request what its prompt and its context ask for. It reads the files that they name.
func prepareRequest(ctx context.Context, s *Session, request *RunRequest) error {
	if err := request.ReadIterations(); err != nil {
		return err
	}
	if err := fillPrompt(ctx, s, request); err != nil {
		return err
	}
	if err := readChanges(ctx, s, request); err != nil {
		return err
	}
	return attach(ctx, s, request)
}

// launch launches a run of the user, unless the session has ended.
func (s *Session) launch(r *run.Run) (*store.Commit, error) {
	s.starting.RLock()
	defer s.starting.RUnlock()
	if s.ended {
		return nil, fault.Missing("session", string(s.ID), "it was deleted; start the run in another one")
	}
	improve := s.named(r)
	s.store(store.SessionOpen)
	commit, err := r.Launch()
	if err == nil && improve != nil {
		improve()
	}
	return commit, err
}

// goOn is the prompt of a resumed run that was given none.
const goOn = "Go on with the task where you left off."

// Resume goes on with an ended run of any session on these folders, however it ended, as a new run of this session that
// has the old one's history. An empty prompt means to go on. No call is made again: the model is told that the outcome
// of a call is unknown where it is. It reads the store.
func (s *Session) Resume(ctx context.Context, id event.RunID, prompt string) (event.RunID, error) {
	return s.ResumeWith(ctx, id, RunRequest{Prompt: prompt})
}

// ResumeWith is Resume with a model, limits or a title of its own. The agent and the mode are those of the former run,
// whatever the request says.
func (s *Session) ResumeWith(ctx context.Context, id event.RunID, request RunRequest) (event.RunID, error) {
	request.PermissionMode = ""
	return ResumeIn(ctx, s, id, request)
}

// ResumeIn is [Session.ResumeWith] in the mode that the request names, which a person has chosen for what follows; the
// mode is the former run's where it names none. What bound a child binds the run that goes on with it in any mode.
func ResumeIn(ctx context.Context, s *Session, id event.RunID, request RunRequest) (event.RunID, error) {
	from, err := s.engine.process.Former(ctx, id)
	if err != nil {
		return "", err
	}
	if !slices.ContainsFunc(from.Roots,
		func(root string) bool { return slices.Contains(s.shared.View.Folders(), root) }) {
		return "", &fault.Error{
			Kind:   fault.NotAllowed,
			Detail: fmt.Sprintf("the run %s was on other folders: %s", id, strings.Join(from.Roots, ", ")),
			Hint:   "open them, and resume it there",
		}
	}
	request.Agent, request.Prompt = from.Agent, cmp.Or(request.Prompt, goOn)
	request.PermissionMode = cmp.Or(request.PermissionMode, from.Powers.Mode)
	return s.Start(ctx, request.GoingOn(from))
}

// Unreviewed reports whether an open hunk may be applied without the user's review. The mode of the run that wrote it,
// and of all above it, must be accept_edits or bypass, and nobody else may have written into it. The run must be
// allowed to change its files without a question, by more than a grant for one call, and the files must not instruct
// agents. It may read the disk.
func (s *Session) Unreviewed(h workspace.Hunk) bool {
	if h.State != event.StateOpen || len(h.Runs) > 1 {
		return false
	}
	r, err := s.engine.run(h.Author.Run)
	// otherwise the hunk is of a former process, or of a run of long ago
	return err == nil && r.In() == s.shared && r.Unreviewed(h)
}

// Instructions are the instructions of the user and the project that an agent would get if it were started on files
// (absolute paths), and what would be left out. An empty agent means the default one. It reads the files anew.
func (s *Session) Instructions(agentName string, files []string) (instruction.Set, error) {
	cfg := s.engine.Config()
	definition, err := registry.Find(s.engine.Agents(), agentName, cfg)
	if err != nil {
		return instruction.Set{}, err
	}
	own := run.RightsOf(&s.engine.process, s.shared, cfg)
	book := run.NewInstructions(&s.engine.process, s.shared, own.Alone(definition, cfg))
	return run.InstructionsOf(book, definition, cfg, 0, files), nil
}

// Prompt is the system prompt that a run would have, with its instructions. folders say how far the user trusts the
// folders of the view. It starts and stores nothing.
func Prompt(e *Engine, view *workspace.View, folders map[string]authority.FolderTrust, request RunRequest,
) (string, instruction.Set, error) {
	s := e.newSession(view, "")
	defer s.shared.Board.Close()
	defer s.shared.Servers.Close()
	s.SetFolders(folders)
	s.SetTrusted(len(s.trustedRoots()) == len(view.Folders()))
	request.Prompt = cmp.Or(request.Prompt, "…")
	r, err := run.New(&e.process, s.shared, nil, request)
	if err != nil {
		return "", instruction.Set{}, err
	}
	defer r.Cancel(fault.ErrCancelled)
	return run.PromptOf(r), r.Instructions(), nil
}

// Explain says how a call would be decided for an agent, by which rule of which layer, and what an "always" would
// allow. Nothing is run. An empty agent means the default one; command is used where the tool is bash, otherwise
// subject is a path or host.
func (s *Session) Explain(agentName, toolName, subject string) (permission.Explanation, error) {
	r, err := rightsOf(s, agentName)
	if err != nil {
		return permission.Explanation{}, err
	}
	return r.Explain(s.engine.process.Tools, toolName, subject)
}

// rightsOf are the rights of an agent that the user starts.
func rightsOf(s *Session, agentName string) (authority.Rights, error) {
	cfg, skills := s.engine.Config(), s.shared.Skills()
	definition, err := registry.Find(s.engine.Agents(), agentName, cfg)
	if err != nil {
		return authority.Rights{}, err
	}
	own := run.RightsOf(&s.engine.process, s.shared, cfg)
	r := own.Alone(definition, cfg)
	r.Attached = func(path string) bool {
		_, err := skills.Read(path)
		return err == nil
	}
	return r, nil
}
