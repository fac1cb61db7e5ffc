package run

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/sandbox"
	"github.com/agentls/agentls/agentcore/tool"
)

const (
	// checkerOutput bounds the output of a checker in the sandbox, in bytes.
	checkerOutput = 4 << 20
	// checkerMark stands between a checker's standard output and its standard error. It has a control character that
	// JSON never contains.
	checkerMark = "\x1eagentls\x1e"
	// checkerScript runs its arguments as a command and writes both outputs, one after the other, to the sandbox's only
	// one.
	checkerScript = `"$@" 2>"${TMPDIR:-/tmp}/.checker"; status=$?; printf '\036agentls\036'; head -c 1000000 "${TMPDIR:-/tmp}/.checker"; exit $status`
)

// RunChecker runs a checker for the diagnostics tool. It is no command of the model's: nobody sees it, what it writes
// is dropped, and the rules of the agent on commands do not bind it. Those of the configuration do.
func (h hostChecks) RunChecker(ctx context.Context, command tool.CheckerCommand) (tool.CheckerOutput, error) {
	r := h.run
	if !r.session.Trusted() {
		return tool.CheckerOutput{}, &tool.WithheldError{
			Reason: "it runs code of this workspace, which the user does not trust yet",
		}
	}
	if r.gate.rights.Level() != permission.Full {
		return tool.CheckerOutput{}, &tool.WithheldError{
			Reason: "it runs code of this workspace, and there is no full sandbox to run it in",
		}
	}
	if reason := ruledOut(r, command.Argv, command.Dir); reason != "" {
		return tool.CheckerOutput{}, &tool.WithheldError{Reason: reason}
	}
	select {
	case r.process.Checking <- struct{}{}:
		defer func() { <-r.process.Checking }()
	case <-ctx.Done():
		return tool.CheckerOutput{}, ctx.Err()
	}
	box, err := r.commands.Box(ctx)
	if err != nil {
		return tool.CheckerOutput{}, err
	}
	_, overlay := r.commands.Look(r.layer)
	done, err := box.Run(ctx, sandbox.Command{
		Argv: append([]string{"sh", "-c", checkerScript, "sh"}, command.Argv...), Dir: command.Dir,
		Timeout: command.Timeout, Overlay: overlay, Offline: true,
	})
	if err != nil {
		return tool.CheckerOutput{}, err
	}
	text := string(done.Output)
	if done.OutputFile != "" {
		if text, err = takeOutput(done.OutputFile); err != nil {
			return tool.CheckerOutput{}, err
		}
	}
	if done.TimedOut {
		return tool.CheckerOutput{}, errors.New("it took longer than " + command.Timeout.String() + " and was stopped")
	}
	out := tool.CheckerOutput{Exit: done.Exit, Stdout: text}
	if i := strings.LastIndex(text, checkerMark); i >= 0 {
		out.Stdout, out.Stderr = text[:i], text[i+len(checkerMark):]
	}
	return out, nil
}

// ruledOut says which rule of the configuration keeps a program out of a full sandbox; empty where none does. The rules
// of the agent do not count here.
func ruledOut(r *Run, argv []string, dir string) string {
	policy := permission.New(permission.Setup{
		Layers: authority.Layers(&agent.Definition{}, r.config), Session: r.session.ID, Run: r.id,
		Roots: r.session.View.Folders(), Home: authority.UserHome(),
	})
	decision := policy.Decide(permission.Request{
		Tool: "bash", Effect: permission.Execute, Command: quoted(argv), Dir: dir, Sandbox: permission.Full,
	}, nil)
	if decision.Action == permission.Allow {
		return ""
	}
	return cmp.Or(decision.Reason, "the rules on commands do not allow it")
}

// takeOutput reads the file with a long output, and removes it.
func takeOutput(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(io.LimitReader(f, checkerOutput))
	return string(text), errors.Join(err, f.Close(), os.Remove(path))
}

// quoted is a command line of these words.
func quoted(words []string) string {
	var b strings.Builder
	for i, word := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString("'" + strings.ReplaceAll(word, "'", `'\''`) + "'")
	}
	return b.String()
}
