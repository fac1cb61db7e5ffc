package provider

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/model"
)

// OfEditor is the name of the provider that stands for the models which the editor lends.
const OfEditor = "editor"

// Editor lends models. Its methods may be called from any goroutine.
type Editor interface {
	// Lends reports whether the editor lends models, and which, with the one to take by default first. If it lends but
	// the list is empty, the editor chooses the model. It never waits.
	Lends() (models []Lent, lends bool)
	// LentModel returns one of them by its id; "" lets the editor choose. Its name is "editor/ID", and "editor/default"
	// for "".
	LentModel(id string) model.Model
}

// Lent is a model that the editor lends.
type Lent struct {
	// ID is the editor's own name of it.
	ID string
	// Title is a name for people, empty where there is none.
	Title string
	// ContextTokens is how many tokens a request and its answer may have together; 0 where that is not known.
	ContextTokens int64
	// NoCalls says that the model cannot call tools, so that it is offered none.
	NoCalls bool
}

// lentModel is a model that the editor lends, by its id.
func lentModel(editor Editor, id, because string) (model.Model, error) {
	var models []Lent
	lends := false
	if editor != nil {
		models, lends = editor.Lends()
	}
	if !lends {
		return nil, &fault.Error{
			Kind: fault.NoModel, Detail: because + " asks for the editor's own model, and this editor lends no model",
			Hint: "choose another model, such as " + Offline,
		}
	}
	if len(models) == 0 {
		if id == "default" {
			id = ""
		}
		return editor.LentModel(id), nil
	}
	var ids []string
	for _, m := range models {
		ids = append(ids, m.ID)
	}
	if id == "" || id == "default" && !slices.Contains(ids, id) {
		id = ids[0]
	}
	if !slices.Contains(ids, id) {
		return nil, &fault.Error{
			Kind:   fault.UnknownModel,
			Detail: fmt.Sprintf("%s asks for the editor's model %q, which it does not lend", because, id),
			Hint:   "it lends " + strings.Join(ids, ", "),
		}
	}
	return editor.LentModel(id), nil
}
