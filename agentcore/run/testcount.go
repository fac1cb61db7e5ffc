package run

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/agentls/agentls/agentcore/lazyregexp"
)

// testCount is what the output of a command says about tests.
type testCount struct {
	seen        bool // tests ran
	counted     bool // run and passed are known
	failed      bool // some failed
	run, passed int
}

// The lines by which the usual test runners tell how many tests passed, failed or were run.
var (
	goTest     = lazyregexp.New(`(?m)^\s*--- (PASS|FAIL): `)
	goPackage  = lazyregexp.New(`(?m)^(ok|FAIL)\s+\S+\s+(\d|\(cached\)|\[)`)
	unittest   = lazyregexp.New(`(?m)^Ran (\d+) tests? in `)
	unittestNo = lazyregexp.New(`(failures|errors)=(\d+)`)
	// counts are the numbers in a line of totals, such as "Tests: 1 failed, 5 passed, 6 total", "5 passing" or
	// "test result: ok. 5 passed; 0 failed".
	totals = lazyregexp.New(
		`(?m)^(?:=+ .*=+|\s*Tests:? .*|test result: .*|\s*\d+ (?:passing|failing|pending)\b.*|# (?:pass|fail) \d+|.*\d+ examples?, \d+ failures?.*)$`)
	counts = lazyregexp.New(`(\d+) (passed|passing|failed|failing|errors?|examples?|failures?)|# (pass|fail) (\d+)`)
)

// countTests reads the output of a command. failed says that the exit code was not 0.
func countTests(output string, failed bool) testCount {
	c := testCount{}
	passes, fails := 0, 0
	for _, m := range goTest().FindAllStringSubmatch(output, -1) {
		c.seen, c.counted = true, true
		if m[1] == "PASS" {
			passes++
		} else {
			fails++
		}
	}
	if goPackage().MatchString(output) {
		c.seen = true
		// Without -v, go test names only the tests that fail.
		c.counted = c.counted && strings.Contains(output, "--- PASS: ")
	}
	if m := unittest().FindStringSubmatch(output); m != nil {
		c.seen, c.counted = true, true
		ran, _ := strconv.Atoi(m[1])
		for _, no := range unittestNo().FindAllStringSubmatch(output, -1) {
			n, _ := strconv.Atoi(no[2])
			fails += n
		}
		passes = max(0, ran-fails)
	}
	for _, line := range totals().FindAllString(output, -1) {
		for _, m := range counts().FindAllStringSubmatch(line, -1) {
			number, word := m[1], m[2]
			if word == "" {
				word, number = m[3], m[4]
			}
			n, err := strconv.Atoi(number)
			if err != nil {
				continue
			}
			c.seen, c.counted = true, true
			switch {
			case strings.HasPrefix(word, "pass"):
				passes += n
			case strings.HasPrefix(word, "example"):
				passes += n // examples include the failures, which are subtracted below
			case strings.HasPrefix(word, "failure"):
				fails += n
				passes -= min(n, passes)
			default:
				fails += n
			}
		}
	}
	if c.counted {
		c.run, c.passed = passes+fails, passes
	}
	c.failed = c.seen && (failed || fails > 0)
	return c
}

// testClaim is what a text says about tests that passed.
type testClaim struct {
	text        string
	all         bool // it says that all passed
	run, passed int  // 0 where the text names no number
}

// The ways in which models tell that tests passed: "12 of 12 tests pass", "12/12 passed", "12 tests passed", "all
// tests pass".
var (
	passing = `(?:(?:now|still|all|have|are|were) )*(?:pass(?:ed|es|ing)?|green|succeed(?:ed)?)\b`
	someOf  = lazyregexp.New(`(?i)\b(\d{1,6}) ?(?:/|of|out of) ?(?:the |all )?(\d{1,6})(?: \w+)? (?:tests? )?` +
		passing)
	numbered   = lazyregexp.New(`(?i)\b(all )?(?:the )?(\d{1,6}) (?:\w+ )?tests? ` + passing)
	allOfThem  = lazyregexp.New(`(?i)\ball (?:of )?(?:the |its |our )?(?:\w+ )?tests ` + passing)
	aboutTests = lazyregexp.New(`(?i)\btests?\b`)
	// unclaimed are words of a sentence that only wants, expects or denies passing tests.
	unclaimed = lazyregexp.New(
		`(?i)\b(?:not|no|never|cannot|should|would|could|must|will|if|when|once|until|unless|` +
			`ensures?|make sure|makes? (?:all|the)|whether|verify|confirm that|check that|expect(?:ed)?|so that|before)\b|n't\b`)
	sentenceEnd = lazyregexp.New(`[.!?](?:\s|$)|\n`)
)

// claimedTests finds what a text says about passed tests. ok is false where it says nothing about them, or only that
// they should pass.
func claimedTests(text string) (claim testClaim, ok bool) {
	for _, sentence := range sentenceEnd().Split(text, -1) {
		if !aboutTests().MatchString(sentence) || unclaimed().MatchString(sentence) {
			continue
		}
		if m := someOf().FindStringSubmatch(sentence); m != nil {
			claim = testClaim{text: m[0], passed: number(m[1]), run: number(m[2])}
			claim.all = claim.passed == claim.run
		} else if m := numbered().FindStringSubmatch(sentence); m != nil {
			claim = testClaim{text: m[0], passed: number(m[2]), all: m[1] != ""}
		} else if m := allOfThem().FindString(sentence); m != "" {
			claim = testClaim{text: m, all: true}
		} else {
			continue
		}
		return claim, true
	}
	return claim, false
}

func number(digits string) int {
	n, _ := strconv.Atoi(digits) // the pattern bounds the number of digits
	return n
}

// doubts are the warnings about a claim that differs from what was seen.
func (c testClaim) doubts(seen testCount) []string {
	said := fmt.Sprintf("it says %q, and ", strings.TrimSpace(c.text))
	switch {
	case !seen.seen:
		return []string{said + "ran no tests that could be seen"}
	case seen.failed && c.all:
		return []string{said + "of those that were seen last some failed"}
	case seen.counted && (c.run > 0 && c.run != seen.run || c.passed > 0 && c.passed != seen.passed):
		return []string{said + fmt.Sprintf("%d of %d passed of those that were seen last", seen.passed, seen.run)}
	}
	return nil
}
