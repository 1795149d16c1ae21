package candortest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
)

// Finding is the result of one check in one era.
type Finding struct {
	Rule    Rule
	Era     Era
	Passed  bool
	Skipped string // why the check was not run, "" if it was
	Problem string // what was wrong, "" if it passed
	Sent    string // the messages sent; like Got bounded and redacted, one message per line
	Got     string // the messages received
	Stderr  string // the end of the server's output outside the protocol, if the check failed
}

// String returns the finding as a test shows it: the rule, why it matters, what happened and how to fix it.
func (f Finding) String() string {
	var b strings.Builder
	line := func(label, text string) {
		if text != "" {
			fmt.Fprintf(&b, "  %-8s %s\n", label, strings.ReplaceAll(text, "\n", "\n           "))
		}
	}
	switch {
	case f.Passed:
		fmt.Fprintf(&b, "%s (%s): passed\n", f.Rule.ID, f.Era)
		return b.String()
	case f.Skipped != "":
		fmt.Fprintf(&b, "%s (%s): skipped: %s\n", f.Rule.ID, f.Era, f.Skipped)
		return b.String()
	}
	fmt.Fprintf(&b, "%s (%s): %s\n", f.Rule.ID, f.Era, f.Problem)
	line("rule:", f.Rule.Title+" ["+f.Rule.Level.String()+"]")
	line("why:", f.Rule.Why)
	line("sent:", f.Sent)
	line("got:", f.Got)
	line("want:", f.Rule.Want)
	line("fix:", f.Rule.Fix)
	line("stderr:", f.Stderr)
	return b.String()
}

// TestServer checks the server behind tr in every era it supports, with one subtest for every check, named for example
// 2025-11-25/parse-error. A failed check explains the rule. A check that lacks an option is skipped and names it;
// a check that does not apply to the transport, the era or the level does not appear.
func TestServer(t *testing.T, tr Transport, o Options) {
	t.Helper()
	tour, err := newTour(t.Context(), tr, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, era := range tour.eras {
		t.Run(string(era), func(t *testing.T) {
			for _, c := range tour.applicable(era) {
				t.Run(c.ID, func(t *testing.T) {
					f := tour.check(t.Context(), era, c)
					switch {
					case f.Skipped != "":
						t.Skip(f.Skipped)
					case !f.Passed:
						t.Error(f.String())
					}
				})
			}
		})
	}
}

// Check is like [TestServer] without a test, for tools: it returns one finding for every check that applies, in order. The
// error only concerns the options; the findings hold the problems of the server. If ctx ends, the remaining checks are skipped.
func Check(ctx context.Context, tr Transport, o Options) ([]Finding, error) {
	tour, err := newTour(ctx, tr, o)
	if err != nil {
		return nil, err
	}
	var out []Finding
	for _, era := range tour.eras {
		for _, c := range tour.applicable(era) {
			out = append(out, tour.check(ctx, era, c))
		}
	}
	return out, nil
}

// tour is one run of the kit.
type tour struct {
	tr    Transport
	o     *Options
	eras  []Era
	http  bool
	facts map[Era]*facts // learned before the checks
	waits waitTotal
}

func newTour(ctx context.Context, tr Transport, options Options) (*tour, error) {
	o, err := options.filled()
	if err != nil {
		return nil, fmt.Errorf("candortest: %w", err)
	}
	_, overHTTP := tr.(httpTransport)
	t := &tour{tr: tr, o: o, http: overHTTP, facts: map[Era]*facts{}}
	for _, era := range Eras() {
		if len(o.Eras) > 0 && !slices.Contains(o.Eras, era) {
			continue
		}
		f := t.learn(ctx, era)
		t.facts[era] = f
		if f.handshake.failed == "" || slices.Contains(o.Eras, era) {
			t.eras = append(t.eras, era)
		}
	}
	if len(t.eras) == 0 { // it supports no known era: one finding reports that
		t.eras = []Era{Era2025}
	}
	return t, nil
}

// applicable returns the checks that apply to the transport, the era and the options.
func (t *tour) applicable(era Era) []*check {
	var out []*check
	for i := range checks {
		c := &checks[i]
		wanted := len(t.o.Only) == 0 || slices.Contains(t.o.Only, c.ID) || c.ID == handshakeID
		reached := c.on == anywhere || (c.on == overHTTP) == t.http
		if wanted && reached && c.Level <= t.o.Level && slices.Contains(c.eras(), era) {
			out = append(out, c)
		}
	}
	return out
}

func (t *tour) check(ctx context.Context, era Era, c *check) Finding {
	f := Finding{Rule: c.Rule, Era: era}
	facts := t.facts[era]
	switch reason, skip := t.o.Skip[c.ID]; {
	case skip:
		f.Skipped = reason
	case c.ID == handshakeID:
		f.set(facts.handshake)
		f.Sent, f.Got, f.Stderr = facts.log.out.String(), facts.log.in.String(), facts.stderr
	case ctx.Err() != nil:
		f.Skipped = "the run was ended before this check"
	case facts.handshake.failed != "":
		f.Skipped = "the handshake failed"
	case c.Needs == needsSlow && t.o.Slow.Tool == "", c.Needs == needsPanicking && t.o.Panicking.Tool == "":
		f.Skipped = "it needs " + c.Needs
	default:
		v := &visit{ctx: ctx, tour: t, era: era, facts: facts}
		f.set(c.run(v))
		v.close()
		f.Sent, f.Got = v.log.out.String(), v.log.in.String()
		if f.Problem != "" {
			f.Stderr = v.stderr
		}
	}
	return f
}

// set stores the result of a check.
func (f *Finding) set(r ruling) {
	f.Problem, f.Skipped = candor.Public(r.failed, 2000), r.skipped
	f.Passed = r.failed == "" && r.skipped == ""
}

// visit is one check in progress: it opens connections, records their messages and closes them at the end.
type visit struct {
	ctx    context.Context
	tour   *tour
	era    Era
	facts  *facts
	log    transcript
	conns  []Conn
	stderr string
}

// bare opens a connection on which nothing has been sent.
func (v *visit) bare() (*client, error) {
	v.close() // one at a time
	conn, err := v.tour.tr.Open(v.ctx)
	if err != nil {
		return nil, fmt.Errorf("the server could not be reached: %w", err)
	}
	v.conns = append(v.conns, conn)
	c := &client{conn: conn, era: v.era, o: v.tour.o, log: &v.log, waits: &v.tour.waits, version: string(v.era)}
	c.http, _ = conn.(*httpConn)
	return c, nil
}

// open opens a connection and does the handshake.
func (v *visit) open() (*client, error) {
	c, err := v.bare()
	if err != nil {
		return nil, err
	}
	c.log = &transcript{} // the handshake is not part of the check
	if _, err := c.shake(v.ctx); err != nil {
		return nil, err
	}
	c.log = &v.log
	return c, nil
}

// opened returns a check that opens a connection and does the handshake first.
func opened(run func(*visit, *client) ruling) func(*visit) ruling {
	return func(v *visit) ruling {
		c, err := v.open()
		if err != nil {
			return bad("%v", err)
		}
		return run(v, c)
	}
}

// again returns c, or opens a new connection if c is nil because the last one is no longer usable.
func (v *visit) again(c *client) (*client, error) {
	if c != nil {
		return c, nil
	}
	return v.open()
}

func (v *visit) close() {
	for _, conn := range v.conns {
		err := conn.Close()
		if text := strings.TrimSpace(conn.Diagnostics()); text != "" {
			v.stderr = candor.Public(text, 1000)
		}
		if err != nil {
			v.stderr = strings.TrimSpace(v.stderr + "\n" + candor.Public(err.Error(), 200))
		}
	}
	v.conns = nil
}

// deadline returns a context that bounds one wait outside the client.
func (v *visit) deadline() (context.Context, context.CancelFunc) {
	return context.WithTimeout(v.ctx, v.tour.o.Timeout)
}

// alive returns good if the server still answers.
func (c *client) alive(v *visit) ruling {
	if err := c.survives(v.ctx); err != nil {
		return bad("%v", err)
	}
	return good()
}

// good, bad and lacking are the three rulings.
func good() ruling { return ruling{} }

func bad(format string, args ...any) ruling { return ruling{failed: fmt.Sprintf(format, args...)} }

func lacking(format string, args ...any) ruling { return ruling{skipped: fmt.Sprintf(format, args...)} }

var errNotSpoken = errors.New("the server does not support this protocol era")
