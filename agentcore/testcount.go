package agentcore

import (
	"regexp"
	"strconv"
	"strings"
)

// testCount is what a command's output tells of tests.
type testCount struct {
	seen        bool // tests ran
	counted     bool // run and passed are known
	failed      bool // some failed
	run, passed int
}

// The lines by which the usual test runners tell how many tests passed, failed or were run.
var (
	goTest     = regexp.MustCompile(`(?m)^\s*--- (PASS|FAIL): `)
	goPackage  = regexp.MustCompile(`(?m)^(ok|FAIL)\s+\S+\s+(\d|\(cached\)|\[)`)
	unittest   = regexp.MustCompile(`(?m)^Ran (\d+) tests? in `)
	unittestNo = regexp.MustCompile(`(failures|errors)=(\d+)`)
	// counts are the numbers in a line of totals, such as "Tests: 1 failed, 5 passed, 6 total", "5 passing" or
	// "test result: ok. 5 passed; 0 failed".
	totals = regexp.MustCompile(`(?m)^(?:=+ .*=+|\s*Tests:? .*|test result: .*|\s*\d+ (?:passing|failing|pending)\b.*|# (?:pass|fail) \d+|.*\d+ examples?, \d+ failures?.*)$`)
	counts = regexp.MustCompile(`(\d+) (passed|passing|failed|failing|errors?|examples?|failures?)|# (pass|fail) (\d+)`)
)

// countTests reads the output of a command; failed tells that its exit code was not 0.
func countTests(output string, failed bool) testCount {
	c := testCount{}
	passes, fails := 0, 0
	for _, m := range goTest.FindAllStringSubmatch(output, -1) {
		c.seen, c.counted = true, true
		if m[1] == "PASS" {
			passes++
		} else {
			fails++
		}
	}
	if goPackage.MatchString(output) {
		c.seen = true
		// Without -v only those that fail are named.
		c.counted = c.counted && strings.Contains(output, "--- PASS: ")
	}
	if m := unittest.FindStringSubmatch(output); m != nil {
		c.seen, c.counted = true, true
		ran, _ := strconv.Atoi(m[1])
		for _, no := range unittestNo.FindAllStringSubmatch(output, -1) {
			n, _ := strconv.Atoi(no[2])
			fails += n
		}
		passes = max(0, ran-fails)
	}
	for _, line := range totals.FindAllString(output, -1) {
		for _, m := range counts.FindAllStringSubmatch(line, -1) {
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
				passes += n // the failures are among them
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
