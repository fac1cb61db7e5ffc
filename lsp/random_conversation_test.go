package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"go.lsp.dev/uri"

	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/lsp/conversation"
	"github.com/agentls/agentls/lsp/lsptest"
	"github.com/agentls/agentls/lsp/methods"
)

// TestRandomConversation lets a user type anywhere in a conversation while its answers stream in, send and steer, and
// an editor refuse edits or leave them out. Nothing that was typed is lost or comes twice, and an answer in which the
// user did not type is there whole, once, and in order.
func TestRandomConversation(t *testing.T) {
	count := 8
	switch {
	case *randomSeeds > 0:
		count = *randomSeeds
	case os.Getenv("AGENTLS_SOAK") != "":
		count = 1000
	case testing.Short():
		count = 3
	}
	typed, compared := 0, 0
	for n := range count {
		seed := *randomSeed + uint64(n)
		talk := &talk{rng: rand.New(rand.NewPCG(seed, 0)), polite: n%2 == 0}
		if err := talk.play(t); err != nil {
			text, _, textErr := talk.editor.Text(talkFile)
			t.Fatalf("seed %d: %v\n%s\n%s\n%v", seed, err, strings.Join(talk.log, "\n"), text, textErr)
		}
		typed, compared = typed+len(talk.typed), compared+len(talk.runs)-len(talk.touched)
	}
	if t.Logf("%d words were typed, %d answers compared", typed, compared); typed < count || compared < count {
		t.Error("too little happened")
	}
}

const (
	talkFile  = "talk" + conversation.Suffix
	talkTurns = 5 // requests to the model for each prompt
)

// talk is one seed.
type talk struct {
	rng    *rand.Rand
	editor *lsptest.Editor
	script *script.Script
	log    []string
	typed  []string
	// runs are those of the prompts, said the words of each, and touched are those into whose answers the user typed.
	runs    []string
	said    [][]string
	touched map[string]bool
	// polite users type into no answer, so that all of these are compared however fast they come.
	polite bool
}

func (k *talk) logf(format string, args ...any) { k.log = append(k.log, fmt.Sprintf(format, args...)) }

// play plays it from a new server to its end.
func (k *talk) play(t *testing.T) (err error) {
	ctx, cancel := context.WithTimeoutCause(t.Context(), 2*time.Minute, errors.New("the watchdog"))
	defer cancel()
	root, state := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{"a.txt": "a\n", talkFile: "# Talk\n\n## You\n\n"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	const prompts = 3
	k.touched = map[string]bool{}
	k.script = script.New("talk", k.turns(prompts)...)
	profile, err := lsptest.LoadProfile([]string{"rich", "neovim", "helix"}[k.rng.IntN(3)])
	if err != nil {
		return err
	}
	process := lsptest.Serve(func(ctx context.Context, in io.ReadCloser, out io.WriteCloser) (int, error) {
		return newServer(ctx, in, out, Options{
			Version: "test", Getenv: func(string) string { return "" }, Dirs: config.Dirs{Config: state, State: state},
			Logger:    slog.New(slog.DiscardHandler),
			OpenModel: func(provider.Choice) (model.Model, error) { return k.script, nil },
		}).serve(ctx)
	})
	k.editor = lsptest.NewEditor(process.Stream, lsptest.EditorOptions{Root: root, Profile: profile, Foreign: state})
	k.logf("profile %s", profile.Name)
	if err := k.editor.Initialize(ctx); err != nil {
		return err
	}
	defer func() {
		process.Kill()
		_, waited := process.Wait()
		err = errors.Join(err, waited, k.editor.Close())
	}()
	if err := k.editor.Open(talkFile); err != nil {
		return err
	}
	for n := range prompts {
		if err := k.prompt(ctx, n); err != nil {
			return err
		}
	}
	if err := k.script.Check(); err != nil {
		return err
	}
	return errors.Join(k.check(), k.editor.Shutdown(ctx))
}

// turns are the answers of the model: words, and calls, behind a gate each.
func (k *talk) turns(prompts int) []script.Turn {
	var list []script.Turn
	for p := range prompts {
		var said []string
		for n := range talkTurns {
			turn := script.Turn{Chunk: 1 + k.rng.IntN(9)}
			turn.Answer = append(turn.Answer, script.Gate(fmt.Sprintf("%d.%d", p, n)))
			var words []string
			for w := range 1 + k.rng.IntN(30) {
				word := fmt.Sprintf("w%d.%d.%d.", p, n, w)
				said = append(said, word)
				words = append(words, word+pick(k.rng, []string{"", "\n", "\n\n", " é😀"}))
			}
			turn.Answer = append(turn.Answer, script.Text(strings.Join(words, " ")))
			if n < talkTurns-1 {
				turn.Answer = append(turn.Answer, script.Call{Name: "read", Arguments: `{"path": "a.txt"}`})
			}
			list = append(list, turn)
		}
		k.said = append(k.said, said)
	}
	return list
}

// prompt sends a prompt, types while it is answered, and waits for the end of the answer.
func (k *talk) prompt(ctx context.Context, n int) error {
	run, err := k.send(ctx, fmt.Sprintf("prompt%d", n))
	if err != nil {
		return err
	}
	k.runs = append(k.runs, string(run))
	for turn := range talkTurns {
		if err := k.types(k.rng.IntN(4)); err != nil {
			return err
		}
		k.logf("release %d.%d", n, turn)
		k.script.Release(fmt.Sprintf("%d.%d", n, turn))
		if err := k.types(k.rng.IntN(6)); err != nil {
			return err
		}
		last := fmt.Sprintf("w%d.%d.0.", n, turn)
		if turn == talkTurns-1 || k.rng.IntN(2) == 0 {
			if err := k.editor.Until(ctx, last, func() bool { return k.has(last) }); err != nil {
				return err
			}
		}
		if turn < talkTurns-2 && k.rng.IntN(3) == 0 {
			if _, err := k.send(ctx, fmt.Sprintf("steer%d.%d", n, turn)); err != nil {
				return err
			}
		}
	}
	_, err = k.editor.Call(ctx, "agent/wait", methods.WaitParams{Run: run})
	return err
}

func (k *talk) has(piece string) bool {
	text, _, err := k.editor.Text(talkFile)
	return err == nil && strings.Contains(text, piece)
}

// send writes a prompt below the last heading, and sends it.
func (k *talk) send(ctx context.Context, word string) (run event.RunID, err error) {
	k.typed = append(k.typed, word)
	if err := k.editor.Revise(talkFile, func(text string) []lsptest.Replacement {
		return []lsptest.Replacement{{Start: len(text), End: len(text), Text: word}}
	}); err != nil {
		return "", err
	}
	answer, err := k.editor.Call(ctx, methods.MethodSendPrompt, methods.SendPromptParams{
		URI: uri.URI(k.editor.URI(talkFile)),
	})
	if err != nil {
		return "", err
	}
	var sent methods.SentPrompt
	if err := json.Unmarshal(answer, &sent); err != nil {
		return "", err
	}
	k.logf("sent %s: %s", word, answer)
	return sent.Run, k.editor.Until(ctx, "the heading of "+word, func() bool {
		text, _, err := k.editor.Text(talkFile)
		if err != nil {
			return false
		}
		at := strings.Index(text, word)
		return strings.Contains(text[at:], "<!-- agentls:"+string(sent.Run))
	})
}

// types types words anywhere but into headings.
func (k *talk) types(n int) error {
	for range n {
		if err := k.editor.Revise(talkFile, func(text string) []lsptest.Replacement {
			parsed := conversation.Parse(text)
			turn := parsed.Turns[k.rng.IntN(len(parsed.Turns))]
			if k.polite && turn.Run != "" {
				return nil
			}
			at := turn.Body.Start + k.rng.IntN(turn.Body.End-turn.Body.Start+1)
			at = snap(text, at, false)
			before, _ := utf8.DecodeLastRuneInString(text[:at])
			if at == turn.Body.End && at < len(text) || !unicode.IsSpace(before) && before != '»' {
				return nil // before a heading, or within a word
			}
			word := fmt.Sprintf("«%d»", len(k.typed))
			k.typed = append(k.typed, word)
			if turn.Run != "" {
				k.touched[string(turn.Run)] = true
			}
			k.logf("type %s at %d", word, at)
			return []lsptest.Replacement{{Start: at, End: at, Text: word}}
		}); err != nil {
			return err
		}
	}
	return nil
}

// check looks at the document of the end.
func (k *talk) check() error {
	text, _, err := k.editor.Text(talkFile)
	if err != nil {
		return err
	}
	for _, word := range k.typed {
		if n := strings.Count(text, word); n != 1 {
			return fmt.Errorf("what was typed, %s, is there %d times", word, n)
		}
	}
	for n, run := range k.runs {
		if k.touched[run] {
			continue
		}
		rest := text
		for _, word := range k.said[n] {
			_, behind, there := strings.Cut(rest, word)
			if !there || strings.Count(text, word) != 1 {
				return fmt.Errorf("of the answer to prompt%d, %q is there %d times, or not in its place",
					n, word, strings.Count(text, word))
			}
			rest = behind
		}
	}
	return nil
}
