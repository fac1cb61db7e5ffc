package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"time"

	"modernc.org/sqlite"

	"github.com/agentls/agentls/agentcore/event"
)

// connection is a database's only connection, which two goroutines never use at the same time.
type connection struct {
	db *sql.DB
	*sql.Conn
}

func (c *connection) close() error { return errors.Join(c.Conn.Close(), c.db.Close()) }

// dial opens a database with a single connection.
func dial(ctx context.Context, path string, busy time.Duration, use access) (*connection, error) {
	db, err := openDatabase(path, busy, use)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &connection{db, conn}, nil
}

// access says what a connection is for.
type access int

const (
	writing access = iota
	reading
	// salvaging reads a damaged file. With a writable schema, SQLite opens a file that is shorter than its header says,
	// and goes on where a definition makes no sense (btree.c, lockBtree). Nothing is written.
	salvaging
)

// openDatabase prepares a pool; nothing is opened before its first use.
func openDatabase(path string, busy time.Duration, use access) (*sql.DB, error) {
	query := url.Values{
		"_busy_timeout": {fmt.Sprint(busy.Milliseconds())},
		"_dqs":          {"0"},
		"_pragma":       {"trusted_schema(0)"},
	}
	switch use {
	case writing:
		query.Set("_txlock", "immediate")
		query.Set("_defensive", "1")
		query["_pragma"] = []string{
			"journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)", "secure_delete(1)", "trusted_schema(0)",
		}
		if info, err := os.Stat(path); err == nil && info.Size() == 0 {
			// In a file with tables this has no effect (sqlite.org/pragma.html, auto_vacuum), but would write to the
			// file.
			query["_pragma"] = append([]string{"auto_vacuum(incremental)"}, query["_pragma"]...)
		}
	case reading:
		query.Set("_query_only", "1")
		query.Set("_defensive", "1")
	case salvaging:
		query.Set("_query_only", "1")
		query["_pragma"] = []string{"writable_schema(1)", "trusted_schema(0)"}
	}
	connector, err := sqlite.NewConnector(event.FileURI(path) + "?" + query.Encode())
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	if use == reading {
		db.SetMaxOpenConns(4)
		db.SetMaxIdleConns(4)
	}
	return db, nil
}

// makeFile makes an empty file if there is none, so that others can never read the file.
func makeFile(path string) error {
	if err := finishRecovery(path); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", path)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return f.Chmod(0o600)
	}
	return nil
}

func removeAll(names ...string) error {
	for _, name := range names {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
