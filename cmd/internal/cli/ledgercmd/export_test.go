package ledgercmd_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/cli/ledgercmd"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/ledger"
)

// TestInterruptedExportLeavesNoFile checks that a part of an export is not taken for all of it.
func TestInterruptedExportLeavesNoFile(t *testing.T) {
	t.Parallel()
	dir, out := t.TempDir(), filepath.Join(t.TempDir(), "out.csv")
	l, err := ledger.Open(dir, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr strings.Builder
	env := &term.Env{In: strings.NewReader(""), Out: term.NewOutput(&stdout, false), Err: &stderr, ColorMode: "never", Now: time.Now, Getenv: func(string) string { return "" }}
	run := func(ctx context.Context) error {
		cmd := ledgercmd.New(env)
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetArgs([]string{"export", dir, "--format", "csv", "--out", out})
		return cmd.ExecuteContext(ctx)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := run(ended); err == nil || !strings.Contains(err.Error(), "interrupted; the export is not complete") {
		t.Errorf("error is %v", err)
	}
	if _, err := os.Stat(out); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file is left: %v", err)
	}
	if err := run(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(out); err != nil {
		t.Error(err)
	}
}
