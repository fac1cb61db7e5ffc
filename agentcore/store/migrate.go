package store

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/crash"
)

//go:embed migrations
var migrationFiles embed.FS

// migration is one step of the schema. Steps are added, never changed. The schema's version (PRAGMA user_version) is
// the number of steps taken.
type migration struct {
	name, script string
}

var embedded = mustReadMigrations()

func mustReadMigrations() []migration {
	entries, err := migrationFiles.ReadDir("migrations")
	if err != nil {
		panic(err) // the files are compiled into the program
	}
	var steps []migration
	for _, entry := range entries { // sorted by name
		script, err := migrationFiles.ReadFile("migrations/" + entry.Name())
		if err != nil {
			panic(err)
		}
		steps = append(steps, migration{entry.Name(), string(script)})
	}
	return steps
}

// migrate brings the schema up to date, with all steps in one transaction. Before that, it puts a copy of a file that
// is not new beside the file.
func migrate(ctx context.Context, conn *connection, path string, steps []migration, hook crash.Hook) error {
	version, err := schemaVersion(ctx, conn)
	if err != nil || version == len(steps) {
		return err
	}
	if version > len(steps) {
		return fmt.Errorf("%w: its schema has version %d, this program knows %d: update agentls, or move the file away",
			ErrNewer, version, len(steps))
	}
	if version == 0 {
		return takeSteps(ctx, conn, 0, steps, hook)
	}
	backup, err := backUp(ctx, conn, path, version)
	if err != nil {
		return fmt.Errorf("copy the file before its schema is changed: %w", err)
	}
	hook.Reach(crash.Copied)
	err = takeSteps(ctx, conn, version, steps, hook)
	if err != nil && !isDamage(err) {
		return fmt.Errorf(
			"%w; the file is as it was, and the version of agentls that it is from still reads it; a copy lies in %s",
			err, backup)
	}
	return err
}

// takeSteps takes the steps behind the given version in one transaction.
func takeSteps(ctx context.Context, conn *connection, version int, steps []migration, hook crash.Hook) error {
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	for i, step := range steps[version:] {
		_, err := tx.ExecContext(ctx, step.script)
		if err == nil {
			_, err = tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", version+i+1))
		}
		if err != nil {
			return errors.Join(fmt.Errorf("change the schema by %s: %w", step.name, err), tx.Rollback())
		}
	}
	hook.Reach(crash.Stepped)
	if err := tx.Commit(); err != nil {
		return err
	}
	hook.Reach(crash.Migrated)
	return nil
}

func schemaVersion(ctx context.Context, conn *connection) (int, error) {
	var version int
	if err := conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return 0, fmt.Errorf("read the version of the schema: %w", err)
	}
	return version, nil
}

// backUp copies the database to path.v<version>-<time>.backup and returns the copy's name. The copy replaces earlier
// copies of that version, since a migration that fails at each start would otherwise fill the disk.
func backUp(ctx context.Context, conn *connection, path string, version int) (string, error) {
	name := fmt.Sprintf("%s.v%d-%s.backup", path, version, fileTime())
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	_, err = conn.ExecContext(ctx, "VACUUM INTO ?", name)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(name))
	}
	former, err := filepath.Glob(globbed(path) + fmt.Sprintf(".v%d-*.backup", version))
	if err != nil {
		return "", err
	}
	former = slices.DeleteFunc(former, func(other string) bool { return other == name })
	return name, removeAll(former...)
}

// globbed is a glob pattern that matches only this path.
func globbed(path string) string {
	if filepath.Separator == '\\' {
		return path // on Windows the backslash quotes nothing (filepath.Match)
	}
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// fileTime is the present in a form for file names.
func fileTime() string { return time.Now().UTC().Format("20060102T150405.000000Z") }
