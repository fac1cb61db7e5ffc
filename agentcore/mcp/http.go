package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// maxBody bounds what a server answers at once, in bytes.
	maxBody = 16 << 20
	// answerPatience is how long a server may take to begin an answer.
	answerPatience = 60 * time.Second
	// farewell is how long the request that ends the session may take.
	farewell = time.Second
)

// guarded sends the requests for one server to no other address, adds its headers, and bounds the answers.
type guarded struct {
	base    *http.Transport
	origin  *url.URL
	headers map[string]string
	// ctx ends with the client, and ends pending requests.
	ctx context.Context
}

// newHTTP makes a transport for a server at an address.
func (c *Client) newHTTP() (sdk.Transport, *guarded, error) {
	origin, err := url.Parse(c.options.URL)
	if err != nil || origin.Scheme != "http" && origin.Scheme != "https" || origin.Host == "" {
		return nil, nil,
			permanent(fmt.Errorf("%q is no address of a server: write one that begins with https:// or http://",
				c.options.URL))
	}
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.ResponseHeaderTimeout, base.MaxIdleConnsPerHost = answerPatience, 2
	if c.options.Dial != nil {
		base.DialContext, base.Proxy = c.options.Dial, nil
	}
	g := &guarded{base: base, origin: origin, headers: c.options.Headers, ctx: c.ctx}
	client := &http.Client{Transport: g, CheckRedirect: func(request *http.Request, via []*http.Request) error {
		if len(via) >= 5 {
			return errors.New("it redirects in circles")
		}
		return g.fits(request.URL)
	}}
	return &sdk.StreamableClientTransport{
		Endpoint: c.options.URL, HTTPClient: client, MaxRetries: 2,
		MaxEventSize: maxMessage,
	}, g, nil
}

// fits refuses any address other than the server's own.
func (g *guarded) fits(to *url.URL) error {
	if to.Scheme != g.origin.Scheme || to.Host != g.origin.Host {
		return fmt.Errorf("it leads to %s://%s, and only %s://%s is configured", to.Scheme, line(to.Host),
			g.origin.Scheme, g.origin.Host)
	}
	return nil
}

// RoundTrip implements http.RoundTripper.
func (g *guarded) RoundTrip(request *http.Request) (*http.Response, error) {
	if err := g.fits(request.URL); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(request.Context())
	leaves := request.Method == http.MethodDelete
	stop := context.AfterFunc(g.ctx, func() {
		if !leaves {
			cancel()
			return
		}
		time.AfterFunc(farewell, cancel)
	})
	request = request.Clone(ctx)
	for name, value := range g.headers {
		request.Header.Set(name, value)
	}
	response, err := g.base.RoundTrip(request)
	if err != nil {
		stop()
		cancel()
		return nil, err
	}
	body := &boundedBody{ReadCloser: response.Body, done: func() { stop(); cancel() }}
	if kind, _, err := mime.ParseMediaType(response.Header.Get("Content-Type")); err == nil &&
		kind == "text/event-stream" {
		body.streams = true
	}
	response.Body = body
	return response, nil
}

// boundedBody ends an answer that is too long. A stream may be long in total, but not at once.
type boundedBody struct {
	io.ReadCloser
	done    func()
	streams bool
	since   time.Time
	size    int
}

// Read implements io.Reader.
func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	limit := maxBody
	if b.streams {
		limit = 4 * maxBody
		if now := time.Now(); now.Sub(b.since) > floodTime {
			b.since, b.size = now, 0
		}
	}
	if b.size += n; b.size > limit {
		return 0, fmt.Errorf("it sent more than %d MiB at once", limit>>20)
	}
	return n, err
}

// Close implements io.Closer.
func (b *boundedBody) Close() error {
	defer b.done()
	return b.ReadCloser.Close()
}

// Dialer connects with host:port.
type Dialer func(ctx context.Context, network, address string) (net.Conn, error)
