package lint

import (
	"strings"

	"github.com/agentls/agentls/agentcore/lazyregexp"
)

var shellRules = []Rule{
	{
		Name: "dangerous-rm", Languages: Shell, Severity: Warning, check: shRemove,
		Message: "If this variable is empty or has blanks in it, rm deletes something else. Quote it, and let it fail when it is empty: \"${NAME:?}\".",
		same:    []string{"SC2115"},
	},
	{
		Name: "unchecked-cd", Languages: Shell, Severity: Warning, check: shUncheckedCd,
		Message: "If this cd fails, the rm behind it deletes in the wrong folder. Write cd … || exit.",
		same:    []string{"SC2164", "SC2103"},
	},
	{
		Name: "download-to-shell", Languages: Shell, Severity: Warning, check: shDownload,
		Message: "What is downloaded runs at once, unseen and even when it is cut off half-way. Download it to a file, verify it, then run it.",
	},
	{
		Name: "unsafe-eval", Languages: Shell, Severity: Warning, check: shEval,
		Message: "This runs arguments as code, so blanks and special characters in them act. Run \"$@\" without eval.",
		same:    []string{"SC2294"},
	},
	{
		Name: "redirect-in-test", Languages: Shell, Severity: Error, check: shRedirectInTest,
		Message: "In [ … ] a bare < or > is a redirection and makes or reads a file. Use -lt or -gt for numbers, [[ … ]] for texts.",
		same:    []string{"SC2071", "SC2073"},
	},
	{
		Name: "spaced-assignment", Languages: Shell, Severity: Error, check: shSpacedAssignment,
		Message: "With blanks around the = this runs a command instead of assigning. Remove the blanks.",
		same:    []string{"SC1068", "SC2283"},
	},
	{
		Name: "bashism", Languages: Shell, Severity: Warning, check: shBashisms,
		Message: "The first line asks for sh, and this is syntax of bash, which other shells refuse. Use sh's own syntax, or write #!/usr/bin/env bash.",
		same:    []string{"SC3010", "SC3030", "SC3054", "SC3011", "SC3001"},
	},
	{
		Name: "world-writable", Languages: Shell, Severity: Warning, check: shWorldWritable,
		Message: "This lets every user of the machine change the files. Give the rights to the one who needs them.",
	},
	{
		Name: "sudo-redirect", Languages: Shell, Severity: Warning, check: shSudoRedirect,
		Message: "The redirection is done by the shell without sudo's rights. Use … | sudo tee FILE.",
		same:    []string{"SC2024"},
	},
}

var (
	removal = lazyregexp.New(`(?:^|[;&|]|\b(?:sudo|then|do|else)\s)\s*rm\s+((?:-[\w-]+\s+)*-\w*[rR]\w*\s+(?:-[\w-]+\s+)*)(.*)`)
	// bareVariable fits a word with a variable outside of quotes.
	bareVariable = lazyregexp.New(`^(?:[^\s"';|&$]*/)?\$(?:\{\w+\}|\w+)`)
	// rootAfter fits a quoted variable without a check, with a slash behind it and nothing but a wildcard after that.
	rootAfter = lazyregexp.New(`^"?\$(?:\{\w+\}|\w+)"?/"?(?:\*|\.\[|$|\s)|^"\$(?:\{\w+\}|\w+)/(?:\*)?"`)
)

// shRemove looks at the words behind rm -r.
func shRemove(f *File) []hit {
	var hits []hit
	for number := range f.linesWith("rm ") {
		code := f.CodeLine(number)
		at := removal().FindStringSubmatchIndex(code)
		if at == nil {
			continue
		}
		for _, word := range shellWords(code, f.Line(number), at[4]) {
			if bareVariable().MatchString(word) && !strings.Contains(word, ":?") || rootAfter().MatchString(word) {
				hits = append(hits, hit{line: number})
				break
			}
		}
	}
	return hits
}

// shellWords splits the arguments of a simple command from an offset of a line on, by its code, in which blanks
// within quotes are no blanks.
func shellWords(code, line string, at int) []string {
	var words []string
	for at < len(code) {
		for at < len(code) && (code[at] == ' ' || code[at] == '\t') {
			at++
		}
		start := at
		for at < len(code) && strings.IndexByte(" \t;|&)", code[at]) < 0 {
			at++
		}
		if start < at {
			words = append(words, line[start:at])
		}
		if at < len(code) && strings.IndexByte(";|&)", code[at]) >= 0 {
			break
		}
	}
	return words
}

var (
	errexit   = lazyregexp.New(`(?m)^\s*set\s+-\w*e|^#!.*\s-\w*e|^\s*set\s+-o\s+errexit`)
	plainCd   = lazyregexp.New(`^\s*(?:cd|pushd)\s+([^;&|<>]+)$`)
	removes   = lazyregexp.New(`(?:^|[;&|]|\s)rm\s+-`)
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
		line := f.CodeLine(number)
		if !plainCd().MatchString(line) || safePlace().MatchString(line) || strings.HasSuffix(line, "\\") {
			continue
		}
		for next := number + 1; next <= min(number+near, len(f.starts)); next++ {
			code := f.CodeLine(next)
			if strings.TrimSpace(code) == "}" || plainCd().MatchString(code) {
				break
			}
			if removes().MatchString(code) && !strings.Contains(code, " /") && !strings.Contains(code, " $") && !strings.Contains(code, ` "`) {
				hits = append(hits, hit{line: number})
				break
			}
		}
	}
	return hits
}

var download = lazyregexp.New(`\b(?:curl|wget)\b[^|;&]*\|\s*(?:sudo\s+(?:-\w+\s+)*)?(?:ba|z|da)?sh\b`)

func shDownload(f *File) []hit { return f.matches(download(), "curl", "wget") }

var evalArguments = lazyregexp.New(`(?:^|[;&|]|\bthen\b|\bdo\b)\s*eval\s+"?(?:\$[@*1-9]|\$\{[@*1-9]\})`)

func shEval(f *File) []hit {
	var hits []hit
	for number := range f.linesWith("eval ") {
		code, line := f.CodeLine(number), f.Line(number)
		if at := strings.Index(code, "eval "); at >= 0 && evalArguments().MatchString(code[:at]+line[at:]) {
			hits = append(hits, hit{line: number})
		}
	}
	return hits
}

var redirectInTest = lazyregexp.New(`(?:^|[\s;&|!])\[\s[^\[\]]*[^\\<>\d\s]\s+[<>]\s*[^<>&(\s][^\[\]]*\s\]`)

func shRedirectInTest(f *File) []hit {
	var hits []hit
	for number := range f.linesWith("[ ") {
		code := f.CodeLine(number)
		if at := redirectInTest().FindStringIndex(code); at != nil && !strings.Contains(code[at[0]:at[1]], "$(") && !strings.Contains(code[at[0]:at[1]], "[[") {
			hits = append(hits, hit{line: number})
		}
	}
	return hits
}

var spacedAssignment = lazyregexp.New(`^\s*([A-Za-z_]\w*)(?:\s+=\s*|=\s+)(?:["'$\w/.-]\S*)\s*$`)

// shSpacedAssignment leaves "NAME= command" alone, which sets an empty variable for one command.
func shSpacedAssignment(f *File) []hit {
	var hits []hit
	for number := range f.linesWith(" =") {
		code := f.CodeLine(number)
		if number > 1 && strings.HasSuffix(f.CodeLine(number-1), "\\") {
			continue
		}
		if match := spacedAssignment().FindStringSubmatch(code); match != nil && match[1] != "test" && match[1] != "expr" && !f.inside(f.starts[number-1]) {
			hits = append(hits, hit{line: number})
		}
	}
	return hits
}

// inside reports whether an offset lies in a string of several lines.
func (f *File) inside(offset int) bool {
	for _, s := range f.strings {
		if s.start < offset && offset < s.end {
			return true
		}
	}
	return false
}

var (
	plainShell = lazyregexp.New(`^#!\s*/(?:usr/)?bin/(?:env\s+)?(?:sh|dash)\b`)
	bashSyntax = lazyregexp.New(`(?:^|[\s;&|!(])\[\[\s|^\s*(?:declare|local)\s+-[aA]\b|^\s*\w+=\(|\$\{\w+\[[@*]\]\}|<\(|<<<|^\s*function\s+\w+\s*(?:\(\))?\s*\{`)
)

func shBashisms(f *File) []hit {
	if !plainShell().MatchString(f.Line(1)) {
		return nil
	}
	return f.matches(bashSyntax(), "[[", "=(", "<(", "<<<", "declare", "local -", "function ", "[@]", "[*]")
}

var worldWritable = lazyregexp.New(`\bchmod\s+(?:-\w+\s+)*(?:0?777|a\+rwx|o\+w|a\+w)\s`)

func shWorldWritable(f *File) []hit { return f.matches(worldWritable(), "chmod") }

var sudoRedirect = lazyregexp.New(`(?:^|[;&|])\s*sudo\s+(?:echo|cat|printf|grep|sed|awk)\b[^|;&]*\s>>?\s*/(?:etc|usr|var|root|opt|boot|sys|proc|lib)\b`)

func shSudoRedirect(f *File) []hit { return f.matches(sudoRedirect(), "sudo ") }
