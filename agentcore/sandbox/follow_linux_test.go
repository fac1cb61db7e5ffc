//go:build amd64 || arm64

package sandbox

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agentls/agentls/agentcore/needs"
)

// follower is a shell that is followed, and that runs the lines that it is told.
type follower struct {
	*Followed
	t   testing.TB
	ws  string
	in  *os.File
	out *bufio.Reader
}

// follow starts a shell in a box, which must have overlays.
func follow(t testing.TB, b *Box, ws string, change ...func(*Command)) *follower {
	t.Helper()
	c := Command{Script: `while IFS= read -r line; do eval "$line" 2>&1; echo "=$?"; done`}
	for _, f := range change {
		f(&c)
	}
	in, out, f, err := followed(t, b, c)
	if err != nil {
		t.Fatalf("%v\n%s", err, b.report)
	}
	return &follower{f, t, ws, in, bufio.NewReader(out)}
}

// followed starts a command with pipes.
func followed(t testing.TB, b *Box, c Command) (in, out *os.File, f *Followed, err error) {
	t.Helper()
	in, out, err = piped(t, c, func(c Command) (err error) { f, err = b.Follow(t.Context(), c); return err })
	return in, out, f, err
}

// run has the shell run a line, and returns what it puts out, and the exit code if that is not 0.
func (f *follower) run(line string) string {
	f.t.Helper()
	if _, err := f.in.WriteString(line + "\n"); err != nil {
		f.t.Fatal(err)
	}
	var said strings.Builder
	for {
		text, err := f.out.ReadString('\n')
		if err != nil {
			r, werr := f.Wait(f.t.Context())
			words, _ := f.Output(0)
			f.t.Fatalf("%s: %v; it ended with %+v, %v, %s", line, err, r, werr, words)
		}
		before, code, ended := strings.Cut(text, "=")
		if !ended || strings.TrimSpace(code) == "" {
			said.WriteString(text)
			continue
		}
		said.WriteString(before)
		if code != "0\n" {
			said.WriteString("=" + strings.TrimSpace(code))
		}
		return said.String()
	}
}

// told is what is told of changes, each with the beginning of the hash of what was before.
func (f *follower) told() string {
	f.t.Helper()
	changes, kept, err := f.Changes(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	var words []string
	for _, c := range changes {
		word := changesOf(f.ws, []Change{c})
		switch {
		case c.Existed && c.Before == Hash{}:
			word += "(?)"
		case c.Existed:
			word += fmt.Sprintf("(%x)", c.Before[:2])
		}
		if c.Mode&0o100 != 0 {
			word += "(x)"
		}
		words = append(words, word)
	}
	for _, k := range kept {
		rel, err := filepath.Rel(f.ws, k.Path)
		if err != nil || k.Removed {
			f.t.Errorf("%+v: %v", k, err)
		}
		words = append(words, rel+": "+k.Reason)
	}
	return strings.Join(words, " ")
}

// expect compares what is told with what is wanted, in which {text} is a hash as told has them.
func (f *follower) expect(after, want string) {
	f.t.Helper()
	for {
		from, rest, ok := strings.Cut(want, "{")
		if !ok {
			break
		}
		text, to, _ := strings.Cut(rest, "}")
		hash := sha256.Sum256([]byte(text))
		want = fmt.Sprintf("%s(%x)%s", from, hash[:2], to)
	}
	if got := f.told(); got != want {
		f.t.Errorf("after %s it is told\n%s\nnot\n%s", after, got, want)
	}
}

// bring brings a text, and returns what came of it.
func (f *follower) bring(name, text string) string {
	f.t.Helper()
	return f.bringAll(map[string]Text{filepath.Join(f.ws, name): {Content: []byte(text)}})
}

func (f *follower) bringAll(texts map[string]Text) string {
	f.t.Helper()
	brought, err := f.Bring(f.t.Context(), texts)
	if err != nil {
		f.t.Fatal(err)
	}
	var words []string
	for _, path := range brought.Changed {
		words = append(words, "changed "+strings.TrimPrefix(path, f.ws+"/"))
	}
	for _, r := range brought.Refused {
		words = append(words, "refused "+strings.TrimPrefix(r.Path, f.ws+"/"))
	}
	return strings.Join(words, " ")
}

func check(t testing.TB, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// treeOf is all that is in a folder: names, kinds, modes and contents.
func treeOf(t testing.TB, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(&all, "%s %s %v", path, info.Mode(), info.ModTime())
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&all, " %x", sha256.Sum256(text))
		}
		all.WriteString("\n")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// TestFollow: what a program changes is told while it runs, once, with what was there before, and the disk stays as it
// is.
func TestFollow(t *testing.T) {
	b, ws := open(t, map[string]string{
		"a": "A", "b": "B", "gone": "G", "d/x": "X", "d/y": "Y", "d/out/o": "O", "run.sh": "R", "old/1": "1",
		"old/deep/2": "2", "file": "F", "out/ignored": "I", "held": "H",
	}, func(o *Options) {
		o.Ignored = func(path string, _ bool) bool { return filepath.Base(path) == "out" }
	})
	before := treeOf(t, ws)
	f := follow(t, b, ws, func(c *Command) {
		c.Overlay = map[string]Text{
			filepath.Join(ws, "b"):         {Content: []byte("typed")},
			filepath.Join(ws, "held"):      {Deleted: true},
			filepath.Join(ws, "n/new"):     {Content: []byte("N")},
			filepath.Join(ws, "out/shown"): {Content: []byte("S")},
		}
	})
	check(t, "the view", f.run("cat a b n/new out/shown; ls held"),
		"AtypedNSls: cannot access 'held': No such file or directory\n=2")
	for _, step := range []struct{ line, want string }{
		{"true", ""},
		{"printf 1 >a; printf 2 >b; printf 3 >d/new", "a=1{A} b=2{typed} d/new=3"},
		{"true", ""},
		{"printf A >a", "a=A{1}"},
		{"printf A >a; touch b", ""},
		{"printf typed >b; rm d/new", "b=typed{2} -d/new{3}"},
		{"rm gone n/new; printf back >held", "-gone{G} held=back -n/new{N}"},
		{"printf again >gone", "gone=again"},
		{"chmod +x run.sh", "run.sh=R{R}(x)"},
		{"mv old now", "now/1=1 now/deep/2=2 -old/1{1} -old/deep/2{2}"},
		{"mv now/deep now/flat", "-now/deep/2{2} now/flat/2=2"},
		{"rm -r d; mkdir d; printf X2 >d/x", "d/x=X2{X} -d/y{Y}"},
		{"rm file; mkdir file; printf in >file/in", "-file{F} file/in=in"},
		{"rm -r d; printf flat >d", "d=flat -d/x{X2}"},
		{"printf log >out/log; mkdir e/ e/out; printf o >e/out/o", ""},
		{"printf changed >out/shown", "out/shown=changed{S}"},
		{"rm out/shown", "-out/shown{changed}"},
		{`printf '\0' >bin; mkfifo pipe; ln -s /etc/passwd link`, "bin: it is not a text file link: it is a symbolic link " +
			"pipe: it is not a file, a folder or a symbolic link"},
		{"true", ""},
		{"rm bin; printf text >bin", "bin=text"},
		{"rm link; printf own >link", "link=own"},
		{`printf '\0' >link`, "link: it is not a text file"},
		{"printf third >link", "link=third{own}"},
		{"head -c 5000000 /dev/zero | tr '\\0' x >link", "link: it has more than 4194304 bytes"},
		{"printf W >w; mv w a", "a=W{A}"},
	} {
		check(t, step.line, f.run(step.line), "")
		f.expect(step.line, step.want)
	}
	f.in.Close()
	if r, err := f.Wait(t.Context()); err != nil || r.Exit != 0 {
		t.Errorf("it ended with %+v, %v", r, err)
	}
	f.expect("the end", "")
	if after := treeOf(t, ws); after != before {
		t.Errorf("the disk was\n%s\nand is\n%s", before, after)
	}
}

// TestFollowAtItsEnd: what was written last is told after the end, as long as the box is there.
func TestFollowAtItsEnd(t *testing.T) {
	b, ws := open(t, map[string]string{"a": "A"})
	f := follow(t, b, ws)
	f.run("printf 1 >a")
	f.in.Close()
	if _, err := f.Wait(t.Context()); err != nil {
		t.Error(err)
	}
	f.expect("the end", "a=1{A}")
	f.expect("the end, again", "")
	check(t, "bring after the end", f.bring("a", "2"), "")
	f.expect("bringing", "")
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if _, _, err := f.Changes(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("after the box is closed: %v", err)
	}
}

// awaitSettled waits until a file that was written counts as settled.
func (f *follower) awaitSettled(name string) {
	f.t.Helper()
	path := filepath.Join(f.views[0].dir, "upper", name)
	waitFor(f.t.(*testing.T), func() bool {
		info, err := os.Stat(path)
		if err != nil {
			f.t.Error(err)
			return true
		}
		now, err := tick()
		return err != nil || (&look{now: now}).settled(idOf(info))
	})
}

// TestFollowReads counts what is read: what has not changed is not read again, however much it is.
func TestFollowReads(t *testing.T) {
	files := 10_000
	if testing.Short() {
		files = 500
	}
	b, ws := open(t, nil)
	f := follow(t, b, ws)
	f.run(fmt.Sprintf(`for ((i=0; i<%d; i++)); do [ $((i%%100)) = 0 ] && mkdir $((i/100)); printf $i >$((i/100))/$i; done; printf last >last`, files))
	f.awaitSettled("last")
	read := func(want int64, told int) {
		t.Helper()
		v := f.views[0]
		before := v.walked.Calls().Files
		changes, _, err := f.Changes(t.Context())
		if err != nil || len(changes) != told {
			t.Errorf("%d changes are told, not %d; %v", len(changes), told, err)
		}
		if got := v.walked.Calls().Files - before; got != want {
			t.Errorf("%d files were read, not %d", got, want)
		}
	}
	read(int64(files)+1, files+1)
	read(0, 0)
	f.run("printf other >last")
	f.awaitSettled("last")
	read(1, 1)
	read(0, 0)
	f.in.Close()
	if _, err := f.Wait(t.Context()); err != nil {
		t.Error(err)
	}
	read(int64(files)+1, 0)
	read(0, 0)
}

// BenchmarkFollowChanges is a search in what a program has written, nothing of which has changed since the last one.
func BenchmarkFollowChanges(b *testing.B) {
	const files = 10_000
	box, ws := open(b, nil)
	f := follow(b, box, ws)
	f.run(fmt.Sprintf(`for ((i=0; i<%d; i++)); do [ $((i%%100)) = 0 ] && mkdir $((i/100)); printf $i >$((i/100))/$i; done`, files))
	begin := time.Now()
	f.told()
	first := time.Since(begin)
	for b.Loop() {
		if _, _, err := f.Changes(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(first.Microseconds())/1000, "ms/first")
}

// TestFollowLinks: no link that a program makes leads those who follow it anywhere.
func TestFollowLinks(t *testing.T) {
	b, ws := open(t, map[string]string{"a": "A", "d/x": "X", "d/y": "Y", "e/z": "Z"})
	outside := t.TempDir()
	write(t, filepath.Join(outside, "x"), "outside")
	write(t, filepath.Join(outside, "new"), "outside")
	before, elsewhere := treeOf(t, ws), treeOf(t, outside)
	f := follow(t, b, ws)
	check(t, "links", f.run("rm a; ln -s "+outside+"/x a; rm -r d; ln -s "+outside+" d; ln -s e inner"), "")
	const link = ": it is a symbolic link"
	f.expect("linking", "a"+link+" d"+link+" inner"+link)
	check(t, "through links", f.bringAll(map[string]Text{
		filepath.Join(ws, "a"):       {Content: []byte("brought")},
		filepath.Join(ws, "d/x"):     {Content: []byte("brought")},
		filepath.Join(ws, "d/new"):   {Content: []byte("brought")},
		filepath.Join(ws, "d/y"):     {Deleted: true},
		filepath.Join(ws, "inner/z"): {Content: []byte("brought")},
	}), "changed a changed d/new changed d/x changed d/y changed inner/z")
	check(t, "what they lead to", f.run("cat e/z"), "Z")
	// What lies in the way of a text hangs nobody, either.
	check(t, "others", f.run("mkfifo pipe; mkdir folder; ln -s nowhere lost"), "")
	f.told()
	check(t, "through others", f.bringAll(map[string]Text{
		filepath.Join(ws, "pipe"):     {Content: []byte("brought")},
		filepath.Join(ws, "pipe/in"):  {Content: []byte("brought")},
		filepath.Join(ws, "folder"):   {Content: []byte("brought")},
		filepath.Join(ws, "lost"):     {Content: []byte("brought")},
		filepath.Join(ws, "../above"): {Content: []byte("brought")},
	}), "changed folder changed lost changed pipe changed pipe/in")
	check(t, "its own root", f.run("printf P >/proc/self/root"+ws+"/e/z"), "")
	f.expect("writing through its own root", "e/z=P{Z}")
	if treeOf(t, ws) != before || treeOf(t, outside) != elsewhere {
		t.Error("the disk has changed")
	}
}

// TestBring: a text that is brought is in the program's view, is told to those in it who watch, and is told to nobody
// else.
func TestBring(t *testing.T) {
	b, ws := open(t, map[string]string{
		"a": "A", "run.sh": "R", "gone": "G", ".git/HEAD": "ref", ".envrc": "E", ".vscode/s": "S", "s.key": "secret",
		"d/x": "X",
	}, func(o *Options) {
		o.Protected = []string{".git", ".envrc", ".vscode"}
		o.Secret = func(path string) bool { return strings.HasSuffix(path, ".key") }
	})
	if err := os.Chmod(filepath.Join(ws, "run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	before := treeOf(t, ws)
	f := follow(t, b, ws, func(c *Command) {
		c.Overlay = map[string]Text{filepath.Join(ws, "seeded"): {Content: []byte("S")}}
	})
	check(t, "bring", f.bringAll(map[string]Text{
		filepath.Join(ws, "a"): {Content: []byte("A2")}, filepath.Join(ws, "run.sh"): {Content: []byte("R2")},
		filepath.Join(ws, "n/e/w"): {Content: []byte("N")}, filepath.Join(ws, "gone"): {Deleted: true},
		filepath.Join(ws, "seeded"): {Content: []byte("S2")}, filepath.Join(ws, "never"): {Deleted: true},
		filepath.Join(ws, "no/where"): {Deleted: true},
	}), "")
	check(t, "the view", f.run("cat a n/e/w seeded; ./run.sh; ls"),
		"A2NS2./run.sh: line 1: R2: command not found\na\nd\nn\nrun.sh\ns.key\nseeded\n")
	f.expect("bringing", "")
	f.run("printf A3 >a; rm n/e/w; printf G2 >gone")
	f.expect("changing what was brought", "a=A3{A2} gone=G2 -n/e/w{N}")
	check(t, "bring again", f.bringAll(map[string]Text{
		filepath.Join(ws, "a"): {Content: []byte("A4")}, filepath.Join(ws, "n/e/w"): {Content: []byte("N2")},
		filepath.Join(ws, "gone"): {Deleted: true},
	}), "")
	check(t, "the view", f.run("cat a n/e/w; ls gone"), "A4N2ls: cannot access 'gone': No such file or directory\n=2")
	f.expect("bringing again", "")
	check(t, "where nothing is to be brought", f.bringAll(map[string]Text{
		filepath.Join(ws, ".git/HEAD"): {Content: []byte("x")}, filepath.Join(ws, ".envrc"): {Content: []byte("x")},
		filepath.Join(ws, ".vscode/s"): {Content: []byte("x")}, filepath.Join(ws, "s.key"): {Content: []byte("x")},
		filepath.Join(ws, "d/.git/x"): {Content: []byte("x")},
	}), "refused .envrc refused .git/HEAD refused .vscode/s refused d/.git/x refused s.key")
	check(t, "the view", f.run("cat .git/HEAD .envrc .vscode/s; cat s.key 2>/dev/null"), "refES=1")
	f.expect("refusing", "")
	if treeOf(t, ws) != before {
		t.Error("the disk has changed")
	}
}

// TestBringOverChanges: what the program has changed is not overwritten, but told.
func TestBringOverChanges(t *testing.T) {
	b, ws := open(t, map[string]string{"a": "A", "b": "B", "c": "C", "d/x": "X", "log": "L", "t": "T"})
	f := follow(t, b, ws)
	f.run("printf mine >a; rm b; printf new >n; rm -r d; printf C >c; touch t; exec 7>>log")
	check(t, "bring", f.bringAll(map[string]Text{
		filepath.Join(ws, "a"): {Content: []byte("yours")}, filepath.Join(ws, "b"): {Content: []byte("yours")},
		filepath.Join(ws, "n"): {Content: []byte("yours")}, filepath.Join(ws, "d/x"): {Content: []byte("yours")},
		filepath.Join(ws, "c"): {Content: []byte("yours")}, filepath.Join(ws, "log"): {Content: []byte("yours")},
		filepath.Join(ws, "t"): {Deleted: true},
	}), "changed a changed b changed d/x changed log changed n")
	f.expect("all that", "a=mine{A} -b{B} -d/x{X} n=new")
	check(t, "bring after it was told", f.bringAll(map[string]Text{
		filepath.Join(ws, "a"): {Content: []byte("both")}, filepath.Join(ws, "b"): {Content: []byte("yours")},
		filepath.Join(ws, "n"): {Content: []byte("both")}, filepath.Join(ws, "d/x"): {Content: []byte("yours")},
		filepath.Join(ws, "log"): {Content: []byte("yours")},
	}), "changed log")
	check(t, "the view", f.run("exec 7>&-; cat a b c d/x log n; ls t"),
		"bothyoursyoursyoursLbothls: cannot access 't': No such file or directory\n=2")
	check(t, "bring to the log", f.bring("log", "yours"), "")
	f.run("printf same >a")
	check(t, "bring the same", f.bring("a", "same"), "")
	f.expect("the same", "")
}

// TestFollowUnsure: nobody claims to know a text that changed on the disk after the start, unless it was brought.
func TestFollowUnsure(t *testing.T) {
	b, ws := open(t, map[string]string{"a": "A", "b": "B", "c": "C", "d": "D"})
	f := follow(t, b, ws)
	for _, name := range []string{"a", "b", "made"} {
		write(t, filepath.Join(ws, "saved"), "saved")
		if err := os.Rename(filepath.Join(ws, "saved"), filepath.Join(ws, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(ws, "d")); err != nil {
		t.Fatal(err)
	}
	check(t, "bring", f.bring("b", "saved")+f.bring("made", "saved"), "")
	f.run("mkdir new; printf P >new/p")
	write(t, filepath.Join(ws, "new/x"), "made by the user, in a folder of the same name")
	f.expect("two new folders", "new/p=P")
	check(t, "bring into it", f.bring("new/x", "X"), "")
	f.run("printf 1 >a; printf 2 >b; printf 3 >c; printf 4 >made")
	f.expect("changing", "a=1(?) b=2{saved} c=3{C} made=4{saved}")
}

// TestFollowSideBySide: two programs change the same file, and each its own.
func TestFollowSideBySide(t *testing.T) {
	b, ws := open(t, map[string]string{"a": "A"})
	f, g := follow(t, b, ws), follow(t, b, ws)
	f.run("printf F >a")
	g.run("printf G >a")
	r := sh(t, b, "cat a; printf R >a")
	check(t, "another command", string(r.Output)+" "+changesOf(ws, r.Changes), "A a=R")
	f.expect("the first one", "a=F{A}")
	g.expect("the second one", "a=G{A}")
	check(t, "bring", f.bring("a", "FG"), "")
	check(t, "the first one's view", f.run("cat a"), "FG")
	check(t, "the second one's view", g.run("cat a"), "G")
}

// TestFollowGit: git works in the view, on a .git of its own.
func TestFollowGit(t *testing.T) {
	needs.Program(t, "git", "git")
	b, ws := open(t, map[string]string{"a": "A\n", ".vscode/s": "S"}, func(o *Options) {
		o.Protected = []string{".git", ".vscode"}
	})
	const who = "git -c user.name=n -c user.email=e@example.org -c init.defaultBranch=main "
	git := func(args string) {
		t.Helper()
		cmd := exec.Command("sh", "-c", who+args)
		cmd.Dir, cmd.Env = ws, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "HOME="+t.TempDir())
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", args, err, out)
		}
	}
	git("init -q")
	git("add a")
	git("commit -qm one")
	write(t, filepath.Join(ws, ".git/hooks/post-commit"), "#!/bin/sh\necho hooked >hooked; touch "+ws+"/../escaped\n")
	if err := os.Chmod(filepath.Join(ws, ".git/hooks/post-commit"), 0o755); err != nil {
		t.Fatal(err)
	}
	before := treeOf(t, ws)
	f := follow(t, b, ws)
	changed := func(want bool) {
		t.Helper()
		if got, err := f.GitChanged(t.Context()); got != want || err != nil {
			t.Errorf("git's state has changed: %v, %v, want %v", got, err, want)
		}
	}
	check(t, "status", f.run("git status --porcelain a"), "")
	changed(false)
	line := "echo B >a; " + who + "commit -qam two 2>/dev/null; git log --format=%s; git status --porcelain a"
	check(t, "commit", f.run(line), "two\none\n")
	changed(true)
	f.expect("committing", "a=B\n{A\n} hooked=hooked\n")
	check(t, "checkout", f.run(who+"checkout -q -b other HEAD~ && echo C >a && "+who+"stash -q && cat a"), "A\n")
	f.expect("checking out", "a=A\n{B\n}")
	check(t, "a nested one", f.run("mkdir sub; cd sub; "+who+"init -q; cd .."), "")
	f.expect("a nested one", "")
	if out := f.run("echo x >.vscode/s"); !strings.Contains(out, "Read-only") {
		t.Errorf("another protected file: %q", out)
	}
	if treeOf(t, ws) != before {
		t.Error("the disk has changed")
	}
	if _, err := os.Lstat(filepath.Join(ws, "../escaped")); err == nil {
		t.Error("the hook ran outside")
	}
	check(t, "a ref back", f.run("git checkout -q main && git reset -q --hard HEAD~; rm .git/ORIG_HEAD"), "")
}

// TestFollowState: a program sees what it may of the home folder, and writes to the disk there, and nowhere else.
func TestFollowState(t *testing.T) {
	b, ws := open(t, nil)
	home := filepath.Dir(ws)
	for name, text := range map[string]string{
		".tool/auth": "old", ".look/x": "seen", ".key": "key", "dots/linked/x": "dot", ".ssh/id": "private",
	} {
		write(t, filepath.Join(home, name), text)
	}
	for name, to := range map[string]string{".linked": "dots/linked", ".out": "/etc", ".tool/planted": home + "/.ssh"} {
		if err := os.Symlink(to, filepath.Join(home, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Mkfifo(filepath.Join(home, ".pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(home, name) }
	f := follow(t, b, ws, func(c *Command) {
		c.State = []StateDir{
			{Path: at(".tool"), Write: true},
			{Path: at(".look")},
			{Path: at(".key")},
			{Path: at(".linked"), Write: true},
			{Path: at(".missing"), Write: true},
			{Path: at(".made/in"), Write: true, Make: true},
		}
	})
	check(t, "what is seen", f.run("cd ~; cat .tool/auth .look/x .key .linked/x; ls -A"),
		"oldseenkeydot.key\n.linked\n.look\n.made\n.tool\nwork\n")
	f.run("printf new >.tool/t; mv .tool/t .tool/auth; printf 2 >.linked/x; printf 3 >.made/in/y; printf mine >.own")
	for _, line := range []string{"echo x >.look/x", "echo x >.key", "cat .tool/planted/id", "cat .ssh/id"} {
		if out := f.run(line); !strings.Contains(out, "=1") {
			t.Errorf("%s: %q", line, out)
		}
	}
	for name, want := range map[string]string{
		".tool/auth": "new", ".look/x": "seen", ".key": "key", "dots/linked/x": "2", ".made/in/y": "3", ".own": "",
	} {
		text, err := os.ReadFile(at(name))
		if want == "" && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if string(text) != want {
			t.Errorf("%s is %q, %v", name, text, err)
		}
	}
	for _, bad := range []struct{ path, why string }{
		{"/etc", "does not lie below"},
		{home, "the whole home folder"},
		{at(".."), "does not lie below"},
		{"state", "does not lie below"},
		{at(".out"), "leads out of the home folder"},
		{at(".tool/planted"), "symbolic link"},
		{at(".tool/planted/id"), "symbolic link"},
		{at("work"), "contains " + ws + ", or lies in it"},
		{at("work/deep"), "contains " + ws + ", or lies in it"},
		{at(".pipe"), "neither a folder nor a regular file"},
	} {
		_, _, _, err := followed(t, b, Command{Script: "true", State: []StateDir{{Path: bad.path, Make: true}}})
		if err == nil || !strings.Contains(err.Error(), bad.why) {
			t.Errorf("%s: %v, want %q", bad.path, err, bad.why)
		}
	}
	hidden, ws := open(t, nil, func(o *Options) {
		o.StateDir = filepath.Join(o.Home, ".local/agentls")
		o.Hidden = []string{filepath.Join(o.Home, ".config/agentls")}
	})
	write(t, filepath.Join(filepath.Dir(ws), ".config/agentls/keys"), "keys")
	for _, name := range []string{".local", ".local/agentls", ".config", ".config/agentls", ".config/agentls/keys"} {
		path := filepath.Join(filepath.Dir(ws), name)
		_, _, _, err := followed(t, hidden, Command{Script: "true", State: []StateDir{{Path: path}}})
		if err == nil || !strings.Contains(err.Error(), "or lies in it") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFollowEnds: nothing of a program is left after its end, its own or another one's, and what it wrote is told.
func TestFollowEnds(t *testing.T) {
	const hiding = `trap '' TERM HUP INT; (setsid sh -c 'trap "" TERM HUP; while :; do sleep 1000; done' &); printf 1 >a; `
	for name, end := range map[string]func(*Box, *follower) error{
		"itself": func(_ *Box, f *follower) error { _, err := f.in.WriteString("exit 0\n"); return err },
		"input":  func(_ *Box, f *follower) error { return f.in.Close() },
		"kill":   func(_ *Box, f *follower) error { f.Kill(); return nil },
		"close":  func(b *Box, _ *follower) error { return b.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			run := "left-" + t.Name()
			b, ws := open(t, nil, func(o *Options) { o.Run = run })
			f := follow(t, b, ws)
			f.run(hiding)
			waitFor(t, func() bool { return len(processesOf(t, run)) > 2 })
			if err := end(b, f); err != nil {
				t.Error(err)
			}
			if _, err := f.Wait(t.Context()); err != nil {
				t.Error(err)
			}
			if left := processesOf(t, run); len(left) > 0 {
				t.Errorf("processes are left: %v", left)
			}
			if name != "close" {
				f.expect("the end", "a=1")
			} else if _, err := os.Stat(b.dir); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the box's folder is left: %v", err)
			}
		})
	}
}

// TestFollowServerKilled kills the process that follows a program.
func TestFollowServerKilled(t *testing.T) {
	state, work := t.TempDir(), t.TempDir()
	run := "left-followed-" + pid()
	server := exec.Command("/proc/self/exe")
	server.Env = append(os.Environ(), playVariable+"=follower", "WORK="+work, "STATE="+state, "RUN="+run)
	server.Stderr = os.Stderr
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return len(processesOf(t, run)) > 2 })
	if err := server.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := server.Wait(); err == nil {
		t.Error("the server was not killed")
	}
	waitFor(t, func() bool { return len(processesOf(t, run)) == 0 })
	// The next box deletes what is left on disk.
	b, err := Open(t.Context(), Options{Run: "next", Roots: []string{work}, StateDir: state})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

func init() {
	plays["follower"] = func() int {
		ctx := context.Background()
		b, err := Open(ctx, Options{
			Run: os.Getenv("RUN"), Roots: []string{os.Getenv("WORK")}, StateDir: os.Getenv("STATE"),
			Env: []string{"PATH=" + os.Getenv("PATH")},
		})
		if err != nil {
			println(err.Error())
			return 1
		}
		f, err := b.Follow(ctx, Command{Script: `(setsid sleep 1000 &); trap '' TERM; sleep 1000; true`})
		if err != nil {
			println(err.Error())
			return 1
		}
		_, err = f.Wait(ctx)
		println(err.Error())
		return 1
	}
}

// TestNoFollow: a weaker level says that it cannot follow, as does a program that cannot be started.
func TestNoFollow(t *testing.T) {
	for _, level := range []Level{Copy, Bubblewrap, Full} { // Full without overlays
		b, _ := open(t, nil, atLevel(level))
		if _, err := b.Follow(t.Context(), Command{Script: "true"}); !errors.Is(err, ErrNoFollow) {
			t.Errorf("%s: %v", level, err)
		}
	}
	b, _ := open(t, nil)
	f, err := b.Follow(t.Context(), Command{Argv: []string{"/no/such/program"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Wait(t.Context()); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("a missing program: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Follow(ctx, Command{Script: "true"}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
