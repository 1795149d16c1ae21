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

// bodyBudget limits the memory of messages. A quarter is for messages of up to midsize bytes. An eighth is a reserve for messages
// of up to a sixteenth of the total that do not fit in the remaining part, so that a client that does not finish or read a very
// large message cannot block all others.
type bodyBudget struct {
	usual, large, spare memoryBudget
	spareSize           int64 // the largest message that may use spare
	patience            time.Duration
}

// reservation is the share of one exchange in a bodyBudget.
type reservation struct{ usual, large, spare int64 }

const midsize = 64 << 10 // messages above this size are large

func newBodyBudget(most int64, patience time.Duration) bodyBudget {
	budget := func(most int64) memoryBudget { return memoryBudget{limit: most, timeout: patience} }
	return bodyBudget{
		usual: budget(most / 4), large: budget(most - most/4 - most/8), spare: budget(most / 8), spareSize: most / 16, patience: patience,
	}
}

// reserve adjusts the reservation to a message of that size. A message that became large keeps its usual share while it waits;
// large messages never wait for that part. Beforehand is called before reserve waits.
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

// waitLarge waits for the memory of a large message, in whichever part of the budget it becomes free first.
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

// readRequest reads a message from the client. Its memory is reserved until the exchange ends, because it may have to be sent
// again. Requests and answers have separate budgets: otherwise requests could use all memory while they wait for their answers.
func (x *Exchange) readRequest(said, limit int64) ([]byte, error) {
	return x.read(x.Request.Body, said, limit, &x.Handler.requests, &x.requestMemory)
}

// readMessage reads a message from the upstream. releaseAnswer releases its memory.
func (x *Exchange) readMessage(r io.Reader, said, limit int64) ([]byte, error) {
	return x.read(r, said, limit, &x.Handler.answers, &x.answerMemory)
}

// readAnswer is like readMessage for the whole body of a response.
func (x *Exchange) readAnswer(res *http.Response, limit int64) ([]byte, error) {
	body, err := x.readMessage(res.Body, res.ContentLength, limit)
	if x.coded != nil && err == nil {
		x.coded.whole = body
	}
	return body, err
}

// read reads a message of at most limit bytes. Said is the announced length, or -1 if it is unknown. If the message is longer,
// the error is errTooLarge and the bytes are its beginning.
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

// nextSize returns the next capacity for a full buffer. An announced length is trusted up to eight times the bytes received so
// far, so a peer that announces much and sends little reserves little. One byte more than the limit shows whether the message has
// ended.
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

// releaseAnswer releases the memory of answers, and release all memory.
func (x *Exchange) releaseAnswer() { x.Handler.answers.release(&x.answerMemory) }

func (x *Exchange) release() {
	x.releaseAnswer()
	x.Handler.requests.release(&x.requestMemory)
}

// failUnheld ends a call whose answer did not fit in memory. The upstream has executed the call, so the error never advises a
// retry.
func (x *Exchange) failUnheld() gateway.Reply {
	return x.sendReply(gateway.Reply{Bytes: x.call.Fail(x.Context, unheldError())})
}

// heldEvents accounts for the buffer of an event reader. It is placed between the reader and the body.
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

// Read reserves memory for the reader's buffer, of which p is the free part, and reads. The error is errMemoryBudget if no memory
// became free in time.
func (s *heldEvents) Read(p []byte) (int, error) {
	unread, free := int64(s.Buffered()), int64(len(p))
	if unread == 0 {
		s.size = free
	}
	s.size = max(s.size, min(unread+free, int64(s.x.Handler.up.MaxBytes())+1))
	if err := s.x.Handler.answers.reserve(s.x.Context, &s.x.answerMemory, s.size, s.x.flush); err != nil { // the client first gets the events written so far
		return 0, err
	}
	return s.body.Read(p)
}
