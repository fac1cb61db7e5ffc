package acptest

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Program is the name of a test binary that is an agent.
const Program = "acptest-agent"

// Dispatch makes this process an agent where its program has the name [Program], and does not return then. TestMain
// calls it first.
func Dispatch() {
	if strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") != Program {
		return
	}
	if len(os.Args) == 4 && os.Args[1] == daemonArg {
		os.Exit(daemon(os.Args[2], os.Args[3] == "1"))
	}
	os.Exit(play(os.Args[1:]))
}

// Install puts this test binary under the name [Program] and a play into a folder, which a sandbox may show. It returns
// how the agent is started. The agent writes its log into the folder, if the play names no other place: see [Log].
func Install(t testing.TB, dir string, p Play) (argv []string) {
	t.Helper()
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, Program)
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	if _, err := os.Stat(program); err != nil && os.Link(own, program) != nil {
		binary, err := os.ReadFile(own)
		if err == nil {
			err = os.WriteFile(program, binary, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	text, err := json.MarshalIndent(p, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.CreateTemp(dir, "play-*.json")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return []string{program, file.Name()}
}

// open reads a play from a file.
func open(file string) (p Play, err error) {
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if p.Log == "" {
		p.Log = file + ".log"
	}
	return p, err
}

// Log is what an agent has done so far, which was started as [Install] says.
func Log(t testing.TB, argv []string) (list []Entry) {
	t.Helper()
	p, err := open(argv[1])
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(p.Log)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		var e Entry
		if !bytes.HasSuffix(line, []byte("\n")) { // it is being written
			break
		}
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("read the log of the agent: %v\n%s", err, line)
		}
		list = append(list, e)
	}
	return list
}

// Received are the params of the requests and notifications of a method that an agent has got so far.
func Received(t testing.TB, argv []string, method string) (list []Object) {
	t.Helper()
	for _, e := range Log(t, argv) {
		var m message
		if json.Unmarshal(e.Got, &m) == nil && m.Method == method {
			var params Object
			if err := json.Unmarshal(m.Params, &params); err != nil {
				t.Fatalf("params of %s: %v", method, err)
			}
			list = append(list, params)
		}
	}
	return list
}

// Answers are the answers to the requests of a method that an agent has got so far: objects with result or error.
func Answers(t testing.TB, argv []string, method string) (list []Object) {
	t.Helper()
	sent := map[string]bool{}
	for _, e := range Log(t, argv) {
		var m message
		if json.Unmarshal(e.Sent, &m) == nil && m.Method == method {
			sent[string(m.ID)] = true
		}
		if json.Unmarshal(e.Got, &m) != nil || m.Method != "" || !sent[string(m.ID)] {
			continue
		}
		var answer Object
		if err := json.Unmarshal(e.Got, &answer); err != nil {
			t.Fatal(err)
		}
		list = append(list, answer)
	}
	return list
}
