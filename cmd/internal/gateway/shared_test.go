package gateway

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

// books are a ledger and a meter that count.
type books struct {
	slow       time.Duration // what a record takes
	mu         sync.Mutex
	entries    int
	attempts   int
	counts     int
	suppressed int
	codes      map[string]int
	strays     []string // what was kept of answers to nothing
	said       string   // what the last entry keeps of the upstream's words
}

func (b *books) Record(_ context.Context, e Entry) error {
	time.Sleep(b.slow)
	b.mu.Lock()
	defer b.mu.Unlock()
	if e.Retried {
		b.attempts++
		return nil
	}
	b.entries++
	b.said = string(e.Said)
	if b.codes == nil {
		b.codes = map[string]int{}
	}
	b.codes[e.Error.Code().Symbol()]++
	if e.Error.Code() == candor.CodeStrayAnswer {
		b.strays = append(b.strays, string(e.Said))
	}
	return nil
}

func (b *books) Count(*candor.Error, string) { b.mu.Lock(); b.counts++; b.mu.Unlock() }
func (b *books) CountSuppressed()            { b.mu.Lock(); b.suppressed++; b.mu.Unlock() }
func (b *books) CountUnrecorded(*candor.Error) {
	panic("nothing goes unrecorded")
}

func (b *books) read() (entries, counts, suppressed int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.entries, b.counts, b.suppressed
}

func (b *books) of(code string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.codes[code]
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func toolCall(id int, tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool, arguments)
}

// tooLong only ends a test that hangs; nothing is measured by it.
const tooLong = 30 * time.Second

func idOf(line string) (id string, answer bool) {
	var m struct {
		ID     json.RawMessage
		Method *string
	}
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		panic(fmt.Sprintf("the client was sent %q: %v", line[:min(len(line), 200)], err))
	}
	return string(m.ID), m.Method == nil && m.ID != nil
}

// codeOf returns the code of a failing answer, "" of a clean one.
func codeOf(line string) string {
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
		panic(err)
	}
	return m.Result.Meta.E.Code + m.Error.Data.E.Code
}

const spanHello = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25",` +
	`"capabilities":{"roots":{}},"clientInfo":{"name":"t","version":"1"}}}`

// eventually waits for what needs no particular time.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(tooLong); !is(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("in vain: " + what)
		}
	}
}

// told counts failing messages.
func told(messages ...string) (n int) {
	for _, m := range messages {
		if codeOf(m) != "" {
			n++
		}
	}
	return n
}

// The faults of R9 over stdio: what each call is told, "" for a clean answer.
var faultCodes = map[string]string{
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

// advised is the part of an envelope that an agent can act on.
type advised struct {
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

// readAdvice reads the envelope of an answer.
func readAdvice(t *testing.T, line string) advised {
	t.Helper()
	var m struct {
		Result struct {
			Meta struct {
				E advised `json:"dev.candor/error"`
			} `json:"_meta"`
		}
		Error struct {
			Data struct {
				E advised `json:"dev.candor/error"`
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
