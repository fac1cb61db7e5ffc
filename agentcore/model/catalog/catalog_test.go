package catalog_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentls/agentls/agentcore/model/catalog"
)

// pages serves fixed answers by path and query; a POST is told by its body.
func pages(t *testing.T, answers map[string]string, seen func(*http.Request)) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if seen != nil {
			seen(r)
		}
		key := r.URL.RequestURI()
		if r.Method == http.MethodPost {
			var asked struct {
				Model string `json:"model"`
			}
			if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
				t.Error(err)
			}
			key += " " + asked.Model
		}
		answer, ok := answers[key]
		if !ok {
			http.Error(w, `{"error":{"message":"no such page, `+r.Header.Get("Authorization")+`"}}`,
				http.StatusNotFound)
			return
		}
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	return server
}

func TestList(t *testing.T) {
	for name, test := range map[string]struct {
		kind, base string
		answers    map[string]string
		want       []catalog.Entry
		best       string
	}{
		"anthropic": {
			"anthropic", "",
			map[string]string{
				"/v1/models?limit=1000": `{"data":[{"type":"model","id":"claude-a","display_name":"Claude A"},{"id":"claude-b","max_input_tokens":300000}],"has_more":false}`,
			},
			[]catalog.Entry{{ID: "claude-a", Title: "Claude A"}, {ID: "claude-b", ContextTokens: 300000}},
			"claude-a",
		},
		"gemini, in pages": {
			"gemini", "",
			map[string]string{
				"/v1beta/models?pageSize=1000&pageToken=":    `{"models":[{"name":"models/embedding-1","inputTokenLimit":2048,"supportedGenerationMethods":["embedContent"]}],"nextPageToken":"a b"}`,
				"/v1beta/models?pageSize=1000&pageToken=a+b": `{"models":[{"name":"models/gemini-x","displayName":"Gemini X","inputTokenLimit":1048576,"supportedGenerationMethods":["generateContent"]}]}`,
			},
			[]catalog.Entry{
				{ID: "embedding-1", ContextTokens: 2048, Chats: catalog.No},
				{ID: "gemini-x", Title: "Gemini X", ContextTokens: 1048576, Chats: catalog.Yes},
			},
			"gemini-x",
		},
		"openai": {
			"openai", "/v1",
			map[string]string{
				"/v1/models": `{"object":"list","data":[{"id":"text-embedding-3-small","owned_by":"system"},{"id":"gpt-x","owned_by":"openai"}]}`,
			},
			[]catalog.Entry{{ID: "text-embedding-3-small"}, {ID: "gpt-x"}},
			"gpt-x",
		},
		"openrouter": {
			"openai", "/api/v1",
			map[string]string{
				"/api/v1/models": `{"data":[{"id":"a/plain","name":"A: Plain","context_length":8000,"supported_parameters":["temperature"]},{"id":"b/tools","name":"B: Tools","context_length":200000,"supported_parameters":["tools"]}]}`,
			},
			[]catalog.Entry{
				{ID: "a/plain", Title: "A: Plain", ContextTokens: 8000, Calls: catalog.No},
				{ID: "b/tools", Title: "B: Tools", ContextTokens: 200000, Calls: catalog.Yes},
			},
			"b/tools",
		},
		"vllm": {
			"openai", "/v1",
			map[string]string{"/v1/models": `{"data":[{"id":"Qwen/Qwen3","owned_by":"vllm","max_model_len":32768}]}`},
			[]catalog.Entry{{ID: "Qwen/Qwen3", ContextTokens: 32768}},
			"Qwen/Qwen3",
		},
		"llama.cpp, started with less than its model takes": {
			"openai", "/v1",
			map[string]string{
				"/v1/models": `{"data":[{"id":"m.gguf","owned_by":"llamacpp","meta":{"n_ctx_train":131072}}]}`,
				"/props":     `{"default_generation_settings":{"n_ctx":8192},"chat_template_caps":{"supports_tools":true}}`,
			},
			[]catalog.Entry{{ID: "m.gguf", ContextTokens: 8192, Calls: catalog.Yes}},
			"m.gguf",
		},
		"ollama": {
			"openai", "/v1",
			map[string]string{
				"/v1/models":                 `{"data":[{"id":"nomic:latest","owned_by":"library"},{"id":"plain:7b","owned_by":"library"},{"id":"qwen3:8b","owned_by":"library"}]}`,
				"/api/ps":                    `{"models":[{"name":"qwen3:8b","context_length":4096}]}`,
				"/api/show nomic:latest":     `{"capabilities":["embedding"]}`,
				"/api/show plain:7b":         `{"capabilities":["completion"],"parameters":"stop \"x\"\nnum_ctx                        16384\n","model_info":{"llama.context_length":131072}}`,
				"/api/show qwen3:8b":         `{"capabilities":["completion","tools","thinking"]}`,
				"/v1/never":                  ``,
				"/api/show something else:1": ``,
			},
			[]catalog.Entry{
				{ID: "nomic:latest", Calls: catalog.No, Chats: catalog.No},
				{ID: "plain:7b", ContextTokens: 16384, Calls: catalog.No, Chats: catalog.Yes},
				{ID: "qwen3:8b", ContextTokens: 4096, Calls: catalog.Yes, Chats: catalog.Yes},
			},
			"qwen3:8b",
		},
		"nothing": {"openai", "/v1", map[string]string{"/v1/models": `{"data":[]}`}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			server := pages(t, test.answers, nil)
			got, err := catalog.List(t.Context(), server.Client(),
				catalog.Server{Kind: test.kind, BaseURL: server.URL + test.base})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(test.want, got); d != "" {
				t.Error(d)
			}
			if best := catalog.Best(got); best != test.best {
				t.Errorf("the best is %q", best)
			}
		})
	}
}

func TestKeysGoWhereTheyBelong(t *testing.T) {
	for kind, header := range map[string]string{
		"anthropic": "X-Api-Key", "gemini": "X-Goog-Api-Key",
		"openai": "Authorization",
	} {
		var got string
		server := pages(t, nil, func(r *http.Request) { got = r.Header.Get(header) + " " + r.Header.Get("X-Own") })
		_, err := catalog.List(t.Context(), server.Client(),
			catalog.Server{Kind: kind, BaseURL: server.URL, Key: "k-123", Headers: map[string]string{"X-Own": "own"}})
		if got = strings.TrimPrefix(got, "Bearer "); got != "k-123 own" {
			t.Errorf("%s: %s is %q", kind, header, got)
		}
		var refused *catalog.Error
		if !errors.As(err, &refused) || refused.Status != http.StatusNotFound ||
			strings.Contains(err.Error(), "k-123") || !strings.Contains(err.Error(), "no such page") {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

func TestListRefuses(t *testing.T) {
	elsewhere := pages(t, map[string]string{"/models": `{"data":[{"id":"stolen"}]}`},
		func(r *http.Request) { t.Errorf("a redirect was followed, with %q", r.Header) })
	for name, handler := range map[string]http.HandlerFunc{
		"a redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL+"/models", http.StatusFound)
		},
		"a page": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>Welcome</html>") },
		"a cut answer": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, `{"data":[`)
		},
		"another list": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"data":{"a":1}}`) },
	} {
		server := httptest.NewServer(handler)
		entries, err := catalog.List(t.Context(), server.Client(),
			catalog.Server{Kind: "openai", BaseURL: server.URL, Key: "k-123"})
		if err == nil {
			t.Errorf("%s is taken for the list %v", name, entries)
		}
		server.Close()
	}
}
