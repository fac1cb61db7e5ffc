// Package skill holds skills: folders with instructions for a kind of task, in a SKILL.md, which an agent gets when it
// needs them. The format is that of agentskills.io: YAML frontmatter with name and description, then Markdown.
//
// Links in a project's skills may not lead out of the project. Links in the user's own skills may lead anywhere. Files
// of skills outside of the workspace are read only through tool.Workspace.Attached.
package skill
