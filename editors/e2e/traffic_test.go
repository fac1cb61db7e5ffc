//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// traffic is a folder with what an editor and its servers have said, "" for none.
type traffic string

// record has the editor start the server by way of testdata/record.py, which writes down what both say and has the
// probe judge it, where the probe is there.
func (s *story) record(t *testing.T, server string) traffic {
	t.Helper()
	probe := os.Getenv("AGENTLS_PROBE")
	if probe == "" {
		return ""
	}
	traces, schemas := filepath.Join(s.home, "traffic"), filepath.Join(s.home, "schemas")
	recorded := filepath.Join(s.home, "agentls")
	for _, folder := range []string{traces, schemas} {
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	schema, err := os.ReadFile("../../schema/agent.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(schemas, "agent.schema.json"), schema, 0o644); err != nil {
		t.Fatal(err)
	}
	recorder, err := filepath.Abs("testdata/record.py")
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("#!/bin/sh\n[ \"$1\" = serve ] || exec '%s' \"$@\"\nexec python3 '%s' '%s' '%s' '%s' '%s' \"$@\"\n",
		server, recorder, traces, probe, schemas, server)
	if err := os.WriteFile(recorded, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	s.env = append(s.env, "AGENTLS_BIN="+recorded)
	return traffic(traces)
}

// judge tells what the probe found, and fails on faults of agentls, and where nothing was said.
func (r traffic) judge(t *testing.T) {
	t.Helper()
	if r == "" {
		return
	}
	traces, err := filepath.Glob(filepath.Join(string(r), "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if len(traces) == 0 {
		t.Error("no server was started by way of the recorder")
	}
	for _, name := range traces {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		messages, end := 0, "killed"
		own := map[string]bool{}
		for line := range strings.Lines(string(text)) {
			var entry struct {
				Message struct {
					Method string `json:"method"`
				} `json:"message"`
				From    string `json:"from"`
				Finding string `json:"finding"`
				Counts  bool   `json:"counts"`
				Exit    *int   `json:"exit"`
			}
			if err := json.Unmarshal([]byte(line), &entry); err != nil {
				// The recorder was killed while it wrote.
				t.Logf("the last line is cut: %.80s", line)
				break
			}
			switch {
			case entry.From != "":
				messages++
				if strings.HasPrefix(entry.Message.Method, "agent/") {
					own[entry.Message.Method] = true
				}
			case entry.Exit != nil:
				end = fmt.Sprintf("exit code %d", *entry.Exit)
			case entry.Counts:
				t.Errorf("the probe: %s", entry.Finding)
			default:
				t.Logf("the probe: %s", entry.Finding)
			}
		}
		if messages == 0 {
			t.Errorf("the server of %s has neither heard nor said anything", filepath.Base(name))
		}
		t.Logf("the probe has judged %d messages and %d methods of the custom protocol: %s; %s",
			messages, len(own), strings.Join(slices.Sorted(maps.Keys(own)), ", "), end)
	}
}
