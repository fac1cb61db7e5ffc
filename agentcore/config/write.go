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

// ErrByHand is the error of WithText for a file that has to be changed by a person.
var ErrByHand = errors.New("it cannot be changed safely by a program; change it by hand")

// oneLine is a string of TOML on one line, in either quotes.
const oneLine = `("(?:[^"\\\n]|\\.)*"|'[^'\n]*')`

// WithText returns the text of a configuration file in which a key at its top has another text as its value. All else
// stays as it is: comments, order, ends of lines. A key that is not there is put behind the comments at the file's
// head. What comes out is read again and compared, so that no value changes but that one; where the file is written in
// a way that would need more, the error is ErrByHand. The key is a bare one.
func WithText(file []byte, key, value string) ([]byte, error) {
	before := map[string]any{}
	if err := toml.Unmarshal(file, &before); err != nil {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	quoted := jsonText(value)
	if !strings.ContainsAny(value, "'\r\n\x00") {
		quoted = "'" + value + "'" // as one would write a command
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

// headOf is the length of the comments that a file begins with, which nothing else can be around.
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
