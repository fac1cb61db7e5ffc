package config

import (
	"errors"
	"iter"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/agentls/agentls/agentcore/hook"
	"github.com/agentls/agentls/agentcore/permission"
)

// never is wider for keys that a project's file may not set at all: it counts even an unchanged value as wider.
func never(below, project *Config) bool { return true }

// moreOf reports whether a limit allows more than another; 0 means no limit.
func moreOf[T int | int64 | float64](below, project T) bool {
	return below != 0 && (project == 0 || project > below)
}

// settings returns all top-level fields. Callers do not change them.
var settings = sync.OnceValue(func() []field {
	fields := slices.Concat(runFields, surfaceFields, recordFields, storeFields, compositeFields)
	for i := range fields {
		f := &fields[i]
		if f.entry == nil {
			f.entry = func() any { return new(Config) }
		}
		for j := range f.entries {
			f.entries[j].entry = f.entry
		}
	}
	return fields
})

// runFields are the keys of runs and delegation.
var runFields = []field{
	{
		key: "default_agent", def: "coder", nonEmpty: true, check: printable,
		doc: "Slug or alias of the agent that runs when none is named.",
		at:  in(func(c *Config) any { return &c.DefaultAgent }),
	},
	{
		key: "default_model", check: printable,
		doc: "Model of runs that name none: provider/model or a preset. Empty: detected.",
		at:  in(func(c *Config) any { return &c.DefaultModel }),
	},
	{
		key: "max_depth", def: 3, least: 1, most: 64,
		doc: "Greatest depth of delegation; a user's run has depth 0, its children 1.",
		at:  in(func(c *Config) any { return &c.MaxDepth }),
	},
	{
		key: "max_children_per_session", def: 8, least: 1, most: 4096,
		doc: "Children of one session that may run at the same time.",
		at:  in(func(c *Config) any { return &c.MaxChildrenPerSession }),
	},
	{
		key: "max_children_per_machine", def: 16, least: 1, most: 4096, wider: never,
		doc: "Children that may run at the same time on this machine, over all servers of the user.",
		at:  in(func(c *Config) any { return &c.MaxChildrenPerMachine }),
	},
	{
		key: "default_max_turns", def: 30, least: 1, most: 1e6,
		doc: "Turns of a run whose definition sets no limit.",
		at:  in(func(c *Config) any { return &c.DefaultMaxTurns }),
	},
	{
		key: "default_timeout", def: 5 * time.Minute, least: float64(time.Second),
		doc: "Time of a run whose definition sets no limit.",
		at:  in(func(c *Config) any { return &c.DefaultTimeout }),
	},
	{
		key: "budget.tokens",
		doc: "Tokens, input and output, that all runs of a session may use together; what a provider's cache served " +
			"does not count. 0: no limit. A definition has limits of each run.",
		at:    in(func(c *Config) any { return &c.BudgetTokens }),
		wider: func(below, project *Config) bool { return moreOf(below.BudgetTokens, project.BudgetTokens) },
	},
	{
		key: "budget.cost",
		doc: "Cost in US dollars that all runs of a session may cause together. 0: no limit. A definition has " +
			"limits of each run.",
		at:    in(func(c *Config) any { return &c.BudgetCost }),
		wider: func(below, project *Config) bool { return moreOf(below.BudgetCost, project.BudgetCost) },
	},
	{
		key: "instructions.max_bytes", def: int64(32 << 10), size: true, most: 1 << 20,
		doc: "Bytes that the instructions of the user and the project (AGENTS.md and the like) may have in a prompt, all " +
			"together, and never more than a quarter of what the model takes. The furthest from the files at hand are cut " +
			"first. 0: no instructions.",
		at:    in(func(c *Config) any { return &c.InstructionsMaxBytes }),
		wider: func(below, project *Config) bool { return project.InstructionsMaxBytes > below.InstructionsMaxBytes },
	},
	{
		key: "subagent_ask", def: AskDeny, enum: []string{string(AskDeny), string(AskBubble)},
		doc: "What happens to a child's question for permission: deny it with a reason, or bubble it up to the user.",
		at:  in(func(c *Config) any { return &c.SubagentAsk }),
		wider: func(below, project *Config) bool {
			return below.SubagentAsk == AskDeny && project.SubagentAsk != AskDeny
		},
	},
	{
		key: "ask_timeout", def: 5 * time.Minute, least: float64(time.Second),
		doc: "Time after which an unanswered question for permission is denied.",
		at:  in(func(c *Config) any { return &c.AskTimeout }),
	},
}

// surfaceFields are the keys of what the editor shows.
var surfaceFields = []field{
	{
		key: "code_lens", def: false,
		doc: "Offer the launch actions, and what to do with proposed edits, as code lenses.",
		at:  in(func(c *Config) any { return &c.CodeLens }),
	},
	{
		key: "inlay_status", def: true,
		doc: "Show running agents as inlay hints where they were launched or are working.",
		at:  in(func(c *Config) any { return &c.InlayStatus }),
	},
	{
		key: "statusline",
		doc: "Status line: a template such as \"{{agent}}: {{activity}}\", or ! and a command for the " +
			"shell that gets the session as JSON on its standard input; the first line that it prints is shown. " +
			"Without the ! it is shown as text. Empty: the built-in one.",
		at: in(func(c *Config) any { return &c.Statusline }),
		// The status line may be a command, which would run without a sandbox.
		wider: never,
	},
}

// recordFields are the keys of how sessions are named.
var recordFields = []field{
	{
		key: "session_titles", def: TitlesAuto,
		enum: []string{string(TitlesAuto), string(TitlesModel), string(TitlesRules)},
		doc: "Who names and sums up sessions: a model in the background, rules, or auto: a model where " +
			"small_model is set or its price is known.",
		at: in(func(c *Config) any { return &c.SessionTitles }),
		wider: func(below, project *Config) bool {
			return below.SessionTitles != TitlesModel && project.SessionTitles != TitlesRules &&
				project.SessionTitles != below.SessionTitles
		},
	},
	{
		key: "small_model", check: printable,
		doc: "Model for titles and summaries of sessions: provider/model or a preset. Empty: the run's own.",
		at:  in(func(c *Config) any { return &c.SmallModel }),
	},
}

// storeFields are the keys of the sandbox, the store and requests to models.
var storeFields = []field{
	{
		key: "sandbox", def: SandboxAuto, enum: []string{string(SandboxAuto), string(SandboxOff)},
		doc: "Sandbox for commands: auto takes the strongest that the machine offers, off runs them directly under " +
			"the rules alone.",
		at: in(func(c *Config) any { return &c.Sandbox }),
		wider: func(below, project *Config) bool {
			return below.Sandbox == SandboxAuto && project.Sandbox != SandboxAuto
		},
	},
	{
		key: "sandbox_network", def: false,
		doc:   "Give sandboxed commands the network.",
		at:    in(func(c *Config) any { return &c.SandboxNetwork }),
		wider: func(below, project *Config) bool { return project.SandboxNetwork && !below.SandboxNetwork },
	},
	{
		key: "retention.days", def: 90, most: 36500, wider: never,
		doc: "Days that finished sessions are kept. 0: for ever.",
		at:  in(func(c *Config) any { return &c.RetentionDays }),
	},
	{
		key: "retention.size", def: int64(1 << 30), size: true, wider: never,
		doc: "Size of the state folder, in bytes, above which the oldest finished sessions go. 0: no limit.",
		at:  in(func(c *Config) any { return &c.RetentionSize }),
	},
	{
		key: "retry.max_attempts", def: 6, least: 1, most: 100,
		doc: "Attempts at one request to a model, the first included.",
		at:  in(func(c *Config) any { return &c.RetryMaxAttempts }),
	},
	{
		key: "retry.max_elapsed", def: 90 * time.Second,
		doc: "Time after which a failing request to a model is not tried again.",
		at:  in(func(c *Config) any { return &c.RetryMaxElapsed }),
	},
	{
		key: "network.allow", check: checkHost, wider: never,
		doc: "Hosts, each host or host:port, that webfetch and sandboxes may reach without asking; private ones " +
			"only if named.",
		at: in(func(c *Config) any { return &c.NetworkAllow }),
	},
	{
		key: "websearch.kind", enum: []string{"searxng", "brave", "tavily"}, wider: never,
		doc: "Search engine that websearch asks: searxng, brave or tavily. Empty: agents are not offered websearch.",
		at:  in(func(c *Config) any { return &c.WebsearchKind }),
	},
	{
		key: "websearch.base_url", check: checkURL, show: showURL, wider: never,
		doc: "Where the search engine answers; needed for searxng. Empty: the vendor's.",
		at:  in(func(c *Config) any { return &c.WebsearchBaseURL }),
	},
	{
		key: "websearch.key_env", check: checkVariable, wider: never,
		doc: "Name of the environment variable, or of the line in keys.env beside config.toml, that holds the search " +
			"engine's key; keyring:NAME for one in the system's keyring (service agentls). Empty: BRAVE_API_KEY or " +
			"TAVILY_API_KEY with the vendor's own address, else no key is sent.",
		at: in(func(c *Config) any { return &c.WebsearchKeyEnv }),
	},
}

// compositeFields are the keys that hold tables.
var compositeFields = []field{
	{
		key: "providers", shape: named, entries: providerFields, wider: never,
		doc:   "Model providers by name; anthropic, openai and gemini are always there.",
		at:    in(func(c *Config) any { return &c.Providers }),
		entry: func() any { return new(Provider) },
		each:  func(c *Config) iter.Seq2[string, any] { return eachNamed("providers", c.Providers) },
		merge: func(l *loader, f *field, n node) { mergeNamed(l, f, n, l.config.Providers) },
	},
	{
		key: "presets", shape: named, entries: presetFields,
		doc:   "Named model settings, to be used wherever a model can be named.",
		at:    in(func(c *Config) any { return &c.Presets }),
		entry: func() any { return new(Preset) },
		each:  func(c *Config) iter.Seq2[string, any] { return eachNamed("presets", c.Presets) },
		merge: func(l *loader, f *field, n node) { mergeNamed(l, f, n, l.config.Presets) },
	},
	{
		key: "models", shape: named, entries: modelFields,
		doc: "What is known of models, by provider/model; a name may end in * for all that begin so. It replaces " +
			"what agentls knows of them.",
		at:    in(func(c *Config) any { return &c.Models }),
		entry: func() any { return new(Model) },
		each:  func(c *Config) iter.Seq2[string, any] { return eachNamed("models", c.Models) },
		merge: func(l *loader, f *field, n node) { mergeNamed(l, f, n, l.config.Models) },
	},
	{
		key: "prices", shape: named, entries: priceFields, wider: never,
		doc: "What models cost in US dollars per million tokens, by provider/model; a name may end in * for all " +
			"that begin so. It replaces the built-in price.",
		at:    in(func(c *Config) any { return &c.Prices }),
		entry: func() any { return new(Price) },
		each:  func(c *Config) iter.Seq2[string, any] { return eachNamed("prices", c.Prices) },
		merge: (*loader).mergePrices,
	},
	{
		key: "permission", shape: listed, entries: permissionFields,
		doc: "Permission rules in order, those of the user first, then those of the project, the environment, the " +
			"editor and the command line.",
		at:    in(func(c *Config) any { return &c.Permissions }),
		entry: func() any { return new(Permission) },
		each:  func(c *Config) iter.Seq2[string, any] { return eachListed("permission", c.Permissions) },
		merge: (*loader).mergePermissions,
	},
	{
		key: "hooks", shape: namedListed, entries: hookFields, names: HookEvents(),
		doc:   "Commands to run at points of a run's life, by event, in the order of the layers.",
		at:    in(func(c *Config) any { return &c.Hooks }),
		entry: func() any { return new(Hook) },
		each: func(c *Config) iter.Seq2[string, any] {
			return func(yield func(string, any) bool) {
				for _, event := range HookEvents() {
					for key, hook := range eachListed("hooks."+event, c.Hooks[event]) {
						if !yield(key, hook) {
							return
						}
					}
				}
			}
		},
		merge: (*loader).mergeHooks,
	},
	{
		key: "languages", shape: named, entries: languageFields, wider: never,
		doc:   "Language servers by language, for the tool symbols; well-known ones are used where they are installed.",
		at:    in(func(c *Config) any { return &c.Languages }),
		entry: func() any { return new(Language) },
		each:  func(c *Config) iter.Seq2[string, any] { return eachNamed("languages", c.Languages) },
		merge: func(l *loader, f *field, n node) { mergeNamed(l, f, n, l.config.Languages) },
	},
	{
		key: "mcp", shape: named, entries: mcpFields, oneOf: []string{"command", "url"},
		doc:   "MCP servers by name. A later layer's server replaces an earlier one of that name as a whole.",
		at:    in(func(c *Config) any { return &c.MCP }),
		entry: func() any { return new(MCPServer) },
		each:  func(c *Config) iter.Seq2[string, any] { return eachNamed("mcp", c.MCP) },
		merge: (*loader).mergeMCP,
	},
	{
		key: "prompt.variables",
		doc: "Variables for prompt templates, by name.",
		at:  in(func(c *Config) any { return &c.PromptVariables }),
	},
}

var providerFields = []field{
	{
		key: "kind", enum: []string{"anthropic", "openai", "gemini"},
		doc: "Wire that it speaks. Default: the table's name.",
		at:  in(func(p *Provider) any { return &p.Kind }),
	},
	{
		key: "api", enum: []string{"chat", "responses"}, optional: true,
		doc: "Which of OpenAI's interfaces to speak: responses or chat (Chat Completions). Only for the kind openai. " +
			"Default: responses at OpenAI's own base URL, whose newer models take tools and reasoning together only there, " +
			"and chat elsewhere.",
		at: in(func(p *Provider) any { return &p.API }),
	},
	{
		key: "base_url", check: checkURL, show: showURL,
		doc: "Base URL of the interface. Anthropic's has no /v1, OpenAI's ends in /v1. Default: the vendor's.",
		at:  in(func(p *Provider) any { return &p.BaseURL }),
	},
	{
		key: "key_env", check: checkVariable,
		doc: "Name of the environment variable, or of the line in keys.env beside config.toml, that holds the key; " +
			"keyring:NAME for one in the system's keyring (service agentls). Default: the vendor's, with " +
			"the vendor's own base URL only. Empty: no key is sent.",
		at: in(func(p *Provider) any { return &p.KeyEnv }),
	},
	{
		key: "headers", secret: true, optional: true,
		doc: "Headers added to each request. Their values are never shown.",
		at:  in(func(p *Provider) any { return &p.Headers }),
	},
	{
		key: "models", nonEmpty: true, optional: true,
		doc: "Models to offer in lists; any other model id passes through as well.",
		at:  in(func(p *Provider) any { return &p.Models }),
	},
}

var presetFields = []field{
	{
		key: "model", check: printable,
		doc: "Model as provider/model. Empty: as if no preset were named.",
		at:  in(func(p *Preset) any { return &p.Model }),
	},
	{
		key: "temperature", most: 2, optional: true,
		doc: "Sampling temperature. Absent: the provider's own.",
		at:  in(func(p *Preset) any { return &p.Temperature }),
	},
	{
		key: "max_tokens", most: 1e9, optional: true,
		doc: "Greatest number of tokens in one answer. 0: the provider's own.",
		at:  in(func(p *Preset) any { return &p.MaxTokens }),
	},
	{
		key: "effort", enum: []string{"low", "medium", "high"}, optional: true,
		doc: "How much the model thinks: low, medium or high. Absent: the model's own.",
		at:  in(func(p *Preset) any { return &p.Effort }),
	},
}

var modelFields = []field{
	{
		key: "context_tokens", most: 1e9, optional: true,
		doc: "How many tokens a request and its answer may have together. 0: what agentls knows of the model.",
		at:  in(func(m *Model) any { return &m.ContextTokens }),
	},
}

var priceFields = []field{
	{
		key: "input", required: true,
		doc: "Tokens sent.",
		at:  in(func(p *Price) any { return &p.Input }),
	},
	{
		key: "output", required: true,
		doc: "Tokens received, reasoning included.",
		at:  in(func(p *Price) any { return &p.Output }),
	},
	{
		key: "cached", optional: true,
		doc: "Tokens sent that the provider's cache served. Absent: as input.",
		at:  in(func(p *Price) any { return &p.Cached }),
	},
	{
		key: "written", optional: true,
		doc: "Tokens sent that were put into the provider's cache. Absent: as input.",
		at:  in(func(p *Price) any { return &p.Written }),
	},
}

var permissionFields = []field{
	{
		key: "tool", required: true, nonEmpty: true, check: printable,
		doc: "Tool that the rule is about, by its canonical name; * stands for every tool.",
		at:  in(func(p *Permission) any { return &p.Tool }),
	},
	{
		key: "pattern",
		doc: "Which calls: the words of a command for bash, a path glob from the workspace root for file tools. " +
			"Empty: every call.",
		at: in(func(p *Permission) any { return &p.Pattern }),
	},
	{
		key: "action", required: true, enum: []string{
			string(permission.Allow), string(permission.Ask),
			string(permission.Deny),
		},
		doc: "What the rule decides: allow, ask or deny.",
		at:  in(func(p *Permission) any { return &p.Action }),
	},
}

var hookFields = []field{
	{
		key: "command", required: true,
		doc: "Program and arguments as a list, or one string for sh -c. It gets the event as JSON on its " +
			"standard input.",
		at: in(func(h *Hook) any { return &h.Command }),
	},
	{
		key: "matcher", optional: true,
		doc: "What the hook is for: tools in PreToolUse and PostToolUse, agents in SubagentStart, SubagentStop and " +
			"Stop; names with | between them, or regular expressions. Empty: all.",
		at: in(func(h *Hook) any { return &h.Matcher }),
	},
	{
		key: "timeout", def: time.Minute, least: float64(time.Millisecond), most: float64(time.Hour),
		doc: "Time after which the command is ended.",
		at:  in(func(h *Hook) any { return &h.Timeout }),
	},
}

var languageFields = []field{
	{
		key: "command", optional: true,
		doc: "Program and arguments as a list, or one string for sh -c; it speaks on its standard input and output. " +
			"Empty: none is used.",
		at: in(func(l *Language) any { return &l.Command }),
	},
	{
		key: "files", optional: true,
		doc: "Names of the files that it knows, such as *.go. Empty: those of the well-known server of that name.",
		at:  in(func(l *Language) any { return &l.Files }),
	},
}

var mcpFields = []field{
	{
		key: "command", nonEmpty: true, optional: true,
		doc: "Program to start; it speaks MCP on its standard input and output.",
		at:  in(func(m *MCPServer) any { return &m.Command }),
	},
	{
		key: "args", optional: true,
		doc: "Arguments of the program.",
		at:  in(func(m *MCPServer) any { return &m.Args }),
	},
	{
		key: "env", secret: true, optional: true,
		doc: "Environment variables added for the program. Their values are never shown. `${NAME}` and " +
			"`${NAME:-default}` are filled in from the environment, the file of keys, or, as `${keyring:NAME}`, the " +
			"keyring; in args, url and headers, too.",
		at: in(func(m *MCPServer) any { return &m.Env }),
	},
	{
		key: "url", check: checkURL, show: showURL, optional: true,
		doc: "Address of a server that speaks MCP over HTTP.",
		at:  in(func(m *MCPServer) any { return &m.URL }),
	},
	{
		key: "headers", secret: true, optional: true,
		doc: "Headers added to each request over HTTP. Their values are never shown. `${NAME}` is filled in as in env.",
		at:  in(func(m *MCPServer) any { return &m.Headers }),
	},
}

// HookEvents returns the names of the events that hooks can be set for.
func HookEvents() []string { return hook.Events() }

// vendors are the providers that always exist, and the defaults for providers of their kinds.
var vendors = map[string]Provider{
	"anthropic": {BaseURL: "https://api.anthropic.com", KeyEnv: "ANTHROPIC_API_KEY"},
	"openai":    {API: "responses", BaseURL: "https://api.openai.com/v1", KeyEnv: "OPENAI_API_KEY"},
	"gemini":    {BaseURL: "https://generativelanguage.googleapis.com", KeyEnv: "GEMINI_API_KEY"},
}

// vendorOrder is the order of the vendors.
var vendorOrder = []string{"anthropic", "openai", "gemini"}

// printable refuses control characters, and space around a name.
func printable(text string) error {
	if strings.TrimSpace(text) != text || strings.ContainsFunc(text, unicode.IsControl) {
		return errors.New("must not have control characters, or space around it")
	}
	return nil
}

// checkURL requires an absolute HTTP address. Its error does not repeat the text, which may contain a secret.
func checkURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return errors.New("expected an address like https://host/path")
	}
	return nil
}

// checkVariable requires the name of an environment variable, so that a key is noticed that was put there by mistake.
func checkVariable(text string) error {
	if account, ok := strings.CutPrefix(text, "keyring:"); ok && account != "" {
		return nil
	}
	for i, r := range text {
		if r != '_' && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && (i == 0 || r < '0' || r > '9') {
			return errors.New("expected the name of an environment variable, or keyring:NAME, not the key itself")
		}
	}
	return nil
}

var errHost = errors.New("expected host or host:port, with no scheme, path or wildcard")

// checkHost requires host, host:port or [address]:port, without scheme, path or wildcard.
func checkHost(text string) error {
	host := text
	if h, port, err := net.SplitHostPort(text); err == nil {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return errHost
		}
		host = h
	}
	if host == "" || strings.ContainsAny(host, "/*?@#[] \t\r\n") || strings.Contains(host, ":") &&
		net.ParseIP(host) == nil {
		return errHost
	}
	return nil
}
