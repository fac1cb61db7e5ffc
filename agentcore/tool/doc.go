// Package tool holds what an agent can do: the Tool interface, what a tool may touch while it runs (Host), and the
// built-in tools.
//
// What follows are the decisions that several files share, each with its reason.
//
// # Edits
//
// A patch that fits several places is refused. The format's first reader takes the first place; here a line named
// behind `@@`, the exact line number of a unified diff or the end of the file decides, or the model is told the places.
// Lines that stay keep the file's bytes, whatever the patch has.
//
// A stale file is never patched, even where the context still fits. As with edit, the places are shown as they are now,
// and the same patch sent again goes through. A file that the run has not read may be patched.
//
// Notebooks (nbformat 4) are edited by byte offsets, so that all but the touched cell stays as it is. A replaced code
// cell loses its outputs and its count, which were of another source. read numbers the lines of a notebook's cells by
// the lines of the file, so that findings fit.
//
// # The network
//
// A page is material (webfetch.go): it is marked by lines that it cannot know, and comes without what nobody sees in it
// (more than a soft hyphen is counted at its place) and without what its styles hide. A redirect to another host is
// told, not followed, unless that host needs no question. No proxy of the environment is used: a proxy would look names
// up itself, where nobody checks what they lead to.
//
// Fetching and searching read: they change nothing elsewhere, run beside each other, and are there while an agent
// plans. Who names a search engine wants it asked, so websearch needs no question then; rules bind it all the same.
//
// # Searches
//
// grep looks for a text that every match must hold before it tries the expression (grep_lines.go), and judges whether a
// file may be shown only where something was found. Tests compare grep with ripgrep, and the walk with `git
// check-ignore`.
package tool
