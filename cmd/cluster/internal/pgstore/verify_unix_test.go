//go:build unix

package pgstore_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/storetest"
	"github.com/candor-mcp/candor/cmd/internal/fleet/view"
)

// TestVerifyNamesTheNodeWhoseLinesWereChanged does what the rights of the database do not refuse: a node writes to its own chains what is no
// entry, and an administrator of the database changes the tables.
func TestVerifyNamesTheNodeWhoseLinesWereChanged(t *testing.T) {
	server, admin := sharedStore(t)
	victim := addNode(t, server, admin, "victim")
	addNode(t, server, admin, "thief")
	chain, lines := storetest.Ledger(t, "victim", 30)
	appendLines(t, victim, chain, fleet.Head{}, lines)
	own, ownLines := storetest.Ledger(t, "thief", 30)
	thief := connect(t, server, "candor_node_thief")
	ship := func(name string, lines [][]byte) {
		t.Helper()
		if _, err := thief.Exec(t.Context(), "SELECT candor.append($1, 0, $2, $3)", name, make([]byte, 32), lines); err != nil {
			t.Fatal(err)
		}
	}
	ship(own.Name, ownLines)
	honest, err := view.Verify(t.Context(), admin, view.Options{})
	if err != nil || !honest.OK || len(honest.Nodes) != 2 {
		t.Fatalf("before: %+v, %v", honest.Damage, err)
	}
	known, err := view.StateOf(&honest, time.Now()) // the operator's checkpoint, which is kept outside the store
	if err != nil {
		t.Fatal(err)
	}
	const ofThief = "FROM candor.lines l USING candor.chains c WHERE c.id = l.chain AND c.node = 'thief'"
	reset := func() {
		server.SQL(t, "candor", "DELETE "+ofThief)
		ship(own.Name, ownLines)
	}
	forged := bytes.Replace(ownLines[5], []byte("failure"), []byte("success"), 1)
	const third = "l.position = (SELECT min(position) + 2 FROM candor.lines m WHERE m.chain = l.chain)"
	for name, test := range map[string]struct {
		damage func()
		node   string
	}{
		"copies the chain of another node": {node: "thief", damage: func() { ship(chain.Name, lines) }},
		"ships no entries":                 {node: "thief", damage: func() { ship("junk", [][]byte{[]byte("hello")}) }},
		"forges an entry":                  {node: "thief", damage: func() { ship("forged", [][]byte{ownLines[0], forged}) }},
		"leaves out an entry":              {node: "thief", damage: func() { server.SQL(t, "candor", "DELETE "+ofThief+" AND "+third) }},
		"cuts off the end": {node: "thief", damage: func() {
			server.SQL(t, "candor", "DELETE "+ofThief+" AND l.position > (SELECT max(position) - 3 FROM candor.lines m WHERE m.chain = l.chain)")
		}},
		"swaps entries": {node: "thief", damage: func() {
			server.SQL(t, "candor", `UPDATE candor.lines l SET line = (SELECT m.line FROM candor.lines m WHERE m.chain = l.chain AND m.position = l.position + 1)
				FROM candor.chains c WHERE c.id = l.chain AND c.node = 'thief' AND `+third)
		}},
	} {
		test.damage()
		report, err := view.Verify(t.Context(), admin, view.Options{Known: known})
		if err != nil {
			t.Fatal(err)
		}
		if report.OK || len(report.Damage) == 0 {
			t.Errorf("%s: not found", name)
		}
		for _, damage := range report.Damage {
			if damage.Node != test.node {
				t.Errorf("%s: %s, want node %s", name, damage, test.node)
			}
		}
		reset()
	}
	if report, err := view.Verify(t.Context(), admin, view.Options{Known: known}); err != nil || !report.OK {
		t.Errorf("afterwards: %v, %v", fmt.Sprint(report.Damage), err)
	}
}
