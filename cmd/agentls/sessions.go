package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/git"
	"github.com/agentls/agentls/agentcore/history"
	"github.com/agentls/agentls/agentcore/price"
	"github.com/agentls/agentls/agentcore/store"
)

// sessionReport is one session in the output of `agentls sessions list --json`, and the beginning of that of `show`.
type sessionReport struct {
	ID      event.SessionID `json:"id"`
	Title   string          `json:"title"`
	Summary string          `json:"summary,omitzero"` // a summary of what was done in it
	Folders []string        `json:"folders"`
	Created time.Time       `json:"created"`
	Updated time.Time       `json:"updated"`
	// Status is the status of the latest root run.
	Status    event.Status `json:"status"`
	Runs      int          `json:"runs"`
	OpenHunks int          `json:"openHunks"`
	Usage     event.Usage  `json:"usage"`
	// ForkedFrom is the session of which this one is a copy. It may have been deleted.
	ForkedFrom event.SessionID `json:"forkedFrom,omitzero"`
	// Tree has the runs, each behind its parent; only in `show`.
	Tree []runReport `json:"tree,omitzero"`
}

// runReport is one run in the output of `agentls sessions show --json`.
type runReport struct {
	ID       event.RunID  `json:"id"`
	Parent   event.RunID  `json:"parent,omitzero"`
	Agent    string       `json:"agent"`
	Role     string       `json:"role"`
	Depth    int          `json:"depth"`
	Title    string       `json:"title"`
	Model    string       `json:"model"`
	Status   event.Status `json:"status"`
	Reason   string       `json:"reason,omitzero"`
	Created  time.Time    `json:"created"`
	Finished time.Time    `json:"finished,omitzero"`
	Turns    int          `json:"turns"`
	Message  string       `json:"message"`
	Usage    event.Usage  `json:"usage"`
	Path     string       `json:"path,omitzero"`
	// Resumes is the run that this run goes on with. ResumedBy are the runs that go on with this run, in any session.
	Resumes   event.RunID   `json:"resumes,omitzero"`
	ResumedBy []event.RunID `json:"resumedBy,omitzero"`
}

// transcriptReport is the output of `agentls sessions show RUN --json`.
type transcriptReport struct {
	Run      event.RunID     `json:"run"`
	Messages []messageReport `json:"messages"`
}

type messageReport struct {
	ID     event.MessageID `json:"id"`
	Parent event.MessageID `json:"parent,omitzero"`
	Run    event.RunID     `json:"run"`
	Role   string          `json:"role"`
	Time   time.Time       `json:"time"`
	Text   string          `json:"text"`
	// Compacted says that the conversation was shortened here: this message stands for those up to its parent.
	Compacted bool         `json:"compacted,omitzero"`
	Reasoning string       `json:"reasoning,omitzero"`
	Model     string       `json:"model,omitzero"`  // the model that answered
	Usage     *event.Usage `json:"usage,omitempty"` // what this one request used
	Calls     []callReport `json:"calls,omitzero"`
}

type callReport struct {
	Call      event.CallID     `json:"call"`
	Tool      string           `json:"tool"`
	Arguments string           `json:"arguments"`
	Status    event.CallStatus `json:"status,omitzero"`
	// the exit code of the command that the call ran to its end
	ExitCode   *int        `json:"exitCode,omitzero"`
	Output     string      `json:"output,omitzero"`
	DurationMs int64       `json:"durationMs,omitzero"`
	Child      event.RunID `json:"child,omitzero"`
}

func sessionsCommand(p *process, s *settings) *cobra.Command {
	return group("sessions", "List, show, export, import, resume, rewind or delete what agents have done",
		sessionsListCommand(p, s), sessionsShowCommand(p, s), sessionsExportCommand(p, s),
		sessionsImportCommand(p, s), sessionsResumeCommand(p, s), sessionsRewindCommand(p, s),
		sessionsDeleteCommand(p, s))
}

func reportOf(i history.Session) sessionReport {
	return sessionReport{
		i.ID, i.Title, i.Summary, append([]string{}, i.Roots...), i.Created, i.Updated, i.Status, i.Runs, i.OpenHunks,
		i.Usage, i.ForkedFrom, nil,
	}
}

func sessionsListCommand(p *process, s *settings) *cobra.Command {
	var all, asJSON bool
	var limit int
	c := &cobra.Command{
		Use:   "list",
		Short: "List the sessions on the current folder and its git repository, the latest first",
		Args:  exactly(0),
		RunE: func(c *cobra.Command, _ []string) error {
			return p.withEngine(c.Context(), s, p.dir, func(engine *agentcore.Engine) error {
				if limit < 0 {
					return usage("--limit is a number of sessions, 0 for all")
				}
				filter := history.Filter{Limit: limit}
				if !all {
					filter.Roots = p.here()
				}
				sessions, more, err := engine.History().Sessions(c.Context(), filter)
				if err != nil {
					return err
				}
				if asJSON {
					reports := []sessionReport{}
					for _, info := range sessions {
						reports = append(reports, reportOf(info))
					}
					return p.printJSON(reports)
				}
				table := sessionTable(sessions, all)
				if more {
					table += fmt.Sprintf("There are older ones than these %d; --limit 0 lists all.\n", len(sessions))
				}
				return p.print(table)
			})
		},
	}
	c.Flags().BoolVar(&all, "all", false, "list those on all folders")
	c.Flags().IntVar(&limit, "limit", listedSessions, "list so many sessions at most, 0 for all")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// listedSessions is how many sessions are listed where nobody says: more than anybody reads, and a history of years
// takes no time.
const listedSessions = 100

// sessionTable is a list of sessions for people.
func sessionTable(sessions []history.Session, folders bool) string {
	if len(sessions) == 0 && folders {
		return "Nothing has run yet.\n"
	}
	if len(sessions) == 0 {
		return "Nothing has run on this folder; --all lists the sessions on other folders.\n"
	}
	var rows strings.Builder
	for _, i := range sessions {
		fmt.Fprintf(&rows, "%s\t%s\t%s\t%s\t%s\t%s", i.ID, i.Updated.Local().Format("2006-01-02 15:04"), i.Status,
			count(i.Runs, "run"), costOf(i.Usage), oneLine(cmp.Or(i.Title, "(nothing was asked yet)")))
		if folders {
			fmt.Fprintf(&rows, "\t%s", oneLine(strings.Join(i.Roots, ", ")))
		}
		rows.WriteString("\n")
	}
	return inColumns(rows.String())
}

// costOf is the cost of something, "–" where it is not known.
func costOf(u event.Usage) string {
	if u.Cost == nil {
		return "–"
	}
	return price.Dollars(*u.Cost)
}

func sessionsShowCommand(p *process, s *settings) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "show SESSION|RUN",
		Short: "Show the runs of a session, or the conversation of a run",
		Args:  exactly(1),
		RunE: func(c *cobra.Command, args []string) error {
			return p.withEngine(c.Context(), s, p.dir, func(engine *agentcore.Engine) error {
				info, tree, err := engine.History().Tree(c.Context(), event.SessionID(args[0]))
				if fault.Is(err, fault.NotFound) {
					return p.showRun(c.Context(), engine, event.RunID(args[0]), asJSON)
				}
				if err != nil {
					return err
				}
				resumed, err := engine.History().Resumptions(c.Context(), info.ID)
				if err != nil {
					return err
				}
				if !asJSON {
					return p.print(sessionText(info, tree, resumed))
				}
				report := reportOf(info)
				report.Tree = []runReport{}
				for _, r := range tree {
					row := runReport{
						r.ID, r.Parent, r.Agent, r.Role, r.Depth, r.Title, r.Model, r.Status, r.Reason, r.Created,
						r.Finished, r.Turns, r.Message, r.Usage, r.Path, r.Resumes, nil,
					}
					for _, later := range resumed[r.ID] {
						row.ResumedBy = append(row.ResumedBy, later.Run)
					}
					report.Tree = append(report.Tree, row)
				}
				return p.printJSON(report)
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func unknownSession(id string) error {
	return usage("there is no session or run %q; see `agentls sessions list --all`", id)
}

// sessionText shows people a session with its tree of runs. resumed are the runs that go on with these.
func sessionText(info history.Session, tree []history.Run, resumed map[event.RunID][]store.Resumption) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s: %s\n", info.ID, oneLine(info.Title))
	fmt.Fprintf(&b, "%s, %s to %s, %s\n", info.Status, info.Created.Local().Format("2006-01-02 15:04"),
		info.Updated.Local().Format("2006-01-02 15:04"), costOf(info.Usage))
	for _, root := range info.Roots {
		fmt.Fprintf(&b, "on %s\n", oneLine(root))
	}
	if info.OpenHunks > 0 {
		fmt.Fprintf(&b, "%s for you\n", waits(info.OpenHunks))
	}
	if info.Summary != "" {
		fmt.Fprintf(&b, "\n%s\n", visible(info.Summary))
	}
	b.WriteByte('\n')
	children := map[event.RunID][]history.Run{}
	known := map[event.RunID]bool{}
	for _, r := range tree {
		parent := r.Parent
		if !known[parent] {
			parent = ""
		}
		known[r.ID] = true
		children[parent] = append(children[parent], r)
	}
	var rows strings.Builder
	var write func(of event.RunID, before string)
	write = func(of event.RunID, before string) {
		for _, r := range children[of] {
			outcome := cmp.Or(string(r.Outcome), string(r.Status))
			if r.Reason != "" && r.Reason != outcome {
				outcome += ": " + oneLine(r.Reason)
			}
			made, said := "", oneLine(r.Title)
			if len(r.Files) > 0 {
				made = count(len(r.Files), "file")
			}
			if r.Message != "" && r.Status.Final() && r.Depth > 0 {
				said += ": " + oneLine(r.Message)
			}
			if r.Resumes != "" {
				outcome += ", resumes " + string(r.Resumes)
			}
			for _, later := range resumed[r.ID] {
				outcome += ", resumed by " + string(later.Run)
				if later.Session != info.ID {
					outcome += " of " + string(later.Session)
				}
			}
			fmt.Fprintf(&rows, "%s%s\t%s\t%s\t%s\t%s\t%s\n",
				before, r.ID, oneLine(r.Agent), count(r.Turns, "turn"), made, outcome, said)
			write(r.ID, before+"  ")
		}
	}
	write("", "")
	return b.String() + inColumns(rows.String())
}

// waits says how many edits wait for the user.
func waits(n int) string {
	if n == 1 {
		return "1 proposed edit waits"
	}
	return fmt.Sprintf("%d proposed edits wait", n)
}

// showRun prints the conversation of a run.
func (o *console) showRun(ctx context.Context, engine *agentcore.Engine, run event.RunID, asJSON bool) error {
	if !asJSON {
		var text strings.Builder
		err := engine.History().TranscriptMarkdown(ctx, run, &text)
		if fault.Is(err, fault.NotFound) {
			return unknownSession(string(run))
		}
		if err != nil {
			return err
		}
		return o.print(visible(text.String()))
	}
	messages, _, err := engine.History().Transcript(ctx, run, "", 0)
	if fault.Is(err, fault.NotFound) {
		return unknownSession(string(run))
	}
	if err != nil {
		return err
	}
	report := transcriptReport{Run: run, Messages: []messageReport{}}
	for _, m := range messages {
		shown := messageReport{
			ID: m.ID, Parent: m.Parent, Run: m.Run, Role: string(m.Role), Time: m.Time, Text: m.Text,
			Compacted: m.Summary, Reasoning: m.Reasoning, Model: m.Model,
		}
		if m.Model != "" {
			shown.Usage = &m.Usage
		}
		for _, c := range m.Calls {
			shown.Calls = append(shown.Calls, callReport{
				c.ID, c.Tool, c.Arguments, c.Status, c.ExitCode, c.Output,
				c.Duration.Milliseconds(), c.Child,
			})
		}
		report.Messages = append(report.Messages, shown)
	}
	return o.printJSON(report)
}

func sessionsDeleteCommand(p *process, s *settings) *cobra.Command {
	var older string
	var asJSON bool
	c := &cobra.Command{
		Use:   "delete [--older-than AGE] [SESSION...]",
		Short: "Delete sessions with all that is under them, and wipe their text",
		Long: `Delete sessions and all that belongs to them: runs, conversations, findings, proposed edits, and the files of
their runs in the state folder. The text is overwritten in the database. A session that an editor or another command
has open is not deleted.`,
		Example: `  agentls sessions delete s06gztwbxd6zemeez8z
  agentls sessions delete --older-than 30d`,
		RunE: func(c *cobra.Command, args []string) error {
			age, err := parseAge(older)
			if err != nil {
				return err
			}
			if (older == "") == (len(args) == 0) {
				return usage("name the sessions to delete, or say --older-than 30d; see `agentls sessions list --all`")
			}
			return p.withEngine(c.Context(), s, p.dir, func(engine *agentcore.Engine) error {
				deleted, failed := []event.SessionID{}, []error{}
				if older != "" {
					if deleted, err = engine.Retention().DeleteOlder(c.Context(), time.Now().Add(-age)); err != nil {
						failed = append(failed, err)
					}
				}
				for _, id := range args {
					err := engine.Retention().Delete(c.Context(), event.SessionID(id))
					switch {
					case fault.Is(err, fault.NotFound):
						failed = append(failed,
							fmt.Errorf("there is no session %q; see `agentls sessions list --all`", id))
					case err != nil:
						failed = append(failed, err)
					default:
						deleted = append(deleted, event.SessionID(id))
					}
				}
				if asJSON {
					err = p.printJSON(struct {
						Deleted []event.SessionID `json:"deleted"`
					}{deleted})
				} else {
					err = p.print(count(len(deleted), "session") + " deleted\n")
				}
				if len(failed) > 0 && err == nil {
					return &exitError{exitUsage, errors.Join(failed...)}
				}
				return err
			})
		},
	}
	c.Flags().StringVar(&older, "older-than", "",
		"delete the finished sessions that were last used longer ago than this `age`, such as 30d or 12h")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// parseAge reads a time such as 30d, 2w or 12h; an empty one is 0.
func parseAge(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	for suffix, unit := range map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour} {
		if number, ok := strings.CutSuffix(text, suffix); ok {
			n, err := strconv.Atoi(number)
			if err == nil && n >= 0 && n < 100_000/int(unit/(24*time.Hour)) {
				return time.Duration(n) * unit, nil
			}
		}
	}
	age, err := time.ParseDuration(text)
	if err != nil || age < 0 {
		return 0, usage("%q is no age; write --older-than 30d, 2w or 12h", text)
	}
	return age, nil
}

// resumeHelp describes `agentls sessions resume`.
const resumeHelp = `Go on with a run that has ended, as a new run that knows its conversation. Nothing that had an effect is done
again. Without a PROMPT the agent goes on where it left off.

A RUN is exactly the one that you name. Of a SESSION it is the latest run, and --last takes the session on the current
folder that was last used. The workspace folder is that of the session, unless --root names another.

Edits that the former run proposed, and that nobody has decided on, are still proposed: --write writes them with the new
ones.

` + formatHelp + `

` + runExits

func sessionsResumeCommand(p *process, s *settings) *cobra.Command {
	f := &workFlags{settings: s}
	var last bool
	var named string
	c := &cobra.Command{
		Use:   "resume {SESSION|RUN|--last} [PROMPT]",
		Short: "Go on with a run that has ended, or with the latest one of a session",
		Long:  resumeHelp,
		Example: `  agentls sessions resume s06gztwbxd6zemeez8z
  agentls sessions resume r06gztwbxfkd3ntmnvr "Now write the tests."
  agentls sessions resume --last --write`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case last && len(args) > 1:
				return usage("--last names the session; write `agentls sessions resume --last \"PROMPT\"`")
			case !last && (len(args) == 0 || len(args) > 2):
				return usage(
					"name one session or run, or --last, and then at most one prompt; write `agentls sessions resume " +
						"SESSION \"PROMPT\"`")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			j := job{}
			if !last {
				named, args = args[0], args[1:]
			}
			if len(args) > 0 {
				j.prompt = strings.TrimSpace(args[0])
			}
			err := p.withEngine(c.Context(), s, p.dir, func(engine *agentcore.Engine) (err error) {
				if last {
					if named, err = p.lastSession(c.Context(), engine); err != nil {
						return err
					}
				}
				return p.goOn(c.Context(), engine, named, f, &j)
			})
			if err != nil {
				return err
			}
			return p.work(c.Context(), f, j)
		},
	}
	f.add(c, "never")
	c.Flags().BoolVar(&last, "last", false, "go on with the session on the current folder that was last used")
	return c
}

// goOn makes a job go on with a session or run, on the folder of that one unless another is named.
func (p *process) goOn(ctx context.Context, engine *agentcore.Engine, named string, f *workFlags, j *job) error {
	info, run, err := p.resumable(ctx, engine, named, f.quiet)
	if err != nil {
		return err
	}
	j.resume, j.agent = run.ID, run.Agent
	if j.prompt == "" {
		j.title = info.Title // this title does not say that the job goes on with it
	}
	if f.root == "" && len(info.Roots) > 0 {
		f.root = info.Roots[0]
	}
	return nil
}

// here are the folders whose sessions are meant where none is named: the current folder and the top of its git
// repository.
func (v *environment) here() []string {
	roots := []string{v.dir}
	if top := git.Top(v.dir); top != "" && top != v.dir {
		roots = append(roots, top)
	}
	return roots
}

// lastSession is the session on the current folder that was last used.
func (v *environment) lastSession(ctx context.Context, engine *agentcore.Engine) (string, error) {
	sessions, _, err := engine.History().Sessions(ctx, history.Filter{Roots: v.here(), Limit: 1})
	if err != nil {
		return "", err
	}
	if len(sessions) == 0 {
		return "",
			usage("nothing has run on this folder; `agentls sessions list --all` lists the sessions on other folders")
	}
	return string(sessions[0].ID), nil
}

// resumable finds a run by its id or, for a session, its latest root run that the user has not gone back behind, or the
// run that has gone on with that one since. Unless quiet, it says which run that is.
func (o *console) resumable(ctx context.Context, engine *agentcore.Engine, id string,
	quiet bool,
) (history.Session, history.Run, error) {
	info, run, err := findRun(ctx, engine, id)
	if err != nil {
		return info, run, err
	}
	named := string(run.ID) == id
	if run.Rewound {
		text := fmt.Sprintf("the run %s was gone back behind; this goes on with it all the same", run.ID)
		if !named {
			before, err := standing(ctx, engine, run)
			if err != nil {
				return info, run, err
			}
			text = fmt.Sprintf("the run %s was gone back behind; this goes on with the run %s, which was before it",
				run.ID, before)
			if info, run, err = findRun(ctx, engine, string(before)); err != nil {
				return info, run, err
			}
		}
		if !quiet {
			o.tell(text)
		}
	}
	last, err := goneOn(ctx, engine, run)
	if err != nil || last.Run == run.ID {
		return info, run, err
	}
	text := fmt.Sprintf("%s was gone on with before; this goes on with the run %s of %s, which that came to", id,
		last.Run, last.Session)
	if named {
		text = fmt.Sprintf(
			"the run %s was gone on with before; `agentls sessions resume %s` goes on with what that came to", id,
			last.Run)
	}
	if !quiet {
		o.tell(text)
	}
	if named {
		return info, run, nil
	}
	return findRun(ctx, engine, string(last.Run))
}

// standing is what a conversation goes on with whose last run the user has gone back behind: the run before that, or
// else the latest other one of the session that stands.
func standing(ctx context.Context, engine *agentcore.Engine, latest history.Run) (event.RunID, error) {
	for run := latest.ID; ; {
		_, before, err := engine.History().Line(ctx, run)
		if err != nil {
			return "", err
		}
		if before == "" {
			break
		}
		row, err := engine.History().Run(ctx, before)
		if err != nil || !row.Rewound {
			return before, err
		}
		run = before
	}
	_, tree, err := engine.History().Tree(ctx, latest.Session)
	if err != nil {
		return "", err
	}
	for _, run := range slices.Backward(tree) {
		if run.Parent == "" && !run.Rewound {
			return run.ID, nil
		}
	}
	return "", usage("the run %s was gone back behind, and nothing was before it; begin anew with "+
		"`agentls run PROMPT`, or name another session, as `agentls sessions list` shows them", latest.ID)
}

// goneOn is the newest run in a chain in which the user went on with a run; it is the run itself where the user has
// not. What the user has gone back behind is left out.
func goneOn(ctx context.Context, engine *agentcore.Engine, run history.Run) (store.Resumption, error) {
	last := store.Resumption{Run: run.ID, Session: run.Session}
	for seen := map[event.RunID]bool{}; !seen[last.Run]; {
		seen[last.Run] = true
		all, err := engine.History().Resumptions(ctx, last.Session)
		if err != nil {
			return last, err
		}
		for _, later := range all[last.Run] {
			if later.Root && !later.Rewound && !seen[later.Run] {
				last = later
			}
		}
	}
	return last, nil
}

// findRun finds a run by its id, or the latest root run of a session, and the session.
func findRun(ctx context.Context, engine *agentcore.Engine, id string) (history.Session, history.Run, error) {
	session := event.SessionID(id)
	if row, err := engine.History().Run(ctx, event.RunID(id)); err == nil {
		session = row.Session
	}
	info, tree, err := engine.History().Tree(ctx, session)
	if fault.Is(err, fault.NotFound) {
		err = unknownSession(id)
	}
	if err != nil {
		return info, history.Run{}, err
	}
	var found history.Run
	for _, r := range tree {
		if string(r.ID) == id || string(session) == id && r.Parent == "" {
			found = r
		}
	}
	if found.ID == "" {
		return info, found, unknownSession(id)
	}
	return info, found, nil
}
