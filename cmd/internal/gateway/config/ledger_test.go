package config_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/gateway/config"
)

func TestLedgerMayBeAStore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for named, want := range map[string]string{
		"trail":                    filepath.Join(dir, "trail"),
		"file:trail":               filepath.Join(dir, "trail"),
		"file:/srv/trail":          "file:/srv/trail",
		"file:/srv/fleet?dir=here": "file:/srv/fleet?dir=here",
		"nats://h:4222/S?node=n":   "nats://h:4222/S?node=n",
		"none":                     "none",
	} {
		file := filepath.Join(dir, "candor.yaml")
		text := "version: 1\nledger: \"" + named + "\"\nupstreams:\n  it:\n    url: http://127.0.0.1:1/mcp\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if f, err := config.Read(file, config.Source{Getenv: func(string) string { return "" }}); err != nil || f.Ledger != want {
			t.Errorf("%s: %+v, %v", named, f, err)
		}
	}
}
