package tool

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/agentls/agentls/agentcore/event"
)

// Effect says what a call may change, and so whether it may run beside others, and whether its intent
// must be durable before it starts.
type Effect int

// The effects, from none to most.
const (
	// Reads changes nothing, here or elsewhere; several run in parallel.
	Reads Effect = iota
	// Fetches changes nothing either, but reaches the network; several run in parallel.
	Fetches
	// Delegates starts or follows other runs, which have rules of their own; several run in parallel.
	Delegates
	// Notes changes only the run's own records: findings, todos.
	Notes
	// Proposes changes the run's layer of proposed edits.
	Proposes
	// Asks changes a setting of the user's, and asks the user itself for the very change, whatever was granted.
	Asks
	// Acts changes something outside.
	Acts
	// Executes changes what a command line changes.
	Executes
)

var effectNames = [...]string{"reads", "fetches", "delegates", "notes", "proposes", "asks", "acts", "executes"}

// String is the effect's name in the store.
func (e Effect) String() string {
	return effectNames[e]
}

// Parallel reports whether such calls run beside others of one turn.
func (e Effect) Parallel() bool { return e <= Delegates }

// Outside reports whether such a call changes something that neither the store nor the workspace's layers hold, so that
// its intent must be durable before it starts.
func (e Effect) Outside() bool { return e >= Asks }

// LeavesDoubt reports whether nothing but looking tells what came of a call that was cut off, by the effect's name in
// the store.
func LeavesDoubt(effect string) bool {
	e := Effect(slices.Index(effectNames[:], effect))
	return e == Delegates || e.Outside()
}

// Spec describes a tool.
type Spec struct {
	// Name is canonical, lower-case with underscores.
	Name string
	// Description is for the model: when to use it and what it answers, in a few short sentences.
	Description string
	// Schema is the JSON Schema of the arguments.
	Schema json.RawMessage
	Effect Effect
	// With is the tool that this one belongs to, and comes and goes with; empty for none.
	With string
	// Needs is what there must be for a run to have a use for the tool.
	Needs Need
	// Subject is what rules speak of where they speak of its calls.
	Subject Subject
	// User says that it speaks with the user, which no child does.
	User bool
	// Plan says that its call hands over a plan.
	Plan bool
	// Private says that it changes only what the run itself keeps, or starts runs that have rules of their own, so that
	// a run that plans has it, too, though it does more than read.
	Private bool
}

// Need is what there must be for a run to have a use for a tool.
type Need int

// The needs.
const (
	Nothing Need = iota
	// Subagents that the run may start; the engine tells the model in the tool's description which.
	Subagents
	// Engine is one that searches the web.
	Engine
	// Skills that the run may load.
	Skills
	// Naming in the definition of the agent: nobody else's requests carry the tool.
	Naming
)

// Tool is one capability. Implementations are stateless and safe for concurrent use; what belongs to
// a run comes in through the Host.
type Tool interface {
	Spec() Spec
	// Title is the call in one line for people, such as "read main.go". Arguments may be broken.
	Title(arguments json.RawMessage) string
	// Decode makes a call of arguments that fit the schema; members that are missing all the same are zero. Those who
	// have a model's arguments use [Parse].
	Decode(arguments json.RawMessage) (Call, error)
}

// Call is one call of a tool, decoded once: what people, permissions, hooks and the tool itself see of it is the same
// value.
type Call struct {
	// Title is that of the tool for these arguments.
	Title string
	// Arguments are in the tool's own words.
	Arguments json.RawMessage
	// Access is what the call reaches for. Nil means that the tool does not declare it: such a call is denied.
	Access *Access
	// Run carries out the call. An error is the answer to the model, which sees "error: " and the text: say what
	// happened and what to do instead. It stops soon after ctx ends and then returns ctx's error.
	Run func(ctx context.Context, host Host) (Result, error)
}

// Result is a call's answer.
type Result struct {
	// Text goes to the model.
	Text string
	// Summary is one short line for people, such as "212 lines".
	Summary string
	// Paths are the files that the call was about, absolute, for inline status.
	Paths []string
	// Images go to the model beside the text, where it sees; the text says what they are.
	Images []Image
	// ExitCode is that of the command that the call ran to its end, or saw the end of; nil for none.
	ExitCode *int
	// Failed says that what the call had done by others failed, although the call itself came to its end: its status is
	// that of an error. The text then begins with "error: ".
	Failed bool
}

// Diagnostic is what the editor or a checker says about a place.
type Diagnostic struct {
	Path     string
	Span     event.Span
	Severity event.Severity
	// Source is the checker, such as "go vet"; Code is its rule, where it has one.
	Source  string
	Code    string
	Message string
	// Fix is what the checker would do, where it says so.
	Fix *Fix
}

// Fix replaces a text that occurs once in the file.
type Fix struct {
	OldString string `json:"old_string"`
	NewString string `json:"new_string"`
}

// Finding is a remark that a run wants to make.
type Finding struct {
	Path     string
	Span     event.Span
	Severity event.Severity
	Rule     string
	Message  string
	// Source is who found it; empty means the run's model.
	Source string
	Fix    *Fix
}

// Image is a picture for models that see.
type Image struct {
	// MediaType is one of image/png, image/jpeg, image/gif and image/webp, by the picture's own bytes.
	MediaType string
	// Data are the bytes of the file.
	Data []byte
	// Width and Height are in pixels.
	Width, Height int
}
