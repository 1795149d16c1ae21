package stdio

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/testing/gatewaytest"
)

// A server that prints without a newline puts that text and its next answer on one line.
func TestAnswerAfterUnendedNoiseIsDelivered(t *testing.T) {
	for name, printed := range map[string]string{
		"words":            `Loading...`,
		"words and braces": `options {verbose: true} {} `,
		"colours":          "\x1b[32mready\x1b[0m",
		"a log entry":      `{"level":"info","msg":"started {\"id\":1}"} `,
		"a bracket":        `[info] `,
		"a quote":          `it"s "fine`,
		"bytes":            "\xff\xfe{\x00",
		"half an answer":   `{"jsonrpc":"2.0","id":99,"result":{"content":[{"type":"text","text":"cut`,
		"many braces":      strings.Repeat("{", 500),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := wrapped(t, gateway.Options{Validate: gateway.ValidationOff}, badChild())
			s.greet()
			s.call(1, "raw", `{"text":`+jsonText(printed)+`}`)
			want := `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"after it"}]}}`
			if got := s.answer("1"); got != want {
				t.Errorf("client gets %.300s", got)
			}
			s.hangUp()
			s.books.CheckTotals(t, 0)
		})
	}
}

// Two threads of a server that share its output write two answers and then two newlines.
func TestAnswersOnOneLineAreAllDelivered(t *testing.T) {
	s := wrapped(t, gateway.Options{Validate: gateway.ValidationOff}, badChild())
	s.greet()
	s.call(1, "hang", `{}`)
	s.call(2, "say", `{"text":"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":1}} {\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":{\"a\":2}}"}`)
	for id, want := range map[string]string{"1": `{"jsonrpc":"2.0","id":1,"result":{"a":1}}`, "2": `{"jsonrpc":"2.0","id":2,"result":{"a":2}}`} {
		if got := s.answer(id); got != want {
			t.Errorf("client gets %.300s, want %s", got, want)
		}
	}
	s.hangUp()
	s.books.CheckTotals(t, 0)
}

// Text that only looks like an answer is not delivered: quoted in a log, part of another value, or for a call that is not open.
func TestTextThatLooksLikeAnAnswerIsNotDelivered(t *testing.T) {
	for name, printed := range map[string]string{
		"quoted":             `sent "{"jsonrpc":"2.0","id":$ID,"result":{"a":1}}"`,
		"escaped":            `sent {\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":{\"a\":1}}`,
		"in a broken object": `{"level":"debug","msg":{"jsonrpc":"2.0","id":$ID,"result":{"a":1}}`,
		"in an object":       `log {"level":"debug","msg":{"jsonrpc":"2.0","id":$ID,"result":{"a":1}}}`,
		"a request":          `got {"jsonrpc":"2.0","id":$ID,"method":"tools/call","params":{}}`,
		"another call":       `sent {"jsonrpc":"2.0","id":77,"result":{"a":1}}`,
		"words follow":       `sent {"jsonrpc":"2.0","id":$ID,"result":{"a":1}} in 3 ms`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := wrapped(t, gateway.Options{Validate: gateway.ValidationOff, Timeouts: map[string]time.Duration{"say": 600 * time.Millisecond}}, badChild())
			s.greet()
			s.call(1, "say", `{"text":`+jsonText(printed)+`}`)
			if got := s.answer("1"); gatewaytest.CodeOf(got) != "CALL_TIMEOUT" {
				t.Errorf("client gets %.300s", got)
			}
			s.hangUp()
			s.books.CheckTotals(t, 1)
		})
	}
}

// A server may log each answer before it sends it. The message on a separate line is the one that counts.
func TestLoggedCopyOfAnAnswerGivesWayToTheAnswer(t *testing.T) {
	s := wrapped(t, gateway.Options{Validate: gateway.ValidationOff}, badChild())
	s.greet()
	s.call(1, "raw", `{"text":"sending {\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":{\"a\":\"shortened\"}}\n"}`)
	if got := s.answer("1"); !strings.Contains(got, "after it") {
		t.Errorf("client gets %.300s", got)
	}
	s.replyTo(2)
	s.hangUp()
	s.books.CheckTotals(t, 0)
}

// An answer after other output is delivered even if the server ends immediately.
func TestAnswerAfterUnendedNoiseSurvivesTheEndOfTheServer(t *testing.T) {
	s := wrapped(t, gateway.Options{Validate: gateway.ValidationOff}, badChild())
	s.greet()
	s.call(1, "hang", `{}`)
	s.call(2, "say", `{"text":"bye{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":1}}","n":1}`)
	if got, want := s.answer("1"), `{"jsonrpc":"2.0","id":1,"result":{"a":1}}`; got != want {
		t.Errorf("client gets %.300s", got)
	}
	s.wait()
	s.books.CheckTotals(t, 1)
}

func jsonText(words string) string {
	quoted, err := json.Marshal(words)
	if err != nil {
		panic(err)
	}
	return string(quoted)
}
