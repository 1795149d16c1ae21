package candortest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
)

// Finding is the result of one check in one era.
type Finding struct {
	Rule    Rule
	Era     string
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
		return fmt.Sprintf("%s (%s): passed\n", f.Rule.ID, f.Era)
	case f.Skipped != "":
		return fmt.Sprintf("%s (%s): skipped: %s\n", f.Rule.ID, f.Era, f.Skipped)
	}
	fmt.Fprintf(&b, "%s (%s): %s\n", f.Rule.ID, f.Era, f.Problem)
	line("rule:", f.Rule.Title+" ["+f.Rule.Level+"]")
	line("why:", f.Rule.Why)
	line("sent:", f.Sent)
	line("got:", f.Got)
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
	tr     Transport
	o      *Options
	eras   []string
	facts  map[string]*facts // learned before the checks
	wasted time.Duration     // the sum of the waits without an answer
}

func newTour(ctx context.Context, tr Transport, options Options) (*tour, error) {
	o, err := options.filled()
	if err != nil {
		return nil, fmt.Errorf("candortest: %w", err)
	}
	if tr.open == nil {
		return nil, errors.New("candortest: the transport is empty; use Stdio, HTTP or HTTPHandler")
	}
	t := &tour{tr: tr, o: o, facts: map[string]*facts{}}
	for _, era := range eras() {
		if len(o.Eras) > 0 && !slices.Contains(o.Eras, era) {
			continue
		}
		f := t.learn(ctx, era)
		t.facts[era] = f
		if f.handshake == nil || slices.Contains(o.Eras, era) {
			t.eras = append(t.eras, era)
		}
	}
	if len(t.eras) == 0 { // it supports no known era: one finding reports that
		t.eras = []string{era2025}
	}
	return t, nil
}

// applicable returns the checks that apply to the transport, the era and the options.
func (t *tour) applicable(era string) []*check {
	var out []*check
	for i := range checks {
		c := &checks[i]
		wanted := len(t.o.Only) == 0 || slices.Contains(t.o.Only, c.ID) || c.ID == handshakeID
		reached := t.tr.http && c.HTTP || !t.tr.http && c.Stdio
		if wanted && reached && (c.Level == protocol || !t.o.ProtocolOnly) && slices.Contains(c.Eras, era) {
			out = append(out, c)
		}
	}
	return out
}

func (t *tour) check(ctx context.Context, era string, c *check) Finding {
	f := Finding{Rule: c.Rule, Era: era}
	v := &visit{ctx: ctx, tour: t, era: era, check: c, facts: t.facts[era]}
	var err error
	if c.ID == handshakeID {
		v, err = v.facts.opening, v.facts.handshake
	} else if f.Skipped = v.lacks(); f.Skipped == "" {
		err = v.judge()
		v.close()
	}
	var skipped skip
	switch {
	case errors.As(err, &skipped):
		f.Skipped = string(skipped)
	case err != nil:
		f.Problem, f.Stderr = candor.Public(err.Error(), 2000), v.stderr
	}
	f.Passed = f.Problem == "" && f.Skipped == ""
	f.Sent, f.Got = v.log.sent.String(), v.log.got.String()
	return f
}

// visit is one check in progress: it opens connections, records their messages and closes them at the end.
type visit struct {
	*check
	ctx    context.Context
	tour   *tour
	era    string
	facts  *facts
	log    transcript
	client *client // nil if none is open
	stderr string
}

// skip is the error of a check that was not run, and the reason.
type skip string

func (s skip) Error() string { return string(s) }

// lacks returns the reason why the check cannot be run, "" if it can.
func (v *visit) lacks() string {
	o := v.tour.o
	switch reason, skipped := o.Skip[v.ID]; {
	case skipped:
		return reason
	case v.ctx.Err() != nil:
		return "the run was ended before this check"
	case v.facts.handshake != nil:
		return "the handshake failed"
	case v.Needs == needsSlow && o.Slow.Tool == "", v.Needs == needsPanicking && o.Panicking.Tool == "",
		v.Needs == needsFailing && len(o.Failing) == 0 && v.run != nil:
		return "it needs " + v.Needs
	case v.facts.version < v.since: // versions are dates
		return fmt.Sprintf("version %s does not have this rule yet", v.facts.version)
	case v.offers != "" && !v.facts.offers(v.offers):
		return "the server offers no " + v.offers
	}
	return ""
}

func (v *visit) judge() error {
	if v.wrong != nil {
		return v.eachFailure(v.about, v.wrong)
	}
	c, err := v.open()
	switch {
	case err != nil:
		return err
	case v.send != nil:
		return c.provokeEach(v.ctx, v.send, v.ids)
	}
	return v.run(v, c)
}

// bare opens a connection on which nothing has been sent.
func (v *visit) bare() (*client, error) {
	v.close() // one at a time
	c, err := v.tour.connect(v.ctx, v.era, &v.log)
	v.client = c
	return c, err
}

// open opens a connection and does the handshake.
func (v *visit) open() (*client, error) {
	c, err := v.bare()
	if err != nil {
		return nil, err
	}
	c.log = &transcript{} // the handshake is not part of the check
	_, err = c.shake(v.ctx)
	c.log = &v.log
	return c, err
}

// again returns c, or opens a new connection if c is nil because the last one is no longer usable.
func (v *visit) again(c *client) (*client, error) {
	if c != nil {
		return c, nil
	}
	return v.open()
}

func (v *visit) close() {
	if v.client == nil {
		return
	}
	v.client.close()
	if text := v.client.diagnostics(); text != "" {
		v.stderr = candor.Public(text, 1000)
	}
	v.client = nil
}
