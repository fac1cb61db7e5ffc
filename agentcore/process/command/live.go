package command

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/process"
	"github.com/agentls/agentls/agentcore/sandbox"
)

// Live starts a program in a box of its own, which goes with it. ending says how it ended, of what it wrote to its
// standard error; the error is that it could not be waited for.
func Live(ctx context.Context, o sandbox.Options, c sandbox.Command,
	ending func(exit process.Exit, words []byte, err error) string,
) (*process.Live, error) {
	box, err := sandbox.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	p, err := process.NewPipes()
	if err != nil {
		return nil, errors.Join(err, box.Close())
	}
	c.Input, c.Output, c.Live = p.ChildIn, p.ChildOut, true
	started, err := box.Start(ctx, c)
	if err := p.Given(err); err != nil {
		return nil, errors.Join(err, box.Close())
	}
	wait := func() string {
		<-started.Done() // it was killed, or has ended
		result, err := started.Wait(context.Background())
		words, _ := started.Output(0)
		how := ending(process.Exit{Code: result.Exit, Signal: result.Signal}, words, err)
		if err := box.Close(); err != nil {
			how += "; " + err.Error()
		}
		return how
	}
	return &process.Live{In: p.In, Out: p.Out, Kill: started.Kill, Wait: wait}, nil
}

// maxWords is how much of what a live program without a sandbox writes to its standard error is kept, in bytes.
const maxWords = 32 << 10

// LiveDirect is [Live] for a program that runs as the user would run it, where there is no sandbox.
func LiveDirect(program process.Program, ending func(exit process.Exit, words []byte, err error) string,
) (*process.Live, error) {
	p, err := process.NewPipes()
	if err != nil {
		return nil, err
	}
	words := &process.Head{Most: maxWords}
	program.Stdin, program.Stdout, program.Stderr = p.ChildIn, p.ChildOut, words
	started, err := process.Start(context.Background(), program)
	if err := p.Given(err); err != nil {
		return nil, err
	}
	wait := func() string {
		exit, _, err := started.Wait()
		said, _ := words.Text()
		return ending(exit, said, err)
	}
	return &process.Live{In: p.In, Out: p.Out, Kill: started.Kill, Wait: wait}, nil
}

// maxLastWords is how much of what a program wrote to its standard error is told of its end, in bytes.
const maxLastWords = 500

// Ending is the end of a live program in one line, with its last words. err is why it could not be waited for.
func Ending(name string, exit process.Exit, words []byte, err error) string {
	how := name + " " + exit.String()
	if err != nil {
		how = err.Error()
	}
	words = bytes.TrimSpace(words)
	if len(words) > maxLastWords {
		words = append([]byte("… "), words[len(words)-maxLastWords:]...)
	}
	if len(words) > 0 {
		how += ": " +
			permission.Visible(strings.Join(strings.Fields(strings.ToValidUTF8(string(words), "\uFFFD")), " "))
	}
	return how
}
