package comment

import (
	"path"
	"strings"
	"sync"
)

// syntax is how a language writes comments and strings. Of several that fit, the first one counts.
type syntax struct {
	blocks []block
	lines  []line
	quotes []quote
	// escapes are the bytes that take the meaning of the next character, outside of strings.
	escapes string
}

type block struct {
	open, close string
	nested      bool
	atLine      bool // only at the start of a line
}

type line struct {
	marker string
	where  place
}

// place says where a line comment can begin.
type place int

const (
	anywhere  place = iota
	first           // as the first thing of a line
	word            // as the first thing of a word
	statement       // as a word, in front of a statement
	unescaped       // not behind a backslash
	symbol          // as an operator of its own
)

type quote struct {
	open, close string
	escape      bool // a backslash takes the meaning of what follows
	doubled     bool // the closing sign twice is that sign
	long        bool // it may go over several lines
	char        bool // it is one character, or something else
	atWord      bool // it stands at the start of a word
}

var (
	double   = quote{open: `"`, close: `"`, escape: true}
	single   = quote{open: "'", close: "'", escape: true}
	longer   = quote{open: `"`, close: `"`, escape: true, long: true}
	longOne  = quote{open: "'", close: "'", escape: true, long: true}
	raw      = quote{open: "`", close: "`", long: true}
	template = quote{open: "`", close: "`", escape: true, long: true}
	char     = quote{open: "'", close: "'", char: true}
	triple   = quote{open: `"""`, close: `"""`, escape: true, long: true}
	triple1  = quote{open: "'''", close: "'''", escape: true, long: true}
	sqlOne   = quote{open: "'", close: "'", doubled: true, long: true}
	sqlTwo   = quote{open: `"`, close: `"`, doubled: true, long: true}
	basicTwo = quote{open: `"`, close: `"`, doubled: true}

	slashes = line{marker: "//"}
	stars   = block{open: "/*", close: "*/"}
	nested  = block{open: "/*", close: "*/", nested: true}
	hash    = line{marker: "#"}
	hashes  = line{marker: "#", where: word}
	dashes  = line{marker: "--"}
	markup  = block{open: "<!--", close: "-->"}
)

// languages are the syntaxes, each with the ids (LSP 3.18, TextDocumentItem, and those of Vim and Helix) and the endings of
// the files that have it.
var languages = []struct {
	ids, endings string
	syntax
}{
	{
		"c cpp objc objective-c objective-cpp objcpp cuda-cpp java csharp proto proto3 protobuf jsonc json5 glsl hlsl wgsl verilog systemverilog solidity thrift groovy",
		"c h cc cpp cxx hh hpp hxx ino m mm cu java cs proto jsonc json5 glsl vert frag hlsl wgsl v sv sol thrift groovy gradle",
		syntax{lines: []line{slashes}, blocks: []block{stars}, quotes: []quote{triple, {open: `R"(`, close: `)"`, long: true}, {open: `@"`, close: `"`, doubled: true, long: true}, double, char}},
	},
	{"go gomod go.mod gowork", "go mod work", syntax{lines: []line{slashes}, blocks: []block{stars}, quotes: []quote{double, raw, char}}},
	{
		"javascript javascriptreact typescript typescriptreact jsx tsx astro", "js mjs cjs jsx ts mts cts tsx",
		syntax{lines: []line{slashes}, blocks: []block{stars}, quotes: []quote{double, single, template}},
	},
	{
		"rust zig swift kotlin scala dart odin", "rs zig swift kt kts scala sc dart odin",
		syntax{lines: []line{slashes}, blocks: []block{nested}, quotes: []quote{triple, {open: `r#"`, close: `"#`, long: true}, longer, char}},
	},
	{"css", "css", syntax{blocks: []block{stars}, quotes: []quote{double, single}}},
	{"scss sass less stylus", "scss sass less styl", syntax{lines: []line{slashes}, blocks: []block{stars}, quotes: []quote{double, single}}},
	{"php", "php", syntax{lines: []line{slashes, hash}, blocks: []block{stars}, quotes: []quote{longer, longOne}}},
	{
		"python starlark bazel bzl mojo gdscript snakemake", "py pyi pyw bzl star mojo gd smk",
		syntax{lines: []line{hash}, quotes: []quote{triple, triple1, double, single}},
	},
	{"ruby crystal", "rb rake cr gemspec", syntax{lines: []line{hash}, blocks: []block{{open: "=begin", close: "\n=end", atLine: true}}, quotes: []quote{longer, longOne, template}, escapes: "?"}},
	{"perl raku", "pl pm t raku", syntax{lines: []line{hashes}, quotes: []quote{longer, longOne}}},
	{"shellscript sh bash zsh fish ksh csh tcl", "sh bash zsh fish ksh csh tcl bats", syntax{lines: []line{hashes}, quotes: []quote{longer, {open: "'", close: "'", long: true}}, escapes: `\`}},
	{
		"powershell ps1", "ps1 psm1 psd1",
		syntax{lines: []line{hashes}, blocks: []block{{open: "<#", close: "#>"}}, quotes: []quote{{open: `"`, close: `"`, doubled: true, long: true}, sqlOne}, escapes: "`"},
	},
	{
		"yaml dockercompose ansible helm", "yaml yml",
		syntax{lines: []line{hashes}, quotes: []quote{{open: `"`, close: `"`, escape: true, long: true, atWord: true}, {open: "'", close: "'", doubled: true, long: true, atWord: true}}},
	},
	{"toml", "toml", syntax{lines: []line{hash}, quotes: []quote{triple, triple1, double, {open: "'", close: "'"}}}},
	{
		"makefile make dockerfile cmake meson ninja r elixir julia nim awk gitignore ignore gitcommit git-commit properties coffeescript coffee graphql elvish nu just caddyfile nginx",
		"mk cmake r ex exs jl nim awk properties coffee graphql gql nu",
		syntax{lines: []line{hashes}, blocks: []block{{open: "#=", close: "=#", nested: true}, {open: "#[", close: "]#", nested: true}}, quotes: []quote{triple, triple1, double, {open: "'", close: "'", atWord: true, escape: true}}},
	},
	{"terraform hcl tf nix jsonnet", "tf tfvars hcl nix jsonnet libsonnet", syntax{lines: []line{hashes, slashes}, blocks: []block{stars}, quotes: []quote{{open: "''", close: "''", long: true}, double}}},
	{
		"lua luau", "lua luau",
		syntax{lines: []line{dashes}, blocks: []block{{open: "--[[", close: "]]"}, {open: "--[=[", close: "]=]"}, {open: "--[==[", close: "]==]"}}, quotes: []quote{{open: "[[", close: "]]", long: true}, {open: "[=[", close: "]=]", long: true}, double, single}},
	},
	{"sql plsql mysql pgsql tsql", "sql psql ddl", syntax{lines: []line{dashes}, blocks: []block{nested}, quotes: []quote{sqlOne, sqlTwo, {open: "$$", close: "$$", long: true}}}},
	{
		"haskell lhaskell purescript agda idris", "hs lhs purs agda idr",
		syntax{lines: []line{{marker: "--", where: symbol}}, blocks: []block{{open: "{-", close: "-}", nested: true}}, quotes: []quote{longer, char}},
	},
	{"elm dhall lean", "elm dhall", syntax{lines: []line{dashes}, blocks: []block{{open: "{-", close: "-}", nested: true}}, quotes: []quote{triple, double, char}}},
	{"ada vhdl applescript", "adb ads vhd vhdl applescript", syntax{lines: []line{dashes}, quotes: []quote{basicTwo, char}}},
	{
		"lisp commonlisp common-lisp clojure scheme racket emacs-lisp elisp fennel janet", "lisp lsp cl clj cljs cljc edn scm ss rkt el fnl janet",
		syntax{lines: []line{{marker: ";"}}, blocks: []block{{open: "#|", close: "|#", nested: true}}, quotes: []quote{longer}, escapes: `\?`},
	},
	{"ini dosini cfg conf editorconfig systemd desktop asm nasm autohotkey", "ini cfg conf editorconfig service asm s nasm ahk inf", syntax{lines: []line{{marker: ";", where: word}, hashes}, quotes: []quote{basicTwo}}},
	{"latex tex bibtex plaintex context", "tex sty cls bib ltx", syntax{lines: []line{{marker: "%", where: unescaped}}}},
	{"matlab octave", "matlab octave", syntax{lines: []line{{marker: "%"}, hashes}, blocks: []block{{open: "%{", close: "%}"}}, quotes: []quote{basicTwo, {open: "'", close: "'", doubled: true, atWord: true}}}},
	{"erlang", "erl hrl", syntax{lines: []line{{marker: "%"}}, quotes: []quote{longer, single}, escapes: "$"}},
	{"prolog postscript", "pro prolog ps eps", syntax{lines: []line{{marker: "%"}}, blocks: []block{stars}, quotes: []quote{single, double}}},
	{
		"html xml xsl svg vue svelte handlebars mustache razor aspx angular", "html htm xhtml xml xsl xsd svg vue svelte hbs plist",
		syntax{lines: []line{{marker: "//", where: first}}, blocks: []block{markup, stars, {open: "{{!--", close: "--}}"}}},
	},
	{"markdown md mdx quarto rmd", "md markdown mdx qmd rmd", syntax{blocks: []block{markup, {open: "{/*", close: "*/}"}}}},
	{"jinja jinja-html twig django django-html", "j2 jinja jinja2 twig", syntax{blocks: []block{{open: "{#", close: "#}"}, markup}}},
	{"ocaml ocaml.interface reason sml coq rocq", "ml mli sml", syntax{blocks: []block{{open: "(*", close: "*)", nested: true}}, quotes: []quote{longer, char}}},
	{"fsharp", "fs fsi fsx", syntax{lines: []line{slashes}, blocks: []block{{open: "(*", close: "*)", nested: true}}, quotes: []quote{triple, longer, char}}},
	{"pascal delphi", "pas dpr pp", syntax{lines: []line{slashes}, blocks: []block{{open: "{", close: "}"}, {open: "(*", close: "*)"}}, quotes: []quote{{open: "'", close: "'", doubled: true}}}},
	{"vim viml vimscript", "vim vimrc", syntax{lines: []line{{marker: `"`, where: first}, {marker: "#", where: first}}, quotes: []quote{double, {open: "'", close: "'", doubled: true}}}},
	{"vb vba basic freebasic qb64 vbscript vbnet", "vb bas vbs frm", syntax{lines: []line{{marker: "'"}, {marker: "REM", where: statement}}, quotes: []quote{basicTwo}}},
	{"bat batch dosbatch", "bat cmd", syntax{lines: []line{{marker: "REM", where: statement}, {marker: "::", where: first}}}},
	{"fortran fortran-modern fortran90", "f90 f95 f03 f08", syntax{lines: []line{{marker: "!"}}, quotes: []quote{basicTwo, {open: "'", close: "'", doubled: true}}}},
	{"cobol", "cob cbl", syntax{lines: []line{{marker: "*>"}}, quotes: []quote{basicTwo}}},
	{"d", "d", syntax{lines: []line{slashes}, blocks: []block{{open: "/+", close: "+/", nested: true}, stars}, quotes: []quote{longer, raw, char}}},
	{"json plaintext text", "json txt", syntax{}},
}

// unknown is the syntax of a language that is not in the table: any usual sign, at the beginning of a line.
var unknown = syntax{
	lines: []line{
		{marker: "//", where: first},
		{marker: "#", where: first},
		{marker: "--", where: first},
		{marker: ";", where: first},
		{marker: "%", where: first},
	},
	blocks: []block{stars, markup},
}

// fileNames are the ids of files that are known by their names.
var fileNames = map[string]string{
	"makefile": "makefile", "gnumakefile": "makefile", "dockerfile": "dockerfile", "containerfile": "dockerfile", "cmakelists.txt": "cmake",
	"rakefile": "ruby", "gemfile": "ruby", "jenkinsfile": "groovy", "build": "bazel", "workspace": "bazel", ".gitignore": "gitignore",
	".vimrc": "vim", ".bashrc": "bash", ".zshrc": "zsh", ".profile": "sh", "justfile": "just",
}

// index finds the syntaxes by language and by ending; it is made when the first is looked for.
var index = sync.OnceValues(func() (ids, endings map[string]*syntax) {
	ids, endings = map[string]*syntax{}, map[string]*syntax{}
	for i := range languages {
		l := &languages[i]
		for _, id := range strings.Fields(l.ids) {
			ids[id] = &l.syntax
		}
		for _, ending := range strings.Fields(l.endings) {
			endings[ending] = &l.syntax
		}
	}
	return ids, endings
})

func syntaxOf(language, file string) *syntax {
	byID, byEnding := index()
	language = strings.ToLower(language)
	text := language == "" || language == "plaintext" || language == "text"
	if x := byID[language]; x != nil && !text {
		return x
	}
	name := strings.ToLower(path.Base(strings.ReplaceAll(file, `\`, "/")))
	if x := byID[fileNames[name]]; x != nil {
		return x
	}
	if x := byEnding[strings.TrimPrefix(path.Ext(name), ".")]; x != nil {
		return x
	}
	return &unknown
}
