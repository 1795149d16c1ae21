package boundary

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
)

// TestLargeRequestsHaveARoomThatIsBounded fills the room with calls that do not end. Another large one is told to come again, a small one
// passes, and so does a large one when there is room again.
func TestLargeRequestsHaveARoomThatIsBounded(t *testing.T) {
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
	l.room.wait = 10 * time.Millisecond // those that find room do not wait at all
	r.Server = httptest.NewServer(l)
	t.Cleanup(r.Close)
	small := request("1", "ping", "")
	large := small + strings.Repeat(" ", defaultMaxBody-len(small))

	var under sync.WaitGroup
	for range bodyRoom / defaultMaxBody {
		under.Go(func() {
			if got := r.do(t, "POST", large).status; got != http.StatusOK {
				t.Errorf("what found room was answered with %d", got)
			}
		})
	}
	for inside.Load() < bodyRoom/defaultMaxBody {
		time.Sleep(time.Millisecond)
	}
	res := r.do(t, "POST", large)
	if e := res.failure(t); res.status != http.StatusServiceUnavailable || res.header.Get("Retry-After") != "1" || e == nil || e.Code() != candor.CodeUnavailable {
		t.Errorf("without room it was answered with %d %v: %s", res.status, res.header, res.body)
	}
	if entries, _, _ := r.totals(); entries != 1 {
		t.Errorf("%d entries", entries)
	}
	if got := r.do(t, "POST", small).status; got != http.StatusOK {
		t.Errorf("a small one was answered with %d", got)
	}
	close(end)
	under.Wait()
	if got := r.do(t, "POST", large).status; got != http.StatusOK {
		t.Errorf("with room again it was answered with %d", got)
	}
}
