package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/agentls/agentls/agentcore/secret"
)

// TestTypedLine types keys, as GNU readline understands them, and looks where the cursor is: in front of the |.
func TestTypedLine(t *testing.T) {
	for keys, want := range map[string]string{
		"a b c":                           "abc|",
		"日 本 left backspace x":            "x|本",
		"e \u0301 left":                   "|e\u0301",
		"e \u0301 backspace":              "|",
		"one␣two ctrl+a X end Y":          "Xone twoY|",
		"one␣two alt+b X":                 "one X|two",
		"one␣two home alt+f X":            "oneX| two",
		"one␣a/b.c ctrl+w":                "one |",
		"one␣a/b.c alt+backspace":         "one a/b.|",
		"one␣two ctrl+w ctrl+y ctrl+y":    "one twotwo|",
		"one␣two home alt+d":              "| two",
		"one␣two left left ctrl+k":        "one t|",
		"one␣two left left ctrl+u":        "|wo",
		"ab left delete":                  "a|",
		"left right delete backspace":     "|",
		"ab alt+enter cd up X":            "abX|\ncd",
		"abc ctrl+j d up home down X":     "abc\nX|d",
		"abcd alt+enter e left up X":      "X|abcd\ne",
		"abcd alt+enter ef up end down":   "abcd\nef|",
		"up":                              "last|",
		"up up":                           "first\nlines|",
		"up up up up":                     "first|\nlines",
		"draft up down":                   "draft|",
		"draft up up up down down down":   "draft|",
		"down":                            "|",
		"up X down up":                    "last|",
		"ab ctrl+x f5":                    "ab|",
		"ab alt+enter cd ctrl+u ctrl+k":   "ab\n|",
		"👍🏽 👩‍👩‍👧 left left x":            "x|👍🏽👩‍👩‍👧",
		"a\r\nb":                          "a\nb|",
		"\xff":                            "\ufffd|",
		"ab ctrl+left c ctrl+right d":     "cabd|",
		"one␣two home ctrl+delete ctrl+y": "one| two",
	} {
		l := typedLine{past: []string{"first\nlines", "last"}}
		for key := range strings.SplitSeq(keys, " ") {
			if !l.press(key) && !strings.HasPrefix(key, "f5") && key != "ctrl+x" {
				l.insert(strings.ReplaceAll(key, "␣", " "))
			}
		}
		got := strings.Join(l.chars[:l.at], "") + "|" + strings.Join(l.chars[l.at:], "")
		if got != want {
			t.Errorf("%s: %q, want %q", keys, got, want)
		}
	}
}

// TestTypedLineLaidOut breaks lines at the width, whatever the characters take, and knows where the cursor is.
func TestTypedLineLaidOut(t *testing.T) {
	for _, test := range []struct {
		text string
		at   int
		rows []string
		x, y int
	}{
		{"", 0, []string{"> "}, 2, 0},
		{"abc", 3, []string{"> abc"}, 5, 0},
		{"abcd", 4, []string{"> abcd", "  "}, 2, 1},
		{"abcd", 3, []string{"> abcd"}, 5, 0},
		{"abcde", 4, []string{"> abcd", "  e"}, 2, 1},
		{"日本語", 3, []string{"> 日本", "  語"}, 4, 1},
		{"a日本", 2, []string{"> a日", "  本"}, 2, 1},
		{"a\nb", 2, []string{"> a", "  b"}, 2, 1},
		{"a\n", 2, []string{"> a", "  "}, 2, 1},
		{"\x1b", 1, []string{`> \x1b`, "  "}, 2, 1},
	} {
		l := typedLine{}
		l.set(test.text)
		l.at = test.at
		rows, x, y := l.layOut("> ", 6)
		if !slices.Equal(rows, test.rows) || x != test.x || y != test.y {
			t.Errorf("%q at %d: %q, %d, %d; want %q, %d, %d", test.text, test.at, rows, x, y, test.rows, test.x, test.y)
		}
	}
}

// pressed is a screen that keys were pressed on: names of keys, or texts in quotes.
func pressed(t *testing.T, m *screenModel, keys ...string) {
	t.Helper()
	codes := map[string]tea.KeyPressMsg{
		"enter": {Code: tea.KeyEnter}, "tab": {Code: tea.KeyTab}, "shift+tab": {Code: tea.KeyTab, Mod: tea.ModShift},
		"ctrl+c": {Code: 'c', Mod: tea.ModCtrl}, "ctrl+d": {Code: 'd', Mod: tea.ModCtrl}, "up": {Code: tea.KeyUp},
		"esc": {Code: tea.KeyEscape},
	}
	for _, key := range keys {
		message, ok := codes[key]
		if !ok {
			message = tea.KeyPressMsg{Code: []rune(key)[0], Text: key}
		}
		if _, command := m.Update(message); command != nil {
			m.Update(command())
		}
	}
}

func newScreenModel(complete func(context.Context, string, int) []completion) *screenModel {
	return &screenModel{
		terminal: &screenTerminal{entries: make(chan entry, 8)}, ctx: context.Background(), complete: complete,
		width: 40, height: 12, paint: painter(false), showing: showing{sign: "> "},
	}
}

// TestScreenKeys: enter sends what is no blank, ctrl-c clears before it stops, ctrl-d leaves an empty line only, and
// nothing that is pasted is sent by itself.
func TestScreenKeys(t *testing.T) {
	m := newScreenModel(nil)
	expect := func(want ...entry) {
		t.Helper()
		var got []entry
		for len(m.terminal.entries) > 0 {
			got = append(got, <-m.terminal.entries)
		}
		if !slices.Equal(got, want) {
			t.Errorf("sent is %v, want %v", got, want)
		}
	}
	pressed(t, m, "enter", " ", "enter")
	expect()
	pressed(t, m, "h", "i", "enter")
	expect(entry{entered, "hi"})
	pressed(t, m, "a", "ctrl+c")
	expect()
	pressed(t, m, "ctrl+c", "a", "ctrl+d", "ctrl+c", "ctrl+d")
	expect(entry{kind: stopped}, entry{kind: left})
	m.Update(tea.PasteMsg{Content: "one\r\ntwo\rthree\n"})
	expect()
	pressed(t, m, "enter")
	expect(entry{entered, "one\ntwo\nthree\n"})
	m.Update(showing{sign: "? ", passing: true})
	pressed(t, m, "2", "enter", "up")
	expect(entry{entered, "2"})
	if got := m.line.text(); got != "one\ntwo\nthree\n" {
		t.Errorf("an answer is brought back: %q", got)
	}
}

// TestScreenFits draws no more rows than the terminal has, and none wider, with the cursor among them.
func TestScreenFits(t *testing.T) {
	m := newScreenModel(nil)
	m.Update(showing{
		live: strings.Split(strings.Repeat("live\n", 30), "\n"), sign: "> ", hint: strings.Repeat("hint ", 30),
	})
	for _, text := range []string{"", strings.Repeat("日本語 ", 200), strings.Repeat("line\n", 50)} {
		m.line.set(text)
		m.menu, m.chosen = make([]completion, 30), 20
		for height := 4; height < 20; height++ {
			m.Update(tea.WindowSizeMsg{Width: 2 * height, Height: height})
			v := m.View()
			rows := strings.Split(v.Content, "\n")
			if len(rows) > height || v.Cursor.Y >= len(rows) || v.Cursor.X >= 2*height {
				t.Errorf("%d rows, the cursor at %v, of %d", len(rows), v.Cursor.Position, height)
			}
			for _, row := range rows {
				if got := ansi.StringWidth(row); got > 2*height {
					t.Errorf("a row has %d columns of %d: %q", got, 2*height, row)
				}
			}
		}
	}
}

// TestScreenCompletes puts the only completion in, or what all have in common, and goes through them.
func TestScreenCompletes(t *testing.T) {
	names := []string{"@lib/one.go ", "@lib/only.go ", "@lib/日本.go ", "@Main.go ", "@lib/日没.go "}
	complete := func(_ context.Context, text string, at int) []completion {
		begin := strings.LastIndexByte(text[:at], ' ') + 1
		word := strings.ToLower(strings.TrimPrefix(text[begin:at], "@"))
		var list []completion
		for _, name := range names {
			if strings.Contains(strings.ToLower(name), word) {
				list = append(list, completion{begin, at, name, ""})
			}
		}
		return list
	}
	for _, test := range []struct{ typed, keys, want, menu string }{
		{"see @m", "tab", "see @Main.go ", ""},
		{"see @lib/o", "tab", "see @lib/on", "@lib/one.go @lib/only.go"},
		{"see @lib/o", "tab tab", "see @lib/one.go ", "@lib/one.go @lib/only.go"},
		{"see @lib/o", "tab tab tab", "see @lib/only.go ", "@lib/one.go @lib/only.go"},
		{"see @lib/o", "tab tab tab tab", "see @lib/one.go ", "@lib/one.go @lib/only.go"},
		{"see @lib/o", "tab shift+tab", "see @lib/only.go ", "@lib/one.go @lib/only.go"},
		{"see @lib/o", "tab tab esc", "see @lib/one.go ", ""},
		{"see @lib/日", "tab", "see @lib/日", "@lib/日本.go @lib/日没.go"},
		{"see @on", "tab", "see @on", "@lib/one.go @lib/only.go"}, // as they contain it, and do not begin with it
		{"see @on", "tab tab", "see @lib/one.go ", "@lib/one.go @lib/only.go"},
		{"see @nothing", "tab", "see @nothing", ""},
	} {
		m := newScreenModel(complete)
		m.line.set(test.typed)
		pressed(t, m, strings.Fields(test.keys)...)
		var menu []string
		for _, one := range m.menu {
			menu = append(menu, strings.TrimSpace(one.text))
		}
		if m.line.text() != test.want || strings.Join(menu, " ") != test.menu {
			t.Errorf("%s %s: %q, %q; want %q, %q", test.typed, test.keys, m.line.text(), menu, test.want, test.menu)
		}
	}
}

// TestTypedLines keeps lines for the user alone, without secrets, and not more than are wanted.
func TestTypedLines(t *testing.T) {
	hidden := &secret.Redactor{}
	hidden.Add("KEY", "s3cr3t-value-of-mine")
	kept := typedLines{filepath.Join(t.TempDir(), "chat_history"), hidden}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	read := func() []string {
		t.Helper()
		lines, err := kept.read()
		must(err)
		return lines
	}
	if lines := read(); len(lines) != 0 {
		t.Errorf("there are %q", lines)
	}
	must(kept.add("one\nline"))
	must(kept.add("use s3cr3t-value-of-mine"))
	if lines := read(); len(lines) != 2 || lines[0] != "one\nline" || strings.Contains(lines[1], "s3cr3t") {
		t.Errorf("kept is %q", lines)
	}
	data, err := os.ReadFile(kept.path)
	must(err)
	info, err := os.Stat(kept.path)
	must(err)
	if bytes.Contains(data, []byte("s3cr3t")) || info.Mode().Perm() != 0o600 {
		t.Errorf("%s %q", info.Mode(), data)
	}
	must(os.WriteFile(kept.path, append(data, "broken\n\"whole\"\n\"cut"...), 0o600))
	if lines := read(); len(lines) != 3 || lines[2] != "whole" {
		t.Errorf("of a damaged file %q are read", lines)
	}
	for i := range maxTyped + 20 {
		must(kept.add(fmt.Sprintf("line %d %s", i, strings.Repeat("x", 1000))))
	}
	lines := read()
	last := fmt.Sprintf("line %d ", maxTyped+19)
	if len(lines) > maxTypedBytes/1000 || !strings.HasPrefix(lines[len(lines)-1], last) {
		t.Errorf("%d lines are kept, up to %.20q", len(lines), lines[len(lines)-1])
	}
	info, err = os.Stat(kept.path)
	if err != nil || info.Size() > maxTypedBytes+10_000 || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info.Size(), err)
	}
	if again := read(); !slices.Equal(again, lines) {
		t.Error("what was cut is read in another way")
	}
}
