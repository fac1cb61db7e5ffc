package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentls/agentls/agentcore/crash"
	"github.com/agentls/agentls/agentcore/event"
)

var (
	crashes = flag.Int("crashes", 0,
		"TestCrashes: how often the server is killed; 0 means once at each point and a few times at random while "+
			"there is time, or 500 times with AGENTLS_SOAK")
	crashSeed = flag.Uint64("crashseed", 1, "TestCrashes: the seed of what is drawn at random")
	crashAt   = flag.String("crashat", "",
		"TestCrashes: the only point, with a number for its n-th time, as in \"intent/applied 7\"")
)

// sharedFile is edited by all children.
const sharedFile = "shared.txt"

// crashDesk is a workspace whose servers are killed again and again.
type crashDesk struct {
	*desk
	model *crashModel
	marks func() (map[string]int, error)
	loads int
	// round names what is tried, for messages.
	round string
	// texts are the open documents, as the editor shows them.
	texts map[string]string
	// heard is what the last killed server told, applied the hunks that any said to be accepted.
	heard   map[event.SessionID][]heardEvent
	applied []event.HunkID
}

func newCrashDesk(t *testing.T, sandboxed bool) *crashDesk {
	var shared strings.Builder
	for part := range parts {
		// Lines between the slots keep the edits of children apart.
		fmt.Fprintf(&shared, "slot %d: open\n\n-- %d --\n\n", part, part)
	}
	d := &crashDesk{
		desk: newDesk(t, map[string]string{sharedFile: shared.String()}), model: newCrashModel(t),
		texts: map[string]string{sharedFile: shared.String()},
	}
	config := "max_children_per_session = 64\nmax_children_per_machine = 64\n"
	if sandboxed {
		marks := newMarkListener(t)
		d.model.command, d.marks = marks.command, marks.marks
		config += fmt.Sprintf("[network]\nallow = [%q]\n", marks.Addr())
	} else {
		marks := marksIn(d.desk)
		d.model.command, d.marks = marks.command, marks.marks
		config += "sandbox = \"off\"\n"
	}
	d.configure(config + "[[permission]]\ntool = \"bash\"\naction = \"allow\"\n")
	d.env = []string{"OPENAI_API_KEY=k", "OPENAI_BASE_URL=" + d.model.URL + "/v1"}
	d.must(exitOK, "trust", d.dir, "--yes")
	return d
}

// fail fails the test with what is needed to see why.
func (d *crashDesk) fail(l *life, format string, args ...any) {
	d.Helper()
	d.Errorf("%s: %s", d.round, fmt.Sprintf(format, args...))
	calls,
		err := d.column(
		`SELECT run || ' ' || tool || ' ' || status || ' ' || substr(arguments, 1, 150) || ' ' || substr(output, 1, 150) FROM (SELECT * FROM tool_call ORDER BY intent DESC LIMIT 100) ORDER BY intent`)
	d.Logf("the last calls (%v):\n%s", err, strings.Join(calls, "\n"))
	trace := l.Trace()
	d.Fatalf("the wire:\n%s\nthe server's log:\n%s", strings.Join(trace[max(0, len(trace)-30):], "\n"), l.log)
}

// kill has a server work until it kills itself at the n-th time that it reaches a point, or is killed at the n-th
// event, and then sees what the next one makes of that.
func (d *crashDesk) kill(point crash.Point, n int) {
	d.Helper()
	ctx, cancel := context.WithTimeout(d.Context(), watchdog)
	defer cancel()
	d.loads++
	d.round = fmt.Sprintf("load %d, %s %d", d.loads, point, n)
	killAt := 0
	if point == "" {
		killAt = n
	}
	l := d.begin(ctx, point, n, killAt)
	run, err := l.load(d.loads)
	l.alive(err)
	l.over() // where it never came to that point, it is killed at the end
	d.recovered(ctx, run)
}

// recovered starts the next server, which has to know all that the killed one told, and to bring its work to an end.
func (d *crashDesk) recovered(ctx context.Context, killed startedRun) {
	d.Helper()
	l := d.begin(ctx, "", 0, 0)
	step := func(what string, err error) {
		d.Helper()
		if err != nil {
			d.fail(l, "%s: %v", what, err)
		}
	}
	heard := d.heard
	for session, events := range heard {
		step("the events of the former server", l.knows(session, events))
	}
	if killed.Run != "" {
		step("resume", l.resume(killed))
	}
	step("accept", l.accept())
	shared, _, err := l.Text(sharedFile)
	step("read the text", err)
	for part := range parts {
		if killed.Run == "" {
			break
		}
		if want := fmt.Sprintf("slot %d: load-%d\n", part, d.loads); strings.Count(shared, want) != 1 ||
			strings.Count(shared, fmt.Sprintf("slot %d:", part)) != 1 {
			d.fail(l, "part %d is not done once: %s", part, shared)
		}
	}
	problems, err := d.unsound()
	step("look at the database", err)
	counts, err := d.marks()
	step("read the marks", err)
	intents, err := d.column("SELECT arguments FROM tool_call WHERE tool = 'bash'")
	step("read the intents", err)
	for _, problem := range append(problems, d.model.check(counts, intents)...) {
		d.fail(l, "%s", problem)
	}
	l.quit()
	d.ctx = ctx
	d.waitFor("no process is left", func() bool { return len(d.commandsOf()) == 0 })
	d.written()
}

// knows reads the events of a session and compares them with those that a former server told.
func (l *life) knows(session event.SessionID, told []heardEvent) error {
	if len(told) == 0 {
		return nil
	}
	if _, err := ask[json.RawMessage](l, "agent/subscribe", `{"session":%q,"since":0}`, session); err != nil {
		return err
	}
	last := told[len(told)-1].Seq
	var stored []heardEvent
	err := l.Until(l.ctx, fmt.Sprintf("event %d of %s", last, session), func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		stored = l.events[session]
		return uint64(len(stored)) >= last
	})
	if err != nil {
		return err
	}
	tree, err := l.tree(session)
	if err != nil {
		return err
	}
	status := map[event.RunID]event.Status{}
	for _, run := range tree {
		status[run.ID] = run.Status
		if !run.Status.Final() {
			return fmt.Errorf("the run %s is %s, and its process is dead", run.ID, run.Status)
		}
	}
	for i, e := range told {
		if stored[i].raw != e.raw {
			return fmt.Errorf("the event %s is now %s", e.raw, stored[i].raw)
		}
		switch {
		case e.Type == "RunCreated" && status[e.Run] == "":
			return fmt.Errorf("the run %s is not in the tree", e.Run)
		case e.Type == "RunFinished" && status[e.Run] != e.Status:
			return fmt.Errorf("the run %s was %s, and is %s", e.Run, e.Status, status[e.Run])
		}
	}
	return nil
}

// resume goes on with what was interrupted: one of the children, and the run that had started them all.
func (l *life) resume(killed startedRun) error {
	tree, err := l.tree(killed.Session)
	if err != nil {
		return err
	}
	var again []event.RunID
	for _, run := range tree {
		if run.Status != event.StatusInterrupted {
			continue
		}
		if run.Parent != "" && len(again) > 0 && l.desk.loads%2 == 0 {
			continue
		}
		if len(again) < 2 {
			again = append(again, run.ID) // the root comes first
		}
	}
	slices.Reverse(again)
	for _, run := range again {
		prompt := fmt.Sprintf("load-%d whole again", l.desk.loads)
		if run != killed.Run {
			if prompt, err = l.promptOf(run); err != nil {
				return err
			}
		}
		resumed, err := ask[startedRun](l, "agent/resume", `{"run":%q,"prompt":%q}`, run, prompt)
		if err != nil && strings.Contains(err.Error(), "before it had begun") {
			resumed, err = ask[startedRun](l, "agent/run", `{"agent":"coder","prompt":"load-%d whole"}`, l.desk.loads)
		}
		if err != nil {
			return err
		}
		if err := l.finish(resumed.Run); err != nil {
			return err
		}
	}
	return nil
}

// promptOf finds what a child was to do.
func (l *life) promptOf(run event.RunID) (string, error) {
	page, err := ask[struct {
		Messages []struct {
			Text string `json:"text"`
		} `json:"messages"`
	}](l, "agent/transcript", `{"run":%q}`, run)
	for _, message := range page.Messages {
		if found := loadWanted.FindAllString(message.Text, -1); found != nil {
			return found[len(found)-1] + " again", err
		}
	}
	return "load-0 part-0", err
}

// written expects the files that the editor has made to be what an agent wrote, once.
func (d *crashDesk) written() {
	d.Helper()
	names, err := filepath.Glob(filepath.Join(d.dir, "new", "*.txt"))
	if err != nil {
		d.Fatal(err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil || string(text) != strings.TrimSuffix(filepath.Base(name), ".txt")+"\n" {
			d.Fatalf("%s: %s holds %q (%v)", d.round, name, text, err)
		}
	}
}

// column reads the database beside the server.
func (d *crashDesk) column(query string) (texts []string, err error) {
	db, err := sql.Open("sqlite",
		event.FileURI(filepath.Join(d.state, "agentls.db"))+"?mode=ro&_pragma=busy_timeout(10000)")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	rows, err := db.QueryContext(d.Context(), query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return texts, rows.Err()
}

// unsound says what is wrong with the database.
func (d *crashDesk) unsound() ([]string, error) {
	problems, err := d.column("PRAGMA integrity_check")
	if err != nil || len(problems) != 1 || problems[0] != "ok" {
		return problems, err
	}
	return d.column(`SELECT "table" || ' ' || rowid || ' has lost its ' || parent FROM pragma_foreign_key_check`)
}

// loadPoints are those that a load comes to, with about how often.
func loadPoints() map[crash.Point]int {
	often := map[crash.Point]int{
		crash.Registered: 1, crash.Marked: 1, crash.Adopted: 1,
		crash.Permitted: 30, crash.Made: 100, crash.Merging: 20, crash.Accepting: 4, crash.Answered: 4,
		crash.Confirmed: 4,
	}
	for _, kind := range []string{crash.Intent, crash.Outcome, crash.Edits, crash.End, crash.Rows} {
		for _, far := range []string{crash.Applied, crash.Durable, crash.Published} {
			often[crash.Commit(kind, far)] = 20
		}
	}
	return often
}

// TestCrashes kills the server while 16 children edit and run commands, at random and at each point of the journal.
// After each kill nothing is lost that was told, no command was run twice, the database is sound, what was interrupted
// can be resumed and comes to its end, and no process is left.
func TestCrashes(t *testing.T) {
	const atRandom = 8 // between the points
	soak := os.Getenv("AGENTLS_SOAK") != ""
	kills, seed, until := *crashes, *crashSeed, time.Time{}
	lives := 25 // on one state folder
	switch {
	case kills > 0:
	case soak:
		kills = 500
	case testing.Short():
		kills = 2
	default:
		kills, lives = len(loadPoints())+atRandom, (len(loadPoints())+atRandom+1)/2
		until = time.Now().Add(2 * time.Minute) // on a slow machine there are fewer
	}
	random := rand.New(rand.NewPCG(seed, 0))
	type shot struct {
		point crash.Point
		n     int
	}
	var shots []shot
	often := loadPoints()
	for len(shots) < kills {
		for _, point := range crash.Points() {
			if often[point] > 0 {
				shots = append(shots, shot{point, 1 + random.IntN(often[point])})
			}
		}
		for range atRandom {
			shots = append(shots, shot{"", 1 + random.IntN(400)})
		}
	}
	random.Shuffle(len(shots), func(i, j int) { shots[i], shots[j] = shots[j], shots[i] })
	shots = shots[:kills]
	if *crashAt != "" {
		at := shot{}
		if _, err := fmt.Sscan(*crashAt, &at.point, &at.n); err != nil {
			t.Fatal(err)
		}
		shots = slices.Repeat([]shot{at}, kills)
	}
	done := 0
	for i := 0; len(shots) > 0; i++ {
		batch := shots[:min(lives, len(shots))]
		shots = shots[len(batch):]
		t.Run(fmt.Sprintf("desk%d", i), func(t *testing.T) {
			d := newCrashDesk(t, i%2 == 1)
			for _, s := range batch {
				if !until.IsZero() && time.Now().After(until) {
					break
				}
				d.kill(s.point, s.n)
				done++
			}
		})
	}
	t.Logf("the server was killed %d times", done)
}
