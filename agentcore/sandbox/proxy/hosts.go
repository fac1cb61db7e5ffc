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

// inner are the blocks of networks, beside those that net/netip knows, whose machines are not for everybody, or that carry
// other addresses in a way that cannot be told: "this network" (RFC 791), shared address space (RFC 6598), protocol
// assignments (RFC 6890), reserved (RFC 1112), addresses of version 4 in version 6 (RFC 4291), local translation (RFC 8215),
// Teredo and its like (RFC 4380), site-local (RFC 3879).
var inner = func() []netip.Prefix {
	var list []netip.Prefix
	for _, block := range []string{
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "240.0.0.0/4", "::/96", "64:ff9b:1::/48", "2001::/23", "fec0::/10",
	} {
		list = append(list, netip.MustParsePrefix(block))
	}
	return list
}()

// carriers are the blocks whose addresses have one of version 4 in them, from a byte on: translation (RFC 6052) and 6to4 (RFC
// 3056).
var carriers = map[netip.Prefix]int{netip.MustParsePrefix("64:ff9b::/96"): 12, netip.MustParsePrefix("2002::/16"): 2}

// isPublic tells whether an address is one that everybody may reach, and not of a private network, of this machine or of its
// link. What names lead to by a resolver that makes addresses up, such as those for documentation, counts as public.
func isPublic(a netip.Addr) bool {
	a = a.Unmap()
	for block, at := range carriers {
		if bytes := a.As16(); a.Is6() && block.Contains(a) {
			return isPublic(netip.AddrFrom4([4]byte(bytes[at : at+4])))
		}
	}
	return a.IsValid() && a.Zone() == "" && a.IsGlobalUnicast() && !a.IsPrivate() &&
		!slices.ContainsFunc(inner, func(block netip.Prefix) bool { return block.Contains(a) })
}
