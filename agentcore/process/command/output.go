package command

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/clip"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/tool"
)

const (
	// maxAnswer bounds what one call may put into the conversation, in bytes, whatever the tool says, unless the
	// agent's definition does; maxAnswerEver bounds that.
	maxAnswer     = 64 << 10
	maxAnswerEver = 1 << 20
	// keptOutputs is how long outputs that were not shown as a whole are kept.
	keptOutputs = 7 * 24 * time.Hour
)

// Bound is what a call puts into the conversation: its whole text, or the begin and the end of it, with the place of
// the whole. own is the limit in the agent's definition in bytes, 0 for none. readable says that the run has the tool
// to read files.
func (s *Set) Bound(call, text string, own int, readable bool) string {
	limit := maxAnswer
	if own > 0 {
		limit = min(own, maxAnswerEver)
	}
	if len(text) <= limit {
		return text
	}
	// Secrets are removed before the text is cut, since half a secret would not be recognized.
	text = s.Redactor.Text(text)
	missing := len(text) - limit
	if missing <= 0 {
		return text
	}
	where := "ask for less of it to see them"
	if readable {
		path, err := s.keep(call+".txt", []byte(text[:min(len(text), maxKeptOutput)]))
		if err != nil {
			where = err.Error()
		} else {
			where = fmt.Sprintf("the whole output, %d bytes, is in %s, see parts of it with read",
				min(len(text), maxKeptOutput), path)
		}
	}
	return fmt.Sprintf("%s\n[%d %s here; %s]\n%s",
		strings.ToValidUTF8(text[:limit/2], ""), missing, clip.LeftOut, where,
		strings.ToValidUTF8(text[len(text)-limit/2:],
			""))
}

// keep writes a call's result into a file of the state folder that the run may read, and returns the file's path.
func (s *Set) keep(name string, data []byte) (string, error) {
	path := filepath.Join(s.OutputDir, string(s.ID)+"-"+name)
	err := os.MkdirAll(s.OutputDir, 0o700)
	if err == nil {
		err = os.WriteFile(path, data, 0o600)
	}
	if err != nil {
		return "", fmt.Errorf("the whole output could not be kept: %w", err)
	}
	s.Attach(path)
	return path, nil
}

// clean removes secrets from a file with an output, and lets the run read it.
func (s *Set) clean(path string) error {
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, []byte(s.Redactor.Text(string(text))), 0o600)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("the whole output could not be kept: %w", err), os.Remove(path))
	}
	s.Attach(path)
	return nil
}

// Attach lets the run read a file with an output.
func (s *Set) Attach(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.outputs == nil {
		s.outputs = map[string]bool{}
	}
	s.outputs[path] = true
}

// Attached reports whether the run may read a file because it holds an output.
func (s *Set) Attached(path string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.outputs[path]
}

// KeepImages stores the images of a result, each once in a run, for a later process that goes on with the conversation.
func (s *Set) KeepImages(images []tool.Image) ([]model.Image, error) {
	var list []model.Image
	for _, image := range images {
		sum := sha256.Sum256(image.Data)
		path, err := s.keep(hex.EncodeToString(sum[:12])+"."+strings.TrimPrefix(image.MediaType, "image/"), image.Data)
		if err != nil {
			return nil, err
		}
		list = append(list, model.Image{
			MediaType: image.MediaType, Width: image.Width, Height: image.Height,
			File: filepath.Base(path), Data: image.Data,
		})
	}
	return list, nil
}

// SeeAgain reads the images of a stored conversation from the folder of kept outputs. Images that are no longer kept
// are left out, and the text says so.
func SeeAgain(outputDir string, parts []model.Part) {
	for i, part := range parts {
		if picture, ok := part.(model.Picture); ok {
			data, err := os.ReadFile(filepath.Join(outputDir, filepath.Base(picture.Image.File)))
			if err != nil {
				parts[i] = model.Text{Text: "(the image is kept no more)"}
				continue
			}
			picture.Image.Data = data
			parts[i] = picture
			continue
		}
		result, ok := part.(model.Result)
		if !ok || len(result.Images) == 0 {
			continue
		}
		var kept []model.Image
		for _, image := range result.Images {
			data, err := os.ReadFile(filepath.Join(outputDir, filepath.Base(image.File)))
			if err != nil {
				result.Text += "\n(the image is kept no more; read it again to see it)"
				continue
			}
			image.Data = data
			kept = append(kept, image)
		}
		result.Images = kept
		parts[i] = result
	}
}

// ForgetOutputs deletes the outputs in a folder that were kept long enough.
func ForgetOutputs(outputDir string) error {
	entries, err := os.ReadDir(outputDir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for old outputs of commands: %w", err)
	}
	var problems []error
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() &&
			time.Since(info.ModTime()) > keptOutputs {
			problems = append(problems, os.Remove(filepath.Join(outputDir, entry.Name())))
		}
	}
	return errors.Join(problems...)
}
