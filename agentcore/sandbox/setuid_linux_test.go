//go:build amd64 || arm64

package sandbox

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/agentls/agentls/agentcore/needs"
)

// TestSetuid runs a program of root's with the setuid bit, in the workspace and beside it, as an ordinary user's
// command.
func TestSetuid(t *testing.T) {
	needs.Root(t) // so that TestOrdinaryUser does not run this one
	levels := []Level{"", Copy}
	if !testing.Short() {
		levels = append(levels, Bubblewrap)
	}
	dir := nobodyDir(t)
	for _, name := range []string{"work", "tools"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		setuidCopy(t, "/proc/self/exe", filepath.Join(dir, name, "power"))
	}
	bare := asNobody(t, dir, []string{playVariable + "=who"})
	bare.Path = filepath.Join(dir, "tools", "power")
	if out, err := bare.CombinedOutput(); err != nil || string(out) != "0 " {
		t.Fatalf("the program has no power outside, so that this test shows nothing: %q %v", out, err)
	}
	for _, level := range levels {
		out, err := asNobody(t, dir, []string{
			playVariable + "=powerless", "DIR=" + dir, "LEVEL=" + string(level),
		}).CombinedOutput()
		if want := fmt.Sprintf("%d %d true", nobody, nobody); err != nil || string(out) != want {
			t.Errorf("level %q: the programs say %q, %v; want %q", level, out, err, want)
		}
	}
}

func init() {
	plays["who"] = func() int {
		fmt.Print(os.Geteuid(), " ")
		return 0
	}
	plays["powerless"] = func() int {
		dir := os.Getenv("DIR")
		o := Options{
			Roots:    []string{filepath.Join(dir, "work")},
			StateDir: filepath.Join(dir, "state"),
			Env:      []string{"PATH=" + os.Getenv("PATH")},
			Tools:    []string{filepath.Join(dir, "tools")},
		}
		if level := os.Getenv("LEVEL"); level != "" {
			o.Report = &Report{Level: Level(level)}
		}
		b, err := Open(context.Background(), o)
		if err != nil {
			fmt.Println(err)
			return 1
		}
		r, err := b.Run(context.Background(), Command{
			Script: fmt.Sprintf("export %s=who; ./power; %s/tools/power", playVariable, dir),
		})
		fmt.Printf("%s%v", r.Output, err == nil && r.Exit == 0)
		if err := b.Close(); err != nil {
			fmt.Println(err)
			return 1
		}
		return 0
	}
}
