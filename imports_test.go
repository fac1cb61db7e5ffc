package agentls_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// modulePath is the path of this module, as in go.mod.
const modulePath = "github.com/agentls/agentls"

// because maps what may be imported to the reason. A key is either a package of this module, by its folder, or a
// module or package of others, which covers everything below it. The standard library needs no leave.
type because map[string]string

// imports lists what each package may import: cmd → lsp → agentcore → the rooms → event. A package that is
// not here may not exist. Nothing below agentcore may name lsp or a package that knows LSP.
var imports = map[string]because{
	"cmd/agentls": {
		"agentcore/git":                   "which changes are reviewed",
		"agentcore/instruction":           "shows what instructs an agent",
		"agentcore/lazyregexp":            "how colours and refusals look",
		"agentcore":                       "the command line runs the engine in its own process",
		"agentcore/agent":                 "lists and checks definitions",
		"agentcore/authority":             "trust in folders",
		"agentcore/config":                "flags, files and environment become the configuration",
		"agentcore/crash":                 "hands on where tests end the process",
		"agentcore/event":                 "ids and events, shown as a live tree",
		"agentcore/fault":                 "tells refusals apart",
		"agentcore/feed":                  "reads a run's events",
		"agentcore/history":               "lists, shows and copies sessions",
		"agentcore/model":                 "names and kinds of models",
		"agentcore/model/catalog":         "asks which models there are",
		"agentcore/permission":            "how far a folder is trusted",
		"agentcore/provider":              "which model a run would get",
		"agentcore/registry":              "checks definitions",
		"agentcore/price":                 "shows costs",
		"agentcore/run":                   "where sandboxes are tried",
		"agentcore/secret":                "finds keys, keeps them out of logs",
		"agentcore/sandbox":               "is started again to set up sandboxes",
		"agentcore/skill":                 "loads the user's skills",
		"agentcore/spelling":              "did you mean",
		"agentcore/store":                 "opens the database",
		"agentcore/tool":                  "wires the tools",
		"agentcore/workspace":             "prints and writes proposals",
		"editors/acp":                     "serves editors that speak ACP",
		"lsp":                             "serve",
		"lsp/methods":                     "what tests say to the server and hear from it",
		"schema":                          "prints the schemas",
		"charm.land/bubbletea":            "a chat's terminal: keys, pasting, drawing",
		"github.com/charmbracelet/x/ansi": "how wide characters are",
		"github.com/spf13/cobra":          "commands and flags",
		"github.com/spf13/pflag":          "cobra's flags and their errors",
		"golang.org/x/term":               "is the output a terminal, and how wide",
		"golang.org/x/sys":                "signals that os has no names for",
		"agentcore/promptfile":            "lists the prompts that users call",
	},

	"lsp": {
		"agentcore/git":         "which changes are reviewed",
		"agentcore":             "drives the engine",
		"agentcore/authority":   "trust in folders, as the user sees and decides it",
		"agentcore/agent":       "lists definitions",
		"agentcore/config":      "editor settings are a configuration layer",
		"agentcore/crash":       "moments at which tests end the process",
		"agentcore/event":       "events become progress, findings and prompts",
		"agentcore/fault":       "refuses, and tells the engine's refusals",
		"agentcore/feed":        "reads the events",
		"agentcore/history":     "shows what is stored of sessions",
		"agentcore/elsewhere":   "runs that were cut off with their process",
		"agentcore/run":         "where plans lie",
		"agentcore/prompt":      "kinds of what a prompt brings",
		"agentcore/mention":     "files that a conversation links to",
		"agentcore/statusline":  "the facts of the status line",
		"agentcore/model":       "hands on what makes models",
		"agentcore/permission":  "scopes of answers, modes of runs, how far folders are trusted",
		"agentcore/provider":    "models, and the editor's among them",
		"agentcore/registry":    "registers and checks definitions",
		"agentcore/secret":      "hands the redactor on",
		"agentcore/skill":       "reads skills again",
		"agentcore/spelling":    "did you mean",
		"agentcore/store":       "lists sessions and runs as they are stored",
		"agentcore/watch":       "definitions and settings are read again when they change",
		"agentcore/workspace":   "open documents are a layer; proposals become WorkspaceEdits",
		"go.lsp.dev/jsonrpc2":   "raw params and errors",
		"go.lsp.dev/protocol":   "LSP types",
		"go.lsp.dev/uri":        "document URIs",
		"lsp/asking":            "open questions in words, and before the user",
		"lsp/authoring":         "definitions, skills and settings as documents",
		"lsp/client":            "what the editor can do, and the ways to ask it",
		"lsp/comment":           "requests that are written as comments",
		"lsp/conversation":      "the text of conversations",
		"lsp/delivery":          "proposals, on their way to the editor and back",
		"lsp/document":          "what is open",
		"lsp/lending":           "what the editor lends to agents",
		"lsp/listing":           "the engine's values as the custom protocol lists them",
		"lsp/menu":              "code actions",
		"lsp/methods":           "the custom methods, generated",
		"lsp/position":          "places in the editor's unit",
		"lsp/remark":            "what is shown at lines",
		"lsp/short":             "texts and numbers in menus and lines",
		"lsp/surface":           "what the editor shows of runs",
		"lsp/wire":              "the connection",
		"agentcore/instruction": "which files are watched and trusted as instructions",
	},
	"lsp/lsptest": {
		"agentcore/model/script":           "scenarios script the model",
		"schema":                           "what goes over the wire is checked with it",
		"github.com/bmatcuk/doublestar/v4": "globs of document selectors",
		"github.com/google/go-cmp":         "differences to what was expected",
		"github.com/google/jsonschema-go":  "what goes over the wire is checked",
		"github.com/sourcegraph/jsonrpc2":  "the client side, independent of the server's library",
		"go.lsp.dev/uri":                   "document URIs",
		"golang.org/x/tools/txtar":         "txtar scenarios",
	},
	"lsp/methods": {
		"agentcore/event":     "events are sent as they are",
		"go.lsp.dev/protocol": "LSP types inside ours",
		"go.lsp.dev/uri":      "document URIs",
	},
	"lsp/authoring": {
		"agentcore/instruction": "texts that instruct agents: imports, globs",
		"agentcore/agent":       "parses and validates definitions",
		"agentcore/config":      "checks configurations, knows their keys",
		"agentcore/event":       "severities and spans of problems",
		"agentcore/hook":        "names the events of hooks",
		"agentcore/registry":    "tests check definitions as the engine does",
		"agentcore/skill":       "parses skills",
		"agentcore/spelling":    "did you mean",
		"agentcore/tool":        "tools can be named",
		"agentcore/workspace":   "texts by their lines",
		"lsp/conversation":      "the turns of conversations",
		"lsp/methods":           "what the custom methods list",
		"lsp/outline":           "what is at the cursor",
		"lsp/position":          "places in the editor's unit",
		"lsp/short":             "values in an outline",
		"go.lsp.dev/protocol":   "completions, symbols, selectors",
		"go.lsp.dev/uri":        "where symbols and definitions are",
	},
	"lsp/client": {
		"agentcore/permission": "what nobody sees in an editor's name",
		"lsp/methods":          "what a client says of the custom protocol",
		"lsp/wire":             "the connection",
		"go.lsp.dev/jsonrpc2":  "errors of the editor's answers",
		"go.lsp.dev/protocol":  "LSP types",
		"go.lsp.dev/uri":       "document URIs",
	},
	"lsp/document": {
		"agentcore/workspace": "the view is told of what is open",
		"lsp/authoring":       "which documents are ours",
		"lsp/position":        "changes come in the editor's unit",
		"lsp/wire":            "the answer where a request is about older text",
		"go.lsp.dev/protocol": "documents and their changes",
		"go.lsp.dev/uri":      "document URIs",
	},
	"lsp/menu": {
		"agentcore/event":     "hunks that an action accepts",
		"go.lsp.dev/protocol": "code actions",
		"lsp/client":          "the form of actions that it takes",
		"lsp/methods":         "the arguments of the action for what the menu has no room for",
	},
	"lsp/remark": {
		"agentcore/agent":     "problems of definitions",
		"agentcore/event":     "findings, and states of hunks",
		"agentcore/workspace": "hunks, and texts by their lines",
		"go.lsp.dev/protocol": "diagnostics",
		"lsp/authoring":       "kinds of files of ours",
		"lsp/client":          "the form of diagnostics that it takes",
		"lsp/position":        "places in the editor's unit",
		"lsp/short":           "texts in little room",
	},
	"lsp/surface": {
		"agentcore/statusline": "the facts of the status line",
		"agentcore/agent":      "templates of the status line",
		"agentcore/config":     "what the user wants to see",
		"agentcore/event":      "events become what is shown",
		"agentcore/history":    "runs of this process",
		"agentcore/permission": "what nobody sees in a model's words",
		"agentcore/price":      "shows costs",
		"agentcore/provider":   "the offline rules are told apart from models",
		"agentcore/workspace":  "lines that are followed, hunks",
		"go.lsp.dev/protocol":  "progress, hints, lenses, diagnostics",
		"go.lsp.dev/uri":       "document URIs",
		"lsp/authoring":        "the selector of our own files",
		"lsp/client":           "what the editor can show",
		"lsp/document":         "what is open",
		"lsp/menu":             "code actions that end runs",
		"lsp/methods":          "the status and the commands of lenses",
		"lsp/remark":           "diagnostics and names of hunks",
		"lsp/short":            "texts in little room",
	},
	"lsp/delivery": {
		"agentcore":           "sessions, and what they propose",
		"agentcore/board":     "proposes again what was gone back behind",
		"agentcore/crash":     "moments at which tests end the process",
		"agentcore/event":     "ids and states of hunks",
		"agentcore/fault":     "refuses",
		"agentcore/history":   "proposals of sessions that are not open",
		"agentcore/workspace": "hunks become edits, and follow what is made of them",
		"go.lsp.dev/protocol": "WorkspaceEdits",
		"go.lsp.dev/uri":      "document URIs",
		"lsp/client":          "applies edits, in the form that it takes",
		"lsp/document":        "what is open, and virtual documents",
		"lsp/listing":         "runs as the custom protocol lists them",
		"lsp/menu":            "code actions",
		"lsp/methods":         "the requests about proposals",
		"lsp/position":        "places in the editor's unit",
		"lsp/remark":          "diagnostics and names of hunks",
		"lsp/short":           "texts in menus",
	},
	"lsp/asking": {
		"agentcore/authority": "open questions",
		"agentcore/event":     "ids",
		"agentcore/history":   "questions of sessions that are not open",
		"agentcore/tool":      "what agents can ask",
		"go.lsp.dev/protocol": "prompts",
		"lsp/client":          "the ways to ask the user",
		"lsp/methods":         "questions and answers on the wire",
	},
	"lsp/listing": {
		"agentcore":             "what becomes of a prompt",
		"agentcore/promptfile":  "prompts that users call",
		"agentcore/instruction": "files with instructions",
		"agentcore/config":      "layers of settings",
		"agentcore/event":       "failures, and files as URIs",
		"agentcore/history":     "sessions, runs and messages",
		"agentcore/mcp":         "states of MCP servers",
		"agentcore/permission":  "grants, and what decides on a call",
		"agentcore/provider":    "models",
		"agentcore/servers":     "what is known of MCP servers",
		"agentcore/store":       "usage as it is stored",
		"go.lsp.dev/uri":        "document URIs",
		"lsp/methods":           "the lists of the custom protocol",
	},
	"lsp/lending": {
		"agentcore/event":     "spans, and failures of the model",
		"agentcore/fault":     "refuses",
		"agentcore/model":     "the editor's own model is a Model",
		"agentcore/provider":  "which models the editor lends",
		"agentcore/tool":      "symbols and diagnostics for tools",
		"agentcore/workspace": "texts by their lines",
		"go.lsp.dev/jsonrpc2": "raw params and errors",
		"go.lsp.dev/protocol": "tokens and ranges",
		"go.lsp.dev/uri":      "document URIs",
		"lsp/client":          "what the editor lends",
		"lsp/document":        "what is open, at which version",
		"lsp/methods":         "the requests to the editor",
		"lsp/wire":            "the connection",
	},
	"lsp/comment": {
		"agentcore/lazyregexp": "how requests in comments look",
		"agentcore/lexer":      "tells comments from strings",
	},
	"lsp/conversation": {
		"agentcore/event":      "which run answers",
		"agentcore/lazyregexp": "how the headings of answers look",
		"lsp/outline":          "the settings above a conversation",
	},
	"lsp/outline": {
		"agentcore/lazyregexp": "how keys look in TOML",
	},
	"lsp/position": {
		"agentcore/event":     "spans of findings and problems",
		"agentcore/workspace": "texts by their lines",
		"go.lsp.dev/protocol": "positions and ranges",
	},
	"lsp/short": {},
	"lsp/wire": {
		"go.lsp.dev/jsonrpc2": "connection and ordering",
		"go.lsp.dev/protocol": "codec and error codes",
		"golang.org/x/sys":    "waits for the end of the parent process",
	},

	"agentcore": {
		"agentcore/lazyregexp":        "how names of symbols look",
		"agentcore/mcpname":           "prompts of MCP servers",
		"agentcore/mention":           "what prompts point at",
		"agentcore/outline":           "symbols that prompts point at",
		"agentcore/promptfile":        "prompts that users call",
		"agentcore/toolset":           "why no command may run",
		"agentcore/git":               "the changes that a prompt is about",
		"agentcore/instruction":       "what an agent would be instructed to do",
		"agentcore/agent":             "definitions of what runs",
		"agentcore/authority":         "decides on calls, and knows what the user decided",
		"agentcore/board":             "what runs found and propose",
		"agentcore/clip":              "shortens texts",
		"agentcore/config":            "limits and defaults",
		"agentcore/config/configtest": "tests write configurations down",
		"agentcore/crash":             "moments at which tests end the process",
		"agentcore/elsewhere":         "what other processes have open",
		"agentcore/event":             "publishes",
		"agentcore/fault":             "refuses",
		"agentcore/feed":              "publishes what is stored",
		"agentcore/history":           "what is stored of sessions",
		"agentcore/hook":              "runs hooks",
		"agentcore/model":             "streams turns",
		"agentcore/model/anthropic":   "tests of a wire below a run",
		"agentcore/permission":        "decides what calls may do",
		"agentcore/process/command":   "the commands of a run and their output",
		"agentcore/prompt":            "what a run is told at first",
		"agentcore/provider":          "finds and opens models",
		"agentcore/registry":          "the agents that there are",
		"agentcore/resume":            "what ended runs leave",
		"agentcore/retention":         "deletes sessions",
		"agentcore/run":               "a run, its calls and its children",
		"agentcore/sandbox":           "commands run in it",
		"agentcore/secret":            "finds keys, keeps them out of what is stored and sent",
		"agentcore/servers":           "MCP servers and language servers of a session",
		"agentcore/skill":             "puts skills into prompts",
		"agentcore/slot":              "children wait for their turn",
		"agentcore/store":             "commits before it publishes",
		"agentcore/tool":              "calls tools",
		"agentcore/workspace":         "forks and merges layers",
	},
	"agentcore/run": {
		"agentcore/acp":             "talks with agents that are programs of others",
		"agentcore/git":             "which changes a request is about",
		"agentcore/instruction":     "what a run is instructed to do",
		"agentcore/lazyregexp":      "how tests are counted",
		"agentcore/agent":           "definitions of what runs",
		"agentcore/authority":       "decides on calls, and knows what the user decided",
		"agentcore/beside":          "a panic beside a run is raised in the run",
		"agentcore/board":           "what runs found and propose",
		"agentcore/clip":            "shortens texts",
		"agentcore/config":          "limits and defaults",
		"agentcore/crash":           "moments at which tests end the process",
		"agentcore/event":           "publishes",
		"agentcore/fault":           "refuses",
		"agentcore/feed":            "publishes what is stored",
		"agentcore/history":         "what is stored of sessions",
		"agentcore/hook":            "runs hooks",
		"agentcore/mcpname":         "names of tools of MCP servers",
		"agentcore/model":           "streams turns",
		"agentcore/model/offline":   "tests need no provider",
		"agentcore/network":         "which addresses tools may reach",
		"agentcore/permission":      "decides what calls may do",
		"agentcore/price":           "what answers cost",
		"agentcore/process":         "starts programs of the user, ends what they have left",
		"agentcore/process/command": "the commands of a run and their output",
		"agentcore/prompt":          "what a run is told at first",
		"agentcore/provider":        "finds and opens models",
		"agentcore/registry":        "the agents that there are",
		"agentcore/sandbox":         "commands run in it",
		"agentcore/secret":          "finds keys, keeps them out of what is stored and sent",
		"agentcore/servers":         "MCP servers and language servers of a session",
		"agentcore/skill":           "puts skills into prompts",
		"agentcore/slot":            "children wait for their turn",
		"agentcore/spelling":        "did you mean, in the status line",
		"agentcore/statusline":      "what the status line shows",
		"agentcore/store":           "commits before it publishes",
		"agentcore/tool":            "calls tools",
		"agentcore/toolset":         "what a run is offered",
		"agentcore/workspace":       "forks and merges layers",
	},
	"agentcore/resume": {
		"agentcore/agent":           "definitions of what runs",
		"agentcore/authority":       "decides on calls, and knows what the user decided",
		"agentcore/event":           "publishes",
		"agentcore/fault":           "refuses",
		"agentcore/history":         "what is stored of sessions",
		"agentcore/model":           "streams turns",
		"agentcore/process/command": "the commands of a run and their output",
		"agentcore/run":             "a run, its calls and its children",
		"agentcore/store":           "commits before it publishes",
		"agentcore/tool":            "calls tools",
	},
	"agentcore/elsewhere": {
		"agentcore/crash":           "moments at which tests end the process",
		"agentcore/event":           "publishes",
		"agentcore/fault":           "refuses",
		"agentcore/feed":            "publishes what is stored",
		"agentcore/history":         "what is stored of sessions",
		"agentcore/process":         "starts programs of the user, ends what they have left",
		"agentcore/process/command": "the commands of a run and their output",
		"agentcore/store":           "commits before it publishes",
	},
	"agentcore/retention": {
		"agentcore/lazyregexp": "how leftovers are named",
		"agentcore/tool":       "the tool that writes plans",
		"agentcore/config":     "limits and defaults",
		"agentcore/crash":      "moments at which tests end the process",
		"agentcore/event":      "publishes",
		"agentcore/fault":      "refuses",
		"agentcore/history":    "what is stored of sessions",
		"agentcore/store":      "commits before it publishes",
	},
	"agentcore/statusline": {
		"agentcore/clip":       "shortens texts",
		"agentcore/event":      "publishes",
		"agentcore/hook":       "runs hooks",
		"agentcore/permission": "decides what calls may do",
		"agentcore/process":    "starts programs of the user, ends what they have left",
		"agentcore/secret":     "finds keys, keeps them out of what is stored and sent",
	},
	"agentcore/history": {
		"agentcore/lazyregexp": "how lines of Markdown look",
		"agentcore/event":      "ids, states and usage",
		"agentcore/fault":      "there may be no such session",
		"agentcore/model":      "the parts of messages",
		"agentcore/price":      "shows costs",
		"agentcore/store":      "has it all",
		"agentcore/workspace":  "proposed hunks",
	},
	"agentcore/provider": {
		"agentcore/agent":             "a model's name in a definition is one in a call",
		"agentcore/config":            "providers, presets and prices",
		"agentcore/config/configtest": "tests write configurations down",
		"agentcore/fault":             "says what is missing",
		"agentcore/model":             "what is opened",
		"agentcore/model/catalog":     "what a local server has",
		"agentcore/model/anthropic":   "opened for the provider of that kind",
		"agentcore/model/gemini":      "opened for the provider of that kind",
		"agentcore/model/offline":     "opened where there is no provider",
		"agentcore/model/openai":      "opened for the provider of that kind",
		"agentcore/price":             "what answers cost",
		"agentcore/secret":            "a key may lie in a keyring",
		"agentcore/spelling":          "did you mean",
	},
	"agentcore/config/configtest": {
		"agentcore/config": "what it reads",
	},
	"agentcore/mention": {
		"agentcore/lazyregexp": "how lines are written",
	},
	"agentcore/glob": {
		"github.com/bmatcuk/doublestar/v4": "globs",
	},
	"agentcore/git": {
		"agentcore/fault":      "refuses",
		"agentcore/permission": "which files may hold keys",
		"agentcore/process":    "starts git",
		"agentcore/workspace":  "the texts that the editor shows, and differences",
	},
	"agentcore/process": {
		"golang.org/x/sys": "names of signals",
	},
	"agentcore/authority": {
		"agentcore/promptfile":  "what a prompt of a folder runs",
		"agentcore/instruction": "instructions act in a folder, too",
		"agentcore/agent":       "modes and rules of definitions",
		"agentcore/config":      "rules of the configuration; it acts in a folder, too",
		"agentcore/event":       "ids",
		"agentcore/fault":       "refuses",
		"agentcore/feed":        "questions are stored and told",
		"agentcore/hook":        "hooks as people know them",
		"agentcore/mcpname":     "names of the tools of servers",
		"agentcore/network":     "addresses that the configuration allows",
		"agentcore/permission":  "decides",
		"agentcore/store":       "keeps what the user decided",
		"agentcore/tool":        "what tools declare that they reach for",
		"agentcore/workspace":   "where a path leads",
	},
	"agentcore/clip": {},
	"agentcore/toolset": {
		"agentcore/agent":      "what definitions name",
		"agentcore/authority":  "what no call would be made of is not offered",
		"agentcore/clip":       "descriptions are bounded",
		"agentcore/config":     "depth, search engine, who is asked",
		"agentcore/mcpname":    "names of the tools of servers",
		"agentcore/model":      "tools as models see them",
		"agentcore/permission": "what a policy could come to",
		"agentcore/skill":      "skills that can be loaded",
		"agentcore/spelling":   "did you mean",
		"agentcore/tool":       "the tools",
	},
	"agentcore/prompt": {
		"agentcore/git":         "tells of changes",
		"agentcore/agent":       "prompts of definitions and their variables",
		"agentcore/clip":        "numbers in words",
		"agentcore/config":      "variables of the configuration",
		"agentcore/event":       "the finding that a prompt is about",
		"agentcore/skill":       "skills in the prompt",
		"agentcore/tool":        "the task of a child",
		"agentcore/toolset":     "what the run is offered, and what it does without",
		"agentcore/workspace":   "folders, branch, the lines that are meant",
		"agentcore/instruction": "instructions in the prompt",
	},
	"agentcore/registry": {
		"agentcore/agent":      "parses and checks definitions",
		"agentcore/config":     "presets, providers and rules that definitions may count on",
		"agentcore/event":      "severities of problems",
		"agentcore/fault":      "refuses",
		"agentcore/permission": "what rules allow children",
		"agentcore/provider":   "models that definitions may name",
		"agentcore/store":      "keeps what was registered",
		"agentcore/tool":       "tools that definitions may name",
	},
	"agentcore/board": {
		"agentcore/crash":     "moments at which tests end the process",
		"agentcore/event":     "findings and hunks as they are told",
		"agentcore/fault":     "refuses",
		"agentcore/feed":      "hands over what is stored and told",
		"agentcore/history":   "hunks and runs as they are stored",
		"agentcore/secret":    "knows what was taken out of a text",
		"agentcore/store":     "commits before anybody is told",
		"agentcore/tool":      "findings as tools report them",
		"agentcore/workspace": "hunks, marks and layers",
	},
	"agentcore/process/command": {
		"agentcore/beside":        "looks ahead beside the model's answer",
		"agentcore/clip":          "what is told of text that is left out",
		"agentcore/event":         "the run that they work for",
		"agentcore/model":         "images of results in a conversation",
		"agentcore/permission":    "which files hold secrets or are protected, what a reader does not see",
		"agentcore/process":       "where there is no sandbox",
		"agentcore/sandbox":       "where there is one",
		"agentcore/sandbox/proxy": "the way to single hosts",
		"agentcore/secret":        "no output has one",
		"agentcore/tool":          "what the tools ask for and are told",
		"agentcore/workspace":     "what commands see, and their changes",
	},
	"agentcore/servers": {
		"agentcore/clip":            "names of servers are bounded",
		"agentcore/lazyregexp":      "how variables look in settings",
		"agentcore/agent":           "definitions bring servers",
		"agentcore/beside":          "servers start and end beside each other",
		"agentcore/config":          "has servers, and their layers",
		"agentcore/event":           "the session that they belong to, spans of symbols",
		"agentcore/fault":           "refuses commands of servers that are not there",
		"agentcore/filelock":        "knows which servers have outlived their process",
		"agentcore/langserver":      "the client of a language server",
		"agentcore/mcp":             "the client of an MCP server",
		"agentcore/mcpname":         "names of servers and their tools",
		"agentcore/network":         "which addresses a project's servers may have",
		"agentcore/permission":      "which files hold secrets, what a reader does not see",
		"agentcore/process":         "ends what servers have left",
		"agentcore/process/command": "starts servers, in a box or as the user",
		"agentcore/sandbox":         "what runs in a box",
		"agentcore/secret":          "learns the keys of servers",
		"agentcore/tool":            "tools of servers are tools, symbols are asked for by one",
		"agentcore/workspace":       "what language servers see",
	},
	"agentcore/feed": {
		"agentcore/permission": "makes visible what nobody sees",
		"agentcore/event":      "what is read",
		"agentcore/fault":      "a session may be gone",
		"agentcore/store":      "has what the log does not keep",
	},
	"agentcore/fault": {
		"agentcore/event":     "a refusal is told as a Failure",
		"agentcore/model":     "explains a provider's errors",
		"agentcore/workspace": "explains errors of files",
	},
	"agentcore/agent": {
		"agentcore/lazyregexp":       "how parts of definitions look",
		"agentcore/tomltree":         "places in definitions in TOML",
		"agentcore/beside":           "a panic over one file is raised where the load is answered",
		"agentcore/event":            "spans and severities of problems",
		"agentcore/hook":             "events and matchers of hooks",
		"agentcore/mcpname":          "names of tools of MCP servers",
		"agentcore/permission":       "rules of definitions",
		"agentcore/spelling":         "did you mean",
		"agentcore/tool":             "the names of tools",
		"github.com/BurntSushi/toml": "definitions in TOML",
		"go.yaml.in/yaml/v3":         "frontmatter of definitions",
	},
	"agentcore/config": {
		"agentcore/tomltree":         "places in the file",
		"agentcore/hook":             "events and matchers of hooks",
		"agentcore/permission":       "its rules",
		"agentcore/spelling":         "did you mean",
		"github.com/BurntSushi/toml": "the format of the file",
	},
	"agentcore/crash":   {},
	"agentcore/needs":   {},
	"agentcore/event":   {},
	"agentcore/hook":    {},
	"agentcore/mcpname": {}, // a leaf: how tools of MCP servers are named
	"agentcore/mcp": {
		"agentcore/mcpname":                      "names of tools",
		"agentcore/permission":                   "what a reader of a text does not see",
		"agentcore/process":                      "a server on pipes is one",
		"github.com/google/jsonschema-go":        "schemas of tools",
		"github.com/modelcontextprotocol/go-sdk": "the protocol",
	},
	"agentcore/mcp/mcptest": {
		"github.com/modelcontextprotocol/go-sdk": "the good server",
	},
	"agentcore/model": {
		"agentcore/lazyregexp": "how calls look that were written as text",
	},
	"agentcore/model/catalog": {
		"agentcore/model": "context sizes that are known by name",
	},
	"agentcore/model/anthropic": {
		"agentcore/lazyregexp":               "versions in the ids of models",
		"agentcore/model":                    "implements it",
		"agentcore/model/internal/transport": "HTTP and failures, the same for all vendors",
	},
	"agentcore/model/gemini": {
		"agentcore/model":                    "implements it",
		"agentcore/model/internal/transport": "HTTP and failures, the same for all vendors",
	},
	"agentcore/model/internal/transport": {
		"agentcore/lazyregexp": "how failures are worded",
		"agentcore/model":      "failures become its errors",
	},
	"agentcore/model/internal/conformance": {
		"agentcore/model":          "tests of what every wire promises",
		"github.com/google/go-cmp": "differences to the body that was expected",
		"go.uber.org/goleak":       "no goroutine is left",
	},
	"agentcore/acp": {
		"agentcore/clip":                  "what an agent wrote is quoted",
		"agentcore/permission":            "what nobody sees in that",
		"agentcore/process":               "an agent is one",
		"github.com/sourcegraph/jsonrpc2": "the client's side of a connection",
	},
	"agentcore/acp/acptest": {
		"agentcore/process": "starts processes that outlive the agent",
	},
	"agentcore/langserver": {
		"agentcore/process":               "a server is one",
		"github.com/sourcegraph/jsonrpc2": "the client's side of a connection",
	},
	"agentcore/lazyregexp": {}, // a leaf: expressions that most runs do not need
	"agentcore/lexer": {
		"agentcore/lazyregexp": "how here-documents are announced",
	},
	"agentcore/lint": {
		"agentcore/lazyregexp": "expressions of rules",
		"agentcore/lexer":      "tells code from comments and strings",
		"agentcore/secret":     "how tokens look",
	},
	"agentcore/tomltree": {
		"agentcore/lazyregexp": "how dates look",
	},
	"agentcore/outline": {
		"agentcore/lazyregexp": "how definitions look",
	},
	"agentcore/model/offline": {
		"agentcore/lazyregexp": "how answers of tools look",
		"agentcore/lexer":      "where words end",
		"agentcore/lint":       "what it finds in files",
		"agentcore/outline":    "what lines define",
		"agentcore/model":      "implements it",
	},
	"agentcore/model/openai": {
		"agentcore/model":                    "implements it",
		"agentcore/model/internal/transport": "HTTP and failures, the same for all vendors",
	},
	"agentcore/model/script": {
		"agentcore/model": "implements it, for tests",
	},
	"agentcore/model/wiretest": {
		"agentcore/model":        "the turns are its events",
		"agentcore/model/script": "says what the vendor's server answers",
	},
	"agentcore/permission": {
		"agentcore/glob":                   "which globs can be matched with",
		"agentcore/lazyregexp":             "how harmless arguments look",
		"agentcore/event":                  "runs and sessions that grants bind",
		"agentcore/mcpname":                "rules on tools of MCP servers",
		"agentcore/spelling":               "did you mean",
		"github.com/bmatcuk/doublestar/v4": "globs of rules on files",
		"mvdan.cc/sh/v3":                   "takes shell commands apart",
	},
	"agentcore/price": {
		"agentcore/lazyregexp":       "how versions of models look",
		"agentcore/model":            "tokens of an answer",
		"github.com/BurntSushi/toml": "the format of the table",
	},
	"agentcore/secret": {
		"agentcore/lazyregexp":          "how tokens look",
		"github.com/zalando/go-keyring": "keys in the system's keyring",
	},
	"agentcore/beneath": {
		"golang.org/x/sys": "calls that resolve a path below a folder by themselves",
	},
	"agentcore/sandbox": {
		"agentcore/beneath":                   "reads the workspace, and nothing that a link leads to",
		"agentcore/beside":                    "a panic over one folder is raised where the command starts",
		"agentcore/process":                   "ends a command with what it has started",
		"github.com/landlock-lsm/go-landlock": "Landlock beside the mounts",
		"golang.org/x/sys":                    "namespaces, mounts, system call filters, locks",
	},
	"agentcore/network": {},
	"agentcore/sandbox/proxy": {
		"agentcore/network": "which hosts are allowed, and which addresses anybody's",
		"agentcore/sandbox": "what it opens a way out of",
	},
	"agentcore/instruction": {
		"agentcore/glob":                   "which globs can be matched with",
		"github.com/bmatcuk/doublestar/v4": "globs of applyTo",
	},
	"agentcore/frontmatter": {
		"go.yaml.in/yaml/v3": "the head of a file",
	},
	"agentcore/promptfile": {
		"agentcore/agent":       "layers are those of definitions",
		"agentcore/beneath":     "reads files, and nothing that a link leads out to",
		"agentcore/clip":        "descriptions are bounded",
		"agentcore/frontmatter": "the head of a file",
		"agentcore/lazyregexp":  "how places of arguments and commands look",
		"agentcore/permission":  "what a reader of a text does not see; rules as others write them",
		"agentcore/skill":       "skills that a user calls",
		"agentcore/spelling":    "did you mean",
		"agentcore/tool":        "names of tools as others write them",
	},
	"agentcore/skill": {
		"agentcore/frontmatter": "the head of a file",
		"agentcore/clip":        "descriptions are bounded",
		"agentcore/beside":      "a panic over one file is raised where the load is answered",
		"agentcore/agent":       "layers and problems are those of definitions",
		"agentcore/event":       "places of problems",
		"agentcore/permission":  "what a reader of a text does not see",
		"agentcore/spelling":    "did you mean",
	},
	"agentcore/beside":   {}, // a leaf: panics of goroutines reach whoever waits for them
	"agentcore/spelling": {},
	"agentcore/filelock": {},
	"agentcore/slot": {
		"agentcore/filelock": "a slot of the machine is a locked file",
		"go.uber.org/goleak": "tests",
	},
	"agentcore/store": {
		"agentcore/filelock": "knows which processes have it open",
		"agentcore/crash":    "moments at which tests end the process",
		"agentcore/event":    "what is stored",
		"modernc.org/sqlite": "the database",
	},
	"agentcore/tool": {
		"agentcore/glob":        "which globs can be matched with",
		"agentcore/instruction": "what is remembered is an instruction",
		"agentcore/lazyregexp":  "how reports of checkers look",
		"agentcore/process":     "ends checkers with their children",
		"agentcore/beside":      "a panic of a checker is raised in its call",
		"agentcore/mcpname":     "tools of MCP servers have the names that they have",
		"agentcore/outline":     "symbols without a language server",
		"agentcore/spelling":    "did you mean",
		"agentcore/event":       "ids and findings",
		"agentcore/network":     "which addresses pages are fetched from",
		"agentcore/permission":  "what nobody sees in a page",
		"agentcore/price":       "what a task cost",
		"agentcore/workspace":   "the view that tools read and write",
		"github.com/JohannesKaufmann/html-to-markdown/v2": "pages for models",
		"golang.org/x/net":                 "parses pages, and finds out how they are encoded",
		"github.com/BurntSushi/toml":       "checks the syntax of a file",
		"github.com/bmatcuk/doublestar/v4": "glob",
		"github.com/google/jsonschema-go":  "arguments are checked",
		"go.yaml.in/yaml/v3":               "checks the syntax of a file",
	},
	"agentcore/tool/tooltest": {
		"agentcore/event":     "ids and findings",
		"agentcore/network":   "which addresses pages are fetched from",
		"agentcore/tool":      "a Host in memory, for tests",
		"agentcore/workspace": "the view of that Host",
	},
	"agentcore/watch": {
		"github.com/fsnotify/fsnotify": "what the system tells of changes",
	},
	"agentcore/workspace": {
		"agentcore/beneath":    "reads folders of the disk, and nothing that a link leads out to",
		"agentcore/beside":     "a panic over one file is raised where the scan is answered",
		"agentcore/event":      "ids",
		"agentcore/permission": "which files act by themselves or hold keys",
	},

	"editors/acp": {
		"agentcore":                       "drives the engine",
		"agentcore/acp":                   "types that both sides of the protocol see alike",
		"agentcore/agent":                 "which agents users talk with, and in which mode",
		"agentcore/authority":             "questions and their answers",
		"agentcore/config":                "MCP servers that the editor gives",
		"agentcore/event":                 "events become updates",
		"agentcore/fault":                 "tells refusals apart",
		"agentcore/feed":                  "reads the events",
		"agentcore/history":               "lists sessions, and what was said in them",
		"agentcore/lazyregexp":            "how links name lines",
		"agentcore/mention":               "links become mentions",
		"agentcore/model":                 "roles, and names of efforts",
		"agentcore/permission":            "modes, and scopes of answers",
		"agentcore/prompt":                "what prompts bring along",
		"agentcore/store":                 "sums of usage",
		"agentcore/tool":                  "images, and what calls reach for",
		"agentcore/workspace":             "unsaved texts, and edits",
		"agentcore/mcp/mcptest":           "tests start servers",
		"agentcore/model/script":          "tests script the model",
		"agentcore/provider":              "tests choose the model",
		"agentcore/sandbox":               "tests start sandboxes",
		"github.com/sourcegraph/jsonrpc2": "the connection",
		"github.com/google/jsonschema-go": "tests hold messages to the published schema",
	},
	"editors/e2e": {},

	"schema":          {},
	"schema/generate": {},
}

// testImports is what test files may import besides what their package may.
var testImports = because{
	"agentcore/acp/acptest":           "an agent that is scripted, and misbehaves",
	"agentcore/mcp/mcptest":           "MCP servers, good and hostile",
	"agentcore/model/script":          "a model that says what the test wants",
	"agentcore/model/wiretest":        "a vendor's server on the loopback",
	"agentcore/needs":                 "says what the machine lacks",
	"agentcore/tool/tooltest":         "what a tool runs on",
	"lsp/lsptest":                     "the fake editor",
	"github.com/google/go-cmp":        "differences",
	"github.com/rogpeppe/go-internal": "txtar, testscript",
	"github.com/sourcegraph/jsonrpc2": "an independent peer",
	"go.uber.org/goleak":              "no goroutine is left",
	"golang.org/x/tools/txtar":        "txtar",
	"pgregory.net/rapid":              "random inputs",
}

// packageTestImports is what the test files of one package may import besides that.
var packageTestImports = map[string]because{
	"agentcore/acp": {
		"agentcore/process/command": "starts the agents as the engine does",
	},
	"agentcore": {
		"agentcore/mcp": "states of servers",
	},
	"agentcore/agent": {
		"github.com/google/jsonschema-go": "the generated schema accepts what the reader accepts",
	},
	"agentcore/config": {
		"github.com/google/jsonschema-go": "the generated schema accepts what the loader accepts",
	},
	"agentcore/model/anthropic": {
		"agentcore/model/internal/conformance": "what every wire promises",
	},
	"agentcore/model/gemini": {
		"agentcore/model/internal/conformance": "what every wire promises",
	},
	"agentcore/model/openai": {
		"agentcore/model/internal/conformance": "what every wire promises",
	},
	"agentcore/model/wiretest": {
		"agentcore/model/anthropic": "the client of the server under test",
		"agentcore/model/gemini":    "the client of the server under test",
		"agentcore/model/openai":    "the client of the server under test",
	},
	"editors/acp": {
		"agentcore/process": "what the client of agentcore drives is a program",
	},
	"lsp": {
		"schema": "the documented run is played",
	},
	"lsp/authoring": {
		"agentcore":                        "what a configuration offers to definitions",
		"agentcore/provider":               "where models are found",
		"github.com/bmatcuk/doublestar/v4": "the globs of our document selector",
	},
	"lsp/lsptest": {
		"go.lsp.dev/jsonrpc2": "a server to talk to",
		"lsp/wire":            "a server to talk to",
	},
	"agentcore/tomltree": {
		"github.com/BurntSushi/toml": "what the library reads has a place",
	},
	"lsp/methods": {
		"schema": "the documented examples pass the dispatch",
	},
	"schema/generate": {
		"agentcore/event":                 "the documented events survive their way through Go",
		"github.com/google/jsonschema-go": "the documented examples fit the schema",
	},
}

// TestImports fails on an import that no table names, and on a package that has no entry.
func TestImports(t *testing.T) {
	for _, file := range goFiles(t) {
		folder := path.Dir(file)
		allowed, known := imports[folder]
		inTest := strings.HasSuffix(file, "_test.go")
		if !known && !inTest {
			t.Errorf("%s: the package %s has no entry in the table of imports; add it with what it may import, and why", file, folder)
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Errorf("parse the imports: %v", err)
			continue
		}
		for _, spec := range parsed.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Errorf("%s: import %s: %v", file, spec.Path.Value, err)
				continue
			}
			switch {
			case standard(name), allowed.covers(name):
			case inTest &&
				(name == modulePath+"/"+folder || testImports.covers(name) || packageTestImports[folder].covers(name)):
			default:
				t.Errorf("%s imports %s, which the table of imports does not allow for %s; if it should, add it there with the reason",
					file, name, folder)
			}
		}
	}
}

// TestImportTable fails on an entry without a reason, and on one against the direction of imports.
func TestImportTable(t *testing.T) {
	for folder, allowed := range imports {
		if _, known := floor(folder); !known {
			t.Errorf("%s belongs to none of the houses: cmd, lsp, agentcore, editors, schema", folder)
		}
		for name, reason := range allowed {
			if reason == "" {
				t.Errorf("%s may import %s without a reason", folder, name)
			}
			if fault := against(folder, name); fault != "" {
				t.Errorf("%s may import %s, but %s", folder, name, fault)
			}
		}
	}
	if len(imports["agentcore/event"]) != 0 {
		t.Error("agentcore/event is a leaf and may import the standard library only")
	}
}

// TestExpressionsAreLazy fails on a regular expression that each start of the program compiles, whatever it is for:
// package lazyregexp compiles them when they are first needed.
func TestExpressionsAreLazy(t *testing.T) {
	for _, file := range goFiles(t) {
		others := []string{"lsp/lsptest", "agentcore/model/script", "schema/generate"} // no part of the program
		if strings.HasSuffix(file, "_test.go") || slices.Contains(others, path.Dir(file)) {
			continue
		}
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Errorf("parse: %v", err)
			continue
		}
		for _, declared := range parsed.Decls {
			if general, ok := declared.(*ast.GenDecl); !ok || general.Tok != token.VAR {
				continue
			}
			ast.Inspect(declared, func(n ast.Node) bool {
				if name, ok := n.(*ast.SelectorExpr); ok {
					if from, ok := name.X.(*ast.Ident); ok && from.Name == "regexp" &&
						strings.HasPrefix(name.Sel.Name, "MustCompile") {
						t.Errorf("%s: an expression is compiled at each start; write lazyregexp.New",
							set.Position(n.Pos()))
					}
				}
				_, function := n.(*ast.FuncLit)
				return !function
			})
		}
	}
}

// TestDirection shows that the direction of imports is noticed whatever the table says.
func TestDirection(t *testing.T) {
	for _, test := range []struct {
		folder, name string
		fine         bool
	}{
		{"cmd/agentls", "lsp", true},
		{"cmd/agentls", "agentcore/store", true},
		{"cmd/agentls", "schema", true},
		{"lsp", "cmd/agentls", false},
		{"cmd/agentls", "editors/acp", true},
		{"editors/acp", "lsp", false},
		{"lsp", "agentcore", true},
		{"lsp", "lsp/wire", true},
		{"lsp", "go.lsp.dev/protocol", true},
		{"lsp/wire", "go.lsp.dev/jsonrpc2", true},
		{"lsp/wire", "lsp", false},
		{"lsp/client", "lsp", false},
		{"lsp/client", "lsp/wire", true},
		{"lsp/authoring", "lsp", false},
		{"lsp/surface", "lsp", false},
		{"lsp/surface", "lsp/delivery", false},
		{"lsp/surface", "lsp/remark", true},
		{"lsp/delivery", "lsp/document", true},
		{"lsp/document", "lsp/delivery", false},
		{"lsp/document", "lsp/authoring", true},
		{"lsp/client", "lsp/document", false},
		{"lsp/authoring", "lsp/client", false},
		{"lsp/authoring", "lsp/outline", true},
		{"lsp/wire", "lsp/client", false},
		{"lsp/lsptest", "lsp", true},
		{"lsp/methods", "agentcore/event", true},
		{"agentcore", "lsp", false},
		{"agentcore", "lsp/methods", false},
		{"agentcore", "go.lsp.dev/uri", false},
		{"agentcore", "github.com/sourcegraph/jsonrpc2", false},
		{"agentcore/langserver", "github.com/sourcegraph/jsonrpc2", true},
		{"agentcore/acp", "github.com/sourcegraph/jsonrpc2", true},
		{"agentcore/acp/acptest", "github.com/sourcegraph/jsonrpc2", false},
		{"agentcore", "agentcore/model/offline", true},
		{"agentcore/tool", "agentcore", false},
		{"agentcore/tool", "go.lsp.dev/protocol", false},
		{"agentcore/tool", "agentcore/workspace", true},
		{"agentcore/model/openai", "agentcore/model", true},
		{"agentcore/event", "agentcore/model", false},
		{"agentcore/event", "agentcore", false},
		{"agentcore/store", "agentcore/event", true},
		{"schema", "agentcore", false},
	} {
		if fault := against(test.folder, test.name); (fault == "") != test.fine {
			t.Errorf("%s imports %s: %q, fine should be %v", test.folder, test.name, fault, test.fine)
		}
	}
}

// floor is how high a package of this module stands. A package imports those of lower floors, and, where the
// table says so, those of its own floor.
func floor(folder string) (height int, known bool) {
	house, room, _ := strings.Cut(folder, "/")
	switch {
	case house == "cmd", folder == "editors/e2e":
		return 9, true
	case folder == "lsp/lsptest":
		return 8, true
	case folder == "lsp", folder == "editors/acp":
		return 7, true
	case folder == "lsp/surface", folder == "lsp/delivery", folder == "lsp/lending":
		return 6, true
	case folder == "lsp/document", folder == "lsp/remark", folder == "lsp/menu", folder == "lsp/asking":
		return 5, true
	case folder == "lsp/client", folder == "lsp/authoring", folder == "lsp/listing":
		return 4, true
	case folder == "lsp/outline": // which knows nothing but texts
		return 2, true
	case house == "lsp":
		return 3, true
	case folder == "agentcore":
		return 2, true
	case house == "agentcore" && room != "event":
		return 1, true
	case folder == "agentcore/event", house == "schema":
		return 0, true
	}
	return 0, false
}

// against tells what is wrong with an import, of another package of this module by its folder or of another
// module; empty where its direction is right.
func against(folder, name string) string {
	// The clients of language servers and of others' agents are at home in packages of their own.
	speaks := folder == "agentcore/langserver" || folder == "agentcore/acp"
	if strings.HasPrefix(folder+"/", "agentcore/") &&
		(strings.HasPrefix(name+"/", "go.lsp.dev/") ||
			!speaks && strings.HasPrefix(name+"/", "github.com/sourcegraph/jsonrpc2/")) {
		return "nothing in agentcore knows LSP"
	}
	from, _ := floor(folder)
	switch to, own := floor(name); {
	case !own, to < from, to == from && from == 1:
		return ""
	case to == from:
		return "packages of that floor do not know each other"
	default:
		return "that package stands above it"
	}
}

// covers tells whether an import path is one of the entries: exactly, for our own packages; it or something
// below it, for those of others.
func (b because) covers(name string) bool {
	if own, ok := strings.CutPrefix(name, modulePath+"/"); ok {
		_, ok = b[own]
		return ok
	}
	return slices.ContainsFunc(slices.Collect(maps.Keys(b)), func(module string) bool {
		return name == module || strings.HasPrefix(name, module+"/")
	})
}

// standard tells whether an import path is of the standard library: only the others begin with a host name.
func standard(name string) bool {
	host, _, _ := strings.Cut(name, "/")
	return !strings.Contains(host, ".")
}

// goFiles lists the Go files of this module, slash-separated and relative to its root. It leaves out what the go
// command leaves out (testdata, names that begin with a dot or an underscore, nested modules), the files of this
// folder, which are only tests over the tree.
func goFiles(t *testing.T) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := entry.Name()
		if entry.IsDir() {
			if name == "." {
				return nil
			}
			nested, err := filepath.Glob(filepath.Join(name, "go.mod"))
			if err != nil {
				return err
			}
			if len(nested) > 0 || base == "testdata" || base == "node_modules" || base[0] == '.' || base[0] == '_' {
				return filepath.SkipDir
			}
			return nil
		}
		if strings.HasSuffix(base, ".go") && filepath.Dir(name) != "." {
			files = append(files, filepath.ToSlash(name))
		}
		return nil
	})
	if err != nil {
		t.Fatalf("list the Go files: %v", err)
	}
	if len(files) == 0 {
		t.Fatal("there are no Go files below this folder")
	}
	return files
}
