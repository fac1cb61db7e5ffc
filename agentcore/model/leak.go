package model

import (
	"regexp"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/lazyregexp"
)

// leakForm is a way in which models write a call as text, where a server does not turn it into a call or a model does
// not know better.
type leakForm struct {
	// begin matches where it begins.
	begin func() *regexp.Regexp
	// name matches the tool's name behind that, in its first group. nil takes the first group of begin.
	name func() *regexp.Regexp
	// strict forms are found in prose about calls as well, and count only as the end of a text.
	strict bool
	// plain forms are nothing but JSON, which an answer may hold by right.
	plain bool
}

// Leak is a call that stands in a text.
type Leak struct {
	// Name is the tool's as it is written there.
	Name string
	// Sure says that the form is nothing but a call; else it is JSON which reads like one, and may be what was asked
	// for.
	Sure bool
}

var (
	// jsonName finds the name in a JSON object, whose members come in any order.
	jsonName = lazyregexp.New(`"(?:name|tool|tool_name|function|action)"\s*:\s*"([\w.:-]+)"`)
	// jsonCall tells an object that is a call from one that only has a name.
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

// leakEnd is what may stand behind a call at the end of a text.
var leakEnd = lazyregexp.New("(?:[\\]}>`]|<\\|[\\w▁]+\\|>)\\s*\\z")

// nameWithin bounds how far behind its beginning the name of a call is looked for, in bytes.
const nameWithin = 4 << 10

// LeakedCall finds a tool call that stands in a text instead of being one. offered tells whether there is a tool of a
// name: a text about other tools is none. Nothing of the text is ever executed: what a model quotes, from a file
// perhaps, looks the same.
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
