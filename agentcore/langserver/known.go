package langserver

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
)

// Server is what is known of a language server.
type Server struct {
	// Name is that of the language, as in [languages.NAME].
	Name string
	// Command is a program and its arguments; it speaks on its standard input and output.
	Command []string
	// Files are the names of the files that it knows, such as "*.go".
	Files []string
	// Options are its initializationOptions, nil for none.
	Options json.RawMessage
}

// Knows reports whether the server is for a file.
func (s Server) Knows(path string) bool {
	base := filepath.Base(path)
	return slices.ContainsFunc(s.Files, func(pattern string) bool {
		matched, err := filepath.Match(pattern, base)
		return err == nil && matched
	})
}

// language is LSP's id of a file's language (TextDocumentItem).
func (s Server) language(path string) string {
	if id := languages[strings.ToLower(filepath.Ext(path))]; id != "" {
		return id
	}
	return strings.ToLower(s.Name)
}

var languages = map[string]string{
	".go": "go", ".mod": "go.mod", ".rs": "rust", ".py": "python", ".pyi": "python", ".ts": "typescript",
	".tsx": "typescriptreact", ".mts": "typescript",
	".cts": "typescript", ".js": "javascript", ".jsx": "javascriptreact", ".mjs": "javascript", ".cjs": "javascript",
	".c": "c", ".h": "c", ".cc": "cpp",
	".cpp": "cpp", ".cxx": "cpp", ".hh": "cpp", ".hpp": "cpp", ".java": "java", ".kt": "kotlin", ".rb": "ruby",
	".php": "php", ".lua": "lua", ".zig": "zig",
	".cs": "csharp", ".ex": "elixir", ".exs": "elixir", ".hs": "haskell", ".ml": "ocaml", ".mli": "ocaml.interface",
	".sh": "shellscript", ".bash": "shellscript",
	".swift": "swift", ".dart": "dart", ".scala": "scala", ".nix": "nix", ".tf": "terraform",
}

// WellKnown are the language servers that are used if they are installed. Of two servers for the same files, the first
// one is used.
func WellKnown() []Server {
	return []Server{
		{Name: "go", Command: []string{"gopls"}, Files: []string{"*.go"}},
		{
			Name: "rust", Command: []string{"rust-analyzer"}, Files: []string{"*.rs"},
			Options: json.RawMessage(
				`{"checkOnSave": false, "cargo": {"buildScripts": {"enable": false}}, "procMacro": {"enable": false}}`),
		},
		{Name: "python", Command: []string{"pyright-langserver", "--stdio"}, Files: []string{"*.py", "*.pyi"}},
		{
			Name: "python-basedpyright", Command: []string{"basedpyright-langserver", "--stdio"},
			Files: []string{"*.py", "*.pyi"},
		},
		{Name: "python-pylsp", Command: []string{"pylsp"}, Files: []string{"*.py", "*.pyi"}},
		{
			Name: "typescript", Command: []string{"typescript-language-server", "--stdio"},
			Files: []string{"*.ts", "*.tsx", "*.mts", "*.cts", "*.js", "*.jsx", "*.mjs", "*.cjs"},
		},
		{
			Name: "typescript-vtsls", Command: []string{"vtsls", "--stdio"},
			Files: []string{"*.ts", "*.tsx", "*.mts", "*.cts", "*.js", "*.jsx", "*.mjs", "*.cjs"},
		},
		{
			Name: "c", Command: []string{"clangd", "--background-index=false"},
			Files: []string{"*.c", "*.h", "*.cc", "*.cpp", "*.cxx", "*.hh", "*.hpp"},
		},
		{Name: "zig", Command: []string{"zls"}, Files: []string{"*.zig"}},
		{Name: "lua", Command: []string{"lua-language-server"}, Files: []string{"*.lua"}},
		{Name: "ruby", Command: []string{"ruby-lsp"}, Files: []string{"*.rb"}},
		{Name: "php", Command: []string{"intelephense", "--stdio"}, Files: []string{"*.php"}},
		{Name: "java", Command: []string{"jdtls"}, Files: []string{"*.java"}},
		{Name: "elixir", Command: []string{"elixir-ls"}, Files: []string{"*.ex", "*.exs"}},
		{Name: "haskell", Command: []string{"haskell-language-server-wrapper", "--lsp"}, Files: []string{"*.hs"}},
		{Name: "ocaml", Command: []string{"ocamllsp"}, Files: []string{"*.ml", "*.mli"}},
		{Name: "shell", Command: []string{"bash-language-server", "start"}, Files: []string{"*.sh", "*.bash"}},
	}
}
