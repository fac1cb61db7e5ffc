package permission

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// commandItems are the parts of a command line.
func (p *Policy) commandItems(r Request, grants []Grant) []item {
	s := parseCommand(r.Command, 0)
	full := r.Sandbox == Full
	readable := func(name string) bool {
		it := p.fileItem("read", Path{Name: name}, false)
		return p.part(&it, grants, func(Step) {}).Action == Allow
	}
	var list []item
	for i := range s.commands {
		c := &s.commands[i]
		it := item{
			what: Visible(strings.TrimSpace(c.text)), tool: "bash", effect: Execute, command: c, full: full,
			always: c.alwaysRules(),
		}
		if !full && c.unsure == "" {
			if why := p.wanders(c, r.Dir, readable); why != "" {
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
			it.guard = "" // a command in the sandbox cannot write protected files
		} else if s.moved && !filepath.IsAbs(f.path) {
			it = item{
				what: it.what, tool: "bash", effect: Execute,
				command: &simple{unsure: "it opens a file after a change of folder, so that it may be another file"},
			}
		}
		list = append(list, it)
	}
	return list
}

// wanders returns why a command outside of a sandbox reaches more than a pattern of first words means, or "". For files
// that a program only reads, the rules for reading decide.
func (p *Policy) wanders(c *simple, dir string, readable func(string) bool) string {
	read := func(l location) bool {
		if !slices.Contains(looking, c.args[0].text) || c.args[0].text == "cd" || !readable(l.abs) {
			return false
		}
		return !walks(c.args) || readable(path.Join(l.abs, "file"))
	}
	for _, l := range p.mentions(c, dir) {
		if Secret(l.abs) && !read(l) {
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
		if l.root == "" && l.abs != "/dev/null" && !read(l) {
			return fmt.Sprintf("it goes to %s, outside the workspace", l.show())
		}
	}
	return ""
}

// walks reports whether a program that only looks also goes into the folders that it is given.
func walks(args []word) bool {
	return slices.Contains([]string{"find", "fd", "rg", "tree", "du"}, args[0].text) ||
		slices.ContainsFunc(args[1:], func(a word) bool {
			return a.glob || strings.HasPrefix(a.text, "--rec") || strings.HasPrefix(a.text, "--der") ||
				strings.HasPrefix(a.text, "-") && !strings.HasPrefix(a.text, "--") && strings.ContainsAny(a.text, "rR")
		})
}

// meetsSecret reports whether a wildcard matches files that look like secrets, among few others. A wildcard for all
// files does not count.
func meetsSecret(pattern string) bool {
	base := path.Base(pattern)
	if strings.Trim(base, "*?") == "" {
		return false
	}
	return slices.ContainsFunc([]string{
		".env", ".env.local", ".netrc", ".pgpass", ".git-credentials", "id_rsa",
		"id_ed25519",
	}, func(name string) bool {
		met, err := path.Match(strings.ToLower(base), name)
		return met || err != nil
	})
}

// mentions are the files that the words behind a program's name could name.
func (p *Policy) mentions(c *simple, dir string) []location {
	var list []location
	if len(c.args) < 2 {
		return nil
	}
	for _, a := range c.args[1:] {
		text := a.text
		if a.home {
			text = cmp.Or(strings.TrimSuffix(filepath.ToSlash(p.home), "/"), "/~") + text[1:]
		}
		switch _, value, ok := strings.Cut(text, "="); {
		case !strings.HasPrefix(text, "-"):
		case ok:
			text = value
		case len(text) > 2 && (text[2] == '/' || strings.HasPrefix(text[2:], "../")):
			text = text[2:] // behind a short option
		}
		if _, file, ok := strings.Cut(text, ":"); ok && c.args[0].text == "git" && file != "" && !filepath.IsAbs(file) {
			list = append(list, p.locate(filepath.Join(dir, file))) // a file of a commit
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

// alwaysRules are the rules that would allow a command from now on: its first words where they say enough, otherwise
// exactly this command.
func (s *simple) alwaysRules() []Rule {
	if s.unsure != "" || len(s.args) == 0 {
		return nil
	}
	exact := []string{}
	for _, a := range s.args {
		if a.glob && s.risk != "" || a.glob && strings.Contains(a.text, "\x00") {
			return nil
		}
		exact = append(exact, quoteWord(a.text))
	}
	program := s.args[0].text
	switch {
	case s.risk != "":
	case slices.Contains(looking, program):
		return []Rule{{"bash", quoteWord(program) + "*", Allow}}
	case slices.Contains(commands, program) && len(s.args) > 1 && subcommand(s.args[1]):
		if slices.Contains(installing, s.args[1].text) {
			break
		}
		words := exact[:2]
		if slices.Contains(nested[program], s.args[1].text) {
			if len(s.args) < 3 || !subcommand(s.args[2]) {
				break
			}
			words = exact[:3]
		}
		return []Rule{{"bash", strings.Join(words, " ") + "*", Allow}}
	}
	if slices.ContainsFunc(s.args, func(a word) bool { return !a.fixed() }) {
		return nil
	}
	return []Rule{{"bash", strings.Join(exact, " "), Allow}}
}
