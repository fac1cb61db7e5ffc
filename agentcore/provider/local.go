package provider

import (
	"context"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/model/catalog"
)

const (
	// Ollama is the provider that exists without being set up: Ollama on this machine.
	Ollama = "ollama"
	// localTime bounds the search for a server on this machine.
	localTime = time.Second
	// localKept is how long the result of a search counts, even if no server was found.
	localKept = 30 * time.Second
)

// LocalServers finds servers of models on this machine: providers of the configuration that need no key and are on the
// loopback, and Ollama if it is installed. It only asks them for their models. Its methods may be called from any
// goroutine.
type LocalServers struct {
	Client *http.Client
	Getenv func(string) string

	mu     sync.Mutex
	asked  time.Time
	of     *config.Config
	name   string
	reason string
}

// Find returns a model of the first server that answers, as "provider/model", and says why; "" for none.
func (l *LocalServers) Find(ctx context.Context, cfg *config.Config) (name, reason string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == cfg && time.Since(l.asked) < localKept {
		return l.name, l.reason
	}
	ctx, cancel := context.WithTimeout(ctx, localTime)
	defer cancel()
	l.name, l.reason = l.search(ctx, cfg)
	l.of, l.asked = cfg, time.Now()
	return l.name, l.reason
}

func (l *LocalServers) search(ctx context.Context, cfg *config.Config) (name, reason string) {
	var silent []string
	for _, candidate := range l.candidates(cfg) {
		p := candidate.provider
		entries, err := catalog.List(ctx, l.Client,
			catalog.Server{Kind: p.Kind, BaseURL: p.BaseURL, Headers: p.Headers})
		if err != nil {
			silent = append(silent, candidate.name)
			continue
		}
		id := catalog.Best(entries)
		if len(p.Models) > 0 {
			id = p.Models[0]
		}
		if id != "" {
			return candidate.name + "/" + id, "the local server of " + candidate.name + " answers"
		}
		silent = append(silent, candidate.name)
	}
	if len(silent) > 0 {
		return "", "none with a model answers: " + strings.Join(silent, ", ")
	}
	return "", "none is known"
}

type localServer struct {
	name     string
	provider config.Provider
}

// candidates are the servers to ask, in order.
func (l *LocalServers) candidates(cfg *config.Config) []localServer {
	var list []localServer
	for _, name := range cfg.ProviderNames() {
		if p := cfg.Providers[name]; p.KeyEnv == "" && config.OnLoopback(p.BaseURL) {
			list = append(list, localServer{name, p})
		}
	}
	if _, set := cfg.Providers[Ollama]; !set && l.hasOllama() {
		if p, _ := Named(cfg, Ollama, l.Getenv); config.OnLoopback(p.BaseURL) {
			// an Ollama elsewhere must be set up
			list = append(list, localServer{Ollama, p})
		}
	}
	return list
}

// Named returns a provider of the configuration, or Ollama even if it is not set up.
func Named(cfg *config.Config, name string, getenv func(string) string) (config.Provider, bool) {
	p, ok := cfg.Providers[name]
	if !ok && name == Ollama {
		return config.Provider{Kind: "openai", API: "chat", BaseURL: "http://" + ollamaHost(getenv) + "/v1"}, true
	}
	return p, ok
}

// ollamaHost is where Ollama listens ("How can I expose Ollama on my network?" in its FAQ).
func ollamaHost(getenv func(string) string) string {
	const usual = "127.0.0.1:11434"
	set := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(getenv("OLLAMA_HOST")), "http://"), "/")
	if set == "" {
		return usual
	}
	if _, _, err := net.SplitHostPort(set); err != nil {
		set = net.JoinHostPort(strings.Trim(set, "[]"), "11434")
	}
	host, port, err := net.SplitHostPort(set)
	if err != nil {
		return usual
	}
	if host == "" || host == "0.0.0.0" || host == "::" {
		host = "127.0.0.1" // a server that listens on all addresses is reached here
	}
	return net.JoinHostPort(host, port)
}

// hasOllama reports whether Ollama seems to be installed: its program is on PATH, or its variable is set. Nobody else's
// server is spoken to unasked.
func (l *LocalServers) hasOllama() bool {
	if l.Getenv("OLLAMA_HOST") != "" {
		return true
	}
	for _, dir := range filepath.SplitList(l.Getenv("PATH")) {
		if !filepath.IsAbs(dir) {
			continue // what lies in the current folder says nothing
		}
		if _, err := exec.LookPath(filepath.Join(dir, Ollama)); err == nil {
			return true
		}
	}
	return false
}
