//go:build unix

package main

import (
	"encoding/hex"
	"fmt"
	"testing"

	tracepb "go.opentelemetry.io/proto/slim/otlp/trace/v1"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/ledger"
)

const (
	initializeLine = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	listLine       = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
)

// tracedCall returns a call of a tool that does not exist, with a trace.
var tracedCall = fmt.Sprintf(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"nosuch","arguments":{},"_meta":{"traceparent":%q}}}`, knownParent)

// TestSystemsExportWhatTheLedgerHas starts each system of the workbench, makes calls that succeed and fail, sends a line that is not JSON, and
// compares what an OTLP receiver got with the entries of the ledger.
func TestSystemsExportWhatTheLedgerHas(t *testing.T) {
	mcp := []string{
		initializeLine, listLine, tracedCall, `{"jsonrpc":"2.0","id":4,"method":"nosuch/method"}`, `{"jsonrpc":"2.0","id":5,"method":`,
		`{"jsonrpc":"2.0","id":6,"method":"resources/read","params":{"uri":"a:b"}}`,
		`{"jsonrpc":"2.0","id":7,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"x"},"argument":{"name":"a","value":"b"}}}`,
	}
	root := t.TempDir()
	for _, row := range []struct {
		name, good, bad string // name of the system, and calls of its tools that succeed and fail
		args            []string
	}{
		{"kaiza", fmt.Sprintf(`"begin_session","arguments":{"role":"planner","workspace_root":%q}`, root), `"read_plan","arguments":{"x":1}`, []string{"--root", root}},
		{"workrail", `"list_workflows","arguments":{}`, `"continue_workflow","arguments":{"x":1}`, nil},
		{"dual", `"task_create","arguments":{"title":"a"}`, `"task_update","arguments":{"x":1}`, nil},
		{"harness", `"kg_query","arguments":{}`, `"kg_query","arguments":{"x":1}`, []string{"--mcp"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := newReceiver(t)
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", r.URL)
			p := launch(t, append([]string{"workbench", row.name}, row.args...)...)
			lines := mcp
			for _, tool := range []string{row.good, row.bad} {
				lines = append(lines[:len(lines):len(lines)], `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":`+tool+`}}`)
			}
			for _, line := range lines {
				p.say(line)
				p.hear()
			}
			if err := p.in.Close(); err != nil {
				t.Fatal(err)
			}
			if code := p.ends(); code != term.ExitOK {
				t.Errorf("ended with %d: %s", code, p.said)
			}
			r.systemAgrees(t, row.name, "pipe", p.failures(t), 6, 8, 1)
		})
	}
}

// systemAgrees compares the spans, log records and metrics of a system with the entries of its ledger.
func (r *receiver) systemAgrees(t *testing.T, server, transport string, entries map[string]ledger.Record, failures, calls, outside int) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(entries) != failures {
		t.Errorf("%d entries, want %d", len(entries), failures)
	}
	seen, traced := map[string]int{}, 0
	for _, s := range r.spans {
		a := attributesOf(s.GetAttributes())
		if a["candor.server"] != server || a["network.transport"] != transport || s.GetKind() != tracepb.Span_SPAN_KIND_SERVER {
			t.Errorf("span %s has %v", s.GetName(), a)
		}
		if hex.EncodeToString(s.GetTraceId()) == knownTrace {
			traced++
		}
		entry, failed := entries[a["candor.ref"]]
		if isError := s.GetStatus().GetCode() == tracepb.Status_STATUS_CODE_ERROR; isError != (failed && serverFault(entry.Class)) || a["candor.code"] != entry.Code || (a["error.type"] != "") != failed {
			t.Errorf("entry %+v has the span %s %v, %v", entry, s.GetName(), a, s.GetStatus())
		}
		if failed {
			seen[entry.Ref]++
		} else if a["candor.outcome"] != "success" {
			t.Errorf("span %s without an entry: %v", s.GetName(), a)
		}
	}
	for ref, entry := range entries {
		if seen[ref] != 1 {
			t.Errorf("%d spans for %+v, want 1", seen[ref], entry)
		}
	}
	if traced != 1 {
		t.Errorf("the trace of the request has %d spans, want 1", traced)
	}
	r.logsAgree(t, entries)
	r.metricsAgree(t, entries, calls, outside)
}
