package proxy

import (
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// hosts are what is allowed, each as "host:port" in canonical form.
type hosts map[string]bool

// parseHosts reads entries: a host, which stands for its ports 80 and 443, or host:port.
func parseHosts(allow []string) (hosts, error) {
	h := hosts{}
	for _, entry := range allow {
		host, port, err := net.SplitHostPort(entry)
		ports := []string{port}
		if err != nil {
			host, ports = entry, []string{"80", "443"}
		}
		for _, port := range ports {
			n, err := strconv.ParseUint(port, 10, 16)
			host := canonicalHost(host)
			_, addrErr := netip.ParseAddr(host)
			if err != nil || n == 0 || host == "" || strings.ContainsAny(host, "/*?@#[] \t\r\n") || strings.Contains(host, ":") && addrErr != nil {
				return nil, fmt.Errorf("%q is neither a host nor host:port", entry)
			}
			h[net.JoinHostPort(host, strconv.FormatUint(n, 10))] = true
		}
	}
	if n := len(h.loopback()); n > maxLoopback {
		return nil, fmt.Errorf("%d addresses of the loopback are allowed, and %d can be at most", n, maxLoopback)
	}
	return h, nil
}

// has tells whether host:port was named, exactly.
func (h hosts) has(address string) bool {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && h[net.JoinHostPort(canonicalHost(host), strconv.FormatUint(n, 10))]
}

// canonicalHost is a name in lower case without the root's dot, or an address as Go writes it.
func canonicalHost(host string) string {
	if a, err := netip.ParseAddr(host); err == nil {
		return a.Unmap().String()
	}
	return strings.TrimSuffix(strings.ToLower(host), ".")
}

// maxLoopback is how many sockets one message hands over, less than the kernel's bound (SCM_MAX_FD, 253).
const maxLoopback = 200

// door is a place on the loopback of a sandbox, and where it leads outside.
type door struct{ inside, outside string }

// loopback are the doors for what was named on the loopback of the machine.
func (h hosts) loopback() []door {
	var doors []door
	for _, address := range slices.Sorted(maps.Keys(h)) {
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			continue // parseHosts has joined it
		}
		if host == "localhost" {
			doors = append(doors, door{net.JoinHostPort("127.0.0.1", port), address}, door{net.JoinHostPort("::1", port), address})
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

// proxyEnviron are the variables by which programs find the proxy. What listens in the sandbox itself, or was allowed on
// the loopback, is reached without it.
func proxyEnviron(address string) []string {
	var env []string
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"} {
		env = append(env, name+"=http://"+address, strings.ToLower(name)+"=http://"+address)
	}
	const own = "localhost,127.0.0.1,::1"
	return append(env, "NO_PROXY="+own, "no_proxy="+own, "NODE_USE_ENV_PROXY=1")
}

// special are the blocks that are not public, or that carry other addresses, by the registries of IANA for special-purpose
// addresses (RFC 6890), beside those that net/netip knows.
var special = func() []netip.Prefix {
	var list []netip.Prefix
	for _, block := range []string{
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
		"::/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16", "fec0::/10",
	} {
		list = append(list, netip.MustParsePrefix(block))
	}
	return list
}()

// isPublic tells whether an address is one of the internet, and not of a private network, of this machine or of something
// special.
func isPublic(a netip.Addr) bool {
	a = a.Unmap()
	return a.IsValid() && a.Zone() == "" && a.IsGlobalUnicast() && !a.IsPrivate() &&
		!slices.ContainsFunc(special, func(block netip.Prefix) bool { return block.Contains(a) })
}
