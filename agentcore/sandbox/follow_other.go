//go:build !linux || !(amd64 || arm64)

package sandbox

import "context"

// followedView is of no use where nothing can be followed.
type followedView struct{ root string }

func (*Followed) start(context.Context, Command, string, *spool) (child, error) {
	return nil, ErrNoFollow
}

func (*followedView) changes(context.Context, bool) (found, func(), error) {
	return found{}, nil, ErrNoFollow
}

func (*followedView) bring(string, Text) (done bool, why string, err error) {
	return false, "", ErrNoFollow
}

func (*followedView) gitChanged() (bool, error) { return false, ErrNoFollow }

func (*followedView) close() error { return nil }
