//go:build amd64 || arm64

package sandbox

import "slices"

// spec tells the process that sets up a sandbox what to do. It is sent as JSON on the control pipe.
type spec struct {
	// Probe has every step tried and reported, and no command run.
	Probe bool
	// Mount is false where another program has built the walls already.
	Mount bool
	// Bare builds no walls: the process only makes sure that no process of the command outlives the command.
	Bare bool
	// Counted says that the kernel counts memory and processes together.
	Counted bool
	// Users and Net are the namespaces of the starting side, as /proc/self/ns/user and /proc/self/ns/net name them.
	Users, Net string
	// NetworkOpen keeps the network of the machine.
	NetworkOpen bool
	// Gate is the way to single hosts, nil where there is none.
	Gate *Gate

	// Layers are the folders with a private upper layer: workspace folders and caches.
	Layers []layer
	// Binds are folders shown as they are.
	Binds []bind
	// Blank are folders that are covered by an empty one.
	Blank []string
	// Masks are files and folders that nobody may read.
	Masks []string
	// Mask is what is shown in their place.
	Mask mask
	// ReadOnly are paths inside layers that cannot be changed.
	ReadOnly []string
	// Shown are the targets of layers that the sandbox opens and sends out, as [sendShown] says.
	Shown []string
	// Links are symbolic links to make in blank folders: name → target.
	Links map[string]string
	// Writable are the folders for Landlock.
	Writable []string

	Argv   []string
	Env    []string
	Dir    string
	Limits Limits
}

// layer is a folder mounted copy-on-write.
type layer struct {
	Target string
	// Lower are the folders below, the uppermost first; Upper and Work are the private ones.
	Lower []string
	Upper string
	Work  string
}

// bind is a folder or file shown at another place.
type bind struct {
	Source, Target string
	Write          bool
	// Plain refuses a source with a symbolic link in any part of its path.
	Plain bool
}

// The descriptors of that process.
const (
	controlFD = 3
	statusFD  = 4
	// programFD is our own program's file, where bwrap starts the program.
	programFD = 5
	// offerFD is the socket through which the sockets of a gate are sent.
	offerFD = 6
	// shownFD is the socket through which the opened folders of a followed command are sent.
	shownFD = 7
)

// Steps that the starting side tells apart.
const (
	stepOverlay = "overlay"
	stepCommand = "command"
)

// mask is a file and a folder, both empty, that nobody may open. They are shown in the place of hidden ones.
type mask struct{ File, Dir string }

// stepError is an error with the step that failed.
type stepError struct {
	step string
	err  error
}

func (e *stepError) Error() string { return e.step + ": " + e.err.Error() }

func (e *stepError) Unwrap() error { return e.err }

func failed(step string, err error) error {
	if err == nil {
		return nil
	}
	return &stepError{step, err}
}

// hides tells whether a path lies in a folder that is covered.
func (s *spec) hides(path string) bool {
	if slices.ContainsFunc(s.Blank, func(blank string) bool { return below(path, blank) }) {
		return true
	}
	return slices.ContainsFunc(s.Binds, func(b bind) bool { return b.Target != path && below(path, b.Target) })
}
