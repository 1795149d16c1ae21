package contract

import (
	"slices"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/dual"
	"github.com/candor-mcp/candor/codes/github"
	"github.com/candor-mcp/candor/codes/kg"
	"github.com/candor-mcp/candor/codes/playwright"
	"github.com/candor-mcp/candor/codes/puppeteer"
	"github.com/candor-mcp/candor/codes/sql"
	"github.com/candor-mcp/candor/codes/tavily"
	"github.com/candor-mcp/candor/codes/workrail"
)

// CheckEffect is the suggestion for a failure that does not show whether the call took effect.
const CheckEffect = "Check whether the call took effect before making a new one."

// AvoidSecondEffect returns e with advice that cannot cause a second effect. It is for a failed tools/call whose tool is declared
// neither readOnlyHint nor idempotentHint, or whose declaration is not known.
//
// An error that proves that nothing was done keeps its advice; see [ProvesNoEffect]. Any other becomes not_retryable and suggests
// [CheckEffect]. The advice that it had is kept in details.said as retry and retryAfterMs.
func AvoidSecondEffect(e *candor.Error) *candor.Error {
	if !e.Retry().Retryable() || ProvesNoEffect(e) {
		return e
	}
	return e.With(candor.WithRetry(candor.NoRetry()), candor.WithSuggestion(checkFirst(e)),
		candor.WithDetails(e.Details().With("said", saidRetry(e))))
}

// checkFirst returns CheckEffect, followed by the suggestion of e if its author gave one that does not ask for a retry. A
// suggestion read from text is dropped, because its wording may ask for a retry in a way that cannot be detected.
func checkFirst(e *candor.Error) string {
	own := e.Suggestion()
	if own == "" || own == e.Code().Action() || e.Origin().Inferred || candor.CheckSuggestion(candor.NoRetry(), own) != nil {
		return CheckEffect
	}
	return CheckEffect + " " + own
}

// saidRetry returns details.said with the retry advice of e added. A value that is not an object is kept as its member "value".
func saidRetry(e *candor.Error) candor.Details {
	said := e.Details().Get("said")
	if ms := e.Retry().AfterMs(); ms > 0 {
		said = said.With("retryAfterMs", ms)
	}
	return said.With("retry", string(e.Retry().Kind()))
}

// ProvesNoEffect reports whether an error shows that its call changed nothing, so that the same call can be sent again whatever
// its tool does. These errors do:
//
//   - every code of class rate_limited, such as HTTP 429;
//   - the codes for a call that was refused before it began or was rolled back, such as CIRCUIT_OPEN or DB_BUSY;
//   - AUDIT_LOG_FAILED and AUDIT_LOCK_FAILED without details.code, which is the failure that could not be recorded;
//   - details.effect "none";
//   - a connection that could not be opened: the name did not resolve, the connection was refused, or there was no route.
//
// HTTP 500, 502, 503 and 504, a timeout and a broken connection prove nothing, with or without a Retry-After. An error that is not
// retryable for another reason, such as wrong arguments, is not judged.
func ProvesNoEffect(e *candor.Error) bool {
	code := e.Code()
	switch {
	case e.Class() == candor.ClassRateLimited, slices.Contains(noEffectCodes, code):
		return true
	case e.Details().Get("effect").String() == `"none"`:
		return true
	case code == candor.CodeLedgerFailed, code == candor.CodeLedgerLocked:
		return e.Details().Get("code").IsZero()
	case slices.Contains(connectionCodes, code):
		return neverConnected(e)
	default:
		return false
	}
}

// noEffectCodes are the retryable codes whose catalogue definition says that nothing was changed.
var noEffectCodes = []candor.Code{
	candor.CodeCircuitOpen, candor.CodeGatewayDraining,
	dual.ToolLockTimeout, dual.DBBusy, dual.DBFull,
	workrail.Timeout, workrail.TokenSessionLocked,
	kg.Full, playwright.Launch, puppeteer.Launch,
}

// connectionCodes are the codes for a connection that either could not be opened or broke later.
var connectionCodes = []candor.Code{
	candor.CodeUpstreamUnreachable, candor.CodeUpstreamTimeout, sql.Conn, github.Network,
	tavily.Network, playwright.Nav, puppeteer.Nav,
}

// neverConnected reports whether the texts of the error and of its cause show that no connection was opened.
func neverConnected(e *candor.Error) bool {
	cause := e.Cause()
	text := strings.ToLower(strings.Join([]string{e.Message(), e.Details().Get("said").Get("errno").String(), cause.Code, cause.Message, ""}, "\n"))
	return !holdsWord(text, brokenWords) && holdsWord(text, unopenedWords)
}

// brokenWords are the words of common runtimes for a connection that was open and broke. An error may describe several attempts,
// so one of these words outweighs all of unopenedWords.
var brokenWords = []string{
	"econnreset", "connection reset", "socket hang up", "other side closed", "broken pipe", "epipe", "unexpected eof", ": eof\n",
	"connection closed", "connection was closed", "closed connection", "closed network connection", "connection aborted", "econnaborted", "remote end closed",
	"server disconnected",
}

// unopenedWords are the words for a connection that could not be opened. "Failed to connect" is not among them, because it is also
// used for a connection that broke.
var unopenedWords = []string{
	"econnrefused", "connection refused", "err_connection_refused", "actively refused",
	"enotfound", "eai_again", "eai_noname", "getaddrinfo", "no such host", "unknown host", "err_name_not_resolved", "name resolution",
	"name or service not known", "nodename nor servname", "could not resolve", "failed to resolve", "failed to lookup address",
	"ehostunreach", "no route to host", "enetunreach", "network is unreachable", "connect etimedout", "dial tcp", "dial unix",
	"failed to establish a new connection",
}

func holdsWord(text string, words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
}
