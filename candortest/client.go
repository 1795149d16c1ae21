package candortest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/mcpclient"
	"github.com/candor-mcp/candor/wire"
)

// The eras are the generations of the protocol, each named by the version that the kit asks for. era2025 begins with initialize and keeps a session; a server may answer with an older version, and rules
// that are newer than that version are then skipped. era2026 is stateless, and every request carries its client and version.
const (
	era2025 = mcpclient.VersionSession
	era2026 = mcpclient.VersionStateless
)

// eras returns the eras that the kit supports, the older first.
func eras() []string { return []string{era2025, era2026} }

const (
	metaVersion = "io.modelcontextprotocol/protocolVersion"
	clientName  = "candortest"
)

// request returns a request of the era. params is a JSON object, or "" for the minimum that the era allows.
func requestIn(e, id, method, params string) []byte {
	if params == "" {
		params = `{}`
	}
	if e == era2026 {
		params = string(mcpclient.AddMeta([]byte(params), clientName))
	}
	return mcpclient.Request(id, method, params)
}

// probe returns a request that every server of the era answers with a result.
func probeIn(e, id string) []byte {
	if e == era2026 {
		return requestIn(e, id, "server/discover", "")
	}
	return requestIn(e, id, "ping", "")
}

// opening returns the first request of a connection.
func openingIn(e, id string) []byte {
	if e == era2026 {
		return probeIn(e, id)
	}
	return requestIn(e, id, "initialize", mcpclient.InitializeParams(clientName))
}

// client exchanges raw bytes with a server over one connection, and records them in a transcript. It is used by one goroutine.
type client struct {
	mcpclient.Conn
	http    *served // nil unless the connection is HTTP
	tour    *tour
	era     string
	version string // the negotiated version, or that of the era
	log     *transcript
	last    int // id of the last request

	ctx     context.Context //nolint:containedctx // ends with the connection
	cancel  context.CancelFunc
	open    int        // exchanges over HTTP in progress
	ended   chan error // gets the result of each
	trouble string     // the last failure of an exchange
}

func (t *tour) connect(ctx context.Context, era string, log *transcript) (*client, error) {
	conn, err := t.tr.open()
	if err != nil {
		return nil, fmt.Errorf("the server could not be reached: %w", err)
	}
	conn.Agree(string(era))
	c := &client{Conn: conn, tour: t, era: era, version: string(era), log: log, ended: make(chan error)}
	c.http, _ = conn.(*served)
	c.ctx, c.cancel = context.WithCancel(ctx)
	return c, nil
}

func (c *client) close() {
	c.cancel()
	c.Close(false)
}

// diagnostics returns the server's output outside the protocol.
func (c *client) diagnostics() string {
	if s, ok := c.Conn.(*mcpclient.Stdio); ok {
		return strings.TrimSpace(s.Stderr.String())
	}
	return c.trouble
}

// said is one frame from the server.
type said struct {
	mcpclient.Message
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
func (s *said) failed() bool { return s.msg.Shape() == wire.KindError || s.isError() }

func (s *said) isError() bool {
	flag, _ := s.msg.Result().Path("isError").Bool()
	return flag
}

// id returns an id that this connection has not used.
func (c *client) id() string {
	c.last++
	return strconv.Itoa(1000 + c.last)
}

// request returns a request of the client's era with a new id.
func (c *client) request(method, params string) (raw []byte, id string) {
	id = c.id()
	return requestIn(c.era, id, method, params), id
}

// maxWasted is the number of timeouts in a run after which further waits are shortened. Without it, a server that
// answers nothing would cost the full timeout for every request.
const maxWasted = 12

// wait returns the current timeout for an answer.
func (c *client) wait() time.Duration {
	if o := c.tour.o; c.tour.wasted >= maxWasted*o.Timeout {
		return min(o.Silence, o.Timeout)
	}
	return c.tour.o.Timeout
}

// send sends a message and does not wait for an answer.
func (c *client) send(ctx context.Context, raw []byte) error {
	c.log.sent.add("", raw)
	if c.http == nil {
		ctx, cancel := context.WithTimeout(ctx, c.wait())
		defer cancel()
		return c.Send(ctx, 0, raw)
	}
	c.open++
	go func() {
		select {
		case c.ended <- c.Send(c.ctx, 0, raw):
		case <-c.ctx.Done():
		}
	}()
	return ctx.Err()
}

// errQuiet is returned by receive when every request over HTTP has ended, so that no further message can arrive.
var errQuiet = errors.New("no open request or stream that could bring a message")

// receive passes answers to enough until it returns true. The error is the reason why it stopped earlier.
func (c *client) receive(ctx context.Context, wait time.Duration, enough func(said) bool) error {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for c.http == nil || c.open > 0 {
		select {
		case m, open := <-c.Messages():
			if !open {
				return errors.New("the server closed the connection or ended")
			}
			if s := (said{m, wire.Parse(m.Data, wire.Limits{})}); s.answer() {
				c.log.got.message(m)
				if enough(s) {
					return nil
				}
			}
		case err := <-c.ended:
			if c.open--; err != nil {
				c.trouble = err.Error()
			}
		case <-ctx.Done():
			if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return ctx.Err()
			}
			if wait > 5*c.tour.o.Silence { // shorter waits expect silence
				c.tour.wasted += wait
			}
			return fmt.Errorf("no further message within %v", wait)
		}
	}
	return errQuiet
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
	if errors.Is(err, errQuiet) {
		err = fmt.Errorf("the exchange ended without an answer %s", candor.Public(c.diagnostics(), 200))
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
	answer, err := c.ask(ctx, probeIn(c.era, id), id)
	return judgeProbe(answer, err)
}

func judgeProbe(answer said, err error) error {
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
	keep := func(s said) {
		if len(answers) < parallel { // a server may never stop
			answers = append(answers, s)
		}
	}
	if c.http != nil { // one exchange at a time, so that each answer belongs to one message
		err := c.receive(ctx, c.wait(), func(s said) bool { keep(s); return false })
		if !errors.Is(err, errQuiet) {
			return answers, err
		}
		return answers, c.survives(ctx)
	}
	id := c.id()
	dead = c.send(ctx, probeIn(c.era, id)) // frames that the server sent before it ended are still to be read
	var probe said
	err := c.receive(ctx, c.wait(), func(s said) bool {
		if s.msg.ID().Equal(wire.ID(id)) {
			probe = s
			return true
		}
		keep(s)
		return false
	})
	if err = judgeProbe(probe, errors.Join(dead, err)); err != nil {
		return answers, err
	}
	if len(answers) < want || want == 0 { // a server may answer out of order
		settle := c.tour.o.Silence
		if want > 0 {
			settle = min(5*settle, c.wait())
		}
		_ = c.receive(ctx, settle, func(s said) bool { // silence is reported by the caller
			keep(s)
			return len(answers) == want
		})
	}
	return answers, nil
}

// stimulus is one message and the answers that are allowed.
type stimulus struct {
	name     string
	raw      func(*client) []byte
	codes    []int64 // the allowed JSON-RPC error codes; nil allows any
	orResult bool    // a result is allowed as well
}

// fixed returns a message that does not depend on the connection.
func fixed(name, raw string, code int64) stimulus {
	return stimulus{name: name, raw: func(*client) []byte { return []byte(raw) }, codes: []int64{code}}
}

// changed breaks a request that the server would otherwise answer with a result.
func changed(name, from, to string) stimulus {
	return stimulus{name: name, codes: []int64{invalidRequest}, raw: func(c *client) []byte {
		return []byte(strings.Replace(string(probeIn(c.era, c.id())), from, to, 1))
	}}
}

func withID(id string) stimulus {
	return stimulus{name: "id " + id, codes: []int64{invalidRequest}, raw: func(c *client) []byte { return probeIn(c.era, id) }}
}

// request returns a request of the client's era with a new id.
func request(name, method, params string, codes ...int64) stimulus {
	return stimulus{name: name, codes: codes, raw: func(c *client) []byte { return requestIn(c.era, c.id(), method, params) }}
}

// rawCall returns a tools/call request with rest after the method. It does not add the era's _meta.
func rawCall(name, rest string) stimulus {
	return stimulus{name: name, codes: refusedParams, raw: func(c *client) []byte {
		return []byte(`{"jsonrpc":"2.0","id":` + c.id() + `,"method":"tools/call"` + rest + `}`)
	}}
}

// provokeEach sends the messages one by one. The server must give each an allowed answer and keep running. If ids is set,
// the answers must be JSON-RPC and carry the id of the message.
func (c *client) provokeEach(ctx context.Context, stimuli []stimulus, ids bool) error {
	for _, s := range stimuli {
		raw := s.raw(c)
		answers, dead := c.provoke(ctx, raw, 1)
		err := s.judge(c.era, answers)
		if err == nil && ids {
			sent := wire.Parse(raw, wire.Limits{})
			switch a := answers[0]; {
			case a.rejection():
				err = fmt.Errorf("a request was refused with HTTP %d and no JSON-RPC error", a.Status)
			case !a.msg.ID().Equal(sent.ID()):
				err = errors.New("the answer does not carry the request's id")
			}
		}
		if err = errors.Join(err, dead); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

// judge returns what is wrong with the answers. Over HTTP a 4xx status is an answer: the specification lets a server refuse
// invalid requests that way.
func (s *stimulus) judge(era string, answers []said) error {
	if len(answers) == 0 {
		return errors.New("nothing came back")
	}
	if len(answers) > 1 {
		return fmt.Errorf("%d answers came back to one message", len(answers))
	}
	a := answers[0]
	shape := a.msg.Shape()
	switch {
	case a.rejection() && a.Status >= 500:
		return fmt.Errorf("the server answered HTTP %d: it failed where it should refuse", a.Status)
	case a.rejection(), shape == wire.KindResult && s.orResult:
		return nil
	case shape == wire.KindResult:
		return errors.New("the server carried it out instead of refusing it")
	case shape != wire.KindError:
		return errors.New("the answer is not a JSON-RPC response")
	case era == era2026:
		return wrongCode(a, slices.DeleteFunc(slices.Clone(s.codes), func(code int64) bool { return code == noResource }))
	}
	return wrongCode(a, s.codes)
}

// wrongCode returns an error if the code of a JSON-RPC error is not one of codes.
func wrongCode(a said, codes []int64) error {
	code, ok := a.code()
	if !ok {
		return errors.New("the error's code is not an integer")
	}
	if codes != nil && !slices.Contains(codes, code) {
		return fmt.Errorf("the error's code is %d and not %s", code, strings.ReplaceAll(strings.Trim(fmt.Sprint(codes), "[]"), " ", " or "))
	}
	return nil
}
