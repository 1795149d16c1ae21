package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
)

func TestEveryVisibleCommandHasOneGroup(t *testing.T) {
	root := newRoot(&term.Env{})
	root.InitDefaultHelpCmd()
	for _, cmd := range root.Commands() {
		if cmd.GroupID == "" && !cmd.Hidden {
			t.Errorf("candor %s: no group in candor --help; add it to commandGroups", cmd.Name())
		}
	}
	seen := make(map[string]string)
	for _, g := range commandGroups {
		for _, name := range g.commands {
			if other := seen[name]; other != "" {
				t.Errorf("candor %s: in the groups %s and %s", name, other, g.id)
			}
			seen[name] = g.id
		}
	}
	var help bytes.Buffer
	root.SetOut(&help)
	if err := root.Help(); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(help.String(), "Additional Commands:") {
		t.Errorf("a command is outside of every group:\n%s", help.String())
	}
}
