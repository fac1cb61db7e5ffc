package lsp

import (
	"log/slog"
	"time"

	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/crash"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/agentcore/secret"
)

// Options describe a Server.
type Options struct {
	// Version is told to the client.
	Version string
	// Dirs are the folders of the configuration and of the state.
	Dirs config.Dirs
	// Getenv reads the environment; nil means os.Getenv.
	Getenv func(string) string
	// Flags are configuration values from the command line, "key=value".
	Flags []string
	// OpenModel makes models; nil means the engine's own choice.
	OpenModel func(provider.Choice) (model.Model, error)
	// AnswerTime bounds the wait for an answer of the editor; 0 means a minute. It does not bound questions to a
	// person: after it, and after secondWayTime at the latest, these are also shown as diagnostics.
	AnswerTime time.Duration
	// ModelSilence bounds the wait for the next piece of an answer of the editor's model. 0 means two minutes.
	ModelSilence time.Duration
	// IgnoreParent lets the server go on when the process that the editor names as its own has ended: in a container,
	// the number may be that of another process. The server then ends only with its input.
	IgnoreParent bool
	// Redactor knows secrets; nil means that the engine makes one.
	Redactor *secret.Redactor
	// Crash is called at the points where tests end the process; nil outside of tests.
	Crash  crash.Hook
	Logger *slog.Logger
}
