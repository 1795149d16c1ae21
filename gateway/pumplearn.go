package gateway

import (
	"time"

	"github.com/candor-mcp/candor/internal/ref"
	"github.com/candor-mcp/candor/wire"
)

const (
	learnPatience = 2 * time.Second // how long a call waits for the list of tools, and for the handshake before it
	learnPages    = 100
)

// learn asks the server for its tools if a tool is called and nobody has asked yet, so that arguments can be checked from the first
// call on. The call waits for the list, and before that for the answer to initialize if the client did not, but not long: then it is
// forwarded unchecked. A list that comes later still counts.
func (p *pump) learn(l *link, m *wire.Message) {
	o := &p.up.o
	if o.Mode == ModeObserve || o.NoValidation || !m.MethodIs("tools/call") {
		return
	}
	may, meeting := p.hello.mayList(l, m)
	if meeting != nil {
		p.flush() // initialize may not have left yet
		p.waitFor(meeting)
		may, _ = p.hello.mayList(l, m)
	}
	if !may {
		return
	}
	if _, whole := p.up.tools.find(p.session, ""); whole {
		return
	}
	learnt := make(chan struct{})
	l.list(about(m), "", learnPages, func() { close(learnt) })
	p.client.flush()
	p.waitFor(learnt)
}

func (p *pump) waitFor(done <-chan struct{}) {
	select {
	case <-done:
	case <-p.ctx.Done():
	case <-time.After(learnPatience):
	}
}

// list asks for a page of tools, and for those after it. Done is called once, at the end.
func (l *link) list(meta []byte, cursor string, pages int, done func()) {
	id := wire.AppendString(nil, "candor/"+ref.New())
	p := &pending{key: idKey(id), began: time.Now(), limit: DefaultTimeout}
	p.due = p.began.Add(p.limit)
	p.own = func(m *wire.Message) {
		if m == nil || m.Kind() != wire.KindResult {
			done()
			return
		}
		l.up.tools.own.learn(m.Result(), cursor)
		next, more := m.Result().Path("nextCursor").Str()
		if !more || next == cursor || pages <= 1 {
			done()
			return
		}
		l.list(meta, next, pages-1, done)
	}
	if l.put(p) != nil {
		done()
		return
	}
	l.server.send(listRequest(id, meta, cursor))
}

func listRequest(id wire.ID, meta []byte, cursor string) []byte {
	line := append(append([]byte(`{"jsonrpc":"2.0","id":`), id...), `,"method":"tools/list","params":{`...)
	if cursor != "" {
		line = wire.AppendString(append(line, `"cursor":`...), cursor)
	}
	if meta != nil {
		if cursor != "" {
			line = append(line, ',')
		}
		line = append(append(line, `"_meta":`...), meta...)
	}
	return append(line, `}}`...)
}

// about is the part of a request's _meta that protocol version 2026-07-28 asks of every request, nil if there is none.
func about(m *wire.Message) []byte {
	var meta []byte
	for _, name := range []string{protocolVersionKey, "io.modelcontextprotocol/clientInfo", "io.modelcontextprotocol/clientCapabilities"} {
		value := m.Params().Path("_meta", name).Raw()
		if value == nil {
			continue
		}
		if meta == nil {
			meta = []byte{'{'}
		} else {
			meta = append(meta, ',')
		}
		meta = append(append(wire.AppendString(meta, name), ':'), value...)
	}
	if meta == nil {
		return nil
	}
	return append(meta, '}')
}
