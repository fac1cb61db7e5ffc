package lsptest

import (
	"strings"
	"testing"
)

// TestStillUnsaid: what was not to be said is looked for again at the end, but for what a later line expects.
func TestStillUnsaid(t *testing.T) {
	for _, test := range []struct {
		name, said string
		matched    []string // by later lines
		edits      int      // that come later
		want       string
	}{
		{name: "nothing"},
		{name: "another text", said: "all is well"},
		{name: "the text", said: "it is broken", want: "it is broken"},
		{name: "expected", said: "it is broken", matched: []string{"broken"}},
		{name: "another expected", said: "it is broken", matched: []string{"whole"}, want: "it is broken"},
		{name: "an edit", edits: 1, want: "more edits came later"},
	} {
		e := &Editor{}
		p := &play{requests: requests{editor: e}, claims: claims{matched: []string{"broken"}}} // by a line before
		for _, err := range []error{p.no([]string{"message", "broken"}), p.editsAre([]string{"0"})} {
			if err != nil {
				t.Fatalf("%s: %v", test.name, err)
			}
		}
		if test.said != "" {
			e.messages = append(e.messages, Message{Method: "window/showMessage", Text: test.said})
		}
		e.applied = make([]EditAnswer, test.edits)
		p.matched = append(p.matched, test.matched...)
		if got := strings.Join(p.stillUnsaid(), "; "); !strings.Contains(got, test.want) ||
			(got == "") != (test.want == "") {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}
