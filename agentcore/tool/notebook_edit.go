package tool

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

type notebookArguments struct {
	Path       string  `json:"path" alias:"notebook_path,file_path,file,filename,target_notebook"`
	CellID     string  `json:"cell_id,omitempty"`
	CellNumber *int    `json:"cell_number,omitempty" jsonschema:"or this, from 0" minimum:"0" alias:"cell_index,cell_idx,index"`
	NewSource  *string `json:"new_source,omitempty" alias:"source,content,new_code,code"`
	CellType   string  `json:"cell_type,omitempty" enum:"code,markdown,raw" synonym:"md=markdown,python=code"`
	EditMode   string  `json:"edit_mode,omitempty" jsonschema:"insert: behind that cell, or first" enum:"replace,insert,delete" synonym:"edit=replace,add=insert,remove=delete" alias:"edit_type,mode"`
}

func notebookEditTool() Tool {
	number, source := 2, "print(1)\n"
	return New(Definition[notebookArguments, Workspace]{
		Name:        "notebook_edit",
		Description: "Propose a change of one cell of a Jupyter notebook.",
		Effect:      Proposes,
		Access:      func(a notebookArguments) Access { return onPath(a.Path) },
		Subject:     ByPath,
		Example:     notebookArguments{Path: "a.ipynb", CellNumber: &number, NewSource: &source},
		Title:       func(a notebookArguments) string { return "edit notebook " + a.Path },
		Run:         notebookEdit,
	})
}

func notebookEdit(_ context.Context, host Workspace, a notebookArguments) (Result, error) {
	if !isNotebook(a.Path) {
		return Result{}, fmt.Errorf("%s is no notebook (.ipynb): use edit", a.Path)
	}
	if a.NewSource == nil && a.EditMode != "delete" {
		return Result{}, errors.New("nothing was edited: new_source is missing; give the whole text of the cell")
	}
	return change(host, a.Path, false, func(text string) (edited, error) { return editNotebook(text, a) })
}

// editNotebook makes one edit of a notebook's text.
func editNotebook(text string, a notebookArguments) (edited, error) {
	n, err := parseNotebook(text)
	if err != nil {
		return edited{}, err
	}
	at, err := n.pick(a)
	if err != nil {
		return edited{}, err
	}
	result := edited{size: 1}
	begin := n.list.start
	if at >= 0 {
		begin, result.now = n.cells[at].start, n.show(at)
	}
	result.lines = []int{lineAt(splitLines(text), begin) + 1}
	switch a.EditMode {
	case "delete":
		result.text = n.remove(at)
		result.notes = []string{fmt.Sprintf("%s is gone.", n.name(at))}
	case "insert":
		id := n.freshID()
		result.text = n.insert(at, a, id)
		note := fmt.Sprintf("The new cell is cell %d", at+1)
		if id != "" {
			note += fmt.Sprintf(" (id %s)", id)
		}
		result.notes = []string{note + "."}
	default:
		c := n.cells[at]
		if c.code == *a.NewSource && (a.CellType == "" || a.CellType == c.kind) {
			return edited{}, fmt.Errorf("%s already reads so; nothing would change, so go on without it", n.name(at))
		}
		result.text = text[:c.start] + n.replaced(at, a) + text[c.end:]
		result.notes = []string{fmt.Sprintf("%s was replaced.", n.name(at))}
		if outputs, ok := find(c.members, "outputs"); ok && c.kind == "code" &&
			len((jsonScanner{text}).items(outputs.start)) > 0 {
			result.notes = append(result.notes, "Its outputs were of the former text and were taken away.")
		}
	}
	return result, nil
}

// pick finds the cell that a call names. For an insertion, -1 means the place in front of the first cell.
func (n *notebook) pick(a notebookArguments) (int, error) {
	at := -1
	if a.CellID != "" {
		at = slices.IndexFunc(n.cells, func(c cell) bool { return c.id == a.CellID })
		if number, ok := strings.CutPrefix(a.CellID, "cell-"); ok && at < 0 {
			if i, err := strconv.Atoi(number); err == nil && i >= 0 && i < len(n.cells) {
				at = i
			}
		}
		if at < 0 {
			return 0, fmt.Errorf("no cell has the id %q; the notebook has %s. Read it again, or give cell_number",
				a.CellID, n.outline())
		}
		if a.CellNumber != nil && *a.CellNumber != at {
			return 0, fmt.Errorf("cell_id %q is cell %d, not cell_number %d; give only one of them", a.CellID, at,
				*a.CellNumber)
		}
		return at, nil
	}
	switch {
	case a.CellNumber == nil && a.EditMode == "insert":
		return -1, nil
	case a.CellNumber == nil:
		return 0, fmt.Errorf("cell_id or cell_number is missing; the notebook has %s", n.outline())
	case a.EditMode == "insert" && *a.CellNumber == len(n.cells):
		return len(n.cells) - 1, nil
	case *a.CellNumber >= len(n.cells):
		return 0, fmt.Errorf("there is no cell %d; the notebook has %s", *a.CellNumber, n.outline())
	}
	return *a.CellNumber, nil
}

// outline lists the cells, for an error.
func (n *notebook) outline() string {
	if len(n.cells) == 0 {
		return "no cells; put one in with edit_mode insert"
	}
	var names []string
	for i := range n.cells[:min(len(n.cells), 10)] {
		names = append(names, n.name(i))
	}
	text := count(len(n.cells), "cell", "cells") + ": " + strings.Join(names, ", ")
	if len(n.cells) > len(names) {
		text += ", …"
	}
	return text
}

// name is how a cell is shown: its number and id.
func (n *notebook) name(i int) string {
	if id := n.cells[i].id; id != "" {
		return fmt.Sprintf("Cell %d (id %s)", i, id)
	}
	return fmt.Sprintf("Cell %d", i)
}

// remove returns the text without a cell.
func (n *notebook) remove(at int) string {
	from, to := n.cells[at].start, n.cells[at].end
	switch {
	case at > 0:
		from = n.cells[at-1].end
	case len(n.cells) > 1:
		to = n.cells[1].start
	default:
		from, to = n.list.start+1, n.list.end-1
	}
	return n.text[:from] + n.text[to:]
}

// insert returns the text with a new cell behind a cell, -1 for the first place.
func (n *notebook) insert(at int, a notebookArguments, id string) string {
	style := n.style()
	kind := a.CellType
	if kind == "" {
		kind = "code"
	}
	values := []string{"cell_type", quote(kind)}
	if kind == "code" {
		values = append(values, "execution_count", "null")
	}
	if id != "" {
		values = append(values, "id", quote(id))
	}
	values = append(values, "metadata", "{}")
	if kind == "code" {
		values = append(values, "outputs", "[]")
	}
	values = append(values, "source", style.lines(*a.NewSource, nil))
	var members []string
	for i := 0; i < len(values); i += 2 {
		members = append(members, quote(values[i])+style.colon+values[i+1])
	}
	text := style.object(members)
	switch {
	case len(n.cells) == 0:
		return n.text[:n.list.start+1] + style.cell + text + style.list + n.text[n.list.end-1:]
	case at < 0:
		first := n.cells[0].start
		return n.text[:first] + text + "," + style.cell + n.text[first:]
	}
	end := n.cells[at].end
	return n.text[:end] + "," + style.cell + text + n.text[end:]
}

// freshID makes the id of a new cell: eight hexadecimal digits, as Jupyter does since nbformat 4.5. Before that, cells
// have no id.
func (n *notebook) freshID() string {
	if n.minor < 5 {
		return ""
	}
	for {
		var random [4]byte
		_, _ = rand.Read(random[:]) // never fails (crypto/rand)
		id := fmt.Sprintf("%x", random)
		if !slices.ContainsFunc(n.cells, func(c cell) bool { return c.id == id }) {
			return id
		}
	}
}

// replaced writes a cell with another source and perhaps another type. The outputs of the former source are removed. A
// cell that is no code has neither outputs nor a count (nbformat 4, "Code cells").
func (n *notebook) replaced(at int, a notebookArguments) string {
	c := n.cells[at]
	style := n.style()
	kind := c.kind
	if a.CellType != "" {
		kind = a.CellType
	}
	values := map[string]string{}
	if kind != c.kind {
		values["cell_type"] = quote(kind)
	}
	if c.code != *a.NewSource {
		if len(c.lines) == 0 && n.text[c.source.start] == '"' {
			values["source"] = quote(*a.NewSource)
		} else {
			values["source"] = style.lines(*a.NewSource, n.rawLines(c))
		}
	}
	if kind == "code" {
		values["execution_count"], values["outputs"] = "null", "[]"
	}
	var members []string
	for _, m := range c.members {
		if kind != "code" && c.kind == "code" && (m.name == "outputs" || m.name == "execution_count") {
			continue
		}
		value, changed := values[m.name]
		if !changed {
			value = m.value.of(n.text)
		}
		delete(values, m.name)
		members = append(members, n.text[m.key.start:m.value.start]+value)
	}
	for _, name := range []string{"cell_type", "execution_count", "outputs"} {
		if value, ok := values[name]; ok {
			members = append(members, quote(name)+style.colon+value)
		}
	}
	own := style.of(n.text, c)
	return own.object(members)
}

// rawLines maps each line of a source to its JSON, so that lines that stay keep their bytes.
func (n *notebook) rawLines(c cell) map[string]string {
	known := map[string]string{}
	for _, item := range c.lines {
		raw := item.of(n.text)
		known[unquote(raw)] = raw
	}
	return known
}
