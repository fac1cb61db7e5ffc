package agentcore

import "testing"

func TestCountTests(t *testing.T) {
	for name, c := range map[string]struct {
		output string
		exit   bool
		want   testCount
	}{
		"nothing":     {"hello\n3 passed by\n", false, testCount{}},
		"go":          {"ok  \texample.org/a\t0.01s\n", false, testCount{seen: true}},
		"go cached":   {"ok  \texample.org/a\t(cached)\n?   \tb\t[no test files]\n", false, testCount{seen: true}},
		"go fails":    {"--- FAIL: TestA (0.00s)\n    a_test.go:3: no\nFAIL\nFAIL\texample.org/a\t0.01s\n", true, testCount{seen: true, failed: true}},
		"go -v":       {"=== RUN   TestA\n--- PASS: TestA (0.00s)\n    --- FAIL: TestB/x (0.00s)\n--- FAIL: TestB (0.00s)\nFAIL\texample.org/a\t0.1s\n", true, testCount{seen: true, counted: true, failed: true, run: 3, passed: 1}},
		"pytest":      {"..F\n=== 1 failed, 2 passed, 1 skipped in 0.12s ===\n", true, testCount{seen: true, counted: true, failed: true, run: 3, passed: 2}},
		"unittest":    {"..F.\nRan 4 tests in 0.001s\n\nFAILED (failures=1)\n", true, testCount{seen: true, counted: true, failed: true, run: 4, passed: 3}},
		"jest":        {"Test Suites: 1 passed, 1 total\nTests:       1 failed, 5 passed, 6 total\n", true, testCount{seen: true, counted: true, failed: true, run: 6, passed: 5}},
		"mocha":       {"  5 passing (10ms)\n  1 failing\n", true, testCount{seen: true, counted: true, failed: true, run: 6, passed: 5}},
		"cargo":       {"test result: ok. 5 passed; 0 failed; 0 ignored; 0 measured\n", false, testCount{seen: true, counted: true, run: 5, passed: 5}},
		"node --test": {"# tests 3\n# pass 2\n# fail 1\n", true, testCount{seen: true, counted: true, failed: true, run: 3, passed: 2}},
		"rspec":       {"5 examples, 1 failure\n", true, testCount{seen: true, counted: true, failed: true, run: 5, passed: 4}},
	} {
		if got := countTests(c.output, c.exit); got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}
