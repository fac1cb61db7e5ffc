package lint

import (
	"strings"

	"github.com/agentls/agentls/agentcore/lazyregexp"
)

// What is wrong with a script's syntax and its quoting is shellcheck's; these are the mistakes that cost most.
var shellRules = []Rule{
	{
		Name: "dangerous-rm", Languages: Shell, Severity: Warning, check: shRemove,
		Message: "If this variable is empty or has blanks in it, rm deletes something else. Quote it, and " +
			"let it fail when it is empty: \"${NAME:?}\".",
		same: []string{"SC2115"},
	},
	{
		Name: "unchecked-cd", Languages: Shell, Severity: Warning, check: shUncheckedCd,
		Message: "If this cd fails, the rm behind it deletes in the wrong folder. Write cd … || exit.",
		same:    []string{"SC2164", "SC2103"},
	},
	{
		Name: "download-to-shell", Languages: Shell, Severity: Warning, check: lines(download, "curl", "wget"),
		Message: "What is downloaded runs at once, unseen and even when it is cut off half-way. Download it to a " +
			"file, verify it, then run it.",
	},
	{
		Name: "bashism", Languages: Shell, Severity: Warning, check: shBashisms,
		Message: "The first line asks for sh, and this is syntax of bash, which other shells refuse. Use sh's own " +
			"syntax, or write #!/usr/bin/env bash.",
		same: []string{"SC3010", "SC3030", "SC3054", "SC3011", "SC3001", "SC3043", "SC3044", "SC2112", "SC2113"},
	},
}

var (
	removal    = lazyregexp.New(`(?:^|[;&|]|\b(?:sudo|then|do|else)\s)\s*rm\s+(?:-[\w-]+\s+)*-\w*[rR]\w*\s+([^;|&)]*)`)
	shellWords = lazyregexp.New(`\S+`)
	// bareVariable fits a word with a variable outside of quotes.
	bareVariable = lazyregexp.New(`^(?:[^\s"';|&$]*/)?\$(?:\{\w+\}|\w+)`)
	// rootAfter fits a quoted variable without a check, with a slash behind it and nothing but a wildcard after that.
	rootAfter = lazyregexp.New(`^"?\$(?:\{\w+\}|\w+)"?/"?(?:\*|\.\[|$)|^"\$(?:\{\w+\}|\w+)/(?:\*)?"`)
)

// shRemove looks at the words behind rm -r.
func shRemove(f *File) []hit {
	var hits []hit
	for number := range f.linesWith("rm ") {
		code, line := f.CodeLine(number), f.Line(number)
		at := removal().FindStringSubmatchIndex(code)
		if at == nil {
			continue
		}
		for _, word := range shellWords().FindAllStringIndex(code[at[2]:at[3]], -1) {
			// blanks within quotes are none in the code
			text := line[at[2]+word[0] : at[2]+word[1]]
			if bareVariable().MatchString(text) && !strings.Contains(text, ":?") || rootAfter().MatchString(text) {
				hits = append(hits, hit{line: number})
				break
			}
		}
	}
	return hits
}

var (
	errexit   = lazyregexp.New(`(?m)^\s*set\s+-\w*e|^#!.*\s-\w*e|^\s*set\s+-o\s+errexit`)
	plainCd   = lazyregexp.New(`^\s*(?:cd|pushd)\s+([^;&|<>]*[^;&|<>\\])$`)
	removes   = lazyregexp.New(`(?:^|[;&|]|\s)rm\s+-`)
	absolute  = lazyregexp.New(` [/$"]`)
	safePlace = lazyregexp.New(`^\s*(?:cd|pushd)\s+(?:/|/tmp|\.\.|-|~)?\s*$`)
)

// shUncheckedCd looks for a cd alone on its line with an rm in the lines after it, in a script that goes on
// after errors.
func shUncheckedCd(f *File) []hit {
	if errexit().MatchString(f.text) {
		return nil
	}
	const near = 5
	var hits []hit
	for number := range f.linesWith("cd ", "pushd ") {
		if line := f.CodeLine(number); !plainCd().MatchString(line) || safePlace().MatchString(line) {
			continue
		}
		for next := number + 1; next <= min(number+near, len(f.starts)); next++ {
			code := f.CodeLine(next)
			if strings.TrimSpace(code) == "}" || plainCd().MatchString(code) {
				break
			}
			if removes().MatchString(code) && !absolute().MatchString(code) {
				hits = append(hits, hit{line: number})
				break
			}
		}
	}
	return hits
}

var download = lazyregexp.New(`\b(?:curl|wget)\b[^|;&]*\|\s*(?:sudo\s+(?:-\w+\s+)*)?(?:ba|z|da)?sh\b`)

var (
	plainShell = lazyregexp.New(`^#!\s*/(?:usr/)?bin/(?:env\s+)?(?:sh|dash)\b`)
	bashSyntax = lazyregexp.New(
		`(?:^|[\s;&|!(])\[\[\s|^\s*(?:declare|local)\s+-[aA]\b|^\s*\w+=\(|\$\{\w+\[[@*]\]\}|<\(|<<<|^\s*function\s+\w+\s*(?:\(\))?\s*\{`)
)

func shBashisms(f *File) []hit {
	if !plainShell().MatchString(f.Line(1)) {
		return nil
	}
	return f.matches(bashSyntax(), "[[", "=(", "<(", "<<<", "declare", "local -", "function ", "[@]", "[*]")
}
