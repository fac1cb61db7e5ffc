package tool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/workspace"
)

type patchArguments struct {
	Patch string `json:"patch" alias:"input,patch_text,diff,patch_content"`

	parsed parsedPatch
}

// parsedPatch is a patch as it was read.
type parsedPatch struct {
	files []*fileSection
	notes []string
	// faults say why the patch cannot be used; files are then those that could be read.
	faults []string
}

func patchTool() Tool {
	return New(Definition[patchArguments, Workspace]{
		Name: "patch",
		Description: "Propose changes of several places or files, all or none. Between *** Begin Patch and *** " +
			"End Patch: *** Update File: path (below it perhaps *** Move to: path), *** Add File: path (+ before " +
			"each line), *** Delete File: path. An update has chunks in order: @@, then lines that begin with a " +
			"space (stays), - (goes) or " +
			"+ (comes), three of context around. Where they fit several places, name a line above: @@ func parse. " +
			"*** End of File ends a chunk at the end.",
		Effect:  Proposes,
		Subject: ByPath,
		Example: patchArguments{
			Patch: "*** Begin Patch\n*** Update File: main.go\n@@ func run\n \tif err != nil {\n-\t\treturn " +
				"nil\n+\t\treturn err\n \t}\n*** End Patch",
		},
		Prepare: func(a *patchArguments) { a.parsed.files, a.parsed.notes, a.parsed.faults = parsePatch(a.Patch) },
		Access:  func(a patchArguments) Access { return a.parsed.access(a.Patch) },
		Title:   func(a patchArguments) string { return a.parsed.title() },
		Run:     patch,
	})
}

// access is the Access of a patch, which may be broken.
func (p parsedPatch) access(text string) Access {
	access := Access{Sections: p.sections(text)}
	for _, file := range p.files {
		access.Paths = append(access.Paths, file.path)
		if file.moveTo != "" {
			access.Paths = append(access.Paths, file.moveTo)
		}
	}
	return access
}

// sections cuts a patch into parts. Each part concerns one file, or one file that moves, so that it can be changed
// alone; joined, the parts are the patch again. The paths of a part are the file's, as the model wrote them. The text
// in front of the first file is a part without paths, and so is the whole of a broken patch.
func (p parsedPatch) sections(text string) []PatchSection {
	if len(p.faults) > 0 {
		return []PatchSection{{Text: text}}
	}
	lines := splitLines(text)
	list := []PatchSection{{}}
	from := 0
	for _, file := range p.files {
		// The number does not lead to a header. No text may be taken for a part of a file to which it does not belong.
		if file.line < 1 || file.line > len(lines) || lines[file.line-1].start < from ||
			!isHeader(text[lines[file.line-1].start:]) {
			return []PatchSection{{Text: text}}
		}
		at := lines[file.line-1].start
		list[len(list)-1].Text = text[from:at]
		from = at
		section := PatchSection{Paths: []string{file.path}}
		if file.moveTo != "" {
			section.Paths = append(section.Paths, file.moveTo)
		}
		list = append(list, section)
	}
	list[len(list)-1].Text = text[from:]
	return list
}

// isHeader reports whether a text begins with the header of a section.
func isHeader(text string) bool {
	text = strings.TrimLeft(text, " \t")
	return strings.HasPrefix(text, "***") || strings.HasPrefix(text, "diff --git ") || strings.HasPrefix(text, "--- ")
}

// title names the files of a patch, which may be broken.
func (p parsedPatch) title() string {
	files := p.files
	if len(files) == 0 {
		return "patch"
	}
	title := "patch " + files[0].path
	if len(files) > 1 {
		title += fmt.Sprintf(" and %d more", len(files)-1)
	}
	return title
}

// patchProblems is how many problems of one patch are listed.
const patchProblems = 6

func patch(ctx context.Context, host Workspace, a patchArguments) (Result, error) {
	if len(a.parsed.faults) > 0 {
		return Result{}, patchError(a.parsed.faults)
	}
	// The whole patch is tried on a layer of its own first, so that faults show before anything is written.
	plan := &patchPlan{host: host, scratch: host.Files().Fork(), broken: map[string]bool{}, notes: a.parsed.notes}
	for _, file := range a.parsed.files {
		if err := ctx.Err(); err != nil {
			return Result{}, err
		}
		if plan.add(file); len(plan.problems) > patchProblems {
			break
		}
	}
	if len(plan.problems) > 0 {
		return Result{}, patchError(plan.problems)
	}
	if err := commit(host, plan.steps); err != nil {
		return Result{}, err
	}
	return plan.result(), nil
}

// patchError lists all that is wrong with a patch.
func patchError(problems []string) error {
	more := ""
	if len(problems) > patchProblems {
		problems, more = problems[:patchProblems], "\n(and more)"
	}
	if len(problems) == 1 {
		return fmt.Errorf("nothing was changed. %s\nMend the patch and send all of it again", problems[0])
	}
	return fmt.Errorf("nothing was changed, since not all fits:\n- %s%s\nMend the patch and send all of it again",
		strings.Join(problems, "\n- "), more)
}

// patchPlan is what a patch does, as far as it has been tried.
type patchPlan struct {
	host    Workspace
	scratch *workspace.Layer
	steps   []step
	// broken are the files with a problem. Problems that follow from it are not listed.
	broken   map[string]bool
	problems []string
	notes    []string
	lines    []string // of the answer, one for each section
}

// step is one change of one file. Texts are nil where there is no file.
type step struct {
	path          string
	before, after *string
	// moveTo is the new name of a file that only moves; its text stays.
	moveTo string
}

func (p *patchPlan) problem(path string, err error) {
	p.broken[path] = true
	p.problems = append(p.problems, err.Error())
}

// add tries one section.
func (p *patchPlan) add(file *fileSection) {
	path, err := p.scratch.View().Resolve(file.path)
	if err != nil {
		p.problem(file.path, err)
		return
	}
	if p.broken[path] {
		return
	}
	current, err := p.scratch.Read(path)
	missing := false
	var problem *workspace.FileError
	switch {
	case errors.As(err, &problem) && problem.Kind == workspace.NotFound && file.action == addFile:
		missing = true
	case err != nil:
		err = explain(p.host, path, err)
		if problem != nil && problem.Kind == workspace.NotFound && file.action == updateFile {
			err = fmt.Errorf("%w; a new file begins with *** Add File", err)
		}
		p.problem(path, err)
		return
	}
	shown := p.scratch.View().Shown(path)
	if !missing {
		if err := p.stale(path, file); err != nil {
			p.problem(path, err)
			return
		}
	}
	switch file.action {
	case addFile:
		if !missing {
			p.overwrite(file, current)
			return
		}
		if p.try(step{path: path, after: &file.text}) {
			p.lines = append(p.lines, fmt.Sprintf("Added %s, %s.", shown, lineCount(file.text)))
		}
	case deleteFile:
		if p.try(step{path: path, before: &current.Text}) {
			p.lines = append(p.lines, fmt.Sprintf("Deleted %s.", shown))
		}
	default:
		p.update(file, current)
	}
}

// overwrite tries a section that adds a file where a file exists.
func (p *patchPlan) overwrite(file *fileSection, current workspace.File) {
	shown := p.scratch.View().Relative(current.Path)
	text := workspace.Normalize(file.text, current.Text)
	err := p.replaceable(current, "change a part of it with *** Update File")
	if err == nil && text == current.Text {
		err = fmt.Errorf("%s already reads so; leave its *** Add File out", shown)
	}
	if err != nil {
		p.problem(current.Path, err)
		return
	}
	if p.try(step{path: current.Path, before: &current.Text, after: &text}) {
		p.lines = append(p.lines, fmt.Sprintf("Replaced %s, %s.", shown, lineCount(text)))
	}
}

// replaceable refuses to replace a file whose present text the run does not know, or that this patch has changed.
func (p *patchPlan) replaceable(now workspace.File, instead string) error {
	if slices.ContainsFunc(p.steps, func(s step) bool { return s.path == now.Path || s.moveTo == now.Path }) {
		return fmt.Errorf("%s is made or changed by the patch above already, so it cannot be replaced by the "+
			"same patch; say once what is to become of it", p.scratch.View().Relative(now.Path))
	}
	return knowsWhole(p.host.Files(), now, instead)
}

// clear makes room for a file that moves to the path of another one, whose text the run must know.
func (p *patchPlan) clear(from, to string) bool {
	there, err := p.scratch.Read(to)
	if err != nil || strings.EqualFold(from, to) {
		return true // the move itself reports what is wrong
	}
	if err := p.replaceable(there, "choose another name"); err != nil {
		p.broken[from] = true
		shown := p.scratch.View().Relative
		p.problem(to, fmt.Errorf("%s cannot move to %s: %w", shown(from), shown(to), err))
		return false
	}
	return p.try(step{path: to, before: &there.Text})
}

// lineCount counts the lines of a text, for a model.
func lineCount(text string) string {
	lines := 0
	if text != "" {
		lines = len(shownLines(text))
	}
	return count(lines, "line", "lines")
}

// update tries a section that updates or moves a file.
func (p *patchPlan) update(file *fileSection, current workspace.File) {
	path, shown := current.Path, p.scratch.View().Shown(current.Path)
	text := newPatchedText(current.Text)
	for i, c := range file.chunks {
		if len(p.problems) > patchProblems {
			return // what is told is enough to mend
		}
		if err := text.apply(c); err != nil {
			p.problem(path, fmt.Errorf("%s, chunk %d of %d (line %d of the patch, %s): %w", shown, i+1,
				len(file.chunks), c.line, c.describe(), err))
		}
	}
	if p.broken[path] {
		return
	}
	for _, note := range text.notes {
		p.notes = append(p.notes, shown+": "+note)
	}
	after := text.String()
	to := path
	if file.moveTo != "" {
		var err error
		if to, err = p.scratch.View().Resolve(file.moveTo); err != nil {
			p.problem(path, err)
			return
		}
	}
	if after == current.Text && to == path {
		p.problem(path,
			fmt.Errorf("%s: the patch changes nothing there; its section has no line with - or + that differs", shown))
		return
	}
	line := fmt.Sprintf("Updated %s at line %s.", shown, numbers(text.at, 20))
	if to != path {
		if !p.clear(path, to) || !p.try(step{path: path, before: &current.Text, moveTo: to}) {
			return
		}
		line = fmt.Sprintf("Moved %s to %s.", shown, p.scratch.View().Shown(to))
		if after != current.Text {
			line = fmt.Sprintf("Moved %s to %s, changed at line %s.", shown, p.scratch.View().Shown(to),
				numbers(text.at, 20))
		}
	}
	if after != current.Text && !p.try(step{path: to, before: &current.Text, after: &after}) {
		return
	}
	p.lines = append(p.lines, line)
}

// describe names a chunk by the lines above it, or by its first line that is not blank.
func (c *chunk) describe() string {
	if len(c.above) > 0 {
		return fmt.Sprintf("@@ %s", clip(strings.Join(c.above, " / "), 80))
	}
	for _, op := range c.ops {
		if !blank(op.text) {
			return fmt.Sprintf("which begins with %q", clip(op.text, 80))
		}
	}
	return "with blank lines only"
}

// try carries out a step on the plan's own layer.
func (p *patchPlan) try(s step) bool {
	err := s.do(p.scratch, workspace.Author{})
	if err == nil {
		p.steps = append(p.steps, s)
		return true
	}
	path := s.path
	if s.moveTo != "" {
		path = s.moveTo
		var problem *workspace.FileError
		if errors.As(err, &problem) && problem.Kind == workspace.Exists {
			err = fmt.Errorf(
				"%s cannot move to %s, which exists already; choose another name, or delete it first in the same patch",
				p.scratch.View().Shown(s.path), p.scratch.View().Shown(path))
		}
	}
	p.broken[s.path] = true
	p.problem(path, explain(p.host, path, err))
	return false
}

// stale refuses a file that has changed since the run read it, as edit does. The run may then patch the part that it is
// shown; it has not seen the rest.
func (p *patchPlan) stale(path string, file *fileSection) error {
	layer := p.host.Files()
	seen, wasRead := layer.Seen(path)
	now, err := peek(layer, path)
	if err != nil || !wasRead || seen == now.Stamp {
		return nil // a file that is not in the layer was made by this patch
	}
	shown := layer.View().Shown(path)
	text := newPatchedText(now.Text)
	if file.action == updateFile {
		for _, c := range file.chunks {
			if err := text.apply(c); err != nil {
				break
			}
		}
	}
	if len(text.at) == 0 {
		return fmt.Errorf("%s changed since you read it; read it again and make the patch for what it is now", shown)
	}
	layer.Glimpse(path, now.Stamp)
	const around, most = 4, 3
	var out strings.Builder
	whole := place{text: now.Text, lines: splitLines(now.Text)}
	end := 0
	for _, at := range text.at[:min(len(text.at), most)] {
		out.WriteString(whole.excerpt(max(at-1-around, end), at+around))
		end = at + around
	}
	return fmt.Errorf("%s changed since you read it. The places now read:\n%sCheck that the patch still fits",
		shown, out.String())
}

// result is the answer to a patch that was carried out.
func (p *patchPlan) result() Result {
	var result Result
	added, removed := 0, 0
	for _, s := range p.steps {
		result.Paths = append(result.Paths, s.path)
		if s.moveTo != "" {
			result.Paths = append(result.Paths, s.moveTo)
			continue
		}
		more, less := countChanges(value(s.before), value(s.after))
		added, removed = added+more, removed+less
	}
	result.Paths = unique(result.Paths)
	result.Text = strings.Join(append(p.lines, p.notes...), "\n")
	result.Summary = strings.TrimSpace(count(len(result.Paths), "file", "files") + " " + signed(added, removed))
	return result
}

func value(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// unique keeps the first of each string.
func unique(list []string) []string {
	known := map[string]bool{}
	var out []string
	for _, s := range list {
		if !known[s] {
			known[s] = true
			out = append(out, s)
		}
	}
	return out
}
