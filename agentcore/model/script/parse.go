package script

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/agentls/agentls/agentcore/model"
)

// Parse reads a script from text, for scenario files. name is used in the model's name and in errors,
// which give the 1-based line.
//
// A line is a word and its rest. Empty lines and lines that begin with # do not count. A line that begins
// with a tab continues the line before, with a line break in between. A quoted value is a Go string.
//
//	turn [match="…"] [times=N|any] [fresh]   begins a turn; the fields of Turn
//	expect last TEXT                         TEXT is in the last message (tool results too)
//	expect not last TEXT
//	expect system TEXT                       TEXT is in the system prompt
//	expect tools NAME…                       these are offered
//	expect no tools [NAME…]                  none, or none of these, is offered
//	expect calls                             the request allows calls
//	expect no calls                          it forbids them (NoCalls)
//	expect only submit_result                it allows calls of that tool alone (Only)
//	expect result NAME TEXT                  the last message has a result of the tool with TEXT
//	expect messages N                        so many messages are in the request
//	capture NAME REGEXP                      keeps the first group of the match in the last message;
//	                                         ${NAME} stands for it in text and call lines of the run
//	text TEXT                                the next text part
//	reasoning TEXT
//	call NAME {json}                         a tool call; {} where the JSON is left out
//	rawcall NAME ANYTHING                    a tool call with arguments that need not be JSON
//	error KIND [status=N] [after=DURATION] [hint="…"] DETAIL
//	                                         KIND is one of model's error kinds, such as rate_limit
//	wait GATE                                holds until Release(GATE)
//	pause DURATION                           for benchmarks
//	chunk N                                  text comes in pieces of N characters
//	usage [input=N] [output=N] [cached=N]
//	stop end|calls|length|refused            the stop reason, where it is not the usual one
//
// TEXT is the rest of the line, or a quoted string if it begins with a double quote.
func Parse(name, text string) (*Script, error) {
	var turns []Turn
	for _, line := range logicalLines(text) {
		if err := line.apply(&turns); err != nil {
			return nil, fmt.Errorf("script %s, line %d: %w", name, line.number, err)
		}
	}
	return New(name, turns...), nil
}

type logicalLine struct {
	number     int
	word, rest string
}

// logicalLines joins continuation lines and drops comments.
func logicalLines(text string) []logicalLine {
	var lines []logicalLine
	for i, raw := range strings.Split(text, "\n") {
		raw = strings.TrimSuffix(raw, "\r")
		if continuation, ok := strings.CutPrefix(raw, "\t"); ok && len(lines) > 0 {
			lines[len(lines)-1].rest += "\n" + continuation
			continue
		}
		raw = strings.TrimSpace(raw)
		if raw == "" || strings.HasPrefix(raw, "#") {
			continue
		}
		word, rest := cutWord(raw)
		lines = append(lines, logicalLine{i + 1, word, rest})
	}
	return lines
}

// cutWord returns the first word and what is behind it.
func cutWord(text string) (word, rest string) {
	end := strings.IndexFunc(text, unicode.IsSpace)
	if end < 0 {
		return text, ""
	}
	return text[:end], strings.TrimLeft(text[end:], " \t")
}

// apply adds what the line says to the last turn, or begins one.
func (l logicalLine) apply(turns *[]Turn) error {
	if l.word == "turn" {
		turn, err := parseTurn(l.rest)
		if err != nil {
			return err
		}
		*turns = append(*turns, turn)
		return nil
	}
	if len(*turns) == 0 {
		return fmt.Errorf("%q stands before the first turn", l.word)
	}
	turn := &(*turns)[len(*turns)-1]
	switch l.word {
	case "expect":
		expect, err := parseExpect(l.rest)
		if err != nil {
			return err
		}
		turn.Expect = append(turn.Expect, expect)
		return nil
	case "capture":
		name, expression := cutWord(l.rest)
		if !variable.MatchString("${" + name + "}") {
			return fmt.Errorf("capture: %q is no name (lower-case letters, digits, _)", name)
		}
		compiled, err := regexp.Compile(expression)
		if err != nil {
			return fmt.Errorf("capture %s: %w", name, err)
		}
		if turn.Capture == nil {
			turn.Capture = map[string]*regexp.Regexp{}
		}
		turn.Capture[name] = compiled
		return nil
	case "chunk":
		n, err := strconv.Atoi(l.rest)
		if err != nil || n < 1 {
			return fmt.Errorf("chunk: %q is no number above 0", l.rest)
		}
		turn.Chunk = n
		return nil
	case "usage":
		return parseUsage(l.rest, &turn.Usage)
	case "stop":
		switch stop := model.Stop(l.rest); stop {
		case model.StopEnd, model.StopCalls, model.StopLength, model.StopRefused:
			turn.Stop = stop
			return nil
		}
		return fmt.Errorf("stop: no such reason %q", l.rest)
	}
	step, err := l.step()
	if err != nil {
		return err
	}
	turn.Answer = append(turn.Answer, step)
	return nil
}

// step reads a line that is a step of the answer.
func (l logicalLine) step() (Step, error) {
	switch l.word {
	case "text":
		text, err := value(l.rest)
		return Text(text), err
	case "reasoning":
		text, err := value(l.rest)
		return Reasoning(text), err
	case "call", "rawcall":
		name, arguments := cutWord(l.rest)
		if name == "" {
			return nil, fmt.Errorf("%s: no tool is named", l.word)
		}
		if l.word == "call" && arguments == "" {
			arguments = "{}"
		}
		if l.word == "call" && !json.Valid([]byte(arguments)) {
			return nil, fmt.Errorf("call %s: the arguments are no valid JSON (rawcall takes anything): %s", name,
				start(arguments))
		}
		return Call{Name: name, Arguments: arguments}, nil
	case "error":
		return parseError(l.rest)
	case "wait":
		if l.rest == "" {
			return nil, fmt.Errorf("wait: no gate is named")
		}
		return Gate(l.rest), nil
	case "pause":
		d, err := time.ParseDuration(l.rest)
		if err != nil {
			return nil, fmt.Errorf("pause: %w", err)
		}
		return Pause(d), nil
	}
	return nil, fmt.Errorf("no such word %q", l.word)
}

func parseTurn(rest string) (Turn, error) {
	var turn Turn
	for rest != "" {
		key, val, after, err := attribute(rest)
		if err != nil {
			return turn, fmt.Errorf("turn: %w", err)
		}
		rest = after
		switch key {
		case "match":
			turn.Match = val
		case "times":
			if val == "any" {
				turn.Times = Any
				break
			}
			n, err := strconv.Atoi(val)
			if err != nil || n < 1 {
				return turn, fmt.Errorf("turn: times=%q is neither a number above 0 nor any", val)
			}
			turn.Times = n
		case "fresh":
			turn.Fresh = true
		default:
			return turn, fmt.Errorf("turn: no such attribute %q", key)
		}
	}
	return turn, nil
}

func parseExpect(rest string) (Expect, error) {
	what, rest := cutWord(rest)
	negated := ""
	if what == "not" || what == "no" {
		negated = what + " "
		what, rest = cutWord(rest)
	}
	switch negated + what {
	case "tools", "no tools":
		names := strings.Fields(rest)
		if negated != "" {
			return NoTools(names...), nil
		}
		if len(names) == 0 {
			return nil, fmt.Errorf("expect tools: no tool is named")
		}
		return Tools(names...), nil
	case "calls", "no calls":
		if rest != "" {
			return nil, fmt.Errorf("expect %s%s: nothing may follow", negated, what)
		}
		if negated != "" {
			return NoCalls(), nil
		}
		return Calls(), nil
	case "only":
		if strings.TrimSpace(rest) == "" {
			return nil, errors.New("expect only: no tool is named")
		}
		return Only(strings.TrimSpace(rest)), nil
	case "messages":
		n, err := strconv.Atoi(rest)
		if err != nil {
			return nil, fmt.Errorf("expect messages: %q is no number", rest)
		}
		return Messages(n), nil
	case "result":
		tool, rest := cutWord(rest)
		text, err := value(rest)
		if tool == "" {
			return nil, fmt.Errorf("expect result: no tool is named")
		}
		return Result(tool, text), err
	case "last", "not last", "system":
		text, err := value(rest)
		if err != nil {
			return nil, err
		}
		if text == "" {
			return nil, fmt.Errorf("expect %s%s: no text is given", negated, what)
		}
		switch negated + what {
		case "last":
			return Last(text), nil
		case "not last":
			return NotLast(text), nil
		}
		return System(text), nil
	}
	return nil, fmt.Errorf("expect: no such thing %q", negated+what)
}

func parseUsage(rest string, usage *model.Usage) error {
	for rest != "" {
		key, val, after, err := attribute(rest)
		if err != nil {
			return fmt.Errorf("usage: %w", err)
		}
		rest = after
		n, err := strconv.ParseInt(val, 10, 64)
		if err != nil {
			return fmt.Errorf("usage: %s=%q is no number", key, val)
		}
		switch key {
		case "input":
			usage.Input = n
		case "output":
			usage.Output = n
		case "cached":
			usage.Cached = n
		default:
			return fmt.Errorf("usage: no such count %q", key)
		}
	}
	return nil
}

func parseError(rest string) (Step, error) {
	kind, rest := cutWord(rest)
	failure := Error{Kind: model.ErrorKind(kind)}
	switch failure.Kind {
	case model.ErrRateLimit, model.ErrOverloaded, model.ErrServer, model.ErrNetwork, model.ErrProtocol, model.ErrAuth,
		model.ErrNotFound, model.ErrInvalid, model.ErrContext:
	default:
		return nil, fmt.Errorf("error: no such kind %q", kind)
	}
	for {
		word, _ := cutWord(rest)
		key, _, _ := strings.Cut(word, "=")
		if key == word || key != "status" && key != "after" && key != "hint" {
			break
		}
		_, val, after, err := attribute(rest)
		if err != nil {
			return nil, fmt.Errorf("error: %w", err)
		}
		rest = after
		switch key {
		case "status":
			failure.Status, err = strconv.Atoi(val)
		case "after":
			failure.RetryAfter, err = time.ParseDuration(val)
		case "hint":
			failure.Hint = val
		}
		if err != nil {
			return nil, fmt.Errorf("error: %s=%q: %w", key, val, err)
		}
	}
	detail, err := value(rest)
	failure.Detail = detail
	return failure, err
}

// attribute reads key, key=value or key="value" from the start of text.
func attribute(text string) (key, val, rest string, err error) {
	end := strings.IndexFunc(text, func(r rune) bool { return r == '=' || unicode.IsSpace(r) })
	if end < 0 {
		return text, "", "", nil
	}
	key, rest = text[:end], text[end:]
	if rest[0] != '=' {
		return key, "", strings.TrimLeft(rest, " \t"), nil
	}
	rest = rest[1:]
	if !strings.HasPrefix(rest, `"`) {
		val, rest = cutWord(rest)
		return key, val, rest, nil
	}
	quoted, err := strconv.QuotedPrefix(rest)
	if err != nil {
		return "", "", "", fmt.Errorf("%s: the quoted string has no end: %s", key, rest)
	}
	val, err = strconv.Unquote(quoted)
	if err != nil {
		return "", "", "", fmt.Errorf("%s: read %s: %w", key, quoted, err)
	}
	return key, val, strings.TrimLeft(rest[len(quoted):], " \t"), nil
}

// value reads TEXT.
func value(rest string) (string, error) {
	if !strings.HasPrefix(rest, `"`) {
		return rest, nil
	}
	text, err := strconv.Unquote(rest)
	if err != nil {
		return "", fmt.Errorf("read the string %s: %w", start(rest), err)
	}
	return text, nil
}
