package model

import (
	"regexp"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/lazyregexp"
)

// leakForm is a form in which models write calls as text, because the server does not turn them into calls, or because
// the model does not know better.
type leakForm struct {
	// begin matches the beginning of the call.
	begin func() *regexp.Regexp
	// name matches the tool's name after that, in its first group. If it is nil, the name is the first group of begin.
	name func() *regexp.Regexp
	// strict forms also occur in prose about calls. Therefore they count only at the end of a text.
	strict bool
	// plain forms are only JSON, which may be a proper answer.
	plain bool
}

// Leak is a call that stands in a text.
type Leak struct {
	// Name is the tool's name as the text has it.
	Name string
	// Sure says that the form cannot be anything but a call. Otherwise it is JSON that looks like a call, and may be
	// the answer that was asked for.
	Sure bool
}

var (
	// jsonName finds the name in a JSON object, whose members come in any order.
	jsonName = lazyregexp.New(`"(?:name|tool|tool_name|function|action)"\s*:\s*"([\w.:-]+)"`)
	// jsonCall matches an object that is a call, as opposed to an object that only has a name.
	jsonCall = lazyregexp.New(`"(?:tool|tool_name|arguments|parameters|args|input|tool_input|action_input)"\s*:`)
	// tokenName finds a name behind the special tokens of a chat template.
	tokenName = lazyregexp.New(`(?:functions\.)?(\w[\w.-]*)`)
)

// leakForms are those of the chat templates of Hermes and Qwen (<tool_call>), Llama (<function=…>, <|python_tag|>),
// Mistral ([TOOL_CALLS]), DeepSeek and Kimi (special tokens), gpt-oss (to=functions.…) and Claude (<invoke …>).
var leakForms = []leakForm{
	{
		begin: lazyregexp.New(`(?m)^[ \t]*<(?:tool_call|function_call|tool_use|toolcall)>`), name: jsonName,
		strict: true,
	},
	{begin: lazyregexp.New(`(?m)^[ \t]*(?:<tool_call>\s*)?<function=([\w.:-]+)>`), strict: true},
	{begin: lazyregexp.New(`(?m)^[ \t]*<(?:\w+:)?invoke name="([\w.:-]+)">`), strict: true},
	{begin: lazyregexp.New(`\[TOOL_CALLS\]`), name: lazyregexp.New(`(?:"name"\s*:\s*"|^\s*)([\w.:-]+)`)},
	{begin: lazyregexp.New(`<\|python_tag\|>`), name: lazyregexp.New(`(?:"name"\s*:\s*"|^\s*)([\w:-]+)`)},
	{begin: lazyregexp.New(`<[|｜]tool[_▁]calls?(?:[_▁]section)?[_▁]begin[|｜]>`), name: tokenName},
	{begin: lazyregexp.New(`(?:^|[\s|>])to=functions\.([\w-]+)`)},
	{
		begin: lazyregexp.New("(?m)^[ \t]*```[ \t]*(?:json|tool_call|tool_code|tool|xml)?[ \t]*\r?\n\\s*[{\\[]"),
		name:  jsonName, strict: true, plain: true,
	},
	{begin: lazyregexp.New(`\A\s*[{\[]`), name: jsonName, strict: true, plain: true},
}

// leakEnd matches what may follow a call at the end of a text.
var leakEnd = lazyregexp.New("(?:[\\]}>`]|<\\|[\\w▁]+\\|>)\\s*\\z")

// nameWithin bounds how far after the beginning of a call its name may stand, in bytes.
const nameWithin = 4 << 10

// LeakedCall finds a tool call that was written as text. offered reports whether a tool with a name exists: a call of
// another tool does not count. Nothing in the text is ever executed, since a quotation, perhaps from a file, looks the
// same.
func LeakedCall(text string, offered func(name string) bool) (leak Leak, found bool) {
	ends := leakEnd().MatchString(text)
	for _, form := range leakForms {
		if form.strict && !ends {
			continue
		}
		at := form.begin().FindAllStringSubmatchIndex(text, -1)
		if len(at) == 0 {
			continue
		}
		last := at[len(at)-1]
		if form.name == nil {
			if name := text[last[2]:last[3]]; offered(name) {
				return Leak{name, !form.plain}, true
			}
			continue
		}
		rest := text[last[0]:]
		if !form.strict {
			rest = text[last[1]:]
		}
		rest = rest[:min(len(rest), nameWithin)]
		if form.name() == jsonName() && !jsonCall().MatchString(rest) {
			continue
		}
		names := form.name().FindAllStringSubmatch(rest, 8)
		if i := slices.IndexFunc(names,
			func(match []string) bool { return offered(strings.TrimPrefix(match[1], "functions.")) }); i >= 0 {
			return Leak{strings.TrimPrefix(names[i][1], "functions."), !form.plain}, true
		}
	}
	return Leak{}, false
}
