package boundary

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/ref"
	"github.com/candor-mcp/candor/internal/timestamp"
)

// The benchmarks in this file run two variants alternately, round by round, and report the ratio of the medians. Machines are noisy,
// but both variants are subject to the same noise.

const rounds = 9

// inTurns runs each variant n times per round and returns the median time of one run of each.
func inTurns(n int, ways ...func()) []time.Duration {
	took := make([][]time.Duration, len(ways))
	for range rounds {
		for i, way := range ways {
			began := time.Now()
			for range n {
				way()
			}
			took[i] = append(took[i], time.Since(began)/time.Duration(n))
		}
	}
	medians := make([]time.Duration, len(ways))
	for i := range took {
		slices.Sort(took[i])
		medians[i] = took[i][len(took[i])/2]
	}
	return medians
}

// naive is a simple middleware for comparison: it encodes the answer, checks it, and builds an envelope from maps.
func naive(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (res mcp.Result, err error) {
		defer func() {
			if v := recover(); v != nil {
				res, err = naiveFailure("INTERNAL_ERROR", "panic"), nil
			}
		}()
		res, err = next(ctx, method, req)
		if err != nil {
			return naiveFailure("INTERNAL_ERROR", err.Error()), nil
		}
		raw, err := json.Marshal(res)
		if err != nil {
			return naiveFailure("INTERNAL_ERROR", err.Error()), nil
		}
		var look struct {
			IsError bool `json:"isError"`
			Content []struct{ Text string }
		}
		if err := json.Unmarshal(raw, &look); err != nil {
			return nil, err
		}
		if look.IsError {
			return naiveFailure("TOOL_FAILURE", look.Content[0].Text), nil
		}
		return res, nil
	}
}

// naiveFailure returns a result with the members of the envelope, without redaction and limits.
func naiveFailure(code, message string) *mcp.CallToolResult {
	correlation := ref.New()
	envelope := map[string]any{
		"code": code, "class": "internal", "message": message, "retry": map[string]any{"kind": "not_retryable"},
		"suggestion": "Report it with the reference.", "domain": "candor", "number": 4000,
		"origin": map[string]any{"by": "server", "inferred": false}, "ref": correlation, "tool": "read_file",
		"timestamp": time.Now().UTC().Format(timestamp.Layout),
	}
	raw, err := json.Marshal(envelope)
	if err != nil {
		panic(err)
	}
	text := fmt.Sprintf("%s: %s\nRetry: not the same call\nNext: %s\nRef: %s", code, message, envelope["suggestion"], correlation)
	return &mcp.CallToolResult{
		Meta: mcp.Meta{"dev.candor/error": json.RawMessage(raw)}, IsError: true,
		Content: []mcp.Content{&mcp.TextContent{Text: text}}, StructuredContent: json.RawMessage(raw),
	}
}

// benchTool returns a typical server as the middleware sees it: a list of tools and a handler.
func benchTool(result *mcp.CallToolResult, err error) mcp.MethodHandler {
	listed := &mcp.Tool{Name: "read_file", InputSchema: json.RawMessage(
		`{"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"integer","minimum":0},"binary":{"type":"boolean"}},` +
			`"required":["path"],"additionalProperties":false}`)}
	return func(_ context.Context, method string, _ mcp.Request) (mcp.Result, error) {
		if method == "tools/list" {
			return &mcp.ListToolsResult{Tools: []*mcp.Tool{listed}}, nil
		}
		return result, err
	}
}

func benchCall() *mcp.CallToolRequest {
	return &mcp.CallToolRequest{Params: &mcp.CallToolParamsRaw{
		Name: "read_file", Arguments: json.RawMessage(`{"path":"notes/today.md","limit":100,"binary":false}`)}}
}

func behindGuard(o Options, next mcp.MethodHandler) mcp.MethodHandler {
	b := New(o)
	g := &guard{b: b, tools: toolbox{b: b}}
	return g.receive(next)
}

func success() *mcp.CallToolResult {
	text := `{"lines":120,"text":"` + longText + `"}`
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}, StructuredContent: json.RawMessage(text)}
}

const longText = "The quick brown fox jumps over the lazy dog and looks at a thousand bytes of ordinary text. " +
	"The quick brown fox jumps over the lazy dog and looks at a thousand bytes of ordinary text. " +
	"The quick brown fox jumps over the lazy dog and looks at a thousand bytes of ordinary text. "

// BenchmarkP1Success measures the overhead of a success.
func BenchmarkP1Success(b *testing.B) {
	ctx, call, bare := context.Background(), benchCall(), benchTool(success(), nil)
	ours, theirs := behindGuard(Options{}, bare), naive(bare)
	run := func(h mcp.MethodHandler) func() {
		return func() {
			if _, err := h(ctx, "tools/call", call); err != nil {
				b.Fatal(err)
			}
		}
	}
	for b.Loop() {
		run(ours)()
	}
	medians := inTurns(2000, run(bare), run(ours), run(theirs))
	added, addedNaive := medians[1]-medians[0], medians[2]-medians[0]
	b.ReportMetric(float64(added.Nanoseconds()), "added-ns")
	b.ReportMetric(float64(addedNaive)/float64(max(added, 1)), "x-cheaper-than-naive")
	b.ReportMetric(testing.AllocsPerRun(200, run(ours))-testing.AllocsPerRun(200, run(bare)), "added-allocs")
}

// failures are those of BenchmarkP2Failure.
var failures = []struct {
	name string
	err  error
}{
	{"candor-error", candor.RetryableAfter(candor.CodeRateLimited, 2*time.Second, "The quota of this minute is used up.")},
	{"plain-error", errors.New("disk on fire")},
}

// BenchmarkP2Failure measures the conversion of a failure to an envelope.
func BenchmarkP2Failure(b *testing.B) {
	for _, c := range failures {
		b.Run(c.name, func(b *testing.B) {
			ctx, call := context.Background(), benchCall()
			bare := func(context.Context, string, mcp.Request) (mcp.Result, error) { return nil, c.err }
			listing := benchTool(nil, c.err)
			ours, theirs := behindGuard(Options{}, listing), naive(bare)
			run := func(h mcp.MethodHandler) func() {
				return func() {
					if r, err := h(ctx, "tools/call", call); err != nil || r == nil {
						b.Fatal(r, err)
					}
				}
			}
			for b.Loop() {
				run(ours)()
			}
			medians := inTurns(2000, run(ours), run(theirs))
			b.ReportMetric(float64(medians[0])/float64(medians[1]), "x-naive")
			b.ReportMetric(testing.AllocsPerRun(200, run(ours)), "allocs")
			b.ReportMetric(testing.AllocsPerRun(200, run(theirs)), "naive-allocs")
		})
	}
}

func TestSuccessAllocatesNothing(t *testing.T) {
	ctx, call, bare := context.Background(), benchCall(), benchTool(success(), nil)
	ours := behindGuard(Options{}, bare)
	allocs := testing.AllocsPerRun(100, func() {
		if _, err := ours(ctx, "tools/call", call); err != nil {
			t.Fatal(err)
		}
	})
	if allocs != 0 {
		t.Errorf("a success allocates %v times on its way through the boundary", allocs)
	}
}

func TestFailureAllocatesLittle(t *testing.T) {
	const most = 6 // the error, its ref, the result with its JSON, the text, and two for the map of _meta
	for _, c := range failures {
		ctx, call, ours := context.Background(), benchCall(), behindGuard(Options{}, benchTool(nil, c.err))
		allocs := testing.AllocsPerRun(100, func() {
			if _, err := ours(ctx, "tools/call", call); err != nil {
				t.Fatal(err)
			}
		})
		if allocs > most {
			t.Errorf("%s: a failure allocates %v times, more than %d", c.name, allocs, most)
		}
	}
}
