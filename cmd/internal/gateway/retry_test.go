package gateway

import (
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/wire"
)

// Every attempt counts for the breaker, and none is made while it is open.
func TestNoRetryWhileTheBreakerIsOpen(t *testing.T) {
	up := New(Options{Retry: RetryPolicy{Attempts: 5}, Breaker: BreakerPolicy{Failures: 2}})
	ask := func(request string) *Call {
		m := wire.Parse([]byte(request), wire.Limits{})
		call, _ := up.Admit(t.Context(), &m, "s1")
		return call
	}
	ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`).Close(t.Context(),
		[]byte(`{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"read","annotations":{"readOnlyHint":true}}]}}`))
	call := ask(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read","arguments":{}}}`)
	busy := candor.New(candor.CodeUpstreamUnavailable, "", candor.WithOrigin(candor.PartyGateway, false))
	if reply := call.Lose(t.Context(), busy, nil, true); !reply.Again {
		t.Errorf("the first attempt is not made again: %s", reply.Bytes)
	}
	if reply := call.Lose(t.Context(), busy, nil, true); reply.Again || reply.Bytes == nil {
		t.Errorf("the attempt that opened the breaker is made again: %t, %s", reply.Again, reply.Bytes)
	}
	if next := ask(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"read","arguments":{}}}`); next != nil {
		t.Error("the breaker did not count every attempt: the next call was let through")
	}
}

// The limit applies to the requested delay, not to the random part that is added to it.
func TestDelayOfARetryIsBounded(t *testing.T) {
	for range 50 {
		b := budget{tokens: maxTokens}
		wait, ok := b.spend(&Call{attempt: 1}, candor.New(candor.CodeUpstreamUnavailable, "", candor.WithRetry(candor.RetryIn(maxRetryDelay))))
		if !ok || wait != maxRetryDelay {
			t.Fatalf("waits %v, %t", wait, ok)
		}
		if _, ok := b.spend(&Call{attempt: 1}, candor.New(candor.CodeUpstreamUnavailable, "", candor.WithRetry(candor.RetryIn(maxRetryDelay+time.Millisecond)))); ok {
			t.Fatal("waits longer than it may")
		}
	}
}

func TestRetriesAreAShareOfTheCalls(t *testing.T) {
	var b budget
	spend := func() bool {
		_, ok := b.spend(&Call{attempt: 1}, candor.New(candor.CodeUpstreamUnavailable, ""))
		return ok
	}
	for range 16 {
		b.earn()
	}
	for i := range 3 {
		if !spend() {
			t.Fatalf("only %d retries", i)
		}
	}
	b.earn()
	if spend() {
		t.Error("a call earns more than its share of a retry")
	}
}
