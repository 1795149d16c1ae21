// Package checklist lists the tests that check each promise: the statements about the workbench's systems, the codes that a release
// can emit, and the promises about safety and speed. It finds tests by their names.
package checklist

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
)

//go:embed statements.json
var statements []byte

// System is a system of the workbench and the statements about it.
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
