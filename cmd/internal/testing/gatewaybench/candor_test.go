package gatewaybench

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/testing/load"
)

// candor builds the shipped command and returns its path.
func candor(b *testing.B) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "candor")
	build := exec.CommandContext(b.Context(), "go", "build", "-o", path, "./cmd/candor")
	build.Dir = filepath.Join("..", "..", "..", "..")
	out, err := build.CombinedOutput()
	if err != nil {
		b.Fatalf("building candor: %v\n%s", err, out)
	}
	return path
}

// throughWrap is a server over stdio behind candor wrap, with a ledger and default settings.
func throughWrap(b *testing.B, callers int) load.Callers {
	b.Helper()
	return piped(b, callers, []string{load.Env + "=" + load.Plain}, candor(b), "wrap", "--quiet", "--ledger", trail(b), "--", os.Args[0])
}

// throughGateway is an upstream behind candor gateway. ledger is a folder or "none".
func throughGateway(b *testing.B, upstream, ledger string, callers int) load.Callers {
	b.Helper()
	at, file := freePort(b), filepath.Join(b.TempDir(), "candor.yaml")
	// Repeated calls are not stopped, because otherwise most failures would never reach the server.
	must(b, os.WriteFile(file, fmt.Appendf(nil, "version: 1\nlisten: %s\nupstreams:\n  load: {%s, repeats: off}\n", at, upstream), 0o600))
	p := start(b, []string{load.Env + "=" + load.Plain}, candor(b), "gateway", "--quiet", "--config", file, "--ledger", ledger)
	go func() { _, _ = io.Copy(io.Discard, p.out) }() // discard its log
	return posted(b, at, callers)
}

// overHTTPAt returns the settings of an upstream over HTTP, and overStdio those of a server that the gateway starts.
func overHTTPAt(server string) string { return fmt.Sprintf("url: %q", "http://"+server+"/mcp") }

func overStdio() string { return fmt.Sprintf("command: [%q]", os.Args[0]) }

// trail returns a folder for a ledger, which does not exist yet.
func trail(b *testing.B) string {
	b.Helper()
	return filepath.Join(b.TempDir(), "ledger")
}
