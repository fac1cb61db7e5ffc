package lsp

import (
	"context"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/lsp/lsptest"
)

// TestScenarios plays testdata/scenarios against the server in this process.
func TestScenarios(t *testing.T) {
	lsptest.Run(t, "testdata/scenarios", lsptest.Options{Start: inProcess, Scripts: true})
}

func inProcess(env lsptest.Env) (*lsptest.Server, error) {
	o := Options{
		Version: "test", Getenv: env.Getenv, Dirs: config.Dirs{Config: env.Config, State: env.State, File: env.File},
		Logger: slog.New(slog.NewTextHandler(env.Log, nil)),
	}
	if patience := env.Getenv("MODEL_SILENCE"); patience != "" { // of a scenario alone
		var err error
		if o.ModelSilence, err = time.ParseDuration(patience); err != nil {
			return nil, err
		}
	}
	if patience := env.Getenv("ANSWER_TIME"); patience != "" { // of a scenario alone
		var err error
		if o.AnswerTime, err = time.ParseDuration(patience); err != nil {
			return nil, err
		}
	}
	if env.Script != nil {
		o.OpenModel = func(provider.Choice) (model.Model, error) { return env.Script, nil }
	}
	return lsptest.Serve(func(ctx context.Context, in io.ReadCloser, out io.WriteCloser) (int, error) {
		return Serve(ctx, in, out, o)
	}), nil
}
