package client

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/common"
	"github.com/candor-mcp/candor/internal/httpguard"
	"github.com/candor-mcp/candor/internal/oserror"
)

// localErrors lists the failures on this side of the connection. The first match counts.
var localErrors = []struct {
	code candor.Code
	by   candor.Party
	is   error
}{
	{candor.CodeCancelled, candor.PartyClient, context.Canceled},
	{candor.CodeTimeout, candor.PartyClient, context.DeadlineExceeded},
	{common.SessionNotFound, candor.PartyTransport, mcp.ErrSessionMissing},
	{candor.CodeUpstreamGone, candor.PartyTransport, mcp.ErrConnectionClosed},
	{candor.CodeUpstreamGone, candor.PartyTransport, io.EOF}, // the stream ended during the call
	{candor.CodeUpstreamGone, candor.PartyTransport, io.ErrUnexpectedEOF},
	{candor.CodeUpstreamGone, candor.PartyTransport, io.ErrClosedPipe},
}

// readLocal returns the error of a call that the peer did not answer. It never returns nil.
func readLocal(err error) *candor.Error {
	for _, known := range localErrors {
		if errors.Is(err, known.is) {
			return local(known.code, known.by, err)
		}
	}
	if oserror.IsClosedPipe(err) || oserror.IsReset(err) {
		return local(candor.CodeUpstreamGone, candor.PartyTransport, err)
	}
	if code := candor.From(err).Code(); code == candor.CodeUpstreamUnreachable || code == candor.CodeUpstreamTimeout {
		e := local(code, candor.PartyTransport, err)
		if neverConnected(err) {
			e = e.With(candor.WithDetails(map[string]any{"effect": "none"}))
		}
		return e
	}
	if code := statusCode(err.Error()); code.Valid() {
		// The SDK keeps only the text of the status.
		return local(code, candor.PartyTransport, err).With(candor.WithOrigin(candor.PartyTransport, true))
	}
	if strings.Contains(err.Error(), "marshaling call parameters") {
		return local(candor.CodeInvalidRequestParams, candor.PartyClient, err)
	}
	if isDecoding(err) {
		return local(candor.CodeUpstreamMalformed, candor.PartyTransport, err)
	}
	return local(candor.CodeInternalError, candor.PartyClient, err)
}

// neverConnected reports whether an error says that no connection was opened, so that nothing was sent.
func neverConnected(err error) bool {
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return true
	}
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}

func local(code candor.Code, by candor.Party, err error) *candor.Error {
	return candor.New(code, "", candor.WithOrigin(by, false), candor.WithTime(time.Now()), candor.WithCause(err))
}

// statusCode returns the code for an error that ends in the text of an HTTP status, as in `sending "tools/call": Bad Request`.
func statusCode(text string) candor.Code {
	if !strings.Contains(text, "sending ") {
		return 0
	}
	for status, code := range httpguard.StatusCodes {
		if strings.HasSuffix(text, ": "+http.StatusText(status)) {
			return code
		}
	}
	return 0
}

// isDecoding reports whether a response was received but could not be decoded. The SDK uses the errors of several libraries.
func isDecoding(err error) bool {
	text := err.Error()
	for _, part := range []string{"json: ", "unmarshaling", "content type", "nil content"} {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}
