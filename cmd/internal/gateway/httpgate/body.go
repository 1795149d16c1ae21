package httpgate

import (
	"io"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/internal/httpguard"
)

// readRequest reads a message from the client. Its memory is reserved until the exchange ends, because it may have to be sent
// again. Requests and answers have separate budgets: otherwise requests could use all memory while they wait for their answers.
func (x *Exchange) readRequest(said, limit int64) ([]byte, error) {
	return x.read(x.Request.Body, said, limit, x.Handler.requests, &x.requestMemory)
}

// readMessage reads a message from the upstream. releaseAnswer releases its memory.
func (x *Exchange) readMessage(r io.Reader, said, limit int64) ([]byte, error) {
	return x.read(r, said, limit, x.Handler.answers, &x.answerMemory)
}

// read is [httpguard.ReadBody] with the memory reserved in s.
func (x *Exchange) read(r io.Reader, said, limit int64, s *httpguard.SplitBudget, of *httpguard.Share) ([]byte, error) {
	return httpguard.ReadBody(r, said, limit, func(size int64) error {
		return s.Reserve(x.Context, of, size, x.flush)
	})
}

// releaseAnswer releases the memory of answers, and release all memory.
func (x *Exchange) releaseAnswer() { x.Handler.answers.Release(&x.answerMemory) }

func (x *Exchange) release() {
	x.releaseAnswer()
	x.Handler.requests.Release(&x.requestMemory)
}

// failWithoutMemory ends a call if its answer did not fit in memory. The upstream has executed the call, so the error never advises a
// retry.
func (x *Exchange) failWithoutMemory() gateway.Reply {
	return x.sendReply(gateway.Reply{Bytes: x.call.Fail(x.Context, noMemoryError())})
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

// Read reserves memory for the reader's buffer, of which p is the free part, and reads. The error is [httpguard.ErrBudget] if no memory
// became free in time. Events that arrived together are sent together, before the read may block.
func (s *heldEvents) Read(p []byte) (int, error) {
	s.x.flush()
	unread, free := int64(s.Buffered()), int64(len(p))
	if unread == 0 {
		s.size = free
	}
	s.size = max(s.size, min(unread+free, int64(s.x.Handler.up.MaxBytes())+1))
	if err := s.x.Handler.answers.Reserve(s.x.Context, &s.x.answerMemory, s.size, s.x.flush); err != nil { // the client first gets the events written so far
		return 0, err
	}
	return s.body.Read(p)
}
