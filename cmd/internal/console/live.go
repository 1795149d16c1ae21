package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/console/failures"
	"github.com/candor-mcp/candor/cmd/internal/page"
)

// Limits of a live feed.
const (
	feedInterval  = 250 * time.Millisecond // at which new failures are sent
	feedMost      = 50                     // failures that are sent at once; the others are counted
	feedKeepAlive = 15 * time.Second
	feedTimeout   = 5 * time.Second // to write; slower readers are disconnected
)

// feed is one stream of events.
type feed struct {
	s       *Server
	w       http.ResponseWriter
	control *http.ResponseController
	write   func(f *feed, list []failures.Failure, skipped int) error
}

// livePage streams new failures as rows of the list.
func (s *Server) livePage(w http.ResponseWriter, r *http.Request) {
	s.stream(w, r, (*feed).rows)
}

// apiEvents streams new failures as JSON.
func (s *Server) apiEvents(w http.ResponseWriter, r *http.Request) {
	s.stream(w, r, (*feed).events)
}

// stream sends the new failures that the filter in the address selects, until the client leaves or is too slow.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, write func(*feed, []failures.Failure, int) error) {
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
		s.writeProblem(w, r, &problem{http.StatusServiceUnavailable, "Too many live feeds", "Close other pages of the console, or load the page again from time to time."})
		return
	}
	f := &feed{s: s, w: w, control: http.NewResponseController(w), write: write}
	if f.control.SetReadDeadline(time.Time{}) != nil { // the server's timeout for requests would end the stream
		s.writeProblem(w, r, &problem{http.StatusInternalServerError, "No live feed", "The connection does not support streaming."})
		return
	}
	sub := s.o.Failures.Subscribe(filter)
	defer sub.Close()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	_ = f.run(r, sub) // the client has left
}

// run collects failures and sends them at intervals. It ends if the client leaves, reads too slowly, or the console ends.
func (f *feed) run(r *http.Request, sub *failures.Subscription) error {
	if err := f.send("retry: 2000\n: live\n\n"); err != nil {
		return err
	}
	tick := time.NewTicker(feedInterval)
	defer tick.Stop()
	var pending []failures.Failure
	skipped, sent, record := 0, time.Now(), f.s.verifier.record()
	for {
		select {
		case <-r.Context().Done():
			return r.Context().Err()
		case <-f.s.ended.Done():
			return f.send("event: end\ndata: {}\n\n")
		case x, ok := <-sub.C:
			if !ok {
				return f.send("event: dropped\ndata: {}\n\n")
			}
			if pending = append(pending, x); len(pending) > feedMost {
				pending, skipped = pending[1:], skipped+1
			}
		case now := <-tick.C:
			if state := f.s.verifier.record(); state != record {
				record = state
				if err := f.record(state); err != nil {
					return err
				}
			}
			switch {
			case len(pending) > 0:
				if err := f.write(f, pending, skipped); err != nil {
					return err
				}
				pending, skipped, sent = nil, 0, now
			case now.Sub(sent) >= feedKeepAlive:
				if err := f.send(": still here\n\n"); err != nil {
					return err
				}
				sent = now
			}
		}
	}
}

func (f *feed) send(text string) error {
	if err := f.control.SetWriteDeadline(time.Now().Add(feedTimeout)); err != nil {
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
		if err := templates()["overview"].ExecuteTemplate(&out, "row", list[i]); err != nil {
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
		if err := f.event("failure", jsonOf(&list[i])); err != nil {
			return err
		}
	}
	return nil
}
