package httpgate

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/internal/framing"
)

// bodyBudget limits the memory of messages. A quarter is for messages up to midsize. An eighth is for messages of up
// to a sixteenth of the whole that do not fit in the rest: a client that does not finish or read a very large message
// cannot block all others.
type bodyBudget struct {
	usual, large, spare memoryBudget
	spareSize           int64 // the largest message that spare is for
	patience            time.Duration
}

// reservation is what one exchange has of a storage.
type reservation struct{ usual, large, spare int64 }

const midsize = 64 << 10 // a larger message is large

func newBodyBudget(most int64, patience time.Duration) bodyBudget {
	budget := func(most int64) memoryBudget { return memoryBudget{limit: most, timeout: patience} }
	return bodyBudget{
		usual: budget(most / 4), large: budget(most - most/4 - most/8), spare: budget(most / 8), spareSize: most / 16, patience: patience,
	}
}

// reserve makes the share what a message of that size needs. While one that became large waits it keeps what it had; large
// ones never wait for that. Beforehand is called before it waits.
func (s *bodyBudget) reserve(ctx context.Context, of *reservation, size int64, beforehand func()) error {
	if size <= midsize {
		if !s.usual.try(&of.usual, size) {
			beforehand()
			if err := s.usual.wait(ctx, &of.usual, size); err != nil {
				return err
			}
		}
		s.large.try(&of.large, 0)
		s.spare.try(&of.spare, 0)
		return nil
	}
	switch {
	case s.large.try(&of.large, size):
		s.spare.try(&of.spare, 0)
	case size <= s.spareSize && s.spare.try(&of.spare, size):
		s.large.try(&of.large, 0)
	default:
		beforehand()
		if err := s.waitLarge(ctx, of, size); err != nil {
			return err
		}
	}
	s.usual.try(&of.usual, 0)
	return nil
}

// waitLarge waits until a large message has a place, in whichever part of the budget one becomes free first.
func (s *bodyBudget) waitLarge(ctx context.Context, of *reservation, size int64) error {
	if size > s.spareSize {
		if err := s.large.wait(ctx, &of.large, size); err != nil {
			return err
		}
		s.spare.try(&of.spare, 0)
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.patience, errMemoryBudget)
	defer cancel()
	large, spare := s.large.enqueue(of.large, size), s.spare.enqueue(of.spare, size)
	select {
	case <-large.granted:
	case <-spare.granted:
	case <-ctx.Done():
	}
	inLarge, inSpare := !s.large.dequeue(large), !s.spare.dequeue(spare)
	if inLarge {
		of.large = size
	}
	if inSpare {
		of.spare = size
	}
	switch {
	case inLarge:
		s.spare.try(&of.spare, 0)
	case inSpare:
		s.large.try(&of.large, 0)
	default:
		return context.Cause(ctx)
	}
	return nil
}

func (s *bodyBudget) release(of *reservation) {
	s.usual.try(&of.usual, 0)
	s.large.try(&of.large, 0)
	s.spare.try(&of.spare, 0)
}

// readRequest reads the message of a client. It is held until the exchange ends, because it may have to be sent again.
// Requests and answers have separate budgets: otherwise requests could use all memory while they wait for their
// answers.
func (x *Exchange) readRequest(said, limit int64) ([]byte, error) {
	return x.read(x.Request.Body, said, limit, &x.Handler.requests, &x.requestMemory)
}

// readMessage reads a message of the upstream. releaseAnswer releases it.
func (x *Exchange) readMessage(r io.Reader, said, limit int64) ([]byte, error) {
	return x.read(r, said, limit, &x.Handler.answers, &x.answerMemory)
}

// readAnswer is hold for the whole body of a response.
func (x *Exchange) readAnswer(res *http.Response, limit int64) ([]byte, error) {
	body, err := x.readMessage(res.Body, res.ContentLength, limit)
	if x.coded != nil && err == nil {
		x.coded.whole = body
	}
	return body, err
}

// read reads a message of no more than limit bytes, of which said are announced, -1 if it is not known. The error is errTooLarge
// if there was more; then the bytes are the start.
func (x *Exchange) read(r io.Reader, said, limit int64, s *bodyBudget, of *reservation) ([]byte, error) {
	var buf []byte
	for {
		if len(buf) == cap(buf) {
			size := nextSize(int64(cap(buf)), said, limit)
			if err := s.reserve(x.Context, of, x.coded.reserve(size), x.flush); err != nil {
				return nil, err
			}
			buf = append(make([]byte, 0, size), buf...)
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		switch {
		case int64(len(buf)) > limit:
			return buf[:limit], errTooLarge
		case errors.Is(err, io.EOF):
			return buf, nil
		case err != nil:
			return buf, err
		}
	}
}

// nextSize is the next capacity for a full buffer. An announced length is believed up to eight times the bytes
// received so far, so a peer that announces much and sends little reserves little. One byte more than the limit shows
// whether the message has ended.
func nextSize(have, said, limit int64) int64 {
	size := 2 * have
	switch {
	case have == 0 && said < 0:
		size = 512
	case have == 0:
		size = min(said, midsize) + 1
	case said >= have:
		size = min(said, 8*have) + 1
	}
	return min(size, limit+1)
}

// releaseAnswer gives back what is held of answers, and release all.
func (x *Exchange) releaseAnswer() { x.Handler.answers.release(&x.answerMemory) }

func (x *Exchange) release() {
	x.releaseAnswer()
	x.Handler.requests.release(&x.requestMemory)
}

// failUnheld ends a call whose answer could not be held in memory. The upstream has run the call, so the error never advises to repeat it.
func (x *Exchange) failUnheld() gateway.Reply {
	return x.sendReply(gateway.Reply{Bytes: x.call.Fail(x.Context, unheldError())})
}

// heldEvents accounts for the buffer of a reader of events, which lies between it and the body.
type heldEvents struct {
	*framing.EventReader
	x    *Exchange
	body io.Reader
	size int64 // size of the reader's buffer
}

func (x *Exchange) heldEvents(body io.Reader) *heldEvents {
	s := &heldEvents{x: x, body: body}
	s.EventReader = framing.NewEventReader(s, x.Handler.up.Options.Limits.Message)
	return s
}

// Read reserves memory for the reader's buffer, of which p is the free part, and reads. The error is errMemoryBudget
// if no memory became free in time.
func (s *heldEvents) Read(p []byte) (int, error) {
	unread, free := int64(s.Buffered()), int64(len(p))
	if unread == 0 {
		s.size = free
	}
	s.size = max(s.size, min(unread+free, int64(s.x.Handler.up.MaxBytes())+1))
	if err := s.x.Handler.answers.reserve(s.x.Context, &s.x.answerMemory, s.size, s.x.flush); err != nil { // the client gets first what is written
		return 0, err
	}
	return s.body.Read(p)
}
