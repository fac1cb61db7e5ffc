package run

import (
	"encoding/json"
	"fmt"

	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/agentcore/tool"
)

// maxMisfits is how often a model is told that its final answer does not fit the output schema.
const maxMisfits = 2

// readSchema reads the output schema of the request, and refuses it where no answer could be held to it.
func (r *spec) readSchema() error {
	if len(r.request.OutputSchema) == 0 {
		return nil
	}
	invalid := func(detail, hint string) error {
		return &fault.Error{Kind: fault.InvalidRequest, Detail: detail, Hint: hint}
	}
	if len(r.request.Each) > 0 || r.request.iterates() {
		return invalid("an output schema is for one answer, and this run has several",
			"leave out the schema, or each and the iterations")
	}
	schema, err := tool.ReadOutputSchema(r.request.OutputSchema)
	if err != nil {
		return invalid("outputSchema cannot be used: "+err.Error(), "mend the schema")
	}
	if provider.IsOffline(r.model.Name()) {
		return invalid("the offline rules answer in words, so that no output schema can hold them",
			"choose a language model, or leave out the schema")
	}
	r.schema = schema
	return nil
}

// held takes a final answer by the output schema, where there is one. It reports false where the model was told what
// does not fit and answers again.
func (l *loop) held(answer string) bool {
	if l.schema == nil || l.misfits >= maxMisfits {
		return true
	}
	_, err := l.schema.Read(answer)
	if err == nil {
		return true
	}
	l.misfits++
	l.append(model.UserText(fmt.Sprintf("Your answer does not fit the output schema: %s. Give the whole answer again: "+
		"one JSON object that fits, and nothing else.", err)))
	return false
}

// structure puts the object of the last answer into the result of a run that has an output schema, which has failed
// without it.
func (l *loop) structure() error {
	if l.schema == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	object, err := l.schema.Read(l.lastText)
	if err == nil {
		l.result.Structured = json.RawMessage(l.redactor.Text(string(object)))
		return nil
	}
	why := ""
	if l.result.Reason != "" {
		why = fmt.Sprintf(", which its limit (%s) cut short,", l.result.Reason)
	}
	return &fault.Error{
		Kind:   fault.OutputMismatch,
		Detail: fmt.Sprintf("the last answer of %s%s does not fit the output schema: %s", l.definition.Slug, why, err),
		Hint:   "look at the answer, and make the schema simpler, or choose another model",
	}
}
