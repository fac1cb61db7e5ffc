package permission

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// The gate takes a shell command apart into simple commands and redirections, each of which the rules decide on. It
// vouches only for what it fully understands: everything else makes a part unsure, and an unsure part could be any command.

// word is one word of a simple command as the shell will pass it.
type word struct {
	text string
	glob bool // holds an unquoted * ? or [: it may become several words, or others
}

// simple is one simple command.
type simple struct {
	args   []word
	text   string // as it was written
	unsure string // why it cannot be told what runs, or ""
	risk   string // why more than the program itself may run or be written, or ""
	outer  [][]word
	inner  [][]word // commands that it starts with words of its own between: rules that deny reach them
}

// redirect is a file that the shell itself opens.
type redirect struct {
	path  string
	write bool
}

// script is a command line taken apart.
type script struct {
	commands  []simple
	redirects []redirect
	moved     bool // the working directory changes on the way
}

// maxCommand bounds a command line, in bytes, maxNested the commands inside commands, and maxParts those beside each other.
const (
	maxCommand = 64 << 10
	maxNested  = 8
	maxParts   = 256
)

// parseCommand takes a command line apart. It never fails: what cannot be read is a part that is unsure.
func parseCommand(text string, depth int) script {
	g := &gate{source: text, depth: depth}
	switch {
	case len(text) > maxCommand:
		g.doubt(nil, "it is too long to be read")
		return g.script
	case depth > maxNested:
		g.doubt(nil, "it has too many commands inside commands")
		return g.script
	case !utf8.ValidString(text):
		g.doubt(nil, "it is not valid UTF-8")
		return g.script
	}
	if strings.Contains(text, "\\\n") && strings.Contains(text, "#") {
		// bash ends a remark at the end of the line, whatever stands before it; our parser goes on behind a backslash.
		g.doubt(nil, "it has a remark beside a backslash at the end of a line")
		return g.script
	}
	for _, r := range text {
		if r != '\n' && r != '\t' && hidden(r) {
			g.doubt(nil, fmt.Sprintf("it holds the hidden character %s", Visible(string(r))))
			return g.script
		}
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		why := err.Error()
		if p, ok := errors.AsType[syntax.ParseError](err); ok {
			why = p.Text
		}
		g.doubt(nil, "it cannot be read as a shell command ("+Visible(why)+")")
		return g.script
	}
	if len(file.Stmts) == 0 {
		g.doubt(nil, "it holds no command")
		return g.script
	}
	g.stmts(file.Stmts)
	if len(g.script.commands)+len(g.script.redirects) > maxParts {
		// What is left out is asked for, and could be what a rule denies.
		g.script.commands, g.script.redirects = g.script.commands[:min(maxParts, len(g.script.commands))], nil
		g.doubt(nil, "it has too many parts")
	}
	if g.script.moved {
		for i := range g.script.commands {
			s := &g.script.commands[i]
			if len(s.args) > 0 && s.args[0].text == "git" && s.unsure == "" {
				s.unsure = "it runs git after a change of folder, where other settings may apply"
			}
		}
	}
	return g.script
}

// gate walks the tree of a command line.
type gate struct {
	source string
	depth  int
	script script
}

// text is what was written at a node; the whole command for nil.
func (g *gate) text(n syntax.Node) string {
	if n == nil || !n.Pos().IsValid() {
		return g.source
	}
	from, to := int(n.Pos().Offset()), int(n.End().Offset())
	if from < 0 || to > len(g.source) || from >= to {
		return g.source
	}
	return g.source[from:to]
}

// doubt adds a part that could be any command.
func (g *gate) doubt(n syntax.Node, why string) {
	g.script.commands = append(g.script.commands, simple{text: g.text(n), unsure: why})
}

func (g *gate) stmts(list []*syntax.Stmt) {
	for _, s := range list {
		g.stmt(s)
	}
}

func (g *gate) stmt(s *syntax.Stmt) {
	if s.Coprocess || s.Disown {
		g.doubt(s, "it uses a form that bash does not have")
	}
	for _, r := range s.Redirs {
		g.redirect(r)
	}
	if s.Cmd == nil {
		if len(s.Redirs) == 0 {
			g.doubt(s, "it holds no command")
		}
		return
	}
	g.command(s.Cmd)
}

func (g *gate) command(c syntax.Command) {
	switch c := c.(type) {
	case *syntax.CallExpr:
		g.call(c)
	case *syntax.BinaryCmd:
		g.stmt(c.X)
		g.stmt(c.Y)
	case *syntax.Subshell:
		g.stmts(c.Stmts)
	case *syntax.Block:
		g.stmts(c.Stmts)
	case *syntax.IfClause:
		for clause := c; clause != nil; clause = clause.Else {
			g.stmts(clause.Cond)
			g.stmts(clause.Then)
		}
	case *syntax.WhileClause:
		g.stmts(c.Cond)
		g.stmts(c.Do)
	case *syntax.ForClause:
		if loop, ok := c.Loop.(*syntax.WordIter); !ok || c.Select {
			g.doubt(c, "its loop calculates or asks")
		} else if loop.Name != nil {
			// What the loop sets, such as PATH or IFS, changes how the rest is read.
			if name := loop.Name.Value; strings.ToUpper(name) == name && name != "_" {
				g.doubt(loop, "it sets the variable "+name)
			}
			for _, w := range loop.Items {
				if _, why := g.word(w); why != "" {
					g.doubt(w, why)
				}
			}
		}
		g.stmts(c.Do)
	case *syntax.CaseClause:
		if _, why := g.word(c.Word); why != "" {
			g.doubt(c.Word, why)
		}
		for _, item := range c.Items {
			for _, w := range item.Patterns {
				if _, why := g.word(w); why != "" {
					g.doubt(w, why)
				}
			}
			g.stmts(item.Stmts)
		}
	case *syntax.TimeClause:
		if c.Stmt != nil {
			g.stmt(c.Stmt)
		}
	case *syntax.CoprocClause:
		if c.Name != nil {
			g.doubt(c.Name, "it sets a variable")
		}
		g.stmt(c.Stmt)
	case *syntax.TestClause:
		g.test(c.X)
	case *syntax.FuncDecl:
		g.doubt(c, "it defines a function, which may stand in for a command")
		if c.Body != nil {
			g.stmt(c.Body)
		}
	case *syntax.DeclClause:
		g.doubt(c, "it declares variables")
		g.inside(c)
	case *syntax.ArithmCmd, *syntax.LetClause:
		g.doubt(c, "it calculates, which can run commands named in variables")
		g.inside(c)
	default:
		g.doubt(c, "it uses a form that is not known here")
		g.inside(c)
	}
}

// inside adds the commands of the substitutions below a node, so that rules that deny see them.
func (g *gate) inside(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			g.stmts(n.Stmts)
			return false
		case *syntax.ProcSubst:
			g.stmts(n.Stmts)
			return false
		}
		return true
	})
}

func (g *gate) test(x syntax.TestExpr) {
	switch x := x.(type) {
	case *syntax.Word:
		if _, why := g.word(x); why != "" {
			g.doubt(x, why)
		}
	case *syntax.ParenTest:
		g.test(x.X)
	case *syntax.UnaryTest:
		switch x.Op {
		case syntax.TsVarSet, syntax.TsRefVar, syntax.TsOptSet:
			g.doubt(x, "its test looks at a variable, which can run commands")
		}
		g.test(x.X)
	case *syntax.BinaryTest:
		switch x.Op {
		case syntax.AndTest, syntax.OrTest, syntax.TsMatchShort, syntax.TsMatch, syntax.TsNoMatch, syntax.TsReMatch,
			syntax.TsNewer, syntax.TsOlder, syntax.TsDevIno, syntax.TsBefore, syntax.TsAfter:
		default:
			g.doubt(x, "its test calculates, which can run commands")
		}
		g.test(x.X)
		g.test(x.Y)
	default:
		g.doubt(x, "it uses a form that is not known here")
	}
}

func (g *gate) redirect(r *syntax.Redirect) {
	if r.N != nil && strings.HasPrefix(r.N.Value, "{") {
		g.doubt(r, "it sets a variable")
	}
	if r.Hdoc != nil {
		if why := staticBody(r.Hdoc); why != "" {
			g.doubt(r.Hdoc, why)
			g.inside(r.Hdoc)
		}
	}
	w, why := g.word(r.Word)
	if why == "" && w.glob && r.Op != syntax.WordHdoc {
		why = "it redirects to a wildcard"
	}
	write := true
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		return // the word only ends the text
	case syntax.WordHdoc:
		if why != "" {
			g.doubt(r.Word, why)
		}
		return
	case syntax.DplIn, syntax.DplOut:
		if why == "" && w.text != "" && strings.Trim(strings.TrimSuffix(w.text, "-"), "0123456789") == "" {
			return // a descriptor
		}
		if r.Op == syntax.DplIn || r.N != nil {
			why = cmp.Or(why, "it duplicates something that is no descriptor")
		}
	case syntax.RdrIn:
		write = false
	case syntax.RdrOut, syntax.AppOut, syntax.RdrInOut, syntax.RdrClob, syntax.AppClob, syntax.RdrAll, syntax.RdrAllClob, syntax.AppAll, syntax.AppAllClob:
	default:
		why = cmp.Or(why, "it redirects in a form that is not known here")
	}
	if why != "" {
		g.doubt(r, why)
		return
	}
	switch {
	case w.text == "/dev/null":
	case strings.HasPrefix(w.text, "/dev/tcp/"), strings.HasPrefix(w.text, "/dev/udp/"):
		g.doubt(r, "it reaches the network by a redirection")
	case w.text == "":
		g.doubt(r, "it redirects to nothing")
	default:
		g.script.redirects = append(g.script.redirects, redirect{path: w.text, write: write})
	}
}

// staticBody returns why the text of a here-document is not the same each time, or "".
func staticBody(w *syntax.Word) string {
	for _, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit, *syntax.SglQuoted:
		case *syntax.DblQuoted:
			for _, p := range part.Parts {
				if _, ok := p.(*syntax.Lit); !ok {
					return "its text holds something that the shell works out"
				}
			}
		default:
			return "its text holds something that the shell works out"
		}
	}
	return ""
}

func (g *gate) call(c *syntax.CallExpr) {
	for _, a := range c.Assigns {
		g.doubt(a, "it sets a variable")
		g.inside(a)
	}
	if len(c.Args) == 0 {
		return
	}
	s := simple{text: g.text(c)}
	for _, w := range c.Args {
		got, why := g.word(w)
		s.unsure = cmp.Or(s.unsure, why)
		if why != "" {
			got.glob = true // rules that deny take it for anything
			g.inside(w)
		}
		s.args = append(s.args, got)
	}
	if len(c.Assigns) > 0 {
		s.unsure = cmp.Or(s.unsure, "it sets a variable, which may change what runs")
	}
	if s.unsure == "" && s.args[0].glob {
		s.unsure = "its program is a wildcard"
	}
	g.add(s)
}

// add judges a simple command by its program, and adds it, or those that it starts.
func (g *gate) add(s simple) {
	if len(s.args) == 0 {
		g.doubt(nil, "it holds no command")
		return
	}
	switch s.args[0].text {
	case "cd", "pushd", "popd":
		g.script.moved = true
	}
	if s.unsure != "" {
		g.script.commands = append(g.script.commands, s)
		return
	}
	if inner, ok := unwrap(s); ok {
		for _, i := range inner.scripts {
			below := parseCommand(i, g.depth+1)
			for _, c := range below.commands {
				c.outer = append(c.outer, s.args)
				c.outer = append(c.outer, s.outer...)
				g.script.commands = append(g.script.commands, c)
			}
			g.script.redirects = append(g.script.redirects, below.redirects...)
			g.script.moved = g.script.moved || below.moved
		}
		if len(inner.args) > 0 {
			below := simple{args: inner.args, text: s.text, outer: append([][]word{s.args}, s.outer...)}
			if len(below.outer) > maxNested {
				below.unsure = "it has too many commands inside commands"
			}
			g.add(below)
		}
		if inner.risk == "" && inner.unsure == "" {
			return
		}
		s.risk, s.unsure = inner.risk, inner.unsure
		g.script.commands = append(g.script.commands, s)
		return
	}
	s.unsure = builtinDoubt(s.args)
	if s.unsure == "" {
		s.risk = risk(s.args)
		s.inner = g.found(s.args)
	}
	g.script.commands = append(g.script.commands, s)
}

// found are the commands that a program which looks for files starts for each of them.
func (g *gate) found(args []word) [][]word {
	var list [][]word
	switch path.Base(args[0].text) {
	case "find", "gfind":
		for i, a := range args {
			if !slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir"}, a.text) {
				continue
			}
			end := slices.IndexFunc(args[i+1:], func(a word) bool { return a.text == ";" || a.text == "+" })
			if end < 0 {
				end = len(args) - i - 1
			}
			list = append(list, args[i+1:i+1+end])
		}
	case "fd", "fdfind":
		for i, a := range args {
			if slices.Contains([]string{"-x", "-X", "--exec", "--exec-batch"}, a.text) {
				list = append(list, args[i+1:])
			}
		}
	}
	var inner [][]word
	for _, command := range list {
		below := &gate{source: g.source, depth: g.depth + 1}
		if len(command) == 0 || below.depth > maxNested {
			continue
		}
		below.add(simple{args: slices.Clone(command), text: g.source})
		for _, c := range below.script.commands {
			inner = append(append(append(inner, c.args), c.outer...), c.inner...)
		}
	}
	return inner
}

// word returns the text of a word that is the same each time, or why it is not.
func (g *gate) word(w *syntax.Word) (word, string) {
	var out word
	var b strings.Builder
	if w == nil {
		return out, ""
	}
	for i, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			if strings.Contains(g.text(part), "\\\n") {
				return word{}, "it hides text behind a backslash at the end of a line"
			}
			text, glob, why := plainLiteral(part.Value, i == 0)
			if why != "" {
				return word{}, why
			}
			out.glob = out.glob || glob
			b.WriteString(text)
		case *syntax.SglQuoted:
			if part.Dollar {
				return word{}, "it hides text in $'…'"
			}
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			if part.Dollar {
				return word{}, `it hides text in $"…"`
			}
			for _, p := range part.Parts {
				lit, ok := p.(*syntax.Lit)
				if !ok {
					return word{}, "it holds something that the shell works out"
				}
				b.WriteString(quotedLiteral(lit.Value))
			}
		case *syntax.ParamExp:
			return word{}, "it holds a variable"
		case *syntax.CmdSubst, *syntax.ProcSubst:
			return word{}, "it holds the output of a command"
		case *syntax.ArithmExp:
			return word{}, "it calculates, which can run commands named in variables"
		case *syntax.ExtGlob:
			return word{}, "it holds an extended wildcard"
		default:
			return word{}, "it holds a form that is not known here"
		}
	}
	out.text = b.String()
	out.glob = out.glob && out.text != "[" // the program
	return out, ""
}

// plainLiteral is unquoted text without its backslashes.
func plainLiteral(s string, first bool) (text string, glob bool, why string) {
	var b strings.Builder
	if first && strings.HasPrefix(s, "~") {
		return "", false, "it holds ~, which stands for a folder"
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '\\':
			i++
			if i >= len(s) {
				return "", false, "it ends in a backslash"
			}
			b.WriteByte(s[i])
		case '*', '?', '[':
			glob = true
			b.WriteByte(c)
		case '{':
			if !strings.HasPrefix(s[i:], "{}") {
				return "", false, "it holds a brace, which stands for several words"
			}
			b.WriteByte(c)
		case '=', ':':
			if strings.HasPrefix(s[i+1:], "~") {
				return "", false, "it holds ~, which stands for a folder"
			}
			b.WriteByte(c)
		case '$', '`', '\n', 0:
			return "", false, "it holds something that the shell works out"
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), glob, ""
}

// quotedLiteral is text in double quotes without the backslashes that the shell takes away.
func quotedLiteral(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\\n", s[i+1]) >= 0 {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// commandItems are the parts of a command line.
func (p *Policy) commandItems(r Request) []item {
	s := parseCommand(r.Command, 0)
	full := r.Sandbox == Full
	var list []item
	for i := range s.commands {
		c := &s.commands[i]
		it := item{what: Visible(strings.TrimSpace(c.text)), tool: "bash", effect: Execute, command: c, full: full, always: c.alwaysRules()}
		if !full && c.unsure == "" {
			if why := p.wanders(c, r.Dir, s.moved); why != "" {
				c.risk = cmp.Or(c.risk, why)
			}
			if c.risk != "" {
				it.always = c.alwaysRules()
			}
		}
		it.args = p.mentions(c, r.Dir)
		list = append(list, it)
	}
	for _, f := range s.redirects {
		tool := "read"
		if f.write {
			tool = "edit"
		}
		name := f.path
		if !filepath.IsAbs(name) {
			name = filepath.Join(r.Dir, name)
		}
		it := p.fileItem(tool, Path{Name: filepath.Clean(name), Write: f.write}, f.write)
		it.full, it.shell = full, true
		if full {
			it.guard = "" // protected files cannot be written there
		} else if s.moved && !filepath.IsAbs(f.path) {
			it = item{what: it.what, tool: "bash", effect: Execute, command: &simple{unsure: "it opens a file after a change of folder, so that it may be another file"}}
		}
		list = append(list, it)
	}
	return list
}

// wanders returns why a command outside of a sandbox reaches beyond what a pattern of first words means, or "".
func (p *Policy) wanders(c *simple, dir string, moved bool) string {
	for _, l := range p.mentions(c, dir) {
		if Secret(l.abs) {
			return fmt.Sprintf("%s looks like a file that holds keys or passwords", l.show())
		}
	}
	if len(c.args) == 0 || slices.Contains(speaking, c.args[0].text) {
		return ""
	}
	for _, a := range c.args[1:] {
		if a.glob && meetsSecret(a.text) {
			return fmt.Sprintf("%s may become a file that holds keys or passwords", Visible(a.text))
		}
	}
	for _, l := range p.mentions(c, dir) {
		if l.root == "" && l.abs != "/dev/null" {
			return fmt.Sprintf("it goes to %s, outside the workspace", l.show())
		}
	}
	return ""
}

// speaking are programs that take no word for a file.
var speaking = []string{"echo", "printf", "true", "false", "basename", "dirname", "sleep", "seq"}

// meetsSecret reports whether a wildcard names files that look like secrets among few others. One for all files is no such.
func meetsSecret(pattern string) bool {
	base := path.Base(pattern)
	if strings.Trim(base, "*?") == "" {
		return false
	}
	return slices.ContainsFunc([]string{".env", ".env.local", ".netrc", ".pgpass", ".git-credentials", "id_rsa", "id_ed25519"}, func(name string) bool {
		met, err := path.Match(strings.ToLower(base), name)
		return met || err != nil
	})
}

// mentions are the files that the words behind a program could name.
func (p *Policy) mentions(c *simple, dir string) []location {
	var list []location
	if len(c.args) < 2 {
		return nil
	}
	for _, a := range c.args[1:] {
		text := a.text
		switch _, value, ok := strings.Cut(text, "="); {
		case !strings.HasPrefix(text, "-"):
		case ok:
			text = value
		case len(text) > 2 && (text[2] == '/' || strings.HasPrefix(text[2:], "../")):
			text = text[2:] // behind a short option
		}
		if _, file, ok := strings.Cut(text, ":"); ok && c.args[0].text == "git" && file != "" && !filepath.IsAbs(file) {
			list = append(list, p.locate(filepath.Join(dir, file))) // of a commit
		}
		if text == "" || strings.HasPrefix(text, "-") {
			continue
		}
		if !filepath.IsAbs(text) {
			text = filepath.Join(dir, text)
		}
		list = append(list, p.locate(text))
	}
	return list
}
