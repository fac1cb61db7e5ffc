//go:build amd64 || arm64

package sandbox

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// followPlay follows the test binary as one of plays.
func followPlay(t *testing.T, b *Box, ws, play string) *follower {
	t.Helper()
	putPlay(t, b)
	in, out, f, err := followed(t, b, Command{Argv: []string{"/tmp/play"}, Env: []string{playVariable + "=" + play}})
	if err != nil {
		t.Fatalf("%v\n%s", err, b.report)
	}
	return &follower{f, t, ws, in, bufio.NewReader(out)}
}

// says waits for a line of a play.
func (f *follower) says() string {
	f.t.Helper()
	line, err := f.out.ReadString('\n')
	if err != nil {
		words, _ := f.Output(0)
		f.t.Fatalf("it says no more: %v\n%s", err, words)
	}
	return strings.TrimSuffix(line, "\n")
}

func (f *follower) tell(line string) {
	f.t.Helper()
	if _, err := f.in.WriteString(line + "\n"); err != nil {
		f.t.Fatal(err)
	}
}

func init() {
	plays["watch"] = watchPlay
	plays["map"] = mapPlay
	plays["swap"] = swapPlay
	plays["write"] = writePlay
}

// must ends a play that cannot do what it is to do.
func must(err error) {
	if err != nil {
		println(err.Error())
		os.Exit(1)
	}
}

// watchPlay watches the folder and the file a, as servers that reload do. It says each change of a name that it knows,
// with the text of the file at that moment.
func watchPlay() int {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	must(err)
	folder, err := unix.InotifyAddWatch(fd, ".", unix.IN_MOVED_TO|unix.IN_DELETE|unix.IN_CLOSE_WRITE)
	must(err)
	file, err := unix.InotifyAddWatch(fd, "a", unix.IN_ATTRIB|unix.IN_MOVE_SELF|unix.IN_DELETE_SELF)
	must(err)
	fmt.Println("ready")
	var buffer [64 << 10]byte
	for told := false; ; {
		n, err := unix.Read(fd, buffer[:])
		must(err)
		for rest := buffer[:n]; len(rest) >= unix.SizeofInotifyEvent; {
			id := int(binary.NativeEndian.Uint32(rest[unsafe.Offsetof(unix.InotifyEvent{}.Wd):]))
			length := binary.NativeEndian.Uint32(rest[unsafe.Offsetof(unix.InotifyEvent{}.Len):])
			mask := binary.NativeEndian.Uint32(rest[unsafe.Offsetof(unix.InotifyEvent{}.Mask):])
			name := strings.TrimRight(string(rest[unix.SizeofInotifyEvent:][:length]), "\x00")
			rest = rest[unix.SizeofInotifyEvent+int(length):]
			switch {
			case id == file && !told:
				told = true
				fmt.Println("the file")
			case id == folder && mask&unix.IN_MOVED_TO != 0 && !strings.HasPrefix(name, temporaryPrefix):
				text, err := os.ReadFile(name)
				must(err)
				fmt.Printf("%s: %s\n", name, text)
			}
		}
	}
}

// TestBringIsNoticed: a program that watches a file, or its folder, is told of a text that is brought, and finds it
// there, whole.
func TestBringIsNoticed(t *testing.T) {
	b, ws := open(t, map[string]string{"a": "A"})
	f := followPlay(t, b, ws, "watch")
	check(t, "it says", f.says(), "ready")
	check(t, "bring", f.bring("a", "brought")+f.bring("new", "made"), "")
	said := []string{f.says(), f.says(), f.says()}
	slices.Sort(said)
	check(t, "it notices", strings.Join(said, ", "), "a: brought, new: made, the file")
	f.Kill()
	<-f.Done()
}

// mapPlay writes a file through memory, each time it is told to.
func mapPlay() int {
	fd, err := unix.Open("m", unix.O_RDWR|unix.O_CREAT|unix.O_TRUNC, 0o644)
	must(err)
	must(unix.Ftruncate(fd, 1))
	memory, err := unix.Mmap(fd, 0, 1, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	must(err)
	must(unix.Close(fd))
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		memory[0] = lines.Text()[0]
		fmt.Println("written")
	}
	return 0
}

// TestFollowMapped: a text that is written through memory, of which no time of the file need tell, is told at the end
// at the latest.
func TestFollowMapped(t *testing.T) {
	b, ws := open(t, nil)
	f := followPlay(t, b, ws, "map")
	f.tell("1")
	f.says()
	f.awaitSettled("m")
	f.expect("writing", "m=1")
	f.tell("2")
	f.says()
	f.told() // the time may be new, or not
	f.in.Close()
	if r, err := f.Wait(t.Context()); err != nil || r.Exit != 0 {
		t.Fatalf("it ended with %+v, %v", r, err)
	}
	f.told()
	two := sha256.Sum256([]byte("2"))
	if known := f.views[0].known["m"]; known.hash != two {
		t.Errorf("at the end %+v is told", known)
	}
}

// swapPlay has a link that leads outside and a folder take each other's place until it is told to end.
func swapPlay() int {
	must(os.Mkdir("real", 0o755))
	must(os.WriteFile("real/x", []byte("inside"), 0o644))
	lines := bufio.NewScanner(os.Stdin)
	lines.Scan()
	must(os.Symlink(lines.Text(), "swap"))
	go func() {
		for {
			must(unix.Renameat2(unix.AT_FDCWD, "swap", unix.AT_FDCWD, "real", unix.RENAME_EXCHANGE))
		}
	}()
	fmt.Println("ready")
	lines.Scan()
	return 0
}

// TestFollowSwapped: a link and a folder take each other's place as fast as they can, and nobody is led out.
func TestFollowSwapped(t *testing.T) {
	b, ws := open(t, nil)
	outside := t.TempDir()
	write(t, filepath.Join(outside, "x"), "outside")
	before := treeOf(t, outside)
	f := followPlay(t, b, ws, "swap")
	f.tell(outside)
	f.says()
	brought, missed := 0, 0
	for i := 0; i < 500 || brought == 0 || missed == 0; i++ { // until the two were met
		if f.bring("swap/x", fmt.Sprint("brought ", i)) == "" {
			brought++
		} else {
			missed++
		}
		f.bring("swap/new", "brought")
		changes, _, err := f.Changes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range changes {
			if strings.Contains(string(c.Content), "outside") {
				t.Errorf("%s is told as %q", c.Path, c.Content)
			}
		}
	}
	f.in.Close()
	if r, err := f.Wait(t.Context()); err != nil || r.Exit != 0 {
		t.Errorf("it ended with %+v, %v", r, err)
	}
	if treeOf(t, outside) != before {
		t.Error("the folder outside has changed")
	}
}

// writePlay writes a file again and again in each round that is asked for, in one of several ways, and says when it is
// done.
func writePlay() int {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		round, err := strconv.Atoi(lines.Text())
		must(err)
		for i := range 200 {
			must(writeSomehow(round%4, []byte(fmt.Sprintf("program %d %d\n", round, i))))
		}
		fmt.Println("done")
	}
	return 0
}

func writeSomehow(way int, text []byte) error {
	switch way {
	case 0: // as most programs do
		return os.WriteFile("a", text, 0o644)
	case 1: // as editors do
		if err := os.WriteFile("a.tmp", text, 0o644); err != nil {
			return err
		}
		return os.Rename("a.tmp", "a")
	case 2: // over the old text
		f, err := os.OpenFile("a", os.O_WRONLY|os.O_CREATE, 0o644)
		if err != nil {
			return err
		}
		if _, err = f.Write(text); err == nil {
			err = f.Truncate(int64(len(text)))
		}
		if err := f.Close(); err != nil {
			return err
		}
		return err
	}
	if err := os.Remove("a"); err != nil && !os.IsNotExist(err) {
		return err
	}
	return os.WriteFile("a", text, 0o644)
}

// TestFollowNothingIsLost: a program writes a file while texts are brought to the same file and changes are collected.
// What the program has written last in a round is told, and in the end what is known is what the view has.
func TestFollowNothingIsLost(t *testing.T) {
	rounds := 100
	if testing.Short() {
		rounds = 20
	}
	b, ws := open(t, map[string]string{"a": "start\n"})
	f := followPlay(t, b, ws, "write")
	known, there, brought, refused, late := "start\n", true, 0, 0, 0
	told := map[string]bool{}
	collect := func() (more bool) {
		changes, _, err := f.Changes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range changes {
			if filepath.Base(c.Path) != "a" {
				continue
			}
			more = true
			told[string(c.Content)] = true
			if c.Replaced {
				late++
				continue
			}
			if c.Existed != there || there && c.Before != sha256.Sum256([]byte(known)) {
				t.Errorf("%q is told after %x, and %q was known", c.Content, c.Before, known)
			}
			there = !c.Deleted
			known = string(c.Content)
		}
		return more
	}
	for round := range rounds {
		f.tell(strconv.Itoa(round))
		done := make(chan string, 1)
		go func() {
			line, _ := f.out.ReadString('\n')
			done <- line
		}()
		said := ""
		for i := 0; said == ""; i++ {
			text := Text{Content: fmt.Appendf(nil, "user %d %d\n", round, i), Deleted: i%5 == 4}
			if f.bringAll(map[string]Text{filepath.Join(ws, "a"): text}) == "" {
				known, there = string(text.Content), !text.Deleted
				brought++
			} else {
				refused++
			}
			if i%3 == 0 {
				collect()
			}
			select {
			case said = <-done:
			default:
			}
		}
		if said != "done\n" {
			t.Fatalf("it says %q", said)
		}
		for collect() {
		}
		if last := fmt.Sprintf("program %d %d\n", round, 199); !told[last] {
			t.Errorf("round %d: the last text is not told, %q is known", round, known)
		}
		view, err := os.ReadFile(filepath.Join(fmt.Sprintf("/proc/self/fd/%d", f.views[0].inside), "a"))
		if there != (err == nil) || there && string(view) != known {
			t.Errorf("round %d: the view has %q, known is %q; %v", round, view, known, err)
		}
	}
	f.in.Close()
	if r, err := f.Wait(t.Context()); err != nil || r.Exit != 0 {
		t.Errorf("it ended with %+v, %v", r, err)
	}
	if collect() {
		t.Error("at the end something is told that was told before")
	}
	t.Logf("%d texts were brought, %d were not, %d were told late", brought, refused, late)
	if left, err := filepath.Glob(filepath.Join(f.views[0].dir, "upper", temporaryPrefix+"*")); err != nil {
		t.Error(err)
	} else {
		for _, path := range left {
			if info, err := os.Lstat(path); err != nil || !isWhiteout(info) {
				t.Errorf("%s is left, %v", path, err)
			}
		}
	}
}
