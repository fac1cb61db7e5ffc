package offline

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/agentls/agentls/agentcore/lazyregexp"
	"github.com/agentls/agentls/agentcore/lint"
	"github.com/agentls/agentls/agentcore/model"
)

// maxTurns bounds the turns with calls that one task takes. After them the model answers with what it has.
const maxTurns = 8

// noModel ends every answer.
const noModel = "No language model was used: this is the work of agentls's offline rules."

// intent is what the user's words ask for.
type intent int

const (
	unknown intent = iota
	review
	explain
	explore
	repair
)

// task is a request, understood.
type task struct {
	wish
	record
	offer
}

// wish is what the run is to do.
type wish struct {
	intent intent
	// words is what the user wrote, without the context block.
	words string
	// files are the paths that the context names, or else the words.
	files []string
	// named reports whether the files come from the context, and not from a guess at the words.
	named bool
	// first and last are the lines that the task is restricted to, from 1; 0 is the whole file.
	first, last int
	// changed are the lines of files that the task is restricted to, by path, each the first and the last, from 1; nil
	// is all of them.
	changed map[string][][2]int
	// finding is the one to fix or explain; its message is empty where there is none.
	finding struct {
		line          int
		rule, message string
	}
	// depth is that of the run, -1 where the prompt does not say.
	depth int
}

// record is what was done for the task.
type record struct {
	// exchanges are the calls made for this task so far, with their results.
	exchanges []exchange
	// turns is how many assistant messages with calls were needed for the exchanges. Messages that only start children
	// do not count.
	turns int
}

// offer is what the request lets a model call.
type offer struct {
	tools   []model.Tool
	noCalls bool
	only    string // the one tool that may be called, empty for all
}

// exchange is a call and its result.
type exchange struct {
	name      string
	arguments json.RawMessage
	text      string
	failed    bool
}

const help = `This is agentls without a language model, so a task in free words is beyond it. The offline rules can
- review a file or a selection: "review this file"
- explain what a file or a selection holds: "explain this"
- find places in the workspace: "where is the configuration loaded?"
- fix some of their own findings: "fix this"

For everything else, configure a model: set ANTHROPIC_API_KEY, GEMINI_API_KEY or OPENAI_API_KEY where the editor ` +
	"starts, or write `default_model = \"provider/model\"` into config.toml.\n\n" + noModel + "\n"

var (
	depthLine    = lazyregexp.New(`(?m)^role: .*\bdepth (\d+) of \d+`)
	thoroughLine = lazyregexp.New(`(?im)^[ \t]*thoroughness:[ \t]*(quick|medium|very[ _-]?thorough)[ \t]*$`)
	taskBlock    = lazyregexp.New(`(?s)\n*<(task|reminder|pass|attachments)>\n(.*?)</(?:task|reminder|pass|attachments)>\n*`)
	contextBlock = lazyregexp.New(`(?s)\n?<context>\n(.*?)</context>\s*$`)
	wholeProject = lazyregexp.New(`\b(?:overview|architecture|project|repo|repository|workspace|code[ -]?base)\b`)
	pathWord     = lazyregexp.New(`[\w~.+@-]*(?:[\\/][\w.+@-]+)*\.[A-Za-z][A-Za-z0-9]{0,9}\b`)
)

// understand finds the task in the conversation: the last message of the user that asks for something, or else the
// first message. Of earlier messages only the context counts.
func understand(request *model.Request) task {
	var t task
	at := -1
	for i, message := range request.Messages {
		if message.Role != model.RoleUser {
			continue
		}
		words := message.Text()
		block := contextBlock().FindStringSubmatch(words)
		if block != nil {
			words = strings.TrimSuffix(words, block[0])
			t.readContext(block[1])
		}
		words = withoutBlocks(words)
		// What the engine itself says, such as the order to come to an end, has no context and asks for nothing new.
		asked := intentOf(words)
		if at < 0 || block != nil || asked != unknown && !strings.HasPrefix(words, "The limit of this run is reached") {
			at, t.intent, t.words = i, asked, strings.TrimSpace(words)
		}
	}
	t.depth = -1
	if match := depthLine().FindStringSubmatch(request.System); match != nil {
		t.depth, _ = strconv.Atoi(match[1]) // digits only
	}
	t.tools, t.noCalls, t.only = request.Tools, request.NoCalls, request.Only
	if at >= 0 {
		t.gather(request.Messages[at+1:])
	}
	if len(t.files) == 0 {
		for _, word := range pathWord().FindAllString(t.words, -1) {
			if base := path.Base(word); lint.LanguageOf(base) != lint.Other && !slices.Contains(t.files, word) {
				t.files = append(t.files, word)
			}
		}
	} else {
		t.named = true
	}
	if t.intent == unknown {
		t.intent = t.intentOfAgent(request.System)
	}
	if t.intent == explain && len(t.files) == 0 && wholeProject().MatchString(strings.ToLower(t.words)) {
		t.intent = explore
	}
	if t.intent == review && t.finding.message != "" && t.words == "" {
		t.intent = repair
	}
	return t
}

// withoutBlocks takes the engine's words out of a task: what the engine tells a child or a pass of its place, and the
// definition's reminder. Words that say how thorough the work should be stay.
func withoutBlocks(words string) string {
	kept := ""
	for _, block := range taskBlock().FindAllStringSubmatch(words, -1) {
		if line := thoroughLine().FindString(block[2]); line != "" && block[1] == "task" {
			kept = "\n" + line
		}
	}
	return strings.TrimSpace(taskBlock().ReplaceAllString(words, "\n")) + kept
}

// readContext reads the lines of a context block. It replaces what an earlier block said.
func (w *wish) readContext(block string) {
	w.files, w.first, w.last, w.changed = nil, 0, 0, nil
	w.finding.line, w.finding.rule, w.finding.message = 0, "", ""
	for line := range strings.Lines(block) {
		if line == "<diff>\n" {
			return
		}
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch key {
		case "changes":
			w.changed = map[string][][2]int{}
		case "changed lines":
			at := strings.LastIndex(value, ": ")
			for part := range strings.SplitSeq(value[at+1:], ",") {
				first, last := readLines(strings.TrimSpace(part))
				w.changed[value[:max(at, 0)]] = append(w.changed[value[:max(at, 0)]], [2]int{first, last})
			}
		case "file":
			w.files = append(w.files, value)
		case "lines":
			w.first, w.last = readLines(value)
		case "line":
			w.finding.line, _ = strconv.Atoi(value) // 0 is "anywhere in the file"
		case "rule":
			w.finding.rule = value
		case "finding":
			w.finding.message = value
		}
	}
}

// readLines reads "3-8" or "3". A text that is not a number counts as 0, which restricts nothing.
func readLines(value string) (first, last int) {
	from, to, _ := strings.Cut(value, "-")
	first, _ = strconv.Atoi(from)
	last, _ = strconv.Atoi(to)
	return first, max(first, last)
}

// gather pairs the calls with their results.
func (r *record) gather(messages []model.Message) {
	open := map[string]exchange{}
	for _, message := range messages {
		calls := message.Calls()
		if slices.ContainsFunc(calls, func(c model.Call) bool { return c.Name != "task" }) {
			r.turns++
		}
		for _, c := range calls {
			open[c.ID] = exchange{name: c.Name, arguments: c.Arguments}
		}
		for _, part := range message.Parts {
			result, ok := part.(model.Result)
			if !ok {
				continue
			}
			made, ok := open[result.ID]
			if !ok {
				continue
			}
			delete(open, result.ID)
			made.text = result.Text
			made.failed = result.Error || strings.HasPrefix(result.Text, "error: ") ||
				strings.HasPrefix(result.Text, "denied: ")
			r.exchanges = append(r.exchanges, made)
		}
	}
}

// offers reports whether a tool may be called now.
func (o *offer) offers(name string) bool {
	return !o.noCalls && (o.only == "" || o.only == name) && o.has(name)
}

// has reports whether the agent has a tool.
func (o *offer) has(name string) bool { return o.tool(name).Name != "" }

// tool returns the tool of a name; the zero value where the agent does not have it.
func (o *offer) tool(name string) model.Tool {
	at := slices.IndexFunc(o.tools, func(tool model.Tool) bool { return tool.Name == name })
	if at < 0 {
		return model.Tool{}
	}
	return o.tools[at]
}

// made yields the exchanges with one tool.
func (r *record) made(name string) func(func(exchange) bool) {
	return func(yield func(exchange) bool) {
		for _, e := range r.exchanges {
			if e.name == name && !yield(e) {
				return
			}
		}
	}
}

// within reports whether lines first to last of a file touch those that the task is restricted to.
func (w *wish) within(path string, first, last int) bool {
	if w.changed != nil {
		return slices.ContainsFunc(w.changed[path], func(l [2]int) bool { return first <= l[1] && last >= l[0] })
	}
	return w.first == 0 || first <= w.last && last >= w.first
}

var intentWords = []struct {
	expression func() *regexp.Regexp
	intent     intent
}{
	{lazyregexp.New(`\b(?:find|look for|search for|list|show|are there|any)\b[^.?!]{0,40}` +
		`\b(?:bugs?|problems?|issues?|defects?|mistakes?|errors|flaws?|vulnerabilit(?:y|ies)|secrets?)\b`), review},
	{lazyregexp.New(`\bwhat(?:'s| is) wrong\b`), review},
	{lazyregexp.New(`\b(?:review|check|lint|audit|inspect|verify|analy[sz]e)\b`), review},
	{lazyregexp.New(`\b(?:fix|repair|correct|resolve|clean up)\b`), repair},
	{lazyregexp.New(`\b(?:explain|describe|summari[sz]e|outline|overview|understand|document|` +
		`what (?:does|do|is|are) (?:this|these|it))\b`), explain},
	{lazyregexp.New(`\b(?:find|where|search|locate|explore|how|which|who|what|usages?|look for)\b`), explore},
}

// intentOf finds the intent in the user's words: the one that is named first.
func intentOf(words string) intent {
	words = strings.ToLower(words)
	found, best := unknown, len(words)+1
	for _, candidate := range intentWords {
		if place := candidate.expression().FindStringIndex(words); place != nil && place[0] < best {
			found, best = candidate.intent, place[0]
		}
	}
	return found
}

// intentOfAgent guesses from what the agent is for, where the words do not tell.
func (w *wish) intentOfAgent(system string) intent {
	opening, _, _ := strings.Cut(strings.ToLower(system), "\n")
	switch {
	case w.finding.message != "":
		return repair
	case strings.Contains(opening, "you review"):
		return review
	case strings.Contains(opening, "you find") || strings.Contains(opening, "you explore"):
		return explore
	}
	return unknown
}
