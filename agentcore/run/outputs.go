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

// Outputs are the files for results of runs in the background, and for long outputs of commands.
type Outputs struct {
	Dir      string
	Redactor *secret.Redactor
}

// Of is the file that a run in the background leaves its result in.
func (o Outputs) Of(id event.RunID) string { return filepath.Join(o.Dir, "task-"+string(id)+".md") }

// Write replaces such a file as a whole, so that no reader sees a part of it.
func (o Outputs) Write(path, text string) error {
	err := os.WriteFile(path+".new", []byte(o.Redactor.Text(text)), 0o600)
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	return err
}

// promise makes the file that a run in the background leaves its result in, and returns its path.
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

// Report is what a starter is told of a run in the background that has ended. The rest is in the run's file.
func (o Outputs) Report(ended tool.TaskState) string {
	return BoundedText(ended.Report(), "all of it is in "+o.Of(ended.ID))
}

// maxReport bounds what a run is told of the end of a child without having asked for it, in bytes; the file has all.
const maxReport = 16 << 10

// BoundedText is the beginning of a report. rest says where all of it is.
func BoundedText(report, rest string) string {
	if len(report) <= maxReport {
		return report
	}
	return strings.ToValidUTF8(report[:maxReport], "") + "\n… " + rest
}

// stillRuns begins the file of a run in the background that has not ended.
const stillRuns = "(it still runs"

// SaysItRuns reports whether the file of a run in the background says that the run has not ended. Results may be long,
// and are not read.
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
