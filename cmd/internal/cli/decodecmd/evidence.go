package decodecmd

import (
	"fmt"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/wire"
)

// writeEvidence prints what speaks for the code of an error, one line each. The one that decided comes with a mark.
func writeEvidence(env *term.Env, evidence []contract.Evidence) {
	p := env.Colors()
	for _, e := range evidence {
		line := fmt.Sprintf("%s %s: %s (%s)", e.Code.Symbol(), e.Kind, term.OneLine(e.Why), e.Strength)
		if e.Decided {
			line = p.Bold("decided by " + line)
		}
		fmt.Fprintf(env.Out, "  %s %s\n", p.Name(term.Pad("why", 6)), line)
	}
}

// appendEvidence appends the member "evidence" to a line of --json.
func appendEvidence(dst []byte, evidence []contract.Evidence) []byte {
	dst = append(dst, `,"evidence":[`...)
	for i, e := range evidence {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = wire.AppendString(append(dst, `{"kind":`...), e.Kind)
		dst = wire.AppendString(append(dst, `,"code":`...), e.Code.Symbol())
		dst = wire.AppendString(append(dst, `,"strength":`...), e.Strength.String())
		dst = wire.AppendString(append(dst, `,"why":`...), e.Why)
		dst = fmt.Appendf(dst, `,"decided":%t}`, e.Decided)
	}
	return append(dst, ']')
}
