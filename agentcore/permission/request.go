package permission

import (
	"path"
	"path/filepath"
	"strings"
)

// Effect is what a call does, which decides where no rule does. Values: Internal, Read, Propose, Execute, Network,
// External; anything else counts as External.
type Effect string

const (
	// Internal calls act on the run alone, such as those of `todo` and `task`: allowed.
	Internal Effect = "internal"
	// Read calls read files: allowed inside the workspace.
	Read Effect = "read"
	// Propose calls propose edits, which change nothing by themselves: allowed inside the workspace.
	Propose Effect = "propose"
	// Execute calls run a command: allowed in a full sandbox.
	Execute Effect = "execute"
	// Network calls reach hosts: asked for.
	Network Effect = "network"
	// External calls act where agentls does not see it, such as those of MCP servers: asked for.
	External Effect = "external"
)

// Level is how well a command is kept apart from the machine. Values: None, Partial, Full; only Full spares asking.
type Level string

const (
	// None runs the command as the user would.
	None Level = "none"
	// Partial keeps the command's changes away from the workspace, and no more.
	Partial Level = "partial"
	// Full keeps the command from all but a copy-on-write view of the workspace.
	Full Level = "full"
)

// Path is a file that a call touches. A file reached through a symbolic link has two paths: the path that was named,
// and the path that the link leads to.
type Path struct {
	// Name is an absolute, clean path in the machine's notation.
	Name string
	// Write says that the file is to be changed, not read.
	Write bool
	// Linked says that the file has further hard links (nlink > 1), so that a change is seen elsewhere.
	Linked bool
	// Pointed says that the user started the run on this file.
	Pointed bool
	// Through is the absolute path of the symbolic link that leads to this path; empty where no link does.
	Through string
	// Protected is why the files around it say that the file acts by itself ([ProtectedBelow]), or "".
	Protected string
}

// Request is a call to decide on. What it does not name is not decided on.
type Request struct {
	// Tool by its canonical name.
	Tool string
	// Effect of the call.
	Effect Effect
	// Call is what rules match where the call is neither command, file nor host: a subagent's type, a skill's name.
	Call string
	// Command line, of `bash` alone.
	Command string
	// Dir is where the command runs: an absolute path in the machine's notation.
	Dir string
	// Paths that the call touches, all of them.
	Paths []Path
	// Hosts that the call reaches, as host or host:port; without a port it is any. Those of a command are decided on as
	// `webfetch` ones.
	Hosts []string
	// Sandbox that the command would run in.
	Sandbox Level
	// Fix says that the change is the fix of a finding, which agents propose that edit nothing else.
	Fix bool
}

// item is one part of a call while it is decided on.
type item struct {
	what    string
	tool    string
	effect  Effect
	file    *location
	host    string
	call    string
	command *simple
	full    bool       // part of a command in a full sandbox
	shell   bool       // the shell itself opens the file
	guard   string     // why it asks by name, whatever the rules say
	always  []Rule     // that an "always" would allow
	args    []location // what the command's words could name
	secret  bool
	fix     bool // the fix of a finding
	pointed bool // the user named the file
	astray  bool // a link of the workspace leads out of it
}

func (p *Policy) locate(name string) location {
	name = filepath.ToSlash(name)
	l := location{abs: path.Clean(name)}
	for _, root := range p.roots {
		root = strings.TrimSuffix(filepath.ToSlash(root), "/")
		rel, ok := strings.CutPrefix(l.abs, root+"/")
		if l.abs == root || root == "" && l.abs == "/" {
			rel, ok = ".", true
		}
		if ok && len(root) >= len(l.root) {
			l.root, l.rel = root, rel
			if root == "" {
				l.root = "/"
			}
		}
	}
	return l
}

// show is how people call a file.
func (l location) show() string {
	if l.root == "" {
		return Visible(l.abs)
	}
	return Visible(l.rel)
}

func (p *Policy) items(r Request, grants []Grant) []item {
	var list []item
	if r.Tool == "bash" {
		list = append(list, p.commandItems(r, grants)...)
	}
	for _, f := range r.Paths {
		it := p.fileItem(r.Tool, f, false)
		it.fix = r.Fix
		list = append(list, it)
	}
	for _, h := range r.Hosts {
		tool := r.Tool
		if tool == "bash" {
			tool = "webfetch"
		}
		named := h
		if name, port := splitPort(h); port == "443" || port == "80" {
			named = name // as people know it
		}
		list = append(list, item{
			what: Visible(named), tool: tool, effect: Network, host: h,
			always: []Rule{{tool, named, Allow}},
		})
	}
	if len(list) == 0 {
		what := r.Tool
		always := []Rule{{Tool: r.Tool, Action: Allow}}
		if r.Call != "" {
			what += " " + r.Call
			always[0].Pattern = r.Call
			if strings.Contains(r.Call, "*") {
				always = nil
			}
		}
		list = append(list, item{what: Visible(what), tool: r.Tool, effect: r.Effect, call: r.Call, always: always})
	}
	return list
}

// fileItem is the part of a call that touches a file. real says that a command changes it, not a proposal.
func (p *Policy) fileItem(tool string, f Path, real bool) item {
	l := p.locate(f.Name)
	l.write = f.Write
	it := item{what: "read " + l.show(), tool: tool, effect: Read, file: &l}
	named := l.rel
	if l.root == "" {
		named = l.abs
	}
	it.secret = !f.Write && Secret(named)
	it.pointed = f.Pointed && !f.Write
	it.astray = l.root == "" && f.Through != "" && p.locate(f.Through).root != ""
	if f.Write {
		it.what, it.effect = "change "+l.show(), Propose
		if real {
			it.what, it.effect = "write "+l.show(), Execute
		}
		if why, ok := Protected(named); ok {
			it.guard = "is protected: " + why
		} else if f.Protected != "" {
			it.guard = "is protected: " + f.Protected
		} else if f.Linked {
			it.guard = "has further hard links: the change is seen elsewhere, too"
		}
	}
	if !strings.ContainsAny(named, `*?[]{}\`) {
		it.always = []Rule{{tool, named, Allow}}
	}
	return it
}

// fallback is the decision if no rule matches.
func (it *item) fallback() (Action, string) {
	switch it.effect {
	case Internal:
		return Allow, "by default, since it acts on the run alone"
	case Read:
		switch {
		case it.full:
			return Allow, "by default, in the sandbox"
		case it.secret:
			return Deny, "by default, since it looks like a file that holds keys or passwords"
		case it.astray: // even if the user points at it: a project's link must not choose what is read
			return Deny, "by default, since it lies outside the workspace, where no file tool follows a link"
		case it.pointed:
			return Allow, "by default, since the user started the run on it"
		case it.file != nil && it.file.root == "":
			return Ask, "by default, since it lies outside the workspace"
		}
		return Allow, "by default, since it reads inside the workspace"
	case Propose:
		if it.file != nil && it.file.root == "" {
			return Deny, "by default, since it lies outside the workspace"
		}
		return Allow, "by default, since a proposal changes nothing until it is accepted"
	case Execute:
		if it.full {
			return Allow, "by default, in the sandbox"
		}
		if it.file != nil {
			return Ask, "by default, since outside of a sandbox a redirection writes the file itself"
		}
		return Ask, "by default, since it runs outside of a full sandbox"
	case Network:
		if documented()[it.host] {
			return Allow, "by default, since it is well-known documentation"
		}
		return Ask, "by default, since it reaches the network"
	}
	return Ask, "by default, since agentls does not see what it does"
}

// advice says what the model may do instead. It names only what is always possible, since nobody may be there to be
// asked, and other tools may be missing.
func advice(it item) string {
	switch {
	case it.guard != "":
		return "leave this file as it is, and say in your answer what to change there"
	case it.secret:
		return "do not read it; say in your answer what you need to know of it"
	case it.effect == Network:
		return "work with what is in the workspace, and say in your answer what you would need from there"
	case it.command != nil && it.command.unsure != "":
		return "write the command with plain words only, one simple command a call, without variables, " +
			"substitutions or wildcards"
	case it.effect == Execute && it.file != nil:
		return "let the command print its output, and write no file by it"
	case it.effect == Execute:
		return "go on without it, and say in your answer what should be run"
	case it.effect == Propose:
		return "describe the change instead of making it"
	case it.effect == Read:
		return "go on without it, and say in your answer what you need to know of it"
	}
	return "go on without it, and say so in your answer"
}
