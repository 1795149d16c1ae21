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

// Handler serves MCP over streamable HTTP at any path. Clients of version 2026-07-28 have no sessions and share
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
	return http.HandlerFunc(h.streamable)
}

// httpServer is the state of all clients over HTTP.
type httpServer struct {
	zoo *zoo

	mu       sync.Mutex // guards the fields below
	sessions map[string]*session
	shared   *session // of clients without a session
}

// forget drops all sessions, as a crash does.
func (h *httpServer) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sessions, h.shared = map[string]*session{}, newSession()
}

func (h *httpServer) admit(s *session) (id string) {
	id = rand.Text()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sessions[id] = s
	return id
}

func (h *httpServer) find(id string) *session {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sessions[id]
}

// streamable answers a POST with JSON, or with events for several messages.
func (h *httpServer) streamable(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodPost:
	case http.MethodDelete:
		w.WriteHeader(http.StatusOK)
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
		return h.find(id)
	}
	if m := wire.Parse(data, wire.Limits{}); m.MethodIs("initialize") {
		s := newSession()
		w.Header().Set("Mcp-Session-Id", h.admit(s))
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
	for _, f := range a.frames {
		event, err := framing.AppendEvent(nil, framing.Event{Type: []byte("message"), Data: f, HasData: true})
		if err != nil {
			return
		}
		_, _ = w.Write(event) // the client may have left
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
