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
// A turn begins with a heading of the second level. That of an answer names its run in a comment, which no renderer
// shows: so the document says by itself what the next prompt follows, wherever it was copied to, and whoever cuts turns
// off its end goes on from before them. What stands above the first turn is the settings and a title; where there is no
// turn yet, it is the first prompt.
//
// What an agent says can hold no heading of a turn: its headings become smaller ones, and a line that would still be
// read as a turn is indented by a blank.
//
// The package is given texts and returns texts. It knows no document, no editor and no run.
package conversation
