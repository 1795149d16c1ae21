package gateway

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/testing/load"
)

// candor builds the command that is shipped, and returns its path.
func candor(b *testing.B) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "candor")
	build := exec.CommandContext(b.Context(), "go", "build", "-o", path, "./cmd/candor")
	build.Dir = filepath.Join("..", "..")
	out, err := build.CombinedOutput()
	if err != nil {
		b.Fatalf("building candor: %v\n%s", err, out)
	}
	return path
}

// throughWrap is a server over stdio behind candor wrap, with a ledger, as it comes.
func throughWrap(b *testing.B, callers int) load.Callers {
	b.Helper()
	return piped(b, callers, []string{load.Env + "=" + load.Plain}, candor(b), "wrap", "--quiet", "--ledger", trail(b), "--", os.Args[0])
}

// throughGateway is an upstream behind candor gateway. The ledger is a folder, or none.
func throughGateway(b *testing.B, upstream, ledger string, callers int) load.Callers {
	b.Helper()
	at, file := freePort(b), filepath.Join(b.TempDir(), "candor.yaml")
	// A model that repeats itself is not stopped, or most failures would never reach the server.
	must(b, os.WriteFile(file, fmt.Appendf(nil, "version: 1\nlisten: %s\nupstreams:\n  load: {%s, repeats: off}\n", at, upstream), 0o600))
	p := start(b, []string{load.Env + "=" + load.Plain}, candor(b), "gateway", "--quiet", "--config", file, "--ledger", ledger)
	go func() { _, _ = io.Copy(io.Discard, p.out) }() // what it tells of itself
	return posted(b, at, callers)
}

// overHTTPAt is an upstream that speaks HTTP, and overStdio is the server started by the gateway.
func overHTTPAt(server string) string { return fmt.Sprintf("url: %q", "http://"+server+"/mcp") }

func overStdio() string { return fmt.Sprintf("command: [%q]", os.Args[0]) }

// trail is a folder for a ledger, which is yet to be made.
func trail(b *testing.B) string {
	b.Helper()
	return filepath.Join(b.TempDir(), "ledger")
}
