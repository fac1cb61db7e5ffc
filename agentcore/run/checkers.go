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
	// checkerOutput bounds what a checker says that runs in the sandbox, in bytes.
	checkerOutput = 4 << 20
	// checkerMark divides what a checker wrote to its two outputs: a control character that no JSON has.
	checkerMark = "\x1eagentls\x1e"
	// checkerScript keeps the outputs of its arguments apart, since a sandbox has one for both.
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

// ruledOut is why the rules of the configuration on commands keep a program from a full sandbox, or nothing. Those of
// the agent do not bear on it.
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

// takeOutput reads the file with a long output, which nobody else is to have.
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
