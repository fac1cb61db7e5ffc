package agent

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"
)

// frontmatter is the YAML head of a definition in the native format.
type frontmatter struct {
	Name            string      `yaml:"name"`
	Title           string      `yaml:"title"`
	Description     string      `yaml:"description"`
	Category        []Category  `yaml:"category"`
	Mode            Mode        `yaml:"mode"`
	Model           string      `yaml:"model"`
	Temperature     *float64    `yaml:"temperature"`
	MaxTokens       int         `yaml:"max_tokens"`
	MaxTurns        int         `yaml:"max_turns"`
	Timeout         string      `yaml:"timeout"`
	AsChild         childLimits `yaml:"as_child"`
	Tools           *[]string   `yaml:"tools"`
	DisallowedTools []string    `yaml:"disallowed_tools"`
	Subagents       *[]string   `yaml:"subagents"`
	Permissions     string      `yaml:"permissions"`
	Context         string      `yaml:"context"`
	Aliases         []string    `yaml:"aliases"`
	Order           int         `yaml:"order"`
	Skills          []string    `yaml:"skills"`
	Icon            string      `yaml:"icon"`
	Color           string      `yaml:"color"`

	Variables map[string]string `yaml:"variables"`
}

type childLimits struct {
	MaxTurns int    `yaml:"max_turns"`
	Timeout  string `yaml:"timeout"`

	Subagents *[]string `yaml:"subagents"`
	Agent     string    `yaml:"agent"`
}

// ParseMarkdown reads a definition in the native format: YAML between two lines of `---`, then the
// prompt. Source is kept in the definition and named in errors. All faults are returned, joined.
func ParseMarkdown(source string, data []byte) (*Definition, error) {
	head, body, err := splitFrontmatter(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	var f frontmatter
	decoder := yaml.NewDecoder(bytes.NewReader(head))
	decoder.KnownFields(true)
	if err := decoder.Decode(&f); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: read the frontmatter: %w", source, err)
	}
	var faults []error
	duration := func(key, text string) time.Duration {
		if text == "" {
			return 0
		}
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 {
			faults = append(faults, fmt.Errorf(`%s: %s is %q; write a positive duration such as "5m"`, source, key, text))
		}
		return d
	}
	d := &Definition{
		Slug: f.Name, Title: f.Title, Description: f.Description, Categories: f.Category, Mode: f.Mode,
		Model: f.Model, Temperature: f.Temperature, MaxTokens: f.MaxTokens,
		Limits: Limits{MaxTurns: f.MaxTurns, Timeout: duration("timeout", f.Timeout)},
		AsChild: AsChild{
			Limits:    Limits{MaxTurns: f.AsChild.MaxTurns, Timeout: duration("as_child.timeout", f.AsChild.Timeout)},
			Subagents: valueOf(f.AsChild.Subagents), Agent: f.AsChild.Agent,
		},
		Skills: f.Skills, Icon: f.Icon, Color: f.Color, Variables: f.Variables,
		Tools:           valueOf(f.Tools),
		DisallowedTools: f.DisallowedTools,
		Subagents:       valueOf(f.Subagents),
		Permissions:     f.Permissions, ContextMode: f.Context, Aliases: f.Aliases, Order: f.Order,
		Prompt: strings.TrimSpace(string(body)), Source: source,
	}
	if d.Mode == "" {
		d.Mode = Agentic
	}
	if !validSlug(d.Slug) {
		faults = append(faults, fmt.Errorf("%s: name is %q; write lower-case letters, digits and hyphens", source, d.Slug))
	}
	if len(d.Categories) == 0 {
		faults = append(faults, fmt.Errorf("%s: category is missing; write [primary], [subagent] or both", source))
	}
	if d.Prompt == "" {
		faults = append(faults, fmt.Errorf("%s: the prompt is empty; write it below the frontmatter", source))
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return d, nil
}

// valueOf keeps the difference between an absent list (nil: all) and an empty one (none).
func valueOf(list *[]string) []string {
	if list == nil {
		return nil
	}
	return append([]string{}, *list...)
}

func validSlug(slug string) bool {
	return slug != "" && strings.Trim(slug, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

func splitFrontmatter(data []byte) (head, body []byte, err error) {
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	rest, ok := bytes.CutPrefix(data, []byte("---\n"))
	if !ok {
		return nil, nil, errors.New("the file does not begin with a line of ---")
	}
	head, body, ok = bytes.Cut(rest, []byte("\n---\n"))
	if !ok {
		return nil, nil, errors.New("the frontmatter has no closing line of ---")
	}
	return head, body, nil
}

//go:embed builtin/*.md
var builtinFiles embed.FS

// Builtin returns the built-in agents.
var Builtin = sync.OnceValues(func() ([]*Definition, error) {
	entries, err := builtinFiles.ReadDir("builtin")
	if err != nil {
		return nil, fmt.Errorf("list the built-in agents: %w", err)
	}
	var list []*Definition
	for _, entry := range entries {
		data, err := builtinFiles.ReadFile("builtin/" + entry.Name())
		if err != nil {
			return nil, fmt.Errorf("read a built-in agent: %w", err)
		}
		d, err := ParseMarkdown(entry.Name(), data)
		if err != nil {
			return nil, err
		}
		d.Source = "built-in"
		list = append(list, d)
	}
	return list, nil
})
