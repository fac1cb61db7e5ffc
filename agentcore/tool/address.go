package tool

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/agentls/agentls/agentcore/network"
)

// addressOf reads an address that a model or a page gives. The error says what is wrong, and does not repeat parts that
// may be a password.
func addressOf(text string) (*url.URL, error) {
	text = strings.TrimSpace(text)
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the address cannot be read: %w; write all of it, such as https://example.org/page",
			errors.Unwrap(err))
	case u.Scheme == "" || u.Host == "" && u.Opaque != "" && u.Scheme != "http" && u.Scheme != "https" &&
		!strings.Contains(text, "://"):
		return nil, errors.New("the address has no scheme; write all of it, such as https://example.org/page")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("only http and https can be fetched, not %s; read files of the workspace with read",
			u.Scheme)
	case u.Hostname() == "":
		return nil, errors.New("the address names no host; write all of it, such as https://example.org/page")
	case u.User != nil:
		return nil,
			errors.New(
				"the address has a user name or password in it, which is not sent anywhere; leave out what stands " +
					"before the @")
	case strings.ContainsFunc(u.Host, func(r rune) bool { return r > 0x7e }):
		return nil, errors.New("the host has letters outside of ASCII; write it in its xn-- form")
	}
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}

// endpoint returns host:port of an address.
func endpoint(u *url.URL) string {
	port := "443"
	if u.Scheme == "http" {
		port = "80"
	}
	return net.JoinHostPort(network.Canonical(u.Hostname()), cmp.Or(u.Port(), port))
}

// sameHost reports whether permission to fetch one address covers another: only the scheme or the path differs.
func sameHost(a, b *url.URL) bool {
	return network.Canonical(a.Hostname()) == network.Canonical(b.Hostname()) &&
		(a.Port() == b.Port() || endpoint(a) == endpoint(b))
}

// hostOf is the host of an address with its port, "" for an address that cannot be fetched.
func hostOf(text string) string {
	u, err := addressOf(text)
	if err != nil {
		return ""
	}
	return endpoint(u)
}
