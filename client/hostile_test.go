package client_test

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/client"
)

// circle unwraps to itself.
type circle struct{}

func (c *circle) Error() string { return "it goes round" }
func (c *circle) Unwrap() error { return c }

// odd is an error whose Error method misbehaves.
type odd func() string

func (o odd) Error() string { return o() }

// TestDecodeSurvivesAnyError passes errors to Decode for which errors.Is does not terminate, and errors whose methods panic or never
// return.
func TestDecodeSurvivesAnyError(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"circle":        &circle{},
		"joined circle": errors.Join(errors.New("first"), fmt.Errorf("second: %w", &circle{})),
		"nil peer":      (*jsonrpc.Error)(nil),
		"nil error":     (*candor.Error)(nil),
		"panics":        odd(func() string { panic("no words") }),
		"ends":          odd(func() string { runtime.Goexit(); return "" }),
		"never returns": odd(func() string { select {} }),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			done := make(chan []*candor.Error, 1)
			go func() {
				got := make([]*candor.Error, 3)
				var all sync.WaitGroup // each may wait for the error's text as long as it ever does
				all.Go(func() { got[0] = client.Decode(nil, err) })
				all.Go(func() { got[1], _ = client.DecodeSuspected(nil, err) })
				all.Go(func() { got[2] = client.DecodeError(err) })
				all.Wait()
				done <- got
			}()
			select {
			case got := <-done:
				for i, e := range got {
					if e == nil && (name != "nil error" || i < 2) || e != nil && e.Validate() != nil {
						t.Errorf("%d: %v", i, e)
					}
					if e.Retry().Retryable() {
						t.Errorf("%d: %s", i, e.Retry())
					}
				}
			case <-time.After(time.Minute):
				t.Fatal("no answer within a minute")
			}
		})
	}
}

// TestAggregatorWithoutReport adds errors to an Aggregator that has no Report.
func TestAggregatorWithoutReport(t *testing.T) {
	t.Parallel()
	var a client.Aggregator
	for range 3 {
		a.Add(candor.New(candor.CodeTimeout, ""))
	}
	a.Flush()
	a.Add(candor.New(candor.CodeTimeout, ""))
	a.Stop()
	a.Add(candor.New(candor.CodeTimeout, ""))
}

// TestDecodeSuspectedReadsOnlySmallResults checks that a successful result above the limit is not examined, and that a result with
// isError is examined at any size.
func TestDecodeSuspectedReadsOnlySmallResults(t *testing.T) {
	t.Parallel()
	text := "Error: 500 Internal Server Error"
	result := func(size int, failed bool) *mcp.CallToolResult {
		big := make([]byte, size)
		for i := range big {
			big[i] = 'x'
		}
		copy(big, text+"\n")
		return &mcp.CallToolResult{IsError: failed, Content: []mcp.Content{&mcp.TextContent{Text: string(big)}}}
	}
	if e, confidence := client.DecodeSuspected(result(len(text), false), nil); e == nil || confidence <= 0 || confidence >= 1 {
		t.Errorf("small: %v %v", e, confidence)
	}
	large := result(17<<20, false)
	if e, confidence := client.DecodeSuspected(large, nil); e != nil || confidence != 0 {
		t.Errorf("large: %v %v", e, confidence)
	}
	if e := client.Decode(result(17<<20, true), nil); e == nil || e.Validate() != nil {
		t.Errorf("large failure: %v", e)
	}
}
