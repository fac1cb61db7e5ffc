//go:build amd64 || arm64

package sandbox

import (
	"fmt"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
)

// offer makes sockets that listen at addresses of the loopback, and sends them as [Gate] says. A socket belongs to the
// network in which it was made, whichever process holds it, so that nothing in the sandbox has to copy bytes.
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

// listenBacklog is how many connections may wait to be accepted.
const listenBacklog = 128

func listenAt(address string) (int, error) {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return -1, err
	}
	family, name := unix.AF_INET6, unix.Sockaddr(&unix.SockaddrInet6{Port: int(at.Port()), Addr: at.Addr().As16()})
	if at.Addr().Is4() {
		family, name = unix.AF_INET, &unix.SockaddrInet4{Port: int(at.Port()), Addr: at.Addr().As4()}
	}
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return -1, err
	}
	if err = unix.Bind(fd, name); err == nil {
		err = unix.Listen(fd, listenBacklog)
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// newOffer is a pair of sockets: a sandbox sends descriptors through theirs, such as the sockets of a gate, and they
// arrive at ours.
func newOffer(name string) (ours, theirs *os.File, err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("make a pair of sockets: %w", err)
	}
	return os.NewFile(uintptr(pair[0]), name), os.NewFile(uintptr(pair[1]), name), nil
}
