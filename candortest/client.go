package candortest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/wire"
)

// client speaks raw bytes with a server over one connection and writes down what was said.
type client struct {
	conn Conn
	http *httpConn // nil unless the connection is HTTP
	era  Era
	set  *settings
	log  *transcript
	ids  int // the last id given out
	calm *patience

	version string // agreed on, or that of the era
}

// patience is how much waiting in vain a run has left. A server that answers nothing would otherwise cost the whole time
// for every single question.
type patience struct{ wasted time.Duration }

// maxWasted is how many waits may run to their end before the others are cut short.
const maxWasted = 12

// waste notes a wait that brought nothing; one that was meant to bring nothing does not count.
func (p *patience) waste(wait, meant time.Duration) {
	if wait > meant {
		p.wasted += wait
	}
}

// wait is how long to wait for an answer now.
func (c *client) wait() time.Duration {
	if c.calm.wasted >= maxWasted*c.set.timeout {
		return min(c.set.settle, c.set.timeout)
	}
	return c.set.timeout
}

// said is one thing the server said.
type said struct {
	Frame
	msg wire.Message
}

// answer reports whether it is a response, however malformed, and not a request or notification of the server's own.
func (s *said) answer() bool {
	if len(s.Data) == 0 {
		return s.Status >= 300
	}
	shape := s.msg.Shape()
	return shape != wire.KindRequest && shape != wire.KindNotification
}

// rejection reports an HTTP refusal that is not told in JSON-RPC.
func (s *said) rejection() bool { return s.Status >= 400 && s.msg.Shape() != wire.KindError }

// code returns the number of a JSON-RPC error.
func (s *said) code() (int64, bool) { return s.msg.Error().Path("code").Int64() }

// failed reports whether it says that the call failed: a JSON-RPC error or a result with isError.
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

// request writes a request of the client's era with a fresh id.
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

// hear passes on what the server says until enough says so. The error says why the rest did not come.
func (c *client) hear(ctx context.Context, wait time.Duration, enough func(said) bool) error {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for {
		frame, err := c.conn.Receive(ctx)
		switch {
		case errors.Is(err, io.EOF):
			return errors.New("the server closed the connection or ended")
		case errors.Is(err, context.DeadlineExceeded):
			c.calm.waste(wait, 5*c.set.settle)
			return fmt.Errorf("nothing more came within %v", wait)
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

// ask sends a message and waits for the answer with this id. Over HTTP a refusal without an id is that answer too.
func (c *client) ask(ctx context.Context, raw []byte, id string) (said, error) {
	var found said
	if err := c.send(ctx, raw); err != nil {
		return found, err
	}
	err := c.hear(ctx, c.wait(), func(s said) bool {
		found = s
		return s.msg.ID().Equal(wire.ID(id)) || s.Status >= 400
	})
	if errors.Is(err, ErrQuiet) {
		return said{}, fmt.Errorf("the exchange ended without an answer %s", contract.Bound(c.conn.Diagnostics(), 200))
	}
	if err != nil {
		return said{}, err
	}
	return found, nil
}

// call is ask for a request of the client's own.
func (c *client) call(ctx context.Context, method, params string) (said, error) {
	raw, id := c.request(method, params)
	return c.ask(ctx, raw, id)
}

// survives asks for something every server answers with a result.
func (c *client) survives(ctx context.Context) error {
	id := c.id()
	answer, err := c.ask(ctx, c.era.probe(id), id)
	return c.judgeProbe(answer, err)
}

func (c *client) judgeProbe(answer said, err error) error {
	if err != nil {
		return fmt.Errorf("afterwards the server answered nothing: %w", err)
	}
	if answer.msg.Shape() != wire.KindResult {
		return errors.New("afterwards the server refused a request that was right")
	}
	return nil
}

// provoke sends a message that may be wrong and then one that is right. It returns what came back for the first and
// whether the second was answered. want is how many answers the first should have, so that nobody waits for more; none is
// believed after the time to settle, an answer that is missing after some more.
func (c *client) provoke(ctx context.Context, raw []byte, want int) (answers []said, dead error) {
	if err := c.send(ctx, raw); err != nil {
		return nil, fmt.Errorf("the message could not be sent: %w", err)
	}
	if c.http != nil { // one exchange after the other, so that each answer belongs to one
		err := c.hear(ctx, c.wait(), func(s said) bool { answers = keep(answers, s); return false })
		if !errors.Is(err, ErrQuiet) {
			return answers, err
		}
		return answers, c.survives(ctx)
	}
	id := c.id()
	if err := c.send(ctx, c.era.probe(id)); err != nil {
		dead = err // what it said before it ended is still to be read
	}
	var probe said
	err := c.hear(ctx, c.wait(), func(s said) bool {
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
	if len(answers) < want || want == 0 { // a server may answer out of turn
		settle := c.set.settle
		if want > 0 {
			settle = min(5*settle, c.wait())
		}
		_ = c.hear(ctx, settle, func(s said) bool { // if it stays silent, that is the finding
			answers = keep(answers, s)
			return len(answers) == want
		})
	}
	return answers, nil
}

// keep holds on to as many answers as anybody looks at: a server may go on for ever.
func keep(answers []said, s said) []said {
	if len(answers) < parallel {
		answers = append(answers, s)
	}
	return answers
}
