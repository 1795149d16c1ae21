package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/console/failures"
	"github.com/candor-mcp/candor/cmd/internal/page"
)

// Limits of a live feed.
const (
	drainInterval = 100 * time.Millisecond // at which the queue of new failures is emptied
	feedInterval  = 250 * time.Millisecond // at which new failures are sent
	floodInterval = 750 * time.Millisecond // the same, while more failures come than a page shows
	feedRows      = 25                     // rows that are sent to a page at once; the others are counted
	feedEvents    = 5000                   // events that are sent to a program at once
	feedKeepAlive = 15 * time.Second
	feedTimeout   = 5 * time.Second // to write; slower readers are disconnected
)

// feed is one stream of events.
type feed struct {
	s       *Server
	w       http.ResponseWriter
	control *http.ResponseController
	most    int // failures that are sent at once
	pending []failures.Failure
	skipped int // failures that are not sent, because there are too many
	write   func(f *feed, list []failures.Failure, skipped int) error
}

// livePage streams new failures as rows of the list.
func (s *Server) livePage(w http.ResponseWriter, r *http.Request) {
	s.stream(w, r, feedRows, (*feed).rows)
}

// apiEvents streams new failures as JSON.
func (s *Server) apiEvents(w http.ResponseWriter, r *http.Request) {
	s.stream(w, r, feedEvents, (*feed).events)
}

// stream sends the new failures that the filter in the address selects, until the client leaves or is too slow.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, most int, write func(*feed, []failures.Failure, int) error) {
	filter, _, err := filterOf(r)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	select {
	case s.streams <- struct{}{}:
		defer func() { <-s.streams }()
	default:
		w.Header().Set("Retry-After", "10")
		s.writeProblem(w, r, &problem{Status: http.StatusServiceUnavailable, Title: "Too many live feeds", Detail: "Close other pages of the console, or load the page again from time to time."})
		return
	}
	f := &feed{s: s, w: w, control: http.NewResponseController(w), most: most, write: write}
	if f.control.SetReadDeadline(time.Time{}) != nil { // the server's timeout for requests would end the stream
		s.writeProblem(w, r, &problem{Status: http.StatusInternalServerError, Title: "No live feed", Detail: "The connection does not support streaming."})
		return
	}
	sub := s.o.Failures.Subscribe(filter)
	defer sub.Close()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	_ = f.run(r, sub) // the client has left
}

// run sends failures at intervals. It ends if the client leaves, reads too slowly, or the console ends.
func (f *feed) run(r *http.Request, sub *failures.Subscription) error {
	if err := f.send("retry: 2000\n: live\n\n"); err != nil {
		return err
	}
	tick := time.NewTicker(drainInterval) // waking up for each failure would cost more than the failures
	defer tick.Stop()
	sent, interval, record := time.Now(), feedInterval, f.s.verifier.record()
	for {
		select {
		case <-r.Context().Done():
			return r.Context().Err()
		case <-f.s.ended.Done():
			return f.send("event: end\ndata: {}\n\n")
		case now := <-tick.C:
			if !f.drain(sub) {
				return f.send("event: dropped\ndata: {}\n\n")
			}
			if state := f.s.verifier.record(); state != record {
				record = state
				if err := f.record(state); err != nil {
					return err
				}
			}
			due := len(f.pending) > 0 && now.Sub(sent) >= interval
			if !due && now.Sub(sent) < feedKeepAlive {
				continue
			}
			interval = feedInterval
			if f.skipped > 0 {
				interval = floodInterval
			}
			if err := f.flush(); err != nil {
				return err
			}
			sent = now
		}
	}
}

// drain takes the failures that wait. It returns false if the subscription has ended.
func (f *feed) drain(sub *failures.Subscription) bool {
	for {
		select {
		case x, ok := <-sub.C:
			if !ok {
				return false
			}
			if x.UpstreamRef != "" { // the server's own entry of the same failure
				f.pending = slices.DeleteFunc(f.pending, func(w failures.Failure) bool { return w.Ref == x.UpstreamRef }) //nolint:gocritic // its type
			}
			f.pending = append(f.pending, x)
		default:
			if more := len(f.pending) - f.most; more > 0 {
				f.pending, f.skipped = slices.Delete(f.pending, 0, more), f.skipped+more
			}
			return true
		}
	}
}

// flush sends what waits, or a sign of life.
func (f *feed) flush() error {
	if len(f.pending) == 0 {
		return f.send(": still here\n\n")
	}
	err := f.write(f, f.pending, f.skipped)
	f.pending, f.skipped = f.pending[:0], 0
	return err
}

func (f *feed) send(text string) error {
	if err := f.control.SetWriteDeadline(time.Now().Add(f.s.feedTimeout)); err != nil {
		return err
	}
	if _, err := f.w.Write([]byte(text)); err != nil {
		return err
	}
	return f.control.Flush()
}

// event sends one event with JSON as its data.
func (f *feed) event(name string, data any) error {
	text, err := json.Marshal(data)
	if err != nil {
		return err
	}
	return f.send(fmt.Sprintf("event: %s\ndata: %s\n\n", name, text))
}

// rows sends rows of the list, newest first.
func (f *feed) rows(list []failures.Failure, skipped int) error {
	var out bytes.Buffer
	for i := len(list) - 1; i >= 0; i-- {
		if err := templates()["overview"].ExecuteTemplate(&out, "row", &list[i]); err != nil {
			return err
		}
	}
	return f.event("rows", map[string]any{"html": page.Block(out.String()), "count": len(list), "skipped": skipped})
}

// record sends the state of the record for the head of the page.
func (f *feed) record(state recordState) error {
	var out bytes.Buffer
	if err := templates()["overview"].ExecuteTemplate(&out, "record", state); err != nil {
		return err
	}
	return f.event("record", map[string]any{"html": out.String(), "state": state.State})
}

// events sends failures as JSON, oldest first.
func (f *feed) events(list []failures.Failure, skipped int) error {
	if skipped > 0 {
		if err := f.event("skipped", map[string]int{"count": skipped}); err != nil {
			return err
		}
	}
	for i := range list {
		if err := f.event("failure", list[i]); err != nil {
			return err
		}
	}
	return nil
}
