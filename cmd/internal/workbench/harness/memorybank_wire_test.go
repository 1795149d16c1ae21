package harness_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/candor-mcp/candor/internal/testing/emits"
)

// put writes a file below dir and creates its parent directories.
func put(t testing.TB, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestEveryCodeOfTheMemoryBankIsEmitted(t *testing.T) {
	t.Parallel()
	bank := t.TempDir()
	put(t, bank, "binary.dat", "\xff\xfe\x00")
	h := start(t, setup{flags: []string{"--domain", "memory-bank"}, env: []string{"MCP_MB_ROOT=" + bank}})
	emits.Check(t, "memory-bank/E_MB_FILE_NOT_FOUND\nmemory-bank/E_MB_READ", map[string]func(*testing.T) string{
		"memory-bank/E_MB_FILE_NOT_FOUND": func(*testing.T) string { return h.call("mb/read", `{"file":"missing.md"}`).code() },
		"memory-bank/E_MB_READ":           func(*testing.T) string { return h.call("mb/read", `{"file":"binary.dat"}`).code() },
	})
}
