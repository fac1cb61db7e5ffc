package store

import (
	"context"
	"database/sql"
	"strings"
	"sync/atomic"

	"github.com/agentls/agentls/agentcore/event"
)

// reader reads what is stored.
type reader struct {
	path    string
	readers *sql.DB
	fixed   preparedQueries // the readers' prepared queries
	owner   *owner
	// suspect is set when SQLite reported damage, so that the next Open checks the file.
	suspect atomic.Bool
}

// runReader reads what is stored of runs: the runs, their messages and calls, and what they used.
type runReader struct{ *reader }

// one reads one row by a query with a fixed text; the error is ErrNotFound where there is none.
func one[T any, P row[T]](ctx context.Context, r *reader, t table, what, rest string, args ...any) (T, error) {
	found, err := selectRows[T, P](ctx, &r.fixed, t, rest, args...)
	if err == nil && len(found) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		var none T
		return none, r.explain("read "+what, err)
	}
	return found[0], nil
}

// many reads rows by a query with a fixed text.
func many[T any, P row[T]](ctx context.Context, r *reader, t table, what, rest string, args ...any) ([]T, error) {
	found, err := selectRows[T, P](ctx, &r.fixed, t, rest, args...)
	return found, r.explain("read "+what, err)
}

// orAll is a LIMIT for SQLite, for which a negative one means none.
func orAll(limit int) int {
	if limit <= 0 {
		return -1
	}
	return limit
}

// below is the SQL condition that a URI is that of a path or lies below it.
func below(path string) (string, []any) {
	uri := strings.TrimSuffix(event.FileURI(path), "/")
	// '0' follows '/' in ASCII, so that the range holds all that starts with uri and a slash.
	return "(uri = ? OR (uri > ? AND uri < ?))", []any{uri, uri + "/", uri + "0"}
}
