package sandbox

import (
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"sync/atomic"
	"time"
)

// Level is how much of a sandbox a command gets.
type Level string

// The levels, the strongest first.
const (
	// Full is namespaces of our own making: the promises of the package hold.
	Full Level = "full"
	// Bubblewrap is the same walls, built by bwrap around a synced copy of the workspace.
	Bubblewrap Level = "bubblewrap"
	// Copy only keeps the workspace: a command runs on a synced copy of it, with all that the user may do.
	Copy Level = "copy"
	// None is no sandbox: nothing runs here.
	None Level = "none"
)

// Network is what commands reach. The zero value is nothing but their own loopback.
type Network struct {
	// Open gives commands the network of the machine.
	Open bool
	// Gate makes the way to single hosts for a command that has a network of its own; nil means none. Package proxy has
	// one.
	Gate func() Gate
}

// Gate is the one way out of the network of a sandbox. The sandbox makes sockets that listen on its own loopback and
// sends them out, as one message with SCM_RIGHTS (unix(7)), in which a byte for each socket is the index of its
// address.
type Gate struct {
	// Listen are the addresses, as "127.0.0.1:port", at most 250. Without the first one, the command fails; others that
	// cannot be had, such as those of IPv6 where there is none, are left out.
	Listen []string
	// Env are variables for the command, as KEY=value.
	Env []string `json:"-"`
	// Serve is called before the command starts, and does not wait. It takes over the socket (SOCK_SEQPACKET) at which
	// the message arrives if the sandbox gets that far. stop is called when the command has ended; it ends everything
	// that Serve began, and returns notes about it.
	Serve func(socket *os.File) (stop func() []string, err error) `json:"-"`
}

// Limits bound a command; zero fields get the defaults named at them.
type Limits struct {
	// Memory is the memory of all processes of a command together, in bytes: 4 GiB.
	Memory int64
	// Processes bounds processes and threads together: 2048.
	Processes int
	// FileSize is the size of a file that a command writes, in bytes: 4 GiB.
	FileSize int64
	// Output is the part of the output that is kept in memory, in bytes: 32 KiB. More is cut in the middle.
	Output int
	// WholeOutput is the part of the output that is kept in a file, in bytes: 64 MiB. More is dropped.
	WholeOutput int64
	// Copy is the size of a workspace that is copied where a copy is needed, in bytes: 2 GiB.
	Copy int64
	// Text is the size of a file up to which its change is reported, in bytes: 4 MiB.
	Text int64
	// Timeout ends a command: 10 minutes. A background command has none unless it names one.
	Timeout time.Duration
}

func (l Limits) withDefaults() Limits {
	set := func(to *int64, value int64) {
		if *to <= 0 {
			*to = value
		}
	}
	set(&l.Memory, 4<<30)
	set(&l.FileSize, 4<<30)
	set(&l.WholeOutput, 64<<20)
	set(&l.Copy, 2<<30)
	set(&l.Text, 4<<20)
	if l.Processes <= 0 {
		l.Processes = 2048
	}
	if l.Output <= 0 {
		l.Output = 32 << 10
	}
	if l.Timeout <= 0 {
		l.Timeout = 10 * time.Minute
	}
	return l
}

// Text is a file as the agent sees it.
type Text struct {
	Content []byte
	Deleted bool
}

// Command is what to run. Either Argv or Script is set.
type Command struct {
	// Argv is a program and its arguments; no shell reads them.
	Argv []string
	// Script is run by bash, or by sh where there is no bash.
	Script string
	// Dir is the folder to start in, absolute; empty means the first root.
	Dir string
	// Offline leaves the command without the network, whatever Options.Network says.
	Offline bool
	// Stdin is the standard input; nil is an empty one.
	Stdin []byte
	// Input and Output are the ends of pipes for the standard input and output of a command with which the caller
	// exchanges messages; only for Start and Follow. The caller closes them once the call has returned.
	// [Process.Output] then returns standard error.
	Input, Output *os.File
	// Env are further variables of this command, as KEY=value.
	Env []string
	// Live shows the workspace folders as they are on the disk, read-only and without a copy, with changes that are
	// made while the command runs; only for Start. A box without walls still makes a copy. Files that may hold secrets
	// are hidden if they exist at the start.
	Live bool
	// Timeout ends the command; zero is that of the limits.
	Timeout time.Duration
	// SplitErrors keeps standard error apart from standard output.
	SplitErrors bool
	// Overlay is what the agent sees where the disk has something else: absolute path → text.
	Overlay map[string]Text
	// State is what the command sees of the user's home folder; only for Follow.
	State []StateDir

	// followed is set by Follow.
	followed bool
}

// StateDir is a file or a folder below the user's home folder that belongs to a followed command, such as its login.
// Everything else of the home folder stays hidden from it.
//
// The path is as the command names it. No part of it is a symbolic link, but for the first one below the home folder
// (as those make who keep their settings in one place), which must stay below the home folder. The path leads to a
// regular file or a folder, and neither contains nor lies in a workspace folder, in Options.StateDir, or in what
// Options.Hidden names. A path that does not exist is left out.
//
// What is named is shown with all that is in it. A socket in it, at which a program of the machine listens, is a way
// out of the sandbox.
type StateDir struct {
	Path string
	// Write has what the command writes go through to the disk; otherwise it cannot write there. A program that
	// replaces a file needs the folder that the file lies in, since a file that is shown by itself cannot be replaced.
	Write bool
	// Make makes a folder, which only the user may open, where nothing exists.
	Make bool
}

// Hash is the SHA-256 of a file's content.
type Hash = [sha256.Size]byte

// Change is one file of the workspace that a command left different from what it found: text, at most Limits.Text long,
// and not ignored.
type Change struct {
	// Path is absolute.
	Path string
	// Content is the new text; nil where the file is Deleted.
	Content []byte
	Deleted bool
	// Mode is the new permission bits.
	Mode fs.FileMode
	// Existed tells whether the command found the file, and Before is the hash of what it found.
	Existed bool
	Before  Hash
	// Replaced says, of a followed command, that it wrote to a file that had just been replaced by a text that was
	// brought ([Followed.Bring]): its view has that text, and not the change.
	Replaced bool
}

// Kept is a file that a command left in the workspace and that is not reported as a Change. It stays in the box, where
// the run's next commands find it, unless it is Removed.
type Kept struct {
	Path   string
	Reason string
	// Removed reports whether the box has deleted it: a pipe, a socket or a device is nothing that a user could accept.
	Removed bool
}

// Result is the outcome of a command.
type Result struct {
	// Level is the level it ran on.
	Level Level
	// Output is standard output and standard error in the order in which they came, cut in the middle if they were too
	// long.
	Output []byte
	// Errors is standard error of a command with SplitErrors, cut like Output, which then does not contain it.
	Errors []byte
	// OutputSize is the length of the whole output, in bytes. If it was cut, the file OutputFile has all of it.
	OutputSize int64
	OutputFile string
	// Exit is the exit code; 128 and the signal's number where a signal ended the command.
	Exit int
	// Signal is the name of that signal, such as "SIGKILL"; empty where the command ended by itself.
	Signal string
	// TimedOut says that the time limit ended the command.
	TimedOut bool
	// Changes are in the order of their paths.
	Changes []Change
	Kept    []Kept
	// Notes say what the reader of the output should know: limits that were reached, what was different from a bare
	// command.
	Notes []string
	// Duration is from the start of the first process to the end of the last one.
	Duration time.Duration
}

// ErrClosed is returned by a box that is closed.
var ErrClosed = errors.New("the sandbox is closed")

// ErrNone is returned by Open where there is no sandbox of any level.
var ErrNone = errors.New("there is no sandbox on this machine")

// marker is the program name by which a process of ours knows that it is to set up a sandbox. No file has this name.
const marker = "agentls: sandbox"

// dispatched says that this program calls Dispatch, so that starting itself again cannot go on for ever.
var dispatched atomic.Bool
