package browser

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/netpolicy"
)

// Limits of a proxy.
const (
	socksTimeout    = 30 * time.Second // for the request of a connection
	maxProxyResults = 256
)

// proxy is a SOCKS5 proxy on loopback for one Chromium. It connects to the addresses that its dialer allows, but to none
// before the first page: until then only the browser itself asks.
type proxy struct {
	dialer   *netpolicy.Dialer
	listener net.Listener
	ctx      context.Context // ends with the proxy
	stop     context.CancelFunc
	asked    atomic.Bool // a page was asked for

	mu       sync.Mutex
	failures map[string]error // of the last connection, by host:port
}

// newProxy starts a proxy.
func newProxy(dialer *netpolicy.Dialer) (*proxy, error) {
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{dialer: dialer, listener: listener, failures: map[string]error{}}
	p.ctx, p.stop = context.WithCancel(context.Background())
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go p.serve(conn)
		}
	}()
	return p, nil
}

// address returns the host:port of the proxy.
func (p *proxy) address() string { return p.listener.Addr().String() }

// close ends the proxy and all its connections.
func (p *proxy) close() {
	p.stop()
	_ = p.listener.Close()
}

// failure returns why the last connection to host:port failed, or nil.
func (p *proxy) failure(hostport string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failures[canonical(hostport)]
}

// canonical returns host:port with an IPv4 address in place of an IPv6 address that stands for it.
func canonical(hostport string) string {
	if a, err := netip.ParseAddrPort(hostport); err == nil {
		return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()).String()
	}
	return hostport
}

// note records the result of a connection for failure.
func (p *proxy) note(hostport string, err error) {
	hostport = canonical(hostport)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		delete(p.failures, hostport)
		return
	}
	if len(p.failures) >= maxProxyResults {
		clear(p.failures)
	}
	p.failures[hostport] = err
}

// SOCKS5 replies, see RFC 1928.
var (
	socksNoAuth    = []byte{5, 0}
	socksConnected = []byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0}
	socksFailed    = []byte{5, 1, 0, 1, 0, 0, 0, 0, 0, 0}
)

// serve connects the client with the host that it requests.
func (p *proxy) serve(down net.Conn) {
	defer func() { _ = down.Close() }()
	defer context.AfterFunc(p.ctx, func() { _ = down.Close() })()
	_ = down.SetDeadline(time.Now().Add(socksTimeout))
	address, err := socksRequest(down)
	if err != nil {
		return
	}
	var up net.Conn
	if err = errNoPage; p.asked.Load() {
		up, err = p.dialer.DialContext(p.ctx, "tcp", address)
	}
	p.note(address, err)
	if err != nil {
		_, _ = down.Write(socksFailed)
		return
	}
	defer func() { _ = up.Close() }()
	_ = down.SetDeadline(time.Time{})
	if _, err := down.Write(socksConnected); err != nil {
		return
	}
	go func() {
		_, _ = io.Copy(up, down)
		_ = up.Close()
	}()
	_, _ = io.Copy(down, up)
}

// errNoPage is the error of a connection before the first page.
var errNoPage = errors.New("no page was asked for")

var errSocks = errors.New("not a SOCKS5 request to connect")

// socksRequest reads a request and returns its host:port.
func socksRequest(conn net.Conn) (string, error) {
	var b [256]byte
	if _, err := io.ReadFull(conn, b[:2]); err != nil || b[0] != 5 {
		return "", errSocks
	}
	if _, err := io.ReadFull(conn, b[:b[1]]); err != nil {
		return "", err
	}
	if _, err := conn.Write(socksNoAuth); err != nil {
		return "", err
	}
	if _, err := io.ReadFull(conn, b[:5]); err != nil || b[0] != 5 || b[1] != 1 { // version and command
		return "", errSocks
	}
	kind, first := b[3], b[4] // the first byte of the host or its length
	n := map[byte]int{1: net.IPv4len, 3: int(first) + 1, 4: net.IPv6len}[kind]
	if n == 0 {
		return "", errSocks
	}
	rest := make([]byte, n-1+2) // and the port
	if _, err := io.ReadFull(conn, rest); err != nil {
		return "", err
	}
	end := len(rest) - 2
	host := string(rest[:end])
	if kind != 3 {
		ip, _ := netip.AddrFromSlice(append([]byte{first}, rest[:end]...))
		host = ip.String()
	}
	return net.JoinHostPort(host, strconv.Itoa(int(rest[end])<<8|int(rest[end+1]))), nil
}
