package proxy

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
)

// newTestProxy serves a proxy for the allowed hosts on the loopback. Names have the given addresses.
func newTestProxy(t *testing.T, names map[string]string, allow ...string) (p *proxy, address string) {
	t.Helper()
	h, err := parse(allow)
	if err != nil {
		t.Fatal(err)
	}
	p = newProxy(h)
	p.resolve = func(_ context.Context, name string) ([]netip.Addr, error) {
		var list []netip.Addr
		for text := range strings.FieldsSeq(names[name]) {
			list = append(list, netip.MustParseAddr(text))
		}
		if list == nil {
			return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
		}
		return list, nil
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.serve(l)
	t.Cleanup(p.close)
	return p, l.Addr().String()
}

// site is a server that says what it was asked for.
func site(t *testing.T, name string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if to := r.URL.Query().Get("to"); to != "" {
			http.Redirect(w, r, to, http.StatusFound)
			return
		}
		fmt.Fprintf(w, "%s %s %s for %s", name, r.Method, r.URL.Path, r.Host)
	}))
	t.Cleanup(s.Close)
	return s
}

func hostPort(s *httptest.Server) string { return s.Listener.Addr().String() }

// exchange sends bytes to an address and returns all that comes back.
func exchange(t *testing.T, address, text string) string {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(answer)
}

func get(target, host string) string {
	return "GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n"
}

func TestProxyTargets(t *testing.T) {
	good, evil := site(t, "good"), site(t, "evil")
	_, port, err := net.SplitHostPort(hostPort(good))
	if err != nil {
		t.Fatal(err)
	}
	_, evilPort, err := net.SplitHostPort(hostPort(evil))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{
		"docs.example.org":     "127.0.0.1",
		"rebound.example.org":  "127.0.0.1",
		"mixed.example.org":    "10.0.0.7 127.0.0.1",
		"metadata.example.org": "169.254.169.254",
		"localhost":            "127.0.0.1",
		"evil.example.org":     "127.0.0.1",
	}
	// The address of the good server is named itself, so the names that lead to it may.
	p, address := newTestProxy(t, names, hostPort(good), "docs.example.org:"+port, "mixed.example.org:"+port,
		"rebound.example.org:"+evilPort, "metadata.example.org", "localhost:"+evilPort)
	for name, test := range map[string]struct {
		send string
		want []string // in the answer
		not  string
	}{
		"an address": {
			get("http://"+hostPort(good)+"/a", hostPort(good)),
			[]string{"200 OK", "good GET /a for " + hostPort(good)},
			"",
		},
		"a name": {
			get("http://docs.example.org:"+port+"/a", "x"), []string{"good GET /a for docs.example.org:" + port}, "",
		},
		"a name in another case": {get("http://DOCS.example.org.:"+port+"/a", "x"), []string{"good GET /a"}, ""},
		"the public ones of some addresses": {
			get("http://mixed.example.org:"+port+"/", "x"), []string{"good GET /"}, "",
		},
		"localhost by name": {get("http://localhost:"+evilPort+"/", "x"), []string{"evil GET /"}, ""},
		"an address that nobody named": {
			get("http://"+hostPort(evil)+"/", hostPort(good)),
			[]string{"403 Forbidden", "is not in network.allow", `adds "` + hostPort(evil) + `" to network.allow`},
			"evil GET",
		},
		"a name that nobody named": {
			get("http://evil.example.org/", "x"), []string{"403 Forbidden", `adds "evil.example.org:80"`}, "",
		},
		"another port": {
			get("http://docs.example.org:"+evilPort+"/", "x"), []string{"403 Forbidden"}, "evil GET",
		},
		"the port by default": {
			get("http://docs.example.org/", "x"), []string{"403 Forbidden", `"docs.example.org:80"`}, "",
		},
		"a name that begins so": {
			get("http://docs.example.org.evil.example.org:"+port+"/", "x"), []string{"403 Forbidden"}, "",
		},
		"a name that leads home": {
			get("http://rebound.example.org:"+evilPort+"/", "x"),
			[]string{"403 Forbidden", "leads to 127.0.0.1", `adds "127.0.0.1:` + evilPort + `"`},
			"evil GET",
		},
		"a name that leads to a link": {
			get("http://metadata.example.org/latest", "x"), []string{"403 Forbidden", "leads to 169.254.169.254"}, "",
		},
		"a user in front": {
			get("http://"+hostPort(good)+"@"+hostPort(evil)+"/", hostPort(good)), []string{"403 Forbidden"}, "evil GET",
		},
		"an octal address":       {get("http://0177.0.0.1:"+port+"/", "x"), []string{"403 Forbidden"}, "good GET"},
		"an address as a number": {get("http://2130706433:"+port+"/", "x"), []string{"403 Forbidden"}, "good GET"},
		"the same address, written for IPv6": {
			get("http://[::ffff:127.0.0.1]:"+port+"/", "x"), []string{"good GET /"}, "",
		},
		"another Host": {
			get("http://"+hostPort(good)+"/", "evil.example.org"), []string{"good GET / for " + hostPort(good)}, "",
		},
		"no target":             {get("/", hostPort(good)), []string{"400 Bad Request", "this is a proxy"}, "good GET"},
		"https without CONNECT": {get("https://"+hostPort(good)+"/", "x"), []string{"400 Bad Request"}, ""},
		"a file":                {get("file:///etc/passwd", "x"), []string{"400 Bad Request"}, "root"},
		"a redirection": {
			get("http://"+hostPort(good)+"/?to=http://"+hostPort(evil)+"/", "x"),
			[]string{"302 Found", "Location: http://" + hostPort(evil)},
			"evil GET",
		},
		"a second request to another host": {
			"GET http://" + hostPort(good) + "/1 HTTP/1.1\r\nHost: a\r\n\r\n" +
				get("http://"+hostPort(evil)+"/2", hostPort(good)),
			[]string{"good GET /1", "403 Forbidden"},
			"evil GET",
		},
		"CONNECT": {
			"CONNECT " + hostPort(good) + " HTTP/1.1\r\nHost: x\r\n\r\n" + get("/in", hostPort(good)),
			[]string{"200 Connection established", "good GET /in"},
			"",
		},
		"CONNECT elsewhere": {
			"CONNECT " + hostPort(evil) + " HTTP/1.1\r\nHost: " + hostPort(good) + "\r\n\r\n" + get("/", "x"),
			[]string{"403 Forbidden"},
			"evil GET",
		},
		"CONNECT elsewhere, and more": {
			"CONNECT " + hostPort(evil) + " HTTP/1.1\r\nHost: x\r\n\r\n" + get("http://"+hostPort(good)+"/more", "x"),
			[]string{"403 Forbidden"},
			"good GET",
		},
		"CONNECT without a port": {"CONNECT 127.0.0.1 HTTP/1.1\r\nHost: x\r\n\r\n", []string{"403 Forbidden"}, ""},
		"CONNECT with a user": {
			"CONNECT " + hostPort(good) + "@" + hostPort(evil) + " HTTP/1.1\r\nHost: x\r\n\r\n",
			[]string{"403 Forbidden"},
			"evil",
		},
		"CONNECT by a whole address": {
			"CONNECT http://" + hostPort(good) + "/ HTTP/1.1\r\nHost: x\r\n\r\n" + get("/", "x"),
			[]string{"HTTP/1.1 4"},
			"good GET",
		},
		"a request behind a CONNECT": {
			"CONNECT " + hostPort(good) + " HTTP/1.1\r\nHost: x\r\n\r\n" +
				get("http://"+hostPort(evil)+"/smuggled", hostPort(evil)),
			[]string{"good GET /smuggled"},
			"evil GET",
		},
		"a second line in the target": {
			"CONNECT " + hostPort(good) + "\nX: " + hostPort(evil) + " HTTP/1.1\r\nHost: x\r\n\r\n",
			[]string{"400 Bad Request"},
			"200",
		},
		"two lengths of a body": {
			"POST http://" + hostPort(good) +
				"/ HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 90\r\n\r\nabc" +
				get("http://"+hostPort(evil)+"/", "x"),
			[]string{"400 Bad Request"},
			"evil GET",
		},
		"a length and chunks of it": {
			"POST http://" + hostPort(good) +
				"/p HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\n" +
				get("http://"+hostPort(evil)+"/", "x"),
			nil, "evil GET",
		},
		"a head that does not end": {
			"GET http://" + hostPort(good) + "/ HTTP/1.1\r\nX: " + strings.Repeat("x", 2*proxyHeader) + "\r\n\r\n",
			[]string{"431 Request Header Fields Too Large"},
			"good GET",
		},
		"a name that does not resolve": {get("http://gone.example.org/", "x"), []string{"403 Forbidden"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			answer := exchange(t, address, test.send)
			for _, want := range test.want {
				if !strings.Contains(answer, want) {
					t.Errorf("the answer lacks %q:\n%s", want, answer)
				}
			}
			if test.not != "" && strings.Contains(answer, test.not) {
				t.Errorf("the answer has %q:\n%s", test.not, answer)
			}
		})
	}
	if notes := p.notes(); len(notes) != toldHosts+1 ||
		!strings.Contains(strings.Join(notes, "\n"), "to network.allow in the configuration") {
		t.Errorf("the notes are %d: %q", len(notes), notes)
	}
}

func TestProxyTellsRefusedHosts(t *testing.T) {
	p, address := newTestProxy(t, nil, "docs.example.org")
	for range 3 {
		exchange(t, address, get("http://other.example.org/", "x"))
	}
	exchange(t, address, "CONNECT other.example.org:443 HTTP/1.1\r\nHost: x\r\n\r\n")
	answer := exchange(t, address, get("http://docs.example.org/", "x"))
	if !strings.Contains(answer, "502 Bad Gateway") || !strings.Contains(answer, "no such host") {
		t.Errorf("a name without an address is answered\n%s", answer)
	}
	want := []string{
		`the command could not reach a host (tried 3 times): "other.example.org:80" is not in network.allow; to allow it, the user adds "other.example.org:80" to network.allow in the configuration of agentls`,
		`the command could not reach a host: "other.example.org:443" is not in network.allow; to allow it, the user adds "other.example.org:443" to network.allow in the configuration of agentls`,
	}
	if notes := p.notes(); strings.Join(notes, "\n") != strings.Join(want, "\n") {
		t.Errorf("the notes are %q", notes)
	}
}

// TestProxyUsesTheCheckedAddress has a name change its address between two looks.
func TestProxyUsesTheCheckedAddress(t *testing.T) {
	good, evil := site(t, "good"), site(t, "evil")
	_, port, err := net.SplitHostPort(hostPort(good))
	if err != nil {
		t.Fatal(err)
	}
	p, address := newTestProxy(t, nil, "docs.example.org:"+port, hostPort(good))
	looks := 0
	p.resolve = func(context.Context, string) ([]netip.Addr, error) {
		looks++
		return []netip.Addr{netip.MustParseAddr([]string{"127.0.0.1", "127.0.0.2"}[min(looks-1, 1)])}, nil
	}
	answer := exchange(t, address, get("http://docs.example.org:"+port+"/", "x"))
	if !strings.Contains(answer, "good GET") || looks != 1 {
		t.Errorf("%d looks:\n%s", looks, answer)
	}
	answer = exchange(t, address, get("http://docs.example.org:"+port+"/", "x"))
	if !strings.Contains(answer, "403 Forbidden") || looks != 2 {
		t.Errorf("%d looks:\n%s", looks, answer)
	}
	_ = evil
}

// TestProxyEnds closes a proxy that has connections of every kind.
func TestProxyEnds(t *testing.T) {
	arrived, release := make(chan struct{}, 2), make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		select {
		case <-r.Context().Done():
		case <-release:
		}
	}))
	defer slow.Close()
	defer close(release)
	p, address := newTestProxy(t, nil, hostPort(slow))
	var conns []net.Conn
	for _, send := range []string{
		"", "GET http", get("http://"+hostPort(slow)+"/", "x"),
		"CONNECT " + hostPort(slow) + " HTTP/1.1\r\nHost: x\r\n\r\n",
	} {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := io.WriteString(c, send); err != nil {
			t.Fatal(err)
		}
		conns = append(conns, c)
	}
	if line, err := bufio.NewReader(conns[3]).ReadString('\n'); err != nil || !strings.Contains(line, "200") {
		t.Fatalf("%q %v", line, err)
	}
	if _, err := io.WriteString(conns[3], get("/", "x")); err != nil {
		t.Fatal(err)
	}
	<-arrived
	<-arrived
	p.close()
	for i, c := range conns {
		// The rest of an answer may come; then it ends.
		if _, err := io.Copy(io.Discard, c); err != nil &&
			!errors.Is(err, net.ErrClosed) && !strings.Contains(err.Error(), "reset") {
			t.Errorf("connection %d: %v", i, err)
		}
	}
	if _, err := net.Dial("tcp", address); err == nil {
		t.Error("it still listens")
	}
	p.close()
}

func TestTooManyDoors(t *testing.T) {
	var many []string
	for port := range maxLoopback + 1 {
		many = append(many, fmt.Sprintf("127.0.0.1:%d", port+1))
	}
	if _, err := parse(many); err == nil {
		t.Error("more sockets than one message can hand over")
	}
}

func TestDoors(t *testing.T) {
	h, err := parse([]string{
		"localhost:8080", "127.0.0.1:8080", "127.0.0.9:61080", "127.0.0.1:61080", "10.0.0.1:1", "docs.example.org",
	})
	if err != nil {
		t.Fatal(err)
	}
	doors := loopback(h)
	if got := fmt.Sprint(doors); got != "[{127.0.0.1:61080 127.0.0.1:61080} {127.0.0.1:8080 127.0.0.1:8080} {127.0.0.9:61080 127.0.0.9:61080} {[::1]:8080 localhost:8080}]" {
		t.Errorf("the doors are %s", got)
	}
	if got := proxyAddress(doors); got != "127.0.0.1:61081" {
		t.Errorf("the proxy is at %s", got)
	}
}

// TestProxyBoundsConnections sends more requests at once than are taken.
func TestProxyBoundsConnections(t *testing.T) {
	const bound, requests = 2, 6
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer slow.Close()
	h, err := parse([]string{hostPort(slow)})
	if err != nil {
		t.Fatal(err)
	}
	p := newProxy(h)
	defer p.close()
	p.slots = make(chan struct{}, bound)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.serve(&slotted{l, func() {
		if len(p.slots) == 0 {
			t.Error("a connection is waited for without a slot for it")
		}
	}})
	var all sync.WaitGroup
	for range requests {
		all.Go(func() {
			c, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			if _, err := io.WriteString(c, get("http://"+hostPort(slow)+"/", "x")); err != nil {
				t.Error(err)
			}
			if answer, err := io.ReadAll(c); err != nil || !strings.Contains(string(answer), "200 OK") {
				t.Errorf("%v: %s", err, answer)
			}
		})
	}
	all.Wait() // more than there are slots, so each is given back
}

// slotted calls before it waits for a connection.
type slotted struct {
	net.Listener
	before func()
}

func (s *slotted) Accept() (net.Conn, error) {
	s.before()
	return s.Listener.Accept()
}

// TestProxyPassesUpgrades switches a connection to another protocol, which a command may do with a host that it
// reaches, and ends it with the proxy.
func TestProxyPassesUpgrades(t *testing.T) {
	echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		if _, err := io.WriteString(c,
			"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n"); err != nil {
			t.Error(err)
		}
		_, _ = io.Copy(c, buffered) // to the end of the other side
	}))
	defer echo.Close()
	p, address := newTestProxy(t, nil, hostPort(echo))
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	head := " HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n"
	if _, err := io.WriteString(c, "GET http://"+hostPort(echo)+"/"+head); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(c)
	for line := ""; line != "\r\n"; {
		if line, err = r.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := io.WriteString(c, "hello\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := r.ReadString('\n'); err != nil || line != "hello\n" {
		t.Errorf("%q %v", line, err)
	}
	p.close()
	if rest, err := io.ReadAll(r); err == nil && len(rest) > 0 {
		t.Errorf("%q came after the end", rest)
	}
}
