package clientconfig_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/clientconfig"
	"github.com/candor-mcp/candor/internal/tools/shape"
)

// TestClientPageShowsWhatInstallWrites parses every snippet as candor install reads the file of that client.
func TestClientPageShowsWhatInstallWrites(t *testing.T) {
	page, err := os.ReadFile("../../../docs/clients.md")
	if err != nil {
		t.Fatal(err)
	}
	sections := make(map[string]string)
	for _, section := range strings.Split(string(page), "\n## ")[1:] {
		title, text, _ := strings.Cut(section, "\n")
		sections[title] = text
	}
	delete(sections, "What a client shows its model") // not a client
	clients := clientconfig.Clients()
	if len(sections) != len(clients) {
		t.Errorf("docs/clients.md has %d clients, candor install has %d", len(sections), len(clients))
	}
	for _, c := range clients {
		blocks := shape.Blocks(sections[c.Title])
		if len(blocks) != 2 {
			t.Errorf("%s: %d snippets, want one before and one after", c.Title, len(blocks))
			continue
		}
		before, after := server(t, c, blocks[0]), server(t, c, blocks[1])
		if before.Status != clientconfig.Unprotected || after.Status != clientconfig.Protected {
			t.Errorf("%s: the server is %s before and %s after", c.Title, before.Status, after.Status)
		}
		if want := slices.Concat([]string{"candor", "wrap", "--name", "memory", "--"}, before.Line()); !slices.Equal(after.Line(), want) {
			t.Errorf("%s: after: %q, want %q", c.Title, after.Line(), want)
		}
	}
}

// server returns the only server of a snippet.
func server(t *testing.T, c clientconfig.Client, b shape.Block) clientconfig.Server {
	t.Helper()
	config, err := clientconfig.Parse(c, []byte(b.Text))
	if err != nil {
		t.Fatalf("%s: %v", c.Title, err)
	}
	if len(config.Servers) != 1 {
		t.Fatalf("%s: %d servers, want 1", c.Title, len(config.Servers))
	}
	return config.Servers[0]
}
