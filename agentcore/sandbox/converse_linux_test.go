//go:build amd64 || arm64

package sandbox

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// converse starts a script that the test speaks with.
func converse(t *testing.T, b *Box, c Command) (p *Process, in *os.File, out *bufio.Reader) {
	t.Helper()
	in, mine, err := piped(t, c, func(c Command) (err error) { p, err = b.Start(t.Context(), c); return err })
	if err != nil {
		t.Fatal(err)
	}
	return p, in, bufio.NewReader(mine)
}

// piped starts a command with pipes, and returns the test's ends of them.
func piped(t testing.TB, c Command, start func(Command) error) (in, out *os.File, err error) {
	t.Helper()
	childIn, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, childOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); out.Close() })
	c.Input, c.Output = childIn, childOut
	err = start(c)
	childIn.Close()
	childOut.Close()
	return in, out, err
}

// TestConverse speaks with a command over pipes, at the level that this machine has and without walls: it sees its own
// variables and, where it is live, the folder as it is on the disk; what it says on standard error is kept apart.
func TestConverse(t *testing.T) {
	levels := map[string]func(*Options){"best": func(*Options) {}, "copy": atLevel(Copy)}
	if _, err := findBwrap(); err == nil {
		levels["bubblewrap"] = atLevel(Bubblewrap)
	}
	for name, change := range levels {
		t.Run(name, func(t *testing.T) {
			b, ws := open(t, map[string]string{"a": "old\n", ".env": "KEY=1\n"}, change, func(o *Options) {
				o.Secret = func(path string) bool { return filepath.Base(path) == ".env" }
			})
			p, in, out := converse(t, b, Command{
				Script: `echo complaint >&2; while read line; do case $line in file) cat a;; write) (echo x >made) 2>/dev/null && echo wrote || echo refused;; secret) cat .env 2>/dev/null; echo end;; *) echo "$OWN $line";; esac; done`,
				Env:    []string{"OWN=mine"}, Live: true,
			})
			ask := func(question string) string {
				t.Helper()
				if _, err := in.WriteString(question + "\n"); err != nil {
					t.Fatal(err)
				}
				line, err := out.ReadString('\n')
				if err != nil {
					t.Fatalf("after %q: %v", question, err)
				}
				return strings.TrimSpace(line)
			}
			if got := ask("hello"); got != "mine hello" {
				t.Errorf("got %q", got)
			}
			if got := ask("file"); got != "old" {
				t.Errorf("the file is %q", got)
			}
			if got := ask("secret"); got != "end" {
				t.Errorf("it reads a secret: %q", got)
			}
			if name != "copy" && (b.Level() == Full || b.Level() == Bubblewrap) {
				write(t, filepath.Join(ws, "b"), "new\n")
				if err := os.Rename(filepath.Join(ws, "b"), filepath.Join(ws, "a")); err != nil {
					t.Fatal(err)
				}
				if got := ask("file"); got != "new" {
					t.Errorf("after the file was replaced it is %q", got)
				}
				if got := ask("write"); got != "refused" {
					t.Errorf("it writes: %q", got)
				}
			}
			if _, err := os.Lstat(filepath.Join(ws, "made")); err == nil {
				t.Error("it wrote into the workspace")
			}
			in.Close()
			result, err := p.Wait(t.Context())
			if err != nil || result.Exit != 0 {
				t.Fatalf("it ended with %+v, %v", result, err)
			}
			if text, _ := p.Output(0); string(text) != "complaint\n" {
				t.Errorf("on standard error it said %q", text)
			}
		})
	}
}

// TestHangUp: a command closes its input and its output and lives on. Who reads sees the end at once, and who writes is
// told so.
func TestHangUp(t *testing.T) {
	for name, change := range map[string]func(*Options){"best": func(*Options) {}, "copy": atLevel(Copy)} {
		t.Run(name, func(t *testing.T) {
			b, _ := open(t, nil, change)
			p, in, out := converse(t, b, Command{Script: `echo hello; exec <&-; exec >&-; exec sleep 1000`, Live: true})
			if text, err := io.ReadAll(out); err != nil || string(text) != "hello\n" {
				t.Errorf("it said %q, %v", text, err)
			}
			if _, err := in.WriteString("too late\n"); !errors.Is(err, syscall.EPIPE) {
				t.Errorf("writing to it ends with %v", err)
			}
			select {
			case <-p.Done():
				t.Error("it has ended")
			default:
			}
			p.Kill()
			<-p.Done()
		})
	}
}
