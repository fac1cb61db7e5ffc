package store

import (
	"context"
	"database/sql"
	"sync"
)

// preparedQueries are the readers' queries, prepared at their first use. Only queries with a fixed text may go through
// it, since each is kept until the database is closed. Its methods may be called from any goroutine.
type preparedQueries struct {
	db   *sql.DB
	mu   sync.Mutex
	kept map[string]*sql.Stmt
}

// QueryContext implements querier. The rows are the caller's to close.
func (s *preparedQueries) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	prepared, err := s.prepared(ctx, query)
	if err != nil {
		return nil, err
	}
	return prepared.QueryContext(ctx, args...)
}

func (s *preparedQueries) prepared(ctx context.Context, query string) (*sql.Stmt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.kept[query]; known != nil {
		return known, nil
	}
	prepared, err := s.db.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	if s.kept == nil {
		s.kept = map[string]*sql.Stmt{}
	}
	s.kept[query] = prepared
	return prepared, nil
}
