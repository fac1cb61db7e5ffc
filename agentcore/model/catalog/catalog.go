// Package catalog asks the servers of models which models they have, what these can do, and how large their contexts
// are.
package catalog

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/model"
)

// maxBody bounds how much of an answer is read, in bytes; OpenRouter's list of models has about one million.
const maxBody = 32 << 20

// maxModels bounds how many models of Ollama are asked about, since each needs a request of its own.
const maxModels = 64

// Server is where models are.
type Server struct {
	// Kind is the wire: anthropic, gemini or openai.
	Kind string
	// BaseURL has the form that the wires take, without a slash at its end.
	BaseURL string
	Key     string
	Headers map[string]string
}

// Answer is yes, no or unknown, since a server may not say it.
type Answer int

// The answers.
const (
	Unknown Answer = iota
	Yes
	No
)

// Entry is a model that a server has.
type Entry struct {
	// ID is the server's own name of it.
	ID string
	// Title is a name for people, empty where there is none.
	Title string
	// ContextTokens is how many tokens a request may have, including its answer unless the server counts the answer
	// apart; 0 if the server does not say it.
	ContextTokens int64
	// Calls says whether it calls tools.
	Calls Answer
	// Chats is No for models that answer no conversation, such as those for embeddings.
	Chats Answer
}

// Error is a server's refusal.
type Error struct {
	// Status is the HTTP status.
	Status int
	// Text is what the server said, shortened. It may hold anything.
	Text string
}

func (e *Error) Error() string {
	return strings.TrimSpace(fmt.Sprintf("HTTP %d %s: %s", e.Status, http.StatusText(e.Status), e.Text))
}

// List returns the models of a server in its order: by the vendor's own list ("List Models" of Anthropic, "List models"
// of OpenAI, models.list of Gemini), or by Ollama's list, which says more than the compatible one. It follows no
// redirects, since these would send the key to another host.
func List(ctx context.Context, client *http.Client, s Server) ([]Entry, error) {
	own := *client
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	a := asker{client: &own, server: s}
	switch s.Kind {
	case "anthropic":
		return a.anthropic(ctx)
	case "gemini":
		return a.gemini(ctx)
	}
	return a.openai(ctx)
}

type asker struct {
	client *http.Client
	server Server
}

// ask sends a request and decodes the answer. A nil body is a GET.
func (a asker) ask(ctx context.Context, address string, body any, authorise func(http.Header), into any) error {
	method, content := http.MethodGet, io.Reader(nil)
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("encode the request: %w", err)
		}
		method, content = http.MethodPost, strings.NewReader(string(raw))
	}
	request, err := http.NewRequestWithContext(ctx, method, address, content)
	if err != nil {
		return fmt.Errorf("make the request: %w", err)
	}
	request.Header.Set("User-Agent", "agentls")
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	authorise(request.Header)
	for name, value := range a.server.Headers {
		request.Header.Set(name, value)
	}
	response, err := a.client.Do(request)
	if err != nil {
		var failed *url.Error
		if errors.As(err, &failed) {
			err = failed.Err // the error without the address, which may contain a key
		}
		return err
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(response.Body, maxBody+1))
	switch {
	case response.StatusCode != http.StatusOK:
		return &Error{response.StatusCode, a.said(raw)}
	case err != nil:
		return fmt.Errorf("read the answer: %w", err)
	case len(raw) > maxBody:
		return fmt.Errorf("the answer has more than %d MiB", maxBody>>20)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("the answer is no list of models: %w", err)
	}
	return nil
}

// said is the essential part of an error answer, without the key.
func (a asker) said(raw []byte) string {
	var known struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
	}
	text := string(raw)
	if json.Unmarshal(raw, &known) == nil {
		var inner struct {
			Message string `json:"message"`
		}
		var plain string
		if json.Unmarshal(known.Error, &inner) == nil || json.Unmarshal(known.Error, &plain) == nil {
			text = cmp.Or(inner.Message, plain, known.Message, text)
		}
	}
	if a.server.Key != "" {
		text = strings.ReplaceAll(text, a.server.Key, "***")
	}
	text = strings.Join(strings.Fields(text), " ")
	const most = 200
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + " …"
	}
	return text
}

func (a asker) anthropic(ctx context.Context) ([]Entry, error) {
	var list struct {
		Data []struct {
			ID    string `json:"id"`
			Title string `json:"display_name"`
			Input int64  `json:"max_input_tokens"`
		} `json:"data"`
	}
	err := a.ask(ctx, a.server.BaseURL+"/v1/models?limit=1000", nil, func(h http.Header) {
		h.Set("anthropic-version", "2023-06-01")
		if a.server.Key != "" {
			h.Set("X-Api-Key", a.server.Key)
		}
	}, &list)
	var entries []Entry
	for _, m := range list.Data {
		entries = append(entries, Entry{ID: m.ID, Title: m.Title, ContextTokens: m.Input})
	}
	return entries, err
}

func (a asker) gemini(ctx context.Context) ([]Entry, error) {
	base := a.server.BaseURL
	if !strings.Contains(base, "/v1") {
		base += "/v1beta"
	}
	var entries []Entry
	for page := ""; ; {
		var list struct {
			Models []struct {
				Name    string   `json:"name"`
				Title   string   `json:"displayName"`
				Input   int64    `json:"inputTokenLimit"`
				Methods []string `json:"supportedGenerationMethods"`
			} `json:"models"`
			Next string `json:"nextPageToken"`
		}
		err := a.ask(ctx, base+"/models?pageSize=1000&pageToken="+url.QueryEscape(page), nil, func(h http.Header) {
			if a.server.Key != "" {
				h.Set("X-Goog-Api-Key", a.server.Key)
			}
		}, &list)
		if err != nil {
			return entries, err
		}
		for _, m := range list.Models {
			e := Entry{ID: strings.TrimPrefix(m.Name, "models/"), Title: m.Title, ContextTokens: m.Input, Chats: No}
			if m.Methods == nil || slices.Contains(m.Methods, "generateContent") {
				e.Chats = Yes
			}
			entries = append(entries, e)
		}
		if list.Next == "" || list.Next == page {
			return entries, nil
		}
		page = list.Next
	}
}

// compatible are the members that a model has in the lists of servers that are compatible with OpenAI: OpenRouter
// (context_length, supported_parameters), vLLM (max_model_len), llama.cpp (meta.n_ctx_train), LM Studio
// (max_context_length), Groq (context_window).
type compatible struct {
	ID            string   `json:"id"`
	Name          string   `json:"name"`
	ContextLength int64    `json:"context_length"`
	ContextWindow int64    `json:"context_window"`
	MaxModelLen   int64    `json:"max_model_len"`
	MaxContext    int64    `json:"max_context_length"`
	Parameters    []string `json:"supported_parameters"`
	OwnedBy       string   `json:"owned_by"`
	Meta          struct {
		Trained int64 `json:"n_ctx_train"`
	} `json:"meta"`
}

func (a asker) openai(ctx context.Context) ([]Entry, error) {
	var list struct {
		Data []compatible `json:"data"`
	}
	if err := a.ask(ctx, a.server.BaseURL+"/models", nil, a.bearer, &list); err != nil {
		return nil, err
	}
	var entries []Entry
	server := ""
	for _, m := range list.Data {
		e := Entry{ID: m.ID, Title: m.Name, ContextTokens: cmp.Or(m.ContextLength, m.MaxModelLen, m.ContextWindow,
			m.MaxContext)}
		if m.Name == m.ID {
			e.Title = ""
		}
		if len(m.Parameters) > 0 {
			e.Calls = No
			if slices.Contains(m.Parameters, "tools") {
				e.Calls = Yes
			}
		}
		switch {
		case m.Meta.Trained > 0 || m.OwnedBy == "llamacpp":
			server = "llama.cpp"
			e.ContextTokens = cmp.Or(e.ContextTokens, m.Meta.Trained)
		case m.OwnedBy == "library":
			server = "ollama"
		}
		entries = append(entries, e)
	}
	root, hasVersion := strings.CutSuffix(a.server.BaseURL, "/v1")
	if !hasVersion {
		return entries, nil
	}
	switch server {
	case "llama.cpp":
		a.llamaCPP(ctx, root, entries)
	case "ollama":
		a.ollama(ctx, root, entries)
	}
	return entries, nil
}

func (a asker) bearer(h http.Header) {
	if a.server.Key != "" {
		h.Set("Authorization", "Bearer "+a.server.Key)
	}
}

// llamaCPP asks llama.cpp's server for the context size with which it was started, which is often less than the model's
// own; /props is described in the README of the server. Anything that the server does not say stays unchanged.
func (a asker) llamaCPP(ctx context.Context, root string, entries []Entry) {
	var props struct {
		Settings struct {
			Context int64 `json:"n_ctx"`
		} `json:"default_generation_settings"`
		Caps struct {
			Tools *bool `json:"supports_tools"`
		} `json:"chat_template_caps"`
	}
	if a.ask(ctx, root+"/props", nil, a.bearer, &props) != nil {
		return
	}
	for i := range entries {
		entries[i].ContextTokens = cmp.Or(props.Settings.Context, entries[i].ContextTokens)
		if tools := props.Caps.Tools; tools != nil {
			entries[i].Calls = No
			if *tools {
				entries[i].Calls = Yes
			}
		}
	}
}

// ollama asks Ollama what its models can do, and with which context sizes the loaded ones run: by default, these are
// far smaller than the models' own ("Show model details" and "List running models" of Ollama's API). For a model that
// is not loaded, Ollama only says the model's own size, which is not the size for requests. Therefore the size stays
// unknown, unless the model file sets it.
func (a asker) ollama(ctx context.Context, root string, entries []Entry) {
	var running struct {
		Models []struct {
			Name    string `json:"name"`
			Context int64  `json:"context_length"`
		} `json:"models"`
	}
	loaded := map[string]int64{}
	if a.ask(ctx, root+"/api/ps", nil, a.bearer, &running) == nil {
		for _, m := range running.Models {
			loaded[m.Name] = m.Context
		}
	}
	for i := range entries[:min(len(entries), maxModels)] {
		e := &entries[i]
		var shown struct {
			Capabilities []string `json:"capabilities"`
			Parameters   string   `json:"parameters"`
		}
		if a.ask(ctx, root+"/api/show", struct {
			Model string `json:"model"`
		}{e.ID}, a.bearer, &shown) != nil {
			return // older versions do not say it
		}
		e.ContextTokens = cmp.Or(loaded[e.ID], numCtx(shown.Parameters))
		if shown.Capabilities != nil {
			e.Calls, e.Chats = No, No
			if slices.Contains(shown.Capabilities, "tools") {
				e.Calls = Yes
			}
			if slices.Contains(shown.Capabilities, "completion") {
				e.Chats = Yes
			}
		}
	}
}

// numCtx is the parameter num_ctx of a model file, 0 where it is not set.
func numCtx(parameters string) int64 {
	for line := range strings.Lines(parameters) {
		var n int64
		if _, err := fmt.Sscanf(strings.TrimSpace(line), "num_ctx %d", &n); err == nil {
			return n
		}
	}
	return 0
}

// Best returns the model of a server to take if nobody names one: the first that chats and calls tools, or else the
// first that chats; "" if there is none.
func Best(entries []Entry) string {
	chats := slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool {
		return e.Chats == No || strings.Contains(strings.ToLower(e.ID), "embed")
	})
	if i := slices.IndexFunc(chats, func(e Entry) bool { return e.Calls == Yes }); i >= 0 {
		return chats[i].ID
	}
	if i := slices.IndexFunc(chats, func(e Entry) bool { return e.Calls == Unknown }); i >= 0 {
		return chats[i].ID
	}
	if len(chats) > 0 {
		return chats[0].ID
	}
	return ""
}

// Known is the context size to assume for a model if its server does not say it.
func Known(provider string, e Entry) int64 {
	return cmp.Or(e.ContextTokens, model.KnownContext(provider+"/"+e.ID))
}
