package boundary

import (
	"bufio"
	"context"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/wire"
)

// session is one session over real pipes.
type session struct {
	t      testing.TB
	ledger *fakeLedger
	meter  *fakeMeter
	in     *io.PipeWriter
	out    *bufio.Scanner
	ended  chan error
	stop   context.CancelFunc
}

// converse serves a server over two pipes.
func converse(t testing.TB, server *mcp.Server, o Options) *session {
	t.Helper()
	s := &session{t: t, ledger: &fakeLedger{}, meter: &fakeMeter{}, ended: make(chan error, 1)}
	if o.Ledger == nil {
		o.Ledger = s.ledger
	}
	if o.Meter == nil {
		o.Meter = s.meter
	}
	fromClient, in := io.Pipe()
	fromServer, out := io.Pipe()
	s.in, s.out = in, bufio.NewScanner(fromServer)
	s.out.Buffer(nil, 32<<20)
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	t.Cleanup(stop)
	go func() {
		s.ended <- Install(server, o).serve(ctx, server, fromClient, out)
		shut(t, out)
	}()
	return s
}

func (s *session) send(lines ...string) {
	s.t.Helper()
	if len(lines) == 0 {
		return
	}
	if _, err := io.WriteString(s.in, strings.Join(lines, "\n")+"\n"); err != nil {
		s.t.Error(err)
	}
}

func shut(t testing.TB, c io.Closer) {
	t.Helper()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// next returns the next line.
func (s *session) next() string {
	s.t.Helper()
	if !s.out.Scan() {
		s.t.Fatal("the session has ended")
	}
	return s.out.Text()
}

// rest closes the input and returns all remaining lines.
func (s *session) rest() []string {
	s.t.Helper()
	shut(s.t, s.in)
	return s.collect()
}

// collect returns all lines until the session has ended.
func (s *session) collect() []string {
	s.t.Helper()
	var lines []string
	for s.out.Scan() {
		lines = append(lines, s.out.Text())
	}
	if err := <-s.ended; err != nil {
		s.t.Errorf("the session ended with %v", err)
	}
	return lines
}

// talk opens a session, sends the lines and returns all answers by their id token.
func (s *session) talk(e era, before bool, lines ...string) replies {
	s.t.Helper()
	go func() {
		if !before {
			s.send(e.preamble...)
		}
		for _, l := range lines {
			s.send(e.say(l))
		}
		shut(s.t, s.in)
	}()
	return answers(s.t, s.collect())
}

// replies maps id tokens to answers.
type replies map[string]wire.Message

// at returns an answer. It returns the zero message, which is malformed, if there is no such answer.
func (r replies) at(id string) *wire.Message {
	m := r[id]
	return &m
}

// answers parses lines, each of which must be a valid JSON-RPC message. An answer without an id is under "".
func answers(t testing.TB, lines []string) replies {
	t.Helper()
	found := replies{}
	for _, l := range lines {
		m := wire.Parse([]byte(l), wire.Limits{})
		if err := m.Err(); err != nil {
			t.Errorf("%v in %s", err, l)
		}
		if _, twice := found[string(m.ID())]; twice {
			t.Errorf("answered twice: %s", l)
		}
		found[string(m.ID())] = m
	}
	return found
}

// envelope returns the error in an answer and the number of a JSON-RPC error.
func envelope(t testing.TB, m *wire.Message) (*candor.Error, int) {
	t.Helper()
	number, _ := m.Error().Path("code").Int64()
	v, ok := dialect.Embedded(m.Value())
	if !ok {
		t.Fatalf("no envelope in %s", m.Bytes())
	}
	e, err := dialect.ReadCandor(v)
	if err != nil {
		t.Fatalf("%v in %s", err, m.Bytes())
	}
	return e, int(number)
}

func TestEveryRowOfTheMatrixIsSentRecordedAndCountedOnce(t *testing.T) {
	for _, e := range eras {
		for _, r := range matrix {
			if r.only == "" || r.only == e.name {
				t.Run(e.name+"/"+r.name, func(t *testing.T) {
					t.Parallel()
					r.check(t, e)
				})
			}
		}
	}
}

func (r row) check(t *testing.T, e era) {
	s := converse(t, rowServer(), Options{MaxMessage: r.limit})
	lines := []string{r.send, alive}
	if r.before {
		lines = lines[:1]
		lines = append(append(lines, e.preamble...), alive)
	}
	got := s.talk(e, r.before, lines...)
	if m := got[`"alive"`]; m.Kind() != wire.KindResult {
		t.Errorf("the session did not live on: %s", m.Bytes())
	}
	delete(got, `"alive"`)
	delete(got, `"hello"`)
	if r.silent {
		if len(got) != 0 {
			t.Errorf("what must not be answered was answered: %v", got)
		}
	} else {
		r.checkAnswer(t, got)
	}
	r.checkBooks(t, s)
}

func (r row) checkAnswer(t *testing.T, got replies) {
	m, ok := got[r.id]
	if !ok || len(got) != 1 {
		t.Fatalf("the answers are %v", got)
	}
	if r.number == 0 {
		if yes, _ := m.Result().Path("isError").Bool(); !yes {
			t.Errorf("no isError in %s", m.Bytes())
		}
	}
	if r.code == candor.CodeResourceNotFound { // recognised by its exact form, to which no member may be added
		if raw := m.Error().Path("data").Raw(); string(raw) != `{"uri":"file:///missing"}` {
			t.Errorf("the data are %s", raw)
		}
		return
	}
	told, number := envelope(t, &m)
	if told.Code() != r.code || number != r.number || told.Ref() == "" {
		t.Errorf("got %v with number %d, want %v with %d: %s", told.Code(), number, r.code, r.number, m.Bytes())
	}
}

func (r row) checkBooks(t *testing.T, s *session) {
	entries := s.ledger.all()
	if len(entries) != 1 || entries[0].err.Code() != r.code {
		t.Fatalf("the entries are %v, want one of %v", entries, r.code)
	}
	total, suppressed, _ := s.meter.counts()
	if want := map[bool]int{true: 1}[r.silent]; total != 1 || suppressed != want {
		t.Errorf("counted %d and suppressed %d, want 1 and %d", total, suppressed, want)
	}
}

func TestIDsComeBackAsTheyWereWritten(t *testing.T) {
	for _, e := range eras {
		ids := []string{"1", "0", "-1", "1.0", "1.5", "1e3", "-0", "9007199254740992", "9007199254740993", "-9007199254740993",
			"123456789012345678901234567890", `"1"`, `""`, `"\u0041"`, `"ü"`, `"\u0000x"`, `"\"\\"`, `"\ud800"`}
		var lines []string
		for _, id := range ids {
			lines = append(lines, `{"jsonrpc":"2.0","id":`+id+`,"method":"tools/list","params":{$m}}`)
		}
		s := converse(t, rowServer(), Options{})
		go func() {
			s.send(e.preamble...)
			for _, l := range lines {
				s.send(e.say(l))
			}
			shut(t, s.in)
		}()
		var got []string
		for _, l := range s.collect() {
			m := wire.Parse([]byte(l), wire.Limits{AllowLoneSurrogates: true})
			if id := string(m.ID()); id != `"hello"` && m.Result().Present() {
				got = append(got, id)
			}
		}
		slices.Sort(got)
		slices.Sort(ids)
		if !slices.Equal(got, ids) {
			t.Errorf("%s: sent %q, got %q", e.name, ids, got)
		}
	}
}
