package agentcore_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/agentcore/tool"
)

type sayArguments struct {
	Size int    `json:"size,omitempty"`
	Fail bool   `json:"fail,omitempty"`
	Hang bool   `json:"hang,omitempty"`
	Mark string `json:"mark,omitempty"`
}

// say is a tool that says as much as it is asked for, with a secret in the middle of it.
func say(secret string) tool.Tool {
	return tool.New(tool.Definition[sayArguments, any]{
		Access: tool.Internal[sayArguments],
		Name:   "say", Description: "A tool of a test.", Effect: tool.Reads,
		Title: func(sayArguments) string { return "say" },
		Run: func(ctx context.Context, _ any, a sayArguments) (tool.Result, error) {
			if a.Hang {
				<-ctx.Done()
				return tool.Result{}, ctx.Err()
			}
			text := a.Mark + "begin\n" + strings.Repeat("line\n", a.Size/10) + secret + "\n" + strings.Repeat("line\n",
				a.Size/10) + "end\n"
			if a.Fail {
				return tool.Result{}, fmt.Errorf("it failed: %s", text)
			}
			return tool.Result{Text: text}, nil
		},
	})
}

// TestLongOutputIsKept: whatever a tool says, its answer is bounded, and the whole can be read.
func TestLongOutputIsKept(t *testing.T) {
	const secret = "ghp_a1B2c3a1B2c3a1B2c3a1B2c3a1B2c3a1B2c3"
	w := newWorld(t, map[string]string{"a.txt": "one\n"})
	bounded := func(most int) script.Expect {
		return func(request *model.Request) error {
			for _, part := range request.Messages[len(request.Messages)-1].Parts {
				if result, ok := part.(model.Result); ok &&
					(len(result.Text) > most+400 || strings.Contains(result.Text, secret)) {
					return fmt.Errorf("a result has %d bytes, or the secret", len(result.Text))
				}
			}
			return nil
		}
	}
	w.with(script.New("test",
		script.Turn{
			Match: "Go.",
			Answer: []script.Step{
				call("say", `{"size":300000}`), call("say", `{"size":200000,"fail":true}`),
				call("say", `{"size":100}`),
			},
		},
		script.Turn{
			Match: "Go.",
			Expect: []script.Expect{
				bounded(64 << 10), script.Last("begin\nline\n"),
				script.Last("bytes left out here; the whole output, 300"),
				script.Last("see parts of it with read]"), script.Last("line\nend\n"),
				script.Last("error: it failed: begin"), script.Last("[secret "),
			},
			Answer: []script.Step{script.Text("Kept.")},
		},
		script.Turn{
			Match: "Small.",
			Answer: []script.Step{
				call("say", `{"size":3000}`), call("say", `{"size":3000,"mark":"own "}`),
				call("say", `{"hang":true}`),
			},
		},
		script.Turn{
			Match: "Small.",
			Expect: []script.Expect{
				bounded(1000), script.Last("default begin"), script.Last("own begin"),
				script.Last("bytes left out here"),
				script.Last("error: the call took longer than 50ms, which is what terse allows for say"),
			},
			Answer: []script.Step{script.Text("Cut.")},
		},
	), func(o *agentcore.Options) { o.Tools = append(tool.Builtin(), say(secret)) }, &agent.Definition{
		Slug: "terse", Categories: []agent.Category{agent.Primary}, Mode: agent.Agentic,
		Instruction: agent.Instruction{Prompt: "You do."},
		ToolOptions: map[string]agent.ToolOptions{"say": {
			OutputLimit: 1000, Timeout: 50 * time.Millisecond,
			Arguments: json.RawMessage(`{"mark":"default "}`),
		}},
	})
	if result := w.wait(w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})); result.Output != "Kept." {
		t.Errorf("got %+v", result)
	}
	files, err := filepath.Glob(filepath.Join(w.state, "outputs", "*.txt"))
	if err != nil || len(files) != 2 {
		t.Fatalf("kept are %v: %v", files, err)
	}
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(file)
		if err != nil || info.Mode().Perm() != 0o600 || bytes.Contains(data, []byte(secret)) ||
			!bytes.Contains(data, []byte("begin\n")) || !bytes.HasSuffix(data, []byte("line\nend\n")) {
			t.Errorf("%s has the mode %v, %d bytes, %v", file, info.Mode(), len(data), err)
		}
	}
	if result := w.wait(w.start(agentcore.RunRequest{Agent: "terse", Prompt: "Small."})); result.Output != "Cut." {
		t.Errorf("got %+v", result)
	}
}

// TestKeptOutputIsRead: the path that the model is told leads to the whole output, by read.
func TestKeptOutputIsRead(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "one\n"})
	turns, err := script.Parse("test", `turn
call say {"size": 300000}
turn
capture path is in (\S+), see parts
call read {"path": "${path}", "offset": 20000, "limit": 2}
turn
expect result read "20000\tline"
expect result read "of 60003; read on with offset 20002"
text Read.
`)
	if err != nil {
		t.Fatal(err)
	}
	w.with(turns, func(o *agentcore.Options) { o.Tools = append(tool.Builtin(), say("x")) })
	if result := w.wait(w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})); result.Output != "Read." {
		t.Errorf("got %+v", result)
	}
}

// TestImages: an image goes to the model with its bytes, is stored once beside the database, and is there for a later
// process as long as it is kept.
func TestImages(t *testing.T) {
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 40, 30))); err != nil {
		t.Fatal(err)
	}
	sees := func(want int) script.Expect {
		return func(request *model.Request) error {
			n := 0
			for _, m := range request.Messages {
				for _, part := range m.Parts {
					if result, ok := part.(model.Result); ok {
						for _, i := range result.Images {
							if i.MediaType != "image/png" || i.Width != 40 || !bytes.Equal(i.Data, picture.Bytes()) {
								return fmt.Errorf("the image is %+v", i)
							}
							n++
						}
					}
				}
			}
			if n != want {
				return fmt.Errorf("the model sees %d images, want %d", n, want)
			}
			return nil
		}
	}
	w := newWorld(
		t, map[string]string{"a.png": picture.String()},
		script.Turn{Answer: []script.Step{call("read", `{"path":"a.png"}`), call("read", `{"path":"a.png"}`)}},
		script.Turn{
			Expect: []script.Expect{
				sees(2),
				script.Result("read", "a.png: This is an image: image/png, 40 × 30 pixels"),
			}, Answer: []script.Step{
				script.Text("I see it."),
			},
		},
	)
	first := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Look."})
	w.wait(first)
	files, err := filepath.Glob(filepath.Join(w.state, "outputs", "*.png"))
	if err != nil || len(files) != 1 || !strings.Contains(files[0], string(first)) {
		t.Fatalf("kept are %v: %v", files, err)
	}
	again := func(want int, said string) {
		w.close()
		w.model = script.New("test",
			script.Turn{Expect: []script.Expect{sees(want), script.Last("Again."), func(request *model.Request) error {
				for _, m := range request.Messages {
					for _, part := range m.Parts {
						if result, ok := part.(model.Result); ok && !strings.Contains(result.Text, said) {
							return fmt.Errorf("a result says %q", result.Text)
						}
					}
				}
				return nil
			}}, Answer: []script.Step{script.Text("Done.")}})
		w.open()
		id, err := w.session.Resume(w.ctx, first, "Again.")
		if err != nil {
			t.Fatal(err)
		}
		if result := w.wait(id); result.Status != event.StatusCompleted {
			t.Errorf("got %+v", result)
		}
	}
	again(2, "This is an image")
	if err := os.Remove(files[0]); err != nil {
		t.Fatal(err)
	}
	again(0, "the image is kept no more")
}
