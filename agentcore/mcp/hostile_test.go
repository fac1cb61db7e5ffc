package mcp

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/agentls/agentls/agentcore/mcp/mcptest"
	"github.com/agentls/agentls/agentcore/mcpname"
)

// TestHostileServers lets servers that mean no good do what they can: the client comes back with an answer or an error,
// nothing that cannot be seen comes through, and nothing is left of them.
func TestHostileServers(t *testing.T) {
	for kind, want := range mcptest.Hostile {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			o := Options{Open: starter(t, kind), StartTime: watchdog, CallTime: watchdog, FirstPause: watchdog}
			switch kind {
			case "mute", "stubborn", "json", "deep":
				o.StartTime = 2 * time.Second // it is what they run into
			case "lies", "deaf":
				o.CallTime = 2 * time.Second
			}
			c := connect(t, o)
			catalog, err := c.Await(bounded(t))
			if want == "" {
				if err == nil {
					// Some come so far and are found out then.
					_, err = c.Call(bounded(t), "mcp__srv__act", versionIn(catalog), json.RawMessage(`{}`), nil)
				}
				if err == nil {
					t.Fatalf("it was taken for a good one: %+v", catalog)
				}
				visible(t, err.Error())
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			names := map[string]bool{}
			for _, tool := range catalog.Tools {
				server, name, ok := mcpname.Split(tool.Name)
				if !ok || server != "srv" || name == "" || len(tool.Name) > mcpname.MaxTool ||
					mcpname.Plain(tool.Name) != tool.Name || names[tool.Name] {
					t.Errorf("a tool has the name %q", tool.Name)
				}
				names[tool.Name] = true
				visible(t, tool.Description+tool.Title+string(tool.Schema))
				if len(tool.Schema) > maxSchema || !json.Valid(tool.Schema) {
					t.Errorf("the schema of %s is %.100s", tool.Name, tool.Schema)
				}
			}
			if len(catalog.Tools) > maxTools {
				t.Errorf("it has %d tools", len(catalog.Tools))
			}
			for _, problem := range catalog.Problems {
				visible(t, problem)
			}
			name := "mcp__srv__act"
			if kind == "paging" {
				name = "mcp__srv__act1"
			}
			tool, ok := catalog.Tool(name)
			if !ok {
				t.Fatalf("there is no tool to call among %v", names)
			}
			result, err := c.Call(bounded(t), tool.Name, tool.Version, json.RawMessage(`{"text":"x"}`), nil)
			switch {
			case want == "ok" && err != nil:
				t.Errorf("the call ended with %v", err)
			case want == "ok":
				visible(t, result.Text)
				if len(result.Text) > maxText+100 {
					t.Errorf("the answer has %d bytes", len(result.Text))
				}
			case err == nil || !strings.Contains(err.Error(), want):
				t.Errorf("the call ended with %+v, %v", result, err)
			}
		})
	}
}

func versionIn(c *Catalog) string {
	tool, _ := c.Tool("mcp__srv__act")
	return tool.Version
}

// visible fails on a text with something that its reader does not see.
func visible(t *testing.T, text string) {
	t.Helper()
	for _, r := range text {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			t.Errorf("nobody sees %U in %.200q", r, text)
			return
		}
	}
}

// TestMemory lets a server send an endless line: what is kept of it is bounded.
func TestMemory(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	c := connect(t, Options{Open: starter(t, "huge"), FirstPause: watchdog, StartTime: watchdog})
	if _, err := c.Await(bounded(t)); err == nil || !strings.Contains(err.Error(), "more than 16 MiB") {
		t.Errorf("it ended with %v", err)
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 40*maxMessage {
		t.Errorf("%d MiB were allocated for a message of at most %d", grown>>20, maxMessage>>20)
	}
}

// TestHTTPStaysAtHome sends a client elsewhere, with its headers: it does not go.
func TestHTTPStaysAtHome(t *testing.T) {
	var leaked []string
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		leaked = append(leaked, r.Header.Get("Authorization"))
	}))
	t.Cleanup(thief.Close)
	asked := make(chan string, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Header.Get("Authorization")
		http.Redirect(w, r, thief.URL, http.StatusTemporaryRedirect)
	}))
	t.Cleanup(server.Close)
	c := connect(t, Options{
		URL: server.URL, Headers: map[string]string{"Authorization": "Bearer key"},
		FirstPause: watchdog,
	})
	_, err := c.Await(bounded(t))
	if err == nil || !strings.Contains(err.Error(), "is configured") {
		t.Errorf("it ended with %v", err)
	}
	if got := <-asked; got != "Bearer key" {
		t.Errorf("the server got %q", got)
	}
	if len(leaked) > 0 {
		t.Errorf("another server got %q", leaked)
	}
}

// TestHTTPBulk gets an answer without an end.
func TestHTTPBulk(t *testing.T) {
	for kind, header := range map[string]string{
		"json": "application/json", "stream": "text/event-stream",
		"page": "text/html",
	} {
		t.Run(kind, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", header)
				chunk := []byte(strings.Repeat("data: x\n", 1<<13))
				for {
					if _, err := w.Write(chunk); err != nil {
						return
					}
				}
			}))
			t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
			c := connect(t, Options{URL: server.URL, FirstPause: watchdog, StartTime: watchdog})
			if _, err := c.Await(bounded(t)); err == nil {
				t.Error("it was taken for a server")
			}
		})
	}
}
