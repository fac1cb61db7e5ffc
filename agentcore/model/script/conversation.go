package script

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/model"
)

// conversation is what the script knows of one run. The lock of its Script guards it.
type conversation struct {
	seen     bool
	system   string
	tools    []model.Tool
	messages [][sha256.Size]byte // of the encoded messages of the last request
	shapes   [][sha256.Size]byte // of the same without the texts of results
	summary  [sha256.Size]byte   // of the message that stands for earlier ones, if there was one
	answered *answer             // to the last request, nil if it was not answered to its end
	ids      map[string]bool     // of calls made up for this run
	captured map[string]string
}

// answer is what a request was answered with.
type answer struct {
	after int // messages of the request
	text  string
	calls []model.Call
}

func newConversation() *conversation {
	return &conversation{ids: map[string]bool{}, captured: map[string]string{}}
}

// continues checks that a request goes on from the last request of its run.
func (c *conversation) continues(request *model.Request) error {
	if !c.seen {
		return nil
	}
	var errs []error
	if request.System != c.system {
		errs = append(errs, fmt.Errorf("the system prompt is not that of the request before: %s",
			difference(c.system, request.System)))
	}
	// A turn that may not call says so with NoCalls and keeps the tools; any change costs the provider's cache. Only a
	// request that neither offers tools nor says NoCalls, such as that for a summary, stands outside.
	if (len(request.Tools) > 0 || request.NoCalls) && len(c.tools) > 0 &&
		!slices.EqualFunc(request.Tools, c.tools, sameTool) {
		errs = append(errs, fmt.Errorf("the tools are not those of the request before: %s, then %s", toolNames(c.tools),
			toolNames(request.Tools)))
	}
	if at := slices.IndexFunc(request.Messages, model.Message.Summary); at >= 0 &&
		(digest(request.Messages[at]) != c.summary || len(request.Messages) < len(c.messages)) {
		return errors.Join(append(errs, c.shortened(request, at))...)
	}
	if len(request.Messages) < len(c.messages) {
		return errors.Join(append(errs,
			fmt.Errorf("it has %d messages, the request before had %d", len(request.Messages), len(c.messages)))...)
	}
	for i, before := range c.messages {
		if digest(request.Messages[i]) != before {
			errs = append(errs, fmt.Errorf("message %d (%s) is not what it was in the request before; it is %q now",
				i+1, request.Messages[i].Role, start(textOf(request.Messages[i]))))
			break
		}
	}
	return errors.Join(append(errs, c.keepsAnswer(request, 0))...)
}

// shortened checks a request in which a summary stands for earlier messages. The request must begin as the former ones
// did. What stands in front of the summary must have been there before, in that order. What stands behind it must be
// the end of the conversation. Texts of results may be shorter.
func (c *conversation) shortened(request *model.Request, at int) error {
	if digest(request.Messages[0]) != c.messages[0] {
		return fmt.Errorf("the conversation was shortened and begins with %q now", start(textOf(request.Messages[0])))
	}
	from := 0
	for i, message := range request.Messages[:at] {
		found := slices.Index(c.messages[from:], digest(message))
		if found < 0 {
			return fmt.Errorf(
				"message %d (%s, %q) stands in front of the summary, and was not there in the request before", i+1,
				message.Role, start(textOf(message)))
		}
		from += found + 1
	}
	kept := request.Messages[at+1:]
	// This finds where the kept end begins among the former messages. Equal messages are told apart by what follows
	// them.
	for first := len(c.shapes); first >= 0; first-- {
		same := 0
		for same < min(len(kept), len(c.shapes)-first) && shape(kept[same]) == c.shapes[first+same] {
			same++
		}
		if same < len(c.shapes)-first {
			continue
		}
		if err := c.keepsAnswer(request, first-at-1); err == nil || first == 0 {
			return err
		}
	}
	return fmt.Errorf("what is behind the summary, from %q on, is not the end of the conversation",
		start(textOf(request.Messages[at])))
}

// keepsAnswer checks that the next request has what the script answered. lacks is how many messages in front of the
// answer that request has dropped.
func (c *conversation) keepsAnswer(request *model.Request, lacks int) error {
	if c.answered == nil {
		return nil
	}
	if strings.TrimSpace(c.answered.text) == "" && len(c.answered.calls) == 0 {
		return nil // providers refuse an assistant message without content, so it cannot be sent back
	}
	if at := c.answered.after - lacks; at < 0 || at >= len(request.Messages) {
		return fmt.Errorf("the last answer %q is missing", start(c.answered.text))
	}
	got := request.Messages[c.answered.after-lacks]
	sameCall := func(a, b model.Call) bool { return a.ID == b.ID && a.Name == b.Name }
	if got.Role != model.RoleAssistant || got.Text() != c.answered.text ||
		!slices.EqualFunc(got.Calls(), c.answered.calls, sameCall) {
		return fmt.Errorf(
			"message %d should be the last answer (%q, %d calls), and is a message of role %s (%q, %d calls)",
			c.answered.after-lacks+1, start(c.answered.text), len(c.answered.calls), got.Role, start(textOf(got)),
			len(got.Calls()))
	}
	return nil
}

// remember keeps what the next request of the run is compared with.
func (c *conversation) remember(request *model.Request) {
	c.seen = true
	c.system = request.System
	if len(request.Tools) > 0 || len(c.tools) == 0 {
		c.tools = make([]model.Tool, len(request.Tools))
		for i, tool := range request.Tools {
			tool.Schema = bytes.Clone(tool.Schema)
			c.tools[i] = tool
		}
	}
	c.messages = c.messages[:0]
	c.shapes = c.shapes[:0]
	for _, message := range request.Messages {
		c.messages = append(c.messages, digest(message))
		c.shapes = append(c.shapes, shape(message))
		if message.Summary() {
			c.summary = c.messages[len(c.messages)-1]
		}
	}
	c.answered = nil
}

// newID makes up the id of a call: one that neither the run nor the conversation has. The id depends only on the place
// in the conversation, so that a script gives the same ids whatever runs beside it.
func (c *conversation) newID(request *model.Request) string {
	taken := func(id string) bool {
		return c.ids[id] || slices.ContainsFunc(request.Messages, func(m model.Message) bool {
			return slices.ContainsFunc(m.Calls(), func(call model.Call) bool { return call.ID == id })
		})
	}
	for i := 1; ; i++ {
		if id := fmt.Sprintf("call_%d_%d", len(request.Messages), i); !taken(id) {
			c.ids[id] = true
			return id
		}
	}
}

var variable = regexp.MustCompile(`\$\{([a-z][a-z0-9_]*)\}`)

// fill returns a copy of the steps with the captured texts in place.
func (c *conversation) fill(steps []Step) []Step {
	expand := func(text string) string {
		return variable.ReplaceAllStringFunc(text, func(found string) string {
			if value, ok := c.captured[found[2:len(found)-1]]; ok {
				return value
			}
			return found
		})
	}
	out := make([]Step, len(steps))
	for i, step := range steps {
		switch step := step.(type) {
		case Text:
			out[i] = Text(expand(string(step)))
		case Call:
			step.Arguments = expand(step.Arguments)
			out[i] = step
		default:
			out[i] = step
		}
	}
	return out
}

// wellFormed checks the roles and that calls and results come in pairs.
func wellFormed(messages []model.Message) error {
	if len(messages) == 0 {
		return errors.New("it has no messages")
	}
	var errs []error
	complain := func(i int, format string, args ...any) {
		errs = append(errs, fmt.Errorf("message %d (%s): %s", i+1, messages[i].Role, fmt.Sprintf(format, args...)))
	}
	if messages[0].Role != model.RoleUser {
		complain(0, "a conversation begins with the user")
	}
	ids := map[string]bool{}
	for i, message := range messages {
		if len(message.Parts) == 0 {
			complain(i, "it is empty")
		}
		var before model.Message
		if i > 0 {
			before = messages[i-1]
		}
		switch message.Role {
		case model.RoleUser:
		case model.RoleAssistant:
			if before.Role == model.RoleAssistant {
				complain(i, "it follows another assistant message")
			}
			if i == len(messages)-1 {
				complain(i, "the request ends with it")
			} else if calls := message.Calls(); len(calls) > 0 && messages[i+1].Role != model.RoleTool {
				complain(i, "call %s (%s) has no result behind it", calls[0].ID, calls[0].Name)
			}
			for _, call := range message.Calls() {
				if ids[call.ID] {
					complain(i, "call id %q comes twice", call.ID)
				}
				ids[call.ID] = true
			}
		case model.RoleTool:
			if err := paired(before, message); err != nil {
				complain(i, "%v", err)
			}
		default:
			complain(i, "no such role")
		}
		for _, part := range message.Parts {
			if !allowed(message.Role, part) {
				complain(i, "a %T does not belong there", part)
			}
		}
	}
	return errors.Join(errs...)
}

// allowed reports whether messages of the role may hold the part.
func allowed(role model.Role, part model.Part) bool {
	switch part.(type) {
	case model.Result:
		return role == model.RoleTool
	case model.Call, model.Reasoning:
		return role == model.RoleAssistant
	}
	return role != model.RoleTool
}

// paired checks that the results answer the calls, each once.
func paired(assistant, results model.Message) error {
	calls := assistant.Calls()
	if assistant.Role != model.RoleAssistant || len(calls) == 0 {
		return errors.New("there are results, but no calls in the message before")
	}
	open := map[string]string{}
	for _, call := range calls {
		open[call.ID] = call.Name
	}
	for _, part := range results.Parts {
		result, ok := part.(model.Result)
		if !ok {
			continue
		}
		name, ok := open[result.ID]
		if !ok {
			return fmt.Errorf("the result with id %q (%s) answers no open call", result.ID, result.Name)
		}
		if name != result.Name {
			return fmt.Errorf("the result with id %q is of %s, the call was of %s", result.ID, result.Name, name)
		}
		delete(open, result.ID)
	}
	for _, call := range calls {
		if _, ok := open[call.ID]; ok {
			return fmt.Errorf("call %s (%s) has no result", call.ID, call.Name)
		}
	}
	return nil
}

// digest stands for a message, byte for byte.
func digest(message model.Message) [sha256.Size]byte {
	raw, err := model.EncodeParts(message.Parts)
	if err != nil {
		raw = fmt.Appendf(nil, "%#v", message.Parts)
	}
	return sha256.Sum256(append([]byte(message.Role+"\n"), raw...))
}

// shape stands for a message without the texts of results.
func shape(message model.Message) [sha256.Size]byte {
	parts := slices.Clone(message.Parts)
	for i, part := range parts {
		if result, ok := part.(model.Result); ok {
			result.Text = ""
			parts[i] = result
		}
	}
	return digest(model.Message{Role: message.Role, Parts: parts})
}

func sameTool(a, b model.Tool) bool {
	return a.Name == b.Name && a.Description == b.Description && bytes.Equal(a.Schema, b.Schema)
}

func toolNames(tools []model.Tool) string {
	names := make([]string, len(tools))
	for i, tool := range tools {
		names[i] = tool.Name
	}
	return "[" + strings.Join(names, " ") + "]"
}

// difference shows where two texts part.
func difference(a, b string) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	return fmt.Sprintf("from byte %d on it was %q and is %q", i, start(a[i:]), start(b[i:]))
}

// start shortens a text for a message.
func start(text string) string {
	if runes := []rune(text); len(runes) > 120 {
		return string(runes[:120]) + "…"
	}
	return text
}

// textOf returns all text in a message: prose and results, a line each.
func textOf(message model.Message) string {
	var lines []string
	for _, part := range message.Parts {
		switch part := part.(type) {
		case model.Text:
			lines = append(lines, part.Text)
		case model.Picture:
			lines = append(lines, fmt.Sprintf("[%s, %d × %d, %d bytes]", part.Image.MediaType, part.Image.Width,
				part.Image.Height, len(part.Image.Data)))
		case model.Result:
			lines = append(lines, part.Text)
		}
	}
	return strings.Join(lines, "\n")
}

// last returns the text of the last message.
func last(request *model.Request) string {
	if len(request.Messages) == 0 {
		return ""
	}
	return textOf(request.Messages[len(request.Messages)-1])
}

// firstUser returns the text of the first user message.
func firstUser(request *model.Request) string {
	for _, message := range request.Messages {
		if message.Role == model.RoleUser {
			return message.Text()
		}
	}
	return ""
}
