package candor_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
)

// plainError is the error of a server without Candor: without redaction and limits.
type plainError struct {
	Code       string         `json:"code"`
	Class      string         `json:"class"`
	Message    string         `json:"message"`
	Retry      plainRetry     `json:"retry"`
	Suggestion string         `json:"suggestion"`
	Details    map[string]any `json:"details"`
	Domain     string         `json:"domain"`
	Number     int            `json:"number"`
	Ref        string         `json:"ref"`
	Tool       string         `json:"tool"`
}

type plainRetry struct {
	Kind    string `json:"kind"`
	AfterMs int64  `json:"afterMs,omitempty"`
}

func BenchmarkNewAndAppendJSON(b *testing.B) {
	dst := make([]byte, 0, 4096)
	b.ReportAllocs()
	for b.Loop() {
		e := candor.RetryableAfter(candor.CodeUpstreamTimeout, time.Second, "The weather service did not answer in time.",
			candor.WithTool("forecast"), candor.WithRef("01J9ZC4T3Q"), candor.WithDetails(map[string]any{"city": "Oslo", "hours": 24}))
		dst = e.AppendJSON(dst[:0], candor.JSONOptions{})
	}
}

func BenchmarkPlainStructAndMarshal(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		e := &plainError{
			Code: "UPSTREAM_TIMEOUT", Class: "timeout", Message: "The weather service did not answer in time.", Retry: plainRetry{"retryable_after_ms", 1000},
			Suggestion: candor.CodeUpstreamTimeout.Action(), Domain: "candor", Number: 4051, Ref: "01J9ZC4T3Q", Tool: "forecast",
			Details: map[string]any{"city": "Oslo", "hours": 24},
		}
		if _, err := json.Marshal(e); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		_ = candor.New(candor.CodeUpstreamTimeout, "The weather service did not answer in time.")
	}
}

func BenchmarkAppendJSON(b *testing.B) {
	e := full()
	dst := make([]byte, 0, 4096)
	b.ReportAllocs()
	for b.Loop() {
		dst = e.AppendJSON(dst[:0], candor.JSONOptions{})
	}
	b.SetBytes(int64(len(dst)))
}

func BenchmarkFrom(b *testing.B) {
	for name, err := range map[string]error{
		"unknown": errors.New("sprocket"), "file": fmt.Errorf("loading: %w", &fs.PathError{Op: "open", Path: "a.txt", Err: fs.ErrNotExist}),
		"ours": fmt.Errorf("x: %w", full()),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_ = candor.From(err)
			}
		})
	}
}

func BenchmarkDetailsOf(b *testing.B) {
	v := map[string]any{"path": "notes.txt", "line": 12, "seen": []string{"a", "b"}, "nested": map[string]any{"ok": false}}
	b.ReportAllocs()
	for b.Loop() {
		_ = candor.DetailsOf(v)
	}
}
