package proxy

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/agentls/agentls/agentcore/network"
)

// parse reads what is allowed. The error names the entry that is wrong, or says that there are too many of the
// loopback.
func parse(allow []string) (network.Allowed, error) {
	allowed, err := network.Parse(allow)
	if err != nil {
		return network.Allowed{}, err
	}
	if n := len(loopback(allowed)); n > maxLoopback {
		return network.Allowed{}, fmt.Errorf("%d addresses of the loopback are allowed, and %d can be at most",
			n, maxLoopback)
	}
	return allowed, nil
}

// maxLoopback is how many sockets one message hands over, less than the kernel's bound (SCM_MAX_FD, 253).
const maxLoopback = 200

// door is a place on the loopback of a sandbox, and where it leads outside.
type door struct{ inside, outside string }

// loopback are the doors for what was named on the loopback of the machine.
func loopback(allowed network.Allowed) []door {
	var doors []door
	for address := range allowed.All() {
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			continue // network.Parse has joined it
		}
		if host == "localhost" {
			doors = append(doors, door{net.JoinHostPort("127.0.0.1", port), address},
				door{net.JoinHostPort("::1", port), address})
		} else if a, err := netip.ParseAddr(host); err == nil && a.IsLoopback() {
			doors = append(doors, door{address, address})
		}
	}
	// Where both localhost and an address are named, the address has its own way.
	slices.SortStableFunc(doors, func(a, b door) int {
		if order := strings.Compare(a.inside, b.inside); order != 0 || a == b {
			return order
		}
		if a.inside == a.outside {
			return -1
		}
		return 1
	})
	return slices.CompactFunc(doors, func(a, b door) bool { return a.inside == b.inside })
}

// firstProxyPort is where the proxy listens in a sandbox: the same for all, so that what programs remember by their
// environment stays valid, and above the range from which the kernel takes ports.
const firstProxyPort = 61080

// proxyAddress is a place for the proxy that no door takes.
func proxyAddress(doors []door) string {
	for port := firstProxyPort; ; port++ {
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		if !slices.ContainsFunc(doors, func(d door) bool { return d.inside == address }) {
			return address
		}
	}
}

// proxyEnviron are the variables by which programs find the proxy. What listens in the sandbox itself, or was allowed
// on the loopback, is reached without it.
func proxyEnviron(address string) []string {
	var env []string
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"} {
		env = append(env, name+"=http://"+address, strings.ToLower(name)+"=http://"+address)
	}
	const own = "localhost,127.0.0.1,::1"
	return append(env, "NO_PROXY="+own, "no_proxy="+own, "NODE_USE_ENV_PROXY=1")
}
