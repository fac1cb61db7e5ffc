// Package git reads what has changed in a repository, by git's own command: what is not committed, what is staged, what
// a branch or a commit brings. It only reads, and starts nothing but git.
//
// # What a repository may not do
//
// A repository's own configuration names programs: a file system monitor, filters, drivers that make diffs. The
// commands here are plumbing that compares names and objects, and never asks git for the text of a working file, so
// that no filter runs; the monitor is switched off, submodules are not entered, objects of a partial clone are not
// fetched, and no index is written (gitattributes(5), git-config(1), git(1) "GIT_OPTIONAL_LOCKS").
//
// # What counts as changed
//
// The new text of a file is the one that the editor shows, unsaved text included, where the scope is one of the working
// tree; the old one comes from the objects. So a file whose unsaved text is what is committed has not changed, and one
// that is saved unchanged but typed in has. Line endings that git would translate are no change. As in `git status`,
// renames are found between the commit and the index, and a file that nobody has added is new.
package git
