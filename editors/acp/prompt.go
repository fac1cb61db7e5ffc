package acp

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/lazyregexp"
	"github.com/agentls/agentls/agentcore/mention"
	"github.com/agentls/agentls/agentcore/prompt"
	"github.com/agentls/agentls/agentcore/tool"
)

// request makes a request for a run of the blocks of a prompt.
func (s *session) request(blocks []contentBlock) (agentcore.RunRequest, error) {
	var request agentcore.RunRequest
	var text strings.Builder
	for i, b := range blocks {
		switch b.Type {
		case "text":
			text.WriteString(b.Text)
		case "resource_link":
			text.WriteString(s.link(b.URI, b.Name))
		case "resource":
			a, err := s.embedded(i, b)
			if err != nil {
				return request, err
			}
			request.Attachments = append(request.Attachments, a)
		case "image":
			a, err := picture(i, b)
			if err != nil {
				return request, err
			}
			request.Attachments = append(request.Attachments, a)
		case "":
			return request, missing(fmt.Sprintf("prompt[%d].type", i))
		default:
			return request, invalidParams("params.prompt[%d] is of the type %q, which agentls does not take; "+
				"send text, images or resources", i, b.Type)
		}
	}
	request.Prompt = strings.TrimSpace(text.String())
	if request.Prompt == "" {
		if len(request.Attachments) == 0 {
			return request, invalidParams("params.prompt is empty; say what the agent should do")
		}
		request.Prompt = "Look at what is attached."
	}
	return request, nil
}

// link is a link in a prompt, as the engine reads it: a mention of what lies in the workspace, else a link as it was.
func (s *session) link(uri, name string) string {
	path, lines := fileOf(uri)
	if path != "" {
		if resolved, err := s.project.View.Resolve(path); err == nil {
			return mention.Write(s.project.View.Shown(resolved)) + lines
		}
	}
	if name == "" || name == uri {
		return uri
	}
	return fmt.Sprintf("[%s](%s)", name, uri)
}

// lineRange finds the lines that the fragment of a link means: "L10", "L10:20", "L10-20", "L10-L20".
var lineRange = lazyregexp.New(`^L(\d+)(?:C\d+)?(?:[:-]L?(\d+)(?:C\d+)?)?$`)

// fileOf is the path of a file: URI, "" for others, and the lines that it means, as a mention has them.
func fileOf(uri string) (path, lines string) {
	parsed, err := url.Parse(uri)
	if err != nil || parsed.Scheme != "file" {
		return "", ""
	}
	if m := lineRange().FindStringSubmatch(parsed.Fragment); m != nil {
		if lines = ":" + m[1]; m[2] != "" {
			lines += "-" + m[2]
		}
	}
	parsed.Fragment, parsed.RawQuery = "", ""
	return event.FilePath(parsed.String()), lines
}

// maxEmbedded bounds the text of an embedded resource, in bytes.
const maxEmbedded = 128 << 10

// embedded is a resource whose text came with the prompt.
func (s *session) embedded(at int, b contentBlock) (prompt.Attachment, error) {
	r := b.Resource
	switch {
	case r == nil:
		return prompt.Attachment{}, missing(fmt.Sprintf("prompt[%d].resource", at))
	case r.Text == nil && strings.HasPrefix(r.MIME, "image/"):
		return picture(at, contentBlock{Data: r.Blob, URI: r.URI})
	case r.Text == nil:
		return prompt.Attachment{}, invalidParams(
			"params.prompt[%d].resource has no text; send text, or an image as such", at)
	case len(*r.Text) > maxEmbedded:
		return prompt.Attachment{}, invalidParams("params.prompt[%d].resource has %d bytes, and %d are taken; send a "+
			"resource_link to its file", at, len(*r.Text), maxEmbedded)
	}
	name := r.URI
	path, lines := fileOf(r.URI)
	if path != "" && filepath.IsAbs(path) {
		name = s.project.View.Shown(path) + lines
	}
	return prompt.Attachment{Kind: prompt.File, Name: name, Text: *r.Text}, nil
}

// picture is an image of a prompt.
func picture(at int, b contentBlock) (prompt.Attachment, error) {
	data, err := base64.StdEncoding.DecodeString(b.Data)
	if err != nil {
		return prompt.Attachment{}, invalidParams("params.prompt[%d] is no image in base64: %v", at, err)
	}
	found, note, err := tool.Picture(data)
	if err != nil {
		return prompt.Attachment{}, invalidParams("params.prompt[%d] cannot be sent as an image: %v", at, err)
	}
	name := fmt.Sprintf("image %d", at+1)
	if path, _ := fileOf(b.URI); path != "" {
		name = filepath.Base(path)
	}
	return prompt.Attachment{Kind: prompt.Image, Name: name, Text: note + "\n", Picture: &found}, nil
}
