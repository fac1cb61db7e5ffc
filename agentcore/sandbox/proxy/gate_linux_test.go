package proxy

import (
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/agentls/agentls/agentcore/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Dispatch()
	goleak.VerifyTestMain(m)
}

// watchdog bounds every wait of these tests; it is no measure of anything.
const watchdog = 4 * time.Minute

// open makes a box that reaches the allowed hosts.
func open(t testing.TB, allow ...string) *sandbox.Box {
	t.Helper()
	top := t.TempDir()
	work := filepath.Join(top, "home", "work")
	if err := os.MkdirAll(work, 0o755); err != nil {
		t.Fatal(err)
	}
	gate, err := Gate(allow)
	if err != nil {
		t.Fatal(err)
	}
	b, err := sandbox.Open(t.Context(), sandbox.Options{
		Run: "run-1", Roots: []string{work}, StateDir: filepath.Join(top, "state"), Home: filepath.Join(top, "home"),
		Env: []string{"PATH=" + os.Getenv("PATH")}, Network: sandbox.Network{Gate: gate},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// sh runs a script that must be started.
func sh(t *testing.T, b *sandbox.Box, script string) sandbox.Result {
	t.Helper()
	r, err := b.Run(t.Context(), sandbox.Command{Script: script, Timeout: watchdog})
	if err != nil {
		t.Fatalf("%s: %v", script, err)
	}
	return r
}

// fetchInside asks for an address inside a box, by a program that looks for a proxy in its environment.
func fetchInside(t *testing.T, b *sandbox.Box, url string, before ...string) sandbox.Result {
	t.Helper()
	return sh(t, b, strings.Join(before, "\n")+`
python3 - '`+url+`' <<'END'
import sys, urllib.request, urllib.error
try:
    print("got", urllib.request.urlopen(sys.argv[1], timeout=60).read().decode())
except urllib.error.HTTPError as e:
    print("http", e.code, e.read().decode())
except Exception as e:
    print("failed", e)
END
kill %1 2>/dev/null; true`)
}

// byProxy opens a connection to the proxy as descriptor 3.
const byProxy = `exec 3<>"/dev/tcp/127.0.0.1/${HTTP_PROXY##*:}"; `

// TestSingleHosts reaches the allowed host from a sandbox, and nothing else.
func TestSingleHosts(t *testing.T) {
	good, evil := site(t, "good"), site(t, "evil")
	_, port, err := net.SplitHostPort(hostPort(good))
	if err != nil {
		t.Fatal(err)
	}
	b := open(t, hostPort(good), "docs.example.org")
	for name, script := range map[string]string{
		"by the proxy":  `printf 'GET http://` + hostPort(good) + `/a HTTP/1.0\r\n\r\n' >&3; cat <&3`,
		"over a tunnel": `printf 'CONNECT ` + hostPort(good) + ` HTTP/1.1\r\n\r\nGET /a HTTP/1.0\r\n\r\n' >&3; cat <&3`,
	} {
		if r := sh(t, b, byProxy+script); !strings.Contains(string(r.Output), "good GET /a") {
			t.Errorf("%s: %s", name, r.Output)
		}
	}
	r := fetchInside(t, b, "http://"+hostPort(good)+"/a")
	if string(r.Output) != "got good GET /a for "+hostPort(good)+"\n" || len(r.Notes) > 0 {
		t.Errorf("directly: %s %q", r.Output, r.Notes)
	}

	r = fetchInside(t, b, "http://other.example.org:"+port+"/")
	if !strings.HasPrefix(string(r.Output), "http 403 agentls: ") ||
		!strings.Contains(string(r.Output), `adds "other.example.org:`+port+`" to network.allow`) {
		t.Errorf("a host that is not allowed: %s", r.Output)
	}
	if len(r.Notes) != 1 ||
		!strings.Contains(r.Notes[0], `"other.example.org:`+port+`" is not in network.allow; to allow it`) {
		t.Errorf("the notes are %q", r.Notes)
	}
	for name, url := range map[string]string{
		"another port of the machine": "http://" + hostPort(evil) + "/", "another machine": "http://192.0.2.1/",
	} {
		if r := fetchInside(t, b, url); strings.Contains(string(r.Output), "got") {
			t.Errorf("%s: %s", name, r.Output)
		}
	}
	r = sh(t, b, byProxy+`printf 'GET http://`+hostPort(evil)+`/ HTTP/1.0\r\n\r\n' >&3; cat <&3`)
	if !strings.Contains(string(r.Output), "403 Forbidden") {
		t.Errorf("another port by the proxy: %s", r.Output)
	}
	r = fetchInside(t, b, "http://"+hostPort(good)+"/?to=http://other.example.org/")
	if !strings.HasPrefix(string(r.Output), "http 403 ") {
		t.Errorf("redirected: %s", r.Output)
	}
	// What a command serves itself is reached without the proxy.
	if r := fetchInside(t, b, "http://127.0.0.1:8931/own.txt", `echo own > own.txt
python3 -m http.server 8931 --bind 127.0.0.1 >/dev/null 2>&1 &
until (exec 3<>/dev/tcp/127.0.0.1/8931) 2>/dev/null; do :; done`); !strings.HasPrefix(string(r.Output), "got own\n") {
		t.Errorf("its own server: %s", r.Output)
	}
}

// TestLowPorts has a host of the loopback without a port, which stands for 80 and 443; the command gets no right from
// it.
func TestLowPorts(t *testing.T) {
	b := open(t, "localhost")
	r := sh(t, b, `for p in 80 443 81; do (exec 3<>/dev/tcp/127.0.0.1/$p) 2>/dev/null && echo $p; done; grep CapEff /proc/self/status`)
	if string(r.Output) != "80\n443\nCapEff:\t0000000000000000\n" {
		t.Errorf("%s", r.Output)
	}
}

// TestSingleHostsInBackground reaches a host from a command in the background, whose connections end with it.
func TestSingleHostsInBackground(t *testing.T) {
	good := site(t, "good")
	b := open(t, hostPort(good))
	host, port, err := net.SplitHostPort(hostPort(good))
	if err != nil {
		t.Fatal(err)
	}
	p, err := b.Start(t.Context(), sandbox.Command{
		Script: fmt.Sprintf(`exec 3<>/dev/tcp/%s/%s; printf 'GET /x HTTP/1.1\r\nHost: h\r\n\r\n' >&3; cat <&3; sleep 1000`,
			host, port),
	})
	if err != nil {
		t.Fatal(err)
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	end := time.After(watchdog)
	for out := []byte(nil); !strings.Contains(string(out), "good GET /x"); out, _ = p.Output(0) {
		select {
		case <-tick.C:
		case <-end:
			t.Fatal("no answer came")
		}
	}
	p.Kill()
	<-p.Done()
}

// TestOrdinaryUser runs the tests of sandboxes again without root's rights, where this is root.
func TestOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Log("every test of this package is that test")
		return
	}
	const nobody = 65534
	dir, err := os.MkdirTemp("/var/tmp", "agentls-proxy-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chown(dir, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=TestSingleHosts|TestLowPorts")
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + dir, "HOME=" + dir}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestForgedOffer sends what our own program in a sandbox would not.
func TestForgedOffer(t *testing.T) {
	h, err := parse([]string{"127.0.0.1:9"})
	if err != nil {
		t.Fatal(err)
	}
	for _, message := range []string{"", "\x00", "\xff\xff"} {
		pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_SEQPACKET|syscall.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		p, theirs := newProxy(h), os.NewFile(uintptr(pair[1]), "theirs")
		if err := p.attend(os.NewFile(uintptr(pair[0]), "ours"), loopback(h)); err != nil {
			t.Fatal(err)
		}
		if _, err := theirs.WriteString(message); err != nil {
			t.Fatal(err)
		}
		if err := theirs.Close(); err != nil {
			t.Fatal(err)
		}
		p.close()
	}
}

// BenchmarkSingleHosts is a command that does nothing, in a sandbox that reaches a host.
func BenchmarkSingleHosts(b *testing.B) {
	s := httptest.NewServer(nil)
	defer s.Close()
	box := open(b, s.Listener.Addr().String())
	for b.Loop() {
		if _, err := box.Run(b.Context(), sandbox.Command{Argv: []string{"true"}}); err != nil {
			b.Fatal(err)
		}
	}
}
