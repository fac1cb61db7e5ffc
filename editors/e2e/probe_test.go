//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/agentcore/model/wiretest"
)

// TestProbe plays stories with the probe's editor in each of its client profiles, as it is and with everything that the
// custom protocol lets a client announce, and judges every message. The stories are Python, since the probe is; each
// brings its model's script along.
func TestProbe(t *testing.T) {
	probe := os.Getenv("AGENTLS_PROBE")
	if probe == "" {
		t.Log("there is no probe beside this checkout, nothing to play")
		return
	}
	server := setting(t, "AGENTLS_BIN")
	for _, profile := range []string{"vscode", "neovim", "helix", "minimal"} {
		for _, kind := range []string{"plain", "rich"} {
			t.Run(profile+" "+kind, func(t *testing.T) {
				t.Parallel()
				suite(t, probe, server, profile, kind)
			})
		}
	}
}

// suite plays all stories of a profile.
func suite(t *testing.T, probe, server, profile, kind string) {
	schema, err := filepath.Abs("../../schema/agent.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	models := httptest.NewServer((&scripts{played: map[string]*script.Script{}}).handler())
	defer models.Close()
	// The processes of a story are known by their mark.
	s := &story{mark: "AGENTLS_E2E=" + t.TempDir(), patience: watchdog, workspace: t.TempDir()}
	s.command = []string{"python3", "suite.py", probe, schema, server, s.workspace, models.URL, profile, kind}
	if s.workspace, err = filepath.Abs("testdata/probe"); err != nil {
		t.Fatal(err)
	}
	s.env = append(os.Environ(), s.mark)
	ctx, cancel := context.WithTimeout(t.Context(), watchdog)
	defer cancel()
	if err := s.run(ctx); err != nil {
		t.Errorf("%v\n%s", err, s.output.String())
		return
	}
	t.Log("\n" + s.output.String())
}

// scripts are the models of stories, by name. Each is made by a request of its story, and then speaks Anthropic's wire
// below its name.
type scripts struct {
	mu     sync.Mutex
	played map[string]*script.Script
}

func (s *scripts) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("PUT /{story}", s.put)
	mux.HandleFunc("POST /{story}/release/{gate}",
		s.with(func(_ http.ResponseWriter, r *http.Request, turns *script.Script) error {
			turns.Release(r.PathValue("gate"))
			return nil
		}))
	mux.HandleFunc("GET /{story}/reached/{gate}",
		s.with(func(_ http.ResponseWriter, r *http.Request, turns *script.Script) error {
			return turns.Reached(r.Context(), r.PathValue("gate"), 1)
		}))
	mux.HandleFunc("GET /{story}/check",
		s.with(func(_ http.ResponseWriter, _ *http.Request, turns *script.Script) error { return turns.Check() }))
	mux.HandleFunc("/{story}/v1/", s.with(func(w http.ResponseWriter, r *http.Request, turns *script.Script) error {
		http.StripPrefix("/"+r.PathValue("story"), wiretest.AnthropicHandler(turns)).ServeHTTP(w, r)
		return nil
	}))
	return mux
}

// put makes the model of a story.
func (s *scripts) put(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("story")
	text, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	turns, err := script.Parse(name, string(text))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.played[name] = turns
}

// with answers a request about a story's model.
func (s *scripts) with(answer func(http.ResponseWriter, *http.Request, *script.Script) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		name := r.PathValue("story")
		s.mu.Lock()
		turns := s.played[name]
		s.mu.Unlock()
		if turns == nil {
			http.Error(w, fmt.Sprintf("the story %s has no script", name), http.StatusNotFound)
			return
		}
		if err := answer(w, r, turns); err != nil {
			http.Error(w, err.Error(), http.StatusConflict)
		}
	}
}
