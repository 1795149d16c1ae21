// Package gatewaytest provides a ledger, a meter, servers and parsers of answers for tests of the gateway.
package gatewaytest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
)

// Books is a ledger and a meter that count failures.
type Books struct {
	Slow       time.Duration // how long recording takes
	mu         sync.Mutex
	entries    int
	Attempts   int
	counts     int
	suppressed int
	Codes      map[string]int
	Strays     []string // recorded texts of stray answers
	Said       string   // upstream's text in the last entry
}

// RecordFailure counts an entry.
func (b *Books) RecordFailure(_ context.Context, e candor.Failure) error {
	time.Sleep(b.Slow)
	b.mu.Lock()
	defer b.mu.Unlock()
	if e.Retried {
		b.Attempts++
		return nil
	}
	b.entries++
	b.Said = string(e.Received)
	if b.Codes == nil {
		b.Codes = map[string]int{}
	}
	b.Codes[e.Error.Code().Symbol()]++
	if e.Error.Code() == candor.CodeStrayAnswer {
		b.Strays = append(b.Strays, string(e.Received))
	}
	return nil
}

// Count counts a failure.
func (b *Books) Count(*candor.Error, string) { b.mu.Lock(); b.counts++; b.mu.Unlock() }

// CountSuppressed counts a failure that is not sent.
func (b *Books) CountSuppressed() { b.mu.Lock(); b.suppressed++; b.mu.Unlock() }

// CountUnrecorded panics, because RecordFailure never fails.
func (b *Books) CountUnrecorded(*candor.Error) {
	panic("nothing goes unrecorded") //nolint:forbidigo // fails the test
}

func (b *Books) Read() (entries, counts, suppressed int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.entries, b.counts, b.suppressed
}

// Of returns the number of entries with that code.
func (b *Books) Of(code string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Codes[code]
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
const TooLong = 30 * time.Second

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
	var m struct {
		Result struct {
			Meta struct {
				E struct{ Code string } `json:"dev.candor/error"`
			} `json:"_meta"`
		}
		Error struct {
			Data struct {
				E struct{ Code string } `json:"dev.candor/error"`
			}
		}
	}
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		panic(err) //nolint:forbidigo // fails the test
	}
	return m.Result.Meta.E.Code + m.Error.Data.E.Code
}

// SpanHello is an initialize request from a client with roots.
const SpanHello = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25",` +
	`"capabilities":{"roots":{}},"clientInfo":{"name":"t","version":"1"}}}`

// Eventually waits until a condition is true, for at most TooLong.
func Eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(TooLong); !is(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("timed out waiting for: " + what)
		}
	}
}

// Told returns the number of failing messages.
func Told(messages ...string) (n int) {
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
func ReadAdvice(t *testing.T, line string) Advised {
	t.Helper()
	var m struct {
		Result struct {
			Meta struct {
				E Advised `json:"dev.candor/error"`
			} `json:"_meta"`
		}
		Error struct {
			Data struct {
				E Advised `json:"dev.candor/error"`
			}
		}
	}
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	if m.Error.Data.E.Code != "" {
		return m.Error.Data.E
	}
	return m.Result.Meta.E
}
