package conversation

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/agentls/agentls/agentcore/event"
)

// outlined is what Parse finds, in lines.
func outlined(text string) []string {
	t := Parse(text)
	var list []string
	for _, s := range t.Settings {
		list = append(list, s.Key+"="+s.Value)
	}
	for _, turn := range t.Turns {
		who := "you"
		if turn.Run != "" {
			who = turn.Agent + "/" + string(turn.Run)
		}
		list = append(list, who+": "+strings.ReplaceAll(t.Body(turn), "\n", "|"))
	}
	return list
}

// TestParse: what is a turn, whose, and what is a setting.
func TestParse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"nothing", "", []string{"you: "}},
		{"a prompt alone", "Fix it.\n", []string{"you: Fix it."}},
		{"a title", "# Title\n\nFix it.\n", []string{"you: Fix it."}},
		{"a title is all", "# Title", []string{"you: "}},
		{"a heading", "# Title\n\n## You\n\nFix it.\n\n", []string{"you: Fix it."}},
		{
			"settings", "---\nagent: coder\nmodel: \"a/b\"\n---\n# Title\n\n## You\nFix it.",
			[]string{"agent=coder", "model=a/b", "you: Fix it."},
		},
		{
			"turns", "Hello\n\n## coder <!-- agentls:r1 -->\n\nHi.\n\n## You\n\nBye\n",
			[]string{"you: Hello", "coder/r1: Hi.", "you: Bye"},
		},
		{
			"line ends of Windows", "## You\r\n\r\na\r\n\r\n## x y <!-- agentls:r1 -->\r\nb\r\n",
			[]string{"you: a", "x y/r1: b"},
		},
		{
			"code of a person", "## You\n\n```\n## You\n```\n\n## You\n~~~~\n## You\n~~~\n## a <!-- agentls:r2 -->\n## You\n",
			[]string{"you: ```|## You|```", "you: ~~~~|## You|~~~", "a/r2: ", "you: "},
		},
		{
			"none", "### You\n ## You\n## Yours\n## x <!-- agentls: -->\n## x <!-- other -->",
			[]string{"you: ### You| ## You|## Yours|## x <!-- agentls: -->|## x <!-- other -->"},
		},
	} {
		if diff := cmp.Diff(c.want, outlined(c.text)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", c.name, diff)
		}
	}
}

// TestAnswer: how what comes in pieces becomes Markdown.
func TestAnswer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		do   func(*Answer)
		want string
	}{
		{"text", func(a *Answer) { a.Text("Hel"); a.Text("lo\n"); a.Text("you") }, "Hello\nyou"},
		{
			"headings", func(a *Answer) { a.Text("#"); a.Text(" A\n##### B\n#no\n#######"); a.End() },
			"### A\n###### B\n#no\n#######",
		},
		{"a turn", func(a *Answer) { a.Text("#"); a.Text("# Y"); a.Text("ou\nx"); a.End() }, "#### You\nx"},
		{
			"a turn in code",
			func(a *Answer) { a.Text("```\n## Yo"); a.Text("u\n## x <!-- agentls:r1 -->\n## y\n"); a.End() },
			"```\n ## You\n ## x <!-- agentls:r1 -->\n## y\n```",
		},
		{
			"open code", func(a *Answer) { a.Text("````go\nx"); a.Line("read a"); a.Text("y") },
			"````go\nx\n````\n\n- read a\n\ny",
		},
		{
			"calls", func(a *Answer) { a.Line("read a"); a.Line("read\nb"); a.Text("\n\nDone"); a.Line("edit c") },
			"- read a\n- read b\n\nDone\n\n- edit c",
		},
		{"messages", func(a *Answer) {
			a.Text("One.")
			a.Break()
			a.Break()
			a.Text("Two.\n")
			a.Break()
			a.Text("3")
		}, "One.\n\nTwo.\n\n3"},
	} {
		var a Answer
		c.do(&a)
		if got := a.String(); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// bits are what texts are made of that could be taken for a turn.
var bits = rapid.SliceOf(rapid.SampledFrom([]string{
	"## You", "\n", "#", " ", "## x <!-- agentls:r9 -->", "```", "~~~~", "word", "\r\n", "---\n", "- ", "é",
}))

// TestNoAnswerMakesATurn: whatever an agent says, in whatever pieces, and wherever it calls tools, the document has the
// turns that it had, its text only grows at its end, and the edits that bring it there leave every other byte.
func TestNoAnswerMakesATurn(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		prompt, draft := strings.Join(bits.Draw(t, "prompt"), ""), strings.Join(bits.Draw(t, "draft"), "")
		text := "## You\n\n" + Escaped(prompt) + "\n"
		text = apply(text, Parse(text).Opened("coder", "r1", strings.TrimSpace(Escaped(prompt))))
		before := Parse(text + Escaped(draft))
		if len(before.Answers("r1")) != 1 {
			t.Fatalf("the answer is not there: %q", text)
		}
		text += Escaped(draft)
		turns := len(before.Turns)
		var a Answer
		sent := ""
		for range rapid.IntRange(1, 5).Draw(t, "steps") {
			if piece := strings.Join(bits.Draw(t, "piece"), ""); rapid.Bool().Draw(t, "line") {
				a.Line(piece)
			} else {
				a.Text(piece)
			}
			if rapid.Bool().Draw(t, "break") {
				a.Break()
			}
			whole := a.String()
			if !strings.HasPrefix(whole, sent) {
				t.Fatalf("the answer was %q and is %q", sent, whole)
			}
			if whole != sent {
				now := Parse(text)
				text = apply(text, now.Grown(now.Answers("r1")[0], whole[len(sent):]))
				sent = whole
			}
			after := Parse(text)
			if len(after.Turns) != turns {
				t.Fatalf("%d turns became %d: %q", turns, len(after.Turns), text)
			}
		}
		after := Parse(text)
		if last, prompts := after.Prompt(); prompts {
			if want, _ := before.Prompt(); after.Body(last) != before.Body(want) {
				t.Fatalf("the draft %q became %q", before.Body(want), after.Body(last))
			}
		}
		edit, ok := after.Without("r1")
		if back := Parse(apply(text, edit)); !ok || back.After() != "" {
			t.Fatalf("the answer stays: %q", apply(text, edit))
		}
	})
}

func apply(text string, e Edit) string { return text[:e.Start] + e.New + text[e.End:] }

// TestWithout: going back keeps the prompt, and what was written for the next one.
func TestWithout(t *testing.T) {
	t.Parallel()
	const one = "## You\n\nOne\n\n## a <!-- agentls:r1 -->\n\nFirst\n\n## You\n\nTwo\n\n## a <!-- agentls:r2 -->\n\nSecond\n\n## You\n\n"
	for _, c := range []struct {
		draft string
		run   event.RunID
		want  string
	}{
		{"", "r2", "## You\n\nOne\n\n## a <!-- agentls:r1 -->\n\nFirst\n\n## You\n\nTwo\n"},
		{"Three\n", "r2", "## You\n\nOne\n\n## a <!-- agentls:r1 -->\n\nFirst\n\n## You\n\nTwo\n\nThree\n"},
		{"", "r1", "## You\n\nOne\n"},
		{"Three", "r1", "## You\n\nOne\n\nThree"},
	} {
		text := one + c.draft
		edit, ok := Parse(text).Without(c.run)
		if got := apply(text, edit); !ok || got != c.want {
			t.Errorf("without %s: %q, want %q", c.run, got, c.want)
		}
	}
	if _, ok := Parse(one).Without("r3"); ok {
		t.Error("a run that is not there was taken out")
	}
}

// TestRecorded: what was held is what Parse reads.
func TestRecorded(t *testing.T) {
	t.Parallel()
	text := Recorded("A\ntitle", []Said{
		{Text: "Do\n## You\nthis"},
		{Run: "r1", Agent: "coder", Text: "Done."},
		{Text: "And?"},
		{Run: "r2", Agent: "coder"},
	})
	want := []string{"you: Do| ## You|this", "coder/r1: Done.", "you: And?", "coder/r2: ", "you: "}
	if diff := cmp.Diff(want, outlined(text)); diff != "" || !strings.HasPrefix(text, "# A title\n\n## You\n") {
		t.Errorf("(-want +got)\n%s\n%s", diff, text)
	}
}

// TestLinks: what an answer's heading names, and the links that agentls writes.
func TestLinks(t *testing.T) {
	t.Parallel()
	const target = "file:///w/a.go#L3"
	text := "## You\n\n" + Linked("no.go:1", target) + "\n\n## x <!-- agentls:r1 -->\n\n- " +
		Linked("[a].go:3", target) + " [b](<http://x>) [c](file:///w/c.go)\n"
	p := Parse(text)
	answer := p.Turns[1]
	if got := p.Named(answer).In(text); got != "<!-- agentls:r1 -->" {
		t.Errorf("the heading names %q", got)
	}
	links := p.Links(answer)
	if len(links) != 1 || links[0].Target != target || links[0].In(text) != "[(a).go:3](<"+target+">)" {
		t.Errorf("the links are %+v", links)
	}
}
