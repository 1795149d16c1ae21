package browser

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"syscall"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/netpolicy"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/codes/common"
	"github.com/candor-mcp/candor/codes/playwright"
	"github.com/candor-mcp/candor/codes/puppeteer"
	"github.com/candor-mcp/candor/internal/lazyregexp"
	"github.com/candor-mcp/candor/internal/oserror"
)

// kind holds the differences between the two domains.
type kind struct {
	prefix                          string
	nav, launch, timeout, selection candor.Code
}

var kinds = map[string]kind{
	Playwright: {"pw", playwright.Nav, playwright.Launch, playwright.Timeout, playwright.InvalidSelector},
	Puppeteer:  {"pt", puppeteer.Nav, puppeteer.Launch, puppeteer.Timeout, puppeteer.InvalidSelector},
}

// Texts for details.
const (
	installText    = "Chromium: install Debian's package chromium or Google Chrome, or set " + EnvPath
	errBlockedText = "net::ERR_BLOCKED_BY_CLIENT"
	errDeniedText  = "net::ERR_BLOCKED_BY_ADMINISTRATOR"
)

// errInvalidSelector is the error for a selector that cannot be parsed.
var errInvalidSelector = errors.New("the selector does not parse")

// navError is the error for a failed navigation.
type navError struct {
	text  string // net::ERR_…
	cause error
}

func (e *navError) Error() string { return e.text }

func (e *navError) Unwrap() error { return e.cause }

// fail converts the error of a call with a session to the error for the client.
func (k kind) fail(s *session, step string, limit time.Duration, err error) error {
	var (
		nav   *navError
		lost  *lostError
		wrong *wrongError
	)
	switch {
	case errors.As(err, &nav):
		return k.failNav(nav)
	case errors.As(err, &lost):
		return k.failPage(lost.Error(), err, "Navigate to a page, then repeat the call.")
	case errors.Is(err, errInvalidSelector):
		return domain.Fail(k.selection, "the selector is not valid CSS", err)
	case errors.Is(err, errGone):
		return k.failGone(s, err)
	case errors.Is(err, errCrashed):
		return k.failPage("the page crashed", err, "Navigate to another page, or to this one with less content.")
	case errors.As(err, &wrong):
		return domain.Fail(k.selection, wrong.why, err, candor.WithSuggestion(snapshotAdvice))
	case errors.Is(err, errTimeUp) && s.why != "":
		details := map[string]any{"message": fmt.Sprintf("%s did not finish within %d ms: %s", step, limit.Milliseconds(), s.why)}
		if len(s.options) > 0 {
			details["options"] = s.cleanOptions()
		}
		return domain.Fail(k.timeout, "", err, candor.WithDetails(details), candor.WithRetry(candor.NoRetry()), candor.WithSuggestion(snapshotAdvice))
	case errors.Is(err, errTimeUp):
		return domain.Fail(k.timeout, fmt.Sprintf("%s did not finish within %d ms", step, limit.Milliseconds()), err)
	}
	var known *candor.Error
	if errors.As(err, &known) {
		return err
	}
	return domain.Fail(k.nav, "the page changed during the call", err)
}

// snapshotAdvice is the advice for an element that cannot be used.
const snapshotAdvice = "Take a snapshot to see the page and its elements, then choose the next step."

// cleanOptions returns the options of a field, which the page has written.
func (s *session) cleanOptions() []string {
	all := make([]string, len(s.options))
	for i, text := range s.options {
		all[i] = clean(text, 100)
	}
	return all
}

// failPage returns the error for a page that cannot be used and that a retry does not change.
func (k kind) failPage(details string, cause error, suggestion string) error {
	return domain.Fail(k.nav, details, cause, candor.WithRetry(candor.NoRetry()), candor.WithSuggestion(suggestion))
}

// failNav returns the error for a page that could not be loaded.
func (k kind) failNav(e *navError) error {
	switch e.text {
	case errDeniedText:
		return k.failPage(e.text, e.cause, "Use a public address. Private and local ones are refused unless the operator allows them with "+EnvAllow+".")
	case errBlockedText, "net::ERR_ABORTED", "net::ERR_UNSAFE_REDIRECT", "net::ERR_UNSAFE_PORT", "net::ERR_UNKNOWN_URL_SCHEME", "net::ERR_TOO_MANY_REDIRECTS",
		"net::ERR_INVALID_AUTH_CREDENTIALS":
		return k.failPage(e.text, e.cause, "Use an http or https address of a page. Downloads and other schemes are refused.")
	}
	return domain.Fail(k.nav, e.text, e.cause)
}

// failGone returns the error for a call during which the browser has exited.
func (k kind) failGone(s *session, cause error) error {
	s.end(diedText)
	if s.over() == closedText {
		return domain.Fail(common.SessionNotFound, "the session was closed during the call", cause)
	}
	return domain.Fail(k.launch, "the browser ended during the call; the session is closed", cause,
		candor.WithRetry(candor.NoRetry()), candor.WithSuggestion("Launch a new session and repeat the steps."))
}

// failLaunch returns the error for a failed launch.
func (k kind) failLaunch(ctx context.Context, c Config, err error) error {
	switch {
	case errors.Is(err, errNotInstalled):
		return domain.Fail(common.NotInstalled, installText, err)
	case errors.Is(err, errFull):
		return domain.Fail(common.LimitExceeded, fmt.Sprintf("%d of %d browser sessions are open", c.MaxSessions, c.MaxSessions), err,
			candor.WithRetry(candor.RetryIn(fullRetry)),
			candor.WithSuggestion("Close a session that is no longer needed, or wait until one ends, then launch again."))
	case errors.Is(err, errSandbox):
		return domain.Fail(k.launch, "Chromium cannot use its sandbox: the system must allow unprivileged user namespaces", err,
			candor.WithRetry(candor.NoRetry()), candor.WithSuggestion("Ask the operator to allow user namespaces."))
	case ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded):
		return ctx.Err()
	case errors.Is(err, errTimeUp), errors.Is(err, context.DeadlineExceeded):
		return domain.Fail(k.launch, "Chromium did not answer in time", err)
	}
	return domain.Fail(k.launch, "Chromium ended before it could be used", err)
}

// fullRetry is the retry delay for a launch beyond the maximum number of sessions.
const fullRetry = 10 * time.Second

// netErrText matches an error text of Chromium. Other texts are not passed on, because pages can influence them.
var netErrText = lazyregexp.New(`^net::ERR_[A-Z0-9_]{1,64}$`)

// navFailure returns the error for a document that failed with text. It prefers the proxy's reason for a failed
// connection to Chromium's.
func navFailure(p *proxy, address, text string) error {
	e := &navError{text: "net::ERR_FAILED"}
	if netErrText.MatchString(text) {
		e.text = text
	}
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		if cause := p.failure(netpolicy.HostPort(u)); cause != nil {
			e.cause, e.text = cause, connectText(cause)
		}
	}
	return e
}

// connectText returns Chromium's name for a connection failure.
func connectText(err error) string {
	var (
		denied  *netpolicy.DeniedError
		dns     *net.DNSError
		timeout net.Error
	)
	switch {
	case errors.As(err, &denied):
		return errDeniedText
	case errors.As(err, &dns):
		return "net::ERR_NAME_NOT_RESOLVED"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "net::ERR_CONNECTION_REFUSED"
	case oserror.IsReset(err):
		return "net::ERR_CONNECTION_RESET"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "net::ERR_ADDRESS_UNREACHABLE"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "net::ERR_CONNECTION_TIMED_OUT"
	}
	return "net::ERR_CONNECTION_FAILED"
}
