package export

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/ledger"
)

// hostile is a name that tries to leave its cell, field or attribute.
const hostile = "=a,b|c=d\\\"e\nf"

// serverLedger returns a reader of a ledger to which each run of an instance wrote failures of these upstreams.
func serverLedger(t *testing.T, runs ...[]string) *ledger.Reader {
	t.Helper()
	dir := t.TempDir()
	for _, run := range runs {
		l, err := ledger.Open(dir, ledger.Options{Instance: run[0]})
		if err != nil {
			t.Fatal(err)
		}
		for _, upstream := range run[1:] {
			failed := candor.New(candor.CodeNotFound, "no such page", candor.WithTool("read"))
			if err := l.RecordFailure(t.Context(), candor.Failure{Error: failed, Verdict: "tool", Upstream: upstream}); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	r, err := ledger.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func TestWriteExportsTheServer(t *testing.T) {
	t.Parallel()
	r := serverLedger(t, []string{"wrap", "@scope/server-x", hostile})
	write := func(format string) string {
		var out bytes.Buffer
		if _, err := Write(&out, format, r.Entries(t.Context(), ledger.ReadOptions{})); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}

	rows, err := csv.NewReader(strings.NewReader(write(formatCSV))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := slices.Index(rows[0], "server")
	var got []string
	for _, row := range rows[1:] {
		got = append(got, row[column])
	}
	want := []string{"", "'@scope/server-x", "'" + hostile, ""} // a setting and a checkpoint are about the ledger
	if !slices.Equal(got, want) {
		t.Errorf("CSV: %q, want %q", got, want)
	}

	var logs struct {
		ResourceLogs []struct {
			ScopeLogs []struct{ LogRecords []otlpRecord }
		}
	}
	if err := json.Unmarshal([]byte(write(formatOTLP)), &logs); err != nil {
		t.Fatal(err)
	}
	got = nil
	for _, record := range logs.ResourceLogs[0].ScopeLogs[0].LogRecords {
		for _, a := range record.Attributes {
			if value, _ := a.Value.(map[string]any); a.Key == "candor.server" {
				got = append(got, fmt.Sprint(value["stringValue"]))
			}
		}
	}
	if want := []string{"@scope/server-x", hostile}; !slices.Equal(got, want) {
		t.Errorf("OTLP: %q, want %q", got, want)
	}
}
