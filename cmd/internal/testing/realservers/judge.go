package realservers

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/candor-mcp/candor"
)

// Verdict classifies how the gateway changed one answer.
type Verdict string

// The verdicts.
const (
	Identical Verdict = "same bytes"             // a success, unchanged
	Fitting   Verdict = "same bytes, which vary" // a success of a server whose answers vary, unchanged this time
	Refused   Verdict = "refused"                // a call that violates the tool's schema, or names an unknown tool, and was not forwarded
	Enveloped Verdict = "envelope added"         // a failure of the server, with its text kept
	LeftAlone Verdict = "left alone"             // a failure that clients recognize by its exact shape
	Wrong     Verdict = "WRONG"                  // none of these; the problem describes it
)

// Exchange is one case with all its answers: two direct ones, one through the gateway, and the server's output behind
// the gateway, which is empty if the server was not asked.
type Exchange struct {
	Case
	Direct, Again, Through, Written Answer
}

// Judge returns the verdict on the answer, and the problem with it if there is one.
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

// success requires the bytes of the direct answer. If the server's answers vary, it requires the bytes that the server
// wrote this time.
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

// refusal checks arguments that violate the tool's schema. The gateway refuses those that cannot work and forwards the
// rest; either way the wrong argument must be named, and the text of a server that was asked must be kept.
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

// addition requires that the server's text is kept.
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

// unchanged requires that a failure that must not be changed has the same bytes.
func (x Exchange) unchanged() (Verdict, string) {
	if !bytes.Equal(x.Through.raw, x.Direct.raw) {
		return Wrong, "an answer that clients know by its shape was changed"
	}
	return LeftAlone, ""
}

// difference shows the first difference between two answers.
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
