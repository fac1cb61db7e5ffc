package tool_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/tool/tooltest"
	"github.com/agentls/agentls/agentcore/workspace"
)

// forked is a Host whose run works on a fresh layer, so that many cases share one workspace.
type forked struct {
	*tooltest.Host
	layer *workspace.Layer
}

func (h forked) Files() *workspace.Layer { return h.layer }

// changed makes a call of a tool on a layer of its own, where path holds text, and returns the text there. A refused
// call must change nothing.
func changed(t testing.TB, h *tooltest.Host, name, path, text, call string) (string, error) {
	t.Helper()
	under := h.Files().Fork()
	if _, err := under.Write(h.Path(path), text, "", workspace.Author{}); err != nil {
		t.Fatal(err)
	}
	host := forked{h, under.Fork()}
	builtin := tool.Builtin()
	i := slices.IndexFunc(builtin, func(b tool.Tool) bool { return b.Spec().Name == name })
	made, err := builtin[i].Decode([]byte(call))
	if err != nil {
		return "", err
	}
	if _, err := made.Run(t.Context(), host); err != nil {
		if changes := host.layer.Changes(); len(changes) > 0 {
			t.Fatalf("%s %s was refused (%v), but changed %+v", name, call, err, changes)
		}
		return "", err
	}
	file, err := host.layer.Read(h.Path(path))
	if err != nil {
		return "", err
	}
	return file.Text, nil
}

func patched(t testing.TB, h *tooltest.Host, path, text, patch string) (string, error) {
	t.Helper()
	return changed(t, h, "patch", path, text, arguments(t, "patch", patch))
}

// FuzzPatch: no patch makes the tool panic, a refused one changes nothing, and every change that is made is one of text
// that the patch names.
func FuzzPatch(f *testing.F) {
	f.Add("a\nb\nc\n", "*** Begin Patch\n*** Update File: f.txt\n@@ a\n-b\n+B\n c\n*** End of File\n*** End Patch")
	f.Add("a\r\nb",
		"apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: g.txt\n+x\n*** Delete File: f.txt\n*** End Patch\nEOF")
	f.Add("a\nb\n", "*** Update File: f.txt\n*** Move to: d/g.txt\n  *** End Patch")
	f.Add("a\nb\n", "--- a/f.txt\n+++ b/f.txt\n@@ -1,2 +1,2 @@\n-a\n+b\n b\n\\ No newline at end of file\n")
	f.Add("x\n\n\ny\n", "```\n*** Update File: f.txt\n@@\n\n-y\n+z\n\n```")
	h := tooltest.New(f, nil)
	f.Fuzz(func(t *testing.T, text, patch string) {
		if !usable(text) || !utf8.ValidString(patch) {
			return
		}
		got, err := patched(t, h, "f.txt", text, patch)
		if err == nil && got != text && !strings.Contains(patch, "f.txt") {
			t.Fatalf("the patch %q made %q of %q", patch, got, text)
		}
		if err != nil && strings.TrimSpace(err.Error()) == "" {
			t.Fatal("an error says nothing")
		}
	})
}

// usable reports whether a layer can hold a text.
func usable(text string) bool { return utf8.ValidString(text) && !strings.Contains(text, "\x00") }

// FuzzPatchRoundTrip: a patch made of two texts turns the first into the second, in both formats, and keeps the line
// endings of the file.
func FuzzPatchRoundTrip(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nB\nc\n")
	f.Add("a\nb", "a\nb\n")
	f.Add("", "a\n\nb")
	f.Add("x\nx\nx\nx\n", "x\ny\nx\nx\nx\ny\n")
	f.Add("*** End Patch\n@@\n-- a\n++ b\n", "*** End Patch\n@@ x\n-- b\n++ b\n+\n")
	f.Add("a\n\n\nb\n\n\n", "\n\n\nb\n\n")
	f.Add("\ta\n  b\n", "a\n\tb  \n")
	h := tooltest.New(f, nil)
	f.Fuzz(func(t *testing.T, before, after string) {
		if !usable(before) || !usable(after) || strings.Contains(before+after, "\r") || before == after {
			return
		}
		roundTrip(t, h, before, after)
	})
}

// TestPatchRoundTrip is FuzzPatchRoundTrip for texts whose lines repeat, as those of code do.
func TestPatchRoundTrip(t *testing.T) {
	h := tooltest.New(t, nil)
	line := rapid.SampledFrom([]string{
		"a", "b", "", "", "}", "\ta", "\t}", "  a", "a ", "*** End Patch", "@@ a",
		"-- a", "++ b", "+", "-",
	})
	rapid.Check(t, func(r *rapid.T) {
		before := rapid.SliceOfN(line, 0, 30).Draw(r, "before")
		after := slices.Clone(before)
		for range rapid.IntRange(1, 5).Draw(r, "edits") {
			from := rapid.IntRange(0, len(after)).Draw(r, "from")
			to := min(len(after), from+rapid.IntRange(0, 3).Draw(r, "removed"))
			after = slices.Replace(after, from, to, rapid.SliceOfN(line, 0, 3).Draw(r, "added")...)
		}
		text := func(lines []string) string {
			ending := rapid.SampledFrom([]string{"\n", "\n", ""}).Draw(r, "ending")
			if len(lines) == 0 {
				return ""
			}
			return strings.Join(lines, "\n") + ending
		}
		if one, other := text(before), text(after); one != other {
			roundTrip(t, h, one, other)
		}
	})
}

// TestPatchDrift: a patch whose lines are indented otherwise, all by the same, makes what was meant.
func TestPatchDrift(t *testing.T) {
	h := tooltest.New(t, nil)
	rapid.Check(t, func(r *rapid.T) {
		var before []string
		for i := range rapid.IntRange(2, 12).Draw(r, "lines") {
			least := max(0, 1-i) // the first line shows what drifted
			before = append(before,
				strings.Repeat("\t", rapid.IntRange(least, 3).Draw(r, "depth"))+fmt.Sprintf("line%d()", i))
		}
		at := rapid.IntRange(1, len(before)-1).Draw(r, "at")
		added := strings.Repeat("\t", rapid.IntRange(0, 3).Draw(r, "depth")) + "added()"
		after := slices.Concat(before[:at], []string{added}, before[at+1:])
		drift := rapid.SampledFrom([]func(string) string{
			func(s string) string { return "\t" + s },
			func(s string) string { return strings.ReplaceAll(s, "\t", "    ") },
			func(s string) string { return strings.ReplaceAll(s, "\t", "  ") },
			func(s string) string { return s },
		}).Draw(r, "drift")
		var patch strings.Builder
		patch.WriteString("*** Update File: f.txt\n")
		for i, l := range before {
			switch i {
			case at:
				fmt.Fprintf(&patch, "-%s\n+%s\n", drift(l), drift(added))
			default:
				fmt.Fprintf(&patch, " %s\n", drift(l))
			}
		}
		patch.WriteString("*** End Patch")
		text, want := strings.Join(before, "\n")+"\n", strings.Join(after, "\n")+"\n"
		got, err := patched(t, h, "f.txt", text, patch.String())
		if err != nil || got != want {
			r.Fatalf("from %q: got %q, %v, want %q, by\n%s", text, got, err, want, patch.String())
		}
	})
}

// roundTrip makes before into after by patches.
func roundTrip(t testing.TB, h *tooltest.Host, before, after string) {
	t.Helper()
	sections := "*** Begin Patch\n*** Update File: f.txt\n" + chunks(before, after) + "*** End Patch\n"
	for _, patch := range []string{sections, unified(before, after)} {
		got, err := patched(t, h, "f.txt", before, patch)
		if err != nil || got != after {
			t.Fatalf("from %q to %q: got %q, %v, by\n%s", before, after, got, err, patch)
		}
		dos, want := strings.ReplaceAll(before, "\n", "\r\n"), strings.ReplaceAll(after, "\n", "\r\n")
		if got, err = patched(t, h, "f.txt", dos, patch); strings.Contains(before, "\n") &&
			(err != nil || got != want) {
			t.Fatalf("from %q to %q: got %q, %v, by\n%s", dos, want, got, err, patch)
		}
	}
}

// chunks writes what turns before into after, each place with as little context as makes it fit once behind the one
// before.
func chunks(before, after string) string {
	lines := workspace.Lines(before)
	hunks := workspace.Diff(before, after)
	var out strings.Builder
	from := 0
	for i, hunk := range hunks {
		next := len(lines)
		if i+1 < len(hunks) {
			next = hunks[i+1].Start
		}
		around := 0
		low, high := hunk.Start, hunk.End
		for high == low || occurrences(lines[from:], lines[low:high]) > 1 {
			around++
			low, high = max(hunk.Start-around, from), min(hunk.End+around, next)
			if low == from && high == next {
				break
			}
		}
		if low < high && occurrences(lines[from:], lines[low:high]) > 1 {
			return whole(before, after)
		}
		out.WriteString("@@\n")
		signed(&out, " ", lines[low:hunk.Start])
		signed(&out, "-", lines[hunk.Start:hunk.End])
		signed(&out, "+", workspace.Lines(hunk.After))
		signed(&out, " ", lines[hunk.End:high])
		from = high
	}
	return out.String()
}

// whole replaces all lines.
func whole(before, after string) string {
	var out strings.Builder
	signed(&out, "-", workspace.Lines(before))
	signed(&out, "+", workspace.Lines(after))
	return out.String()
}

func signed(out *strings.Builder, sign string, lines []string) {
	for _, l := range lines {
		content, complete := strings.CutSuffix(l, "\n")
		fmt.Fprintf(out, "%s%s\n", sign, content)
		if !complete {
			out.WriteString("\\ No newline at end of file\n")
		}
	}
}

// occurrences counts where a piece stands in lines, but for line endings.
func occurrences(lines, piece []string) int {
	n := 0
	for i := 0; i+len(piece) <= len(lines); i++ {
		if slices.EqualFunc(lines[i:i+len(piece)], piece,
			func(a, b string) bool { return strings.TrimSuffix(a, "\n") == strings.TrimSuffix(b, "\n") }) {
			n++
		}
	}
	return n
}

// unified is the change as a unified diff.
func unified(before, after string) string {
	index := workspace.NewIndex(before)
	edit := workspace.FileEdit{Before: before}
	for _, hunk := range workspace.Diff(before, after) {
		edit.Edits = append(edit.Edits, workspace.Edit{
			Start: index.Start(hunk.Start), End: index.Start(hunk.End),
			New: hunk.After,
		})
	}
	return edit.Unified("f.txt", workspace.Format{})
}

// BenchmarkPatch is a patch of many places of a large file, and one of which nothing fits.
func BenchmarkPatch(b *testing.B) {
	h := tooltest.New(b, nil)
	var text, fits, misses strings.Builder
	fits.WriteString("*** Update File: f.txt\n")
	misses.WriteString("*** Update File: f.txt\n")
	for i := range 100_000 {
		fmt.Fprintf(&text, "\tresult%d = append(result, transform(element, options...))\n", i)
		if i%1000 == 0 {
			fmt.Fprintf(&fits, "@@\n-\tresult%d = append(result, transform(element, options...))\n+\tchanged()\n", i)
			fmt.Fprintf(&misses, "@@\n-\tresult%d = push(result, transform(item))\n+\tchanged()\n", i)
		}
	}
	fits.WriteString("*** End Patch\n")
	misses.WriteString("*** End Patch\n")
	for name, patch := range map[string]string{"fits": fits.String(), "misses": misses.String()} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := patched(b, h, "f.txt", text.String(), patch); (err == nil) != (name == "fits") {
					b.Fatal(err)
				}
			}
		})
	}
}
