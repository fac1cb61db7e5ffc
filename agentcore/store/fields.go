package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/agentls/agentls/agentcore/event"
)

// field joins a column with the place of its value in a row type. The place is a pointer, or a codec around one.
// database/sql reads and writes through both, so that one list serves INSERT and SELECT.
type field struct {
	column string
	place  any
}

// row is implemented by pointers to row types.
type row[T any] interface {
	*T
	fields() []field
}

// table holds the statements for one row type. They are written when first needed, since most runs use few tables.
type table func() statements

type statements struct {
	insert, query string
}

// newTable returns the table of the row type T. Key is the conflict target of the insertion.
func newTable[T any, P row[T]](name, key string) table {
	return sync.OnceValue(func() statements { return newStatements[T, P](name, key) })
}

func newStatements[T any, P row[T]](name, key string) statements {
	var columns, marks, updates []string
	for _, f := range P(new(T)).fields() {
		columns = append(columns, f.column)
		marks = append(marks, "?")
		if _, ok := f.place.(kept); ok {
			updates = append(updates,
				fmt.Sprintf("%s = ifnull(%s.%s, excluded.%s)", f.column, name, f.column, f.column))
			continue
		}
		updates = append(updates, f.column+" = excluded."+f.column)
	}
	list := strings.Join(columns, ", ")
	return statements{
		insert: fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s) ON CONFLICT (%s) DO UPDATE SET %s",
			name, list, strings.Join(marks, ", "), key, strings.Join(updates, ", ")),
		query: fmt.Sprintf("SELECT %s FROM %s ", list, name),
	}
}

var (
	sessionTable   = newTable[Session]("session", "id")
	ownedTable     = newTable[ownedSession]("session", "id")
	runTable       = newTable[Run]("run", "id")
	ownedRunTable  = newTable[ownedRun]("run", "id")
	messageTable   = newTable[Message]("message", "id")
	toolCallTable  = newTable[ToolCall]("tool_call", "id")
	layerFileTable = newTable[LayerFile]("layer_file", "session, ifnull(run, ''), path")
	findingTable   = newTable[Finding]("finding", "id")
	proposalTable  = newTable[Proposal]("proposal", "id")
	hunkTable      = newTable[Hunk]("hunk", "id")
	agentTable     = newTable[Agent]("agent", "slug")
	promptTable    = newTable[Prompt]("prompt", "id")
)

// querier is a connection or a pool.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// selectRows reads the rows of a table; rest is what follows "SELECT … FROM table".
func selectRows[T any, P row[T]](ctx context.Context, q querier, t table, rest string, args ...any) ([]T, error) {
	rows, err := q.QueryContext(ctx, t().query+rest, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		var one T
		if err := rows.Scan(places(P(&one).fields())...); err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}

func places(fields []field) []any {
	all := make([]any, len(fields))
	for i, f := range fields {
		all[i] = f.place
	}
	return all
}

// values are the fields' values in the types of the driver. database/sql would look twice at each text whose type has a
// name of its own, and copy it each time.
func values(fields []field) []any {
	all := make([]any, len(fields))
	for i, f := range fields {
		switch p := f.place.(type) {
		case driver.Valuer:
			all[i] = p
		case *string:
			all[i] = *p
		case *int:
			all[i] = int64(*p)
		case *int64:
			all[i] = *p
		default:
			all[i] = p
			if held := reflect.ValueOf(p).Elem(); held.Kind() == reflect.String {
				all[i] = held.String()
			}
		}
	}
	return all
}

// micros keeps a time as microseconds since 1970, the zero time as NULL.
type micros struct{ time *time.Time }

func (m micros) Value() (driver.Value, error) {
	if m.time.IsZero() {
		return nil, nil
	}
	return m.time.UnixMicro(), nil
}

func (m micros) Scan(source any) error {
	switch v := source.(type) {
	case nil:
		*m.time = time.Time{}
	case int64:
		*m.time = time.UnixMicro(v).UTC()
	default:
		return fmt.Errorf("a time is %T, not an integer", source)
	}
	return nil
}

// fix stores the hunks of a finding: one as it is, several as a JSON list, none as NULL.
type fix struct{ of *Finding }

func (f fix) Value() (driver.Value, error) {
	switch {
	case len(f.of.More) > 0:
		text, err := json.Marshal(append([]event.HunkID{f.of.Hunk}, f.of.More...))
		return string(text), err
	case f.of.Hunk != "":
		return string(f.of.Hunk), nil
	}
	return nil, nil
}

func (f fix) Scan(source any) error {
	text, ok := source.(string)
	if !ok && source != nil {
		return fmt.Errorf("a fix is %T, not a text", source)
	}
	f.of.Hunk, f.of.More = event.HunkID(text), nil
	var list []event.HunkID
	if strings.HasPrefix(text, "[") && json.Unmarshal([]byte(text), &list) == nil && len(list) > 0 {
		f.of.Hunk, f.of.More = list[0], list[1:]
	}
	return nil
}

// creation is a time that a row keeps from its insertion on, whatever a later batch has.
type creation struct{ micros }

func (creation) keeps() {}

// unread is a column that is set when a run is inserted, and that only [Batch.Unreads] changes.
type unread struct{ jsonText }

func (unread) keeps() {}

// mark is a truth that is set when a row is inserted, and that rows of later batches do not change.
type mark struct{ set *bool }

func (mark) keeps() {}

func (m mark) Value() (driver.Value, error) { return *m.set, nil }

func (m mark) Scan(source any) error {
	n, ok := source.(int64)
	if !ok {
		return fmt.Errorf("a mark is %T, not a number", source)
	}
	*m.set = n != 0
	return nil
}

// kept is a column that, once set at a row's insertion, is not changed.
type kept interface{ keeps() }

// millis keeps a duration as milliseconds.
type millis struct{ duration *time.Duration }

func (m millis) Value() (driver.Value, error) { return m.duration.Milliseconds(), nil }

func (m millis) Scan(source any) error {
	v, ok := source.(int64)
	if !ok {
		return fmt.Errorf("a duration is %T, not an integer", source)
	}
	*m.duration = time.Duration(v) * time.Millisecond
	return nil
}

// jsonText keeps JSON as text, nil as NULL.
type jsonText struct{ raw *json.RawMessage }

func (j jsonText) Value() (driver.Value, error) {
	if *j.raw == nil {
		return nil, nil
	}
	return string(*j.raw), nil
}

func (j jsonText) Scan(source any) error {
	switch v := source.(type) {
	case nil:
		*j.raw = nil
	case string:
		*j.raw = json.RawMessage(v)
	default:
		return fmt.Errorf("JSON is %T, not text", source)
	}
	return nil
}

// textArray keeps a list of strings as a JSON array.
type textArray struct{ items *[]string }

func (a textArray) Value() (driver.Value, error) {
	if *a.items == nil {
		return "[]", nil
	}
	raw, err := json.Marshal(*a.items)
	return string(raw), err
}

func (a textArray) Scan(source any) error {
	text, ok := source.(string)
	if !ok {
		return fmt.Errorf("a list is %T, not text", source)
	}
	*a.items = nil
	if err := json.Unmarshal([]byte(text), a.items); err != nil {
		return fmt.Errorf("decode a list: %w", err)
	}
	if len(*a.items) == 0 {
		*a.items = nil
	}
	return nil
}

// nullText keeps an empty string as NULL.
type nullText[S ~string] struct{ text *S }

// optional marks a reference that may be empty.
func optional[S ~string](text *S) nullText[S] { return nullText[S]{text} }

func (n nullText[S]) Value() (driver.Value, error) {
	if *n.text == "" {
		return nil, nil
	}
	return string(*n.text), nil
}

func (n nullText[S]) Scan(source any) error {
	switch v := source.(type) {
	case nil:
		*n.text = ""
	case string:
		*n.text = S(v)
	default:
		return fmt.Errorf("a text is %T", source)
	}
	return nil
}
