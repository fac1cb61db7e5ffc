package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// maxCompletions is how many completions are looked for.
const maxCompletions = 200

// complete finds what the user could mean at a place of what was typed: a command, or what an @ names. It may be called
// from any goroutine.
func (c *chat) complete(ctx context.Context, text string, at int) []completion {
	before := text[:at]
	if strings.HasPrefix(before, "/") && !strings.ContainsAny(before, " \n") {
		var list []completion
		for _, s := range append(slashes(), slash{name: exitCommand, about: "end the chat"}) {
			if strings.HasPrefix(s.name, before) {
				list = append(list, completion{0, at, s.name + " ", s.about})
			}
		}
		return list
	}
	return c.files(ctx, before)
}

// files are the files and folders that the @ in front of the cursor could name.
func (c *chat) files(ctx context.Context, before string) []completion {
	begin := strings.LastIndexAny(before, " \t\n") + 1
	word, ok := strings.CutPrefix(before[begin:], "@")
	if !ok || ctx.Err() != nil {
		return nil
	}
	folder, name := "", word
	if i := strings.LastIndexByte(word, '/'); i >= 0 {
		folder, name = word[:i+1], word[i+1:]
	}
	if !filepath.IsLocal(filepath.Join(".", folder)) {
		return nil
	}
	entries, err := os.ReadDir(filepath.Join(c.view.Roots()[0].Path, folder))
	if err != nil {
		return nil // as long as the name is not whole
	}
	var list []completion
	for _, e := range entries {
		hidden := strings.HasPrefix(e.Name(), ".") && !strings.HasPrefix(name, ".")
		if hidden || !strings.HasPrefix(e.Name(), name) || len(list) == maxCompletions {
			continue
		}
		end := " "
		if e.IsDir() {
			end = "/"
		}
		list = append(list, completion{begin, len(before), "@" + folder + e.Name() + end, ""})
	}
	return list
}
