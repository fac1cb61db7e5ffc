// Package git reads what has changed in a repository, by the command git: uncommitted changes, staged ones, or the
// changes of a branch or a commit. It only reads, and starts no other program than git.
//
// # What a repository may not do
//
// A repository's own configuration may name programs: a file system monitor, filters, drivers that make diffs. The
// commands here are plumbing that compares names and objects, and never asks git for the text of a working file, so
// that no filter runs. The monitor is switched off, submodules are not entered, objects of a partial clone are not
// fetched, and no index is written (gitattributes(5), git-config(1), git(1) "GIT_OPTIONAL_LOCKS").
//
// # What counts as changed
//
// If the scope is one of the working tree, the new text of a file is the one that the editor shows, with unsaved
// changes; the old text comes from the objects. So a file whose unsaved text is the committed one has not changed,
// while a file has changed that only has unsaved changes. Line endings that git would convert are no change. As in `git
// status`, renames are found between the commit and the index, and a file that was not added is new.
package git
