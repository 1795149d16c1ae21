package zoo

import (
	"context"
	"net/http"

	"github.com/candor-mcp/candor/internal/framing"
)

// maxQueued is the maximum number of messages for a client that does not read its events.
const maxQueued = 1024

// stream serves legacy SSE: all answers are events of one GET, whose first event names the URL to post to.
func (h *httpServer) stream(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		w.Header().Set("Allow", "GET")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	v := &sessionClient{session: newSession(), events: make(chan []byte, maxQueued)}
	id := h.admit(v)
	w.Header().Set("Content-Type", "text/event-stream")
	events, control := framing.NewEventWriter(w), http.NewResponseController(w)
	next := framing.Event{Type: []byte("endpoint"), Data: []byte(r.URL.Path + "/message?session=" + id), HasData: true}
	for {
		if events.WriteEvent(next) != nil || control.Flush() != nil {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-v.alive:
			return
		case data := <-v.events:
			next = framing.Event{Type: []byte("message"), Data: data, HasData: true}
		}
	}
}

// message handles one message of legacy SSE; its answer goes to the stream.
func (h *httpServer) message(w http.ResponseWriter, r *http.Request) {
	v := h.find(r.URL.Query().Get("session"))
	if v == nil || v.events == nil || r.Method != http.MethodPost {
		http.Error(w, "no such session", http.StatusNotFound)
		return
	}
	data, ok := h.body(w, r)
	if !ok {
		return
	}
	ctx := context.WithoutCancel(r.Context()) // the answer is not part of this request
	a, c := h.zoo.receive(ctx, v.session, data)
	if a.dies {
		h.crash(w)
		return
	}
	w.WriteHeader(http.StatusAccepted)
	if a.hold == nil {
		v.queue(a.frames)
		return
	}
	ctx, stop := context.WithTimeout(ctx, 2*h.zoo.deadline)
	go func() {
		defer stop()
		if a.hold(ctx, c) {
			v.queue(a.frames)
		}
	}()
}

// queue adds messages to the stream; those that are not read are dropped.
func (v *sessionClient) queue(frames [][]byte) {
	for _, f := range frames {
		select {
		case v.events <- f:
		default:
			return
		}
	}
}
