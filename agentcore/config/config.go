package config

import (
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/permission"
)

// Config is one effective configuration. It is an immutable snapshot: Load makes it, any goroutine may read it, and
// nobody changes it or what its maps, slices and pointers hold. The zero Config is not valid; use Default or Load.
type Config struct {
	// Slug or alias of the agent that runs when none is named.
	DefaultAgent string
	// Model of runs that name none: provider/model or a preset. Empty: detected.
	DefaultModel string
	Delegation
	// Bytes that the instructions of the user and the project (AGENTS.md and the like) may have in a prompt, all
	// together, and never more than a quarter of what the model takes. The furthest from the files at hand are cut
	// first. 0: no instructions.
	InstructionsMaxBytes int64
	Budget
	// What happens to a child's question for permission: deny it with a reason, or bubble it up to the user.
	SubagentAsk SubagentAsk
	// Time after which an unanswered question for permission is denied.
	AskTimeout time.Duration
	Display
	Titling
	Boxing
	Retention
	Retry
	Websearch
	// Model providers by name; anthropic, openai and gemini are always there.
	Providers map[string]Provider
	// Named model settings, to be used wherever a model can be named.
	Presets map[string]Preset
	// What is known of models, by provider/model; a name may end in * for all that begin so. It replaces what agentls
	// knows of them.
	Models map[string]Model
	// What models cost in US dollars per million tokens, by provider/model; a name may end in * for all that begin so.
	// It replaces the built-in price.
	Prices map[string]Price
	// Permission rules in order, those of the user first, then those of the project, the environment, the editor and
	// the command line.
	Permissions []Permission
	// Commands to run at points of a run's life, by event, in the order of the layers.
	Hooks map[string][]Hook
	// Language servers by language, for the tool symbols; well-known ones are used where they are installed.
	Languages map[string]Language
	// MCP servers by name. A later layer's server replaces an earlier one of that name as a whole.
	MCP map[string]MCPServer
	// Variables for prompt templates, by name.
	PromptVariables map[string]string

	// origins holds the origin of each key that is not a default, by its full key.
	origins map[string]Origin
}

// Delegation bounds runs and their children.
type Delegation struct {
	// Greatest depth of delegation; a user's run has depth 0, its children 1.
	MaxDepth int
	// Children of one session that may run at the same time.
	MaxChildrenPerSession int
	// Children that may run at the same time on this machine, over all servers of the user.
	MaxChildrenPerMachine int
	// Turns of a run whose definition sets no limit.
	DefaultMaxTurns int
	// Time of a run whose definition sets no limit.
	DefaultTimeout time.Duration
}

// Budget is what all runs of a session may use together.
type Budget struct {
	// Tokens, input and output, that all runs of a session may use together; what a provider's cache served does not
	// count. 0: no limit. A definition has limits of each run.
	BudgetTokens int64
	// Cost in US dollars that all runs of a session may cause together. 0: no limit. A definition has limits of each
	// run.
	BudgetCost float64
}

// Display says what the editor shows.
type Display struct {
	// Offer the launch actions, and what to do with proposed edits, as code lenses.
	CodeLens bool
	// Show running agents as inlay hints where they were launched or are working.
	InlayStatus bool
	// Status line: a template such as "{{agent}}: {{activity}}", or ! and a command for the shell that gets the session
	// as JSON on its standard input; the first line that it prints is shown. Without the ! it is shown as text. Empty:
	// the built-in one.
	Statusline string
}

// Titling says who names and sums up sessions.
type Titling struct {
	// Who names and sums up sessions: a model in the background, rules, or auto: a model where small_model is set or
	// its price is known.
	SessionTitles SessionTitles
	// Model for titles and summaries of sessions: provider/model or a preset. Empty: the run's own.
	SmallModel string
}

// Boxing says how commands run, and what they reach.
type Boxing struct {
	// Sandbox for commands: auto takes the strongest that the machine offers, off runs them directly under the rules
	// alone.
	Sandbox SandboxMode
	// Give sandboxed commands the network.
	SandboxNetwork bool
	// Hosts, each host or host:port, that webfetch and sandboxes may reach without asking; private ones only if named.
	NetworkAllow []string
}

// Retention says how long finished sessions are kept.
type Retention struct {
	// Days that finished sessions are kept. 0: for ever.
	RetentionDays int
	// Size of the state folder, in bytes, above which the oldest finished sessions go. 0: no limit.
	RetentionSize int64
}

// Retry says how often a request to a model is tried.
type Retry struct {
	// Attempts at one request to a model, the first included.
	RetryMaxAttempts int
	// Time after which a failing request to a model is not tried again.
	RetryMaxElapsed time.Duration
}

// Websearch is the search engine that agents may ask.
type Websearch struct {
	// Search engine that websearch asks: searxng, brave or tavily. Empty: agents are not offered websearch.
	WebsearchKind string
	// Where the search engine answers; needed for searxng. Empty: the vendor's.
	WebsearchBaseURL string
	// Name of the environment variable, or of the line in keys.env beside config.toml, that holds the search engine's
	// key; keyring:NAME for one in the system's keyring (service agentls). Empty: BRAVE_API_KEY or TAVILY_API_KEY with
	// the vendor's own address, else no key is sent.
	WebsearchKeyEnv string
}

// SubagentAsk says what happens when a child run needs a permission that no rule decides. Values: AskDeny, AskBubble.
type SubagentAsk string

const (
	// AskDeny denies the child's call with a reason.
	AskDeny SubagentAsk = "deny"
	// AskBubble asks the user, naming the child.
	AskBubble SubagentAsk = "bubble"
)

// SessionTitles says who names sessions and sums them up. Values: TitlesAuto, TitlesModel, TitlesRules.
type SessionTitles string

const (
	// TitlesAuto has a model do it where small_model is set, or the price of the run's own model is known.
	TitlesAuto SessionTitles = "auto"
	// TitlesModel has a model do it.
	TitlesModel SessionTitles = "model"
	// TitlesRules makes titles and summaries by rules, and asks no model.
	TitlesRules SessionTitles = "rules"
)

// SandboxMode says how commands run. Values: SandboxAuto, SandboxOff.
type SandboxMode string

const (
	// SandboxAuto takes the strongest sandbox that the machine offers.
	SandboxAuto SandboxMode = "auto"
	// SandboxOff runs commands directly; the permission rules alone decide.
	SandboxOff SandboxMode = "off"
)

// Provider is one way to reach models: [providers.NAME].
type Provider struct {
	// Wire that it speaks. Default: the table's name.
	Kind string
	// Which of OpenAI's interfaces to speak: responses or chat (Chat Completions). Only for the kind openai. Default:
	// responses at OpenAI's own base URL, whose newer models take tools and reasoning together only there, and chat
	// elsewhere.
	API string
	// Base URL of the interface. Anthropic's has no /v1, OpenAI's ends in /v1. Default: the vendor's.
	BaseURL string
	// Name of the environment variable, or of the line in keys.env beside config.toml, that holds the key; keyring:NAME
	// for one in the system's keyring (service agentls). Default: the vendor's, with the vendor's own base URL only.
	// Empty: no key is sent.
	KeyEnv string
	// Headers added to each request. Their values are never shown.
	Headers map[string]string
	// Models to offer in lists; any other model id passes through as well.
	Models []string
}

// Key returns the provider's key by getenv (os.Getenv), and whether there is one. A provider without KeyEnv has no key,
// and requests to it carry none.
func (p Provider) Key(getenv func(string) string) (string, bool) {
	if p.KeyEnv == "" || getenv == nil {
		return "", false
	}
	key := strings.TrimSpace(getenv(p.KeyEnv))
	return key, key != ""
}

// Unlisted returns the names of the providers that no run chooses by itself: none of their models is known, the
// configuration names none, and there is neither a key for them nor a server on this machine.
func (c *Config) Unlisted() []string {
	named := map[string]bool{}
	name := func(model string) {
		provider, _, _ := strings.Cut(model, "/")
		named[provider] = true
	}
	name(c.DefaultModel)
	name(c.SmallModel)
	for _, preset := range c.Presets {
		name(preset.Model)
	}
	var list []string
	for _, name := range slices.Sorted(maps.Keys(c.Providers)) {
		p := c.Providers[name]
		if len(p.Models) == 0 && p.KeyEnv == "" && name != p.Kind && !named[name] && !OnLoopback(p.BaseURL) {
			list = append(list, name)
		}
	}
	return list
}

// OnLoopback reports whether an address is a loopback address.
func OnLoopback(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// Preset is a named set of model settings: [presets.NAME].
type Preset struct {
	// Model as provider/model. Empty: as if no preset were named.
	Model string
	// Sampling temperature. Absent: the provider's own.
	Temperature *float64
	// Greatest number of tokens in one answer. 0: the provider's own.
	MaxTokens int
	// How much the model thinks: low, medium or high. Absent: the model's own.
	Effort string
}

// Price is what a model costs, in US dollars per million tokens: [prices."PROVIDER/MODEL"]. Input and Output are never
// nil.
type Price struct {
	// Tokens sent.
	Input *float64
	// Tokens received, reasoning included.
	Output *float64
	// Tokens sent that the provider's cache served. Absent: as input.
	Cached *float64
	// Tokens sent that were put into the provider's cache. Absent: as input.
	Written *float64
}

// Price returns the price that is set for a model, and whether there is one. The price for the model's exact name comes
// first, then the price for the longest matching name that ends in *.
func (c *Config) Price(model string) (Price, bool) { return byName(c.Prices, model) }

// Model is what is known of a model: [models."PROVIDER/MODEL"].
type Model struct {
	// How many tokens a request and its answer may have together. 0: what agentls knows of the model.
	ContextTokens int64
}

// ContextTokens returns the context size that is set for a model's exact name, or else for the longest matching name
// that ends in *; 0 if none is set.
func (c *Config) ContextTokens(model string) int64 {
	m, _ := byName(c.Models, model)
	return m.ContextTokens
}

// byName returns the value for a name, or else for the longest matching name that ends in *.
func byName[T any](values map[string]T, name string) (T, bool) {
	if value, ok := values[name]; ok {
		return value, true
	}
	var found T
	longest := -1
	for pattern, value := range values {
		prefix, ok := strings.CutSuffix(pattern, "*")
		if ok && len(prefix) > longest && strings.HasPrefix(name, prefix) {
			found, longest = value, len(prefix)
		}
	}
	return found, longest >= 0
}

// Permission is one rule: [[permission]].
type Permission struct {
	// Tool that the rule is about, by its canonical name; * stands for every tool.
	Tool string
	// Which calls: the words of a command for bash, a path glob from the workspace root for file tools. Empty: every
	// call.
	Pattern string
	// What the rule decides: allow, ask or deny.
	Action permission.Action

	// Origin is the place that the rule comes from.
	Origin Origin
}

// Rule is the rule without its origin.
func (p Permission) Rule() permission.Rule {
	return permission.Rule{Tool: p.Tool, Pattern: p.Pattern, Action: p.Action}
}

// Command is a program with its arguments. In a file it is a list of words, or one string for sh -c.
type Command []string

// Hook is one command that runs at a point of a run's life: [[hooks.EVENT]].
type Hook struct {
	// Program and arguments as a list, or one string for sh -c. It gets the event as JSON on its standard input.
	Command Command
	// What the hook is for: tools in PreToolUse and PostToolUse, agents in SubagentStart, SubagentStop and Stop; names
	// with | between them, or regular expressions. Empty: all.
	Matcher string
	// Time after which the command is ended.
	Timeout time.Duration

	// Origin is the place that the hook comes from; one of LayerProject needs trust.
	Origin Origin
}

// Language is a language server: [languages.NAME]. It replaces the well-known one of that name.
type Language struct {
	// Program and arguments as a list, or one string for sh -c; it speaks on its standard input and output. Empty: none
	// is used.
	Command Command
	// Names of the files that it knows, such as *.go. Empty: those of the well-known server of that name.
	Files []string
}

// MCPServer is one server of the Model Context Protocol: [mcp.NAME]. It has either a command (stdio) or a URL (HTTP).
type MCPServer struct {
	// Program to start; it speaks MCP on its standard input and output.
	Command string
	// Arguments of the program.
	Args []string
	// Environment variables added for the program. Their values are never shown. `${NAME}` and `${NAME:-default}` are
	// filled in from the environment, the file of keys, or, as `${keyring:NAME}`, the keyring; in args, url and
	// headers, too.
	Env map[string]string
	// Address of a server that speaks MCP over HTTP.
	URL string
	// Headers added to each request over HTTP. Their values are never shown. `${NAME}` is filled in as in env.
	Headers map[string]string

	// Origin is the place that the server comes from; one of LayerProject needs trust.
	Origin Origin
}

// Default returns the built-in configuration: what Load gives when nothing is set anywhere.
func Default() *Config {
	l := newLoader(Sources{})
	l.finish()
	return l.config
}
