package gateway

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/wire"
)

var update = flag.Bool("update", false, "write what the conversations said")

// A conversation is a text file. Each event is a line that begins with one of
//
//	set KEY VALUE     an option of the upstream
//	client MESSAGE    the client sends
//	upstream MESSAGE  the upstream answers the call of that id
//	wait DURATION     time passes
//	timeout ID        the deadline of a call is reached
//	cancel ID         the client cancels the call
//	dies              the upstream ends
//	stray MESSAGE     the upstream sends an answer to no call
//
// and the expected effects follow it, indented: the messages that are sent, recorded and counted. Lines that begin with # are
// comments. The test runs the events and compares the effects.

type conversation struct {
	t       *testing.T
	out     strings.Builder
	options Options
	up      *Upstream
	calls   map[string]*Call
	now     time.Time
	refs    int
}

// RecordFailure writes an entry into the conversation.
func (c *conversation) RecordFailure(_ context.Context, e candor.Failure) error {
	kind := "failure"
	switch {
	case e.Retried:
		kind = "attempt"
	case e.Suspected:
		kind = "suspected"
	}
	fmt.Fprintf(&c.out, "    ledger     %s %s %s %s/%s", kind, e.Verdict, e.Error.Code(), e.Method, e.Error.CallInfo().Tool)
	fmt.Fprintf(&c.out, " ref=%s attempt=%d said=%dB sent=%dB\n", e.Error.Ref(), e.Attempt, len(e.Received), len(e.Sent))
	if c.options.Name == "unrecordable" {
		return fmt.Errorf("the disk is gone")
	}
	return nil
}

// Count writes a count into the conversation.
func (c *conversation) Count(e *candor.Error, verdict string) {
	fmt.Fprintf(&c.out, "    meter      +1 %s %s\n", verdict, e.Code())
}

// CountSuppressed writes that a failure was not answered.
func (c *conversation) CountSuppressed() { c.out.WriteString("    meter      +1 suppressed\n") }

// CountUnrecorded writes that a failure was not recorded.
func (c *conversation) CountUnrecorded(e *candor.Error) {
	fmt.Fprintf(&c.out, "    meter      +1 unrecorded %s\n", e.Code())
}

func (c *conversation) start() {
	c.options.Ledger, c.options.Meter = c, c
	c.options.Now = func() time.Time { return c.now }
	c.options.NewRef = func() string { c.refs++; return fmt.Sprintf("r%d", c.refs) }
	c.up = New(c.options)
	c.calls = map[string]*Call{}
}

func (c *conversation) set(key, value string) {
	var err error
	switch key {
	case "mode":
		c.options.Mode = Mode(value)
	case "name":
		c.options.Name = value
	case "dialect":
		c.options.Dialect, err = dialect.Lookup(value)
	case "speaks":
		c.options.Speaks = value
	case "validation":
		c.options.Validate = Validation(value)
	case "attempts":
		_, err = fmt.Sscan(value, &c.options.Retry.Attempts)
	case "repeats":
		_, err = fmt.Sscan(value, &c.options.Repeats.After)
	case "breaker":
		_, err = fmt.Sscan(value, &c.options.Breaker.Failures)
	case "mask", "code", "result":
		err = c.rule(key, value)
	default:
		err = fmt.Errorf("there is no option %s", key)
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// rule parses "TOOL PATH EQUALS CODE" for a mask, where EQUALS may be * for any, "SAID CODE" for a code and "TOOL" for a result.
func (c *conversation) rule(key, value string) error {
	if c.options.Rules == nil {
		c.options.Rules = &Rules{}
	}
	words := strings.Fields(value)
	if key == "result" {
		c.options.Rules.Results = append(c.options.Rules.Results, ResultRule{Tool: words[0]})
		return c.options.Rules.Compile()
	}
	code, err := candor.ParseCode(words[len(words)-1])
	if err != nil && words[len(words)-1] != "-" {
		return err
	}
	if key == "mask" {
		c.options.Rules.Masks = append(c.options.Rules.Masks, Mask{Tool: words[0], Path: words[1], Equals: strings.TrimPrefix(words[2], "*"), Code: code})
	} else {
		c.options.Rules.Codes = append(c.options.Rules.Codes, CodeRule{Said: words[0], Code: code})
	}
	return c.options.Rules.Compile()
}

func (c *conversation) client(line string) {
	m := wire.Parse([]byte(line), c.up.Options.Limits.Message)
	if m.Kind() != wire.KindRequest {
		c.tell(c.up.Malformed(c.t.Context(), &m, "s1"))
		return
	}
	call, refusal := c.up.Admit(c.t.Context(), &m, "s1")
	if call == nil {
		c.tell(refusal)
		return
	}
	c.calls[string(call.ID())] = call
	same := "other bytes: "
	if bytes.Equal(call.Bytes(), []byte(line)) {
		same = "the same bytes"
	}
	fmt.Fprintf(&c.out, "    upstream   %s\n", same)
}

func (c *conversation) tell(answer []byte) {
	if answer == nil {
		c.out.WriteString("    client     nothing\n")
		return
	}
	fmt.Fprintf(&c.out, "    client     %s\n", answer)
}

var idMember = regexp.MustCompile(`"id":\s*("[^"]*"|[0-9.e+]+)`)

func (c *conversation) upstream(line string) {
	id := ""
	if found := idMember.FindStringSubmatch(line); found != nil {
		id = found[1]
	}
	call := c.calls[id]
	if call == nil {
		for _, any := range c.calls {
			call = any
		}
	}
	reply := call.Close(c.t.Context(), []byte(line))
	switch {
	case reply.Again:
		c.out.WriteString("    upstream   once more\n")
	case bytes.Equal(reply.Bytes, []byte(line)):
		c.out.WriteString("    client     the same bytes\n")
	default:
		c.tell(reply.Bytes)
	}
}

func (c *conversation) line(line string) {
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "set":
		key, value, _ := strings.Cut(rest, " ")
		c.set(key, value)
		return
	}
	if c.up == nil {
		c.start()
	}
	switch verb {
	case "client":
		c.client(rest)
	case "upstream":
		c.upstream(rest)
	case "wait":
		d, err := time.ParseDuration(rest)
		if err != nil {
			c.t.Fatal(err)
		}
		c.now = c.now.Add(d)
		time.Sleep(d) // moves the clock of the bubble and takes no time
	case "timeout":
		c.tell(c.calls[rest].Fail(c.t.Context(), candor.New(candor.CodeCallTimeout, "", candor.WithOrigin(candor.PartyGateway, false))))
	case "cancel":
		c.calls[rest].Cancelled(c.t.Context())
	case "stray":
		c.up.Stray(c.t.Context(), []byte(rest), "s1")
	case "dies":
		for _, call := range c.calls {
			if answer := call.Fail(c.t.Context(), candor.New(candor.CodeUpstreamGone, "", candor.WithOrigin(candor.PartyGateway, false))); answer != nil {
				c.tell(answer)
			}
		}
	default:
		c.t.Fatalf("nobody understands %q", line)
	}
}

// TestConversations compares every verdict and every policy with the recorded conversations, byte for byte.
func TestConversations(t *testing.T) {
	files, err := filepath.Glob("testdata/conversations/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var got string
			synctest.Test(t, func(t *testing.T) { got = converse(t, string(want)) }) // time passes only in a step of the conversation
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			} else if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("the conversation went otherwise (-update writes it):\n%s", diff)
			}
		})
	}
}

// converse runs the events of a conversation and returns them with their effects.
func converse(t *testing.T, text string) string {
	t.Helper()
	c := &conversation{t: t, now: time.Date(2026, 11, 15, 9, 30, 0, 0, time.UTC)}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "    "):
			continue // an effect from the last run
		case line == "" || strings.HasPrefix(line, "#"):
			c.out.WriteString(line + "\n")
		default:
			c.out.WriteString(line + "\n")
			c.line(line)
		}
	}
	return c.out.String()
}

// TestEveryVerdictHasAConversation checks that no verdict is missing.
func TestEveryVerdictHasAConversation(t *testing.T) {
	files, err := filepath.Glob("testdata/conversations/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	for _, v := range contract.Verdicts() {
		if v != contract.VerdictClean && !strings.Contains(all.String(), " "+string(v)+" ") {
			t.Errorf("no conversation has the verdict %s", v)
		}
	}
}
