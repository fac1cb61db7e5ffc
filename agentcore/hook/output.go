package hook

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

const (
	// MaxOutput bounds each of the two outputs of a hook, in bytes; longer JSON is not read.
	MaxOutput = 32 << 10
	// MaxText is the longest text that one hook puts before the model, in bytes.
	MaxText = 16 << 10
)

// Exit is how a hook ended.
type Exit struct {
	// Code is the exit code, which means nothing if one of the next two fields is set.
	Code int
	// Signal is the name of the signal that ended it, such as "SIGSEGV"; empty where it ended by itself.
	Signal string
	// TimedOut is the time limit that ended it; 0 where none did.
	TimedOut time.Duration
	// Failure is why it could not be run, or nil.
	Failure error
	// Stdout and Stderr are what it put out, any bytes.
	Stdout, Stderr []byte
	// Cut says that Stdout is not the whole output.
	Cut bool
}

// Outcome is what a hook's end means. All texts are valid UTF-8 without control characters other than newlines and
// tabs, and bounded.
type Outcome struct {
	// Block rejects the event's action: the call, the start, or the end. Reason says why, for the model.
	Block  bool
	Reason string
	// Ask requires the user to be asked about the call, with AskReason as the reason.
	Ask       bool
	AskReason string
	// Context is for the model.
	Context string
	// Message is what the hook wants the user to read.
	Message string
	// Problem is what is wrong with the hook, for the user; the run goes on.
	Problem string
}

// Outcome reads a hook's end by the table of the event:
//
//	exit code  meaning
//	0          standard output is JSON with a decision, or else text: for the model in SessionStart, SubagentStart,
//	           PostToolUse and PreCompact, and for nobody in the others
//	2          standard error is a reason that rejects a call (PreToolUse), an end (Stop, SubagentStop), or tells the
//	           model what is wrong with what was done (PostToolUse); in the others it is for the user alone
//	others     the hook has failed: the user is told, with its standard error
func (e Event) Outcome(x Exit) Outcome {
	stderr := clean(string(x.Stderr))
	switch {
	case x.Failure != nil:
		return Outcome{Problem: "could not be run: " + clean(x.Failure.Error())}
	case x.TimedOut > 0:
		return Outcome{Problem: withDetail(fmt.Sprintf("was ended after %s, its time limit", x.TimedOut), stderr)}
	case x.Signal != "":
		return Outcome{Problem: withDetail("was ended by "+x.Signal, stderr)}
	case x.Code == 0:
		return e.answer(x)
	case x.Code != 2:
		return Outcome{Problem: withDetail(fmt.Sprintf("failed with exit code %d", x.Code), stderr)}
	}
	switch e {
	case PreToolUse, PostToolUse, Stop, SubagentStop:
		return Outcome{Block: true, Reason: orNone(stderr)}
	}
	return Outcome{Problem: withDetail("objects (exit code 2), which changes nothing here", stderr)}
}

// answer is the outcome of exit code 0.
func (e Event) answer(x Exit) Outcome {
	text := strings.TrimSpace(string(x.Stdout))
	if strings.HasPrefix(text, "{") {
		if x.Cut {
			return Outcome{
				Problem: fmt.Sprintf(
					"put out more than %d bytes; an answer in JSON must be shorter, so it was not read", MaxOutput),
			}
		}
		var a answer
		if err := json.Unmarshal([]byte(text), &a); err != nil {
			return Outcome{Problem: "answered JSON that cannot be read: " + clean(err.Error())}
		}
		if a != (answer{}) {
			return e.decide(a)
		}
		// JSON without any member that agentls knows counts as text.
	}
	var o Outcome
	switch e {
	case SessionStart, SubagentStart, PostToolUse, PreCompact:
		o.Context = clean(text)
		if x.Cut && o.Context != "" {
			o.Problem = fmt.Sprintf("put out more than %d bytes, of which only a part was used", MaxOutput)
		}
	}
	return o
}

// answer is what a hook may say in JSON. Each member may also have Claude Code's spelling.
type answer struct {
	Decision       string   `json:"decision"`
	Reason         string   `json:"reason"`
	Permission     string   `json:"permission_decision"`
	Context        string   `json:"additional_context"`
	Message        string   `json:"system_message"`
	ForeignMessage string   `json:"systemMessage"`
	Continue       verdict  `json:"continue"`
	StopReason     string   `json:"stopReason"`
	Specific       specific `json:"hookSpecificOutput"`
}

type specific struct {
	Event            string  `json:"hookEventName"`
	Permission       string  `json:"permissionDecision"`
	PermissionReason string  `json:"permissionDecisionReason"`
	Context          string  `json:"additionalContext"`
	UpdatedInput     present `json:"updatedInput"`
}

// verdict is a truth value that may be absent.
type verdict string

// UnmarshalJSON implements json.Unmarshaler.
func (v *verdict) UnmarshalJSON(text []byte) error {
	switch *v = verdict(text); *v {
	case "true", "false":
		return nil
	case "null":
		*v = ""
		return nil
	}
	return fmt.Errorf("continue is %.40s, not true or false", text)
}

// present says whether a member has a value.
type present bool

// UnmarshalJSON implements json.Unmarshaler.
func (p *present) UnmarshalJSON(text []byte) error {
	*p = string(text) != "null"
	return nil
}

// decide is the outcome of an answer in JSON.
func (e Event) decide(a answer) Outcome {
	o := Outcome{
		Context: clean(strings.TrimSpace(first(a.Context, a.Specific.Context))),
		Message: clean(first(a.Message, a.ForeignMessage)),
	}
	var problems []string
	wrong := func(format string, values ...any) { problems = append(problems, fmt.Sprintf(format, values...)) }
	reason := clean(strings.TrimSpace(first(a.Specific.PermissionReason, a.Reason, a.StopReason)))
	switch strings.ToLower(a.Decision) {
	case "", "approve", "allow":
	case "block", "deny":
		o.Block = true
	default:
		wrong("its decision %q is unknown; it can be \"block\"", clip(a.Decision, 40))
	}
	switch permission := strings.ToLower(first(a.Permission, a.Specific.Permission)); {
	case permission == "" || permission == "allow":
		// A hook cannot allow a call: the rules decide.
	case e != PreToolUse:
		wrong("a permission decision counts in PreToolUse alone")
	case permission == "deny":
		o.Block = true
	case permission == "ask":
		o.Ask, o.AskReason = true, reason
		if reason == "" {
			o.AskReason = "a hook wants you to decide"
		}
	default:
		wrong("its permission decision %q is unknown; it can be \"deny\" or \"ask\"", clip(permission, 40))
	}
	if a.Continue == "false" {
		switch e {
		case SessionStart, SubagentStart, PreToolUse:
			o.Block = true
		default:
			wrong("\"continue\": false has no meaning in %s", e)
		}
	}
	if a.Specific.UpdatedInput {
		wrong("updatedInput is not used: reject the call, and say what it should be")
	}
	if o.Block && e == PreCompact {
		o.Block = false
		wrong("a compaction cannot be rejected, since the conversation would not fit any more")
	}
	if o.Block {
		o.Reason, o.Ask, o.AskReason = orNone(reason), false, ""
	}
	o.Problem = strings.Join(problems, "; ")
	return o
}

func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

func orNone(reason string) string {
	if reason = strings.TrimSpace(reason); reason != "" {
		return reason
	}
	return "the hook gives no reason"
}

func withDetail(what, stderr string) string {
	if stderr = strings.TrimSpace(stderr); stderr != "" {
		return what + ": " + stderr
	}
	return what
}

// clean makes a text fit for models and people: it removes terminal escapes and other control characters, and cuts a
// text that is too long.
func clean(text string) string {
	text = strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	return clip(text, MaxText)
}

// clip cuts a text to limit bytes, at a character.
func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	cut := limit
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}
