package tooltest

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/network"
	"github.com/agentls/agentls/agentcore/tool"
)

// Web implements tool.Web.
type Web struct {
	// Engine is the search engine that there is; nil for none.
	Engine *tool.SearchEngine
	// Names are what names lead to, instead of what the system has.
	Names map[string]string

	allowed network.Allowed
}

var _ tool.Web = (*Web)(nil)

// Allow says what `network.allow` names; a new Host allows nothing.
func (w *Web) Allow(t testing.TB, names ...string) {
	t.Helper()
	var err error
	if w.allowed, err = network.Parse(names); err != nil {
		t.Fatal(err)
	}
}

// MayFetch implements tool.Web: what is allowed may be fetched.
func (w *Web) MayFetch(address string) bool { return w.allowed.Has(address) }

// Connect implements tool.Web.
func (w *Web) Connect(ctx context.Context, address string) (net.Conn, error) {
	return w.allowed.Dial(ctx, address, func(_ context.Context, name string) ([]netip.Addr, error) {
		to, err := netip.ParseAddr(w.Names[name])
		if err != nil {
			return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
		}
		return []netip.Addr{to}, nil
	})
}

// Secret is what HoldsSecret takes for a secret.
const Secret = "the-secret-of-a-test"

// HoldsSecret implements tool.Web.
func (w *Web) HoldsSecret(text string) bool {
	return strings.Contains(text, Secret) || strings.Contains(text, "[secret ")
}

// SearchEngine implements tool.Web.
func (w *Web) SearchEngine() (tool.SearchEngine, bool) {
	if w.Engine == nil {
		return tool.SearchEngine{}, false
	}
	return *w.Engine, true
}
