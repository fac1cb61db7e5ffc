package main

import (
	"database/sql"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/agentcore/model/wiretest"
	"github.com/agentls/agentls/lsp/lsptest"
)

// providerKey is a key that must be seen by the provider alone.
const providerKey = "sk-test-51d7e0c2a9b84f36"

// vendor is a provider whose server is on the loopback.
type vendor struct {
	name    string
	handler func(model.Model) http.Handler
	header  string // that brings the key, with what stands before it
	environ func(url string) []string
}

var vendors = []vendor{
	{"anthropic", wiretest.AnthropicHandler, "X-Api-Key: ", func(url string) []string {
		return []string{"ANTHROPIC_API_KEY=" + providerKey, "ANTHROPIC_BASE_URL=" + url}
	}},
	{"openai", wiretest.OpenAIHandler, "Authorization: Bearer ", func(url string) []string {
		return []string{"OPENAI_API_KEY=" + providerKey, "OPENAI_BASE_URL=" + url + "/v1"}
	}},
	{"openai", wiretest.ResponsesHandler, "Authorization: Bearer ", func(url string) []string {
		return []string{
			"OPENAI_API_KEY=" + providerKey, "OPENAI_BASE_URL=" + url + "/v1",
			"AGENTLS_PROVIDERS_OPENAI_API=responses",
		}
	}},
	{"gemini", wiretest.GeminiHandler, "X-Goog-Api-Key: ", func(url string) []string {
		return []string{"GEMINI_API_KEY=" + providerKey, "GOOGLE_GEMINI_BASE_URL=" + url}
	}},
}

// provide starts the vendor's server and points the desk at it. At the end of the test the script has to be used up.
func (v vendor) provide(d *desk, s *script.Script) {
	d.Helper()
	name, before, _ := strings.Cut(v.header, ": ")
	var keyless atomic.Int64
	answer := v.handler(s)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get(name) != before+providerKey {
			keyless.Add(1)
		}
		answer.ServeHTTP(w, r)
	}))
	d.Cleanup(func() {
		server.CloseClientConnections() // a turn may still wait at a gate
		server.Close()
		if n := keyless.Load(); n > 0 {
			d.Errorf("%d requests came without the key", n)
		}
		if err := s.Check(); err != nil {
			d.Error(err)
		}
	})
	d.env = append(d.env, v.environ(server.URL)...)
}

const (
	defective = "package a\n\nfunc div(a, b int) int {\n\treturn a / b // boom\n}\n"
	remark    = "Division by zero when b is 0."
)

// reviewing are the turns of a review that reads a file, reports a finding with its fix, and says so. unsaved is in
// the text that the model reads.
func reviewing(unsaved string) *script.Script {
	return script.New("reviewing",
		script.Turn{
			Match: "file: a.go",
			Expect: []script.Expect{
				script.Tools("read", "grep", "diagnostics", "report_finding"),
				script.System("review"),
			},
			Answer: []script.Step{
				script.Text("I look at it."),
				script.Call{Name: "read", Arguments: `{"path":"a.go"}`},
			},
			Usage: model.Usage{Input: 1000, Output: 20},
		},
		script.Turn{
			Expect: []script.Expect{script.Result("read", unsaved)},
			Answer: []script.Step{script.Call{
				Name: "report_finding",
				Arguments: `{"path":"a.go","line":4,"severity":"error","message":"` + remark +
					`","fix":{"old_string":"\treturn a / b",` +
					`"new_string":"\tif b == 0 {\n\t\treturn 0\n\t}\n\treturn a / b"}}`,
			}},
		},
		script.Turn{
			Expect: []script.Expect{script.Result("report_finding", "with its fix as a proposed edit")},
			Answer: []script.Step{script.Text("One defect.")},
			Usage:  model.Usage{Input: 1200, Output: 5, Cached: 900},
		},
	)
}

// TestReviewByWire has the command review a file with a model behind each vendor's API.
func TestReviewByWire(t *testing.T) {
	t.Parallel()
	for _, v := range vendors {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, map[string]string{"a.go": defective})
			v.provide(d, reviewing("return a / b // boom"))
			stdout, stderr := d.must(exitFindings, "review", "--format", "json", "a.go")
			got := decode[struct {
				Model    string          `json:"model"`
				Result   event.RunResult `json:"result"`
				Findings []struct {
					Path     string         `json:"path"`
					Span     event.Span     `json:"span"`
					Severity event.Severity `json:"severity"`
					Message  string         `json:"message"`
					Hunk     event.HunkID   `json:"hunk"`
				} `json:"findings"`
				Edits []struct {
					Path string `json:"path"`
					Diff string `json:"diff"`
				} `json:"edits"`
			}](t, []byte(stdout))
			if !strings.HasPrefix(got.Model, v.name+"/") || got.Result.Status != event.StatusCompleted ||
				got.Result.Output != "One defect." || got.Result.Turns != 3 {
				t.Errorf("the result is %+v by %s", got.Result, got.Model)
			}
			if u := got.Result.Usage; u.InputTokens != 2200 || u.OutputTokens != 25 || u.CachedTokens != 900 {
				t.Errorf("the usage is %+v", u)
			}
			var calls []string
			for _, c := range got.Result.ToolCalls {
				calls = append(calls, c.Name+" "+string(c.Status))
			}
			if !slices.Equal(calls, []string{"read ok", "report_finding ok"}) {
				t.Errorf("the calls are %q", calls)
			}
			if len(got.Findings) != 1 || got.Findings[0].Message != remark || got.Findings[0].Span.StartLine != 3 ||
				got.Findings[0].Severity != event.SeverityError || got.Findings[0].Hunk == "" {
				t.Errorf("the findings are %+v", got.Findings)
			}
			if len(got.Edits) != 1 || got.Edits[0].Path != "a.go" ||
				!strings.Contains(got.Edits[0].Diff, "+\tif b == 0 {") {
				t.Errorf("the edits are %+v", got.Edits)
			}
			d.unchanged("a.go", defective)
			d.without(providerKey, stdout, stderr)
		})
	}
}

// TestServeByWire has an editor's server review unsaved text with a model behind each vendor's API; the user
// accepts the fix.
func TestServeByWire(t *testing.T) {
	t.Parallel()
	for _, v := range vendors {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, map[string]string{"a.go": defective})
			v.provide(d, reviewing("return a / b // unsaved"))
			s := d.serve("rich")
			s.open("a.go")
			at := strings.Index(defective, "boom")
			if err := s.Edit("a.go", at, at+len("boom"), "unsaved"); err != nil {
				t.Fatal(err)
			}
			run := s.review("a.go")
			result := s.wait(run)
			if result.Status != event.StatusCompleted || result.Output != "One defect." {
				t.Errorf("the result is %+v", result)
			}
			// The finding, and the proposed edit.
			err := s.Until(d.ctx, "the diagnostics", func() bool {
				list, _ := s.Diagnostics("a.go")
				return slices.ContainsFunc(list, func(d lsptest.Diagnostic) bool { return d.Message == remark })
			})
			if err != nil {
				t.Error(err)
			}
			s.execute("agentls.proposal.accept", fmt.Sprintf(`{"proposal":%q}`, result.Proposal))
			want := strings.Replace(defective, "\treturn a / b // boom",
				"\tif b == 0 {\n\t\treturn 0\n\t}\n\treturn a / b // unsaved", 1)
			if text, _, err := s.Text("a.go"); err != nil || text != want {
				t.Errorf("the document is %q, %v", text, err)
			}
			d.unchanged("a.go", defective)
			s.quit()
			d.without(providerKey, s.log.String(), strings.Join(s.Trace(), "\n"))
		})
	}
}

// held is a review that reports one finding and then hangs in the model.
func held(line int, message string) *script.Script {
	return script.New("held",
		script.Turn{Answer: []script.Step{script.Call{
			Name: "report_finding", Arguments: fmt.Sprintf(`{"path":"a.go","line":%d,"message":%q}`, line, message),
		}}},
		script.Turn{Answer: []script.Step{script.Text("So far"), script.Gate("model"), script.Text("never")}},
	)
}

// TestKilledInReview kills the server again and again in the middle of a review. What was shown is shown
// again after the restart, and nothing is damaged.
func TestKilledInReview(t *testing.T) {
	t.Parallel()
	d := newDesk(t, map[string]string{"a.go": defective})
	var shown []string
	for round := range 5 {
		v := vendors[round%len(vendors)]
		d.env = nil
		model := held(round+1, fmt.Sprintf("Finding %d.", round))
		v.provide(d, model)
		s := d.serve("neovim")
		s.open("a.go")
		s.shows("a.go", shown...)
		run := s.review("a.go")
		shown = append(shown, fmt.Sprintf("Finding %d.", round))
		s.shows("a.go", shown...)
		if err := model.Reached(d.ctx, "model", 1); err != nil {
			t.Fatal(err)
		}
		s.signal(os.Kill)
		s.ends(-1)
		d.sound()

		again := d.serve("neovim")
		again.open("a.go")
		again.shows("a.go", shown...)
		if result := again.wait(run); result.Status != event.StatusInterrupted {
			t.Errorf("round %d: the run is %s, want %s", round, result.Status, event.StatusInterrupted)
		}
		again.quit()
		d.wasInterrupted(run)
		d.unchanged("a.go", defective)
	}
}

// sound looks for damage in the database of a process that was killed, on a copy, so that the next process has to
// cope with what is there.
func (d *desk) sound() {
	d.Helper()
	folder := d.TempDir()
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(filepath.Join(d.state, "agentls.db"+suffix))
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, "copy.db"+suffix), data, 0o600)
		}
		if err != nil {
			d.Fatal(err)
		}
	}
	db, err := sql.Open("sqlite", filepath.Join(folder, "copy.db")) // the driver of package store
	if err != nil {
		d.Fatal(err)
	}
	defer db.Close()
	var verdict string
	if err := db.QueryRowContext(d.ctx, "PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		d.Errorf("the integrity check says %q, %v", verdict, err)
	}
	var orphans int
	if err := db.QueryRowContext(d.ctx, "SELECT count(*) FROM pragma_foreign_key_check").Scan(&orphans); err != nil ||
		orphans != 0 {
		d.Errorf("%d rows refer to what is not there, %v", orphans, err)
	}
}

// TestTerminated sends SIGTERM to the server and to a review while the model is held.
func TestTerminated(t *testing.T) {
	t.Parallel()
	v := vendors[1]
	t.Run("serve", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t, map[string]string{"a.go": defective})
		model := held(4, remark)
		v.provide(d, model)
		s := d.serve("rich")
		s.open("a.go")
		run := s.review("a.go")
		if err := model.Reached(d.ctx, "model", 1); err != nil {
			t.Fatal(err)
		}
		s.signal(syscall.SIGTERM)
		s.ends(exitTerminated)
		d.wasInterrupted(run)
	})
	t.Run("review", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t, map[string]string{"a.go": defective})
		model := held(4, remark)
		v.provide(d, model)
		cmd := d.command("review", "a.go")
		var out transcript
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if err := model.Reached(d.ctx, "model", 1); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // the exit code tells
		if code := cmd.ProcessState.ExitCode(); code != exitTerminated {
			t.Errorf("exit code %d, want %d\n%s", code, exitTerminated, &out)
		}
		if text := out.String(); !strings.Contains(text, remark) || !strings.Contains(text, "interrupted") {
			t.Errorf("the finding or the end is not told:\n%s", text)
		}
	})
}
