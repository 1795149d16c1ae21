package gateway_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/internal/testing/corpus"
	"github.com/candor-mcp/candor/wire"
)

// TestAnswersStaySmall measures the answers of the gateway to the recorded calls that failed with isError, refused ones included, and
// fails above the required sizes: of the readable block, and of the answer as a multiple of the server's.
func TestAnswersStaySmall(t *testing.T) {
	records, err := corpus.Load(corpus.Failures)
	if errors.Is(err, corpus.ErrAbsent) {
		t.Skip(err)
	}
	tools, toolsErr := corpus.Tools()
	if err := errors.Join(err, toolsErr); err != nil {
		t.Fatal(err)
	}
	byServer := map[string][]corpus.Tool{}
	for _, tool := range tools {
		byServer[tool.Server] = append(byServer[tool.Server], tool)
	}
	for client, most := range map[string]struct{ median, p90, times float64 }{"": {230, 350, 3}, "gemini-cli": {230, 350, 1.75}} {
		var blocks, times []float64
		upstreams := map[string]*gateway.Upstream{}
		for i := range records {
			r := &records[i]
			call, answer := wire.Parse(r.Request, wire.Limits{}), wire.Parse(r.Response, wire.Limits{})
			if failed, _ := answer.Result().Path("isError").Bool(); !failed || !call.MethodIs("tools/call") {
				continue
			}
			u := upstreams[r.Server]
			if u == nil {
				u = knowing(t, byServer[r.Server], client)
				upstreams[r.Server] = u
			}
			c, sent := u.Admit(t.Context(), &call, "s")
			if c != nil {
				sent = c.Close(t.Context(), r.Response).Bytes
			}
			m := wire.Parse(sent, wire.Limits{AllowLoneSurrogates: true})
			block, _ := m.Result().Path("content", 0, "text").Str()
			blocks = append(blocks, float64(len(block)))
			times = append(times, float64(len(sent))/float64(len(answer.Bytes())))
		}
		slices.Sort(blocks)
		slices.Sort(times)
		median, p90, whole := blocks[len(blocks)/2], blocks[len(blocks)*9/10], times[len(times)/2]
		t.Logf("client %q, %d answers: block %.0f bytes, 90th percentile %.0f; answer %.2f times the server's", client, len(blocks), median, p90, whole)
		if median > most.median || p90 > most.p90 || whole > most.times {
			t.Errorf("client %q: more than %+v", client, most)
		}
	}
}

// knowing returns an upstream that knows the tools of its server and refuses no call because of earlier ones.
func knowing(t *testing.T, tools []corpus.Tool, client string) *gateway.Upstream {
	t.Helper()
	u := gateway.New(gateway.Options{Client: client, Repeats: gateway.RepeatPolicy{Off: true}, Breaker: gateway.BreakerPolicy{Off: true}})
	raw, err := json.Marshal(map[string]any{"tools": tools})
	if err != nil {
		t.Fatal(err)
	}
	list, err := wire.ParseValue(raw, wire.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	u.Tools.Learn(gateway.Caller{Session: "s"}, list, "")
	return u
}
