//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
)

// A socket belongs to the network in which it was made, whoever holds it. So the sandbox makes those that listen on its own
// loopback and hands them over, as one message of SCM_RIGHTS (unix(7)); nothing in it has to copy bytes. The message has
// the number of an address for each socket.

// offer makes sockets that listen at addresses of the loopback, and sends them. The first one must be there; others that cannot
// be, such as those of IPv6 where there is none, are left out.
func offer(to int, addresses []string) error {
	defer unix.Close(to)
	var which []byte
	var sockets []int
	defer func() {
		for _, fd := range sockets {
			unix.Close(fd)
		}
	}()
	for i, address := range addresses {
		fd, err := listenAt(address)
		if err != nil && i == 0 {
			return fmt.Errorf("listen at %s: %w", address, err)
		}
		if err == nil {
			which, sockets = append(which, byte(i)), append(sockets, fd)
		}
	}
	if err := unix.Sendmsg(to, which, unix.UnixRights(sockets...), nil, 0); err != nil {
		return fmt.Errorf("hand over the sockets: %w", err)
	}
	return nil
}

func listenAt(address string) (int, error) {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return -1, err
	}
	family, name := unix.AF_INET, unix.Sockaddr(&unix.SockaddrInet4{Port: int(at.Port()), Addr: [4]byte{127, 0, 0, 1}})
	if at.Addr().Is4() {
		name = &unix.SockaddrInet4{Port: int(at.Port()), Addr: at.Addr().As4()}
	} else {
		family, name = unix.AF_INET6, &unix.SockaddrInet6{Port: int(at.Port()), Addr: at.Addr().As16()}
	}
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return -1, err
	}
	if err = unix.Bind(fd, name); err == nil {
		err = unix.Listen(fd, proxyConnections)
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// gate is a proxy with the addresses inside of one sandbox.
type gate struct {
	*proxy
	doors []door
	place string // of the proxy itself
}

func newGate(allowed hosts) *gate {
	g := &gate{proxy: newProxy(allowed), doors: allowed.loopback()}
	g.place = proxyAddress(g.doors)
	return g
}

// inside are the addresses that the sandbox is to listen at.
func (g *gate) inside() []string {
	addresses := []string{g.place}
	for _, d := range g.doors {
		addresses = append(addresses, d.inside)
	}
	return addresses
}

// socket is the end for the sandbox of a pair of sockets; what comes through the other one is served.
func (g *gate) socket() (*os.File, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("make a pair of sockets: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "proxy"), os.NewFile(uintptr(pair[1]), "proxy")
	c, err := net.FileConn(ours)
	if err = errors.Join(err, ours.Close()); err != nil {
		return nil, errors.Join(fmt.Errorf("watch a socket: %w", err), theirs.Close())
	}
	unixConn, ok := c.(*net.UnixConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("the socket is a %T", c), c.Close(), theirs.Close())
	}
	g.work(unixConn, func() { g.take(unixConn) })
	return theirs, nil
}

// take waits for the message with the sockets. If the sandbox ends before, there is nothing to serve.
func (g *gate) take(from *net.UnixConn) {
	which := make([]byte, maxLoopback+1)
	rights := make([]byte, unix.CmsgSpace(4*len(which)))
	n, size, _, _, err := from.ReadMsgUnix(which, rights)
	if err != nil || size == 0 {
		return
	}
	messages, err := unix.ParseSocketControlMessage(rights[:size])
	if err != nil || len(messages) != 1 {
		return // our own program does not send that
	}
	sockets, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return
	}
	for i, fd := range sockets {
		f := os.NewFile(uintptr(fd), "proxy")
		l, err := net.FileListener(f)
		_ = f.Close() // the listener has its own
		if err != nil {
			continue
		}
		switch {
		case i < n && which[i] == 0:
			g.serve(l)
		case i < n && int(which[i]) <= len(g.doors):
			g.pass(l, g.doors[which[i]-1].outside)
		default:
			_ = l.Close()
		}
	}
}
