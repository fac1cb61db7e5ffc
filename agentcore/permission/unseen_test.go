package permission

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"
)

func TestUnseen(t *testing.T) {
	flag := flags[0]
	for text, want := range map[string]string{
		"plain text\n\twith\r\nlines": "", "": "", "\ufeffbom in front": "", "later \ufeff": "[6 9]",
		"👩\u200d💻 ❤\ufe0f\u200d🔥 1\ufe0f\u20e3 ©\ufe0f": "", "می\u200cخواهم क्\u200dष": "", "葛\U000e0100城": "",
		"ᠠ\u180b": "", flag + flags[1] + flags[2]: "",
		"Do.\U000e0052\U000e0075\U000e006e": "[3 15]", flag + "\U000e0052": "[28 32]",
		"🏴\U000e0067\U000e0062":   "[4 12]",
		"safe \u202e elif \u202c": "[5 8][14 17]", "a\u200bb": "[1 4]", "a\u200db": "[1 4]", "a\u200b\u200d": "[1 7]",
		"a\ufe0f\u200d": "[1 7]", "क\u200d\u200c\u200d": "[6 12]", "\u2066x\u2069": "[0 3][4 7]",
		"back\bspace": "[4 5]", "😀\ufe0f\ufe01\ufe02": "[7 13]", "😀\U000e0101\U000e0102": "[4 12]", " \ufe0f": "[1 4]",
		"soft\u00adhyphen": "[4 6]", "blank\u3164": "[5 8]", "\ue000": "[0 3]",
		"left\u200eright\u061c": "[4 7][12 14]", "\u0600 1": "",
	} {
		got, count := "", 0
		for start, end := range Unseen(text) {
			got += fmt.Sprintf("[%d %d]", start, end)
			count += utf8.RuneCountInString(text[start:end])
		}
		if got != want {
			t.Errorf("%+q: %s, want %s", text, got, want)
		}
		if n := CountUnseen(text); n != count {
			t.Errorf("%+q: counted %d", text, n)
		}
		for range Unseen(text) {
			break // who has seen enough may stop
		}
		seen := Seen(text)
		for range Unseen(seen) {
			t.Errorf("%+q: something unseen is left: %+q", text, seen)
			break
		}
	}
	if got := Seen("\U000e0052Do \u200bit\u202e."); got != "Do it." {
		t.Errorf("got %+q", got)
	}
}

// TestActorsTellWhatIsUnseen: who is asked to trust a file is told what he cannot see in it. What is no text has none.
func TestActorsTellWhatIsUnseen(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"clean.md": "Do.\n", "hidden.md": "Do.\U000e0052\U000e0075\n",
		"picture.png": "\x89PNG\r\n\x1a\n\x00\x01", "zero.md": "a\x00\u200b",
	} {
		if err := os.MkdirAll(filepath.Join(dir, ".agentls", "agents"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, ".agentls", "agents", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	actors, err := Actors(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, a := range actors {
		got += fmt.Sprintf("%s %d\n", filepath.Base(a.Path), a.Unseen)
	}
	if want := "clean.md 0\nhidden.md 2\npicture.png 0\nzero.md 0\n"; got != want {
		t.Errorf("got %q", got)
	}
}

func FuzzSeen(f *testing.F) {
	for _, seed := range []string{"a\u200db", "😀\ufe0f\ufe01", "\xff\u200b\xfe", "क\u200bष\u200d", "\u200b\ufeff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		before := 0
		for start, end := range Unseen(text) {
			if start < before || end <= start || end > len(text) || !utf8.RuneStart(text[start]) {
				t.Fatalf("%+q: a part from %d to %d behind %d", text, start, end, before)
			}
			before = end
		}
		if seen := Seen(text); CountUnseen(seen) > 0 || !utf8.ValidString(seen) || utf8.ValidString(text) &&
			len(seen) > len(text) {
			t.Fatalf("%+q became %+q", text, seen)
		}
	})
}

// Nearly all texts of events are plain, and many events come in each turn.
func TestPlainTextCostsNothing(t *testing.T) {
	const text = "Read the lines 1-5 of a.go: 12 KB (~3%), {ok}"
	if n := testing.AllocsPerRun(100, func() {
		if LegibleLine(text) != text || Legible(text) != text {
			t.Errorf("%q is shown as %q", text, LegibleLine(text))
		}
	}); n > 0 {
		t.Errorf("a plain text takes %v allocations", n)
	}
}

func TestLegibleAndQuoted(t *testing.T) {
	for text, want := range map[string]string{
		"plain ⚠️ 👩‍💻 x\ty\nz": "plain ⚠️ 👩‍💻 x\ty\nz", "a\x1b[1mb": `a\x1b[1mb`,
		"\u2066x\u200by\U000e0041": `\u2066x\u200by\U000e0041`,
	} {
		if got := Legible(text); got != want {
			t.Errorf("%q is shown as %q", text, got)
		}
	}
	if got := LegibleLine("a\nb\rc\td"); got != `a\nb\rc\td` {
		t.Errorf("the line is %q", got)
	}
	for name, want := range map[string]string{
		"a b.txt": "a b.txt", `a"b`: `a"b`, `"a"`: `"\"a\""`, "a\nb": `"a\nb"`, "a\\\nb": `"a\\\nb"`,
		"a\xffb": `"a\xffb"`, "\u3164": `"\u3164"`, "": "",
	} {
		got := Quoted(name)
		if got != want || Unquoted(got) != name {
			t.Errorf("%q is quoted as %s, which is %q", name, got, Unquoted(got))
		}
	}
}
