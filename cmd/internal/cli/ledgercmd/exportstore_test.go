package ledgercmd_test

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/cli/ledgercmd"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/ledger"
)

// twoNodes returns a store in which two nodes have a chain of the same name, and the lines of the chain.
func twoNodes(t *testing.T) (folderEngine, [][]byte) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "ledger")
	l, err := ledger.Open(dir, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(t.Context(), ledger.EntryOf(candor.New(candor.CodeTimeout, "", candor.WithTool("fetch")))); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := ledger.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // only read
	var lines [][]byte
	chain := ""
	for line, err := range r.Entries(t.Context(), ledger.ReadOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		lines, chain = append(lines, slices.Clone(line.Raw())), line.Chain()
	}
	store := folderEngine(t.TempDir())
	for _, node := range []string{"web-1", "web-2"} {
		if err := open(t, string(store)).Append(t.Context(), fleet.Chain{Node: node, Name: chain}, fleet.Head{}, lines); err != nil {
			t.Fatal(err)
		}
	}
	return store, lines
}

// TestExportOfAStoreHasEveryNode checks that a store is exported node by node, with every line of both.
func TestExportOfAStoreHasEveryNode(t *testing.T) {
	t.Parallel()
	store, lines := twoNodes(t)
	var got []string
	exporter := func(_ io.Writer, entries iter.Seq2[term.ExportLine, error]) error {
		for e, err := range entries {
			if err != nil {
				return err
			}
			got = append(got, e.Node+" "+string(e.Line.Raw()))
		}
		return nil
	}
	var stdout, stderr strings.Builder
	env := &term.Env{
		In: strings.NewReader(""), Out: term.NewOutput(&stdout, false), Err: &stderr, ColorMode: "never", Now: time.Now, Getenv: func(string) string { return "" },
		Engines: fleet.Engines{"nats": store}, Exporters: map[string]term.Exporter{"parquet": exporter},
	}
	export := func(args ...string) error {
		cmd := ledgercmd.New(env)
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetArgs(append([]string{"export"}, args...))
		return errors.Join(cmd.ExecuteContext(t.Context()), env.Out.Flush())
	}
	if err := export("nats://host?node=n", "--format", "parquet"); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, node := range []string{"web-1", "web-2"} {
		for _, line := range lines {
			want = append(want, node+" "+string(line))
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d entries, want %d", len(got), len(want))
	}
	if err := export("nats://host?node=n"); err != nil || stdout.String() != strings.Repeat(string(bytes.Join(lines, []byte("\n")))+"\n", 2) {
		t.Errorf("jsonl: %v\n%s", err, stdout.String())
	}
	if err := export("postgres://host/db?node=n"); err == nil || !strings.Contains(err.Error(), "needs candor-cluster") {
		t.Errorf("a store without an engine: %v", err)
	}
	if err := export("nats://host?node=a.b"); err == nil || !strings.Contains(err.Error(), "not the name of a node") {
		t.Errorf("a bad URL: %v", err)
	}
	env.Terminal = true
	if err := export("nats://host?node=n", "--format", "parquet"); err == nil || !strings.Contains(err.Error(), "terminal") {
		t.Errorf("Parquet on a terminal: %v", err)
	}
}
