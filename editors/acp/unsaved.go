package acp

import (
	"context"
	"maps"
	"os"
	"slices"
	"sync"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/workspace"
)

// looks are the files whose text the client was asked for in a turn, each with a channel that is closed once it is
// answered.
type looks struct {
	mu    sync.Mutex // guards asked
	asked map[string]chan struct{}
}

// folder is a project with the files in it that the client shows otherwise than the disk has them.
type folder struct {
	*Project
	mu      sync.Mutex // guards all below
	unsaved map[string]bool
	version int32
}

// begin begins a turn, in which each file is asked for once more.
func (l *looks) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = map[string]chan struct{}{}
}

// claim returns whether the caller is to ask for a file, and the channel that is closed once that is done.
func (l *looks) claim(path string) (mine bool, done chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if done = l.asked[path]; done != nil {
		return false, done
	}
	if l.asked == nil {
		l.asked = map[string]chan struct{}{}
	}
	done = make(chan struct{})
	l.asked[path] = done
	return true, done
}

// reading is called before a call of a run reads files.
func (a *Agent) reading(ctx context.Context, id event.SessionID, paths []string) {
	a.mu.Lock()
	var s *session
	for _, one := range a.sessions {
		if one.engine.ID == id {
			s = one
		}
	}
	a.mu.Unlock()
	if s != nil {
		s.look(ctx, paths)
	}
}

// look asks the client for the texts of files that it was not asked for in this turn, and shows them to the engine
// where the disk has others.
func (s *session) look(ctx context.Context, paths []string) {
	if !s.agent.client.FS.Read {
		return
	}
	var group sync.WaitGroup
	for _, path := range paths {
		mine, done := s.looks.claim(path)
		group.Go(func() {
			if mine {
				defer close(done)
				s.ask(ctx, path)
				return
			}
			select {
			case <-done:
			case <-ctx.Done():
			}
		})
	}
	group.Wait()
}

// largest bounds a file that the client is asked for, in bytes: agents are shown none that is larger.
const largest = 8 << 20

// ask asks the client for the text of a file. Where it has none, the disk's text counts.
func (s *session) ask(ctx context.Context, path string) {
	if info, err := os.Stat(path); err == nil && (!info.Mode().IsRegular() || info.Size() > largest) {
		return // no agent is shown it
	}
	data, err := os.ReadFile(path)
	saved, _, isText := workspace.Decode(data)
	if err == nil && !isText {
		return // an editor has no text for it, either
	}
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	var answer readResult
	failure := s.agent.call(ctx, "fs/read_text_file", readParams{s.id, path}, &answer)
	if failure != nil || answer.Content == nil {
		s.project.shows(path, nil)
		return
	}
	text := *answer.Content
	if err == nil {
		text = workspace.Normalize(text, saved) // editors keep lines without their endings
	}
	if err == nil && text == saved {
		s.project.shows(path, nil)
		return
	}
	s.project.shows(path, &text)
}

// shows tells the engine what the client shows of a file, nil for what the disk has.
func (f *folder) shows(path string, text *string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case text != nil:
		f.unsaved[path] = true
		f.version++
		f.View.SetDocument(path, *text, f.version)
	case f.unsaved[path]:
		delete(f.unsaved, path)
		f.View.CloseDocument(path)
	}
}

// unsavedFiles are the files whose text the disk does not have, as far as is known.
func (f *folder) unsavedFiles() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(maps.Keys(f.unsaved))
}
