package contract

import (
	"fmt"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/lazyregexp"
)

// CheckEffect is the suggestion for a failure that does not show whether the call took effect.
const CheckEffect = toCheck + "."

// toCheck also begins the suggestions of the codes for calls without an answer.
const toCheck = "Check whether the call took effect before making a new one"

// ifOnlyReads begins the suggestion that replaces [CheckEffect] for a tool that seems to read.
const ifOnlyReads = "If the tool only reads, "

// AvoidSecondEffect returns e with advice that cannot cause a second effect. Use it for a failed tools/call unless the
// tool is known to declare readOnlyHint or idempotentHint.
//
// An error that proves that nothing was done keeps its advice; see [ProvesNoEffect]. Any other becomes not_retryable.
// It suggests [CheckEffect], or for a tool with a name such as get_weather how to continue if the tool only reads, or, if the
// service of the tool could not be connected to, to tell the operator. The advice that it had is kept in details.said as retry and
// retryAfterMs.
func AvoidSecondEffect(e *candor.Error) *candor.Error {
	if ProvesNoEffect(e) {
		return e
	}
	if e.Retry().Retryable() {
		e = e.With(candor.WithRetry(candor.NoRetry()), candor.WithSuggestion(checkFirst(e)), candor.WithDetails(e.Details().With("said", saidRetry(e))))
	}
	rest, asks := strings.CutPrefix(e.Suggestion(), toCheck)
	if !asks || !readsByName(e.CallInfo().Tool) {
		return e
	}
	wait, ms := "", int64(0)
	if e.Details().Get("said").Get("retryAfterMs").Decode(&ms) == nil && ms > 0 {
		wait = fmt.Sprintf("wait %d ms and ", min(ms, maxWait))
	}
	return e.With(candor.WithSuggestion(ifOnlyReads + wait + "send the same call again" + rest))
}

// readingAdvice matches what AvoidSecondEffect writes in the place of toCheck.
var readingAdvice = lazyregexp.New(`^` + ifOnlyReads + `(?:wait \d+ ms and )?send the same call again`)

// maxWait is the longest delay in milliseconds, as in [candor.Retry].
const maxWait = 7 * 24 * 60 * 60 * 1000

// checkFirst returns CheckEffect, followed by the suggestion of e if its author gave one that does not ask for a retry. If no connection to
// the service of the tool could be opened, it is to tell the operator: a check would meet the same failure.
// A suggestion read from text is dropped, because its wording may ask for a retry in a way that cannot be detected.
func checkFirst(e *candor.Error) string {
	own := e.Suggestion()
	switch {
	case e.Origin().Inferred && unconnected[errnoOf(e)] && !readsByName(e.CallInfo().Tool):
		return "Tell the operator that the service behind the tool cannot be reached."
	case own == "" || own == e.Code().Info().Action || e.Origin().Inferred || candor.CheckSuggestion(candor.NoRetry(), own) != nil:
		return CheckEffect
	default:
		return CheckEffect + " " + own
	}
}

// unconnected are the system errors of connections that could not be opened.
var unconnected = map[string]bool{"ECONNREFUSED": true, "ENOTFOUND": true, "EAI_AGAIN": true, "ENETUNREACH": true, "EHOSTUNREACH": true}

func errnoOf(e *candor.Error) (errno string) {
	_ = e.Details().Get("said").Get("errno").Decode(&errno) // "" if it is absent
	return errno
}

// readsByName reports whether a tool probably only reads: get_weather, listFiles and search do, and with a prefix ashby_get_candidate
// and brave_web_search, unless they also have a verb such as create.
func readsByName(tool string) bool {
	name, reading := splitName(tool), tables().Seeming
	switch {
	case len(name) == 0:
		return false
	case reading[strings.TrimRight(name[0], "0123456789")]:
		return true
	default:
		return (len(name) > 1 && reading[name[1]] || name[len(name)-1] == "search") && !name.any(tables().Writing)
	}
}

// saidRetry returns details.said with the retry advice of e added. A value that is not an object is kept as its member
// "value".
func saidRetry(e *candor.Error) candor.Details {
	said := e.Details().Get("said")
	if ms := e.Retry().AfterMs(); ms > 0 {
		said = said.With("retryAfterMs", ms)
	}
	return said.With("retry", string(e.Retry().Kind()))
}

// ProvesNoEffect reports whether an error shows that its call changed nothing, so that the same call of any tool can be
// sent again. An error of a tool never does, because the tool was running: neither its words nor its code nor its
// envelope say what it did before. Other errors do with
//
//   - details.effect "none", set by the party that refused the call or could not open a connection;
//   - a code that was stated and not inferred, and that the catalogue lists with the effect "none", such as CIRCUIT_OPEN.
//
// An error that is not retryable for another reason, such as wrong arguments, is not judged.
func ProvesNoEffect(e *candor.Error) bool {
	by := e.Origin()
	switch {
	case by.By == candor.PartyTool:
		return false
	case e.Details().Get("effect").String() == `"none"`:
		return true
	default:
		return !by.Inferred && e.Code().Info().Effect == "none"
	}
}
