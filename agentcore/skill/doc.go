// Package skill holds skills: folders with instructions for a kind of task, in a SKILL.md, which an agent gets when it
// needs them. The format is that of agentskills.io: YAML frontmatter with name and description, then Markdown.
//
// A project's links stay in the project: its skills may not be links that lead out of it. The user's own may lead
// anywhere. Files of skills outside of the workspace are read through tool.Workspace.Attached, and by nothing else.
package skill
