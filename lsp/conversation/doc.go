// Package conversation is the text of the documents in which a person talks with agents: files called *.agentls.md. It
// reads such a text ([Parse]), and says what an agent's answer looks like in one ([Answer], [Recorded]).
//
// Such a document is Markdown:
//
//	---
//	agent: coder
//	---
//	# Sums
//
//	## You
//
//	Add up the list in @sum.go.
//
//	## coder <!-- agentls:r0r6x0k2mb4w7e2t9a -->
//
//	- `edit` sum.go: 1 place
//
//	It is a loop now.
//
//	## You
//
// A turn begins with a heading of the second level. The heading of an answer names its run in a comment, which no
// renderer shows. So the document itself says which run the next prompt follows, even in a copy of the document; and if
// a person deletes turns at its end, the conversation goes on from before them. The text above the first turn is the
// settings and a title. In a document without turns, the text below the settings is the first prompt.
//
// An agent's text cannot contain a heading of a turn: its headings are lowered, and a line that would still be read as
// such a heading is indented by a blank.
//
// The package takes texts and returns texts. It knows no document, no editor and no run.
package conversation
