package methods

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/schema"
)

// documented is a server that answers with the examples of PROTOCOL.md and keeps the params.
type documented struct {
	t        *testing.T
	examples map[string]example
	params   any
	err      error
}

type example struct{ params, result json.RawMessage }

func answer[R any](d *documented, name string, params any) (*R, error) {
	d.t.Helper()
	d.params = params
	if d.err != nil {
		return nil, d.err
	}
	result := new(R)
	if err := Decode(d.examples[name].result, result); err != nil {
		d.t.Errorf("the documented result of %s: %v", name, err)
	}
	return result, nil
}

func (d *documented) ListAgents(_ context.Context, p *ListAgentsParams) (*AgentList, error) {
	return answer[AgentList](d, MethodListAgents, p)
}

func (d *documented) GetAgent(_ context.Context, p *AgentParams) (*AgentDefinition, error) {
	return answer[AgentDefinition](d, MethodGetAgent, p)
}

func (d *documented) RegisterAgent(_ context.Context, p *RegisterAgentParams) (*RegisterAgentResult, error) {
	return answer[RegisterAgentResult](d, MethodRegisterAgent, p)
}

func (d *documented) UpdateAgent(_ context.Context, p *UpdateAgentParams) (*RegisterAgentResult, error) {
	return answer[RegisterAgentResult](d, MethodUpdateAgent, p)
}

func (d *documented) UnregisterAgent(_ context.Context, p *AgentParams) error {
	d.params = p
	return d.err
}

func (d *documented) CheckAgent(_ context.Context, p *CheckAgentParams) (*AgentProblems, error) {
	return answer[AgentProblems](d, MethodCheckAgent, p)
}

func (d *documented) Run(_ context.Context, p *RunParams) (*RunStarted, error) {
	return answer[RunStarted](d, MethodRun, p)
}

func (d *documented) Wait(_ context.Context, p *WaitParams) (*event.RunResult, error) {
	return answer[event.RunResult](d, MethodWait, p)
}

func (d *documented) Cancel(_ context.Context, p *CancelParams) error {
	d.params = p
	return d.err
}

func (d *documented) Steer(_ context.Context, p *SteerParams) error {
	d.params = p
	return d.err
}

func (d *documented) Resume(_ context.Context, p *ResumeParams) (*RunStarted, error) {
	return answer[RunStarted](d, MethodResume, p)
}

func (d *documented) Sessions(_ context.Context, p *SessionsParams) (*SessionList, error) {
	return answer[SessionList](d, MethodSessions, p)
}

func (d *documented) Session(_ context.Context, p *SessionParams) (*SessionDetail, error) {
	return answer[SessionDetail](d, MethodSession, p)
}

func (d *documented) ExportSession(_ context.Context, p *ExportSessionParams) (*SessionExport, error) {
	return answer[SessionExport](d, MethodExportSession, p)
}

func (d *documented) ForkSession(_ context.Context, p *ForkSessionParams) (*SessionForked, error) {
	return answer[SessionForked](d, MethodForkSession, p)
}

func (d *documented) Transcript(_ context.Context, p *TranscriptParams) (*Transcript, error) {
	return answer[Transcript](d, MethodTranscript, p)
}

func (d *documented) DeleteSession(_ context.Context, p *SessionParams) error {
	d.params = p
	return d.err
}

func (d *documented) Subscribe(_ context.Context, p *SubscribeParams) (*SubscribeResult, error) {
	return answer[SubscribeResult](d, MethodSubscribe, p)
}

func (d *documented) Proposals(_ context.Context, p *ProposalsParams) (*ProposalList, error) {
	return answer[ProposalList](d, MethodProposals, p)
}

func (d *documented) AcceptProposal(_ context.Context, p *AcceptParams) (*AcceptResult, error) {
	return answer[AcceptResult](d, MethodAcceptProposal, p)
}

func (d *documented) Undo(_ context.Context, p *UndoParams) (*AcceptResult, error) {
	return answer[AcceptResult](d, MethodUndo, p)
}

func (d *documented) Conversation(_ context.Context, p *ConversationParams) (*Conversation, error) {
	return answer[Conversation](d, MethodConversation, p)
}

func (d *documented) SendPrompt(_ context.Context, p *SendPromptParams) (*SentPrompt, error) {
	return answer[SentPrompt](d, MethodSendPrompt, p)
}

func (d *documented) RewindConversation(_ context.Context, p *RewindConversationParams) (*RewindResult, error) {
	return answer[RewindResult](d, MethodRewindConversation, p)
}

func (d *documented) Restore(_ context.Context, p *RestoreParams) (*RestoreResult, error) {
	return answer[RestoreResult](d, MethodRestore, p)
}

func (d *documented) Rewind(_ context.Context, p *RewindParams) (*RewindResult, error) {
	return answer[RewindResult](d, MethodRewind, p)
}

func (d *documented) RejectProposal(_ context.Context, p *ProposalParams) (*RejectResult, error) {
	return answer[RejectResult](d, MethodRejectProposal, p)
}

func (d *documented) DiffProposal(_ context.Context, p *ProposalParams) (*ProposalDiff, error) {
	return answer[ProposalDiff](d, MethodDiffProposal, p)
}

func (d *documented) MCP(_ context.Context, p *NoParams) (*MCPList, error) {
	return answer[MCPList](d, MethodMCP, p)
}

func (d *documented) Trust(_ context.Context, p *TrustParams) (*TrustResult, error) {
	return answer[TrustResult](d, MethodTrust, p)
}

func (d *documented) Skills(_ context.Context, p *SkillsParams) (*SkillList, error) {
	return answer[SkillList](d, MethodSkills, p)
}

func (d *documented) Prompts(_ context.Context, p *PromptsParams) (*PromptList, error) {
	return answer[PromptList](d, MethodPrompts, p)
}

func (d *documented) Expand(_ context.Context, p *ExpandParams) (*Expansion, error) {
	return answer[Expansion](d, MethodExpand, p)
}

func (d *documented) Usage(_ context.Context, p *UsageParams) (*UsageReport, error) {
	return answer[UsageReport](d, MethodUsage, p)
}

func (d *documented) Asks(_ context.Context, p *AsksParams) (*AskList, error) {
	return answer[AskList](d, MethodAsks, p)
}

func (d *documented) AnswerAsk(_ context.Context, p *AnswerAskParams) error {
	d.params = p
	return d.err
}

func (d *documented) Grants(_ context.Context, p *GrantsParams) (*GrantList, error) {
	return answer[GrantList](d, MethodGrants, p)
}

func (d *documented) Revoke(_ context.Context, p *RevokeParams) error {
	d.params = p
	return d.err
}

func (d *documented) Explain(_ context.Context, p *ExplainParams) (*Explanation, error) {
	return answer[Explanation](d, MethodExplain, p)
}

func (d *documented) Models(_ context.Context, p *ModelsParams) (*ModelList, error) {
	return answer[ModelList](d, MethodModels, p)
}

func (d *documented) LendModels(_ context.Context, p *LendModelsParams) error {
	d.params = p
	return d.err
}

func (d *documented) Review(_ context.Context, p *ReviewParams) (*RunStarted, error) {
	return answer[RunStarted](d, CommandReview, p)
}

func (d *documented) ExplainCode(_ context.Context, p *ExplainCodeParams) (*RunStarted, error) {
	return answer[RunStarted](d, CommandExplainCode, p)
}

func (d *documented) Rewrite(_ context.Context, p *CodeTaskParams) (*RunStarted, error) {
	return answer[RunStarted](d, CommandRewrite, p)
}

func (d *documented) WriteTests(_ context.Context, p *CodeTaskParams) (*RunStarted, error) {
	return answer[RunStarted](d, CommandWriteTests, p)
}

func (d *documented) Remember(_ context.Context, p *RememberParams) (*RunStarted, error) {
	return answer[RunStarted](d, CommandRemember, p)
}

func (d *documented) PlanChange(_ context.Context, p *CodeTaskParams) (*RunStarted, error) {
	return answer[RunStarted](d, CommandPlanChange, p)
}

func (d *documented) Delegate(_ context.Context, p *DelegateParams) (*RunStarted, error) {
	return answer[RunStarted](d, CommandDelegate, p)
}

func (d *documented) RunComment(_ context.Context, p *RequestParams) (*RunStarted, error) {
	return answer[RunStarted](d, CommandRunComment, p)
}

func (d *documented) Fix(_ context.Context, p *FixParams) (*RunStarted, error) {
	return answer[RunStarted](d, CommandFix, p)
}

func (d *documented) OtherFiles(_ context.Context, p *OtherFilesParams) (*OtherFilesResult, error) {
	return answer[OtherFilesResult](d, CommandOtherFiles, p)
}

func (d *documented) Interrupted(_ context.Context, p *NoParams) (*InterruptedResult, error) {
	return answer[InterruptedResult](d, CommandInterrupted, p)
}

func (d *documented) More(_ context.Context, p *MoreParams) (*MoreResult, error) {
	return answer[MoreResult](d, CommandMore, p)
}

var (
	section = regexp.MustCompile("(?s)### `([^`]+)`\n(.*?)(?:\n##|$)")
	block   = regexp.MustCompile("(?s)(Example|Its result):\n\n```json\n(.*?)```")
)

// readExamples returns the examples of PROTOCOL.md by method and command.
func readExamples(t *testing.T) map[string]example {
	t.Helper()
	examples := map[string]example{}
	for rest := schema.Protocol; ; {
		at := section.FindStringSubmatchIndex(rest)
		if at == nil {
			break
		}
		name, body := rest[at[2]:at[3]], rest[at[4]:at[5]]
		rest = rest[at[5]:]
		var e example
		for _, b := range block.FindAllStringSubmatch(body, -1) {
			if b[1] == "Its result" {
				e.result = json.RawMessage(b[2])
				continue
			}
			var message struct {
				Params json.RawMessage `json:"params"`
			}
			if err := json.Unmarshal([]byte(b[2]), &message); err != nil {
				t.Fatalf("the example of %s: %v", name, err)
			}
			e.params = message.Params
		}
		examples[name] = e
	}
	return examples
}

func TestDocumentedExamplesPassDispatch(t *testing.T) {
	d := &documented{t: t, examples: readExamples(t)}
	served := 0
	for name, e := range d.examples {
		if !strings.HasPrefix(name, "agent/") {
			continue
		}
		result, handled, err := Dispatch(t.Context(), d, name, e.params)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !handled {
			continue
		}
		served++
		sameJSON(t, name+" params", e.params, d.params)
		if e.result != nil {
			sameJSON(t, name+" result", e.result, result)
		} else if result != nil {
			t.Errorf("%s has the result %v", name, result)
		}
	}
	if served < 32 {
		t.Errorf("%d documented methods are served", served)
	}
}

func TestCommandsTakeTheDispatchOfMethods(t *testing.T) {
	d := &documented{t: t, examples: readExamples(t)}
	for _, command := range Commands() {
		e, name := d.examples[command], command
		if method := CommandMethod(command); method != "" {
			e, name = d.examples[method], method
		} else {
			var execute struct {
				Arguments []json.RawMessage `json:"arguments"`
			}
			if err := json.Unmarshal(e.params, &execute); err != nil || len(execute.Arguments) != 1 {
				t.Errorf("the example of %s has not one argument (%v)", command, err)
				continue
			}
			e.params = execute.Arguments[0]
		}
		result, handled, err := DispatchCommand(t.Context(), d, command, []protocol.LSPAny{protocol.LSPAny(e.params)})
		if err != nil || !handled {
			t.Errorf("%s: handled %v, error %v", command, handled, err)
			continue
		}
		sameJSON(t, name+" params", e.params, d.params)
		if e.result != nil {
			sameJSON(t, name+" result", e.result, result)
		}
	}
	for _, command := range []string{"agentls.nothing", "editor.save", "agent/run", ""} {
		if _, handled, err := DispatchCommand(t.Context(), d, command, []json.RawMessage{}); handled || err != nil {
			t.Errorf("%q: handled %v, error %v", command, handled, err)
		}
	}
}

func TestArgumentsOfCommands(t *testing.T) {
	d := &documented{t: t, examples: readExamples(t)}
	for name, test := range map[string]struct {
		arguments []json.RawMessage
		path      string
	}{
		"none":      {nil, "arguments[0].prompt"},
		"no object": {[]json.RawMessage{[]byte(`"x"`)}, "arguments[0]"},
		"two":       {[]json.RawMessage{[]byte(`{"prompt":"x"}`), []byte(`{}`)}, "arguments"},
		"a member":  {[]json.RawMessage{[]byte(`{"prompt":"x","context":{"uri":5}}`)}, "arguments[0].context.uri"},
	} {
		_, handled, err := DispatchCommand(t.Context(), d, CommandRun, test.arguments)
		var params *ParamsError
		if !handled || !errors.As(err, &params) || params.Path != test.path {
			t.Errorf("%s: handled %v, error %v", name, handled, err)
		}
	}
}

// A client that offers commands by name alone sends no argument: the server then takes the document
// that was last touched.
func TestReviewNeedsNoArgument(t *testing.T) {
	for _, arguments := range [][]json.RawMessage{nil, {[]byte(`{}`)}, {[]byte(`null`)}} {
		d := &documented{t: t, examples: readExamples(t)}
		result, handled, err := DispatchCommand(t.Context(), d, CommandReview, arguments)
		if result == nil || !handled || err != nil {
			t.Errorf("%s: %v, handled %v, error %v", arguments, result, handled, err)
		}
		if diff := cmp.Diff(any(&ReviewParams{}), d.params); diff != "" {
			t.Errorf("%s (-want +got):\n%s", arguments, diff)
		}
	}
}

func TestErrorsOfTheServerPass(t *testing.T) {
	d := &documented{t: t, examples: readExamples(t), err: errors.New("no such run")}
	for _, method := range []string{MethodWait, MethodCancel} {
		result, handled, err := Dispatch(t.Context(), d, method, []byte(`{"run":"r1"}`))
		if result != nil || !handled || !errors.Is(err, d.err) {
			t.Errorf("%s: %v, %v, %v", method, result, handled, err)
		}
	}
	arguments := []json.RawMessage{[]byte(`{"run":"r1"}`)}
	if _, _, err := DispatchCommand(t.Context(), d, CommandCancel, arguments); !errors.Is(err, d.err) {
		t.Errorf("the command's error is %v", err)
	}
}

// client answers the server's requests with the examples of PROTOCOL.md.
type client struct {
	answer json.RawMessage
	method string
	params any
	err    error
}

func (c *client) Call(_ context.Context, method string, params, result any) error {
	c.method, c.params = method, params
	if c.err != nil {
		return c.err
	}
	return json.Unmarshal(c.answer, result)
}

func (c *client) Notify(_ context.Context, method string, params any) error {
	c.method, c.params = method, params
	return c.err
}

// send decodes the documented params, sends them and compares both ways.
func send[P, R any](t *testing.T, examples map[string]example, method string,
	sender func(Client, context.Context, *P) (*R, error),
) {
	t.Helper()
	e := examples[method]
	params := new(P)
	if err := Decode(e.params, params); err != nil {
		t.Errorf("%s: %v", method, err)
		return
	}
	conn := &client{answer: e.result}
	result, err := sender(Client{conn}, t.Context(), params)
	if err != nil || conn.method != method {
		t.Errorf("%s was sent as %s: %v", method, conn.method, err)
		return
	}
	sameJSON(t, method+" params", e.params, conn.params)
	sameJSON(t, method+" result", e.result, result)
	conn.answer = json.RawMessage(`"nonsense"`)
	var wrong *ParamsError
	if _, err := sender(Client{conn}, t.Context(), params); !errors.As(err, &wrong) {
		t.Errorf("%s: an answer that is a string gives %v", method, err)
	}
	conn.err = context.Canceled
	if _, err := sender(Client{conn}, t.Context(), params); !errors.Is(err, context.Canceled) {
		t.Errorf("%s: a cancelled call gives %v", method, err)
	}
}

func TestClient(t *testing.T) {
	examples := readExamples(t)
	send(t, examples, MethodAsk, Client.Ask)
	send(t, examples, MethodQuestion, Client.Question)
	send(t, examples, MethodGenerate, Client.Generate)
	send(t, examples, MethodDiagnostics, Client.Diagnostics)
	send(t, examples, MethodSymbols, Client.Symbols)

	null := &client{answer: json.RawMessage("null")}
	if result, err := (Client{null}).Ask(t.Context(), &Ask{}); result != nil || err != nil {
		t.Errorf("null for an ask gives %v, %v", result, err)
	}
	if _, err := (Client{null}).Symbols(t.Context(), &SymbolsParams{}); err == nil {
		t.Error("null for symbols is no error")
	}

	conn := &client{}
	var e event.Event
	if err := json.Unmarshal(examples[MethodEvent].params, &e); err != nil {
		t.Fatal(err)
	}
	if err := (Client{conn}).Event(t.Context(), &e); err != nil || conn.method != MethodEvent {
		t.Errorf("%s: %v", conn.method, err)
	}
	sameJSON(t, "agent/event", examples[MethodEvent].params, conn.params)
	status := &StatusParams{Health: HealthOK, Quiescent: true}
	if err := (Client{conn}).Status(t.Context(), status); err != nil || conn.method != MethodStatus {
		t.Errorf("%s: %v", conn.method, err)
	}
	sameJSON(t, "agent/status", []byte(`{"health":"ok","quiescent":true}`), conn.params)
}

func TestNilListsAreEmpty(t *testing.T) {
	for _, test := range []struct {
		value any
		want  string
	}{
		{&AcceptResult{}, `{"applied":[],"failed":[]}`},
		{
			&ProposalList{Proposals: []Proposal{{Files: []ProposalFile{{}}}}},
			`{"proposals":[{"id":"","session":"","run":"","agent":"","title":"","state":"","files":[{"uri":"","state":"","hunks":[]}]}],"undoable":[]}`,
		},
	} {
		sameJSON(t, "nil lists", []byte(test.want), test.value)
	}
	if _, err := json.Marshal(&AgentDefinition{Subagents: []string{}}); err != nil {
		t.Fatal(err)
	}
	raw, err := protocol.Marshal(&AgentDefinition{Subagents: []string{}})
	if err != nil || !strings.Contains(string(raw), `"subagents":[]`) {
		t.Errorf("an empty list of subagents is lost: %s, %v", raw, err)
	}
}

func TestCommandsAreSorted(t *testing.T) {
	commands := Commands()
	slices.Sort(commands)
	if n := len(slices.Compact(slices.Clone(commands))); n != len(commands) || n < 35 {
		t.Errorf("the commands are %v", commands)
	}
}

// sameJSON compares a document with a value, as both encoders write it that are in use.
func sameJSON(t *testing.T, what string, want []byte, value any) {
	t.Helper()
	for name, marshal := range map[string]func(any) ([]byte, error){
		"encoding/json": json.Marshal, "protocol": protocol.Marshal,
	} {
		got, err := marshal(value)
		if err != nil {
			t.Errorf("%s: encode with %s: %v", what, name, err)
			continue
		}
		if diff := cmp.Diff(parse(t, want), parse(t, got)); diff != "" {
			t.Errorf("%s changed on its way through Go (-want +got by %s):\n%s", what, name, diff)
		}
	}
}

func parse(t *testing.T, raw []byte) any {
	t.Helper()
	var out any
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	return out
}
