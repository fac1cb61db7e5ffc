//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/agentls/agentls/agentcore/beneath"
)

// followedView is a workspace folder as a followed command sees it. The command writes while its upper layer is read;
// nobody else writes there. Whoever has the turn of the [Followed] uses it.
type followedView struct {
	*overlayView
	walked *beneath.Root // the upper layer
	// inside is the folder in the command's view, opened in the sandbox. What is written below it is written as if the
	// command did, so that the overlay and those who watch files know of it. It stays open after the command's end.
	inside int
	// since is a time between the mount and the command's start: of what has changed on the disk afterwards, nobody
	// knows what the command sees.
	since syscall.Timespec

	// known are the last known texts, by relative path. A path that is not in it is as on the disk.
	known map[string]record
	// kept are the files that were reported as kept.
	kept map[string]keptFile
	// hidden are paths in the upper layer that hide a file or a folder of the disk. Each file that is hidden by them
	// has its record.
	hidden map[string]bool
	// swapped are files that were replaced by texts that were brought.
	swapped []swapped
	buffer  []byte
}

// record is the text at a path that the command and those who follow it agree on.
type record struct {
	exists bool
	hash   Hash
	mode   fs.FileMode
	// id is the file of the upper layer that was seen to have the text. It is zero where that has to be looked at.
	id fileID
	// onDisk says that the text is that of the disk, at which nobody has looked yet. covered says that the command made
	// a folder in the place of the file's one, which may have been before the file was there.
	onDisk, covered bool
	// unsure says that the hash is not known.
	unsure bool
}

// keptFile is a file that was reported as kept. settled says that it need not be read as long as it is the same.
type keptFile struct {
	id      fileID
	settled bool
}

// start prepares the views, starts the command, and takes what the sandbox has opened.
func (f *Followed) start(ctx context.Context, c Command, dir string, output *spool) (child, error) {
	b := f.box
	others := append([]string{b.options.StateDir}, b.options.Hidden...)
	for _, f := range b.roots {
		others = append(others, f.real, f.given)
	}
	state, err := stateBinds(b.options.Home, others, c.State)
	if err != nil {
		return nil, err
	}
	var roots []folder
	for i, texts := range split(b.roots, c.Overlay) {
		root := b.roots[i]
		v, err := newFollowedView(b, root.real, filepath.Join(dir, fmt.Sprintf("root%d", i)))
		if err != nil {
			return nil, err
		}
		f.views = append(f.views, v)
		if err := v.begin(texts); err != nil {
			return nil, err
		}
		roots = append(roots, folder{root.given, root.real, v.overlayView})
	}
	s, err := backgroundSpec(ctx, b, c, dir, roots)
	if err != nil {
		return nil, err
	}
	s.Binds = append(s.Binds, state...)
	for _, root := range roots {
		s.Shown = append(s.Shown, root.real)
	}
	ch, err := b.launch(s, nil, c, output)
	if err != nil {
		return nil, err
	}
	running, ok := ch.(*confined)
	if !ok {
		return nil, fmt.Errorf("%T has no view", ch)
	}
	if err := f.receive(ctx, running); err != nil {
		running.kill()
		status, werr := running.wait()
		if _, rerr := b.result(status, output); rerr != nil {
			err = rerr // the sandbox's own reason
		} else if werr != nil {
			err = fmt.Errorf("%w: %w", err, werr)
		}
		if errors.Is(err, errOverlay) {
			err = fmt.Errorf("%w: %w", ErrNoFollow, err)
		}
		return nil, cmp.Or(ctx.Err(), err)
	}
	return running, nil
}

// newFollowedView makes the view of a workspace folder. dir is for its upper layer.
func newFollowedView(b *Box, root, dir string) (*followedView, error) {
	base, err := b.newBaseView(root)
	if err != nil {
		return nil, err
	}
	below, err := newOverlayView(base, dir)
	if err != nil {
		return nil, errors.Join(err, base.disk.Close())
	}
	v := &followedView{
		overlayView: below, inside: -1,
		known: map[string]record{}, kept: map[string]keptFile{}, hidden: map[string]bool{},
	}
	if v.walked, err = beneath.New(below.upper); err != nil {
		return nil, errors.Join(err, below.close())
	}
	return v, nil
}

// begin puts the texts of the start into the upper layer, which is not mounted yet.
func (v *followedView) begin(texts map[string]Text) error {
	if err := v.seed(texts); err != nil {
		return err
	}
	for rel, text := range texts {
		r := record{exists: !text.Deleted, hash: sha256.Sum256(text.Content)}
		if r.exists {
			info, err := v.upper.Lstat(rel)
			if err != nil {
				return err
			}
			r.mode = info.Mode().Perm()
		}
		v.known[rel] = r
	}
	v.texts = nil // from here on they are like all that is known
	return nil
}

func (v *followedView) close() error {
	var errs []error
	for _, s := range v.swapped {
		errs = append(errs, s.file.Close())
	}
	if v.inside >= 0 {
		errs = append(errs, unix.Close(v.inside))
	}
	v.swapped, v.inside = nil, -1
	return errors.Join(append(errs, v.walked.Close(), v.overlayView.close())...)
}

// sendShown opens folders, and sends the descriptors and the time. Nothing of the command runs yet.
func sendShown(to int, paths []string) error {
	defer unix.Close(to)
	var fds []int
	defer func() {
		for _, fd := range fds {
			unix.Close(fd)
		}
	}()
	for _, path := range paths {
		fd, err := unix.Open(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("open %s: %w", path, err)
		}
		fds = append(fds, fd)
	}
	now, err := tick()
	if err != nil {
		return err
	}
	message, err := binary.Append(nil, binary.NativeEndian, [2]int64{int64(now.Sec), int64(now.Nsec)})
	if err != nil {
		return err
	}
	if err := unix.Sendmsg(to, message, unix.UnixRights(fds...), nil, 0); err != nil {
		return fmt.Errorf("hand over the workspace folders: %w", err)
	}
	return nil
}

// tick is the time that a file gets which is changed now.
func tick() (syscall.Timespec, error) {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &now); err != nil {
		return syscall.Timespec{}, os.NewSyscallError("clock_gettime", err)
	}
	return syscall.Timespec{Sec: now.Sec, Nsec: now.Nsec}, nil
}

// receive takes what sendShown has sent. The error is that the sandbox has ended before.
func (f *Followed) receive(ctx context.Context, from *confined) error {
	socket := from.shown
	from.shown = nil
	defer socket.Close()
	defer context.AfterFunc(ctx, from.kill)()
	defer context.AfterFunc(f.box.ctx, from.kill)()
	var message [16]byte
	rights := make([]byte, unix.CmsgSpace(4*len(f.views)))
	var n, rn int
	err := retried(func() (err error) {
		n, rn, _, _, err = unix.Recvmsg(int(socket.Fd()), message[:], rights, unix.MSG_CMSG_CLOEXEC)
		return err
	})
	if err != nil {
		return fmt.Errorf("take over the workspace folders: %w", err)
	}
	controls, err := unix.ParseSocketControlMessage(rights[:rn])
	if err != nil || n != len(message) || len(controls) != 1 {
		return errors.Join(errors.New("the sandbox ended before it showed the workspace folders"), err)
	}
	fds, err := unix.ParseUnixRights(&controls[0])
	if err != nil || len(fds) != len(f.views) {
		for _, fd := range fds {
			unix.Close(fd)
		}
		return errors.Join(errors.New("the sandbox did not show the workspace folders"), err)
	}
	var since [2]int64
	if _, err := binary.Decode(message[:], binary.NativeEndian, &since); err != nil {
		return err
	}
	for i, v := range f.views {
		v.inside, v.since = fds[i], syscall.Timespec{Sec: since[0], Nsec: since[1]}
	}
	return nil
}

// retried calls what a signal may interrupt.
func retried(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}

// disked is the record of a path as the disk has it. It does not look through links.
func (v *followedView) disked(rel string) (record, error) {
	none := record{mode: 0o644}
	info, err := lstat(v.disk, rel)
	switch {
	case gone(err):
		return none, nil
	case err != nil:
		return none, err
	case !info.Mode().IsRegular():
		return none, nil
	}
	r := record{exists: true, mode: info.Mode().Perm()}
	f, err := v.disk.OpenFile(rel, os.O_RDONLY|openFlags, 0)
	if err != nil {
		r.unsure = true // it cannot be read, or changes right now
		return r, nil
	}
	defer f.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, f); err != nil {
		return none, err
	}
	after, err := f.Stat()
	if err != nil {
		return none, err
	}
	changed := idOf(after).changed
	r.unsure = !os.SameFile(info, after) || !earlier(changed, v.since)
	if !r.unsure {
		r.hash = Hash(hash.Sum(nil))
	}
	return r, nil
}

func earlier(a, b syscall.Timespec) bool { return a.Nano() < b.Nano() }

// slack is how long before a look a file must have changed, so that a later change certainly shows: the clock of files
// stands still for some milliseconds, and a file has its new time before all of its new text.
const slack = 100_000_000 // in nanoseconds

// idOfStat is idOf of what the system tells.
func idOfStat(s *unix.Stat_t) fileID {
	return fileID{
		s.Ino, s.Size, fs.FileMode(s.Mode),
		syscall.Timespec{Sec: s.Ctim.Sec, Nsec: s.Ctim.Nsec},
		syscall.Timespec{Sec: s.Mtim.Sec, Nsec: s.Mtim.Nsec},
	}
}

// gitChanged compares .git in the upper layer with the disk.
func (v *followedView) gitChanged() (bool, error) {
	info, err := lstat(v.upper, gitName)
	if gone(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if !info.IsDir() {
		return true, nil
	}
	for _, name := range []string{"HEAD", "packed-refs", "refs"} {
		if differs, err := v.differs(filepath.Join(gitName, name)); differs || err != nil {
			return differs, err
		}
	}
	return false, nil
}

// differs reports whether the command has left something else at a path than the disk has.
func (v *followedView) differs(rel string) (bool, error) {
	info, err := lstat(v.upper, rel)
	if gone(err) {
		opaque, err := v.isOpaque(filepath.Dir(rel))
		if err != nil || !opaque {
			return false, ignoreGone(err)
		}
		_, err = lstat(v.disk, rel)
		return err == nil, ignoreGone(err)
	}
	switch {
	case err != nil:
		return false, err
	case isWhiteout(info):
		_, err := lstat(v.disk, rel)
		return err == nil, ignoreGone(err)
	case info.IsDir():
		return v.folderDiffers(rel)
	case !info.Mode().IsRegular():
		return true, nil
	}
	own, _, err := readRegular(v.upper, rel, -1)
	if err != nil {
		return true, ignoreGone(err) // it is being replaced
	}
	disk, _, err := readRegular(v.disk, rel, -1)
	return err != nil || !bytes.Equal(own, disk), nil
}

func (v *followedView) folderDiffers(rel string) (bool, error) {
	names := map[string]bool{}
	for _, root := range []*os.Root{v.upper, v.disk} {
		entries, err := readDir(root, rel)
		if err != nil && !gone(err) {
			return false, err
		}
		for _, e := range entries {
			names[e.Name()] = true
		}
	}
	for name := range names {
		if differs, err := v.differs(filepath.Join(rel, name)); differs || err != nil {
			return differs, err
		}
	}
	return false, nil
}

func ignoreGone(err error) error {
	if gone(err) {
		return nil
	}
	return err
}

// inGit reports whether a path names a .git, or something in one.
func inGit(rel string) bool {
	return slices.Contains(strings.Split(rel, string(filepath.Separator)), gitName)
}
