package gateway

import (
	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
)

// Rules are what is known about one upstream beforehand: a profile that probe has written and a person has read, or configuration.
type Rules struct {
	Masks []Mask
	Codes []CodeRule
}

// Mask says which successes of a tool are failures. All conditions that are set must hold.
type Mask struct {
	Tool   string // a name, or a pattern as in path.Match
	Path   string // a JSON Pointer into structuredContent, or into the JSON that the first text block holds
	Equals string // the JSON text of the value at Path; "" is any value that is there
	Text   string // a regular expression for the first text block
	Except string // a regular expression for the first text block that lifts the rule
	Code   candor.Code
	Retry  *candor.Retry
}

// CodeRule says what an error of this upstream means.
type CodeRule struct {
	Tool string // a name, or a pattern as in path.Match; "" is any
	Said string // a code, number or symbol, as the upstream says it
	Text string // a regular expression for the message
	Code candor.Code
}

// unmasked is the rule that an answer falls under.
type unmasked struct{ mask *Mask }

func (r *Rules) unmask(*Call, *contract.Exchange) *unmasked { return nil }

// error is what the rule says of the failure.
func (u *unmasked) error(e *candor.Error) *candor.Error { return e }

// translate gives an error the code that the rules have for it.
func (r *Rules) translate(_ *Call, e *candor.Error) *candor.Error { return e }
