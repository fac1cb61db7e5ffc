package offline

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/agentls/agentls/agentcore/lazyregexp"
	"github.com/agentls/agentls/agentcore/outline"
)

const (
	// readTurns bounds the turns that are spent on reading.
	readTurns = 4
	// callsPerTurn bounds the calls of one turn where more turns are left.
	callsPerTurn = 20
)

// source is what the reads of a file have shown so far.
type source struct {
	path  string
	lines map[int]string
	// total is how many lines the file has, as far as is known.
	total int
	// chunk is how many lines the first read showed.
	chunk int
	read  bool
	// problem is why the file could not be read, empty if it could.
	problem string
}

var (
	numbered = lazyregexp.New(`^\s*(\d+)(?:\t|→)(.*)$`)
	moreHint = lazyregexp.New(`^\(.*\bof (\d+);.*\boffset \d`)
)

// sourceOf gathers the reads of a path.
func (r *record) sourceOf(path string) source {
	s := source{path: path, lines: map[int]string{}}
	for e := range r.made("read") {
		var arguments readArguments
		if json.Unmarshal(e.arguments, &arguments) != nil || arguments.Path != path {
			continue
		}
		if e.failed {
			if !s.read {
				s.problem = e.text
			}
			continue
		}
		s.read, s.problem = true, ""
		s.add(e.text)
	}
	return s
}

// add takes in one answer of the read tool: lines "12\ttext", then perhaps a sentence on how to read on.
func (s *source) add(text string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		match := numbered().FindStringSubmatch(line)
		if match == nil {
			if hint := moreHint().FindStringSubmatch(line); hint != nil {
				total, _ := strconv.Atoi(hint[1]) // digits only
				s.total = max(s.total, total)
			}
			continue
		}
		number, _ := strconv.Atoi(match[1]) // digits only
		s.lines[number] = match[2]
		s.total = max(s.total, number)
	}
	if s.chunk == 0 {
		s.chunk = len(s.lines)
	}
}

// missing returns the reads that would show the rest.
func (s *source) missing() []call {
	if !s.read {
		return []call{{"read", readArguments{Path: s.path}}}
	}
	var calls []call
	step := max(s.chunk/2, 1) // half of what fitted, so that it fits again where lines are longer
	for line := 1; line <= s.total && len(calls) < callsPerTurn; line++ {
		if _, known := s.lines[line]; !known {
			calls = append(calls, call{"read", readArguments{Path: s.path, Offset: line, Limit: step}})
			line += step - 1
		}
	}
	return calls
}

// enclosing is the line of the definition that a line is in, as far as the lines above it are known; 0 for none.
func (s *source) enclosing(number int, text string) int {
	indent := indentation(text)
	for number--; indent > 0 && number > 0; number-- {
		line, known := s.lines[number]
		if !known {
			return 0
		}
		if strings.TrimSpace(line) == "" || indentation(line) >= indent {
			continue
		}
		if name, minor := outline.Defines(line); name != "" && !minor {
			return number
		}
		if strings.IndexByte(")}]", strings.TrimSpace(line)[0]) < 0 {
			indent = indentation(line)
		}
	}
	return 0
}

// indentation is how many blanks and tabs a line begins with.
func indentation(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// text returns the lines from the first on that are known without a gap, joined by \n, and their number.
func (s *source) text() (string, int) {
	lines := make([]string, 0, len(s.lines))
	for line := 1; ; line++ {
		text, ok := s.lines[line]
		if !ok {
			return strings.Join(lines, "\n"), len(lines)
		}
		lines = append(lines, text)
	}
}

// reading returns the calls that are still needed to know the files: read, and diagnostics beside it where
// wanted. A call that was made once is not made again.
func (t *task) reading(files []string, diagnostics bool) []call {
	var calls []call
	for _, path := range files {
		s := t.sourceOf(path)
		if s.problem == "" && t.offers("read") && t.turns < readTurns {
			calls = append(calls, s.missing()...)
		}
		if diagnostics && t.offers("diagnostics") && t.turns < readTurns {
			calls = append(calls, call{"diagnostics", diagnosticsArguments{Path: path}})
		}
	}
	return slices.DeleteFunc(calls, t.wasMade)
}

// answered returns the exchange with the very same call; false if it was not made, or not answered yet.
func (r *record) answered(c call) (exchange, bool) {
	arguments, err := json.Marshal(c.arguments)
	at := slices.IndexFunc(r.exchanges, func(e exchange) bool {
		return e.name == c.name && string(e.arguments) == string(arguments)
	})
	if err != nil || at < 0 {
		return exchange{}, false
	}
	return r.exchanges[at], true
}

// wasMade reports whether the very same call has been answered before.
func (r *record) wasMade(c call) bool {
	_, ok := r.answered(c)
	return ok
}
