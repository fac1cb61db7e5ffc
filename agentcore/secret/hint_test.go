package secret

import (
	"strings"
	"testing"
)

var plainTexts = map[string]string{
	"short": "Read the lines 1-5 of a.go",
	"code": strings.Repeat("// A line of a file that is read again and again, sketchy github gloss hf.\nfunc ask(x int) {}\n",
		50),
}

// Every beginning of a token is found wherever it stands, and none where there is none.
func TestHinted(t *testing.T) {
	for _, hint := range begins() {
		if len(hint) < 3 {
			t.Errorf("%q has not three bytes", hint)
		}
		for _, text := range []string{hint, "x" + hint, hint + "x", "-----" + hint, hint[:2] + hint, "é" + hint + "é"} {
			if !hinted(text) {
				t.Errorf("%q may hold a token", text)
			}
		}
		if text := hint[:2]; hinted(text) || hinted(strings.Repeat(text[:1], 9)+text[1:]) {
			t.Errorf("%q cannot hold a token", text)
		}
	}
	for name, text := range plainTexts {
		if hinted(text) {
			t.Errorf("the text %s cannot hold a token", name)
		}
	}
}

func BenchmarkHinted(b *testing.B) {
	for name, text := range plainTexts {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if hinted(text) {
					b.Fatal("a text without a token looks like one")
				}
			}
		})
	}
}
