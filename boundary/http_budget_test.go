package boundary

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/wire"
)

// TestLargeRequestsShareABudget uses up the memory for large requests with calls that do not end. Another large request is
// refused with a retry delay, a small one is served, and so is a large one after memory was released.
func TestLargeRequestsShareABudget(t *testing.T) {
	r := &rig{tally: new(tally)}
	b := Install(demoServer(), Options{Ledger: r.tally, Meter: r.tally, Logger: quiet})
	var inside atomic.Int64
	end := make(chan struct{})
	l := b.layer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.ContentLength > smallBody {
			inside.Add(1)
			<-end
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"jsonrpc":"2.0","id":1,"result":{}}`))
	}))
	l.budget.Timeout = 10 * time.Millisecond // requests that get memory do not wait
	r.Server = httptest.NewServer(l)
	t.Cleanup(r.Close)
	small := request("1", "ping", "")
	large := small + strings.Repeat(" ", defaultMaxBody-len(small))

	var under sync.WaitGroup
	for range bodyBudget / defaultMaxBody {
		under.Go(func() {
			if got := r.do(t, "POST", large).status; got != http.StatusOK {
				t.Errorf("a request within the budget: status %d", got)
			}
		})
	}
	for inside.Load() < bodyBudget/defaultMaxBody {
		time.Sleep(time.Millisecond)
	}
	res := r.do(t, "POST", large)
	if e := res.failure(t); res.status != http.StatusServiceUnavailable || res.header.Get("Retry-After") != "1" || e == nil || e.Code() != candor.CodeUnavailable {
		t.Errorf("a request beyond the budget: %d %v: %s", res.status, res.header, res.body)
	}
	if entries, _, _ := r.totals(); entries != 1 {
		t.Errorf("%d entries", entries)
	}
	if string(wire.PeekID(res.body, nil)) != "1" {
		t.Errorf("the refusal has no id: %s", res.body)
	}
	if got := r.do(t, "POST", small).status; got != http.StatusOK {
		t.Errorf("a small request: status %d", got)
	}
	close(end)
	under.Wait()
	if got := r.do(t, "POST", large).status; got != http.StatusOK {
		t.Errorf("a request after the release: status %d", got)
	}
}

// TestAnnouncedBytesAreNotReserved sends requests that announce more bytes than are available and send few of them, and one without
// a content length. Other requests do not wait for them.
func TestAnnouncedBytesAreNotReserved(t *testing.T) {
	b := Install(demoServer(), Options{Logger: quiet})
	l := b.layer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.Header.Get("Wait") != "" {
			<-q.Context().Done()
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"jsonrpc":"2.0","id":1,"result":{}}`))
	}))
	l.budget.Timeout = 10 * time.Millisecond
	var arrived atomic.Int64
	r := &rig{tally: new(tally), Server: httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		arrived.Add(1)
		l.ServeHTTP(w, q)
	}))}
	t.Cleanup(r.Close)
	small := request("1", "ping", "")
	head := "POST / HTTP/1.1\r\nHost: " + r.Listener.Addr().String() + "\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
	for _, kind := range []string{
		head + "Content-Length: 4194304\r\n\r\n" + small[:10],
		head + "Wait: 1\r\nTransfer-Encoding: chunked\r\n\r\n" + strconv.FormatInt(int64(len(small)), 16) + "\r\n" + small + "\r\n0\r\n\r\n",
	} {
		const many = 2 * bodyBudget / defaultMaxBody
		arrived.Store(0)
		for range many {
			conn, err := net.Dial("tcp", r.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = conn.Close() })
			if _, err := io.WriteString(conn, kind); err != nil {
				t.Fatal(err)
			}
		}
		for arrived.Load() < many {
			time.Sleep(time.Millisecond)
		}
		if got := r.do(t, "POST", small+strings.Repeat(" ", defaultMaxBody-len(small))).status; got != http.StatusOK {
			t.Errorf("beside %.200q: a large call got status %d", kind, got)
		}
	}
}
