//go:build unix

package permission_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/agentls/agentls/agentcore/permission"
)

// shell runs command lines by the real bash in a folder of its own, where every program that they could find only
// writes down how it was called.
type shell struct {
	bash, bin, calls, dir string
	allowed, other        atomic.Int64
}

// harmless are the programs that the rules of [newShell] allow, all of them stubs.
func harmless(args []string) bool {
	switch args[0] {
	case "ok", "fail":
		return true
	case "git":
		return len(args) > 1 && args[1] == "status"
	case "list":
		return len(args) == 2 && args[1] == "a"
	}
	return false
}

func newShell(t testing.TB) *shell {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	s := &shell{bash: bash, dir: dir, bin: filepath.Join(dir, "bin"), calls: filepath.Join(dir, "calls")}
	for _, d := range []string{s.bin, s.calls} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"ok", "fail", "git", "list", "bad", "evil", "BAD", "x", "status", "a"} {
		s.stub(t, s.bin, name, name)
	}
	for _, name := range []string{"env", "nice", "nohup", "timeout", "xargs", "find"} {
		real, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(real, filepath.Join(s.bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"sh", "bash"} {
		if err := os.Symlink(bash, filepath.Join(s.bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// stub writes a program that only notes its arguments, under another name where as is one.
func (s *shell) stub(t testing.TB, dir, name, as string) {
	t.Helper()
	code := 0
	if name == "fail" {
		code = 1
	}
	text := fmt.Sprintf("#!%s\nprintf '%%s\\0' %s \"$@\" > '%s'/$$-$EPOCHREALTIME-$RANDOM\nexit %d\n", s.bash, as,
		s.calls, code)
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}

// check runs a command line if the gate allows it, and fails where anything else than the rules mean ran or was
// written.
func (s *shell) check(t *rapid.T, command string) {
	work, err := os.MkdirTemp(s.dir, "work")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := os.RemoveAll(work); err != nil {
			t.Fatal(err)
		}
	}()
	inside := filepath.Join(work, "inside")
	p := permission.New(permission.Setup{Roots: []string{inside}, Layers: []permission.Layer{user(
		allow("bash", "ok*"), allow("bash", "fail*"), allow("bash", "git status*"), allow("bash", "list a"),
		allow("bash", "echo*"), allow("bash", "find*"), allow("edit", "out/**"),
	)}})
	d := p.Decide(permission.Request{Tool: "bash", Effect: permission.Execute, Command: command, Dir: inside}, nil)
	if d.Action != permission.Allow {
		s.other.Add(1)
		return
	}
	s.allowed.Add(1)
	for _, sub := range []string{"out", "sub", "home"} {
		if err := os.MkdirAll(filepath.Join(inside, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"bad", "-exec"} { // what a wildcard could become
		if err := os.WriteFile(filepath.Join(inside, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before := tree(t, work)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // the watchdog
	defer cancel()
	cmd := exec.CommandContext(ctx, s.bash, "--noprofile", "--norc", "-c", command)
	cmd.Dir = inside
	cmd.Env = []string{"PATH=" + s.bin, "HOME=" + filepath.Join(inside, "home"), "B=bad", "X=bad", "LC_ALL=C"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second
	var output bytes.Buffer // held open by everything that the command starts, so that Wait waits for it
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Run(); err != nil {
		if _, ok := errors.AsType[*exec.ExitError](err); !ok || ctx.Err() != nil {
			t.Fatalf("%q does not end: %v\n%s", command, err, output.Bytes())
		}
	}
	entries, err := os.ReadDir(s.calls)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		name := filepath.Join(s.calls, e.Name())
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
		if args := strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00"); len(text) > 0 && !harmless(args) {
			t.Fatalf("%q was allowed, and ran %q: %+v", command, args, d.Parts)
		}
	}
	for _, name := range tree(t, work) {
		if !slices.Contains(before, name) && !strings.HasPrefix(name, "inside/out/") {
			t.Fatalf("%q was allowed, and wrote %s: %+v", command, name, d.Parts)
		}
	}
}

func tree(t *rapid.T, dir string) []string {
	var names []string
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if rel, e := filepath.Rel(dir, path); e == nil {
			names = append(names, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func pick(t *rapid.T, label string, list ...string) string {
	return rapid.SampledFrom(list).Draw(t, label)
}

// words, with what the shell makes of them at odds with how they look.
func anyProgram(t *rapid.T) string {
	if rapid.IntRange(0, 9).Draw(t, "usual") < 7 {
		return pick(t, "program", "ok", "ok", "ok", "fail", "echo", "git status", "list a", `o''k`, `"ok"`, `o\k`,
			`'git' "status"`, "git  status", "list 'a'", `git sta""tus`)
	}
	return pick(t, "program", "bad", "evil", "git push", "git -c x=y status", "list b", "list a x", `b''ad`, `"bad"`,
		`ba\d`, "$B", "${B}", "$'bad'", "$'\\x62ad'", "{bad,x}", "b?d", "[b]ad", "*", "./bad", "okbad", "ok-bad",
		"git$IFS push", "", "''", `$"bad"`, "`bad`", "$(bad)", "git\tpush", "!", "time", "-")
}

func anyArgument(t *rapid.T) string {
	return pick(t, "argument", "x", "y", "'bad'", `"a b"`, "-c", "a=b", "\\;", "';bad'", `";bad"`, "'it'\\''s'", "--", "x#bad", "#bad", "'$(bad)'", `"\$(bad)"`, "'`bad`'", `\$B`, "{}", "a\\ b", `"a
b"`, "'a\nbad'", "*", "./*", "o*", "-*",
		"$X", "$i", `"$i"`, "$HOME", `"$HOME/x"`, "$HOME$X", "$?x", "$(ok)", `"a$(ok)b"`, "~/x", "~x", `~"/x"`,
		"$(bad)", "`bad`", `"$(bad)"`, "<(bad)", "{a,b}", "~", "$'\\nbad'", "a\\\nb", "$((1))", "${X:-$(bad)}",
		"${X@P}", `"${X}"`, "$[1]", "\\", "'", `"`, "(", ")", "!(x)", "$_", "$?", "a~", "%", "^", "[", "]", "=x", "+=")
}

func anyRedirect(t *rapid.T) string {
	return pick(t, "redirect", "", "", "", "", "", "", ">out/f", ">>out/f", "2>&1", ">&2", "<bad", "<<<x",
		"<<<'$(bad)'", "&>out/g", "2>out/h", ">|out/i", "<>out/j", ">&-", "0<bad",
		">f", ">../f", ">>out/../g", "<<<$(bad)", "<<<\"`bad`\"", ">$X", "&>f", ">&f", ">|h", "<>i", ">out/{a,b}",
		">'f'", ">o\\ut/x", "{fd}>out/x", ">~/f", ">out/$(bad)", "2>f", ">(bad)", "> >(bad)", "<(bad)", ">out/*")
}

func anySimple(t *rapid.T) string {
	var b strings.Builder
	if rapid.IntRange(0, 19).Draw(t, "assigned") == 0 {
		b.WriteString(pick(t, "assignment", "X=1 ", "PATH=sub ", "B=$(bad) ", "a[$(bad)]=1 ", "X+=y ", "IFS=x ",
			"BASH_ENV=bad ", "X=", "A=(1 $(bad)) "))
	}
	b.WriteString(anyProgram(t))
	for range rapid.IntRange(0, 2).Draw(t, "arguments") {
		b.WriteString(pick(t, "space", " ", " ", " ", "  ", "\t", " \\\n", "\\\n"))
		b.WriteString(anyArgument(t))
	}
	if r := anyRedirect(t); r != "" {
		b.WriteString(" " + r)
	}
	return b.String()
}

func anyCommand(t *rapid.T, depth int) string {
	if depth == 0 {
		return anySimple(t)
	}
	sub := func() string { return anyCommand(t, depth-1) }
	quoted := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
	switch rapid.IntRange(0, 28).Draw(t, "form") {
	case 0, 1, 2, 3:
		return anySimple(t)
	case 4:
		return sub() + pick(t, "join", "; ", " && ", " || ", " | ", " & ", "\n", " |& ", ";", "&", "|", "\n\n", " #x\n",
			" ;; ") + sub()
	case 5:
		return "(" + sub() + ")"
	case 6:
		return "{ " + sub() + "; }"
	case 7:
		return "if " + sub() + "; then " + sub() + "; else " + sub() + "; fi"
	case 8:
		return "for i in " + anyArgument(t) + "; do " + sub() + "; done"
	case 9:
		return "case " + anyArgument(t) + " in " + pick(t, "case", "x", "*", "x|y", "$(bad)") + ") " + sub() + ";; esac"
	case 10:
		return "! " + sub()
	case 11:
		return pick(t, "keyword", "time ", "time -p ", "coproc ", "coproc N ") + sub()
	case 12:
		return "while fail; do " + sub() + "; done"
	case 13:
		return pick(t, "shell", "sh -c ", "bash -c ", "bash -ec ", "sh -xc ", "eval ", "command eval ") + quoted(sub())
	case 14:
		return pick(t, "wrapper", "env ", "nice ", "nice -n 1 ", "nohup ", "timeout 60 ", "command ", "env X=1 ",
			"env -i ", "exec ", "builtin ", "xargs ", "command -p ", "timeout -k 1 60 ", "nice nice ",
			"nice -n1 ") + sub()
	case 15:
		return "ok " + pick(t, "here", "<<E", "<<'E'", "<<\"E\"", "<<-E", "<<\\E") + "\n" + pick(t, "body", "text",
			"$(bad)", "`bad`", "$B", "\\$(bad)", "E bad", "bad", "\tE\nbad", "'$(bad)'") + "\nE\n" + sub()
	case 16:
		return pick(t, "function", "ok() { bad; }; ", "function ok { bad; }; ", "ok () ( bad )\n",
			"f() { "+sub()+"; }; f; ") + sub()
	case 17:
		return pick(t, "setting", "alias ok=bad; ", "shopt -s expand_aliases\nalias ok=bad\n", "trap bad EXIT; ",
			"set -- bad; ", "PATH=sub; ", "hash -p bin/bad ok; ", "cd sub; ", "cd sub && ", "export B=x; ",
			"declare -n a=B; ", "enable -n echo; ", "shopt -s extglob\n") + sub()
	case 18:
		return pick(t, "test", "[[ x == x ]] && ", "[[ -v a[$(bad)] ]]; ", "[[ 'a[$(bad)]' -eq 1 ]]; ",
			"(( a[$(bad)] )); ", "((1)) && ", "let 'a[$(bad)]'; ", "test -v 'a[$(bad)]'; ", "[ x = x ] && ",
			"[[ x =~ x ]] && ", "[[ $(bad) ]] || ") + sub()
	case 19:
		return "ok $(" + sub() + ")"
	case 20:
		return "ok <(" + sub() + ")"
	case 21:
		return "ok `" + sub() + "`"
	case 22:
		return `ok "$(` + sub() + `)"`
	case 23:
		return sub() + " | xargs " + sub()
	case 24:
		return "(" + sub() + ") " + anyRedirect(t)
	case 25:
		return "until ok; do " + sub() + "; done"
	case 26:
		return "find " + pick(t, "start", ".", "out", "*", "./bad", "$HOME") + " -exec " + sub() + pick(t, "end", ` \;`,
			" {} +", ` {} \;`, " ';' -exec bad {} +", " {}/x ;")
	case 27:
		return "echo " + sub() + " | xargs " + pick(t, "option", "", "-I{} ", "-n1 ", "-d, ", "-a bad ") + sub()
	}
	return "# " + sub() + "\n" + sub()
}

// anyLine is a command, now and then with one more character of those that mean something to a shell.
func anyLine(t *rapid.T) string {
	line := anyCommand(t, rapid.IntRange(0, 3).Draw(t, "depth"))
	for range max(0, rapid.IntRange(-2, 2).Draw(t, "noise")) {
		at := rapid.IntRange(0, len(line)).Draw(t, "at")
		line = line[:at] + pick(t, "character", ";", "|", "&", "<", ">", "(", ")", "{", "}", "'", `"`, "\\", "$", "`",
			"*", "?", "[", "]", "#", "!", "~", "=", "\n", " ", "\t", ",", "-", "\r", "\v") + line[at:]
	}
	return line
}

// TestGateAgainstBash runs random commands that the gate allows by the real bash, and looks at what ran.
func TestGateAgainstBash(t *testing.T) {
	s := newShell(t)
	rapid.Check(t, func(t *rapid.T) {
		for range 10 {
			s.check(t, anyLine(t))
		}
	})
	if allowed, other := s.allowed.Load(), s.other.Load(); allowed*20 < other || allowed < 20 {
		t.Errorf("only %d commands were allowed, and %d were not: that shows nothing", allowed, other)
	}
}

func FuzzGateAgainstBash(f *testing.F) {
	s := newShell(f)
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) { s.check(t, anyLine(t)) }))
}
