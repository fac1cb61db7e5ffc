package tool

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// outputLines is how many lines of each output of a cell are shown.
const outputLines = 20

// shown is the notebook as it is shown: cell by cell, each with its number and id. A line of a source has the number of
// the file's line that holds it, so that findings and offsets fit the file. Numbers never decrease, so that outputs
// have the number of the source above them.
func (n *notebook) shown() []shownLine {
	index := splitLines(n.text)
	title := fmt.Sprintf("notebook of %s; change it with notebook_edit", count(len(n.cells), "cell", "cells"))
	if n.language != "" {
		title = n.language + " " + title
	}
	lines := []shownLine{{1, title}}
	add := func(at span, text string) {
		lines = append(lines, shownLine{max(lineAt(index, at.start)+1, lines[len(lines)-1].number), text})
	}
	for i, c := range n.cells {
		add(c.span, fmt.Sprintf("--- %s, %s", n.name(i), c.kind))
		if len(c.lines) == 0 && c.code != "" {
			for _, text := range contents(strings.TrimSuffix(c.code, "\n")) {
				add(c.source, text)
			}
		}
		for _, item := range c.lines {
			add(item, strings.TrimRight(unquote(item.of(n.text)), "\r\n"))
		}
		if outputs, ok := find(c.members, "outputs"); ok {
			for _, text := range outputTexts(outputs.of(n.text)) {
				add(outputs, text)
			}
		}
	}
	return lines
}

// show is one cell as it is shown.
func (n *notebook) show(at int) string {
	lines := contents(strings.TrimSuffix(n.cells[at].code, "\n"))
	text := fmt.Sprintf("--- %s, %s\n", n.name(at), n.cells[at].kind)
	for _, l := range lines[:min(len(lines), similarShown)] {
		text += clip(l, lineLimit) + "\n"
	}
	if len(lines) > similarShown {
		text += fmt.Sprintf("(and %s more)\n", count(len(lines)-similarShown, "line", "lines"))
	}
	return text
}

// joined is a text that notebooks write as one string or as a list of lines.
type joined string

// UnmarshalJSON implements json.Unmarshaler. Any other value counts as empty.
func (j *joined) UnmarshalJSON(raw []byte) error {
	var lines []string
	if json.Unmarshal(raw, &lines) == nil {
		*j = joined(strings.Join(lines, ""))
		return nil
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		*j = joined(text)
	}
	return nil
}

// outputTexts returns the outputs of a cell as lines that begin with "> ": text as it is, anything else by its kind.
func outputTexts(raw string) []string {
	var outputs []struct {
		Kind  string            `json:"output_type"`
		Text  joined            `json:"text"`
		Data  map[string]joined `json:"data"`
		Error string            `json:"ename"`
		Value string            `json:"evalue"`
	}
	if json.Unmarshal([]byte(raw), &outputs) != nil {
		return []string{"> (outputs that cannot be read)"}
	}
	var lines []string
	for _, output := range outputs {
		text := string(output.Text)
		if plain, ok := output.Data["text/plain"]; ok {
			text = string(plain)
		}
		for _, kind := range slices.Sorted(maps.Keys(output.Data)) {
			if kind != "text/plain" {
				text = strings.TrimSuffix(text, "\n") + "\n(" + kind + ")"
			}
		}
		if output.Error != "" {
			text = output.Error + ": " + output.Value
		}
		all := contents(strings.Trim(text, "\n"))
		for _, l := range all[:min(len(all), outputLines)] {
			lines = append(lines, "> "+l)
		}
		if len(all) > outputLines {
			lines = append(lines, fmt.Sprintf("> (and %s more)", count(len(all)-outputLines, "line", "lines")))
		}
	}
	return lines
}
