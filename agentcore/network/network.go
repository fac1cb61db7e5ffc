// Package network says which hosts the user allows by name, and which addresses anybody may reach. Where a model or a
// command chooses the host, by `webfetch` or the proxy of sandboxes, connections are made only by [Allowed.Dial].
package network

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
)

// patience is how long a name or a connection may take.
const patience = 30 * time.Second

// Allowed are the hosts that `network.allow` names. It is immutable; the zero value names none.
type Allowed struct {
	// addresses are "host:port" in canonical form.
	addresses map[string]bool
}

// Parse reads entries: a host, which stands for its ports 80 and 443, or host:port. The error names the entry that is
// neither.
func Parse(entries []string) (Allowed, error) {
	a := Allowed{map[string]bool{}}
	for _, entry := range entries {
		host, port, err := net.SplitHostPort(entry)
		ports := []string{port}
		if err != nil {
			host, ports = entry, []string{"80", "443"}
		}
		for _, port := range ports {
			n, err := strconv.ParseUint(port, 10, 16)
			host := Canonical(host)
			_, addrErr := netip.ParseAddr(host)
			if err != nil || n == 0 || host == "" || strings.ContainsAny(host, "/*?@#[] \t\r\n") ||
				strings.Contains(host, ":") && addrErr != nil {
				return Allowed{}, fmt.Errorf("%q is neither a host nor host:port", entry)
			}
			a.addresses[net.JoinHostPort(host, strconv.FormatUint(n, 10))] = true
		}
	}
	return a, nil
}

// All yields what is allowed, each as host:port in canonical form, sorted.
func (a Allowed) All() iter.Seq[string] { return slices.Values(slices.Sorted(maps.Keys(a.addresses))) }

// Has reports whether exactly this host:port was named.
func (a Allowed) Has(address string) bool {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && a.addresses[net.JoinHostPort(Canonical(host), strconv.FormatUint(n, 10))]
}

// Canonical is a name in lower case without the root's dot, or an address as Go writes it.
func Canonical(host string) string {
	if a, err := netip.ParseAddr(host); err == nil {
		return a.Unmap().String()
	}
	return strings.TrimSuffix(strings.ToLower(host), ".")
}

// Resolve finds the addresses of a name; [net.Resolver.LookupNetIP] for both families is such a function.
type Resolve func(ctx context.Context, name string) ([]netip.Addr, error)

// Dial connects with host:port at an address that was checked: the name is looked up once, and its address must be
// [Public], or must itself be named with this port. The caller decides whether the host may be reached at all. If
// resolve is nil, the system is asked. The error is a *Refusal if all addresses are refused.
func (a Allowed) Dial(ctx context.Context, address string, resolve Resolve) (net.Conn, error) {
	if resolve == nil {
		resolve = func(ctx context.Context, name string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", name)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	var found []netip.Addr
	if literal, err := netip.ParseAddr(host); err == nil {
		found = []netip.Addr{literal}
	} else if found, err = resolve(ctx, Canonical(host)); err != nil {
		return nil, err
	}
	err = errors.New("it has no address")
	for _, to := range found {
		to = to.Unmap()
		target := net.JoinHostPort(to.String(), port)
		// The name localhost may mean this machine if the user named it.
		own := Canonical(host) == "localhost" && to.IsLoopback() && a.Has(address)
		if !Public(to) && !a.Has(target) && !own {
			err = &Refusal{address, to}
			continue
		}
		c, dialErr := new(net.Dialer).DialContext(ctx, "tcp", target)
		if dialErr == nil {
			return c, nil
		}
		err = dialErr
	}
	return nil, err
}

// Refuses returns why [Allowed.Dial] would refuse host:port whatever a resolver says: it is no public address, or a
// name of this machine, and the user did not name it. It returns nil if only looking the name up can tell.
func (a Allowed) Refuses(address string) *Refusal {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil
	}
	to, err := netip.ParseAddr(host)
	if err != nil {
		if name := Canonical(host); name != "localhost" && !strings.HasSuffix(name, ".localhost") { // RFC 6761, 6.3
			return nil
		}
		to = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	to = to.Unmap()
	if Public(to) || a.Has(address) || a.Has(net.JoinHostPort(to.String(), port)) ||
		a.Has(net.JoinHostPort("::1", port)) && to.IsLoopback() {
		return nil
	}
	return &Refusal{address, to}
}

// Refusal is the error for a host that is not allowed.
type Refusal struct {
	// Address is the host with its port as it was asked for.
	Address string
	// Private is the address to which the host leads, if that is not public and the user did not name it.
	Private netip.Addr
}

// Error implements error.
func (r *Refusal) Error() string {
	if r.Private.IsValid() {
		return fmt.Sprintf("%s leads to %s, which is no public address, and network.allow does not name it",
			visible(r.Address), r.Private)
	}
	return visible(r.Address) + " is not in network.allow"
}

// Hint says how the user allows it.
func (r *Refusal) Hint() string {
	entry := r.Address
	if _, port, err := net.SplitHostPort(r.Address); err == nil && r.Private.IsValid() {
		entry = net.JoinHostPort(r.Private.String(), port)
	}
	return fmt.Sprintf("to allow it, the user adds %s to network.allow in the configuration of agentls", visible(entry))
}

// visible is a host for people and models. A command or a page may have named it, so that it can contain any
// characters.
func visible(address string) string {
	return strconv.QuoteToASCII(address[:min(len(address), 300)])
}

// inner are the blocks of networks, in addition to those that net/netip knows, whose machines not everybody may reach,
// or whose addresses contain other addresses in a way that cannot be decoded: "this network" (RFC 791), shared address
// space (RFC 6598), protocol assignments (RFC 6890), reserved (RFC 1112), addresses of version 4 in version 6 (RFC
// 4291), local translation (RFC 8215), Teredo and its like (RFC 4380), site-local (RFC 3879).
var inner = func() []netip.Prefix {
	var list []netip.Prefix
	for _, block := range []string{
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "240.0.0.0/4", "::/96", "64:ff9b:1::/48",
		"2001::/23", "fec0::/10",
	} {
		list = append(list, netip.MustParsePrefix(block))
	}
	return list
}()

// carriers are the blocks whose addresses contain an address of version 4, with the byte at which it begins:
// translation (RFC 6052) and 6to4 (RFC 3056).
var carriers = map[netip.Prefix]int{netip.MustParsePrefix("64:ff9b::/96"): 12, netip.MustParsePrefix("2002::/16"): 2}

// Public reports whether everybody may reach an address: it is not in a private network, on this machine or on its
// link. Addresses that a resolver makes up for names, such as those for documentation, count as public.
func Public(a netip.Addr) bool {
	a = a.Unmap()
	for block, at := range carriers {
		if bytes := a.As16(); a.Is6() && block.Contains(a) {
			return Public(netip.AddrFrom4([4]byte(bytes[at : at+4])))
		}
	}
	return a.IsValid() && a.Zone() == "" && a.IsGlobalUnicast() && !a.IsPrivate() &&
		!slices.ContainsFunc(inner, func(block netip.Prefix) bool { return block.Contains(a) })
}
