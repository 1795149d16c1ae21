package netpolicy

import "net/netip"

// Addresses with a special purpose, from the registries of IANA. All other IPv4 addresses, and those of 2000::/3, are global.
var (
	special4 = prefixes(
		"0.0.0.0/8",       // this network
		"10.0.0.0/8",      // private
		"100.64.0.0/10",   // shared by customers of a provider; some clouds keep their metadata service here
		"127.0.0.0/8",     // loopback
		"169.254.0.0/16",  // link-local; the metadata service of most clouds
		"172.16.0.0/12",   // private
		"192.0.0.0/24",    // protocol assignments
		"192.0.2.0/24",    // documentation
		"192.31.196.0/24", // AS112
		"192.52.193.0/24", // AMT
		"192.88.99.0/24",  // 6to4 relays
		"192.168.0.0/16",  // private
		"192.175.48.0/24", // AS112
		"198.18.0.0/15",   // benchmarks
		"198.51.100.0/24", // documentation
		"203.0.113.0/24",  // documentation
		"224.0.0.0/4",     // multicast
		"240.0.0.0/4",     // reserved, and broadcast
	)
	global6  = netip.MustParsePrefix("2000::/3")
	special6 = prefixes(
		"2001::/23",         // protocol assignments: Teredo, ORCHID, benchmarks
		"2001:db8::/32",     // documentation
		"2620:4f:8000::/48", // AS112
		"3fff::/20",         // documentation
	)

	nat64   = netip.MustParsePrefix("64:ff9b::/96")
	sixTo4  = netip.MustParsePrefix("2002::/16")
	fromV4  = netip.MustParsePrefix("::/96") // IPv4-compatible, deprecated
	minimum = netip.MustParseAddr("::2")     // smallest compatible address; :: and ::1 have other meanings
)

func prefixes(list ...string) []netip.Prefix {
	all := make([]netip.Prefix, 0, len(list))
	for _, s := range list {
		all = append(all, netip.MustParsePrefix(s))
	}
	return all
}

// isGlobal reports whether an address that is not IPv4-mapped is globally reachable.
func isGlobal(addr netip.Addr) bool {
	special := special4
	if addr.Is6() {
		if !global6.Contains(addr) {
			return false
		}
		special = special6
	}
	for _, p := range special {
		if p.Contains(addr) {
			return false
		}
	}
	return true
}

// embedded returns the IPv4 address that packets to an IPv6 address are sent to.
func embedded(addr netip.Addr) (netip.Addr, bool) {
	if !addr.Is6() {
		return netip.Addr{}, false
	}
	b := addr.As16()
	switch {
	case nat64.Contains(addr), fromV4.Contains(addr) && !addr.Less(minimum):
		return netip.AddrFrom4([4]byte(b[12:])), true
	case sixTo4.Contains(addr):
		return netip.AddrFrom4([4]byte(b[2:6])), true
	}
	return netip.Addr{}, false
}
