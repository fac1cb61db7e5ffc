package workspace

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// triple is a case for the judge: two texts that come from a third.
type triple struct{ name, base, ours, theirs string }

// verdict is what git makes of a triple.
type verdict struct {
	conflicts int
	text      string
}

// tally counts how the cases of a run went.
type tally struct{ alike, conflicts, careful, contained, trivial int }

func (n tally) String() string {
	return fmt.Sprintf("%d cases: %d merged alike, %d conflicts, %d merged by git only, %d merged by us only, %d where one changed nothing",
		n.alike+n.conflicts+n.careful+n.contained+n.trivial, n.alike, n.conflicts, n.careful, n.contained, n.trivial)
}

// soak returns how many cases a test takes: few in the quick loop, and many where the long runs are asked for.
func soak(short, usual, long int) int {
	switch {
	case os.Getenv("AGENTLS_SOAK") != "":
		return long
	case testing.Short():
		return short
	}
	return usual
}

// judge compares Merge3 with `git merge-file` on each case. What git calls a conflict must be one here, what both merge
// must be the same, no line that either side wrote may get lost, and the sides can be swapped. There are two
// exceptions. Where lines repeat, so that a change could be made in several places, it is more careful than git, as
// with a change to a function of which the other side put a copy beside. And git does not always find the shortest
// script of a large change, so that it takes text that stayed for new one, and finds a conflict there. Then the merge
// must be the side that has all changes of the other, or what the shortest patch of one side makes of the other: git
// makes and applies that. Such cases are counted, and few.
func judge(t *testing.T, cases []triple) tally {
	t.Helper()
	var n tally
	var mu sync.Mutex
	var wait sync.WaitGroup
	work := make(chan triple)
	for range 4 {
		dir := t.TempDir()
		wait.Go(func() {
			for c := range work {
				merged, conflicts := Merge3(c.base, c.ours, c.theirs)
				problem := checkMerge(c, merged, conflicts)
				trivial := c.ours == c.theirs || c.ours == c.base || c.theirs == c.base
				var git verdict
				if !trivial {
					var err error
					if git, err = mergeFile(t, dir, c); err != nil {
						problem = err
					}
				}
				contained := git.conflicts > 0 && len(conflicts) == 0 && (merged == c.ours || merged == c.theirs ||
					patched(t, dir, c.base, c.ours, c.theirs) == merged ||
					patched(t, dir, c.base, c.theirs, c.ours) == merged)
				if problem == nil && !trivial && !contained {
					problem = compareWithGit(git, merged, conflicts)
				}
				mu.Lock()
				switch {
				case problem != nil:
					t.Errorf("%s: %v\nbase   %q\nours   %q\ntheirs %q\nmerged %q %+v\ngit    %q", c.name, problem,
						cut(c.base), cut(c.ours), cut(c.theirs), cut(merged), len(conflicts), cut(git.text))
				case trivial:
					n.trivial++
				case contained:
					n.contained++
				case git.conflicts > 0:
					n.conflicts++
				case len(conflicts) > 0:
					n.careful++
				default:
					n.alike++
				}
				mu.Unlock()
			}
		})
	}
	for _, c := range cases {
		work <- c
	}
	close(work)
	wait.Wait()
	return n
}

func cut(text string) string {
	if len(text) > 600 {
		return text[:600] + "…"
	}
	return text
}

// mergeFile asks git.
func mergeFile(t *testing.T, dir string, c triple) (verdict, error) {
	names := [3]string{"ours", "base", "theirs"}
	for i, text := range [3]string{c.ours, c.base, c.theirs} {
		if err := os.WriteFile(filepath.Join(dir, names[i]), []byte(text), 0o600); err != nil {
			return verdict{}, err
		}
	}
	command := exec.CommandContext(t.Context(), "git", "merge-file", "-p", "-q", "ours", "base", "theirs")
	command.Dir = dir
	command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	output, err := command.Output()
	failed := (*exec.ExitError)(nil)
	if err != nil && (!errors.As(err, &failed) || failed.ExitCode() < 0 || failed.ExitCode() > 127) {
		return verdict{}, fmt.Errorf("git merge-file: %w", err)
	}
	return verdict{command.ProcessState.ExitCode(), string(output)}, nil
}

// patched is what git's shortest patch from base to side makes of the other side, empty where it does not fit. The
// lines beside a change must be there, one on either side: changes that touch are no merge.
func patched(t *testing.T, dir, base, side, other string) string {
	git := func(args ...string) []byte {
		command := exec.CommandContext(t.Context(), "git", args...)
		command.Dir = dir
		command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null",
			"GIT_CONFIG_SYSTEM=/dev/null", "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
		output, _ := command.Output() // there is a difference, or the patch does not fit: what comes out tells
		return output
	}
	for name, text := range map[string]string{"a/f": base, "b/f": side, "f": other} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700),
			os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)); err != nil {
			t.Error(err)
			return ""
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "patch"),
		git("diff", "--no-index", "--no-prefix", "--minimal", "-U1", "a/f", "b/f"), 0o600); err != nil {
		t.Error(err)
		return ""
	}
	git("apply", "-p1", "patch")
	data, err := os.ReadFile(filepath.Join(dir, "f"))
	if err != nil || string(data) == other {
		return ""
	}
	return string(data)
}

func compareWithGit(git verdict, merged string, conflicts []Conflict) error {
	switch {
	case len(conflicts) > 0:
		return nil
	case git.conflicts > 0:
		return errors.New("git finds a conflict, we merge")
	case git.text != merged:
		return errors.New("git merges to another text")
	}
	return nil
}

// checkMerge looks at what must hold whatever git says.
func checkMerge(c triple, merged string, conflicts []Conflict) error {
	x := NewIndex(merged)
	at := 0
	var clean, mine, yours strings.Builder
	for _, conflict := range conflicts {
		switch {
		case conflict.StartLine < at:
			return fmt.Errorf("conflict %+v is out of order", conflict)
		case x.Slice(conflict.StartLine, conflict.EndLine) != conflict.Base:
			return fmt.Errorf("the lines of conflict %+v are not those of base", conflict)
		case conflict.Base == conflict.Ours || conflict.Base == conflict.Theirs || conflict.Ours == conflict.Theirs:
			return fmt.Errorf("conflict %+v is none", conflict)
		}
		clean.WriteString(x.Slice(at, conflict.StartLine))
		mine.WriteString(conflict.Ours)
		yours.WriteString(conflict.Theirs)
		at = conflict.EndLine
	}
	clean.WriteString(x.Slice(at, x.Len()))
	count := func(text string) map[string]int {
		counts := map[string]int{}
		for line := range strings.Lines(text) {
			counts[strings.TrimRight(line, "\r\n")]++
		}
		return counts
	}
	base, ours, theirs := count(c.base), count(c.ours), count(c.theirs)
	kept, inOurs, inTheirs := count(clean.String()), count(mine.String()), count(yours.String())
	for side, lines := range map[string][2]map[string]int{"ours": {ours, inOurs}, "theirs": {theirs, inTheirs}} {
		for line, n := range lines[0] {
			// What base lacks must be there as often as it was written, and what is once in all texts must not be gone.
			if base[line] == 0 && kept[line]+lines[1][line] < n ||
				base[line] == 1 && ours[line] == 1 && theirs[line] == 1 && kept[line]+inOurs[line]+inTheirs[line] == 0 {
				return fmt.Errorf("line %q of %s is lost", line, side)
			}
		}
	}
	again, swapped := Merge3(c.base, c.theirs, c.ours)
	for i := range swapped {
		swapped[i].Ours, swapped[i].Theirs = swapped[i].Theirs, swapped[i].Ours
	}
	if again != merged || !slices.Equal(swapped, conflicts) {
		return fmt.Errorf("with the sides swapped it is %q, %+v", again, swapped)
	}
	return nil
}

// scribbler makes texts that are hard to align, and edits them.
type scribbler struct {
	*rand.Rand
	lines  []string
	ending string
	fresh  int
}

func newScribbler(seed uint64) *scribbler {
	s := &scribbler{Rand: rand.New(rand.NewPCG(seed, 4)), ending: "\n"}
	s.lines = [][]string{
		{"a", "b", "c", "d", "e", "f", "g", "h"},
		{"", "}", "a", "b"},
		{"\tif err != nil {", "\t\treturn err", "\t}", "", "}", "func"},
		{"a", "b"},
		{"", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15"},
	}[s.IntN(5)]
	if s.IntN(5) == 0 {
		s.ending = "\r\n"
	}
	return s
}

// line is one of few, or one that is nowhere else.
func (s *scribbler) line() string {
	if s.IntN(4) == 0 {
		s.fresh++
		return fmt.Sprintf("new %d%s", s.fresh, s.ending)
	}
	if s.IntN(40) == 0 {
		return s.lines[s.IntN(len(s.lines))] + map[string]string{"\n": "\r\n", "\r\n": "\n"}[s.ending]
	}
	return s.lines[s.IntN(len(s.lines))] + s.ending
}

func (s *scribbler) some(n int) []string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = s.line()
	}
	return lines
}

// edit changes a text in a few places.
func (s *scribbler) edit(lines []string, times int) []string {
	lines = slices.Clone(lines)
	for range times {
		at := s.IntN(len(lines) + 1)
		end := min(at+s.IntN(4), len(lines))
		switch s.IntN(7) {
		case 0, 1:
			lines = slices.Insert(lines, at, s.some(1+s.IntN(3))...)
		case 2:
			lines = slices.Delete(lines, at, end)
		case 3: // a copied block
			lines = slices.Insert(lines, s.IntN(len(lines)+1), slices.Clone(lines[at:end])...)
		case 4: // a moved block
			block := slices.Clone(lines[at:end])
			lines = slices.Delete(lines, at, end)
			lines = slices.Insert(lines, s.IntN(len(lines)+1), block...)
		default:
			lines = slices.Replace(lines, at, end, s.some(s.IntN(3))...)
		}
	}
	return lines
}

// triple makes a case: two texts from one, with edits that are often near each other, or the same.
func (s *scribbler) triple() (base, ours, theirs string) {
	from := s.some(s.IntN([]int{2, 10, 20, 60, 150}[s.IntN(5)]))
	mine, yours := from, from
	if s.IntN(3) == 0 { // both have some of the same
		mine = s.edit(from, 1)
		yours = mine
	}
	mine, yours = s.edit(mine, 1+s.IntN(2)), s.edit(yours, 1+s.IntN(3))
	if s.IntN(30) == 0 {
		yours = nil
	}
	texts := [3]string{strings.Join(from, ""), strings.Join(mine, ""), strings.Join(yours, "")}
	for i := range texts {
		if s.IntN(6) == 0 {
			texts[i] = strings.TrimRight(texts[i], "\r\n")
		}
	}
	return texts[0], texts[1], texts[2]
}

// TestMerge3AgainstGit has git merge-file judge merges of texts whose lines repeat, so that there are many ways to
// align them.
func TestMerge3AgainstGit(t *testing.T) {
	var cases []triple
	for seed := range soak(300, 2000, 20_000) {
		base, ours, theirs := newScribbler(uint64(seed)).triple()
		cases = append(cases, triple{fmt.Sprintf("seed %d", seed), base, ours, theirs})
	}
	n := judge(t, cases)
	t.Log(n)
	if all := len(cases); n.alike < all/5 || n.conflicts < all/5 || n.careful > all/5 || n.contained > 0 {
		t.Errorf("the cases say little: %v", n)
	}
}
