package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/agentls/agentls/agentcore/secret"
)

const (
	// maxTyped is how many lines are kept, and maxTypedBytes how long all of them may be.
	maxTyped      = 500
	maxTypedBytes = 256 << 10
)

// typedLines are the lines that the user has entered in conversations, in a file of the state folder that nobody else
// may read: a JSON string a line, the newest last. The zero value keeps nothing.
type typedLines struct {
	path   string
	hidden *secret.Redactor
}

// read returns the lines. What cannot be read is left out, and a file that has grown too long is cut.
func (h typedLines) read() ([]string, error) {
	if h.path == "" {
		return nil, nil
	}
	data, err := os.ReadFile(h.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("read the lines that you entered before: %w", err)
	}
	var lines []string
	scanner := bufio.NewScanner(bytes.NewReader(data))
	scanner.Buffer(nil, len(data)+1)
	for scanner.Scan() {
		var line string
		if json.Unmarshal(scanner.Bytes(), &line) == nil && line != "" {
			lines = append(lines, line)
		}
	}
	kept, bytes := len(lines), 0
	for kept > 0 && len(lines)-kept < maxTyped && bytes+len(lines[kept-1]) <= maxTypedBytes {
		kept--
		bytes += len(lines[kept])
	}
	if kept == 0 && len(data) <= 2*maxTypedBytes {
		return lines, nil
	}
	lines = lines[kept:]
	return lines, h.write(lines)
}

// write replaces the file, in one step.
func (h typedLines) write(lines []string) error {
	var b bytes.Buffer
	for _, line := range lines {
		b.Write(encodeTyped(line))
	}
	folder, err := os.OpenRoot(filepath.Dir(h.path))
	if err != nil {
		return fmt.Errorf("shorten the lines that you entered before: %w", err)
	}
	defer folder.Close()
	temp, err := writeTemp(folder, ".", b.Bytes(), 0o600)
	if err == nil {
		err = folder.Rename(temp, filepath.Base(h.path))
	}
	if err != nil {
		return fmt.Errorf("shorten the lines that you entered before: %w", err)
	}
	return nil
}

// add appends a line, without the secrets in it.
func (h typedLines) add(line string) error {
	if h.path == "" || len(line) > maxTypedBytes {
		return nil
	}
	file, err := os.OpenFile(h.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err == nil {
		_, err = file.Write(encodeTyped(h.hidden.Text(line)))
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		return fmt.Errorf("keep what you entered: %w; --no-history keeps nothing", err)
	}
	return nil
}

// encodeTyped is a line of the file.
func encodeTyped(line string) []byte {
	data, _ := json.Marshal(line) // every string can be encoded
	return append(data, '\n')
}
