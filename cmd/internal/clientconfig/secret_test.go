package clientconfig_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/clientconfig"
)

// TestCommandLinesShowNoSecrets has flags and variables with secrets, and words that only look like one.
func TestCommandLinesShowNoSecrets(t *testing.T) {
	const secret = "Qx7fK2mP9sLw4ZtR8vNc"
	for _, line := range [][]string{
		{"npx", "--token", secret},
		{"npx", "--api-key=" + secret},
		{"docker", "run", "-e", "API_KEY=" + secret},
		{"npx", "server-postgres", "postgresql://ann:" + secret + "@db.example/app"},
		{"npx", "mcp-remote", "https://example.com/mcp?api_key=" + secret},
		{"npx", "mcp-remote", "https://example.com", "--header", "Authorization: Bearer " + secret},
		{"server", secret},
		{"mcp", "hunter2pw99"},
		{"mysql-mcp", "-u", "root", "-p", "Sup3rS3cretV"},
		{"mcp", "Passw0rd!x"},
		{"sh", "-c", "TOKEN=" + secret + " server"},
		{"sh", "-c", "cd /srv && server --pass hunter2pw99"},
		{"sh", "-c", "server -v mcp hunter2pw99"},
		{"mysql-mcp", "-pSup3rS3cretV"},
		{"server", "--pin=hunter2pw99"},
		{"server", "ghp_" + strings.Repeat("a1B2", 9)},
	} {
		shown := strings.Join(clientconfig.CleanLine(line), " ")
		if strings.Contains(shown, secret) || strings.Contains(shown, "a1B2a1B2") || strings.Contains(shown, "unter2") || strings.Contains(shown, "p3r") || strings.Contains(shown, line[len(line)-1]) || !strings.Contains(shown, "redacted") {
			t.Errorf("%q is shown as %s", line, shown)
		}
	}
	for _, line := range [][]string{
		{"npx", "-y", "@modelcontextprotocol/server-filesystem@2025.11.25", "/home/ann/My Documents"},
		{"npx", "-y", "@upstash/context7-mcp@1.0.14"},
		{"uvx", "--from", "git+https://github.com/example/server", "server"},
		{"hunter2pw99", "base64decode", "oauth2proxy", "-p", "8080:8080", "server2.example:8443", "192.168.10.20", "2026-01-02", "gpt4o-mini", "1234567890", "k8s"},
		{"sh", "-c", "cd /home/ann/My Documents && npx  -y server-sqlite3 --port=8080 -p8080:80 -n1 --mode=readonly"},
		{"C:\\Program Files\\nodejs\\npx.cmd", "-y", "server-sqlite3"},
	} {
		if got := clientconfig.CleanLine(line); !slices.Equal(got, line) {
			t.Errorf("%q is shown as %q", line, got)
		}
	}
	for name, hidden := range map[string]bool{"ghp_" + strings.Repeat("a1B2", 9): true, "hunter2pw99": true, "context7": false, "My Server (2)": false, "https://h.example/mcp?key=" + secret: true} {
		if got := clientconfig.CleanText(name); (got != name) != hidden {
			t.Errorf("%q is shown as %q", name, got)
		}
	}
}
