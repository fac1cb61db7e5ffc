package offline

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agentls/agentls/agentcore/lazyregexp"
	"github.com/agentls/agentls/agentcore/lint"
)

const (
	// tasksPerTurn bounds the children that one turn starts, tasksInAll those of one task.
	tasksPerTurn, tasksInAll = 8, 64
	// filesInFocus bounds the files of a task that is about something, filesExplained those that are explained for a
	// question.
	filesInFocus, filesExplained = 8, 3
)

type taskArguments struct {
	Agent        string   `json:"subagent_type"`
	Prompt       string   `json:"prompt"`
	Description  string   `json:"description"`
	ContextFiles []string `json:"context_files,omitempty"`
	Thoroughness string   `json:"thoroughness,omitempty"`
}

var (
	agentLine  = lazyregexp.New(`(?m)^- ([\w-]+): `)
	everything = lazyregexp.New(
		`(?i)\b(?:everything|every file|(?:all|(?:the |this )?(?:whole|entire))(?: of)?(?: (?:the|my|our|its))?` +
			`(?: \w+)? ?(?:files|sources|code|code ?base|project|repository|repo|workspace)|all of it)\b`)
	placeLine  = lazyregexp.New(`(?m)^([^\s:][^:\n]*):(\d+): `)
	reportHead = lazyregexp.New(
		`(?s)^(?:error: [^\n]*\n)?<task id="[^"]*" agent="[^"]*" status="(\w+)">\n(.*?)\n\n(.*?)\n?</task>\s*$`)
	severityTotal = lazyregexp.New(`(\d+) (error|warning|remark|hint)s?\b`)
	fixTotal      = lazyregexp.New(`(\d+) with a fix`)
)

// quality are words that say what a review looks for, and not which part of the workspace it is about.
var quality = strings.Fields(`audit bug bugs careful carefully check clean correct defect defects error errors
	fault faults findings fix fixes flaw flaws inspect issue issues leak leaks lint mistake mistakes problem
	problems propose proposed quality race races repair resolve review reviewed safe safely secret secrets security
	style suggest survey verify vulnerabilities vulnerability wrong analyze analyse improve improvements anything`)

// delegate hands the task on where there are children for it: an explorer finds out what the task is about, then one
// child works on each file. It returns false if the run has to do the work itself: the run is a child, or has no tool
// to delegate by, or the task is small.
func (t *task) delegate() (turn, bool) {
	if !t.has("task") || t.depth != 0 || t.finding.message != "" || t.first > 0 {
		return turn{}, false
	}
	all := everything().MatchString(t.words)
	switch t.intent {
	case explore:
		return t.askExplorer()
	case explain:
		if len(t.files) == 0 {
			return t.askExplorer()
		}
	case review, repair:
		if len(t.files) > 1 && !all {
			return t.fanOut(t.files, 0, "")
		}
		if len(t.files) == 0 || all && t.named {
			return t.divide(all)
		}
	}
	return turn{}, false
}

// askExplorer has a question answered: by an explorer or, where something should be explained, by one child for each of
// the best files.
func (t *task) askExplorer() (turn, bool) {
	asked, ok := t.explorer(searchTitle(t.topics()), t.words, t.thoroughness())
	if !ok || len(t.terms(1)) == 0 && t.intent != explore {
		return turn{}, false
	}
	if !t.wasMade(asked) {
		return turn{calls: []call{asked}}, t.offers("task")
	}
	answer, ok := t.reportOf(asked)
	if !ok {
		return turn{}, false
	}
	if t.intent == explain {
		isProse := func(name string) bool { return lint.LanguageOf(name) == lint.Prose }
		if files := slices.DeleteFunc(answer.files(), isProse); len(files) > 0 {
			return t.fanOut(files[:min(len(files), filesExplained)], 0, answer.body)
		}
	}
	return turn{text: withoutLast(answer.body) + "\n" + noModel + "\n"}, true
}

// divide finds the files of a task that names none, and has one child work on each file.
func (t *task) divide(all bool) (turn, bool) {
	about := t.topics()
	if all {
		about = nil
	}
	about = slices.DeleteFunc(about, func(word string) bool { return slices.Contains(quality, strings.ToLower(word)) })
	prompt, depth := "Survey this workspace: what does it consist of?", quick
	if len(about) > 0 {
		prompt, depth = "Where is the code about "+strings.Join(about, ", ")+"?", medium
	}
	asked, explores := t.explorer(searchTitle(about), prompt, depth)
	listing := call{"glob", globArguments{Pattern: "**/*.{go,js,jsx,mjs,cjs,ts,tsx,py,sh,bash,md,txt}"}}
	var calls []call
	if explores && t.offers("task") {
		calls = append(calls, asked)
	}
	if t.offers("glob") {
		calls = append(calls, listing)
	}
	if calls = slices.DeleteFunc(calls, t.wasMade); len(calls) > 0 {
		return turn{calls: calls}, true
	}
	var files []string
	preface := ""
	if answer, ok := t.reportOf(asked); ok {
		files = answer.files()
	}
	switch {
	case len(about) > 0 && len(files) > 0:
		files = files[:min(len(files), filesInFocus)]
		preface = fmt.Sprintf("About %s are, by rules, the files below. For the rest, ask for everything.\n",
			strings.Join(about, ", "))
	default:
		listed := t.listed()
		files = slices.DeleteFunc(files,
			func(name string) bool { return len(listed) > 0 && !slices.Contains(listed, name) })
		for _, name := range listed {
			if !slices.Contains(files, name) {
				files = append(files, name)
			}
		}
	}
	if len(files) == 0 {
		return turn{}, false
	}
	dropped := max(len(files)-tasksInAll, 0)
	return t.fanOut(files[:len(files)-dropped], dropped, preface)
}

// fanOut has one child work on each file, several at a time, and sums up what they say. It returns false where no child
// could be started, so that the run does the work itself.
func (t *task) fanOut(files []string, dropped int, preface string) (turn, bool) {
	agent, verb, prompt := "reviewer", "review", "Review %s."
	switch t.intent {
	case repair:
		agent, verb, prompt = "general", "fix",
			"Fix what is certainly wrong in %s with small, safe edits, and leave the rest as it is."
	case explain:
		agent, verb, prompt = "general", "explain", "Explain %s."
	}
	if !t.mayStart(agent) {
		return turn{}, false
	}
	var asked, open []call
	for _, name := range files {
		made := call{"task", taskArguments{
			Agent: agent, Prompt: fmt.Sprintf(prompt, "`"+name+"`"),
			Description: verb + " " + name, ContextFiles: []string{name},
		}}
		asked = append(asked, made)
		if !t.wasMade(made) {
			open = append(open, made)
		}
	}
	if len(open) > 0 && t.offers("task") && !t.noneStarted(asked) {
		return turn{calls: open[:min(len(open), tasksPerTurn)]}, true
	}
	if t.noneStarted(asked) {
		return turn{}, false
	}
	return turn{text: t.sumUp(files, asked, dropped, preface)}, true
}

// noneStarted reports whether all of the tasks that were made so far have failed.
func (r *record) noneStarted(asked []call) bool {
	started := func(c call) bool { _, ok := r.reportOf(c); return ok }
	return slices.ContainsFunc(asked, r.wasMade) && !slices.ContainsFunc(asked, started)
}

// explorer is the call that has an explorer look for something; false if there is no explorer.
func (o *offer) explorer(title, prompt string, how thoroughness) (call, bool) {
	return call{"task", taskArguments{
		Agent: "explore", Prompt: prompt, Description: title,
		Thoroughness: how.String(),
	}}, o.mayStart("explore")
}

// topics are the words that the task is about.
func (w *wish) topics() []string {
	var words []string
	for _, term := range w.terms(reaches[medium].words) {
		words = append(words, term.word)
	}
	return words
}

// searchTitle names the task of an explorer.
func searchTitle(topics []string) string {
	if len(topics) == 0 {
		return "survey the workspace"
	}
	return "find " + strings.Join(topics, ", ")
}

// mayStart reports whether the description of the tool names the agent, or names no agent at all.
func (o *offer) mayStart(agent string) bool {
	named := agentLine().FindAllStringSubmatch(o.tool("task").Description, -1)
	return len(named) == 0 || slices.ContainsFunc(named, func(match []string) bool { return match[1] == agent })
}

// report is what a child has handed over.
type report struct {
	// status is how the child ended, as the wire names it. head is what the engine says of the child, a line for each
	// thing. body is the child's own answer.
	status, head, body string
}

// reportOf returns what came of a task; false if it was not started.
func (r *record) reportOf(c call) (report, bool) {
	e, ok := r.answered(c)
	match := reportHead().FindStringSubmatch(e.text)
	switch {
	case !ok, match == nil && e.failed:
		return report{}, false
	case match == nil:
		return report{status: "completed", body: strings.TrimSpace(e.text)}, true
	}
	return report{match[1], match[2], strings.TrimSpace(match[3])}, true
}

// files are the files of the places in the report, in its order, as far as the rules know their language.
func (r report) files() []string {
	var files []string
	for _, match := range placeLine().FindAllStringSubmatch(r.body, -1) {
		if lint.LanguageOf(match[1]) != lint.Other && !slices.Contains(files, match[1]) {
			files = append(files, match[1])
		}
	}
	return files
}

// sum is what children have handed over, put together.
type sum struct {
	usage
	details         strings.Builder
	counts          map[string]int // of findings, by severity
	fixes, finished int
}

// add takes the report of the child that worked on a file.
func (s *sum) add(name string, r report) {
	s.finished++
	if r.status != "completed" {
		fmt.Fprintf(&s.details, "%s: its child ended as %s.\n", name, r.status)
	}
	for line := range strings.Lines(r.head) {
		if strings.HasPrefix(line, "conflict: ") || strings.HasPrefix(line, "error: ") {
			fmt.Fprintf(&s.details, "%s: %s", name, line)
		}
	}
	for line := range strings.Lines(r.body) {
		switch {
		case strings.HasPrefix(line, "Checked with "):
			s.read(line)
		case strings.HasPrefix(line, name+": "):
			for _, match := range severityTotal().FindAllStringSubmatch(line, -1) {
				n, _ := strconv.Atoi(match[1]) // digits only
				s.counts[match[2]] += n
			}
			if match := fixTotal().FindStringSubmatch(line); match != nil {
				n, _ := strconv.Atoi(match[1]) // digits only
				s.fixes += n
			}
		}
	}
	s.details.WriteString(withoutLast(r.body))
}

// sumUp puts together what the children have handed over.
func (t *task) sumUp(files []string, asked []call, dropped int, preface string) string {
	s := sum{counts: map[string]int{}}
	for i, name := range files {
		if r, ok := t.reportOf(asked[i]); ok {
			s.add(name, r)
			continue
		}
		failure, _ := t.answered(asked[i])
		fmt.Fprintf(&s.details, "%s: not done, %s\n", name,
			cmp.Or(withoutPrefix(failure.text), "the turns of this run were used up"))
	}
	var b strings.Builder
	if preface = withoutLast(preface); preface != "" {
		b.WriteString(preface + "\n")
	}
	b.WriteString(map[intent]string{review: "Reviewed ", repair: "Worked on ", explain: "Read "}[t.intent] +
		plural(s.finished, "file") + ", each by a child of its own")
	if t.intent == review {
		b.WriteString(": " + countsOf(s.counts, s.fixes))
	}
	b.WriteString(".\n\n" + s.details.String())
	if dropped > 0 {
		fmt.Fprintf(&b, "%s more: not looked at; name those that matter.\n", plural(dropped, "file"))
	}
	b.WriteString("\n")
	if len(s.used) > 0 {
		b.WriteString(s.String())
	}
	return b.String() + noModel + "\n"
}

// withoutLast takes from a child's answer the lines with which many answers end. The result ends with a line break.
func withoutLast(text string) string {
	var kept []string
	for line := range strings.SplitSeq(text, "\n") {
		if line != noModel && line != structureOnly && !strings.HasPrefix(line, "Checked with ") {
			kept = append(kept, line)
		}
	}
	text = strings.TrimSpace(strings.Join(kept, "\n"))
	if text == "" {
		return ""
	}
	return text + "\n"
}
