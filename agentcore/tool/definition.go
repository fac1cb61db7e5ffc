package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

// Definition makes a Tool of A, the struct of its arguments, and F, the face of the [Host] that the tool needs. F is an
// interface that Host embeds, an interface of several of them, or any for nothing. The schema comes from A's fields:
//
//	json:"name,omitempty"       the member's name; omitempty or omitzero make it optional
//	jsonschema:"what it is"     its description, for the model
//	enum:"a,b"                  the allowed strings
//	minimum:"1"                 the least number
//	alias:"file_path,file"      other names that models use for it, accepted where unambiguous
//	hidden:"true"               accepted, but not in the schema that models get
//	synonym:"completed=done"    other strings that models use for one of the enum
type Definition[A, F any] struct {
	// Name, Description and Effect become the fields of the Spec with the same names.
	Name        string
	Description string
	Effect      Effect
	// Example is a valid call, which is shown to a model whose call was wrong.
	Example A
	// With, Needs, Subject, User, Plan and Private become the fields of the Spec with the same names.
	With    string
	Needs   Need
	Subject Subject
	User    bool
	Plan    bool
	Private bool
	// Prepare computes, once, what the functions below need from the decoded arguments; nil for nothing.
	Prepare func(*A)
	// Access is what a call reaches for. It must be set: without it, every call is denied.
	Access func(A) Access
	// Title describes a call to people. Members that could not be read are zero.
	Title func(A) string
	// Run is Call.Run.
	Run func(ctx context.Context, host F, arguments A) (Result, error)
}

// New returns the tool. The schema is inferred when it is first used, not here, so that starting the program costs
// nothing. If no schema can be inferred from the type, which is a mistake of the programmer, that first use panics.
func New[A, F any](d Definition[A, F]) Tool {
	t := &defined[A, F]{Definition: d}
	t.inferred = sync.OnceValue(t.infer)
	t.shape = sync.OnceValue(t.ready)
	return t
}

type defined[A, F any] struct {
	Definition[A, F]
	// inferred is the schema that models are shown, shape the one that calls are judged by. Both are made when needed,
	// since most runs call few of their tools.
	inferred, shape func() *shape
}

// shape is a schema in the form that Check uses.
type shape struct {
	schema *jsonschema.Schema
	// resolved judges what the walk over schema has accepted.
	resolved *jsonschema.Resolved
	raw      json.RawMessage
	example  string
	// spellings are other names of members, for the schema of an object, and other words for values, for that of an
	// enum.
	spellings map[*jsonschema.Schema]map[string]string
}

// infer makes a shape without the parts that only calls need.
func (t *defined[A, F]) infer() *shape {
	schema, err := jsonschema.For[A](nil)
	if err != nil {
		panic(fmt.Sprintf("infer the schema of the tool %s: %v", t.Name, err))
	}
	s := &shape{schema: schema, spellings: map[*jsonschema.Schema]map[string]string{}}
	s.refine(schema, reflect.TypeFor[A]())
	if s.raw, err = json.Marshal(shown(schema, reflect.TypeFor[A]())); err != nil {
		panic(fmt.Sprintf("encode the schema of the tool %s: %v", t.Name, err))
	}
	return s
}

// ready adds what calls need.
func (t *defined[A, F]) ready() *shape {
	s := t.inferred()
	var err error
	if s.resolved, err = s.schema.Resolve(nil); err != nil {
		panic(fmt.Sprintf("resolve the schema of the tool %s: %v", t.Name, err))
	}
	if s.example, err = encode(t.Example); err != nil {
		panic(fmt.Sprintf("encode the example of the tool %s: %v", t.Name, err))
	}
	return s
}

// shown is a schema as models see it. It lacks hidden members, also in the order of the schema, and what goes without
// saying: that objects have no other members, and that counts are not negative. Every request would pay for these, and
// Check tells them to a model that needs to know.
func shown(schema *jsonschema.Schema, of reflect.Type) *jsonschema.Schema {
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	visible := *schema
	visible.AdditionalProperties, visible.Minimum = nil, nil
	switch of.Kind() {
	case reflect.Slice:
		visible.Items = shown(schema.Items, of.Elem())
	case reflect.Struct:
		visible.Properties = maps.Clone(schema.Properties)
		for field := range of.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			property := visible.Properties[name]
			switch {
			case property == nil:
			case field.Tag.Get("hidden") != "":
				delete(visible.Properties, name)
				schema.PropertyOrder = slices.DeleteFunc(schema.PropertyOrder, func(s string) bool { return s == name })
			default:
				visible.Properties[name] = shown(property, field.Type)
			}
		}
		visible.PropertyOrder = schema.PropertyOrder
	}
	return &visible
}

// refine adds what cannot be inferred: enums, minima and other spellings from tags, and that an array is never null.
func (s *shape) refine(schema *jsonschema.Schema, of reflect.Type) {
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	// Models see one type for each member: an optional member is left out, never null.
	if len(schema.Types) == 2 && schema.Types[0] == "null" {
		schema.Type, schema.Types = schema.Types[1], nil
	}
	switch of.Kind() {
	case reflect.Slice:
		s.refine(schema.Items, of.Elem())
	case reflect.Struct:
		names := map[string]string{}
		for field := range of.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			member := schema.Properties[name]
			if member == nil {
				continue
			}
			for value := range tagList(field, "enum") {
				member.Enum = append(member.Enum, value)
			}
			if least, err := strconv.ParseFloat(field.Tag.Get("minimum"), 64); err == nil {
				member.Minimum = &least
			}
			for alias := range tagList(field, "alias") {
				names[alias] = name
			}
			for pair := range tagList(field, "synonym") {
				word, value, _ := strings.Cut(pair, "=")
				if s.spellings[member] == nil {
					s.spellings[member] = map[string]string{}
				}
				s.spellings[member][word] = value
			}
			s.refine(member, field.Type)
		}
		s.spellings[schema] = names
	}
}

// tagList yields the parts of a tag that is separated by commas.
func tagList(field reflect.StructField, tag string) iter.Seq[string] {
	if value := field.Tag.Get(tag); value != "" {
		return strings.SplitSeq(value, ",")
	}
	return func(func(string) bool) {}
}

// Spec implements Tool.
func (t *defined[A, F]) Spec() Spec {
	s := t.brief()
	s.Schema = t.inferred().raw
	return s
}

func (t *defined[A, F]) brief() Spec {
	return Spec{
		Name: t.Name, Description: t.Description, Effect: t.Effect, With: t.With, Needs: t.Needs,
		Subject: t.Subject, User: t.User, Plan: t.Plan, Private: t.Private,
	}
}

// Brief is the tool's Spec without the schema, so that code that only tells tools apart does not have all schemas
// inferred.
func Brief(t Tool) Spec {
	if own, ok := t.(interface{ brief() Spec }); ok {
		return own.brief()
	}
	s := t.Spec()
	s.Schema = nil
	return s
}

// titleLimit is in characters.
const titleLimit = 100

// Title implements Tool.
func (t *defined[A, F]) Title(arguments json.RawMessage) string {
	var a A
	// Broken arguments still get a title, from what could be decoded.
	_ = json.Unmarshal(arguments, &a)
	if t.Prepare != nil {
		t.Prepare(&a)
	}
	return t.titleOf(a)
}

func (t *defined[A, F]) titleOf(a A) string {
	title := t.Name
	if t.Definition.Title != nil {
		title = t.Definition.Title(a)
	}
	return clip(strings.Join(strings.Fields(title), " "), titleLimit)
}

// Decode implements Tool.
func (t *defined[A, F]) Decode(arguments json.RawMessage) (Call, error) {
	var a A
	if err := json.Unmarshal(arguments, &a); err != nil {
		return Call{}, fmt.Errorf("the arguments of %s do not fit: %w; a right call: %s", t.Name, err,
			t.shape().example)
	}
	if t.Prepare != nil {
		t.Prepare(&a)
	}
	call := Call{Title: t.titleOf(a), Arguments: arguments, Run: func(ctx context.Context, host Host) (Result, error) {
		if err := ctx.Err(); err != nil {
			return Result{}, err
		}
		face, err := faceOf[F](t.Name, host)
		if err != nil {
			return Result{}, err
		}
		return t.Run(ctx, face, a)
	}}
	if t.Access != nil {
		access := t.Access(a)
		call.Access = &access
	}
	return call, nil
}

func (t *defined[A, F]) checked() *shape { return t.shape() }

// encode is json.Marshal without escapes for HTML, which would only cost tokens.
func encode(value any) (string, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return "", err
	}
	return strings.TrimSuffix(buffer.String(), "\n"), nil
}

// clip cuts a text to limit characters, the last one an ellipsis if something is missing.
func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	count := 0
	cut := 0
	for i := range text {
		if count == limit-1 {
			cut = i
		}
		if count++; count > limit {
			return text[:cut] + "…"
		}
	}
	return text
}
