package browser

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/netpolicy"
)

// Limits of a proxy.
const (
	maxProxyConns   = 256
	maxProxyHeader  = 256 << 10
	proxyIdle       = 2 * time.Minute
	maxProxyResults = 256
	proxyUser       = "candor"
	// signInHost is answered by the proxy itself. Chromium requests it first, so that it learns the password while a
	// client controls it.
	signInHost = "sign-in.proxy.invalid"
)

// errTraffic is the error for transfers beyond the limit, and for the call that caused them.
var errTraffic = errors.New("too much traffic")

// proxy is a forward proxy on loopback for one Chromium. It connects to the addresses that its dialer allows, and
// requires a password, so that other processes of the machine cannot use it.
type proxy struct {
	dialer    *netpolicy.Dialer
	transport *http.Transport
	forwarder *httputil.ReverseProxy
	server    *http.Server
	listener  net.Listener
	secret    string
	ctx       context.Context // ends with the proxy
	stop      context.CancelFunc
	slots     chan struct{}
	traffic   atomic.Int64 // bytes that may still be received

	mu       sync.Mutex
	failures map[string]error // by host:port, since the last reset
	spent    chan struct{}    // closed when a transfer was stopped because of the traffic limit
}

// newProxy starts a proxy.
func newProxy(dialer *netpolicy.Dialer) (*proxy, error) {
	var listening net.ListenConfig
	listener, err := listening.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{
		dialer: dialer, listener: listener, secret: rand.Text(), slots: make(chan struct{}, maxProxyConns), failures: map[string]error{},
	}
	p.ctx, p.stop = context.WithCancel(context.Background())
	p.transport = &http.Transport{
		DialContext: dialer.DialContext, DisableCompression: true, MaxConnsPerHost: 16, MaxIdleConns: 32, IdleConnTimeout: 30 * time.Second,
		ResponseHeaderTimeout: proxyIdle, MaxResponseHeaderBytes: maxProxyHeader,
	}
	p.server = &http.Server{
		Handler: p, ReadHeaderTimeout: 30 * time.Second, IdleTimeout: proxyIdle, MaxHeaderBytes: maxProxyHeader,
		ErrorLog: log.New(io.Discard, "", 0), // errors contain text of pages
	}
	p.forwarder = p.newForwarder()
	go func() { _ = p.server.Serve(listener) }()
	return p, nil
}

// address returns the host:port of the proxy.
func (p *proxy) address() string { return p.listener.Addr().String() }

// close ends the proxy and all its connections.
func (p *proxy) close() {
	p.stop()
	_ = p.server.Close()
	p.transport.CloseIdleConnections()
}

// reset clears the failures and sets the traffic limit. The returned channel is closed when the limit is reached.
func (p *proxy) reset(traffic int64) (spent <-chan struct{}) {
	p.traffic.Store(traffic)
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.failures)
	p.spent = make(chan struct{})
	return p.spent
}

// failure returns why the last connection to host:port failed, or nil.
func (p *proxy) failure(hostport string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failures[hostport]
}

// overspent reports whether a transfer was stopped because of the traffic limit.
func (p *proxy) overspent() bool { return p.traffic.Load() < 0 }

// spend marks the traffic as used up.
func (p *proxy) spend() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.spent:
	default:
		close(p.spent)
	}
}

// note records the error of a connection for failure, unless Chromium has cancelled the request.
func (p *proxy) note(ctx context.Context, hostport string, err error) {
	if ctx.Err() != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.failures) >= maxProxyResults {
		for _, key := range slices.Collect(maps.Keys(p.failures))[:maxProxyResults/2] {
			delete(p.failures, key)
		}
	}
	p.failures[hostport] = err
}

// ServeHTTP forwards a request, or opens a tunnel.
func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !p.authorized(r) {
		w.Header().Set("Proxy-Authenticate", `Basic realm="candor"`)
		w.WriteHeader(http.StatusProxyAuthRequired)
		return
	}
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	default:
		drop(w)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(p.ctx, cancel)()
	switch {
	case r.Method == http.MethodConnect:
		p.tunnel(ctx, w, r)
	case r.URL.Scheme != "http" || r.URL.Host == "":
		w.WriteHeader(http.StatusBadRequest)
	case r.URL.Host == signInHost:
		w.Header().Set("Content-Type", "text/html")
	default:
		p.forwarder.ServeHTTP(w, r.WithContext(ctx))
	}
}

func (p *proxy) authorized(r *http.Request) bool {
	want := "Basic " + base64.StdEncoding.EncodeToString([]byte(proxyUser+":"+p.secret))
	return subtle.ConstantTimeCompare([]byte(r.Header.Get("Proxy-Authorization")), []byte(want)) == 1
}

// drop closes the connection of a request without a response. Chromium would show a response as the page.
func drop(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = conn.Close()
	}
}

// tunnel connects the client with the requested host.
func (p *proxy) tunnel(ctx context.Context, w http.ResponseWriter, r *http.Request) {
	up, err := p.dialer.DialContext(ctx, "tcp", r.Host)
	if err != nil {
		p.note(ctx, r.Host, err)
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer func() { _ = up.Close() }()
	down, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer func() { _ = down.Close() }()
	defer context.AfterFunc(p.ctx, func() { _, _ = up.Close(), down.Close() })()
	if _, err := io.WriteString(down, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		copyIdle(up, io.MultiReader(io.LimitReader(buffered, int64(buffered.Reader.Buffered())), down), down)
		_ = up.Close()
	}()
	copyIdle(down, &meteredBody{up, p}, up)
	_ = down.Close()
	<-ended
}

// copyIdle copies until an error occurs, or until conn has been idle too long.
func copyIdle(to io.Writer, from io.Reader, conn net.Conn) {
	buffer := make([]byte, 32<<10)
	for {
		_ = conn.SetReadDeadline(time.Now().Add(proxyIdle))
		n, err := from.Read(buffer)
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// newForwarder returns a handler that forwards plain HTTP requests and their responses.
func (p *proxy) newForwarder() *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		Transport:     p.transport,
		ErrorLog:      p.server.ErrorLog,
		FlushInterval: -1, // the browser sees a slow page as it arrives
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.RawQuery = r.In.URL.RawQuery // also one that Go cannot parse
			r.Out.Host = r.In.URL.Host
		},
		ModifyResponse: func(r *http.Response) error {
			if r.StatusCode == http.StatusProxyAuthRequired || r.StatusCode == http.StatusSwitchingProtocols {
				return errors.New("unexpected status")
			}
			r.Body = &meteredBody{r.Body, p}
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			p.note(r.Context(), netpolicy.HostPort(r.URL), err)
			drop(w)
		},
	}
}

// meteredBody counts the bytes read against the traffic of a proxy.
type meteredBody struct {
	io.ReadCloser
	proxy *proxy
}

func (m *meteredBody) Read(b []byte) (int, error) {
	n, err := m.ReadCloser.Read(b)
	if m.proxy.traffic.Add(-int64(n)) < 0 {
		m.proxy.spend()
		return 0, errTraffic
	}
	return n, err
}
