package lexer

import (
	"path"
	"strings"
	"sync"
)

// Syntax is how a language writes comments and strings. If several rules match, the first one counts.
type Syntax struct {
	blocks []block
	lines  []line
	quotes []quote
	// escapes are the bytes that, outside of strings, make the next character an ordinary one.
	escapes string
	// regexps says that a slash begins a regular expression where a value is expected. heredocs says that "<<"
	// announces a document that begins on the next line.
	regexps, heredocs bool
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
	first           // only as the first thing of a line
	word            // only at the beginning of a word
	statement       // only as a word before a statement
	unescaped       // not after a backslash
	symbol          // only as an operator of its own
	opening         // only at the beginning of the text
)

type quote struct {
	open, close string
	escape      bool // a backslash makes the next character an ordinary one
	doubled     bool // the closing sign written twice stands for itself
	long        bool // it may have several lines
	char        bool // it contains one character; otherwise the sign is something else
	atWord      bool // it can only begin at the beginning of a word
	// after a word, the sign is an apostrophe, as in the text of JSX, unless the word is a keyword before a value
	afterWord bool
	// embed opens code within the string; its last byte is the bracket that closes the code. A whole string is one
	// token with that code. Of other strings, the code belongs to no token.
	embed string
	whole bool
}

var (
	double   = quote{open: `"`, close: `"`, escape: true}
	single   = quote{open: "'", close: "'", escape: true}
	longer   = quote{open: `"`, close: `"`, escape: true, long: true}
	longOne  = quote{open: "'", close: "'", escape: true, long: true}
	raw      = quote{open: "`", close: "`", long: true}
	template = quote{open: "`", close: "`", escape: true, long: true}
	shellTwo = quote{open: `"`, close: `"`, escape: true, long: true, embed: "$(", whole: true}
	shellOne = quote{open: "'", close: "'", long: true}
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

// languages are the syntaxes, each with the ids of its languages (LSP 3.18, TextDocumentItem, and those of Vim and
// Helix) and the extensions of their files.
var languages = []struct {
	ids, endings string
	Syntax
}{
	{
		"c cpp objc objective-c objective-cpp objcpp cuda-cpp java csharp proto proto3 protobuf jsonc " +
			"json5 glsl hlsl wgsl verilog systemverilog solidity thrift groovy",
		"c h cc cpp cxx hh hpp hxx ino m mm cu java cs proto jsonc json5 glsl vert frag hlsl wgsl v sv sol thrift " +
			"groovy gradle",
		Syntax{
			lines: []line{slashes}, blocks: []block{stars},
			quotes: []quote{
				triple,
				{open: `R"(`, close: `)"`, long: true},
				{open: `@"`, close: `"`, doubled: true, long: true},
				double, char,
			},
		},
	},
	{
		"go gomod go.mod gowork", "go mod work",
		Syntax{lines: []line{slashes}, blocks: []block{stars}, quotes: []quote{double, raw, char}},
	},
	{
		"javascript javascriptreact typescript typescriptreact jsx tsx astro", "js mjs cjs jsx ts mts cts tsx",
		Syntax{
			lines: []line{slashes, {marker: "#!", where: opening}}, blocks: []block{stars}, regexps: true,
			quotes: []quote{
				double,
				{open: "'", close: "'", escape: true, afterWord: true},
				{open: "`", close: "`", escape: true, long: true, embed: "${"},
			},
		},
	},
	{
		"rust zig swift kotlin scala dart odin", "rs zig swift kt kts scala sc dart odin",
		Syntax{
			lines: []line{slashes}, blocks: []block{nested},
			quotes: []quote{triple, {open: `r#"`, close: `"#`, long: true}, longer, char},
		},
	},
	{"css", "css", Syntax{blocks: []block{stars}, quotes: []quote{double, single}}},
	{
		"scss sass less stylus", "scss sass less styl",
		Syntax{lines: []line{slashes}, blocks: []block{stars}, quotes: []quote{double, single}},
	},
	{"php", "php", Syntax{lines: []line{slashes, hash}, blocks: []block{stars}, quotes: []quote{longer, longOne}}},
	{
		"python starlark bazel bzl mojo gdscript snakemake", "py pyi pyw bzl star mojo gd smk",
		Syntax{lines: []line{hash}, quotes: []quote{triple, triple1, double, single}},
	},
	{
		"ruby crystal", "rb rake cr gemspec",
		Syntax{
			lines: []line{hash}, blocks: []block{{open: "=begin", close: "\n=end", atLine: true}},
			quotes: []quote{longer, longOne, template}, escapes: "?",
		},
	},
	{"perl raku", "pl pm t raku", Syntax{lines: []line{hashes}, quotes: []quote{longer, longOne}}},
	{
		"shellscript sh bash zsh ksh", "sh bash zsh ksh bats",
		Syntax{lines: []line{hashes}, quotes: []quote{
			shellTwo,
			{open: "$'", close: "'", escape: true, long: true},
			shellOne,
		}, escapes: `\`, heredocs: true},
	},
	{"fish csh tcl", "fish csh tcl", Syntax{lines: []line{hashes}, quotes: []quote{longer, shellOne}, escapes: `\`}},
	{
		"powershell ps1", "ps1 psm1 psd1",
		Syntax{
			lines: []line{hashes}, blocks: []block{{open: "<#", close: "#>"}},
			quotes: []quote{{open: `"`, close: `"`, doubled: true, long: true}, sqlOne}, escapes: "`",
		},
	},
	{
		"yaml dockercompose ansible helm", "yaml yml",
		Syntax{lines: []line{hashes}, quotes: []quote{
			{open: `"`, close: `"`, escape: true, long: true, atWord: true},
			{open: "'", close: "'", doubled: true, long: true, atWord: true},
		}},
	},
	{"toml", "toml", Syntax{lines: []line{hash}, quotes: []quote{triple, triple1, double, {open: "'", close: "'"}}}},
	{
		"makefile make dockerfile cmake meson ninja r elixir julia nim awk gitignore ignore gitcommit git-commit " +
			"properties coffeescript coffee graphql elvish nu just caddyfile nginx",
		"mk cmake r ex exs jl nim awk properties coffee graphql gql nu",
		Syntax{
			lines:  []line{hashes},
			blocks: []block{{open: "#=", close: "=#", nested: true}, {open: "#[", close: "]#", nested: true}},
			quotes: []quote{triple, triple1, double, {open: "'", close: "'", atWord: true, escape: true}},
		},
	},
	{
		"terraform hcl tf nix jsonnet", "tf tfvars hcl nix jsonnet libsonnet",
		Syntax{
			lines: []line{hashes, slashes}, blocks: []block{stars},
			quotes: []quote{{open: "''", close: "''", long: true}, double},
		},
	},
	{
		"lua luau", "lua luau",
		Syntax{lines: []line{dashes}, blocks: []block{
			{open: "--[[", close: "]]"},
			{open: "--[=[", close: "]=]"},
			{open: "--[==[", close: "]==]"},
		}, quotes: []quote{
			{open: "[[", close: "]]", long: true},
			{open: "[=[", close: "]=]", long: true},
			double, single,
		}},
	},
	{
		"sql plsql mysql pgsql tsql", "sql psql ddl",
		Syntax{
			lines: []line{dashes}, blocks: []block{nested},
			quotes: []quote{sqlOne, sqlTwo, {open: "$$", close: "$$", long: true}},
		},
	},
	{
		"haskell lhaskell purescript agda idris", "hs lhs purs agda idr",
		Syntax{
			lines: []line{{marker: "--", where: symbol}}, blocks: []block{{open: "{-", close: "-}", nested: true}},
			quotes: []quote{longer, char},
		},
	},
	{
		"elm dhall lean", "elm dhall",
		Syntax{
			lines: []line{dashes}, blocks: []block{{open: "{-", close: "-}", nested: true}},
			quotes: []quote{triple, double, char},
		},
	},
	{
		"ada vhdl applescript", "adb ads vhd vhdl applescript",
		Syntax{lines: []line{dashes}, quotes: []quote{basicTwo, char}},
	},
	{
		"lisp commonlisp common-lisp clojure scheme racket emacs-lisp elisp fennel janet",
		"lisp lsp cl clj cljs cljc edn scm ss rkt el fnl janet",
		Syntax{
			lines: []line{{marker: ";"}}, blocks: []block{{open: "#|", close: "|#", nested: true}},
			quotes: []quote{longer}, escapes: `\?`,
		},
	},
	{
		"ini dosini cfg conf editorconfig systemd desktop asm nasm autohotkey",
		"ini cfg conf editorconfig service asm s nasm ahk inf",
		Syntax{lines: []line{{marker: ";", where: word}, hashes}, quotes: []quote{basicTwo}},
	},
	{
		"latex tex bibtex plaintex context", "tex sty cls bib ltx",
		Syntax{lines: []line{{marker: "%", where: unescaped}}},
	},
	{
		"matlab octave", "matlab octave",
		Syntax{
			lines: []line{{marker: "%"}, hashes}, blocks: []block{{open: "%{", close: "%}"}},
			quotes: []quote{basicTwo, {open: "'", close: "'", doubled: true, atWord: true}},
		},
	},
	{"erlang", "erl hrl", Syntax{lines: []line{{marker: "%"}}, quotes: []quote{longer, single}, escapes: "$"}},
	{
		"prolog postscript", "pro prolog ps eps",
		Syntax{lines: []line{{marker: "%"}}, blocks: []block{stars}, quotes: []quote{single, double}},
	},
	{
		"html xml xsl svg vue svelte handlebars mustache razor aspx angular",
		"html htm xhtml xml xsl xsd svg vue svelte hbs plist",
		Syntax{
			lines:  []line{{marker: "//", where: first}},
			blocks: []block{markup, stars, {open: "{{!--", close: "--}}"}},
		},
	},
	{
		"markdown md mdx quarto rmd", "md markdown mdx qmd rmd",
		Syntax{blocks: []block{markup, {open: "{/*", close: "*/}"}}},
	},
	{
		"jinja jinja-html twig django django-html", "j2 jinja jinja2 twig",
		Syntax{blocks: []block{{open: "{#", close: "#}"}, markup}},
	},
	{
		"ocaml ocaml.interface reason sml coq rocq", "ml mli sml",
		Syntax{blocks: []block{{open: "(*", close: "*)", nested: true}}, quotes: []quote{longer, char}},
	},
	{"fsharp", "fs fsi fsx", Syntax{
		lines: []line{slashes}, blocks: []block{{open: "(*", close: "*)", nested: true}},
		quotes: []quote{triple, longer, char},
	}},
	{
		"pascal delphi", "pas dpr pp",
		Syntax{
			lines: []line{slashes}, blocks: []block{{open: "{", close: "}"}, {open: "(*", close: "*)"}},
			quotes: []quote{{open: "'", close: "'", doubled: true}},
		},
	},
	{"vim viml vimscript", "vim vimrc", Syntax{
		lines:  []line{{marker: `"`, where: first}, {marker: "#", where: first}},
		quotes: []quote{double, {open: "'", close: "'", doubled: true}},
	}},
	{
		"vb vba basic freebasic qb64 vbscript vbnet", "vb bas vbs frm",
		Syntax{lines: []line{{marker: "'"}, {marker: "REM", where: statement}}, quotes: []quote{basicTwo}},
	},
	{
		"bat batch dosbatch", "bat cmd",
		Syntax{lines: []line{{marker: "REM", where: statement}, {marker: "::", where: first}}},
	},
	{
		"fortran fortran-modern fortran90", "f90 f95 f03 f08",
		Syntax{lines: []line{{marker: "!"}}, quotes: []quote{basicTwo, {open: "'", close: "'", doubled: true}}},
	},
	{"cobol", "cob cbl", Syntax{lines: []line{{marker: "*>"}}, quotes: []quote{basicTwo}}},
	{"d", "d", Syntax{
		lines: []line{slashes}, blocks: []block{{open: "/+", close: "+/", nested: true}, stars},
		quotes: []quote{longer, raw, char},
	}},
	{"json plaintext text", "json txt", Syntax{}},
}

// unknown is the syntax for a language that is not in the table: it accepts any common sign at the beginning of a line.
var unknown = Syntax{
	lines: []line{
		{marker: "//", where: first},
		{marker: "#", where: first},
		{marker: "--", where: first},
		{marker: ";", where: first},
		{marker: "%", where: first},
	},
	blocks: []block{stars, markup},
}

// fileNames are the ids for files that have no typical extension, by their names.
var fileNames = map[string]string{
	"makefile": "makefile", "gnumakefile": "makefile", "dockerfile": "dockerfile", "containerfile": "dockerfile",
	"cmakelists.txt": "cmake",
	"rakefile":       "ruby", "gemfile": "ruby", "jenkinsfile": "groovy", "build": "bazel", "workspace": "bazel",
	".gitignore": "gitignore",
	".vimrc":     "vim", ".bashrc": "bash", ".zshrc": "zsh", ".profile": "sh", "justfile": "just",
}

// index finds the syntaxes by id and by extension; it is made when it is first needed.
var index = sync.OnceValues(func() (ids, endings map[string]*Syntax) {
	ids, endings = map[string]*Syntax{}, map[string]*Syntax{}
	for i := range languages {
		l := &languages[i]
		for _, id := range strings.Fields(l.ids) {
			ids[id] = &l.Syntax
		}
		for _, ending := range strings.Fields(l.endings) {
			endings[ending] = &l.Syntax
		}
	}
	return ids, endings
})

// Of returns the syntax of a language by LSP's languageId. If the id is not known, the file's name decides. It is never
// nil: for an unknown language, it is what most languages have in common.
func Of(language, file string) *Syntax {
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
