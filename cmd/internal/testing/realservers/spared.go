package realservers

import (
	"bytes"
	"context"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/config"
	"github.com/candor-mcp/candor/internal/testing/corpus"
	"github.com/candor-mcp/candor/wire"
)

// holdRecordedSuccesses sends the true successes that were recorded of the server through a gateway with the profile.
// None may change: a rule learnt from a few failures must not match a success.
func (a *Audit) holdRecordedSuccesses(ctx context.Context, profile string, recorded []corpus.Record) error {
	p, err := config.ReadProfile(profile, config.Source{})
	if err != nil {
		return err
	}
	up := gateway.New(gateway.Options{Name: a.Name, Rules: p.Rules, Validate: gateway.ValidationOff})
	for i := range recorded {
		r := &recorded[i]
		request := wire.Parse(r.Request, wire.Limits{})
		call, refusal := up.Admit(ctx, &request, "recorded")
		if call == nil {
			a.problem("recorded success %s of %s is refused: %s", r.Case, r.Tool, shown(string(refusal)))
			continue
		}
		if reply := call.Close(ctx, r.Response); bytes.Equal(reply.Bytes, r.Response) {
			a.Spared++
		} else {
			a.problem("recorded success %s of %s changes: %s", r.Case, r.Tool, difference(r.Response, reply.Bytes))
		}
	}
	return nil
}
