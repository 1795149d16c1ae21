package boundary

import (
	"bytes"
	"strconv"
	"sync"

	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/internal/splice"
	"github.com/candor-mcp/candor/wire"
)

// writeEvents sends a stream event by event. The SDK writes each event with one call and flushes it, so a clean event is sent as it
// was written. An event that was written in parts is assembled first.
func (a *answer) writeEvents(p []byte) (int, error) {
	if len(a.held) == 0 && eventEnd(p) == len(p) {
		return len(p), a.writeEvent(p)
	}
	a.held = append(a.held, p...)
	for {
		end := eventEnd(a.held)
		if end < 0 {
			break
		}
		if err := a.writeEvent(a.held[:end]); err != nil {
			return 0, err
		}
		a.held = a.held[end:]
	}
	if len(a.held) > maxHeld {
		a.mode = answerPassed // the SDK writes no event of this size
		_, err := a.write(a.held)
		a.held = nil
		return len(p), err
	}
	return len(p), nil
}

// eventEnd returns the length of the first event, including the blank line that ends it, or -1 if the event is incomplete.
func eventEnd(p []byte) int {
	for at := 0; ; {
		text, whole := lineEnd(p[at:])
		if whole < 0 {
			return -1
		}
		at += whole
		if text == 0 {
			return at
		}
	}
}

// lineEnd returns the length of the first line without and with its line ending. Whole is -1 if the line has no ending, or one that
// may be incomplete: a stream ends lines with LF, CRLF or CR.
func lineEnd(p []byte) (text, whole int) {
	text = bytes.IndexByte(p, '\n')
	whole = text + 1
	if text < 0 {
		text, whole = len(p), -1
	}
	cr := bytes.IndexByte(p[:text], '\r')
	switch {
	case cr < 0:
		return text, whole
	case cr+1 == len(p):
		return cr, -1
	case p[cr+1] == '\n':
		return cr, cr + 2
	}
	return cr, cr + 1
}

// writeEvent sends one event. It changes the event only if it contains an error that was not recorded or an id that was hidden.
func (a *answer) writeEvent(raw []byte) error {
	// A stream opened by GET may carry answers to other requests, whose ids were hidden.
	touched := a.hidden || a.asked == nil && bytes.Contains(raw, a.l.b.idMark())
	if touched || !isClean(raw) {
		raw = a.rewriteEvent(raw)
	} else {
		a.suspectEvent(raw)
	}
	a.answered = a.answered || !bytes.Contains(raw[:min(len(raw), 256)], []byte(`"method":`))
	_, err := a.write(raw)
	return err
}

// suspectEvent checks the answer in a clean event for a failure that is reported as a success.
func (a *answer) suspectEvent(raw []byte) {
	if !a.suspects(len(raw)) {
		return
	}
	event, err := framing.NewEventReader(bytes.NewReader(raw), wire.Limits{}).Next()
	if err == nil && !event.Unended {
		a.suspect(event.Data)
	}
}

// suspects reports whether answers to the call are checked for failures that are reported as successes.
func (a *answer) suspects(size int) bool {
	return a.asked != nil && a.l.b.o.Suspected && a.l.b.suspects(string(a.asked.Method()), size)
}

// suspect checks an answer for a failure that is reported as a success. It ignores other messages.
func (a *answer) suspect(message []byte) {
	if m := wire.Parse(message, wire.Limits{AllowLoneSurrogates: true}); m.Shape() == wire.KindResult {
		a.l.b.suspect(a.r.Context(), a.asked, message, a.exchange())
	}
}

// rewriteEvent records an error in an event and returns the event to send. An event with an id may be sent again to a client that has
// missed it: its error is recorded once, and the event is the same each time.
func (a *answer) rewriteEvent(raw []byte) []byte {
	event, err := framing.NewEventReader(bytes.NewReader(raw), wire.Limits{}).Next()
	if err != nil || len(event.Data) == 0 || event.Unended {
		return raw
	}
	key := ""
	if event.HasID && len(event.ID) > 0 {
		key = a.r.Header.Get("Mcp-Session-Id") + " " + string(event.ID)
		if again, ok := a.l.replays.get(key); ok {
			return again
		}
	}
	rewritten, failed := a.rewrite(event.Data)
	if !bytes.Equal(rewritten, event.Data) {
		if out, err := event.AppendWithData(nil, rewritten); err == nil {
			raw = append(out, raw[len(event.Raw):]...) // the event reader does not consume the LF of a final CRLF
		}
	}
	if failed && key != "" {
		a.l.replays.put(key, raw)
	}
	return raw
}

// replays remembers the events whose errors were recorded, because the SDK's event store replays the original events. It discards the
// oldest, so that it holds at most maxReplays events and maxReplayed bytes, but always the newest event.
type replays struct {
	mu   sync.Mutex
	sent map[string][]byte // guarded by mu
	keys []string          // guarded by mu: the oldest first
	size int               // guarded by mu: the bytes in sent
}

const (
	maxReplays  = 1024
	maxReplayed = 16 << 20
)

func (p *replays) get(key string) ([]byte, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	raw, ok := p.sent[key]
	return raw, ok
}

func (p *replays) put(key string, raw []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, twice := p.sent[key]; twice {
		return
	}
	if p.sent == nil {
		p.sent = make(map[string][]byte)
	}
	p.keys = append(p.keys, key)
	p.sent[key] = bytes.Clone(raw)
	p.size += len(raw)
	for len(p.keys) > maxReplays || p.size > maxReplayed && len(p.keys) > 1 {
		p.size -= len(p.sent[p.keys[0]])
		delete(p.sent, p.keys[0])
		p.keys = p.keys[1:]
	}
}

// The SDK decodes ids as float64: it answers 9007199254740993 with 9007199254740992, and 1.5 with 1. An id that would change is
// replaced by a string that contains a mark and the original token, and is restored in the answer. The string contains the whole id,
// so no state is kept.

const maxSafeInteger = 1 << 53

// plainID reports whether the SDK preserves an id: a string, or an integer that a float64 can represent exactly.
func plainID(id wire.ID) bool {
	v := id.Value()
	if v.Type() != wire.TypeNumber {
		return true
	}
	n, ok := v.Int64()
	if !ok || n > maxSafeInteger || n < -maxSafeInteger {
		return false
	}
	var spelling [20]byte
	return bytes.Equal(strconv.AppendInt(spelling[:0], n, 10), id) // not -0
}

// markedID returns the string that replaces an id, and false for an id that the SDK preserves.
func (b *Boundary) markedID(id wire.ID) ([]byte, bool) {
	if len(id) == 0 || plainID(id) {
		return nil, false
	}
	return append(append(b.idMark(), id...), '"'), true
}

func (b *Boundary) idMark() []byte { return []byte(`"candor-id:` + throughNonce + `:`) }

// hideIDs replaces the id in a message that the SDK would change. It returns nil if the id needs no replacement.
func (b *Boundary) hideIDs(m *wire.Message) []byte {
	path, id := []string{"id"}, m.ID()
	if m.MethodIs("notifications/cancelled") {
		path, id = []string{"params", "requestId"}, wire.ID(m.Params().Path("requestId").Raw())
	}
	marked, ok := b.markedID(id)
	if !ok {
		return nil
	}
	out, err := splice.SetMember(nil, m.Bytes(), path, marked)
	if err != nil {
		return nil
	}
	return out
}

// showIDs restores the original ids. It returns data itself if it contains no hidden ids.
func (b *Boundary) showIDs(data []byte) []byte {
	mark := b.idMark()
	at := bytes.Index(data, mark)
	if at < 0 {
		return data
	}
	var out []byte
	for at >= 0 {
		token := data[at+len(mark):]
		end := bytes.IndexByte(token, '"')
		if end < 0 || !isNumber(token[:end]) {
			break
		}
		out = append(append(out, data[:at]...), token[:end]...)
		data = token[end+1:]
		at = bytes.Index(data, mark)
	}
	return append(out, data...)
}

func isNumber(token []byte) bool {
	v, err := wire.ParseValue(token, wire.Limits{})
	return err == nil && v.Type() == wire.TypeNumber
}
