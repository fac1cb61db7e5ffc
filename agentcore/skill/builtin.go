package skill

import (
	"embed"
	"fmt"
	"sync"

	"github.com/agentls/agentls/agentcore/agent"
)

//go:embed builtin/*/SKILL.md
var builtinFiles embed.FS

// Builtin returns the skills that are part of agentls.
var Builtin = sync.OnceValue(func() []*Skill {
	entries, err := builtinFiles.ReadDir("builtin")
	if err != nil {
		panic(fmt.Sprintf("list the built-in skills: %v", err)) // they are in the program itself
	}
	var list []*Skill
	for _, entry := range entries {
		name := "builtin/" + entry.Name() + "/" + FileName
		text, err := builtinFiles.ReadFile(name)
		if err != nil {
			panic(fmt.Sprintf("read a built-in skill: %v", err))
		}
		skill := Parse(name, string(text))
		skill.Path, skill.Layer = "", agent.LayerBuiltin
		list = append(list, skill)
	}
	return list
})
