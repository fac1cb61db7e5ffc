package tool

// Builtin returns the tools that need nothing but a Host, in a stable order: the same in every request,
// so that the prefix of a conversation never changes.
func Builtin() []Tool {
	tools := []Tool{
		readTool(), globTool(), grepTool(), listTool(), editTool(), writeTool(), patchTool(), notebookEditTool(),
		bashTool(), bashOutputTool(), bashKillTool(),
		diagnosticsTool(), symbolsTool(), reportFindingTool(), todoTool(), webfetchTool(), websearchTool(),
		skillTool(), taskTool(),
	}
	tools = append(tools, taskControlTools()...)
	tools = append(tools, questionTool())
	return append(append(tools, planTools()...), submitResultTool(), statuslineTool(), rememberTool())
}
