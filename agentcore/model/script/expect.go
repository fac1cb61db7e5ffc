package script

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/model"
)

// Expect checks one thing on a request; its error says what was wrong.
type Expect func(*model.Request) error

// Last expects text in the last message, tool results included.
func Last(text string) Expect {
	return func(request *model.Request) error {
		if got := last(request); !strings.Contains(got, text) {
			return fmt.Errorf("the last message should hold %q; it is %q", text, start(got))
		}
		return nil
	}
}

// First expects text in the first message.
func First(text string) Expect {
	return func(request *model.Request) error {
		if got := firstUser(request); !strings.Contains(got, text) {
			return fmt.Errorf("the first message should hold %q; it is %q", text, start(got))
		}
		return nil
	}
}

// NotLast expects the text not to be in the last message.
func NotLast(text string) Expect {
	return func(request *model.Request) error {
		if strings.Contains(last(request), text) {
			return fmt.Errorf("the last message should not hold %q", text)
		}
		return nil
	}
}

// System expects text in the system prompt.
func System(text string) Expect {
	return func(request *model.Request) error {
		if !strings.Contains(request.System, text) {
			return fmt.Errorf("the system prompt should hold %q; it is %q", text, start(request.System))
		}
		return nil
	}
}

// Tools expects the named tools among those that are offered.
func Tools(names ...string) Expect {
	return func(request *model.Request) error {
		for _, name := range names {
			if !offers(request, name) {
				return fmt.Errorf("tool %s should be offered; the tools are %s", name, toolNames(request.Tools))
			}
		}
		return nil
	}
}

// NoTools expects that none of the named tools is offered, or, without names, no tool at all.
func NoTools(names ...string) Expect {
	return func(request *model.Request) error {
		if len(names) == 0 && len(request.Tools) > 0 {
			return fmt.Errorf("no tools should be offered; the tools are %s", toolNames(request.Tools))
		}
		for _, name := range names {
			if offers(request, name) {
				return fmt.Errorf("tool %s should not be offered", name)
			}
		}
		return nil
	}
}

// NoCalls expects that the request forbids calls, as a request for a last word does. The script sends the calls of the
// turn all the same, since a model may disobey.
func NoCalls() Expect {
	return func(request *model.Request) error {
		if !request.NoCalls {
			return errors.New("calls should be forbidden; they are allowed")
		}
		return nil
	}
}

// Effort expects that the request asks for so much thinking.
func Effort(e model.Effort) Expect {
	return func(request *model.Request) error {
		if request.Effort != e {
			return fmt.Errorf("the effort should be %q; it is %q", e, request.Effort)
		}
		return nil
	}
}

// Only expects that the request allows calls of the named tool, and of no other; "" expects that it names none.
func Only(name string) Expect {
	return func(request *model.Request) error {
		if request.Only != name || request.NoCalls && name != "" {
			return fmt.Errorf("calls of %q alone should be allowed; it is %q, and no calls is %v", name, request.Only,
				request.NoCalls)
		}
		return nil
	}
}

// Calls expects that the request allows calls of all tools.
func Calls() Expect {
	return func(request *model.Request) error {
		if request.NoCalls || request.Only != "" {
			return errors.New("calls should be allowed; they are forbidden")
		}
		return nil
	}
}

// Result expects a result of the named tool in the last message with the text in it.
func Result(tool, text string) Expect {
	return func(request *model.Request) error {
		if len(request.Messages) > 0 {
			for _, part := range request.Messages[len(request.Messages)-1].Parts {
				if result, ok := part.(model.Result); ok && result.Name == tool && strings.Contains(result.Text, text) {
					return nil
				}
			}
		}
		return fmt.Errorf("a result of %s with %q should be in the last message; it is %q", tool, text,
			start(last(request)))
	}
}

// Messages expects a number of messages.
func Messages(n int) Expect {
	return func(request *model.Request) error {
		if len(request.Messages) != n {
			return fmt.Errorf("it should have %d messages; it has %d", n, len(request.Messages))
		}
		return nil
	}
}

func offers(request *model.Request, name string) bool {
	return slices.ContainsFunc(request.Tools, func(tool model.Tool) bool { return tool.Name == name })
}
