package instruction

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// maxNamed is how many completely omitted files are named to a model.
	maxNamed = 20
	// longLine is the length of a line, in bytes, above which a text may be cut inside of the line.
	longLine = 400
)

// Size is what the set holds, in bytes.
func (s Set) Size() int {
	n := 0
	for _, t := range s.Texts {
		n += len(t.Body)
	}
	return n
}

// Bound cuts the set to so many bytes, beginning with the furthest texts, which count least. A text that is cut keeps
// its beginning, in whole lines.
func (s Set) Bound(most int) Set {
	over := s.Size() - most
	s.Texts, s.Max = slices.Clone(s.Texts), most
	for i := range s.Texts {
		if over <= 0 {
			break
		}
		t := &s.Texts[i]
		before := len(t.Body)
		keep := max(before-over, 0)
		if line := strings.LastIndexByte(t.Body[:keep], '\n') + 1; keep-line < longLine {
			keep = line
		}
		for keep > 0 && !utf8.RuneStart(t.Body[keep]) {
			keep--
		}
		t.Body = t.Body[:keep]
		over -= before - len(t.Body)
	}
	return s
}

// Lines say for people which files are given, each with its length and how much is cut, and which files are omitted,
// and why. Files that only apply to other files are left out. shown is the name of a file as people know it.
func (s Set) Lines(shown func(name string) string) []string {
	var list []string
	for _, t := range s.Texts {
		line := fmt.Sprintf("%s (%d bytes", shown(t.Path), t.Size)
		if t.By != "" {
			line += ", imported by " + shown(t.By)
		}
		if cut := t.Cut(); cut > 0 {
			line += fmt.Sprintf(", %d of them left out", cut)
		}
		if t.Unseen > 0 {
			line += fmt.Sprintf(", without %d invisible characters", t.Unseen)
		}
		list = append(list, line+")")
	}
	for _, o := range s.Omitted {
		if o.other {
			continue
		}
		line := "not given: " + shown(o.Path) + " " + o.Why
		if o.By != "" {
			line += " (imported by " + shown(o.By) + ")"
		}
		list = append(list, line)
	}
	return list
}

// And adds another set behind this one.
func (s Set) And(more Set) Set {
	return Set{
		Texts:   append(slices.Clip(s.Texts), more.Texts...),
		Omitted: append(slices.Clip(s.Omitted), more.Omitted...), Max: s.Max,
	}
}

// Paths are the files of the set, with omitted ones, except for files that apply to other files only.
func (s Set) Paths() []string {
	var list []string
	for _, t := range s.Texts {
		list = append(list, t.Path)
	}
	for _, o := range s.Omitted {
		if !o.other {
			list = append(list, o.Path)
		}
	}
	return list
}

// closing makes a text unable to end the block around it.
var closing = strings.NewReplacer("</instructions", `<\/instructions`)

// introduction says what the texts are, once in a conversation.
const introduction = "What the user and the people of this project ask of whoever works here, each text with its " +
	"file. It is about how to work; it grants no permission. Where two differ, the later one counts; above them all, " +
	"what the user tells you."

// Write writes the set for a model, "" for an empty set. shown is the name of a file as the model knows it. first says
// that the model was not given instructions before.
func (s Set) Write(shown func(name string) string, first bool) string {
	if len(s.Texts) == 0 {
		return ""
	}
	var b strings.Builder
	if first {
		b.WriteString(introduction + "\n")
	}
	var without []string
	for _, t := range s.Texts {
		if t.Body == "" {
			without = append(without, shown(t.Path))
		}
	}
	if more := len(without) - maxNamed; more > 0 {
		without = append(without[:maxNamed], fmt.Sprintf("%d more", more))
	}
	if len(without) > 0 {
		fmt.Fprintf(&b, "Left out, since all would be more than %d bytes; read them where they matter: %s\n", s.Max,
			strings.Join(without, ", "))
	}
	for _, t := range s.Texts {
		if t.Body == "" {
			continue
		}
		fmt.Fprintf(&b, "<instructions file=%q", shown(t.Path))
		if t.Root == "" {
			b.WriteString(` of="user"`)
		}
		if t.By != "" {
			fmt.Fprintf(&b, " imported_by=%q", shown(t.By))
		}
		fmt.Fprintf(&b, ">\n%s\n", strings.TrimRight(closing.Replace(t.Body), "\n"))
		if cut := t.Cut(); cut > 0 {
			fmt.Fprintf(&b, "[cut here: %d of %d bytes are left out; read the file for the rest]\n", cut, t.Size)
		}
		b.WriteString("</instructions>\n")
	}
	return strings.TrimRight(b.String(), "\n")
}
