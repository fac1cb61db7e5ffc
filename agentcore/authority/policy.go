package authority

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/network"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/workspace"
)

// ModeOf is the mode that a definition asks for. A definition of a project may only ask for a stricter mode: a file of
// a repository must not spare the user any question.
func ModeOf(d *agent.Definition) permission.Mode {
	mode := permission.Mode(d.PermissionMode)
	if d.Source.Layer == agent.LayerProject && mode != permission.Plan {
		return permission.Default
	}
	return mode
}

// Layers are the rules for an agent, the weakest first. Rules of its definition that deny, as a whole, a tool that the
// user granted beside its own are left out, since the user has decided on this run later. Rules of the configuration,
// and of the runs above, stay.
func Layers(d *agent.Definition, cfg *config.Config, granted ...string) []permission.Layer {
	var layers []permission.Layer
	if set, ok := permission.Set(d.Permissions); ok {
		layers = append(layers, set)
	}
	if len(d.Rules) > 0 {
		layers = append(layers, permission.Layer{
			Name: "agent " + d.Slug, Narrow: d.Source.Layer == agent.LayerProject,
			Rules: canonical(d.Rules),
		})
	}
	for i := range layers {
		layers[i].Rules = slices.DeleteFunc(layers[i].Rules, func(rule permission.Rule) bool {
			whole := rule.Action == permission.Deny && rule.Pattern == ""
			return whole && slices.ContainsFunc(granted, func(name string) bool {
				return rule.Tool == name || permission.EditsAs(rule.Tool, name)
			})
		})
	}
	if allowed, err := network.Parse(cfg.NetworkAllow); err == nil && len(cfg.NetworkAllow) > 0 {
		// the configuration was checked
		named := permission.Layer{Name: "network.allow"}
		for address := range allowed.All() {
			named.Rules = append(named.Rules,
				permission.Rule{Tool: "webfetch", Pattern: address, Action: permission.Allow})
		}
		layers = append(layers, named)
	}
	if cfg.WebsearchKind != "" {
		// A user who names a search engine wants it to be asked.
		layers = append(layers,
			permission.Layer{
				Name:  "websearch.kind",
				Rules: []permission.Rule{{Tool: "websearch", Action: permission.Allow}},
			})
	}
	for _, p := range cfg.Permissions {
		name := p.Origin.Layer.String()
		root := p.Origin.Folder()
		if len(layers) == 0 || layers[len(layers)-1].Name != name || layers[len(layers)-1].Root != root {
			layers = append(layers,
				permission.Layer{Name: name, Root: root, Narrow: p.Origin.Layer == config.LayerProject})
		}
		last := &layers[len(layers)-1]
		last.Rules = append(last.Rules, canonical([]permission.Rule{p.Rule()})...)
	}
	return layers
}

// canonical returns the rules with the names by which calls are decided, whatever spelling of a tool they have. A rule
// on "Bash" that bound nothing would be a hole that nobody notices.
func canonical(rules []permission.Rule) []permission.Rule {
	rules = slices.Clone(rules)
	for i := range rules {
		rules[i].Tool, _ = tool.Resolve(rules[i].Tool)
	}
	return rules
}

// RuleProblems returns a warning for each permission rule of a configuration that can bind no call because its tool
// does not exist.
func RuleProblems(cfg *config.Config) []config.Problem {
	var list []config.Problem
	for i, p := range cfg.Permissions {
		if _, known := tool.Resolve(p.Tool); known || strings.ContainsAny(p.Tool, "*?[") {
			continue
		}
		hint := "write the name of a tool, or * for all"
		if near := tool.Nearest(p.Tool); near != "" {
			hint = "did you mean " + near + "?"
		}
		problem := config.Problem{
			Source: p.Origin.Layer.String(), File: p.Origin.File, Line: p.Origin.Line,
			Key:     fmt.Sprintf("permission[%d].tool", i),
			Message: fmt.Sprintf("there is no tool %q, so this rule binds nothing", p.Tool), Hint: hint,
			Severity: config.SeverityWarning,
		}
		if problem.Line > 0 {
			problem.Column = 1
		}
		list = append(list, problem)
	}
	return list
}

// UserHome is the user's home folder, empty where there is none.
func UserHome() string {
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return home
}

// Home is the folder to which a project's grants and trust are bound: the first of the workspace, empty for none.
func Home(v *workspace.View) string {
	if folders := v.Folders(); len(folders) > 0 {
		return folders[0]
	}
	return ""
}
