//go:build amd64 || arm64

package sandbox

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/agentls/agentls/agentcore/needs"
)

const nobody = 65534

// TestOrdinaryUser runs the other tests again without root's rights, where this is root.
func TestOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Log("every test of this package is that test")
		return
	}
	out, err := asNobody(t, nobodyDir(t), nil,
		"-test.run=TestRun|TestBubblewrapRun|TestEscapes|TestNothingIsLeft|TestServerKilled|TestLeftovers|TestKept|TestRenames|TestStale|TestSpare|TestFollow|TestBring|TestHangUp",
		fmt.Sprintf("-test.short=%v", testing.Short()),
	).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// nobodyDir is a folder that nobody may write to, and reach.
func nobodyDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "agentls-sandbox-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := removeTree(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chown(dir, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	return dir
}

func asNobody(t *testing.T, dir string, env []string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Dir = dir
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + dir, "HOME=" + dir}, env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	return cmd
}

// TestForeignOwner writes, as an ordinary user, to files of an owner that the user namespace does not know, which
// overlayfs cannot copy up (EOVERFLOW).
func TestForeignOwner(t *testing.T) {
	needs.Root(t) // so that TestOrdinaryUser does not run this one
	dir := nobodyDir(t)
	for _, d := range []string{"work", "work/shared", "state"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Join(dir, d), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chown(filepath.Join(dir, "state"), nobody, nobody); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "work/shared/file")
	write(t, file, "old")
	if err := os.Chmod(file, 0o666); err != nil {
		t.Fatal(err)
	}
	out, err := asNobody(t, dir, []string{
		playVariable + "=foreign", "WORK=" + dir + "/work", "STATE=" + dir + "/state",
	}).CombinedOutput()
	if err != nil || string(out) != "shared/file=new shared/other=made" {
		t.Errorf("%v: %s", err, out)
	}
}

func init() {
	plays["foreign"] = func() int {
		b, err := Open(context.Background(), Options{
			Roots:    []string{os.Getenv("WORK")},
			StateDir: os.Getenv("STATE"),
			Env:      []string{"PATH=" + os.Getenv("PATH")},
		})
		if err != nil {
			fmt.Println(err)
			return 1
		}
		r, err := b.Run(context.Background(), Command{
			Script: `printf new >> shared/file; printf new > shared/file; printf made > shared/other`,
		})
		fmt.Print(changesOf(os.Getenv("WORK"), r.Changes))
		if err != nil || r.Exit != 0 || b.Close() != nil {
			fmt.Printf("%v %d %s", err, r.Exit, r.Output)
			return 1
		}
		return 0
	}
	plays["rename"] = func() int {
		if err := os.Rename("node_modules/a", "node_modules/.a-1"); err != nil {
			fmt.Println(err)
			return 1
		}
		return 0
	}
}

func ignoreModules(o *Options) {
	o.Ignored = func(path string, _ bool) bool { return strings.Contains(path+"/", "/node_modules/") }
}

// TestRenames renames a folder that lies below, as npm does: overlayfs answers EXDEV unless it was copied up first.
func TestRenames(t *testing.T) {
	b, ws := open(t, map[string]string{"node_modules/a/index.js": "a"}, ignoreModules)
	if r := playInside(t, b, "rename"); r.Exit == 0 {
		t.Error("the kernel renames folders that lie below: this test shows nothing")
	}
	r := sh(t, b, ": npm; "+playVariable+"=rename /tmp/play && cat node_modules/.a-1/index.js && ls -A node_modules")
	if string(r.Output) != "a.a-1\n" || len(r.Changes) > 0 {
		t.Errorf("exit %d: %s %v", r.Exit, r.Output, r.Changes)
	}
	// It stays so for the next command of the run.
	if r := sh(t, b, "ls -A node_modules"); string(r.Output) != ".a-1\n" {
		t.Errorf("later: %s", r.Output)
	}
	if _, err := os.Stat(filepath.Join(ws, "node_modules/a/index.js")); err != nil {
		t.Error(err)
	}
}

// TestStale replaces a file below between two commands, which a mounted overlay would not notice.
func TestStale(t *testing.T) {
	b, ws := open(t, map[string]string{"a": "one"})
	for _, text := range []string{"one", "two", "three"} {
		write(t, filepath.Join(ws, "new"), text)
		if err := os.Rename(filepath.Join(ws, "new"), filepath.Join(ws, "a")); err != nil {
			t.Fatal(err)
		}
		if r := sh(t, b, "cat a"); string(r.Output) != text {
			t.Errorf("a command reads %q, the disk has %q", r.Output, text)
		}
	}
}

// TestLeftovers leaves things behind that are no files, or that cannot be opened.
func TestLeftovers(t *testing.T) {
	b, ws := open(t, map[string]string{"dir/x": "x", "dir/y": "y", "b": "b", "gone/a": "a"})
	r := sh(t, b, `mkfifo pipe; ln -s /etc/passwd link; ln b hard; mkdir -p shut/in; echo t > shut/in/t; chmod 000 shut/in shut;
		rm -r dir; mkdir dir; printf z > dir/z; printf '\0\1' > bin; rm -r gone; printf file > gone; printf s > secret; chmod 000 secret; chmod 755 b`)
	got := changesOf(ws, r.Changes)
	if got != "b=b -dir/x -dir/y dir/z=z gone=file -gone/a hard=b secret=s shut/in/t=t\n" {
		t.Errorf("changes: %s\n%s", got, r.Output)
	}
	kept := fmt.Sprint(r.Kept)
	for _, name := range []string{"pipe", "link", "bin"} {
		if !strings.Contains(kept, ws+"/"+name) {
			t.Errorf("%s is not told: %s", name, kept)
		}
	}
	// The proposals were not accepted, and the next command sees the disk as it is, and what was kept.
	r = sh(t, b, `cat dir/x gone/a; ls bin link; test -e pipe || echo no pipe; test -e dir/z || echo no z`)
	if string(r.Output) != "xabin\nlink\nno pipe\nno z\n" || len(r.Changes)+len(r.Kept) > 0 {
		t.Errorf("%q %v %v", r.Output, r.Changes, r.Kept)
	}
}

// TestKept sees that what is ignored, the home folder and caches stay for the next command, and for background ones.
func TestKept(t *testing.T) {
	cache := t.TempDir()
	write(t, filepath.Join(cache, "host"), "host")
	b, ws := open(t, map[string]string{"node_modules/x": "x"}, ignoreModules,
		func(o *Options) { o.Caches = []Cache{{Path: cache}} })
	script := fmt.Sprintf(`rm node_modules/x; echo y > node_modules/y; echo h > ~/h; cat %[1]s/host; echo c > %[1]s/c; echo t > /tmp/t`,
		cache)
	if r := sh(t, b, script); len(r.Changes) > 0 || string(r.Output) != "host" {
		t.Errorf("%s %v", r.Output, r.Changes)
	}
	see := fmt.Sprintf(`ls node_modules; cat ~/h %s/c /tmp/t`, cache)
	const want = "y\nh\nc\nt\n"
	if r := sh(t, b, see); string(r.Output) != want {
		t.Errorf("the next command: %q", r.Output)
	}
	p, err := b.Start(t.Context(), Command{
		Script: see + "; cat new", Overlay: map[string]Text{filepath.Join(ws, "new"): {Content: []byte("shown")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Wait(t.Context())
	if err != nil || string(r.Output) != want+"shown" {
		t.Errorf("in the background: %q %v", r.Output, err)
	}
	for _, path := range []string{filepath.Join(cache, "c"), filepath.Join(ws, "node_modules/y")} {
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("%s was written on the disk", path)
		}
	}
}

// TestLimits runs into each limit.
func TestLimits(t *testing.T) {
	b, _ := open(t, nil, func(o *Options) {
		o.Limits = Limits{Memory: 64 << 20, Processes: 64, FileSize: 1 << 20, Output: 1000, WholeOutput: 5000}
	})
	for name, test := range map[string]struct{ script, note string }{
		"memory":    {`x=$(head -c 300000000 /dev/zero | tr '\0' x); sleep 1000`, "memory"},
		"fork bomb": {`f() { f | f & }; f; sleep 1000`, "processes"},
	} {
		t.Run(name, func(t *testing.T) {
			r := sh(t, b, test.script)
			if r.Exit == 0 || !strings.Contains(fmt.Sprint(r.Notes), test.note) && name == "memory" {
				t.Errorf("exit %d, notes %q", r.Exit, r.Notes)
			}
		})
	}
	r := sh(t, b, `head -c 2000000 /dev/zero > big; stat -c %s big`)
	if !strings.Contains(string(r.Output), "1048576") {
		t.Errorf("a file grew above its limit: %s", r.Output)
	}
	r = sh(t, b, `seq 100000`)
	if len(r.Output) > 1100 || r.OutputSize != 588895 || !strings.HasPrefix(string(r.Output), "1\n2\n") ||
		!strings.HasSuffix(string(r.Output), "100000\n") {
		t.Errorf("%d bytes of %d", len(r.Output), r.OutputSize)
	}
	if whole, err := os.ReadFile(r.OutputFile); err != nil || len(whole) != 5000 {
		t.Errorf("kept in the file: %d %v", len(whole), err)
	}
}

// TestSecretsLater: a file with secrets is hidden also where it came after the last command, and its folder was given
// the time that it had then, as programs do that copy trees.
func TestSecretsLater(t *testing.T) {
	b, ws := open(t, map[string]string{"a/text": "text"}, func(o *Options) {
		o.Secret = func(path string) bool { return filepath.Base(path) == "key" }
	})
	info, err := os.Stat(filepath.Join(ws, "a"))
	if err != nil {
		t.Fatal(err)
	}
	sh(t, b, `cat a/text`)
	write(t, filepath.Join(ws, "a/key"), "secret")
	if err := os.Chtimes(filepath.Join(ws, "a"), info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if r := sh(t, b, `cat a/text; cat a/key`); strings.Contains(string(r.Output), "secret") || r.Exit == 0 {
		t.Errorf("exit %d: %s", r.Exit, r.Output)
	}
}

// TestInheritedDescriptors: what whoever started this process has left open in it is in no command's hands.
func TestInheritedDescriptors(t *testing.T) {
	test := func(t *testing.T, walls func(*Options)) {
		path := filepath.Join(t.TempDir(), "file")
		fd, err := unix.Open(path, unix.O_CREAT|unix.O_RDWR, 0o600) // no O_CLOEXEC
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(fd)
		b, _ := open(t, nil, walls)
		for range 2 { // the second may have been waited for
			r := sh(t, b,
				fmt.Sprintf(`(echo out >/proc/self/fd/%d) 2>/dev/null || (echo out >&%d) 2>/dev/null || echo refused`, fd, fd))
			if text, err := os.ReadFile(path); err != nil || len(text) > 0 || string(r.Output) != "refused\n" {
				t.Errorf("the file has %q, %v; output %q", text, err, r.Output)
			}
		}
	}
	eachWalled(t, test)
	t.Run("copy", func(t *testing.T) { test(t, atLevel(Copy)) })
}

// TestSpread: on ext4, the folders of boxes lie apart.
func TestSpread(t *testing.T) {
	state := t.TempDir()
	open(t, nil, func(o *Options) { o.StateDir = state })
	dir, err := os.Open(state)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	var fs unix.Statfs_t
	if err := unix.Fstatfs(int(dir.Fd()), &fs); err != nil {
		t.Fatal(err)
	}
	flags, err := unix.IoctlGetUint32(int(dir.Fd()), unix.FS_IOC_GETFLAGS)
	if told := err == nil && flags&topFolder != 0; told != (fs.Type == unix.EXT4_SUPER_MAGIC) {
		t.Errorf("the file system %x is told: %v; the flags are %x, %v", fs.Type, told, flags, err)
	}
}

// TestWorkFolders: the folders that overlayfs works in are deleted behind each command.
func TestWorkFolders(t *testing.T) {
	cache := t.TempDir()
	b, _ := open(t, nil, func(o *Options) { o.Caches = []Cache{{Path: cache}} })
	for i := range 4 {
		sh(t, b, "true")
		waitFor(t, func() bool {
			work, err := filepath.Glob(filepath.Join(b.dir, "*0", "work*"))
			if err != nil {
				t.Fatal(err)
			}
			return len(work) == 2 && strings.HasSuffix(work[0], "work"+strconv.Itoa(i+1))
		})
	}
}
