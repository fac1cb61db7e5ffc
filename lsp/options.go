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

// Options are what a Server is made of.
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
	// AnswerTime bounds the wait for an answer of the editor, 0 means a minute. It does not bound the questions that a
	// person answers: those are also shown as diagnostics after it, and after secondWayTime at the latest.
	AnswerTime time.Duration
	// ModelSilence bounds the wait for the next piece of an answer of the editor's model. 0 means two minutes.
	ModelSilence time.Duration
	// IgnoreParent keeps the server when the process that the editor names as its own has ended: in a container, the
	// number may be another process's. The server then ends with its input alone.
	IgnoreParent bool
	// Redactor knows secrets; nil means that the engine makes one.
	Redactor *secret.Redactor
	// Crash is called at the points that tests end the process at; nil is for everybody else.
	Crash  crash.Hook
	Logger *slog.Logger
}
