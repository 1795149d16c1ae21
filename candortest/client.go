package candortest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/wire"
)

// client exchanges raw bytes with a server over one connection and records them in a transcript.
type client struct {
	conn  Conn
	http  *httpConn // nil unless the connection is HTTP
	era   Era
	o     *Options
	log   *transcript
	ids   int // the last id that was used
	waits *waitTotal

	version string // the negotiated version, or that of the era
}

// waitTotal sums the waits of a run that got no answer. Without it, a server that answers nothing would cost the full timeout
// for every request.
type waitTotal struct{ wasted time.Duration }

// maxWasted is the number of full timeouts after which further waits are shortened.
const maxWasted = 12

// waste records a wait without an answer. Waits of at most meant, where silence is expected, do not count.
func (p *waitTotal) waste(wait, meant time.Duration) {
	if wait > meant {
		p.wasted += wait
	}
}

// wait returns the current timeout for an answer.
func (c *client) wait() time.Duration {
	if c.waits.wasted >= maxWasted*c.o.Timeout {
		return min(c.o.Silence, c.o.Timeout)
	}
	return c.o.Timeout
}

// said is one frame from the server.
type said struct {
	Frame
	msg wire.Message
}

// answer reports whether the frame is a response, however malformed, and not a request or notification from the server.
func (s *said) answer() bool {
	if len(s.Data) == 0 {
		return s.Status >= 300
	}
	shape := s.msg.Shape()
	return shape != wire.KindRequest && shape != wire.KindNotification
}

// rejection reports whether the frame is an HTTP error status without a JSON-RPC error.
func (s *said) rejection() bool { return s.Status >= 400 && s.msg.Shape() != wire.KindError }

// code returns the code of a JSON-RPC error.
func (s *said) code() (int64, bool) { return s.msg.Error().Path("code").Int64() }

// failed reports whether the call failed: with a JSON-RPC error or a result with isError.
func (s *said) failed() bool {
	return s.msg.Shape() == wire.KindError || s.isError()
}

func (s *said) isError() bool {
	flag, ok := s.msg.Result().Path("isError").Bool()
	return ok && flag
}

// id returns an id that this connection has not used.
func (c *client) id() string {
	c.ids++
	return number(1000 + c.ids)
}

// request returns a request of the client's era with a new id.
func (c *client) request(method, params string) (raw []byte, id string) {
	id = c.id()
	return c.era.request(id, method, params), id
}

func (c *client) send(ctx context.Context, raw []byte) error {
	return c.sendWith(ctx, raw, c.era.header(raw, c.version))
}

func (c *client) sendWith(ctx context.Context, raw []byte, header http.Header) error {
	c.log.sent(raw)
	ctx, cancel := context.WithTimeout(ctx, c.wait())
	defer cancel()
	return c.conn.Send(ctx, raw, header)
}

// receive passes frames to enough until it returns true. The error says why it stopped earlier.
func (c *client) receive(ctx context.Context, wait time.Duration, enough func(said) bool) error {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for {
		frame, err := c.conn.Receive(ctx)
		switch {
		case errors.Is(err, io.EOF):
			return errors.New("the server closed the connection or ended")
		case errors.Is(err, context.DeadlineExceeded):
			c.waits.waste(wait, 5*c.o.Silence)
			return fmt.Errorf("no further message within %v", wait)
		case err != nil:
			return err
		}
		s := said{Frame: frame, msg: wire.Parse(frame.Data, wire.Limits{})}
		if !s.answer() {
			continue
		}
		c.log.got(frame)
		if enough(s) {
			return nil
		}
	}
}

// ask sends a message and waits for the answer with this id. Over HTTP, a refusal without an id counts as that answer too.
func (c *client) ask(ctx context.Context, raw []byte, id string) (said, error) {
	var found said
	if err := c.send(ctx, raw); err != nil {
		return found, err
	}
	err := c.receive(ctx, c.wait(), func(s said) bool {
		found = s
		return s.msg.ID().Equal(wire.ID(id)) || s.Status >= 400
	})
	if errors.Is(err, ErrQuiet) {
		return said{}, fmt.Errorf("the exchange ended without an answer %s", candor.Public(c.conn.Diagnostics(), 200))
	}
	if err != nil {
		return said{}, err
	}
	return found, nil
}

// call sends a request with a new id and waits for its answer.
func (c *client) call(ctx context.Context, method, params string) (said, error) {
	raw, id := c.request(method, params)
	return c.ask(ctx, raw, id)
}

// survives sends a request that every server answers with a result, and returns an error if it does not.
func (c *client) survives(ctx context.Context) error {
	id := c.id()
	answer, err := c.ask(ctx, c.era.probe(id), id)
	return c.judgeProbe(answer, err)
}

func (c *client) judgeProbe(answer said, err error) error {
	if err != nil {
		return fmt.Errorf("afterwards the server did not answer: %w", err)
	}
	if answer.msg.Shape() != wire.KindResult {
		return errors.New("afterwards the server refused a valid request")
	}
	return nil
}

// provoke sends a message that may be invalid and then a valid one. It returns the answers to the first and an error if the
// second was not answered. want is the number of answers that the first should get; provoke stops waiting when they have
// arrived. If want is 0 it waits for the settle time, otherwise somewhat longer for missing answers.
func (c *client) provoke(ctx context.Context, raw []byte, want int) (answers []said, dead error) {
	if err := c.send(ctx, raw); err != nil {
		return nil, fmt.Errorf("the message could not be sent: %w", err)
	}
	if c.http != nil { // one exchange at a time, so that each answer belongs to one message
		err := c.receive(ctx, c.wait(), func(s said) bool { answers = keep(answers, s); return false })
		if !errors.Is(err, ErrQuiet) {
			return answers, err
		}
		return answers, c.survives(ctx)
	}
	id := c.id()
	if err := c.send(ctx, c.era.probe(id)); err != nil {
		dead = err // frames that the server sent before it ended are still to be read
	}
	var probe said
	err := c.receive(ctx, c.wait(), func(s said) bool {
		if s.msg.ID().Equal(wire.ID(id)) {
			probe = s
			return true
		}
		answers = keep(answers, s)
		return false
	})
	if err = c.judgeProbe(probe, errors.Join(dead, err)); err != nil {
		return answers, err
	}
	if len(answers) < want || want == 0 { // a server may answer out of order
		settle := c.o.Silence
		if want > 0 {
			settle = min(5*settle, c.wait())
		}
		_ = c.receive(ctx, settle, func(s said) bool { // silence is reported by the caller
			answers = keep(answers, s)
			return len(answers) == want
		})
	}
	return answers, nil
}

// keep appends s to answers up to the number that the checks use, because a server may never stop.
func keep(answers []said, s said) []said {
	if len(answers) < parallel {
		answers = append(answers, s)
	}
	return answers
}
