package agentcore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/agentls/agentls/agentcore/clip"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/tool"
)

const (
	// maxAnswer bounds what one call may put into the conversation, in bytes, whatever the tool says, unless the
	// agent's definition does; maxAnswerEver bounds that.
	maxAnswer     = 64 << 10
	maxAnswerEver = 1 << 20
)

// bounded is what a call puts into the conversation: its whole text, or the ends of it and where the whole is kept.
func (r *run) bounded(c *call, text string) string {
	limit := maxAnswer
	if own := r.definition.ToolOptions[c.spec.Name].OutputLimit; own > 0 {
		limit = min(own, maxAnswerEver)
	}
	if len(text) <= limit {
		return text
	}
	// A secret must not be cut: the halves would not be known.
	text = r.engine.redactor.Text(text)
	missing := len(text) - limit
	if missing <= 0 {
		return text
	}
	where := "ask for less of it to see them"
	if r.tools.Offers("read") {
		path, err := r.keepOutput(string(c.id)+".txt", []byte(text[:min(len(text), maxKeptOutput)]))
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

// keepOutput keeps what a call of the run gave in a file of the state folder, which the run may read, and returns its
// path.
func (r *run) keepOutput(name string, data []byte) (string, error) {
	path := filepath.Join(r.engine.outputDir(), string(r.id)+"-"+name)
	err := os.MkdirAll(r.engine.outputDir(), 0o700)
	if err == nil {
		err = os.WriteFile(path, data, 0o600)
	}
	if err != nil {
		return "", fmt.Errorf("the whole output could not be kept: %w", err)
	}
	r.commands.attach(path)
	return path, nil
}

// runTool runs the tool of a call, no longer than the agent's definition lets it.
func (r *run) runTool(c *call) (tool.Result, error) {
	limit := r.definition.ToolOptions[c.spec.Name].Timeout
	do := r.withSecrets(c)
	if limit <= 0 {
		return do(r.workContext(), r.host(c, r.layer))
	}
	ctx, cancel := context.WithTimeout(r.workContext(), limit)
	defer cancel()
	result, err := do(ctx, r.host(c, r.layer))
	if err != nil && r.workContext().Err() == nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return result, fmt.Errorf("the call took longer than %v, which is what %s allows for %s; ask for less at once",
			limit, r.definition.Slug, c.spec.Name)
	}
	return result, err
}

// keepImages keeps the images of a result, each once in a run, for a later process that goes on with the conversation.
func (r *run) keepImages(images []tool.Image) ([]model.Image, error) {
	var list []model.Image
	for _, image := range images {
		sum := sha256.Sum256(image.Data)
		path, err := r.keepOutput(hex.EncodeToString(sum[:12])+"."+strings.TrimPrefix(image.MediaType, "image/"),
			image.Data)
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

// seeAgain reads the images of a stored conversation. Those that are kept no more are left out, and the text says so.
func (e *Engine) seeAgain(parts []model.Part) {
	for i, part := range parts {
		result, ok := part.(model.Result)
		if !ok || len(result.Images) == 0 {
			continue
		}
		var kept []model.Image
		for _, image := range result.Images {
			data, err := os.ReadFile(filepath.Join(e.outputDir(), filepath.Base(image.File)))
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
