package offline

import "strings"

func (t *task) explain() turn { return turn{text: help} }

func (t *task) explore() turn { return turn{text: help} }

// remoteness orders paths: sources, tests, what others wrote.
func remoteness(name string) int {
	lower := "/" + strings.ToLower(name)
	for _, folder := range []string{"/vendor/", "/node_modules/", "/third_party/", "/dist/", "/build/", "/.venv/", "/site-packages/"} {
		if strings.Contains(lower, folder) {
			return 2
		}
	}
	if (&file{path: name}).isTest() {
		return 1
	}
	return 0
}
