package proxy

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"

	"github.com/agentls/agentls/agentcore/sandbox"
)

// Gate makes the way from sandboxes to the allowed hosts and no others: each "host", which stands for its ports 80 and
// 443, or "host:port". What is named on the loopback of the machine is there in the sandbox, too, at the same address.
// Names are looked up outside, and lead nowhere where they lead to an address that is not public and not named itself.
// The error names the entry that is wrong. The result may be called from any goroutine.
func Gate(allow []string) (func() sandbox.Gate, error) {
	allowed, err := parse(allow)
	if err != nil {
		return nil, fmt.Errorf("open the network to single hosts: %w", err)
	}
	doors := loopback(allowed)
	own := proxyAddress(doors)
	listen := []string{own}
	for _, d := range doors {
		listen = append(listen, d.inside)
	}
	return func() sandbox.Gate {
		return sandbox.Gate{
			Listen: listen, Env: proxyEnviron(own),
			Serve: func(socket *os.File) (func() []string, error) {
				p := newProxy(allowed)
				if err := p.attend(socket, doors); err != nil {
					p.close()
					return nil, err
				}
				return func() []string {
					p.close()
					return p.notes()
				}, nil
			},
		}
	}, nil
}

// attend serves what arrives at a socket, of which there is one message at most.
func (p *proxy) attend(socket *os.File, doors []door) error {
	c, err := net.FileConn(socket)
	if err = errors.Join(err, socket.Close()); err != nil {
		return fmt.Errorf("watch a socket: %w", err)
	}
	from, ok := c.(*net.UnixConn)
	if !ok {
		return errors.Join(fmt.Errorf("the socket is a %T", c), c.Close())
	}
	p.work(from, func() { p.take(from, doors) })
	return nil
}

// take waits for the message with the sockets. If the sandbox ends before, there is nothing to serve.
func (p *proxy) take(from *net.UnixConn, doors []door) {
	which := make([]byte, maxLoopback+1)
	rights := make([]byte, syscall.CmsgSpace(4*len(which)))
	n, size, _, _, err := from.ReadMsgUnix(which, rights)
	if err != nil || size == 0 {
		return
	}
	messages, err := syscall.ParseSocketControlMessage(rights[:size])
	if err != nil || len(messages) != 1 {
		return // our own program does not send that
	}
	sockets, err := syscall.ParseUnixRights(&messages[0])
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
			p.serve(l)
		case i < n && int(which[i]) <= len(doors):
			p.pass(l, doors[which[i]-1].outside)
		default:
			_ = l.Close()
		}
	}
}
