package console

import (
	"time"

	"github.com/candor-mcp/candor/cmd/internal/console/failures"
)

// failureJSON is a failure in the API.
type failureJSON struct {
	Node      string    `json:"node,omitempty"` // only in the record of many nodes
	Chain     string    `json:"chain"`
	Seq       uint64    `json:"seq"`
	Time      time.Time `json:"time"`
	Ref       string    `json:"ref,omitempty"`
	Server    string    `json:"server"`
	Tool      string    `json:"tool,omitempty"`
	Code      string    `json:"code"`
	Class     string    `json:"class,omitempty"`
	Verdict   string    `json:"verdict,omitempty"`
	Origin    string    `json:"origin,omitempty"`
	Outcome   string    `json:"outcome,omitempty"`
	Session   string    `json:"session,omitempty"`
	Message   string    `json:"message"`
	Retry     string    `json:"retry,omitempty"`
	Attempt   int       `json:"attempt,omitempty"`
	LatencyMS float64   `json:"latencyMs,omitempty"`
	Suspected bool      `json:"suspected"`
	Path      string    `json:"path"` // of its page
}

func jsonOf(f *failures.Failure) failureJSON {
	return failureJSON{
		Node: f.ID.Node(), Chain: f.ID.Name(), Seq: f.ID.Seq, Time: f.Time.UTC(), Ref: f.Ref, Server: f.Server, Tool: f.Tool, Code: f.Code, Class: f.Class,
		Verdict: f.Verdict, Origin: f.Origin, Outcome: string(f.Outcome), Session: f.Session, Message: f.Message, Retry: f.Retry,
		Attempt: f.Attempt, LatencyMS: float64(f.Latency.Microseconds()) / 1000, Suspected: f.Suspected, Path: failurePath(f.ID),
	}
}

func jsonAll(list []failures.Failure) []failureJSON {
	out := make([]failureJSON, len(list))
	for i := range list {
		out[i] = jsonOf(&list[i])
	}
	return out
}

// countJSON is a count in the API.
type countJSON struct {
	Name  string `json:"name"`
	Count uint64 `json:"count"`
}

func countsJSON(counts []failures.Count) []countJSON {
	out := make([]countJSON, len(counts))
	for i, c := range counts {
		out[i] = countJSON(c)
	}
	return out
}
