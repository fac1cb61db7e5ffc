package permission

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// The gate splits a shell command into simple commands and redirections, and the rules decide on each. The gate is sure
// only of what it fully understands. Everything else makes a part unsure, and an unsure part could be any command.

// maxCommand bounds a command line, in bytes. maxNested bounds how deep commands contain commands, and maxParts how
// many there are.
const (
	maxCommand = 64 << 10
	maxNested  = 8
	maxParts   = 256
)

// parseCommand splits a command line. It never fails: text that cannot be read is an unsure part.
func parseCommand(text string, depth int) script {
	guesses := maxParts
	return (&gate{source: text, depth: depth, loops: map[string]bool{}, guesses: &guesses}).parse()
}

func (g *gate) parse() script {
	text, depth := g.source, g.depth
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
	if continuedRemark(text) {
		// bash ends a comment at the end of the line, whatever stands before it; our parser continues it behind a
		// backslash.
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
		// The user is asked because of the parts that are left out, since a rule could deny one of them.
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

// continuedRemark reports whether a line that may have a comment ends in a backslash.
func continuedRemark(text string) bool {
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasSuffix(line, "\\") && strings.Contains(line, "#") {
			return true
		}
	}
	return false
}

// gate walks the tree of a command line.
type gate struct {
	source string
	depth  int
	guess  bool // the text may be no command at all
	script script
	feed   feed            // the input of the commands here
	loops  map[string]bool // variables that are set by loops
	// guesses is how many further texts may be tried as commands that a command starts.
	guesses *int
}

// text is the source of a node, or the whole command for nil.
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

// doubt adds an unsure part, which could be any command.
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
	before := g.feed
	for _, r := range s.Redirs {
		g.redirect(r)
	}
	defer func() { g.feed = before }()
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
		before := g.feed
		if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
			g.feed = g.feeds(c.X)
		}
		g.stmt(c.Y)
		g.feed = before
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
		g.loop(c)
		g.stmts(c.Do)
	case *syntax.CaseClause:
		g.data(c.Word)
		for _, item := range c.Items {
			g.data(item.Patterns...)
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

// loop handles the variable and the words of a for loop.
func (g *gate) loop(c *syntax.ForClause) {
	if loop, ok := c.Loop.(*syntax.WordIter); !ok || c.Select {
		g.doubt(c, "its loop calculates or asks")
	} else if loop.Name != nil {
		// A variable that the loop sets, such as PATH or IFS, may change how the rest is read.
		name := loop.Name.Value
		if strings.ToUpper(name) == name && name != "_" {
			g.doubt(loop, "it sets the variable "+name)
		}
		g.data(loop.Items...)
		g.loops[name] = true
	}
}

// inside adds the commands of substitutions below a node, so that rules that deny see them.
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

// data looks at words that are used neither as files nor as options.
func (g *gate) data(words ...*syntax.Word) {
	for _, w := range words {
		if _, why := g.read(w); why != "" {
			g.doubt(w, why)
		}
	}
}

func (g *gate) test(x syntax.TestExpr) {
	switch x := x.(type) {
	case *syntax.Word:
		g.data(x)
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
		if why := g.body(r.Hdoc); why != "" {
			g.doubt(r.Hdoc, why)
		}
		g.inside(r.Hdoc)
		g.feed = feed{said: []string{g.text(r.Hdoc)}}
	}
	w, why := g.read(r.Word)
	if r.Op != syntax.WordHdoc {
		why = cmp.Or(why, w.said)
		if why == "" && w.glob {
			why = "it redirects to a wildcard"
		} else if why == "" && !w.fixed() {
			why = "it redirects to a file that the shell works out"
		}
	}
	write := true
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		return // the word is only the end mark of the text
	case syntax.WordHdoc:
		if why != "" {
			g.doubt(r.Word, why)
		}
		g.feed = feed{said: []string{w.text}}
		return
	case syntax.DplIn, syntax.DplOut:
		if why == "" && w.text != "" && strings.Trim(strings.TrimSuffix(w.text, "-"), "0123456789") == "" {
			return // the word is a descriptor
		}
		if r.Op == syntax.DplIn || r.N != nil {
			why = cmp.Or(why, "it duplicates something that is no descriptor")
		}
	case syntax.RdrIn:
		write, g.feed = false, feed{}
	case syntax.RdrOut, syntax.AppOut, syntax.RdrInOut, syntax.RdrClob, syntax.AppClob, syntax.RdrAll,
		syntax.RdrAllClob, syntax.AppAll, syntax.AppAllClob:
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

func (g *gate) call(c *syntax.CallExpr) {
	for _, a := range c.Assigns {
		g.doubt(a, "it sets a variable")
		g.inside(a)
	}
	if len(c.Args) == 0 {
		return
	}
	s := simple{text: g.text(c), feed: g.feed}
	for _, w := range c.Args {
		got, why := g.read(w)
		s.unsure = cmp.Or(s.unsure, why)
		if why != "" {
			got.glob = true // for rules that deny, it may be anything
		}
		s.args = append(s.args, got)
	}
	if len(c.Assigns) > 0 {
		s.unsure = cmp.Or(s.unsure, "it sets a variable, which may change what runs")
	}
	if s.unsure == "" {
		s.unsure = takesAny(s.args)
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
	if s.unsure == "" && s.args[0].glob {
		s.unsure = cmp.Or(s.args[0].said, "its program is a wildcard")
	} else if s.unsure == "" && !s.args[0].fixed() {
		s.unsure = "its program is one that the shell works out"
	}
	if s.unsure != "" {
		g.script.commands = append(g.script.commands, s)
		return
	}
	if inner, ok := unwrap(s); ok {
		for _, i := range inner.scripts {
			below := (&gate{
				source: i, depth: g.depth + 1, guess: g.guess, loops: map[string]bool{},
				guesses: g.guesses,
			}).parse()
			for _, c := range below.commands {
				c.outer = append(c.outer, s.args)
				c.outer = append(c.outer, s.outer...)
				g.script.commands = append(g.script.commands, c)
			}
			g.script.redirects = append(g.script.redirects, below.redirects...)
			g.script.moved = g.script.moved || below.moved
		}
		if len(inner.args) > 0 {
			below := simple{args: inner.args, text: s.text, outer: append([][]word{s.args}, s.outer...), feed: s.feed}
			if len(below.outer) > maxNested {
				below.unsure = "it has too many commands inside commands"
			}
			g.add(below)
		}
		if inner.risk == "" && inner.unsure == "" {
			return
		}
		s.risk, s.unsure = inner.risk, inner.unsure
		g.starts(&s, inner.exact)
		g.script.commands = append(g.script.commands, s)
		return
	}
	s.unsure = builtinDoubt(s.args)
	if s.unsure == "" {
		own := g.found(&s)
		s.risk = risk(own)
		g.starts(&s, false)
	}
	g.script.commands = append(g.script.commands, s)
}
