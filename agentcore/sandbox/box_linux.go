//go:build amd64 || arm64

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// launch starts what a spec says. The kernel counts what it uses, if possible.
func (b *Box) launch(s spec, wrap []string, c Command, output *spool) (child, error) {
	var running *confined
	var err error
	if sparing(b, c) {
		running, err = b.launchSpare(s, output)
	}
	if running == nil && err == nil {
		var in *counted
		if in, err = b.machine.count(b.options.Limits); err == nil {
			running, err = b.machine.launcher.launch(s, wrap, in, c.stdin(), output)
		}
	}
	if err != nil {
		return nil, err
	}
	tidy(b, running.began()) // after the walls are built, so that it takes no processor time from building them
	if sparing(b, c) {
		b.prepare()
	}
	return running, nil
}

// tidy deletes the work folders of ended commands, once after is closed. What cannot be deleted is deleted with the
// box.
func tidy(b *Box, after <-chan struct{}) {
	used := b.machine.used
	b.machine.used = nil
	if len(used) == 0 || b.use() != nil {
		return
	}
	go func() {
		defer b.users.Done()
		<-after
		for _, work := range used {
			_ = removeTree(work)
		}
	}()
}

// launchSpare has the spare do what a spec says. It returns nil where no spare can do it.
func (b *Box) launchSpare(s spec, output *spool) (*confined, error) {
	c := b.takeSpare(output)
	if c == nil {
		return nil, nil
	}
	err := c.tell(s)
	if err == nil && c.hears() {
		return c, nil
	}
	c.kill()
	_, _ = c.wait() // the process was killed
	if err == nil || errors.Is(err, errDead) {
		return nil, nil // the spare has ended already
	}
	return nil, err
}

// newView shows a workspace folder as an overlay or as a copy.
func (b *Box) newView(root, dir string, asOverlay bool) (shown, error) {
	if !asOverlay {
		return b.newCopyView(root, dir, b.report.Level == Copy)
	}
	v, err := b.newBaseView(root)
	if err != nil {
		return nil, err
	}
	return newOverlayView(v, dir)
}

// startBackground starts a command on copies of its own. Its caches are layers above the box's caches, which keep
// changing.
func (b *Box) startBackground(ctx context.Context, c Command, dir string, roots []folder, output *spool,
) (child, error) {
	if b.report.Level != Full {
		return b.start(ctx, c, roots, output)
	}
	s, err := backgroundSpec(ctx, b, c, dir, roots)
	if err != nil {
		return nil, err
	}
	return b.launch(s, nil, c, output)
}

// backgroundSpec is the sandbox for a command in the background, whose own folder is dir.
func backgroundSpec(ctx context.Context, b *Box, c Command, dir string, roots []folder) (spec, error) {
	s, err := b.spec(ctx, c, roots)
	if err != nil {
		return spec{}, err
	}
	for i := range min(len(b.caches), len(s.Layers)) { // the caches come first
		l := &s.Layers[i]
		l.Lower = append([]string{l.Upper}, l.Lower...)
		l.Upper, l.Work = filepath.Join(dir, fmt.Sprintf("cache%d", i), "upper"), filepath.Join(dir,
			fmt.Sprintf("cache%d", i), "work")
		for _, d := range []string{l.Upper, l.Work} {
			if err := os.MkdirAll(d, 0o755); err != nil {
				return spec{}, err
			}
		}
	}
	return s, nil
}

// start starts a command on views that are ready.
func (b *Box) start(ctx context.Context, c Command, roots []folder, output *spool) (child, error) {
	switch b.report.Level {
	case Full:
	case Bubblewrap:
		return b.startWrapped(ctx, c, roots, output)
	case Copy:
		return b.startAttended(c, roots, output)
	default:
		return nil, fmt.Errorf("the level %s cannot run commands", b.report.Level)
	}
	s, err := b.spec(ctx, c, roots)
	if err != nil {
		return nil, err
	}
	return b.launch(s, nil, c, output)
}

// blanks are folders of the machine that commands find empty: homes of others, and the sockets of its services.
var blanks = []string{"/home", "/root", "/run", "/media", "/mnt", "/lost+found"}

// hidden are files of the machine that no command needs, and that root could read.
var hidden = []string{
	"/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/ssh", "/etc/ssl/private",
	"/etc/sudoers", "/etc/sudoers.d",
}

// spec is the sandbox for a command.
func (b *Box) spec(ctx context.Context, c Command, roots []folder) (spec, error) {
	argv, err := c.argv()
	if err != nil {
		return spec{}, err
	}
	o := &b.options
	dir := b.startDir(c)
	s := spec{
		Mount: true, NetworkOpen: o.Network.Open && !c.Offline, Argv: argv, Dir: dir, Limits: o.Limits,
		Links: map[string]string{},
		Masks: slices.Concat(hidden, o.Hidden, []string{o.StateDir}),
	}
	if s.Mask, err = newMask(b.dir); err != nil {
		return spec{}, err
	}
	envHome, err := s.furnish(o.Home, b.dir)
	if err != nil {
		return spec{}, err
	}
	for _, tool := range o.Tools {
		// Only a tool that is hidden has to be mounted.
		if real, err := filepath.EvalSymlinks(tool); err == nil && s.hides(tool) {
			s.Binds = append(s.Binds, bind{Source: real, Target: tool})
		}
	}
	for i := range b.caches {
		l, err := b.cacheLayer(&b.caches[i])
		if err != nil {
			return spec{}, err
		}
		if b.report.Overlay {
			s.Layers = append(s.Layers, l)
		} else {
			s.Binds = append(s.Binds, bindCache(b.caches[i], l))
		}
		s.Writable = append(s.Writable, l.Target)
	}
	for _, f := range roots {
		if err := b.addRoot(ctx, &s, c, f); err != nil {
			return spec{}, err
		}
	}
	s.Env = b.environ(c, dir, envHome, "/tmp")
	if o.Network.Gate != nil && !o.Network.Open && !c.Offline {
		gate := o.Network.Gate()
		s.Gate, s.Env = &gate, append(s.Env, gate.Env...)
	}
	return s, nil
}

// furnish mounts empty folders over folders that concern no command, and folders of the box in the places of the home
// folder and of those for temporary files. It returns the name of the home folder inside.
func (s *spec) furnish(machineHome, dir string) (envHome string, err error) {
	home := ""
	if info, err := os.Stat(machineHome); err == nil && info.IsDir() {
		if home, err = filepath.EvalSymlinks(machineHome); err != nil {
			return "", err
		}
	}
	if home == "/" {
		home = ""
	}
	for _, blank := range blanks {
		if info, err := os.Lstat(blank); err == nil && info.IsDir() && blank != home {
			s.Blank = append(s.Blank, blank)
		}
	}
	tmp := filepath.Join(dir, "tmp")
	for _, place := range []string{"/tmp", "/var/tmp"} {
		s.Binds = append(s.Binds, bind{Source: tmp, Target: place, Write: true})
	}
	s.Writable = append(s.Writable, "/tmp", "/var/tmp", "/dev", "/proc")
	if home == "" {
		return "/tmp", nil
	}
	s.Binds = append(s.Binds, bind{Source: filepath.Join(dir, "home"), Target: home, Write: true})
	s.Writable = append(s.Writable, home)
	if home != machineHome {
		s.Links[machineHome] = home
	}
	return machineHome, nil
}

// addRoot shows a workspace folder in the sandbox.
func (b *Box) addRoot(ctx context.Context, s *spec, c Command, f folder) error {
	switch v := f.view.(type) {
	case *overlayView:
		secrets, foreign, err := b.trees.known.scan(ctx, v.root, v.disk, b.options.Secret)
		if err != nil {
			return err
		}
		s.Masks = append(s.Masks, secrets...)
		if err := v.adopt(foreign, b.options.Limits.Copy); err != nil {
			return err
		}
		if c.renames() && !c.followed {
			if err := v.copyUp(b.options.Limits.Copy); errors.Is(err, errTooLarge) {
				b.notes = append(b.notes, err.Error())
			} else if err != nil {
				return err
			}
		}
		l, used, err := v.layer()
		b.machine.leave(used)
		if err != nil {
			return err
		}
		s.Layers = append(s.Layers, l)
	case *copyView:
		s.Binds = append(s.Binds, bind{Source: v.dir, Target: f.real, Write: true})
	case *liveView:
		secrets, _, err := b.trees.known.scan(ctx, v.root, v.disk, b.options.Secret)
		if err != nil {
			return err
		}
		s.Masks, s.Binds = append(s.Masks, secrets...), append(s.Binds, bind{Source: f.real, Target: f.real})
	}
	if f.given != f.real {
		s.Links[f.given] = f.real
	}
	if _, live := f.view.(*liveView); live {
		return nil // the whole folder is read-only
	}
	s.Writable = append(s.Writable, f.real)
	for _, p := range b.options.Protected {
		if c.followed && below(filepath.Clean(p), gitName) {
			continue // what the command makes of it is the command's own
		}
		s.ReadOnly = append(s.ReadOnly, filepath.Join(f.real, p))
	}
	return nil
}

// cacheLayer is the mount of a cache for the next command.
func (b *Box) cacheLayer(c *cacheLayer) (layer, error) {
	upper := filepath.Join(c.dir, "upper")
	if err := os.MkdirAll(upper, 0o755); err != nil {
		return layer{}, err
	}
	b.works++
	work := filepath.Join(c.dir, "work"+strconv.Itoa(b.works))
	b.machine.leave(c.work)
	c.work = work
	if err := os.Mkdir(work, 0o700); err != nil {
		return layer{}, err
	}
	return layer{Target: c.Path, Lower: []string{c.Path}, Upper: upper, Work: work}, nil
}

// bindCache is a cache on a level where nothing can be mounted copy-on-write: a cache of downloads is shown read-only,
// and others start empty.
func bindCache(c cacheLayer, l layer) bind {
	if c.Content {
		return bind{Source: c.Path, Target: c.Path}
	}
	return bind{Source: l.Upper, Target: c.Path, Write: true}
}

// Ahead prepares for a command that is about to come: it starts the command's attendant, and reads workspace folders
// that no command has seen yet. It returns when they are read, or the box is closed. It ignores errors, since the
// command will report them.
func (b *Box) Ahead() {
	if b.use() != nil {
		return
	}
	defer b.users.Done()
	if b.take(b.ctx) != nil {
		return
	}
	defer func() { <-b.turn }()
	b.prepare()
	for _, f := range b.roots {
		if v, ok := f.view.(*overlayView); ok && v.works == 0 {
			_, _, _ = b.trees.known.scan(b.ctx, v.root, v.disk, b.options.Secret)
		}
	}
}

// sparing reports whether a spare can attend to a command: to one inside walls of ours and in the network of its box,
// without input and with one output.
func sparing(b *Box, c Command) bool {
	return b.report.Level == Full && c.stdin() == nil && c.Output == nil && !c.SplitErrors && !c.Offline
}

// prepare starts a spare unless there is one, and does not wait. It ignores errors, since the next command will report
// them. The caller has the turn.
func (b *Box) prepare() {
	m := &b.machine
	if b.report.Level != Full || m.spare.waits() || b.use() != nil {
		return
	}
	in, err := b.machine.count(b.options.Limits)
	if err != nil {
		b.users.Done()
		return
	}
	kind := spec{Mount: true, NetworkOpen: b.options.Network.Open}
	if b.options.Network.Gate != nil && !kind.NetworkOpen {
		kind.Gate = &Gate{}
	}
	s := &spare{hand: make(chan waiting), ended: make(chan struct{})}
	m.spare = s
	launcher, patience := m.launcher, m.patience
	go func() {
		defer b.users.Done()
		defer close(s.ended)
		w, err := launcher.wait(&kind, in)
		if err == nil {
			s.offer(b.ctx, w, patience)
		}
	}()
}

// takeSpare returns the spare, whose output goes to a spool from now on. It returns nil where there is no spare, or
// where the machine's mounts have changed since the spare began. The caller has the turn.
func (b *Box) takeSpare(output *spool) *confined {
	s := b.machine.spare
	b.machine.spare = nil
	if s == nil {
		return nil
	}
	select {
	case <-s.ended:
		return nil
	case w := <-s.hand:
		if mountsChanged(w.mounts) {
			w.end()
			return nil
		}
		unix.Close(w.mounts)
		w.output.to.Store(output)
		return w.confined
	}
}

// startAttended starts a command without walls below a process of ours. Processes of the command that lose their parent
// become children of that process, so that all of them end with the command.
func (b *Box) startAttended(c Command, roots []folder, output *spool) (child, error) {
	if !dispatched.Load() {
		return b.startBare(c, roots, output)
	}
	argv, env, dir, err := b.onCopies(c, roots)
	if err != nil {
		return nil, err
	}
	s := spec{Bare: true, Argv: argv, Env: env, Dir: dir, Limits: b.options.Limits}
	return b.launch(s, nil, c, output)
}

// startWrapped starts a command in bubblewrap, on views that are copies.
func (b *Box) startWrapped(ctx context.Context, c Command, roots []folder, output *spool) (child, error) {
	bwrap, err := findBwrap()
	if err != nil {
		return nil, err
	}
	s, err := b.spec(ctx, c, roots)
	if err != nil {
		return nil, err
	}
	s.Mount = false
	return b.launch(s, s.wrap(bwrap), c, output)
}
