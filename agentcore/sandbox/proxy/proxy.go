// Package proxy is the way from a sandbox to single hosts: an HTTP proxy, in this process, on sockets that listen in
// the network of the sandbox.
package proxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"slices"
	"sync"
	"time"

	"github.com/agentls/agentls/agentcore/network"
)

const (
	// proxyConnections is how many connections of one command are open at once; more wait.
	proxyConnections = 256
	// proxyHeader bounds the head of a request and of an answer, in bytes.
	proxyHeader = 64 << 10
	// proxyPatience is how long a request's head may take.
	proxyPatience = 30 * time.Second
	// proxyIdle is how long a connection without a request stays open.
	proxyIdle = 2 * time.Minute
	// toldHosts is how many refused hosts are told one by one.
	toldHosts = 10
)

// proxy is the one way out of a sandbox whose command may reach single hosts. It takes HTTP requests in absolute form
// and CONNECT (RFC 9112, 3.2.2 and 3.2.3). Every request is checked by its target alone. Connections to loopback
// addresses that were allowed arrive without a request, since few programs ask a proxy for those. It ends with its
// command.
type proxy struct {
	allowed network.Allowed
	// resolve finds the addresses of a name; nil asks the system.
	resolve network.Resolve

	ctx     context.Context
	cancel  context.CancelFunc
	server  *http.Server
	forward *httputil.ReverseProxy
	slots   chan struct{}

	mu      sync.Mutex
	closed  bool
	open    map[io.Closer]bool // what close closes
	refused []*refusedHost
	users   sync.WaitGroup // goroutines and connections; Add only under mu
}

// refusedHost is a host that a command could not reach, and how often it tried.
type refusedHost struct {
	network.Refusal
	times int
}

func newProxy(allowed network.Allowed) *proxy {
	p := &proxy{allowed: allowed, slots: make(chan struct{}, proxyConnections), open: map[io.Closer]bool{}}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	silent := log.New(io.Discard, "", 0) // what a command does wrong is its own business
	p.forward = &httputil.ReverseProxy{
		Rewrite:       func(*httputil.ProxyRequest) {}, // but for the headers of one hop, it goes on as it came
		FlushInterval: -1,                              // answers may come bit by bit
		ErrorHandler:  p.fail,
		ErrorLog:      silent,
		Transport: &http.Transport{
			DialContext: func(ctx context.Context, _, address string) (net.Conn,
				error,
			) {
				return p.dial(ctx, address)
			},
			DisableCompression:     true,
			DisableKeepAlives:      true,
			MaxResponseHeaderBytes: proxyHeader,
		},
	}
	p.server = &http.Server{
		Handler:           p,
		ReadHeaderTimeout: proxyPatience,
		IdleTimeout:       proxyIdle,
		MaxHeaderBytes:    proxyHeader,
		ErrorLog:          silent,
		BaseContext:       func(net.Listener) context.Context { return p.ctx },
		ConnState: func(_ net.Conn, state http.ConnState) {
			switch state {
			case http.StateNew:
				p.users.Add(1) // by the goroutine that accepts, which is counted itself
			case http.StateClosed, http.StateHijacked: // a hijacked one is its handler's
				p.users.Done()
			}
		},
	}
	return p
}

// serve answers requests to the proxy. It returns at once.
func (p *proxy) serve(l net.Listener) {
	p.work(l, func() {
		// It returns when the listener is closed, here or by an end of the sandbox.
		_ = p.server.Serve(&boundedListener{Listener: l, p: p})
	})
}

// pass connects what arrives with one address. It returns at once.
func (p *proxy) pass(l net.Listener, address string) {
	p.work(l, func() {
		bounded := &boundedListener{Listener: l, p: p}
		for {
			c, err := bounded.Accept()
			if err != nil {
				return
			}
			p.work(c, func() {
				if up, err := p.dial(p.ctx, address); err == nil {
					p.join(c, c, up)
				}
			})
		}
	})
}

// work runs f in a goroutine that close waits for. c is closed when f returns, and by close.
func (p *proxy) work(c io.Closer, f func()) {
	if !p.use(c) {
		_ = c.Close() // the proxy is closed
		return
	}
	go func() {
		defer p.leave(c)
		f()
	}()
}

// use counts a user of the proxy, with what it holds open if that is something, unless the proxy is closed.
func (p *proxy) use(c io.Closer) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.users.Add(1)
	if c != nil {
		p.open[c] = true
	}
	return true
}

func (p *proxy) leave(c io.Closer) {
	_ = c.Close() // whoever is at the other end sees an end, which is all there is to tell
	p.mu.Lock()
	delete(p.open, c)
	p.mu.Unlock()
	p.users.Done()
}

// close ends all connections and waits for their goroutines.
func (p *proxy) close() {
	p.mu.Lock()
	p.closed = true
	open := p.open
	p.open = map[io.Closer]bool{}
	p.mu.Unlock()
	p.cancel()
	for c := range open {
		_ = c.Close()
	}
	_ = p.server.Close() // its listeners are closed already
	p.users.Wait()
}

// notes are what a model should know of refused hosts.
func (p *proxy) notes() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var notes []string
	for i, r := range p.refused {
		if i == toldHosts {
			notes = append(notes, "the command could not reach more hosts than these")
			break
		}
		times := ""
		if r.times > 1 {
			times = fmt.Sprintf(" (tried %d times)", r.times)
		}
		notes = append(notes, fmt.Sprintf("the command could not reach a host%s: %s; %s", times, r.Error(), r.Hint()))
	}
	return notes
}

func (p *proxy) note(r *network.Refusal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.IndexFunc(p.refused, func(have *refusedHost) bool { return have.Refusal == *r }); i >= 0 {
		p.refused[i].times++
	} else if len(p.refused) <= toldHosts {
		p.refused = append(p.refused, &refusedHost{*r, 1})
	}
}

// ServeHTTP answers one request. The target is what its first line names; no header counts.
func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !p.use(nil) {
		return // the proxy is closed, and so is the connection
	}
	defer p.users.Done()
	if r.Method == http.MethodConnect {
		p.tunnel(w, r)
		return
	}
	if r.URL.Scheme != "http" || r.URL.Host == "" {
		http.Error(w,
			"agentls: this is a proxy for the hosts that a command may reach: send the whole http:// address, "+
				"or CONNECT", http.StatusBadRequest)
		return
	}
	address := net.JoinHostPort(r.URL.Hostname(), cmp.Or(r.URL.Port(), "80"))
	if !p.allowed.Has(address) {
		p.fail(w, r, &network.Refusal{Address: address})
		return
	}
	p.forward.ServeHTTP(w, r)
}

// fail says why a request was not passed on.
func (p *proxy) fail(w http.ResponseWriter, _ *http.Request, err error) {
	if r, ok := errors.AsType[*network.Refusal](err); ok {
		p.note(r)
		http.Error(w, fmt.Sprintf("agentls: the sandbox of this command does not reach every host: %v; %s", r,
			r.Hint()), http.StatusForbidden)
		return
	}
	http.Error(w, "agentls: the host could not be reached: "+err.Error(), http.StatusBadGateway)
}

// tunnel carries out CONNECT.
func (p *proxy) tunnel(w http.ResponseWriter, r *http.Request) {
	// Not the request's context, which ends where a program has sent all that it has to send.
	up, err := p.dial(p.ctx, r.RequestURI)
	if err != nil {
		w.Header().Set("Connection", "close") // what follows was meant for the host, and is no request
		p.fail(w, r, err)
		return
	}
	defer up.Close()
	c, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		p.fail(w, r, err)
		return
	}
	if !p.use(c) {
		c.Close()
		return
	}
	defer p.leave(c)
	if _, err := io.WriteString(c, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return // nobody is there any more
	}
	// What came behind the request is for the other end, like all that follows.
	p.join(c, buffered, up)
}

// join copies both ways between a connection, which is read by from, and one to the outside, until both are at their
// ends. It closes up.
func (p *proxy) join(c net.Conn, from io.Reader, up net.Conn) {
	if !p.use(up) {
		up.Close()
		return
	}
	defer p.leave(up)
	var back sync.WaitGroup
	back.Go(func() { pour(c, up) })
	pour(up, from)
	back.Wait()
}

// pour copies to the end and passes that on. Where one side fails, the other one is closed.
func pour(to net.Conn, from io.Reader) {
	_, err := io.Copy(to, from)
	if half, ok := to.(interface{ CloseWrite() error }); ok && err == nil {
		err = half.CloseWrite()
	}
	if err != nil {
		_ = to.Close()
		if c, ok := from.(net.Conn); ok {
			_ = c.Close()
		}
	}
}

// dial connects with a host that is allowed, by an address that was checked. The error is a *network.Refusal where it
// is not allowed.
func (p *proxy) dial(ctx context.Context, address string) (net.Conn, error) {
	if !p.allowed.Has(address) {
		return nil, &network.Refusal{Address: address}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.ctx, cancel)()
	return p.allowed.Dial(ctx, address, p.resolve)
}

// boundedListener keeps the number of connections.
type boundedListener struct {
	net.Listener
	p *proxy
}

func (l *boundedListener) Accept() (net.Conn, error) {
	select {
	case l.p.slots <- struct{}{}:
	case <-l.p.ctx.Done():
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.p.slots
		return nil, err
	}
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		<-l.p.slots
		return nil, errors.Join(fmt.Errorf("a connection is a %T", c), c.Close())
	}
	return &boundedConn{TCPConn: tcp, free: sync.OnceFunc(func() { <-l.p.slots })}, nil
}

type boundedConn struct {
	*net.TCPConn
	free func()
}

func (c *boundedConn) Close() error {
	defer c.free()
	return c.TCPConn.Close()
}
