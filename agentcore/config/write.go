package config

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"github.com/BurntSushi/toml"
)

// ErrByHand is the error of WithText for a file that only a person can change safely.
var ErrByHand = errors.New("it cannot be changed safely by a program; change it by hand")

// oneLine is a string of TOML on one line, in either quotes.
const oneLine = `("(?:[^"\\\n]|\\.)*"|'[^'\n]*')`

// WithText returns the text of a configuration file in which a top-level key has value as its text. Everything else
// stays as it is: comments, order, line ends. A key that does not exist yet is added below the comments at the file's
// head. The new text is parsed and compared, so that no other value changes; if the file is written in a way that does
// not permit this, the error is ErrByHand. The key must be a bare one.
func WithText(file []byte, key, value string) ([]byte, error) {
	before := map[string]any{}
	if err := toml.Unmarshal(file, &before); err != nil {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	quoted := jsonText(value)
	if !strings.ContainsAny(value, "'\r\n\x00") {
		quoted = "'" + value + "'" // single quotes, in which commands are usually written
	}
	var changed []byte
	if _, there := before[key]; there {
		quotedKey := regexp.QuoteMeta(key)
		line := regexp.MustCompile(`(?m)^([ \t]*(?:` + quotedKey + `|"` + quotedKey + `"|'` + quotedKey +
			`')[ \t]*=[ \t]*)` + oneLine)
		at := line.FindSubmatchIndex(file)
		if at == nil {
			return nil, ErrByHand
		}
		changed = append(append(append(changed, file[:at[4]]...), quoted...), file[at[5]:]...)
	} else {
		end := "\n"
		if bytes.Contains(file, []byte("\r\n")) {
			end = "\r\n"
		}
		head := headOf(file)
		changed = append(changed, file[:head]...)
		if head > 0 && file[head-1] != '\n' {
			changed = append(changed, end...)
		}
		changed = append(append(changed, key+" = "+quoted+end...), file[head:]...)
	}
	after := map[string]any{}
	if err := toml.Unmarshal(changed, &after); err != nil {
		return nil, fmt.Errorf("%w (%w)", ErrByHand, err)
	}
	before[key] = value
	if !reflect.DeepEqual(before, after) {
		return nil, ErrByHand
	}
	return changed, nil
}

// headOf is the length of the comments at the beginning of a file.
func headOf(file []byte) int {
	head := 0
	if bytes.HasPrefix(file, []byte("\ufeff")) {
		head = len("\ufeff")
	}
	for head < len(file) && file[head] == '#' {
		next := bytes.IndexByte(file[head:], '\n')
		if next < 0 {
			return len(file)
		}
		head += next + 1
	}
	return head
}
