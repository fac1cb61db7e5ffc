package network

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for entry, want := range map[string]string{
		"docs.example.org":       "docs.example.org:443 docs.example.org:80",
		"Docs.Example.org.:8080": "docs.example.org:8080", "127.0.0.1:8080": "127.0.0.1:8080", "[::1]:0080": "[::1]:80",
		"::1": "[::1]:443 [::1]:80", "[::ffff:10.0.0.1]:5": "10.0.0.1:5", "": "", "a:0": "", "a:70000": "",
		"a:http": "", "*.example.org": "", "http://a": "", "a b": "", "a:b:c": "", ":80": "", "[::1]": "",
	} {
		h, err := Parse([]string{entry})
		if (err != nil) != (want == "") || len(slices.Collect(h.All())) != len(strings.Fields(want)) {
			t.Errorf("%q: %v, %v", entry, h, err)
		}
		for address := range strings.FieldsSeq(want) {
			if !h.Has(address) {
				t.Errorf("%q has no %s", entry, address)
			}
		}
	}
}

func TestPublicAddresses(t *testing.T) {
	for _, text := range []string{
		"1.1.1.1", "93.184.216.34", "2606:4700::1111", "::ffff:8.8.8.8", "172.32.0.1", "100.128.0.1", "198.18.0.1",
		"203.0.113.1", "64:ff9b::808:808", "2002:808:808::",
	} {
		if !Public(netip.MustParseAddr(text)) {
			t.Errorf("%s is taken for private", text)
		}
	}
	for _, text := range []string{
		"0.0.0.0", "0.1.2.3", "127.0.0.1", "127.9.9.9", "10.1.1.1", "172.16.0.1", "192.168.1.1", "169.254.169.254",
		"100.64.0.1", "192.0.0.192", "224.0.0.1", "255.255.255.255", "240.0.0.1", "::", "::1", "fe80::1",
		"fe80::1%eth0", "fc00::1", "fd00::1", "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1",
		"2002:7f00:1::", "2001:0:1::1", "::7f00:1", "fec0::1",
	} {
		if Public(netip.MustParseAddr(text)) {
			t.Errorf("%s is taken for public", text)
		}
	}
}
