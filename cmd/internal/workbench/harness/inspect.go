package harness

import (
	"context"
	"slices"

	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
)

// Description describes a domain for people and scripts.
type Description struct {
	Name    string              `json:"name"`
	About   string              `json:"about"`
	On      bool                `json:"on"`
	Health  domain.Health       `json:"health"`
	Needs   string              `json:"needs,omitempty"` // besides this program
	Methods []MethodDescription `json:"methods"`

	err error // for an invalid variable
}

// Err returns the error with which the server would fail if the domain were enabled: one of its variables is invalid. A
// missing program is not an error; see Health.
func (d *Description) Err() error { return d.err }

// MethodDescription describes a method.
type MethodDescription struct {
	Name  string   `json:"name"`
	Tool  string   `json:"tool"` // its name in MCP mode
	About string   `json:"about"`
	Codes []string `json:"codes"` // domain/SYMBOL, besides those that any method can return
}

// Inspect describes every domain, enabled or not. It opens each of them briefly and calls no method.
func Inspect(ctx context.Context, s Settings, env domain.Environment) []Description {
	list := make([]Description, len(registry))
	for i := range registry {
		list[i] = registry[i].inspect(ctx, env)
		list[i].On = s.on(registry[i].name)
	}
	return list
}

func (k *known) inspect(ctx context.Context, env domain.Environment) Description {
	out := Description{Name: k.name, Needs: k.needs, Methods: []MethodDescription{}}
	d, err := k.open(env)
	if err != nil {
		out.err, out.Health.Details = err, err.Error()
		return out
	}
	out.About, out.Health = d.About, healthOf(ctx, d)
	for _, m := range d.Methods {
		codes := make([]string, len(m.Codes))
		for i, code := range m.Codes {
			codes[i] = code.String()
		}
		slices.Sort(codes)
		out.Methods = append(out.Methods, MethodDescription{Name: m.Name, Tool: ToolName(m.Name), About: m.About, Codes: codes})
	}
	if d.Close != nil {
		_ = d.Close() // there is nothing to lose
	}
	return out
}

func healthOf(ctx context.Context, d domain.Domain) domain.Health {
	if d.Health == nil {
		return domain.Health{OK: true}
	}
	return d.Health(ctx)
}
