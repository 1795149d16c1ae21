package boundary

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/candor-mcp/candor/wire"
)

// openAnswers are the requests of an HTTP server that its handler has not answered yet. A nil *openAnswers is empty and stays so.
type openAnswers struct {
	mu  sync.Mutex
	all map[*answer]struct{}
}

func (s *openAnswers) add(a *answer) {
	if s == nil || a.asked == nil || a.asked.Shape() != wire.KindRequest {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[*answer]struct{}{}
	}
	s.all[a] = struct{}{}
}

// remove reports whether the call was answered by another than its handler.
func (s *openAnswers) remove(a *answer) bool {
	httpCalls.remove(a)
	if s != nil {
		s.mu.Lock()
		delete(s.all, a)
		s.mu.Unlock()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.leaveRecorded()
	return a.mode == answerGiven
}

// abandon answers the calls whose handlers have not returned. Their connections are closed by the caller.
func (s *openAnswers) abandon() {
	s.mu.Lock()
	open := slices.Collect(maps.Keys(s.all))
	s.mu.Unlock()
	var wg sync.WaitGroup
	for _, a := range open {
		wg.Go(a.abandon)
	}
	wg.Wait()
}

// abandon answers a call whose handler has not returned when the server stopped.
func (a *answer) abandon() {
	a.give(func() []byte { return a.l.b.abandon(context.WithoutCancel(a.r.Context()), a.exchange(), a.id()) })
}

// give answers a call in place of its handler, unless that has answered, and ends the connection. It takes no longer than leaveTime to
// write.
func (a *answer) give(message func() []byte) {
	rc := http.NewResponseController(a.ResponseWriter)
	_ = rc.SetWriteDeadline(time.Now().Add(leaveTime)) // ends a write that holds the lock, too
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.mode != answerOpen && a.mode != answerEvents || a.answered {
		return
	}
	body := message()
	if a.mode == answerEvents {
		body = append(append([]byte("event: message\ndata: "), body...), "\n\n"...)
	} else {
		a.Header().Set("Content-Type", "application/json")
		a.Header().Set("Content-Length", strconv.Itoa(len(body)))
		a.Header().Set("Connection", "close")
		a.ResponseWriter.WriteHeader(http.StatusOK)
	}
	a.mode = answerGiven
	if _, err := a.ResponseWriter.Write(body); err == nil {
		_ = rc.Flush()
	}
	a.ticket.end()
}

// endTicket gives the place of the call back to the gate.
func (a *answer) endTicket() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ticket.end()
}
