package main

import (
	"encoding/json"
	"testing"
	"unicode/utf8"
)

func TestVisible(t *testing.T) {
	for text, want := range map[string]string{
		"plain\ttext\n":            "plain\ttext\n",
		"größe 日本 👩‍🚀 \uFFFD":      "größe 日本 👩‍🚀 \uFFFD",
		"\x1b[31m\a\x7f":           `\x1b[31m\x07\x7f`,
		"a\rb\u0085":               `a\rb\x85`,
		"\u202e\u2066\u200f\u061c": `\u202e\u2066\u200f\u061c`,
		"\u2028\ufeff\u00ad\u200b": `\u2028\ufeff\xad\u200b`,
		"\U000e0041":               `\U000e0041`,
		"a\xffb\xc3":               `a\xffb\xc3`,
	} {
		if got := visible(text); got != want {
			t.Errorf("visible(%q) = %q, want %q", text, got, want)
		}
	}
}

func FuzzVisible(f *testing.F) {
	f.Add("\x1b]8;;x\a\u202e\xff\U000e0041\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		shown := visible(text)
		if !utf8.ValidString(shown) {
			t.Errorf("visible(%q) is no UTF-8: %q", text, shown)
		}
		for _, r := range shown {
			if hidden(r) {
				t.Errorf("visible(%q) still has %U", text, r)
			}
		}
		raw, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		var want, got string
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(visibleJSON(raw)), &got); err != nil || got != want {
			t.Errorf("visibleJSON changed %q to %q (%v)", want, got, err)
		}
	})
}

func TestFit(t *testing.T) {
	for _, test := range []struct {
		text  string
		width int
		want  string
	}{
		{"short", 10, "short"},
		{"exactly", 7, "exactly"},
		{"too long", 4, "too…"},
		{"日本語", 6, "日本語"},
		{"日本語", 5, "日本…"},
		{"日本語", 4, "日…"},
		{"e\u0301e\u0301e\u0301", 2, "e\u0301…"},
		{"x", 0, ""},
	} {
		if got := fit(test.text, test.width); got != test.want {
			t.Errorf("fit(%q, %d) = %q, want %q", test.text, test.width, got, test.want)
		}
	}
}

func TestDidYouMean(t *testing.T) {
	known := []string{"review", "run", "serve", "agents"}
	for word, want := range map[string]string{
		"reveiw": ", did you mean review?",
		"rev":    ", did you mean review?",
		"agent":  ", did you mean agents?",
		"sreve":  ", did you mean serve?",
		"xyz":    "",
		"":       "",
	} {
		if got := didYouMean(word, known); got != want {
			t.Errorf("didYouMean(%q) = %q, want %q", word, got, want)
		}
	}
}
