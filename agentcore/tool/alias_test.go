package tool

import (
	"slices"
	"testing"
)

func TestResolve(t *testing.T) {
	for name, want := range map[string]string{
		"read": "read", "Read": "read", "read_file": "read", "readFile": "read", " read ": "read",
		"Write": "write", "write_file": "write", "create_file": "write",
		"Edit": "edit", "MultiEdit": "edit", "str_replace": "edit", "str_replace_based_edit_tool": "edit",
		"apply_patch": "patch", "Glob": "glob", "Grep": "grep", "search_files": "grep",
		"LS": "list", "list_dir": "list", "list_directory": "list",
		"Bash": "bash", "run_shell_command": "bash", "Task": "task", "Agent": "task",
		"todo_write": "todo", "TodoWrite": "todo", "TodoRead": "todo",
		"WebFetch": "webfetch", "web-search": "websearch", "NotebookEdit": "notebook_edit",
		"symbols": "symbols", "AskUserQuestion": "question", "Skill": "skill", "ExitPlanMode": "plan_exit",
		"get_errors": "diagnostics", "report_finding": "report_finding",
		"mcp__github__Read": "mcp__github__Read",
	} {
		if got, ok := Resolve(name); got != want || !ok {
			t.Errorf("Resolve(%q) = %q, %t; want %q", name, got, ok, want)
		}
	}
	for _, name := range []string{"", "frobnicate", "Read2", "rm"} {
		if got, ok := Resolve(name); ok || got != name {
			t.Errorf("Resolve(%q) = %q, %t; want it back, unknown", name, got, ok)
		}
	}
}

// TestAliasTable: no spelling stands for two tools, and each canonical name for itself.
func TestAliasTable(t *testing.T) {
	owner := map[string]string{}
	for _, entry := range canonical {
		for _, spelling := range append([]string{entry.name}, entry.others...) {
			if other, taken := owner[fold(spelling)]; taken {
				t.Errorf("%q is a spelling of both %s and %s", spelling, other, entry.name)
			}
			owner[fold(spelling)] = entry.name
		}
	}
	names := slices.Collect(Names())
	for _, name := range names {
		if got, ok := Resolve(name); !ok || got != name {
			t.Errorf("Resolve(%q) = %q, %t", name, got, ok)
		}
	}
	for _, builtin := range Builtin() {
		if !slices.Contains(names, builtin.Spec().Name) {
			t.Errorf("the tool %s is not in the table of names", builtin.Spec().Name)
		}
	}
}

func TestNearest(t *testing.T) {
	for name, want := range map[string]string{
		"reed": "read", "red_file": "read", "globb": "glob",
		"WebFetsch": "webfetch", "qqqqqqqq": "",
	} {
		if got := Nearest(name); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", name, got, want)
		}
	}
}
