package run

import "testing"

func TestCountTests(t *testing.T) {
	for name, c := range map[string]struct {
		output string
		exit   bool
		want   testCount
	}{
		"nothing":   {"hello\n3 passed by\n", false, testCount{}},
		"go":        {"ok  \texample.org/a\t0.01s\n", false, testCount{seen: true}},
		"go cached": {"ok  \texample.org/a\t(cached)\n?   \tb\t[no test files]\n", false, testCount{seen: true}},
		"go fails": {
			"--- FAIL: TestA (0.00s)\n    a_test.go:3: no\nFAIL\nFAIL\texample.org/a\t0.01s\n", true,
			testCount{seen: true, failed: true},
		},
		"go -v": {
			"=== RUN   TestA\n--- PASS: TestA (0.00s)\n    --- FAIL: TestB/x (0.00s)\n--- FAIL: TestB " +
				"(0.00s)\nFAIL\texample.org/a\t0.1s\n", true,
			testCount{seen: true, counted: true, failed: true, run: 3, passed: 1},
		},
		"pytest": {
			"..F\n=== 1 failed, 2 passed, 1 skipped in 0.12s ===\n", true,
			testCount{seen: true, counted: true, failed: true, run: 3, passed: 2},
		},
		"unittest": {
			"..F.\nRan 4 tests in 0.001s\n\nFAILED (failures=1)\n", true,
			testCount{seen: true, counted: true, failed: true, run: 4, passed: 3},
		},
		"jest": {
			"Test Suites: 1 passed, 1 total\nTests:       1 failed, 5 passed, 6 total\n", true,
			testCount{seen: true, counted: true, failed: true, run: 6, passed: 5},
		},
		"mocha": {
			"  5 passing (10ms)\n  1 failing\n", true,
			testCount{seen: true, counted: true, failed: true, run: 6, passed: 5},
		},
		"cargo": {
			"test result: ok. 5 passed; 0 failed; 0 ignored; 0 measured\n", false,
			testCount{seen: true, counted: true, run: 5, passed: 5},
		},
		"node --test": {
			"# tests 3\n# pass 2\n# fail 1\n", true,
			testCount{seen: true, counted: true, failed: true, run: 3, passed: 2},
		},
		"rspec": {
			"5 examples, 1 failure\n", true,
			testCount{seen: true, counted: true, failed: true, run: 5, passed: 4},
		},
	} {
		if got := countTests(c.output, c.exit); got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

// TestClaimedTests: what a text claims of tests is found, and not what it only wants, expects or denies.
func TestClaimedTests(t *testing.T) {
	for text, want := range map[string]testClaim{
		"Done. 12 of 12 tests pass.":             {text: "12 of 12 tests pass", all: true, run: 12, passed: 12},
		"I ran the tests: 3/4 passed":            {text: "3/4 passed", run: 4, passed: 3},
		"All 7 unit tests are now passing.":      {text: "All 7 unit tests are now passing", all: true, passed: 7},
		"**All tests pass**, nothing is left":    {text: "All tests pass", all: true},
		"9 tests passed.":                        {text: "9 tests passed", passed: 9},
		"Make sure that all tests pass.":         {},
		"All tests should pass now.":             {},
		"I could not check that all tests pass.": {},
		"Once 3 of 3 tests pass, merge it.":      {},
		"2 of 3 parts are done; tests are next.": {},
		"The file has 12 tests.":                 {},
	} {
		if got, ok := claimedTests(text); got != want || ok != (want != testClaim{}) {
			t.Errorf("%q: got %+v, %t", text, got, ok)
		}
	}
	all, some := testClaim{text: "all tests pass", all: true}, testClaim{text: "3 of 4 tests pass", run: 4, passed: 3}
	for _, test := range []struct {
		claim testClaim
		seen  testCount
		want  int
	}{
		{all, testCount{}, 1},
		{all, testCount{seen: true}, 0},
		{all, testCount{seen: true, failed: true}, 1},
		{some, testCount{seen: true, counted: true, failed: true, run: 4, passed: 3}, 0},
		{some, testCount{seen: true, counted: true, failed: true, run: 4, passed: 1}, 1},
	} {
		if got := test.claim.doubts(test.seen); len(got) != test.want {
			t.Errorf("%+v against %+v: %q", test.claim, test.seen, got)
		}
	}
}
