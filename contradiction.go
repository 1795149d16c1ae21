package candor

import "github.com/candor-mcp/candor/internal/catalogue/contradiction"

// contradicts returns the first phrase in text that contradicts the advice r: "try again" beside
// not_retryable, "do not retry" beside the others. What counts is written in spec/contradictions.json. It reads
// the text once and allocates nothing.
func contradicts(r Retry, text string) (phrase string, bad bool) {
	return contradictions.Find(ruleFor(r), text)
}

func ruleFor(r Retry) *contradiction.Rule {
	switch r.kind {
	case 1:
		return &contradictions.Immediate
	case 2:
		return &contradictions.After
	default:
		return &contradictions.Never
	}
}
