package netpolicy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"time"
)

// DeniedError is the error for a connection that the policy does not allow. Nothing was sent.
type DeniedError struct {
	Host string // as requested
	Port uint16
}

// Error names the host as requested, not the addresses it resolves to.
func (e *DeniedError) Error() string {
	return fmt.Sprintf("connecting to %s: the address is not allowed", net.JoinHostPort(e.Host, strconv.Itoa(int(e.Port))))
}

// HostPort returns the host:port that an http or https URL is loaded from.
func HostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// Resolver looks up the addresses of a name. [net.Resolver] is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Dialer connects to what a Policy allows. It resolves a name once, checks each address and connects to an address it has checked, so
// that a name cannot resolve to another address between the check and the connection.
//
// The zero Dialer allows global unicast addresses and uses the resolver of the system.
type Dialer struct {
	Policy   Policy
	Resolver Resolver      // nil is net.DefaultResolver
	Timeout  time.Duration // for one address; 0 is 10 s
}

// maxAddrs limits how many addresses of a name are tried.
const maxAddrs = 8

// DialContext connects to address, which is host:port, over "tcp", "tcp4" or "tcp6". It returns a [*DeniedError] if the policy allows
// none of the addresses of the host. Its signature is that of [http.Transport.DialContext].
func (d *Dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	if network != "tcp" && network != "tcp4" && network != "tcp6" {
		return nil, net.UnknownNetworkError(network)
	}
	host, digits, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	port, err := strconv.ParseUint(digits, 10, 16)
	if err != nil || port == 0 {
		return nil, &net.AddrError{Err: "invalid port", Addr: address}
	}
	addrs, err := d.resolve(ctx, network, host, uint16(port))
	if err != nil {
		return nil, err
	}
	dialer := net.Dialer{Timeout: d.Timeout}
	if dialer.Timeout == 0 {
		dialer.Timeout = 10 * time.Second
	}
	var failures []error
	for _, addr := range addrs[:min(len(addrs), maxAddrs)] {
		conn, err := dialer.DialContext(ctx, network, netip.AddrPortFrom(addr, uint16(port)).String())
		if err == nil {
			return conn, nil
		}
		failures = append(failures, err)
		if ctx.Err() != nil {
			break
		}
	}
	return nil, errors.Join(failures...)
}

// resolve returns the addresses of host that may be connected to, at least one.
func (d *Dialer) resolve(ctx context.Context, network, host string, port uint16) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		if !d.Policy.Allowed(addr, port) {
			return nil, &DeniedError{host, port}
		}
		return []netip.Addr{addr}, nil
	}
	var resolver Resolver = net.DefaultResolver
	if d.Resolver != nil {
		resolver = d.Resolver
	}
	family := map[string]string{"tcp": "ip", "tcp4": "ip4", "tcp6": "ip6"}[network]
	found, err := resolver.LookupNetIP(ctx, family, host)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, &net.DNSError{Err: "no addresses", Name: host, IsNotFound: true}
	}
	named := d.Policy.AllowedName(host, port)
	allowed := make([]netip.Addr, 0, len(found))
	for _, addr := range found {
		if named || d.Policy.Allowed(addr, port) {
			allowed = append(allowed, addr.Unmap())
		}
	}
	if len(allowed) == 0 {
		return nil, &DeniedError{host, port}
	}
	return allowed, nil
}
