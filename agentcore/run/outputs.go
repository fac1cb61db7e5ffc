package run

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/secret"
	"github.com/agentls/agentls/agentcore/tool"
)

// Outputs are the files with results of runs in the background and with long outputs of commands.
type Outputs struct {
	Dir      string
	Redactor *secret.Redactor
}

// Of is the path of the file for the result of a run in the background.
func (o Outputs) Of(id event.RunID) string { return filepath.Join(o.Dir, "task-"+string(id)+".md") }

// Write replaces such a file as a whole, so that no reader sees a part of it.
func (o Outputs) Write(path, text string) error {
	err := os.WriteFile(path+".new", []byte(o.Redactor.Text(text)), 0o600)
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	return err
}

// promise makes the file for the result of a run in the background, and returns its path.
func (o Outputs) promise(id event.RunID) (string, error) {
	path := o.Of(id)
	err := os.MkdirAll(o.Dir, 0o700)
	if err == nil {
		err = o.Write(path, stillRuns+", and has not begun)\n")
	}
	if err != nil {
		return "", fmt.Errorf("make the file for its result: %w", err)
	}
	return path, nil
}

// Report is what the run that started a run in the background is told at that one's end. The file has the rest.
func (o Outputs) Report(ended tool.TaskState) string {
	return BoundedText(ended.Report(), "all of it is in "+o.Of(ended.ID))
}

// maxReport bounds a report that a run gets without having asked for it, in bytes; the file has all of it.
const maxReport = 16 << 10

// BoundedText is the beginning of a report. rest says where all of it is.
func BoundedText(report, rest string) string {
	if len(report) <= maxReport {
		return report
	}
	return strings.ToValidUTF8(report[:maxReport], "") + "\n… " + rest
}

// stillRuns begins the file of a run in the background until the run has ended.
const stillRuns = "(it still runs"

// SaysItRuns reports whether the file of a run in the background says that the run has not ended. It reads only the
// file's beginning, since results may be long.
func SaysItRuns(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close() // only read from
	head := make([]byte, len(stillRuns))
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == stillRuns
}
