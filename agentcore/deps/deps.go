//go:build deps

// Package deps holds the pinned modules in go.mod until their users have landed.
package deps

import (
	_ "github.com/BurntSushi/toml"
	_ "github.com/anthropics/anthropic-sdk-go"
	_ "github.com/bmatcuk/doublestar/v4"
	_ "github.com/fsnotify/fsnotify"
	_ "github.com/go-git/go-git/v5/plumbing/format/gitignore"
	_ "github.com/google/go-cmp/cmp"
	_ "github.com/google/jsonschema-go/jsonschema"
	_ "github.com/openai/openai-go/v3"
	_ "github.com/rogpeppe/go-internal/txtar"
	_ "github.com/sergi/go-diff/diffmatchpatch"
	_ "github.com/sourcegraph/jsonrpc2"
	_ "github.com/spf13/cobra"
	_ "go.lsp.dev/jsonrpc2"
	_ "go.lsp.dev/protocol"
	_ "go.lsp.dev/uri"
	_ "go.uber.org/goleak"
	_ "go.yaml.in/yaml/v3"
	_ "golang.org/x/sys/unix"
	_ "golang.org/x/term"
	_ "golang.org/x/tools/txtar"
	_ "modernc.org/sqlite"
	_ "pgregory.net/rapid"
)
