package offline

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/lint"
	"github.com/agentls/agentls/agentcore/model"
)

// Name is what the model calls itself.
const Name = "offline/rules"

// turn is what the model says next: calls, or the last text.
type turn struct {
	text  string
	calls []call
}

// call is a tool call with one of the argument types below.
type call struct {
	name      string
	arguments any
}

// message turns it into the form of the interface. The ids depend on the place in the conversation only.
func (t turn) message(place int) (model.Message, error) {
	message := model.Message{Role: model.RoleAssistant}
	if t.text != "" {
		message.Parts = append(message.Parts, model.Text{Text: t.text})
	}
	for i, c := range t.calls {
		arguments, err := json.Marshal(c.arguments)
		if err != nil {
			return model.Message{}, fmt.Errorf("%s: encode the arguments of %s: %w", Name, c.name, err)
		}
		message.Parts = append(message.Parts, model.Call{
			ID: fmt.Sprintf("offline_%d_%d", place, i+1), Name: c.name, Arguments: arguments,
		})
	}
	return message, nil
}

type readArguments struct {
	Path   string `json:"path"`
	Offset int    `json:"offset,omitempty"`
	Limit  int    `json:"limit,omitempty"`
}

type diagnosticsArguments struct {
	Path string `json:"path"`
}

type globArguments struct {
	Pattern string `json:"pattern"`
}

type grepArguments struct {
	Pattern string `json:"pattern"`
	Include string `json:"include,omitempty"`
	Limit   int    `json:"limit,omitempty"`
}

type findingArguments struct {
	Path     string    `json:"path"`
	Line     int       `json:"line"`
	EndLine  int       `json:"end_line,omitempty"`
	Severity string    `json:"severity"`
	Rule     string    `json:"rule,omitempty"`
	Message  string    `json:"message"`
	Source   string    `json:"source"`
	Fix      *lint.Fix `json:"fix,omitempty"`
}

type editArguments struct {
	Path string `json:"path"`
	lint.Fix
}

// joined lists names, each once.
func joined(names []string) string {
	var once []string
	for _, name := range names {
		if name != "" && !slices.Contains(once, name) {
			once = append(once, name)
		}
	}
	return strings.Join(once, ", ")
}

// plural counts things: "1 file", "2 files".
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
