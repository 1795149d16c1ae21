package stdio

import (
	"bytes"
	"maps"
	"slices"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/internal/wireflaw"
	"github.com/candor-mcp/candor/wire"
)

// A server that prints to its standard output without a newline puts that text and its next answer on one line. Such answers are
// searched only in lines that are not a message.

const (
	maxGluedTries = 1024 // positions in a line at which a message is tried
	// gluedWait is how long an answer found behind other output is held back. A server that logs its messages prints the answer
	// twice, and the copy on a separate line takes precedence.
	gluedWait = 100 * time.Millisecond
)

// byteOrderMark begins the output of servers on some platforms. Few clients can read a message after it.
var byteOrderMark = []byte("\xef\xbb\xbf")

// gluedMessages returns the responses at the end of a line that is not a message: the last ones, separated and followed only by
// white space. Noise is the text before the first one. A message inside another JSON value, complete or not, is not found.
func gluedMessages(line []byte, limits wire.Limits) (messages [][]byte, noise []byte) {
	budget := 4*len(line) + gateway.MaxNoiseScan // bytes to parse; without a limit, many truncated values would take quadratic time
	for i, tries := 0, 0; tries < maxGluedTries && budget > 0; tries++ {
		next := bytes.IndexByte(line[i:], '{')
		if next < 0 {
			return nil, line
		}
		if len(bytes.TrimSpace(line[i:i+next])) > 0 {
			messages = nil
		}
		i += next
		m := wire.Parse(line[i:], limits)
		switch m.Malformation().Flaw {
		case wireflaw.None:
			budget = 0
		case wireflaw.TrailingData:
		case wireflaw.Truncated, wireflaw.TooLarge: // the rest of the line is part of this value
			return nil, line
		default:
			budget -= m.Malformation().Offset + 1
			messages = nil
			i++
			continue
		}
		value := m.Value().Raw()
		budget -= len(value)
		one := wire.Parse(value, limits)
		if one.Kind() != wire.KindResult && one.Kind() != wire.KindError {
			messages = nil
		} else {
			if messages == nil {
				noise = line[:i]
			}
			messages = append(messages, value)
		}
		if i += len(value); i == len(line) || len(bytes.TrimSpace(line[i:])) == 0 {
			return messages, noise
		}
	}
	return nil, line
}

// unglue handles the answers to open calls at the end of a line that is not a message. It returns the part of the line before
// them, or the whole line if there are none.
func (l *serverConn) unglue(line []byte) (rest []byte) {
	messages, noise := gluedMessages(line, l.up.Options.Limits.Message)
	if len(messages) == 0 || !l.awaited(messages) {
		return line
	}
	if len(bytes.TrimSpace(bytes.TrimPrefix(noise, byteOrderMark))) == 0 { // only answers
		for _, message := range messages {
			m := wire.Parse(message, l.up.Options.Limits.Message)
			l.answer(&m)
		}
		return nil
	}
	for _, message := range messages {
		l.holdBack(message)
	}
	return noise
}

// awaited reports whether all of the responses belong to open requests.
func (l *serverConn) awaited(messages [][]byte) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, message := range messages {
		m := wire.Parse(message, l.up.Options.Limits.Message)
		if p := l.open[gateway.IDKey(m.ID())]; p == nil || p.waiting {
			return false
		}
	}
	return true
}

// holdBack delivers an answer that was found behind other output, unless the request is answered in another way within gluedWait.
func (l *serverConn) holdBack(answer []byte) {
	m := wire.Parse(answer, l.up.Options.Limits.Message)
	l.mu.Lock()
	defer l.mu.Unlock()
	if p := l.open[gateway.IDKey(m.ID())]; p != nil {
		p.glued = bytes.Clone(answer)
		time.AfterFunc(gluedWait, func() { l.release(p) })
	}
}

// release delivers the answer held back for p, if p is still open.
func (l *serverConn) release(p *pending) {
	l.mu.Lock()
	answer := p.glued
	p.glued = nil
	if answer == nil || l.open[p.key] != p || p.waiting {
		l.mu.Unlock()
		return
	}
	l.remove(p)
	l.work.Add(1) // under the lock, so that the end of the connection either waits for it or has already happened
	l.mu.Unlock()
	defer l.work.Done()
	m := wire.Parse(answer, l.up.Options.Limits.Message)
	l.answered(p, &m)
	l.client.flush()
}

// releaseAll delivers all answers that are held back, because the server's output has ended.
func (l *serverConn) releaseAll() {
	l.mu.Lock()
	open := slices.Collect(maps.Values(l.open))
	l.mu.Unlock()
	for _, p := range open {
		l.release(p)
	}
}
