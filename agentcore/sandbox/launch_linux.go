//go:build amd64 || arm64

package sandbox

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agentls/agentls/agentcore/process"
)

// launcher starts the processes of a box from one thread: when the thread that started a process ends, the kernel acts
// as if the parent had ended. The thread, and what it started, end with the box.
type launcher struct {
	work chan func()
	done chan struct{}
}

func newLauncher() *launcher {
	l := &launcher{work: make(chan func()), done: make(chan struct{})}
	go func() {
		defer close(l.done)
		runtime.LockOSThread() // never unlocked, so that the thread ends with the goroutine
		for f := range l.work {
			f()
		}
	}()
	return l
}

// do runs f on the thread and waits for it. It must not be called after close.
func (l *launcher) do(f func()) {
	finished := make(chan struct{})
	l.work <- func() {
		defer close(finished)
		f()
	}
	<-finished
}

func (l *launcher) close() {
	close(l.work)
	<-l.done
}

// idMaps are identity maps of ids for a new user namespace: of all ids where this process may map them, otherwise of
// its own. Root maps all of them, so that overlayfs can copy up a file of another owner.
func idMaps() (uids, gids []syscall.SysProcIDMap, all bool) {
	if os.Geteuid() == 0 {
		uids, gids = readMap("/proc/self/uid_map"), readMap("/proc/self/gid_map")
		if uids != nil && gids != nil {
			return uids, gids, true
		}
	}
	return []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}},
		[]syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}, false
}

// readMap turns the lines of /proc/PID/uid_map (user_namespaces(7)) into an identity map of the same ids.
func readMap(path string) []syscall.SysProcIDMap {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	var maps []syscall.SysProcIDMap
	for line := range strings.Lines(string(text)) {
		var inside, outside, count int
		if _, err := fmt.Sscan(line, &inside, &outside, &count); err != nil {
			return nil
		}
		maps = append(maps, syscall.SysProcIDMap{ContainerID: inside, HostID: inside, Size: count})
	}
	return maps
}

// ambient are the capabilities in the new namespaces that building the walls takes; the command gets none.
var ambient = []uintptr{
	unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_DAC_READ_SEARCH, unix.CAP_FOWNER, unix.CAP_FSETID, unix.CAP_MKNOD,
	unix.CAP_SETPCAP, unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN,
	unix.CAP_NET_BIND_SERVICE,
}

// confined is one sandbox with its processes.
type confined struct {
	cmd *exec.Cmd
	// offer is the socket through which the sandbox sends the sockets of a gate, nil where there is no gate or its
	// sockets have arrived.
	offer *os.File
	// shown is the socket through which the sandbox sends the opened folders of a followed command, nil elsewhere.
	shown *os.File
	// stopGate closes the way to single hosts, and returns notes about it.
	stopGate func() []string
	control  *os.File // when it is closed, the sandbox ends
	heard    chan struct{}
	started  chan struct{}
	in       *counted // nil where the kernel does not count
	// last is the last report of the status pipe. Only the reading goroutine uses it until ended is closed.
	last  status
	ended chan struct{}

	closeControl sync.Once
	// patient is true where cmd is bwrap, or attends to a command without walls: if it were killed at once, it would
	// end before the rest does.
	patient bool
	// variable marks the processes that may outlive the process that attends to a command without walls; empty
	// elsewhere.
	variable string
	// mu guards force, which ends the sandbox where its end takes too long.
	mu    sync.Mutex
	force *time.Timer
}

// launch starts a sandbox and tells it what to do. Where wrap is not empty, it is the command line of bwrap, which gets
// our own program and its marker as its last arguments. Where in is not nil, the whole sandbox runs in that cgroup,
// which is removed with it.
func (l *launcher) launch(s spec, wrap []string, in *counted, stdin io.Reader, output *spool) (*confined, error) {
	flow := streams{in: stdin}
	if output != nil {
		flow.out, flow.err = output.stdout(), output.stderr()
	}
	c, err := l.begin(&s, wrap, in, flow)
	if err != nil {
		return nil, err
	}
	if err := c.tell(s); err != nil && !errors.Is(err, errDead) {
		c.kill()
		_, _ = c.wait() // it was killed
		return nil, err
	}
	return c, nil // the caller learns from wait why it has died
}

// streams are the input and the outputs of a command; nil means none.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// begin starts a sandbox that waits to be told what to do. Of the spec, it uses only the kind: whether it is Bare,
// whether it has the network or a gate, and the run in its environment. The other arguments are as for launch.
func (l *launcher) begin(s *spec, wrap []string, in *counted, flow streams) (c *confined, err error) {
	var ends pipes
	var offer, shown *os.File
	defer func() {
		if err == nil {
			return
		}
		ends.control.Close()
		ends.status.Close()
		offer.Close()
		shown.Close()
		err = errors.Join(err, in.remove())
	}()
	if ends, err = newPipes(); err != nil {
		return nil, err
	}
	defer ends.inside()
	cmd := s.attendant(ends.controlRead, ends.statusWrite)
	if len(wrap) > 0 {
		program, err := os.Open("/proc/self/exe")
		if err != nil {
			return nil, fmt.Errorf("open this program: %w", err)
		}
		defer program.Close()
		cmd.Path, cmd.Args, cmd.ExtraFiles = wrap[0], wrap, append(cmd.ExtraFiles, program)
	} else if !s.Bare {
		s.unshare(cmd.SysProcAttr)
	}
	if s.Gate != nil {
		var theirs *os.File
		if offer, theirs, err = offerTo(cmd, offerFD, "gate"); err != nil {
			return nil, fmt.Errorf("open the way to single hosts: %w", err)
		}
		defer theirs.Close()
	}
	if len(s.Shown) > 0 {
		var theirs *os.File
		if shown, theirs, err = offerTo(cmd, shownFD, "view"); err != nil {
			return nil, fmt.Errorf("open the way into the view: %w", err)
		}
		defer theirs.Close()
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = flow.in, flow.out, flow.err
	if err := l.start(cmd, in, s.starting(wrap)); err != nil {
		return nil, err
	}
	c = &confined{
		in: in, cmd: cmd, offer: offer, shown: shown, stopGate: func() []string { return nil }, control: ends.control,
		heard: make(chan struct{}), started: make(chan struct{}), ended: make(chan struct{}),
		patient: len(wrap) > 0 || s.Bare, variable: s.tag(),
	}
	go c.read(ends.status)
	return c, nil
}

// offerTo lets a process have one end of a pair of sockets as the descriptor with a number, above those that the
// process has already. The caller closes theirs once the process has started.
func offerTo(cmd *exec.Cmd, number int, name string) (ours, theirs *os.File, err error) {
	if ours, theirs, err = newOffer(name); err != nil {
		return nil, nil, err
	}
	closed := make([]*os.File, max(0, number-3-len(cmd.ExtraFiles)))
	cmd.ExtraFiles = append(append(cmd.ExtraFiles, closed...), theirs)
	return ours, theirs, nil
}

// errDead is the error of a sandbox that died before it was told what to do.
var errDead = errors.New("the sandbox has died")

// tell has a sandbox do what a spec says. It is called once.
func (c *confined) tell(s spec) error {
	s.Counted = c.in != nil
	text, err := s.written()
	if err != nil {
		return err
	}
	if s.Gate != nil {
		stop, err := s.Gate.Serve(c.offer)
		c.offer = nil
		if err != nil {
			return fmt.Errorf("open the way to single hosts: %w", err)
		}
		c.stopGate = stop
	}
	if _, err := c.control.Write(append(text, '\n')); err != nil {
		return fmt.Errorf("%w: %w", errDead, err)
	}
	return nil
}

// written is the spec in the form that the attendant reads.
func (s *spec) written() (text []byte, err error) {
	for kind, to := range map[string]*string{"user": &s.Users, "net": &s.Net} {
		if *to, err = os.Readlink("/proc/self/ns/" + kind); err != nil {
			return nil, fmt.Errorf("look for the namespaces of this process: %w", err)
		}
	}
	if text, err = json.Marshal(s); err != nil {
		return nil, fmt.Errorf("write down the sandbox: %w", err)
	}
	return text, nil
}

// pipes lead to a sandbox, and from it.
type pipes struct{ controlRead, control, status, statusWrite *os.File }

func newPipes() (p pipes, err error) {
	if p.controlRead, p.control, err = os.Pipe(); err == nil {
		if p.status, p.statusWrite, err = os.Pipe(); err != nil {
			p.controlRead.Close()
			p.control.Close()
		}
	}
	if err != nil {
		return pipes{}, fmt.Errorf("make a pipe: %w", err)
	}
	return p, nil
}

// inside closes the ends of the pipes that the sandbox holds.
func (p pipes) inside() {
	p.controlRead.Close()
	p.statusWrite.Close()
}

// start starts a process, in a cgroup if in is not nil. what says in errors what the process does first.
func (l *launcher) start(cmd *exec.Cmd, in *counted, what string) (err error) {
	if in != nil {
		folder, err := os.Open(in.dir)
		if err != nil {
			return fmt.Errorf("open the cgroup: %w", err)
		}
		defer folder.Close()
		cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, int(folder.Fd())
	}
	if l.do(func() { err = cmd.Start() }); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// tag is the variable that marks the processes that may outlive the attendant of a command without walls; empty
// elsewhere.
func (s *spec) tag() string {
	if !s.Bare || len(s.Env) == 0 {
		return ""
	}
	return s.Env[len(s.Env)-1]
}

// starting says what the start of a sandbox does first.
func (s *spec) starting(wrap []string) string {
	switch {
	case len(wrap) > 0:
		return "start " + wrap[0]
	case s.Bare:
		return "start this program again"
	}
	return "make the namespaces"
}

// attendant is the command that builds the walls and attends to what runs behind them: this program again.
func (s *spec) attendant(control, status *os.File) *exec.Cmd {
	cmd := &exec.Cmd{
		Path:        "/proc/self/exe",
		Args:        []string{marker},
		Env:         []string{"GOMAXPROCS=2", "GOTRACEBACK=none"},
		ExtraFiles:  []*os.File{control, status},
		SysProcAttr: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL},
		WaitDelay:   waitDelay,
	}
	for _, pair := range s.Env {
		if strings.HasPrefix(pair, runVariable+"=") {
			cmd.Env = append(cmd.Env, pair)
		}
	}
	if s.Bare {
		// The attendant ends what the command has left before it ends itself.
		cmd.SysProcAttr.Pdeathsig = 0
	}
	return cmd
}

// unshare gives a process namespaces of its own.
func (s *spec) unshare(attributes *syscall.SysProcAttr) {
	attributes.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID |
		unix.CLONE_NEWIPC | unix.CLONE_NEWUTS
	if !s.NetworkOpen {
		attributes.Cloneflags |= unix.CLONE_NEWNET
	}
	var all bool
	attributes.UidMappings, attributes.GidMappings, all = idMaps()
	attributes.GidMappingsEnableSetgroups = all
	attributes.AmbientCaps = ambient
}

// read reads the reports of the sandbox until its first process has ended.
func (c *confined) read(from *os.File) {
	defer close(c.ended)
	defer from.Close()
	var once sync.Once
	defer once.Do(func() { close(c.started) })
	scanner := bufio.NewScanner(from)
	for scanner.Scan() {
		var s status
		if err := json.Unmarshal(scanner.Bytes(), &s); err != nil {
			c.last.Step, c.last.Error = "status", err.Error()
			continue
		}
		if s.Heard {
			close(c.heard)
			continue
		}
		if s.Started {
			c.last.Started = true
			once.Do(func() { close(c.started) })
			continue
		}
		s.Started = c.last.Started
		if c.last.Limit != "" {
			s.Limit = c.last.Limit
		}
		c.last = s
	}
}

func (c *confined) began() <-chan struct{} { return c.started }

// kill ends every process of the sandbox at once. It does not wait.
func (c *confined) kill() {
	if c.in != nil {
		c.in.kill()
	}
	c.closeControl.Do(func() { c.control.Close() })
	if !c.patient {
		// It fails only if the process is gone already.
		_ = c.cmd.Process.Kill()
		return
	}
	// Our first process ends with the pipe, and bwrap after it.
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.force == nil {
		c.force = time.AfterFunc(waitDelay, func() { _ = c.cmd.Process.Kill() })
	}
}

// wait returns when no process of the sandbox is left: the kernel ends the namespace before its first process.
func (c *confined) wait() (status, error) {
	err := c.cmd.Wait()
	c.mu.Lock()
	if c.force != nil {
		c.force.Stop()
	}
	c.mu.Unlock()
	<-c.ended
	c.closeControl.Do(func() { c.control.Close() })
	c.offer.Close()
	c.shown.Close()
	c.last.Notes = c.stopGate()
	if c.in != nil {
		switch ended, held := c.in.reached(); {
		case ended != "" && !c.last.Done:
			c.last.Limit = ended
		case ended != "":
			c.last.Notes = append(c.last.Notes, "a process of the command was ended at its limit of "+ended)
		case held != "":
			c.last.Notes = append(c.last.Notes, held)
		}
		// A process that still runs ends with the cgroup of the box, which reports an error.
		_ = removeCgroup(c.in.dir)
	}
	if c.variable != "" && !c.last.Done {
		// The command may have killed the attendant, which would have ended them.
		if serr := process.EndStrays(c.variable); serr != nil {
			return c.last, serr
		}
	}
	if c.last.Done || c.last.Step != "" || c.last.Limit != "" || c.last.Checks != nil {
		return c.last, nil
	}
	return c.last, err
}
