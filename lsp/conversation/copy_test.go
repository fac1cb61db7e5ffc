package conversation

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentls/agentls/agentcore/event"
)

// TestCopy: an answer arrives whole and once, whatever the editor leaves out without a word and whatever the user types
// meanwhile, of which nothing is lost. The user types anywhere but into the answer.
func TestCopy(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const run = event.RunID("r1")
		text := "# T\n\n## You\n\nDo it.\n"
		text = apply(text, Parse(text).Opened("coder", run, "Do it."))
		var c Copy
		var a Answer
		var typed []string
		words := rapid.SampledFrom([]string{"a", "aa ", "b\n", "\n\n", "ab", " "})
		for step := range rapid.IntRange(1, 20).Draw(t, "steps") {
			for range rapid.IntRange(0, 60).Draw(t, "words") {
				a.Text(words.Draw(t, "word"))
			}
			if rapid.Bool().Draw(t, "call") {
				a.Line("read")
			}
			edit, ok, gone := c.Next(text, run, 0, a.String())
			if gone {
				t.Fatal("the heading is gone")
			}
			types := rapid.IntRange(0, 2).Draw(t, "types") == 0
			if types {
				word := fmt.Sprintf("«%d»", step)
				typed = append(typed, word)
				now := Parse(text)
				turns := now.Turns
				turn := turns[0]
				if rapid.Bool().Draw(t, "below") {
					turn = turns[len(turns)-1]
				}
				at := now.Written(turn)
				text = text[:at] + "\n" + word + text[at:]
			}
			if ok && !types && rapid.IntRange(0, 3).Draw(t, "left out") != 0 {
				text = apply(text, edit)
			}
		}
		a.End()
		for edit, ok, _ := c.Next(text, run, 0, a.String()); ok; edit, ok, _ = c.Next(text, run, 0, a.String()) {
			text = apply(text, edit)
		}
		now := Parse(text)
		answer := now.Answers(run)[0]
		if got := strings.TrimLeft(text[answer.Body.Start:now.Written(answer)], "\n"); got != a.String() {
			t.Fatalf("the document has %q of the answer %q", got, a.String())
		}
		for _, word := range typed {
			if strings.Count(text, word) != 1 {
				t.Fatalf("what the user typed, %s, is there %d times", word, strings.Count(text, word))
			}
		}
	})
}

// TestCopyOfAClosedDocument: a document that was closed goes on where its text ends, and one whose heading is gone does
// not.
func TestCopyOfAClosedDocument(t *testing.T) {
	t.Parallel()
	const empty = "## You\n\nx\n\n## a <!-- agentls:r1 -->\n\n## You\n\n"
	var c Copy
	edit, ok, _ := c.Next(empty, "r1", 0, "One two three")
	if !ok {
		t.Fatal("nothing is written")
	}
	saved := apply(empty, edit)
	if _, ok, _ = c.Next(saved, "r1", 0, "One two three"); ok {
		t.Error("what is there is written again")
	}
	c.Lost()
	edit, ok, _ = c.Next(strings.Replace(saved, " three", "", 1), "r1", 0, "One two three four")
	if !ok || edit.New != " three four" {
		t.Errorf("the rest is %q", edit.New)
	}
	if _, ok, gone := c.Next("## You\n\nx\n", "r1", 0, "One"); ok || !gone {
		t.Error("a heading that is gone is written to")
	}
	if _, ok, gone := c.Next(saved, "r1", 1, "One"); ok || !gone {
		t.Error("a second heading is written to")
	}
}
