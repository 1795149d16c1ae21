package candortest

import (
	"fmt"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/wire"
)

var contractChecks = []check{
	ours("envelope-present", "Every failure carries the canonical error.",
		"One decoder reads every failure only if every failure can be decoded.",
		`_meta["dev.candor/error"] in a result, data["dev.candor/error"] in a JSON-RPC error; data that is exactly {"uri": …} stays as it is.`,
		carriesEnvelope, func(f failure) string {
			if _, ok := dialect.Embedded(f.msg.Value()); !ok {
				return "there is no " + dialect.MetaKey
			}
			return ""
		}),
	ours("envelope-code", "The code is one of the catalogue.",
		"A code that is not registered has no class, no advice and no page that explains it.",
		"code and domain as the catalogue has them.",
		hasEnvelope, func(f failure) string {
			if _, ok := envelopeCode(f.envelope()); !ok {
				return "the code is not registered"
			}
			return ""
		}),
	ours("envelope-retry", "Retry advice is always there, and is one of the three kinds.",
		"A client without advice guesses whether to try again, and either gives up or hammers.",
		"retry.kind not_retryable, retryable_immediate, or retryable_after_ms with afterMs.",
		hasEnvelope, func(f failure) string {
			if _, err := envelopeRetry(f.envelope()); err != nil {
				return err.Error()
			}
			return ""
		}),
	ours("envelope-ref", "The correlation id is always there.",
		"Without it the log line of a failure cannot be found.",
		"ref, not empty.",
		hasEnvelope, func(f failure) string {
			if text, _ := f.envelope().Path("ref").Str(); text == "" {
				return "there is no ref"
			}
			return ""
		}),
	ours("envelope-valid", "The canonical error can be read.",
		"A reader that meets a class or a number other than the catalogue's refuses the whole error.",
		"All members as the contract has them.",
		soundEnvelope, func(f failure) string {
			if err := dialect.CheckCandor(f.envelope()); err != nil {
				return err.Error()
			}
			return ""
		}),
	ours("suggestion-agrees", "The suggestion does not contradict the retry advice.",
		"\"Try again\" beside not_retryable makes a model do the one thing it must not.",
		"A suggestion in the sense of retry.",
		soundEnvelope, func(f failure) string {
			retry, err := envelopeRetry(f.envelope())
			text, _ := f.envelope().Path("suggestion").Str()
			if err == nil && text != "" && candor.CheckSuggestion(retry, text) != nil {
				return "the suggestion contradicts the retry advice"
			}
			return ""
		}),
	ours("first-block", "The first block holds all a model needs, in at most 1 KiB.",
		"Some clients show the first block only, and long ones are cut.",
		"Code, sentence, retry and ref in content[0].",
		func(f failure) bool { return toolError(f) && hasEnvelope(f) && strings.TrimSpace(spoken(f.said)) != "" }, firstBlock),
	ours("issues", "A refusal of arguments lists every issue with the pointer of the argument.",
		"A client can correct the call by itself only if it need not read prose.",
		"details.issues with path, rule and message.",
		func(f failure) bool { return strings.HasPrefix(f.name, "arguments that break") && hasEnvelope(f) }, issues),
}

func ours(id, title, why, want string, concern func(failure) bool, problem func(failure) string) check {
	return check{Rule: Rule{ID: id, Level: Contract, Title: title, Why: why, Want: want,
		Fix: "Install Candor's boundary in the server, or put the gateway in front of it."},
		run: func(v *visit) ruling { return v.eachFailure(concern, problem) }}
}

// carriesEnvelope reports whether the contract requires an envelope in the failure.
func carriesEnvelope(f failure) bool {
	data := f.msg.Error().Path("data")
	_, uri := data.Get("uri")
	return !f.rejection() && !(uri && data.Len() == 1)
}

func (f *failure) envelope() wire.Value {
	v, _ := dialect.Embedded(f.msg.Value())
	return v
}

func hasEnvelope(f failure) bool { return f.envelope().Present() }

// soundEnvelope reports whether the envelope has a known code and valid retry advice. Other checks cover envelopes without.
func soundEnvelope(f failure) bool {
	_, known := envelopeCode(f.envelope())
	_, err := envelopeRetry(f.envelope())
	return known && err == nil
}

func envelopeCode(v wire.Value) (candor.Code, bool) {
	symbol, _ := v.Path("code").Str()
	if domain, ok := v.Path("domain").Str(); ok {
		return candor.LookupCode(domain, symbol)
	}
	return candor.LookupSymbol(symbol)
}

func envelopeRetry(v wire.Value) (candor.Retry, error) {
	var retry candor.Retry
	raw := v.Path("retry")
	if !raw.Present() {
		return retry, fmt.Errorf("there is no retry advice")
	}
	err := retry.UnmarshalJSON(raw.Raw())
	return retry, err
}

func firstBlock(f failure) string {
	text, _ := f.msg.Result().Path("content", 0, "text").Str()
	if len(text) > dialect.MaxReadable {
		return fmt.Sprintf("it has %d bytes", len(text))
	}
	symbol, _ := f.envelope().Path("code").Str()
	ref, _ := f.envelope().Path("ref").Str()
	for _, part := range []struct{ name, text string }{{"code", symbol}, {"ref", ref}, {"retry advice", "etry"}} {
		if !strings.Contains(text, part.text) {
			return "it does not hold the " + part.name
		}
	}
	return ""
}

func issues(f failure) string {
	list := f.envelope().Path("details", "issues")
	if list.Len() == 0 {
		return "there are no details.issues"
	}
	for issue := range list.Elements() {
		path, _ := issue.Path("path").Str()
		if !strings.HasPrefix(path, "/") {
			return "an issue has no pointer to its argument"
		}
	}
	return ""
}
