// Package checklist shows by which tests a promise is kept: the statements that say when one of the workbench's systems works, and
// the codes that a release can emit. Tests are found by their names, so that a test and its promise cannot drift apart.
package checklist

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
)

//go:embed statements.json
var statements []byte

// System is one of the systems of the workbench and what must hold of it.
type System struct {
	Letter     string   `json:"letter"` // of its statements: K1 is the first of the system K
	Name       string   `json:"name"`
	Built      bool     `json:"built"`      // each statement and each active code needs a test in Home
	Home       string   `json:"home"`       // the folder of the tests that drive the running system
	Domains    []string `json:"domains"`    // of its codes
	Statements []string `json:"statements"` // in order, from number 1
}

// Systems returns the systems of the workbench, in the order in which they are shown.
func Systems() ([]System, error) {
	var out []System
	if err := json.Unmarshal(statements, &out); err != nil {
		return nil, fmt.Errorf("reading statements.json: %w", err)
	}
	return out, nil
}

// homeOf returns the folder that must hold a test for the codes of a domain, "" if any folder will do.
func homeOf(systems []System, domain string) string {
	for _, s := range systems {
		if s.Built && slices.Contains(s.Domains, domain) {
			return s.Home
		}
	}
	return ""
}
