package zoo

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"sync"

	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/wire"
)

// maxSessions bounds the sessions that are remembered; the oldest is forgotten first.
const maxSessions = 256

// Handler speaks MCP over streamable HTTP at any path, and over the older event stream at /sse. Clients of version 2026-07-28 have no
// sessions, and are counted as one. A defect that kills the server breaks the connection and forgets all sessions. Options that are wrong
// make every answer a 500 that says so; see [Options.Check].
func Handler(o Options) http.Handler {
	z, err := build(o)
	if err != nil {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		})
	}
	h := &hall{zoo: z}
	h.forget()
	mux := http.NewServeMux()
	mux.HandleFunc("/sse", h.stream)
	mux.HandleFunc("/sse/message", h.message)
	mux.HandleFunc("/", h.streamable)
	return mux
}

// hall is all clients over HTTP.
type hall struct {
	zoo *zoo

	mu       sync.Mutex // guards the rest
	sessions map[string]*visitor
	order    []string      // of the sessions, the oldest first
	shared   *session      // of those who have none
	alive    chan struct{} // closed by a crash
}

// visitor is one client with a session.
type visitor struct {
	session *session
	alive   <-chan struct{} // that of the hall when it came
	events  chan []byte     // of the older event stream, nil otherwise
}

// forget is what remains after a crash: nothing.
func (h *hall) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.alive != nil {
		close(h.alive)
	}
	h.sessions, h.order, h.shared, h.alive = map[string]*visitor{}, nil, newSession(), make(chan struct{})
}

func (h *hall) admit(v *visitor) (id string) {
	id = rand.Text()
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.order) >= maxSessions {
		delete(h.sessions, h.order[0])
		h.order = h.order[1:]
	}
	v.alive = h.alive
	h.sessions[id], h.order = v, append(h.order, id)
	return id
}

func (h *hall) find(id string) *visitor {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sessions[id]
}

// streamable answers a POST with JSON, or with events if there is more than one message to send.
func (h *hall) streamable(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodPost:
	case http.MethodDelete:
		w.WriteHeader(http.StatusOK) // a session that is not used again is forgotten in time
		return
	default:
		w.Header().Set("Allow", "POST, DELETE")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	data, ok := h.body(w, r)
	if !ok {
		return
	}
	s := h.session(w, r, data)
	if s == nil {
		http.Error(w, "session not found", http.StatusNotFound)
		return
	}
	if frame := mismatch(r, data); frame != nil {
		h.send(w, answer{frames: [][]byte{frame}, status: http.StatusBadRequest})
		return
	}
	a, c := h.zoo.receive(r.Context(), s, data)
	if a.hold != nil && !a.hold(r.Context(), c) {
		return
	}
	if a.status == 0 {
		a.status = h.zoo.statusOf(a, c)
	}
	h.send(w, a)
}

// body reads a request.
func (h *hall) body(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, wire.DefaultMaxBytes))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		h.send(w, answer{frames: h.zoo.tooLarge(newSession(), data, nil).frames, status: http.StatusRequestEntityTooLarge})
	case err != nil:
		http.Error(w, "the body could not be read", http.StatusBadRequest)
	}
	return data, err == nil
}

// session returns the one that a request belongs to, a new one for initialize, nil for one that is not known.
func (h *hall) session(w http.ResponseWriter, r *http.Request, data []byte) *session {
	if id := r.Header.Get("Mcp-Session-Id"); id != "" {
		if v := h.find(id); v != nil {
			return v.session
		}
		return nil
	}
	if m := wire.Parse(data, wire.Limits{}); m.MethodIs("initialize") {
		s := newSession()
		w.Header().Set("Mcp-Session-Id", h.admit(&visitor{session: s}))
		return s
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.shared
}

// mismatch refuses a request of 2026-07-28 whose headers say something else than its body; nil if they agree.
func mismatch(r *http.Request, data []byte) []byte {
	m := wire.Parse(data, wire.Limits{})
	if version, _ := m.Params().Path("_meta", metaVersion).Str(); version != modern || m.Kind() != wire.KindRequest {
		return nil
	}
	said := func(header, value string) bool { got := r.Header.Get(header); return got == "" || got == value }
	if said("Mcp-Protocol-Version", modern) && said("Mcp-Method", string(m.Method())) {
		return nil
	}
	return (&call{message: m}).rpcError("A header does not agree with the message.", `"code":-32020`)
}

// statusOf is the HTTP status that goes with an answer.
func (z *zoo) statusOf(a answer, c *call) int {
	if len(a.frames) == 0 {
		return http.StatusAccepted
	}
	m := wire.Parse(a.frames[len(a.frames)-1], wire.Limits{})
	number, isError := m.Error().Path("code").Int64()
	switch {
	case !isError || z.wide["http-ok"]:
		return http.StatusOK
	case z.wide["http-500"]:
		return http.StatusInternalServerError
	case number == -32700 || number == -32600 || number == -32022 || c.message.Kind() == wire.KindMalformed:
		return http.StatusBadRequest
	case number == -32601 && c.modern:
		return http.StatusNotFound
	default:
		return http.StatusOK
	}
}

// send writes an answer to a POST.
func (h *hall) send(w http.ResponseWriter, a answer) {
	if a.dies {
		h.crash(w)
		return
	}
	if a.retryAfter != "" {
		w.Header().Set("Retry-After", a.retryAfter)
	}
	if len(a.frames) < 2 {
		if len(a.frames) == 1 {
			w.Header().Set("Content-Type", "application/json")
		}
		w.WriteHeader(a.status)
		_, _ = w.Write(bytes.Join(a.frames, nil)) // who has gone does not read
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(a.status)
	events := framing.NewEventWriter(w)
	for _, f := range a.frames {
		if events.WriteEvent(framing.Event{Type: []byte("message"), Data: f, HasData: true}) != nil {
			return
		}
	}
}

// crash breaks the connection, as the end of a process would.
func (h *hall) crash(w http.ResponseWriter) {
	h.forget()
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		w.WriteHeader(http.StatusBadGateway) // HTTP/2 connections cannot be taken over
		return
	}
	_ = conn.Close()
}
