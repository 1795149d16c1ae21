// Package netpolicy decides which network addresses a server may connect to on behalf of a client. Without it a client
// could use the server to reach services that only the server can reach: on loopback, in the private network, or the
// metadata service of a cloud.
//
// By default only global unicast addresses are allowed. An operator can allow more, see [Parse].
package netpolicy

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// Policy is a set of allowed addresses. The zero Policy allows global unicast addresses only. A Policy does not change and may be used
// concurrently.
type Policy struct {
	prefixes []prefixRule
	names    map[nameRule]struct{}
}

// prefixRule allows the addresses of a prefix.
type prefixRule struct {
	prefix netip.Prefix
	port   uint16 // 0 is any
}

// nameRule allows a name with any address.
type nameRule struct {
	name string
	port uint16
}

// maxRules bounds the length of a list.
const maxRules = 1000

// Parse returns the Policy that also allows the entries of a list, which are separated by commas or spaces. An entry is a CIDR prefix or
// an IP address, both for all ports, or host:port, where host is an IP address or a name. A name is allowed with any address.
func Parse(list string) (Policy, error) {
	entries := strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
	if len(entries) > maxRules {
		return Policy{}, fmt.Errorf("%d entries, more than %d", len(entries), maxRules)
	}
	p := Policy{names: map[nameRule]struct{}{}}
	for _, entry := range entries {
		if err := p.add(entry); err != nil {
			return Policy{}, fmt.Errorf("entry %q: %w", entry, err)
		}
	}
	return p, nil
}

func (p *Policy) add(entry string) error {
	if prefix, err := netip.ParsePrefix(entry); err == nil {
		if prefix.Addr().Is4In6() {
			return errors.New("write an IPv4 prefix instead of an IPv4-mapped one")
		}
		p.prefixes = append(p.prefixes, prefixRule{prefix: prefix.Masked()})
		return nil
	}
	if addr, err := netip.ParseAddr(unbracket(entry)); err == nil {
		return p.addAddr(addr, 0)
	}
	host, digits, err := net.SplitHostPort(entry)
	if err != nil {
		return errors.New("not host:port, an IP address, or a CIDR prefix")
	}
	port, err := strconv.ParseUint(digits, 10, 16)
	if err != nil || port == 0 {
		return errors.New("the port is not a number from 1 to 65535")
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		return p.addAddr(addr, uint16(port))
	}
	if !validName(host) {
		return errors.New("the host is not an IP address or a name")
	}
	p.names[nameRule{canonicalName(host), uint16(port)}] = struct{}{}
	return nil
}

func (p *Policy) addAddr(addr netip.Addr, port uint16) error {
	if addr.Zone() != "" {
		return errors.New("an address with a zone cannot be allowed")
	}
	addr = addr.Unmap()
	p.prefixes = append(p.prefixes, prefixRule{netip.PrefixFrom(addr, addr.BitLen()), port})
	return nil
}

// Allowed reports whether a connection to the address is allowed. An IPv6 address that embeds an IPv4 address, as
// IPv4-mapped, 6to4 and NAT64 addresses do, is checked as the IPv4 address.
func (p Policy) Allowed(addr netip.Addr, port uint16) bool {
	if !addr.IsValid() || addr.Zone() != "" {
		return false
	}
	addr = addr.Unmap()
	for _, r := range p.prefixes {
		if (r.port == 0 || r.port == port) && r.prefix.Contains(addr) {
			return true
		}
	}
	if v4, ok := embedded(addr); ok {
		return p.Allowed(v4, port)
	}
	return isGlobal(addr)
}

// AllowedName reports whether the list allows a name, with any address.
func (p Policy) AllowedName(name string, port uint16) bool {
	_, ok := p.names[nameRule{canonicalName(name), port}]
	return ok
}

// unbracket removes the brackets around an IPv6 address.
func unbracket(s string) string {
	if len(s) > 2 && s[0] == '[' && s[len(s)-1] == ']' {
		return s[1 : len(s)-1]
	}
	return s
}

func validName(name string) bool {
	for _, r := range name {
		letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
		if !letter && r != '-' && r != '.' && r != '_' {
			return false
		}
	}
	return name != "" && len(name) <= 253
}

func canonicalName(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }
