package contract

import (
	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/redact"
)

// The strengths. Weak evidence fits several codes and never decides, because misleading advice is worse than no advice.
const (
	strengthNone   = "none"
	strengthWeak   = "weak"   // listed by [Explain], but does not decide
	strengthFair   = "fair"   // prose
	strengthStrong = "strong" // machine-readable: a number, a status, an errno, a validator's list
	strengthSaid   = "said"   // the peer named a registered code itself
)

// Evidence is the result of one reader for a failure. The zero Evidence means that nothing was found.
type Evidence struct {
	// Kind is the stable name of the reader, such as "status" or "words". See spec/contract.md 8.
	Kind string
	// Code is the code that this evidence supports.
	Code candor.Code
	// Strength is the weight of the evidence: "said", "strong", "fair", "weak" or "none".
	Strength string
	// Why describes the evidence, such as "HTTP status 401". It may quote the peer and is redacted.
	Why string
	// Decided reports whether this evidence gave the error its code.
	Decided bool
}

func strongly(code candor.Code, why string) Evidence { return found(code, strengthStrong, why) }
func fairly(code candor.Code, why string) Evidence   { return found(code, strengthFair, why) }
func weakly(code candor.Code, why string) Evidence   { return found(code, strengthWeak, why) }

func found(code candor.Code, strength, why string) Evidence {
	return Evidence{Code: code, Strength: strength, Why: why}
}

// evidenceReader looks for one kind of evidence.
type evidenceReader struct {
	kind string
	read func(h *answerText) Evidence
}

// evidenceReaders are run in this order, and the first that finds more than weak evidence decides. The order goes from
// machine-readable evidence to prose.
var evidenceReaders = []evidenceReader{
	{"denial", readDenial},
	{"code", readCode},
	{"missing", readMissing},
	{"number", readNumber},
	{"output", readOutput},
	{"status", readStatus},
	{"errno", readErrno},
	{"answer", readAnswer},
	{"symbol", readSymbol},
	{"fields", readFields},
	{"elsewhere", readElsewhere},
	{"words", readWords},
	{"exception", readException},
	{"connection", readConnection},
	{"vague-symbol", readVagueSymbol},
	{"vague-number", readVagueNumber},
}

// infer returns the evidence that decides the code of a failure. It always has a code.
func infer(h *answerText) Evidence {
	for i := range evidenceReaders {
		if f := evidenceReaders[i].read(h); f.Code.Valid() && f.Strength != strengthWeak {
			return f
		}
	}
	return Evidence{Code: lastResort(h.verdict)}
}

// Explain returns all evidence for the code of a failure, in the order in which it is weighed. It returns nil for a clean answer,
// and for a lost, malformed or stray one: its verdict alone gives the code.
func Explain(x *Exchange) []Evidence {
	f := Classify(x)
	switch f.Verdict {
	case VerdictProtocol, VerdictTool, VerdictMasked:
	case VerdictClean, VerdictLost, VerdictStray, VerdictMalformed:
		return nil
	}
	if e := spoken(x); e != nil {
		return []Evidence{{Kind: "envelope", Code: e.Code(), Strength: strengthSaid, Why: "the answer carries an error in a known dialect", Decided: true}}
	}
	return listEvidence(newAnswerText(x, f.Verdict))
}

func listEvidence(h *answerText) []Evidence {
	var all []Evidence
	decided := false
	for _, r := range evidenceReaders {
		f := r.read(h)
		if !f.Code.Valid() {
			continue
		}
		wins := !decided && f.Strength != strengthWeak
		decided = decided || wins
		f.Kind, f.Why, f.Decided = r.kind, redact.Text(f.Why), wins
		all = append(all, f)
	}
	if !decided {
		all = append(all, Evidence{
			Kind: "none", Code: lastResort(h.verdict), Strength: strengthNone,
			Why: "nothing said for certain what failed; the message has the server's words", Decided: true,
		})
	}
	return all
}
