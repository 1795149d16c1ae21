package netpolicy

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"
)

func mustParse(t *testing.T, list string) Policy {
	t.Helper()
	p, err := Parse(list)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestZeroPolicyAllowsGlobalAddressesOnly(t *testing.T) {
	for _, allowed := range []string{
		"1.1.1.1", "8.8.8.8", "93.184.216.34", "100.63.255.255", "100.128.0.1", "172.15.255.255", "172.32.0.1", "192.0.1.1", "223.255.255.255",
		"2606:4700::1111", "2a00:1450:4001::8a", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1",
	} {
		if !(Policy{}).Allowed(netip.MustParseAddr(allowed), 443) {
			t.Errorf("%s is denied", allowed)
		}
	}
	for _, denied := range []string{
		"0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.254", "169.254.0.1", "169.254.169.254",
		"172.16.0.1", "172.31.255.255", "192.0.0.192", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.19.255.255", "198.51.100.1",
		"203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
		"::", "::1", "::2", "::7f00:1", "::ffff:127.0.0.1", "::ffff:a9fe:a9fe", "::ffff:10.0.0.1", "::ffff:0:7f00:1",
		"64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b::a00:1", "64:ff9b:1::1", "64:ff9b:1::808:808", "100::1", "100:0:0:1::1",
		"2001::1", "2001:0:808:808::1", "2001:20::1", "2001:db8::1", "2002:7f00:1::1", "2002:a9fe:a9fe::", "3fff::1", "5f00::1",
		"fc00::1", "fd00:ec2::254", "fe80::1", "fe80::1%eth0", "2606:4700::1111%eth0", "fec0::1", "ff02::1", "4000::1", "e000::1",
	} {
		if (Policy{}).Allowed(netip.MustParseAddr(denied), 443) {
			t.Errorf("%s is allowed", denied)
		}
	}
	if (Policy{}).Allowed(netip.Addr{}, 443) {
		t.Error("the zero address is allowed")
	}
}

func TestListAllowsExactlyItsEntries(t *testing.T) {
	p := mustParse(t, "127.0.0.1:8080, 10.1.0.0/16 fd00::/8,[::1]:9090,192.168.0.7 , intranet.Example.:443")
	for address, want := range map[string]bool{
		"127.0.0.1:8080": true, "127.0.0.1:8081": false, "127.0.0.2:8080": false, "[::ffff:127.0.0.1]:8080": true, "[::ffff:127.0.0.1]:80": false,
		"[64:ff9b::7f00:1]:8080": true, "[64:ff9b::7f00:1]:80": false,
		"10.1.2.3:1": true, "10.2.0.1:1": false, "[fd12::1]:22": true, "[fc00::1]:22": false, "[::1]:9090": true, "[::1]:9091": false,
		"192.168.0.7:99": true, "192.168.0.8:99": false, "8.8.8.8:53": true,
	} {
		at := netip.MustParseAddrPort(address)
		if got := p.Allowed(at.Addr(), at.Port()); got != want {
			t.Errorf("%s: %v, want %v", address, got, want)
		}
	}
	for _, name := range []string{"intranet.example", "INTRANET.example."} {
		if !p.AllowedName(name, 443) || p.AllowedName(name, 80) || p.AllowedName("x."+name, 443) {
			t.Errorf("%s is not allowed on its port only", name)
		}
	}
}

func TestParseNamesTheBadEntry(t *testing.T) {
	for list, want := range map[string]string{
		"10.0.0.0/33": "10.0.0.0/33", "localhost": "localhost", "localhost:0": "port", "localhost:70000": "port", "localhost:http": "port",
		"1.1.1.1,a b:80": `"a"`, "[::1:80": "[::1:80", "::ffff:10.0.0.0/104": "IPv4 prefix", "fe80::1%eth0": "zone", "[fe80::1%eth0]:80": "zone",
		"sp*ce:80": "not an IP address", ":80": ":80", "http://x:80": "http://x:80",
	} {
		if _, err := Parse(list); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want one with %q", list, err, want)
		}
	}
	if _, err := Parse(strings.Repeat("1.1.1.1,", maxRules+1)); err == nil {
		t.Error("an endless list was read")
	}
}

// changing is a resolver with other answers at each lookup, as those of an attacker's name server may.
type changing struct {
	answers [][]string
	asked   int
}

func (r *changing) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	if r.asked >= len(r.answers) {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	answer := r.answers[r.asked]
	r.asked++
	addrs := make([]netip.Addr, 0, len(answer))
	for _, a := range answer {
		addrs = append(addrs, netip.MustParseAddr(a))
	}
	return addrs, nil
}

// listen returns the port of a listener on 127.0.0.1 that accepts and closes.
func listen(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
		}
	}()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

func TestDialerConnectsToTheAddressItChecked(t *testing.T) {
	port := listen(t)
	resolver := &changing{answers: [][]string{{"127.0.0.1"}, {"169.254.169.254"}, {"169.254.169.254", "127.0.0.1"}, {}}}
	d := &Dialer{Policy: mustParse(t, "127.0.0.1:"+port), Resolver: resolver}
	conn, err := d.DialContext(t.Context(), "tcp", "rebind.example:"+port)
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	if resolver.asked != 1 {
		t.Errorf("the name was looked up %d times", resolver.asked)
	}
	var denied *DeniedError
	if _, err := d.DialContext(t.Context(), "tcp", "rebind.example:"+port); !errors.As(err, &denied) || denied.Host != "rebind.example" {
		t.Errorf("after the name has changed: %v", err)
	}
	if strings.Contains(denied.Error(), "169") {
		t.Errorf("%v says what the name resolves to", denied)
	}
	if conn, err = d.DialContext(t.Context(), "tcp", "mixed.example:"+port); err != nil {
		t.Errorf("with one allowed address: %v", err)
	} else {
		_ = conn.Close()
	}
	var dns *net.DNSError
	for range 2 { // an empty answer, then none
		if _, err := d.DialContext(t.Context(), "tcp", "gone.example:"+port); !errors.As(err, &dns) {
			t.Errorf("without an address: %v", err)
		}
	}
}

func TestDialerDeniesLiteralsAndNames(t *testing.T) {
	port := listen(t)
	var d Dialer
	for _, host := range []string{"127.0.0.1", "::1", "::ffff:127.0.0.1", "0.0.0.0", "::", "localhost", "169.254.169.254", "fe80::1%lo"} {
		var denied *DeniedError
		if _, err := d.DialContext(t.Context(), "tcp", net.JoinHostPort(host, port)); !errors.As(err, &denied) {
			t.Errorf("%s: %v", host, err)
		}
	}
	named := &Dialer{Policy: mustParse(t, "localhost:"+port)}
	conn, err := named.DialContext(t.Context(), "tcp", "LocalHost:"+port)
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	for _, bad := range []struct{ network, address string }{{"udp", "1.1.1.1:1"}, {"unix", "/run/x:1"}, {"tcp", "1.1.1.1"}, {"tcp", "1.1.1.1:0"}, {"tcp", "1.1.1.1:x"}} {
		if _, err := d.DialContext(t.Context(), bad.network, bad.address); err == nil {
			t.Errorf("%s %s: connected", bad.network, bad.address)
		}
	}
}
