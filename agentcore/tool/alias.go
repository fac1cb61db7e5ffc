package tool

import (
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/agentls/agentls/agentcore/mcpname"
	"github.com/agentls/agentls/agentcore/spelling"
)

// canonical lists each tool with the spellings that others use for it. Names of tools that are not built in yet
// are here too, so that definitions which use them are understood.
var canonical = []struct {
	name   string
	others []string
}{
	{"read", []string{"read_file", "view", "view_file", "cat", "open_file", "get_file_contents", "notebook_read"}},
	{"write", []string{"write_file", "create", "create_file", "write_to_file", "save_file"}},
	{"edit", []string{
		"edit_file", "multi_edit", "str_replace", "str_replace_editor", "str_replace_based_edit_tool",
		"replace", "replace_in_file", "search_replace", "insert_edit_into_file",
	}},
	{"patch", []string{"apply_patch", "apply_diff"}},
	{"glob", []string{"find_files", "file_search", "glob_file_search", "find"}},
	{"grep", []string{
		"search_files", "search", "grep_search", "search_file_content", "ripgrep", "rg",
		"codebase_search", "search_text",
	}},
	{"list", []string{"ls", "list_dir", "list_directory", "list_files", "tree"}},
	{"bash", []string{
		"shell", "run_command", "run_shell_command", "execute_command", "run_terminal_cmd",
		"run_in_terminal", "terminal", "exec", "exec_command", "local_shell",
	}},
	{"bash_output", []string{"get_terminal_output", "read_bash_output"}},
	{"bash_kill", []string{"kill_shell", "kill_bash"}},
	{"diagnostics", []string{"get_diagnostics", "get_errors", "problems", "read_lints", "lsp_diagnostics"}},
	{"symbols", []string{"lsp", "list_code_definition_names", "find_symbol", "workspace_symbols"}},
	{"todo", []string{"todo_write", "todo_read", "update_plan", "manage_todo_list", "write_todos"}},
	{"question", []string{"ask_user_question", "ask_followup_question", "ask_user", "ask_question"}},
	{"webfetch", []string{"fetch", "fetch_webpage", "read_url"}},
	{"websearch", []string{"google_web_search", "search_web"}},
	{"notebook_edit", []string{"edit_notebook", "edit_notebook_file"}},
	{"report_finding", []string{"report_issue", "add_finding"}},
	{"skill", []string{"use_skill", "load_skill"}},
	{"plan_enter", []string{"enter_plan_mode"}},
	{"plan_exit", []string{"exit_plan_mode"}},
	{"task", []string{
		"agent", "delegate_to_agent", "spawn_subagent", "new_task", "run_subagent", "spawn_agent",
		"dispatch_agent",
	}},
	{"task_status", []string{"agent_status"}},
	{"task_output", []string{"agent_output", "agent_output_tool"}},
	{"task_wait", []string{"wait_agent", "wait"}},
	{"task_send", []string{"send_input", "send_message"}},
	{"task_cancel", []string{"task_stop", "kill_task", "close_agent"}},
	{"submit_result", []string{"attempt_completion", "complete_task"}},
	{"statusline", nil},
	{"remember", []string{"save_memory"}},
}

// aliases maps each spelling, folded (lower-case, without underscores and hyphens), to the canonical name.
var aliases = sync.OnceValue(func() map[string]string {
	names := map[string]string{}
	for _, tool := range canonical {
		names[fold(tool.name)] = tool.name
		for _, other := range tool.others {
			names[fold(other)] = tool.name
		}
	}
	return names
})

// Resolve returns the canonical name of a tool for any spelling that ecosystems use: Read, read_file and
// readFile are read. Names of MCP tools ("mcp__server__tool") stay as they are. ok is false for
// a name that nobody knows; then name comes back unchanged.
func Resolve(name string) (string, bool) {
	if mcpname.Is(name) {
		return name, true
	}
	if known, ok := aliases()[fold(strings.TrimSpace(name))]; ok {
		return known, true
	}
	return name, false
}

// Spellings returns all names of a tool, its canonical one first; of a tool that is not in the table, only the one that
// it was asked for.
func Spellings(name string) []string {
	for _, tool := range canonical {
		if tool.name == name {
			return append([]string{name}, tool.others...)
		}
	}
	return []string{name}
}

// Nearest returns the known canonical name or alias that is most similar to an unknown name, or "".
func Nearest(name string) string {
	near := spelling.Nearest(name, slices.Sorted(maps.Keys(aliases())))
	return aliases()[near]
}

// Names yields all canonical names in a stable order, also those of tools that are not in Builtin.
func Names() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, tool := range canonical {
			if !yield(tool.name) {
				return
			}
		}
	}
}
