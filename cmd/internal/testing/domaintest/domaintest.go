// Package domaintest calls the methods of a harness domain without a harness.
package domaintest

import (
	"encoding/json"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
)

// Open opens a domain with variables and returns a function that calls a method with JSON, and returns its result as
// JSON, or its error. The parameters are not checked against the schema.
func Open(t testing.TB, open func(domain.Environment) (domain.Domain, error), variables map[string]string) func(method, params string) (string, *candor.Error) {
	t.Helper()
	d, err := open(domain.Environment{Getenv: func(name string) string { return variables[name] }, State: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return func(method, params string) (string, *candor.Error) {
		t.Helper()
		for _, m := range d.Methods {
			if m.Name != method {
				continue
			}
			result, err := m.Run(t.Context(), json.RawMessage(params))
			if err != nil {
				return "", candor.From(err)
			}
			text, err := json.Marshal(result)
			if err != nil {
				t.Fatal(err)
			}
			return string(text), nil
		}
		t.Fatalf("no method %s", method)
		return "", nil
	}
}
