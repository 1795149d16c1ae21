package httpapi

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/netpolicy"
	"github.com/candor-mcp/candor/internal/truncate"
)

// Kind classifies a failed request.
type Kind int

// The kinds of [Error].
const (
	Unreachable Kind = iota + 1 // no answer arrived
	Slow                        // an answer began but did not end in time
	Malformed                   // a successful answer that cannot be decoded
	Redirected                  // the service redirected to another host
	Refused                     // the answer was an error; see Status
	TooLarge                    // the answer is larger than the client reads
)

// Error is the error for a failed request. Its text and fields do not contain the token; only Said contains text of the
// service.
type Error struct {
	Kind   Kind
	Reason string // for the caller, one clause
	Status int    // of a Refused request
	Said   string // the message of the service, shortened
	Code   string // error code that some services send besides the status
	Limit  bool   // rate limit; RetryAfter may have the delay
	// RetryAfter is the delay requested by the service, 0 if there is none.
	RetryAfter time.Duration
	Err        error
}

// Error returns the reason.
func (e *Error) Error() string { return e.Reason }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// unanswered explains why there is no answer. It does not repeat the texts of the causes, which contain addresses.
func (c *Client) unanswered(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	cause := errors.New(c.hide(err.Error()))
	var (
		dns    *net.DNSError
		denied *netpolicy.DeniedError
		record tls.RecordHeaderError
		cert   *tls.CertificateVerificationError
		alert  tls.AlertError
	)
	reason := "the connection broke before an answer arrived"
	switch {
	case errors.Is(err, errRedirected):
		return &Error{Kind: Redirected, Reason: "the service redirected to another address, which is not followed", Err: cause}
	case errors.As(err, &denied):
		reason = "its address is not on the public network"
	case errors.As(err, &dns) && dns.IsNotFound:
		reason = "its name does not resolve"
	case errors.As(err, &dns):
		reason = "its name could not be looked up"
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &record), errors.As(err, &cert), errors.As(err, &alert):
		reason = "the TLS connection was not trusted"
	case errors.Is(err, syscall.ECONNREFUSED):
		reason = "the connection was refused"
	case errors.Is(err, context.DeadlineExceeded), timedOut(err):
		reason = fmt.Sprintf("no answer within %d ms", c.timeout.Milliseconds())
	case strings.Contains(err.Error(), "stopped after") || strings.Contains(err.Error(), "too many redirects"):
		return &Error{Kind: Redirected, Reason: "the service redirected too often", Err: cause}
	case strings.Contains(err.Error(), "malformed HTTP") || strings.Contains(err.Error(), "exceeded"):
		return &Error{Kind: Malformed, Reason: "the answer is not HTTP, or its header is too large", Err: cause}
	}
	return &Error{Kind: Unreachable, Reason: reason, Err: cause}
}

func timedOut(err error) bool {
	var t net.Error
	return errors.As(err, &t) && t.Timeout()
}

// refused reads an error response.
func (c *Client) refused(answer *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(answer.Body, maxErrorBody)) // a truncated message is still useful
	said, code := message(body)
	e := &Error{Kind: Refused, Status: answer.StatusCode, Said: shorten(c.hide(said)), Code: shorten(c.hide(code)), RetryAfter: c.delay(answer.Header)}
	e.Reason = "status " + strconv.Itoa(e.Status)
	if answer.StatusCode/100 == 3 || answer.StatusCode/100 == 2 {
		e.Kind, e.Reason = Malformed, "unexpected status "+strconv.Itoa(e.Status)
	}
	if e.Code != "" {
		e.Reason += " " + e.Code
	}
	if e.Said != "" {
		e.Reason += ": " + e.Said
	}
	e.Limit = e.Status == http.StatusTooManyRequests || answer.Header.Get("X-Ratelimit-Remaining") == "0" || answer.Header.Get("Retry-After") != "" ||
		e.Status == http.StatusForbidden && aboutRate(e.Said)
	return e
}

// aboutRate reports whether a message is about a rate limit. GitHub answers 403 for it, sometimes without the rate limit
// headers.
func aboutRate(said string) bool {
	said = strings.ToLower(said)
	return strings.Contains(said, "rate limit") || strings.Contains(said, "abuse detection")
}

// message finds the text of an error in the formats of the services.
func message(body []byte) (said, code string) {
	var form struct {
		Message string          `json:"message"` // Notion, GitHub
		Code    json.RawMessage `json:"code"`    // Notion
		Detail  json.RawMessage `json:"detail"`  // Tavily
	}
	if json.Unmarshal(body, &form) != nil {
		return "", ""
	}
	_ = json.Unmarshal(form.Code, &code) // a number is not a code of these services
	if form.Message != "" {
		return form.Message, code
	}
	var detail struct {
		Error string `json:"error"`
	}
	if json.Unmarshal(form.Detail, &detail) == nil && detail.Error != "" {
		return detail.Error, code
	}
	if json.Unmarshal(form.Detail, &said) == nil {
		return said, code
	}
	var issues []struct {
		Message string `json:"msg"`
	}
	if json.Unmarshal(form.Detail, &issues) == nil && len(issues) > 0 {
		return issues[0].Message, code
	}
	return "", code
}

// delay returns the delay requested by the service: Retry-After in seconds or as a date, else the time at which the
// limit is reset. It uses the service's clock if the response has a date.
func (c *Client) delay(header http.Header) time.Duration {
	now := c.now()
	if date, err := http.ParseTime(header.Get("Date")); err == nil {
		now = date
	}
	if text := header.Get("Retry-After"); text != "" {
		if seconds, err := strconv.ParseInt(text, 10, 32); err == nil && seconds >= 0 {
			return time.Duration(seconds) * time.Second
		}
		if date, err := http.ParseTime(text); err == nil {
			return max(0, date.Sub(now))
		}
	}
	if header.Get("X-Ratelimit-Remaining") == "0" {
		if reset, err := strconv.ParseInt(header.Get("X-Ratelimit-Reset"), 10, 64); err == nil && reset > 0 && reset < 1<<40 {
			return max(0, time.Unix(reset, 0).Sub(now))
		}
	}
	return 0
}

const maxSaid = 300 // bytes

// shorten returns a text of the service as one short line.
func shorten(text string) string {
	return truncate.Text(strings.Join(strings.Fields(strings.ToValidUTF8(text, "\ufffd")), " "), maxSaid)
}
