package bridge_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/stdio"
	"github.com/candor-mcp/candor/cmd/internal/testing/httpgatetest"
	"github.com/candor-mcp/candor/wire"
)

const (
	callOf  = `{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"read","arguments":{}}}`
	cleanOf = `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"fine"}]}}`
)

// TestStringIDsAreComparedByValue is needed because PHP, Go and Python escape strings differently by default, and each may answer
// an id that another has written.
func TestStringIDsAreComparedByValue(t *testing.T) {
	ids := []struct{ name, client, server string }{
		{"php", `"a/b"`, `"a\/b"`}, {"go", `"a&b"`, `"a\u0026b"`}, {"python", `"café"`, `"caf\u00e9"`},
		{"the other way", `"caf\u00e9"`, `"café"`}, {"pair", `"😀"`, `"\ud83d\ude00"`},
	}
	overRoutes(t, func(t *testing.T, r route) {
		for _, id := range ids {
			got, kept := r.ask(t, gateway.Options{}, fmt.Sprintf(callOf, id.client), fmt.Sprintf(cleanOf, id.server))
			if want := fmt.Sprintf(cleanOf, id.client); got != want {
				t.Errorf("%s: client gets %s, want %s", id.name, got, want)
			}
			if n, _, _ := kept.Totals(); n != 0 {
				t.Errorf("%s: %d failures recorded: %v", id.name, n, kept.Codes())
			}
		}
	})
}

// TestFailuresBearTheIDTheClientWrote covers failing answers in every mode that changes answers.
func TestFailuresBearTheIDTheClientWrote(t *testing.T) {
	overRoutes(t, func(t *testing.T, r route) {
		for _, mode := range []gateway.Mode{gateway.ModeAnnotate, gateway.ModeStrict} {
			for name, answer := range map[string]string{
				"tool":      `{"jsonrpc":"2.0","id":"a\u0026b","result":{"isError":true,"content":[{"type":"text","text":"no such page"}]}}`,
				"protocol":  `{"jsonrpc":"2.0","id":"a\u0026b","error":{"code":-32050,"message":"no such page"}}`,
				"suspected": `{"jsonrpc":"2.0","id":"a\u0026b","result":{"content":[{"type":"text","text":"Error: no such page"}]}}`,
			} {
				got, kept := r.ask(t, gateway.Options{Mode: mode}, fmt.Sprintf(callOf, `"a&b"`), answer)
				m := wire.Parse([]byte(got), wire.Limits{})
				if string(m.ID()) != `"a&b"` || strings.Contains(got, "UPSTREAM_MALFORMED") {
					t.Errorf("%s, %s: client gets %s", mode, name, got)
				}
				if n, _, _ := kept.Totals(); n != 1 {
					t.Errorf("%s, %s: %d entries", mode, name, n)
				}
			}
		}
	})
}

// TestNumericIDsAreComparedAsWritten checks that 1, 1.0 and "1" are different ids, and so are two integers with the same float64
// value.
func TestNumericIDsAreComparedAsWritten(t *testing.T) {
	for _, id := range []struct{ client, server string }{
		{"1", "1.0"}, {"1", `"1"`}, {`"1"`, "1"}, {"9007199254740993", "9007199254740992"}, {"1", "1e0"}, {`"a"`, `"A"`},
	} {
		got, kept := askHTTP(t, gateway.Options{}, fmt.Sprintf(callOf, id.client), fmt.Sprintf(cleanOf, id.server))
		if httpgatetest.CodeOf(wire.Parse([]byte(got), wire.Limits{})) != "UPSTREAM_MALFORMED" {
			t.Errorf("id %s answered as %s: client gets %s, recorded %v", id.client, id.server, got, kept.Codes())
		}
	}
	got, _ := askHTTP(t, gateway.Options{}, fmt.Sprintf(callOf, "9007199254740993"), fmt.Sprintf(cleanOf, "9007199254740993"))
	if got != fmt.Sprintf(cleanOf, "9007199254740993") {
		t.Errorf("client gets %s", got)
	}
}

// TestCancellationFindsItsCallHoweverTheIDIsEscaped covers a client that writes one id in two ways.
func TestCancellationFindsItsCallHoweverTheIDIsEscaped(t *testing.T) {
	o, kept := quiet(gateway.Options{})
	fromClient, in := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		if _, err := stdio.Wrap(context.Background(), gateway.New(o), stdio.Streams{In: fromClient, Out: io.Discard}, scripted(t, "")); err != nil {
			t.Error(err)
		}
	}()
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":"a/b","method":"prompts/get","params":{"name":"p"}}`, // the server never answers it
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a\/b"}}`,
	} {
		if _, err := io.WriteString(in, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	_ = in.Close()
	<-done
	if codes := kept.Codes(); len(codes) != 1 || codes[0] != "candor/CANCELLED" {
		t.Errorf("recorded %v", codes)
	}
}
