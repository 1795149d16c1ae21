package realservers

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/candor-mcp/candor"
)

// Verdict is what became of one answer on its way through the gateway.
type Verdict string

// The verdicts.
const (
	Identical Verdict = "same bytes"             // a success, as the server wrote it
	Fitting   Verdict = "same bytes, which vary" // a success of a server that never says the same twice, as it wrote it this time
	Refused   Verdict = "refused"                // a call that breaks the tool's schema, or names none, never reached the server
	Enveloped Verdict = "envelope added"         // a failure of the server, its own words kept
	LeftAlone Verdict = "left alone"             // a failure that clients know by its exact shape
	Wrong     Verdict = "WRONG"                  // none of these; the problem says what
)

// Exchange is one case with all that was answered to it: twice directly, once through the gateway, and what the server wrote
// behind the gateway that time; nothing if it was not asked.
type Exchange struct {
	Case
	Direct, Again, Through, Written Answer
}

// Judge says what became of the answer, and what is wrong with that.
func (x Exchange) Judge() (Verdict, string) {
	switch {
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

// success wants the bytes that came directly. A server that never says the same twice is held to what it wrote this time.
func (x Exchange) success() (Verdict, string) {
	switch {
	case x.Direct.Failed():
		return Wrong, "a failure became a success"
	case bytes.Equal(x.Through.raw, x.Direct.raw):
		return Identical, ""
	case bytes.Equal(x.Direct.raw, x.Again.raw):
		return Wrong, "the bytes are others: " + difference(x.Direct.raw, x.Through.raw)
	}
	if !bytes.Equal(x.Through.raw, x.Written.raw) {
		return Wrong, "the bytes are others than the server wrote: " + difference(x.Written.raw, x.Through.raw)
	}
	return Fitting, ""
}

// refusal is about arguments that break the tool's own schema. The gateway refuses those that cannot work and forwards the rest; either way
// the failing argument is named, and the words of a server that was asked are kept.
func (x Exchange) refusal(e *candor.Error) (Verdict, string) {
	if e.Code() != candor.CodeInvalidArguments {
		return Wrong, fmt.Sprintf("bad arguments came back as %s by %s", e.Code(), e.Origin().By)
	}
	if !slices.ContainsFunc(e.Details().Issues(), func(i candor.Issue) bool { return i.Path == x.Field }) {
		return Wrong, "no issue names " + x.Field
	}
	if e.Origin().By == candor.PartyGateway {
		return Refused, ""
	}
	return x.addition()
}

// addition wants the server's own words kept.
func (x Exchange) addition() (Verdict, string) {
	if !x.Direct.Failed() {
		return Wrong, "a success became a failure"
	}
	written, err := x.Written.words(false)
	if err != nil {
		return Wrong, "reading what the server wrote: " + err.Error()
	}
	through, err := x.Through.words(true)
	if err != nil {
		return Wrong, "reading what came through: " + err.Error()
	}
	if !reflect.DeepEqual(written, through) {
		return Wrong, "the server's words were changed: " + difference(x.Written.raw, x.Through.raw)
	}
	return Enveloped, ""
}

// unchanged wants a failure that is to be left alone to be the same bytes.
func (x Exchange) unchanged() (Verdict, string) {
	if !bytes.Equal(x.Through.raw, x.Direct.raw) {
		return Wrong, "an answer that clients know by its shape was changed"
	}
	return LeftAlone, ""
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
	return fmt.Sprintf("at byte %d %q became %q", at, around(a), around(b))
}
