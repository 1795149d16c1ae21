package candortest_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/candortest"
	"github.com/candor-mcp/candor/codes/common"
	framingpkg "github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/internal/wireflaw"
	"github.com/candor-mcp/candor/wire"
)

// inProcess is a line-based transport to a server in this process.
func inProcess(m mutant) candortest.Transport {
	return candortest.Piped(func() (io.Reader, io.WriteCloser) {
		fromClient, toServer := pipe()
		fromServer, toClient := pipe()
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			defer cancel()
			serveLines(ctx, &perfect{mutant: m, open: map[string]context.CancelFunc{}}, fromClient, toClient)
			_ = fromClient.Close()
			_ = toClient.Close()
		}()
		return fromServer, toServer
	})
}

// pipe returns a pipe with a buffer, like the ones between processes.
func pipe() (read, write *os.File) {
	read, write, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	return read, write
}

func serveLines(ctx context.Context, p *perfect, in io.Reader, out io.Writer) {
	var mu sync.Mutex
	write := func(reply []byte) {
		if len(reply) == 0 {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		_, _ = out.Write(append(bytes.Clone(reply), '\n'))
	}
	for lines := framingpkg.NewLineReader(in, wire.Limits{MaxBytes: maxMessage}); ; {
		line, err := lines.Next()
		if err != nil {
			return
		}
		raw := bytes.Clone(line.Bytes)
		if line.Flaw != wireflaw.None {
			raw = bytes.Clone(line.Head)
		}
		reply := p.taken(raw)
		if reply == nil {
			reply = p.receive(ctx, raw, write)
		}
		if string(reply) == die {
			return
		}
		if line.Flaw != wireflaw.None {
			reply = rpcError(framingpkg.PeekID(line.Head, line.Tail), candor.CodeMessageTooLarge, "")
		}
		write(reply)
	}
}

// webAnswer is an HTTP response before it is written, with its request.
type webAnswer struct {
	request *http.Request
	body    []byte
	status  int
	kind    string
	reply   []byte
}

// overHTTP serves the perfect server, or a mutant of it.
func overHTTP(m mutant) candortest.Transport {
	return candortest.HTTPHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxMessage))
		a := &webAnswer{request: r, body: body, status: http.StatusOK, kind: "application/json"}
		server := &perfect{mutant: m, open: map[string]context.CancelFunc{}, initialized: r.Header.Get("Mcp-Session-Id") != ""}
		server.serve(a, err)
		if string(a.reply) == die {
			panic(http.ErrAbortHandler)
		}
		if m.web != nil {
			m.web(a)
		}
		if strings.Contains(string(a.reply), `"protocolVersion":"2025-11-25"`) {
			w.Header().Set("Mcp-Session-Id", "the-session")
		}
		w.Header().Set("Content-Type", a.kind)
		w.WriteHeader(a.status)
		_, _ = w.Write(a.reply)
	}))
}

func (p *perfect) serve(a *webAnswer, tooLarge error) {
	h := a.request.Header
	refuse := func(status int, code candor.Code) {
		m := wire.Parse(a.body, wire.Limits{})
		a.status, a.reply = status, rpcError(readableID(&m), code, "")
	}
	m := wire.Parse(a.body, wire.Limits{})
	session := h.Get("Mcp-Session-Id")
	switch {
	case h.Get("Origin") != "":
		refuse(http.StatusForbidden, candor.CodeOriginRefused)
	case !strings.HasPrefix(a.request.Host, "127.0.0.1"):
		refuse(http.StatusForbidden, candor.CodeHostRefused)
	case a.request.Method != http.MethodPost:
		refuse(http.StatusMethodNotAllowed, candor.CodeMethodNotAllowed)
	case h.Get("Content-Type") != "application/json":
		refuse(http.StatusUnsupportedMediaType, candor.CodeMediaTypeUnsupported)
	case tooLarge != nil:
		if a.reply = p.receive(a.request.Context(), a.body, nil); string(a.reply) != die {
			refuse(http.StatusRequestEntityTooLarge, candor.CodeMessageTooLarge)
		}
	case session != "" && session != "the-session":
		refuse(http.StatusNotFound, common.SessionNotFound)
	case h.Get("Mcp-Method") != "" && m.Method() != nil && h.Get("Mcp-Method") != string(m.Method()):
		refuse(http.StatusBadRequest, candor.CodeHeaderMismatch)
	default:
		a.reply = p.receive(a.request.Context(), a.body, func([]byte) {})
		switch answered := wire.Parse(a.reply, wire.Limits{}); {
		case len(a.reply) == 0:
			a.status = http.StatusAccepted
		case answered.ID() == nil && answered.Shape() == wire.KindError && m.Kind() == wire.KindMalformed:
			a.status = http.StatusBadRequest
		}
	}
}
