package gateway

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/internal/lazyregexp"
	"github.com/candor-mcp/candor/wire"
)

// ErrDraining is the cause for cancelling the context of a request when a gateway shuts down and cannot wait any longer. The call
// is then answered with GATEWAY_DRAINING; a call is not answered if its client disconnected.
var ErrDraining = errors.New("the gateway is shutting down")

// DrainingError returns the error for calls that arrive while the gateway shuts down.
func DrainingError() *candor.Error {
	return NewError(candor.CodeGatewayDraining)
}

// NewError returns an error from the gateway with details, given as names and values in turn.
func NewError(code candor.Code, details ...any) *candor.Error {
	options := []candor.Option{candor.WithOrigin(candor.PartyGateway, false)}
	if len(details) > 0 {
		named := map[string]any{}
		for i := 0; i+1 < len(details); i += 2 {
			named[fmt.Sprint(details[i])] = details[i+1]
		}
		options = append(options, candor.WithDetails(named))
	}
	return candor.New(code, "", options...)
}

// TimeoutError returns the error for a call that timed out.
func TimeoutError(c *Call) *candor.Error {
	return NewError(candor.CodeCallTimeout, "timeoutMs", c.Timeout().Milliseconds())
}

// OversizeError returns the error for an answer that exceeds the message limit. The caller may have to request less.
func OversizeError(most int) *candor.Error {
	return NewError(candor.CodeTooLarge, "maxBytes", most).With(candor.WithMessage("The server's answer is larger than the gateway passes on."),
		candor.WithSuggestion("Check whether the call took effect, then ask for less: fewer items, a smaller range, a shorter text."))
}

// startError returns the error for a failed initialize.
func (c *Call) startError(e *candor.Error) *candor.Error {
	switch e.Code() {
	case candor.CodeUpstreamGone:
		return notReady(e)
	case candor.CodeCallTimeout:
		return e.With(candor.WithMessage("The server did not answer initialize within "+c.Timeout().String()+"."),
			candor.WithSuggestion("Check that the command or the address is that of an MCP server. If it only takes long to start, raise --start-timeout, or startTimeout in candor.yaml."))
	default:
		return e
	}
}

// maxReason bounds the line of the server's standard error that the message of an error quotes.
const maxReason = 200

// notReady returns the error for an initialize during which the server ended. The call cannot have taken effect, because the server did not
// start.
func notReady(e *candor.Error) *candor.Error {
	text := "The server went away before it was ready."
	var seen struct{ Status, Stderr string }
	if err := e.Details().Decode(&seen); err == nil && seen.Status != "" {
		text = EndedText(seen.Status, "before it was ready", seen.Stderr)
	}
	return e.With(candor.WithMessage(text),
		candor.WithSuggestion("Check the command, the arguments and the environment that the server is started with; then connect again."))
}

// EndedText returns the sentence for a server that ended: its status, when that was, and the reason that its standard error gives.
func EndedText(status, when, stderr string) string {
	text := "The server " + status + " " + when
	if reason := reasonLine(stderr); reason != "" {
		return text + ": " + candor.Public(reason, maxReason)
	}
	return text + "."
}

var (
	// thrownLine begins with the name of an exception, as Node, Python and Java write it, or is that of a Go panic.
	thrownLine = lazyregexp.New(`^(?:Uncaught |Exception in thread "[^"]*" )?(?:[\w.]*(?:Error|Exception)(?: \[\w+\])?: |panic: |fatal error: )`)
	// closingLine is about the runtime and not about the failure.
	closingLine = lazyregexp.New(`^(?:Node\.js v\d|note: |exit status \d)`)
)

// reasonLine returns the line of a server's standard error that most probably has the reason for its end: that of an exception, else the
// last one. npm prints the reason below its code, then advice and the name of a log file.
func reasonLine(stderr string) string {
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	last := ""
	for i, line := range lines {
		switch {
		case i+1 < len(lines) && (strings.HasPrefix(line, "npm error code ") || strings.HasPrefix(line, "npm ERR! code ")):
			return strings.TrimSpace(lines[i+1])
		case strings.TrimSpace(line) != "" && !closingLine.MatchString(line):
			last = strings.TrimSpace(line)
		}
	}
	for _, line := range slices.Backward(lines) {
		if thrownLine.MatchString(line) {
			return strings.TrimSpace(line)
		}
	}
	return last
}

// CancelNotification returns the notification that cancels a request.
func CancelNotification(id wire.ID, reason string) []byte {
	line := append([]byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`), id...)
	line = jsontext.AppendString(append(line, `,"reason":`...), reason)
	return append(line, `}}`...)
}

// MaxExtension is how many times its timeout a call may take if it keeps reporting progress.
const MaxExtension = 12
