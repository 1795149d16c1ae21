package boundary

import (
	"bytes"

	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/wire"
)

// writeEvents sends a stream event by event. The SDK writes each event with one call and flushes it, so a clean event is sent as it
// was written. An event that was written in parts is assembled first.
func (a *answer) writeEvents(p []byte) (int, error) {
	rest := p
	if len(a.held) > 0 {
		a.held = append(a.held, p...)
		rest = a.held
	}
	for end := eventEnd(rest); end > 0; end = eventEnd(rest) {
		if err := a.writeEvent(rest[:end]); err != nil {
			return 0, err
		}
		rest = rest[end:]
	}
	a.held = append(a.held[:0], rest...)
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
	lf, crlf := bytes.Index(p, []byte("\n\n")), bytes.Index(p, []byte("\r\n\r\n"))
	switch {
	case crlf >= 0 && (lf < 0 || crlf < lf):
		return crlf + 4
	case lf >= 0:
		return lf + 2
	}
	return -1
}

// writeEvent sends one event. It changes the event only if it contains an error that was not recorded or an id that was hidden.
func (a *answer) writeEvent(raw []byte) error {
	// A stream opened by GET may carry answers to other requests with hidden ids.
	if a.hidden || a.asked == nil && bytes.Contains(raw, idMark) || !isClean(raw) {
		raw = a.rewriteEvent(raw)
	}
	_, err := a.write(raw)
	return err
}

// rewriteEvent records an error in an event and returns the event to send.
func (a *answer) rewriteEvent(raw []byte) []byte {
	event, err := framing.NewEventReader(bytes.NewReader(raw), wire.Limits{}).Next()
	if err != nil || len(event.Data) == 0 || event.Unended {
		return raw
	}
	rewritten := a.rewrite(event.Data)
	if bytes.Equal(rewritten, event.Data) {
		return raw
	}
	out, err := event.AppendWithData(nil, rewritten)
	if err != nil {
		return raw
	}
	return append(out, raw[len(event.Raw):]...) // the event reader does not consume the LF of a final CRLF
}
