// Package gatewaytest provides a ledger, a meter, servers and parsers of answers for tests of the gateway.
package gatewaytest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/testing/wait"
	"github.com/candor-mcp/candor/wire"
)

// Books is a ledger and a meter that keep the failures of a gateway.
type Books struct {
	Slow       time.Duration // how long recording takes
	mu         sync.Mutex
	entries    []candor.Failure // guarded by mu, like the fields below
	counted    int
	suppressed int
}

// RecordFailure keeps an entry.
func (b *Books) RecordFailure(_ context.Context, e candor.Failure) error {
	time.Sleep(b.Slow) // a slow disk
	b.mu.Lock()
	defer b.mu.Unlock()
	b.entries = append(b.entries, e)
	return nil
}

// Count counts a failure.
func (b *Books) Count(*candor.Error, string) { b.mu.Lock(); b.counted++; b.mu.Unlock() }

// CountSuppressed counts a failure that is not sent.
func (b *Books) CountSuppressed() { b.mu.Lock(); b.suppressed++; b.mu.Unlock() }

// CountUnrecorded panics, because RecordFailure never fails.
func (b *Books) CountUnrecorded(*candor.Error) {
	panic("a failure was not recorded") //nolint:forbidigo // fails the test
}

// All returns the entries so far, with attempts that were retried.
func (b *Books) All() []candor.Failure {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.entries)
}

// Codes returns the codes of the entries, without attempts that were retried.
func (b *Books) Codes() []string {
	codes := []string{}
	for _, e := range b.All() {
		if !e.Retried {
			codes = append(codes, e.Error.Code().String())
		}
	}
	return codes
}

// ByCode returns the number of entries with each code, without its domain and without attempts that were retried.
func (b *Books) ByCode() map[string]int {
	counts := map[string]int{}
	for _, code := range b.Codes() {
		counts[path.Base(code)]++
	}
	return counts
}

// Strays returns the recorded texts of stray answers.
func (b *Books) Strays() (texts []string) {
	for _, e := range b.All() {
		if e.Error.Code() == candor.CodeStrayAnswer {
			texts = append(texts, string(e.Received))
		}
	}
	return texts
}

// Totals returns the number of entries, without attempts that were retried, of counted failures and of suppressed ones.
func (b *Books) Totals() (entries, counted, suppressed int) {
	entries = len(b.Codes())
	b.mu.Lock()
	defer b.mu.Unlock()
	return entries, b.counted, b.suppressed
}

// CheckTotals checks that each failure was recorded, counted, and either sent or suppressed. Sent is the number of failures that
// clients received.
func (b *Books) CheckTotals(t *testing.T, sent int) {
	t.Helper()
	if entries, counted, suppressed := b.Totals(); entries != counted || sent+suppressed != entries {
		t.Errorf("sent %d + suppressed %d, counted %d, entries %v", sent, suppressed, counted, b.Codes())
	}
}

// LockedBuffer is a buffer that is safe for concurrent use.
type LockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *LockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *LockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// ToolCall returns a tools/call request.
func ToolCall(id int, tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool, arguments)
}

// TooLong is the timeout for tests that hang. It is not used to measure anything.
const TooLong = 2 * time.Minute

// IDOf returns the id of a message, and whether it is an answer.
func IDOf(line string) (id string, answer bool) {
	var m struct {
		ID     json.RawMessage
		Method *string
	}
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		panic(fmt.Sprintf("the client was sent %q: %v", line[:min(len(line), 200)], err)) //nolint:forbidigo // fails the test
	}
	return string(m.ID), m.Method == nil && m.ID != nil
}

// CodeOf returns the code of a failing answer, or "" for a clean one.
func CodeOf(line string) string {
	code, _ := Envelope(wire.Parse([]byte(line), wire.Limits{AllowLoneSurrogates: true})).Path("code").Str()
	return code
}

// Envelope returns the canonical error of an answer, or the absent value.
func Envelope(m wire.Message) wire.Value {
	if e := m.Result().Path("_meta", "dev.candor/error"); e.Present() {
		return e
	}
	return m.Error().Path("data", "dev.candor/error")
}

// SpanHello is an initialize request from a client with roots.
const SpanHello = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25",` +
	`"capabilities":{"roots":{}},"clientInfo":{"name":"t","version":"1"}}}`

// Eventually waits until a condition is true.
func Eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	wait.Until(t, what, is)
}

// CountFailed returns the number of failing messages.
func CountFailed(messages ...string) (n int) {
	for _, m := range messages {
		if CodeOf(m) != "" {
			n++
		}
	}
	return n
}

// FaultCodes maps each fault of target R9 over stdio to the resulting code, or "" for a clean answer.
var FaultCodes = map[string]string{
	"echo": "", "noise": "", "duplicate": "", "crlf": "", "hugenoise": "", "stderrflood": "", "slow": "", "changed": "", "nullerror": "", "raw": "", "bom": "",
	"nullresult": "DISK_FULL",
	"fail":       "NOT_FOUND", "flaky": "UPSTREAM_UNAVAILABLE", "baderror": "INTERNAL_ERROR",
	"hang": "CALL_TIMEOUT", "wrongid": "CALL_TIMEOUT", "nullid": "CALL_TIMEOUT", "late": "CALL_TIMEOUT", "deaf": "CALL_TIMEOUT",
	"exit": "UPSTREAM_GONE", "exitzero": "UPSTREAM_GONE", "crash": "UPSTREAM_GONE", "killed": "UPSTREAM_GONE", "half": "UPSTREAM_GONE",
	"mute": "UPSTREAM_GONE", "secret": "UPSTREAM_GONE",
	"halfline": "UPSTREAM_MALFORMED",
	"both":     "UPSTREAM_MALFORMED", "neither": "UPSTREAM_MALFORMED", "request": "UPSTREAM_MALFORMED", "version": "UPSTREAM_MALFORMED",
	"twice": "UPSTREAM_MALFORMED", "batch": "UPSTREAM_MALFORMED", "deep": "UPSTREAM_MALFORMED", "utf8": "UPSTREAM_MALFORMED",
	"control": "UPSTREAM_MALFORMED", "huge": "TOO_LARGE",
}

// Advised is the part of an envelope that an agent can act on.
type Advised struct {
	Code  string
	Retry struct {
		Kind    string
		AfterMs int64
	}
	Suggestion string
	Details    struct {
		AfterMs, Times, Repeated int64
		Said                     struct{ Retry string }
	}
}

// ReadAdvice reads the envelope of an answer.
func ReadAdvice(t *testing.T, line string) (a Advised) {
	t.Helper()
	if e := Envelope(wire.Parse([]byte(line), wire.Limits{})); e.Present() {
		if err := json.Unmarshal(e.Raw(), &a); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
	return a
}
