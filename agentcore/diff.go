package agentcore

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/workspace"
)

// contextLines is how many unchanged lines a diff shows around a change.
const contextLines = 3

// Diff returns hunks of the session's proposal as a unified diff in git's form, which `git apply` takes in
// the first workspace folder that has the file. Hunks in conflict are left out, since they fit nowhere.
func (s *Session) Diff(ids []event.HunkID) (string, error) {
	byPath := map[string][]workspace.Hunk{}
	var paths []string
	for _, id := range ids {
		h, ok := s.proposal.Hunk(id)
		if !ok || h.State == event.StateConflict {
			continue
		}
		if byPath[h.Path] == nil {
			paths = append(paths, h.Path)
		}
		byPath[h.Path] = append(byPath[h.Path], h)
	}
	slices.Sort(paths)
	var b strings.Builder
	for _, path := range paths {
		hunks := byPath[path]
		var lines []string
		if !hunks[0].Create {
			file, err := s.view.Read(path)
			if err != nil {
				return "", fmt.Errorf("read the text below the proposed edits: %w", err)
			}
			lines = workspace.Lines(file.Text)
		}
		slices.SortFunc(hunks, func(a, b workspace.Hunk) int { return a.StartLine - b.StartLine })
		unified(&b, s.diffName(path), lines, hunks)
	}
	return b.String(), nil
}

// diffName is a path as git names it: relative to its workspace folder, with slashes.
func (s *Session) diffName(path string) string {
	for _, root := range s.view.Roots() {
		if rel, err := filepath.Rel(root.Path, path); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel)
		}
	}
	return filepath.ToSlash(path)
}

// unified writes the hunks of one file; those whose context would meet are written as one.
func unified(b *strings.Builder, name string, lines []string, hunks []workspace.Hunk) {
	fmt.Fprintf(b, "diff --git a/%s b/%s\n", name, name)
	from, to := "a/"+name, "b/"+name
	switch {
	case hunks[0].Create:
		b.WriteString("new file mode 100644\n")
		from = "/dev/null"
	case hunks[0].Delete:
		b.WriteString("deleted file mode 100644\n")
		to = "/dev/null"
	}
	fmt.Fprintf(b, "--- %s\n+++ %s\n", from, to)
	shift := 0 // lines that the hunks before added
	for len(hunks) > 0 {
		group := 1
		for group < len(hunks) && hunks[group].StartLine-hunks[group-1].EndLine <= 2*contextLines {
			group++
		}
		start := max(0, hunks[0].StartLine-contextLines)
		end := min(len(lines), hunks[group-1].EndLine+contextLines)
		var body strings.Builder
		at, added := start, 0
		for _, h := range hunks[:group] {
			writeLines(&body, ' ', lines[at:h.StartLine])
			writeLines(&body, '-', lines[h.StartLine:h.EndLine])
			after := workspace.Lines(h.After)
			writeLines(&body, '+', after)
			added += len(after) - (h.EndLine - h.StartLine)
			at = h.EndLine
		}
		writeLines(&body, ' ', lines[at:end])
		fmt.Fprintf(b, "@@ -%s +%s @@\n%s", place(start, end-start), place(start+shift, end-start+added), body.String())
		shift += added
		hunks = hunks[group:]
	}
}

// place is a range of lines in a hunk's header; an empty one names the line before it.
func place(start, count int) string {
	if count == 0 {
		return fmt.Sprintf("%d,0", start)
	}
	return fmt.Sprintf("%d,%d", start+1, count)
}

func writeLines(b *strings.Builder, mark byte, lines []string) {
	for _, line := range lines {
		b.WriteByte(mark)
		b.WriteString(line)
		if !strings.HasSuffix(line, "\n") {
			b.WriteString("\n\\ No newline at end of file\n")
		}
	}
}
