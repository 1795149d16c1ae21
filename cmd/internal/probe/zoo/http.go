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

// maxSessions is the maximum number of sessions; the oldest is dropped first.
const maxSessions = 256

// Handler serves MCP over streamable HTTP at any path, and over legacy SSE at /sse. Clients of version 2026-07-28 have no sessions and share
// one state. A defect that ends the server breaks the connection and drops all sessions. With invalid options every answer is a 500 with the
// error; see [Options.Check].
func Handler(o Options) http.Handler {
	z, err := build(o)
	if err != nil {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		})
	}
	h := &httpServer{zoo: z}
	h.forget()
	mux := http.NewServeMux()
	mux.HandleFunc("/sse", h.stream)
	mux.HandleFunc("/sse/message", h.message)
	mux.HandleFunc("/", h.streamable)
	return mux
}

// httpServer is the state of all clients over HTTP.
type httpServer struct {
	zoo *zoo

	mu       sync.Mutex // guards the fields below
	sessions map[string]*sessionClient
	order    []string      // of the sessions, the oldest first
	shared   *session      // of clients without a session
	alive    chan struct{} // closed by a crash
}

// sessionClient is a client with a session.
type sessionClient struct {
	session *session
	alive   <-chan struct{} // of the hall at its start
	events  chan []byte     // for legacy SSE, else nil
}

// forget drops all sessions, as a crash does.
func (h *httpServer) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.alive != nil {
		close(h.alive)
	}
	h.sessions, h.order, h.shared, h.alive = map[string]*sessionClient{}, nil, newSession(), make(chan struct{})
}

func (h *httpServer) admit(v *sessionClient) (id string) {
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

func (h *httpServer) find(id string) *sessionClient {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sessions[id]
}

// streamable answers a POST with JSON, or with events for several messages.
func (h *httpServer) streamable(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodPost:
	case http.MethodDelete:
		w.WriteHeader(http.StatusOK) // unused sessions are dropped in time
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
func (h *httpServer) body(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
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

// session returns the session of a request, a new one for initialize, nil for an unknown one.
func (h *httpServer) session(w http.ResponseWriter, r *http.Request, data []byte) *session {
	if id := r.Header.Get("Mcp-Session-Id"); id != "" {
		if v := h.find(id); v != nil {
			return v.session
		}
		return nil
	}
	if m := wire.Parse(data, wire.Limits{}); m.MethodIs("initialize") {
		s := newSession()
		w.Header().Set("Mcp-Session-Id", h.admit(&sessionClient{session: s}))
		return s
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.shared
}

// mismatch returns the refusal of a 2026-07-28 request whose headers differ from its body, nil if they agree.
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

// statusOf returns the HTTP status of an answer.
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
func (h *httpServer) send(w http.ResponseWriter, a answer) {
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
		_, _ = w.Write(bytes.Join(a.frames, nil)) // the client may have left
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

// crash breaks the connection, as the end of a process does.
func (h *httpServer) crash(w http.ResponseWriter) {
	h.forget()
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		w.WriteHeader(http.StatusBadGateway) // HTTP/2 connections cannot be hijacked
		return
	}
	_ = conn.Close()
}
