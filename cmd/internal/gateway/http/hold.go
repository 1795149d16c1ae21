package httpgate

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/wire"
)

// bodyBudget is a budget for messages. Those up to midsize have a quarter of it for themselves. Of the rest an eighth of the whole is kept for
// messages of up to a sixteenth that find no place among the large ones: a client that does not finish a very large message, or does not
// read one, cannot keep the others waiting.
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

func (s *bodyBudget) giveBack(of *reservation) {
	s.usual.try(&of.usual, 0)
	s.large.try(&of.large, 0)
	s.spare.try(&of.spare, 0)
}

// holdRequest reads the message of a client. It is held until the exchange is over: until then it may have to be sent again.
// Requests have a budget of their own, or they could take all the room and then wait for that of their answers.
func (x *Exchange) holdRequest(said, limit int64) ([]byte, error) {
	return x.read(x.Request.Body, said, limit, &x.Handler.requests, &x.asked)
}

// hold reads a message of the upstream. What is held is given back by letGoAnswer.
func (x *Exchange) hold(r io.Reader, said, limit int64) ([]byte, error) {
	return x.read(r, said, limit, &x.Handler.answers, &x.held)
}

// holdAnswer is hold for the whole body of a response.
func (x *Exchange) holdAnswer(res *http.Response, limit int64) ([]byte, error) {
	body, err := x.hold(res.Body, res.ContentLength, limit)
	if x.coded != nil && err == nil {
		x.coded.whole = body
	}
	return body, err
}

// Read reads a message of no more than limit bytes, of which said are announced, -1 if it is not known. The error is errTooLarge
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

// nextSize is the next capacity for a full buffer. What is announced is believed up to eight times of what has come: a peer that
// announces much and sends little holds little. There is one byte more than a message may have, to see that it has ended.
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

// letGoAnswer gives back what is held of answers, and letGo all.
func (x *Exchange) letGoAnswer() { x.Handler.answers.giveBack(&x.held) }

func (x *Exchange) letGo() {
	x.letGoAnswer()
	x.Handler.requests.giveBack(&x.asked)
}

// shed ends a call whose answer could not be held in memory. The upstream has run the call, so the error never advises to repeat it.
func (x *Exchange) shed() gateway.Reply {
	return x.say(gateway.Reply{Bytes: x.call.Fail(x.Context, errUnheld())})
}

// heldEvents accounts for the buffer of a reader of events, which lies between it and the body.
type heldEvents struct {
	*wire.EventReader
	x    *Exchange
	body io.Reader
	size int64 // of the reader's buffer
}

func (x *Exchange) heldEvents(body io.Reader) *heldEvents {
	s := &heldEvents{x: x, body: body}
	s.EventReader = wire.NewEventReader(s, x.Handler.up.Options.Limits.Message)
	return s
}

// Read is given all that is free of the buffer; the error is errMemoryBudget if there is no room for it. An empty buffer is free from its start on, a larger one than before is full up to here.
func (s *heldEvents) Read(p []byte) (int, error) {
	unread, free := int64(s.Buffered()), int64(len(p))
	if unread == 0 {
		s.size = free
	}
	s.size = max(s.size, min(unread+free, int64(s.x.Handler.up.MaxBytes())+1))
	if err := s.x.Handler.answers.reserve(s.x.Context, &s.x.held, s.size, s.x.flush); err != nil { // the client gets first what is written
		return 0, err
	}
	return s.body.Read(p)
}
