// Package http1 is an HTTP/1.1 client for a proxy. It starts no goroutine for a request and sends it with one write, so that a
// call costs a fraction of a call with net/http. It parses responses strictly: ambiguous framing is refused, because a proxy that
// guesses could deliver one server's bytes as another's response.
//
// It does not follow redirects, decompress, use proxies or HTTP/2.
package http1

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Client is an [http.RoundTripper]. The zero value is ready to use. It is safe for concurrent use.
type Client struct {
	// TLS is the configuration for https; nil means the default of crypto/tls.
	TLS *tls.Config
	// MaxIdle bounds the idle connections to all servers; 0 means 256.
	MaxIdle int
	// IdleFor is how long an idle connection is kept; 0 means 4 seconds. Servers close idle connections, some after 5 seconds,
	// and a request sent at that moment is lost.
	IdleFor time.Duration
	// DialTimeout bounds the time to establish a connection; 0 means 10 seconds.
	DialTimeout time.Duration

	mu   sync.Mutex
	idle []*conn // guarded by mu; the most recently used is last
}

// RoundTrip sends a request and returns the response when its headers have arrived. The body of the request is read before
// RoundTrip returns, and its length must be known. The connection is reused only if the body of the response is read to its end.
//
// A request is sent a second time, with its body, only if an idle connection turns out to be closed before it has accepted a
// single byte. A request that the server may have read is not sent again.
func (c *Client) RoundTrip(r *http.Request) (*http.Response, error) {
	defer closeBody(r)
	ctx := r.Context()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	to := origin{r.URL.Scheme, r.URL.Host}
	var unsent []byte // the request that a closed connection did not accept; its body cannot be read twice
	for {
		nc := c.take(to)
		fresh := nc == nil
		if fresh {
			var err error
			if nc, err = c.dial(ctx, r, to); err != nil {
				return nil, err
			}
		}
		res, err := nc.exchange(ctx, r, unsent)
		if errors.Is(err, errUnsent) && !fresh {
			unsent = nc.out
			continue
		}
		return res, err
	}
}

func closeBody(r *http.Request) {
	if r.Body != nil {
		_ = r.Body.Close()
	}
}

// origin identifies the server of a connection.
type origin struct{ scheme, host string }

// take returns an idle connection that is still open, or nil.
func (c *Client) take(to origin) *conn {
	for {
		nc := c.pop(to)
		if nc == nil || nc.isUsable() {
			return nc
		}
		_ = nc.Close()
	}
}

func (c *Client) pop(to origin) *conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.expire()
	for i := len(c.idle) - 1; i >= 0; i-- {
		if nc := c.idle[i]; nc.to == to {
			c.idle = slices.Delete(c.idle, i, i+1)
			return nc
		}
	}
	return nil
}

// expire closes connections that have been idle for too long. The mutex must be held.
func (c *Client) expire() {
	limit := c.IdleFor
	if limit <= 0 {
		limit = 4 * time.Second
	}
	old, n := time.Now().Add(-limit), 0
	for n < len(c.idle) && c.idle[n].since.Before(old) {
		_ = c.idle[n].Close()
		n++
	}
	c.idle = slices.Delete(c.idle, 0, n)
}

// keep adds a connection to the idle ones.
func (c *Client) keep(nc *conn) {
	nc.since = time.Now()
	most := c.MaxIdle
	if most <= 0 {
		most = 256
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.idle) >= most {
		_ = c.idle[0].Close()
		c.idle = slices.Delete(c.idle, 0, 1)
	}
	c.idle = append(c.idle, nc)
}

// CloseIdleConnections closes the idle connections.
func (c *Client) CloseIdleConnections() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, nc := range c.idle {
		_ = nc.Close()
	}
	c.idle = nil
}

// dial establishes a connection. All its errors are dial errors, since nothing was sent.
func (c *Client) dial(ctx context.Context, r *http.Request, to origin) (*conn, error) {
	limit := c.DialTimeout
	if limit <= 0 {
		limit = 10 * time.Second
	}
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	address, secure, err := addressOf(r)
	if err != nil {
		return nil, err
	}
	raw, err := new(net.Dialer).DialContext(within, "tcp", address)
	if err != nil {
		return nil, err
	}
	if !secure {
		return newConn(c, to, raw, raw), nil
	}
	config := c.TLS.Clone()
	if config == nil {
		config = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if config.ServerName == "" {
		config.ServerName = r.URL.Hostname()
	}
	config.NextProtos = nil
	over := tls.Client(raw, config)
	if err := over.HandshakeContext(within); err != nil {
		_ = raw.Close()
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: err}
	}
	return newConn(c, to, over, raw), nil
}

func addressOf(r *http.Request) (address string, secure bool, err error) {
	port := r.URL.Port()
	switch r.URL.Scheme {
	case "http":
		if port == "" {
			port = "80"
		}
	case "https":
		secure = true
		if port == "" {
			port = "443"
		}
	default:
		return "", false, errScheme
	}
	return net.JoinHostPort(r.URL.Hostname(), port), secure, nil
}

var (
	errScheme = errors.New("unsupported URL scheme, want http or https")
	errUnsent = errors.New("nothing was sent")
)
