package http1

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// resettingServer answers the first request of every connection. After its answer, the first connection is reset if reset is set,
// and closed otherwise; closed is signalled when that has happened. Bodies receives every request body.
func resettingServer(t *testing.T, reset bool) (address string, bodies chan string, closed chan struct{}) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	bodies, closed = make(chan string, 8), make(chan struct{})
	var conns atomic.Int32
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = c.Close() }()
				if r, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
					body, _ := io.ReadAll(r.Body)
					bodies <- string(body)
					_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na")
				}
				if conns.Add(1) > 1 {
					return
				}
				if tcp, ok := c.(*net.TCPConn); ok && reset {
					_ = tcp.SetLinger(0)
				}
				_ = c.Close()
				close(closed)
			}()
		}
	}()
	return "http://" + l.Addr().String() + "/", bodies, closed
}

// deadIdle makes one request and waits until the idle connection is closed without the client noticing, like a connection that is
// closed between the check and the write.
func deadIdle(t *testing.T, c *Client, address string, closed <-chan struct{}) {
	t.Helper()
	if _, _, err := ask(t, c, address); err != nil {
		t.Fatal(err)
	}
	<-closed
	for c.idleLives() {
		time.Sleep(time.Millisecond)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.idle[0].quiet = nil
}

func TestResendOnDeadConnectionSendsTheBody(t *testing.T) {
	for name, body := range map[string]string{"small": `{"a":1}`, "large": strings.Repeat("x", oneWrite+1)} {
		address, bodies, closed := resettingServer(t, true)
		c := &Client{}
		deadIdle(t, c, address, closed)
		<-bodies
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		res, err := c.RoundTrip(r)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		_ = res.Body.Close()
		if got := <-bodies; got != body {
			t.Errorf("%s: the server got %.40q (%d bytes), want %d bytes", name, got, len(got), len(body))
		}
	}
}

// A server that closed the connection normally may have read the request before, and the client cannot find out.
func TestRequestThatMayHaveBeenReadIsNotResent(t *testing.T) {
	address, bodies, closed := resettingServer(t, false)
	c := &Client{}
	deadIdle(t, c, address, closed)
	<-bodies
	if _, _, err := ask(t, c, address); err == nil {
		t.Error("the request was sent again")
	}
	if len(bodies) > 0 {
		t.Errorf("the server got %q", <-bodies)
	}
}
