package realservers

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/candor-mcp/candor"
)

// Verdict is what became of one answer on its way through the gateway.
type Verdict string

// The verdicts.
const (
	Identical Verdict = "same bytes"               // a success, as the server wrote it
	Fitting   Verdict = "same but for what varies" // a success of a server that never says the same twice
	Refused   Verdict = "refused"                  // a call that breaks the tool's schema, or names none, never reached the server
	Enveloped Verdict = "envelope added"           // a failure of the server, its own words kept
	LeftAlone Verdict = "left alone"               // a failure that clients know by its exact shape
	Wrong     Verdict = "WRONG"                    // none of these; the problem says what
)

// Exchange is one case with all that was answered to it: twice directly, once through the gateway.
type Exchange struct {
	Case
	Direct, Again, Through Answer
}

// Judge says what became of the answer, and what is wrong with that.
func (x Exchange) Judge() (Verdict, string) {
	switch {
	case !x.Through.Failed() && x.Field != "":
		return Wrong, "arguments that break the tool's own schema were let through"
	case !x.Through.Failed():
		return x.success()
	case x.Through.bareURI():
		return x.unchanged()
	}
	e, err := x.Through.Envelope()
	if err != nil {
		return Wrong, "the failure cannot be read: " + err.Error()
	}
	switch {
	case e.Ref() == "":
		return Wrong, "the envelope has no ref"
	case x.Field != "":
		return x.refusal(e)
	case e.Origin().By == candor.PartyGateway && x.Direct.Failed():
		return Refused, ""
	case e.Origin().By == candor.PartyGateway:
		return Wrong, "the gateway refused what the server does: " + e.Message()
	}
	return x.addition()
}

// success holds an answer against the two that came directly.
func (x Exchange) success() (Verdict, string) {
	switch {
	case x.Direct.Failed():
		return Wrong, "a failure became a success"
	case bytes.Equal(x.Through.raw, x.Direct.raw):
		return Identical, ""
	case bytes.Equal(x.Direct.raw, x.Again.raw):
		return Wrong, "the bytes are others: " + difference(x.Direct.raw, x.Through.raw)
	}
	return x.likeBoth(Fitting, func(a Answer) (any, error) { return decode(a.raw) })
}

// refusal wants the failing argument named.
func (x Exchange) refusal(e *candor.Error) (Verdict, string) {
	if e.Code() != candor.CodeInvalidArguments || e.Origin().By != candor.PartyGateway {
		return Wrong, fmt.Sprintf("bad arguments came back as %s by %s", e.Code(), e.Origin().By)
	}
	for _, issue := range e.Details().Issues() {
		if issue.Path == x.Field {
			return Refused, ""
		}
	}
	return Wrong, "no issue names " + x.Field
}

// addition wants the server's own words kept.
func (x Exchange) addition() (Verdict, string) {
	if !x.Direct.Failed() {
		return Wrong, "a success became a failure"
	}
	return x.likeBoth(Enveloped, func(a Answer) (any, error) {
		_, err := a.Envelope()
		return a.words(err == nil)
	})
}

// unchanged wants a failure that is to be left alone to be the same bytes.
func (x Exchange) unchanged() (Verdict, string) {
	if !bytes.Equal(x.Through.raw, x.Direct.raw) {
		return Wrong, "an answer that clients know by its shape was changed"
	}
	return LeftAlone, ""
}

// likeBoth gives the verdict if the answer has all that the two direct ones have in common.
func (x Exchange) likeBoth(good Verdict, read func(Answer) (any, error)) (Verdict, string) {
	var seen [3]any
	for i, a := range []Answer{x.Direct, x.Again, x.Through} {
		v, err := read(a)
		if err != nil {
			return Wrong, err.Error()
		}
		seen[i] = v
	}
	if !fits(pattern(seen[0], seen[1]), seen[2]) {
		return Wrong, "the answer is another one: " + difference(x.Direct.raw, x.Through.raw)
	}
	return good, ""
}

// difference shows where two answers part.
func difference(a, b []byte) string {
	at := 0
	for at < len(a) && at < len(b) && a[at] == b[at] {
		at++
	}
	around := func(text []byte) string {
		return strings.ToValidUTF8(string(text[max(0, at-20):min(len(text), at+40)]), "?")
	}
	return fmt.Sprintf("at byte %d, directly %q, through %q", at, around(a), around(b))
}
