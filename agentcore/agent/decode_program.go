package agent

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/lazyregexp"
)

// readCommand reads the program of a foreign agent.
func readCommand(p *reader, n *node) { p.def.Program.Command = p.program("command", n.whole()) }

// variable is the name of an environment variable, alone or with a value.
var variable = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*(=.*)?$`)

// readEnv reads the variables of a foreign agent.
func readEnv(p *reader, n *node) {
	list, ok := p.arguments("env", n.whole())
	if !ok {
		return
	}
	for _, one := range list {
		if !variable().MatchString(one) {
			p.wrong(n, failure, "env", fmt.Sprintf("env has %q", short(one)),
				"write the names of variables, or NAME=value")
			return
		}
	}
	p.def.Program.Env = list
}

// readHome reads what a foreign agent sees of the home folder.
func readHome(p *reader, n *node) {
	below := func(key string, to *[]string) func(*node) {
		return func(v *node) {
			list, ok := p.strings(key, "", v)
			if !ok {
				return
			}
			for _, name := range list {
				rel := path.Clean(strings.TrimPrefix(name, "~/"))
				if rel == "." || rel == "~" || path.IsAbs(rel) || rel == ".." || strings.HasPrefix(rel, "../") {
					p.wrong(v, failure, key,
						fmt.Sprintf("%s has %q, which is not below the home folder", key, short(name)),
						"name a file or a folder below it, such as .config/agent")
					return
				}
				*to = append(*to, rel)
			}
		}
	}
	p.table("home", n, map[string]func(*node){
		"read":  below("home.read", &p.def.Program.Reads),
		"write": below("home.write", &p.def.Program.Writes),
	})
}

// readNetwork reads the hosts of a foreign agent.
func readNetwork(p *reader, n *node) {
	if list, ok := p.strings("network", "", n); ok {
		p.def.Program.Network = list
	}
}

// checkEngine reports what a foreign agent lacks, and keys that have no effect without one.
func (p *decoder) checkEngine() {
	d := p.def
	if d.IsProgram() && len(d.Program.Command) == 0 && !p.wrongs["command"] {
		p.report(fault{
			start: p.at.start, end: p.at.end, severity: failure, key: "command", message: "command is missing",
			hint: "write the program that speaks the Agent Client Protocol, and its arguments",
		})
	}
	if d.IsProgram() || p.wrongs["engine"] {
		return
	}
	for _, key := range []string{"command", "env", "program_mode", "home", "network"} {
		if value := p.root.get(key); value != nil && !p.file.loose(d) {
			p.wrong(value, warning, key, key+" has no effect", `it is for agents with engine = "acp"`)
		}
	}
	d.Program = Program{}
}

// Own reports whether only the user, or agentls, can have written what a layer holds.
func (l Layer) Own() bool { return l == LayerUser || l == LayerBuiltin }

// refusePrograms takes programs out of the definitions of a file that is not the user's own: whoever trusts a project
// does not thereby trust a program with a login.
func refusePrograms(f *File, layer Layer) {
	if layer.Own() {
		return
	}
	for _, d := range slices.Clone(f.Definitions) {
		if d.IsProgram() {
			at := f.slugs[d]
			f.reportOf(d, fault{
				start: at.start, end: at.end, severity: failure, key: "engine",
				message: fmt.Sprintf("%s is another program, which only a definition of your own may start", d.Slug),
				hint:    "move the definition into the agents folder of your configuration",
			})
		}
	}
	f.sort()
}
