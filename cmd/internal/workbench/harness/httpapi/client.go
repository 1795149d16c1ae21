// Package httpapi is the HTTP client of the domains that use a web service. It exchanges JSON with one configured URL
// and treats the service as hostile: the bytes, depth and time of an answer are limited, redirects to other hosts are
// not followed, addresses are checked before connecting, and the token appears neither in results nor in errors.
package httpapi

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/netpolicy"
)

const (
	defaultTimeout = 30 * time.Second
	defaultMaxBody = 4 << 20
	maxHeader      = 64 << 10 // bytes of the header of an answer
	maxConns       = 8        // requests at the same time
	maxRedirects   = 3
	maxErrorBody   = 64 << 10 // bytes of an error response
	maxDepth       = 64       // of the JSON of an answer
	userAgent      = "candor-harness"
)

// Client sends requests to one service. It may be used concurrently.
type Client struct {
	base    *url.URL
	token   string
	timeout time.Duration
	maxBody int64
	headers http.Header
	http    *http.Client
	now     func() time.Time
}

// New returns a client that sends headers with every request. It opens no connection.
func New(c Config, headers map[string]string) (*Client, error) {
	base, err := parseBase(c.Base)
	if err != nil {
		return nil, err
	}
	var policy netpolicy.Policy
	if c.Configured {
		if policy, err = netpolicy.Parse(netpolicy.HostPort(base)); err != nil {
			return nil, fmt.Errorf("address of the service: %w", err)
		}
	}
	client := &Client{base: base, token: c.Token, timeout: cmp.Or(c.Timeout, defaultTimeout), maxBody: cmp.Or(c.MaxBody, defaultMaxBody), headers: http.Header{}, now: time.Now}
	for name, value := range headers {
		client.headers.Set(name, value)
	}
	dialer := &netpolicy.Dialer{Policy: policy}
	client.http = &http.Client{
		CheckRedirect: client.checkRedirect,
		Transport: &http.Transport{
			DialContext: dialer.DialContext, ForceAttemptHTTP2: true, MaxConnsPerHost: maxConns, MaxIdleConnsPerHost: 2, IdleConnTimeout: time.Minute,
			TLSHandshakeTimeout: 10 * time.Second, MaxResponseHeaderBytes: maxHeader,
		},
	}
	return client, nil
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Request is one request. The method is POST if there is a body, GET otherwise.
type Request struct {
	Path  []string // elements below the base URL; each is escaped
	Query url.Values
	Body  any // sent as JSON
}

// errRedirected is the reason for not following a redirect.
var errRedirected = errors.New("redirected to another address")

// checkRedirect follows redirects only within the service, so that the token is not sent elsewhere. Bodies are not sent
// twice.
func (c *Client) checkRedirect(to *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return errors.New("too many redirects")
	}
	if to.URL.Scheme != c.base.Scheme || !strings.EqualFold(netpolicy.HostPort(to.URL), netpolicy.HostPort(c.base)) ||
		to.URL.User != nil || via[0].Method != http.MethodGet {
		return errRedirected
	}
	return nil
}

// Do sends a request and decodes the JSON of a successful answer into result, a pointer. The error is an [*Error], or
// the error of ctx if the caller cancelled. It returns the header of the answer.
func (c *Client) Do(ctx context.Context, r Request, result any) (http.Header, error) {
	bounded, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	request, err := c.request(bounded, r)
	if err != nil {
		return nil, err
	}
	answer, err := c.http.Do(request)
	if err != nil {
		return nil, c.unanswered(ctx, err)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return nil, c.refused(answer)
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, c.maxBody+1))
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case bounded.Err() != nil:
		return nil, &Error{Kind: Slow, Reason: fmt.Sprintf("the answer was not complete after %d ms", c.timeout.Milliseconds()), Err: err}
	case err != nil:
		return nil, &Error{Kind: Malformed, Reason: "the answer is incomplete", Err: err}
	case int64(len(body)) > c.maxBody:
		return nil, &Error{Kind: TooLarge, Reason: fmt.Sprintf("the answer is larger than %d bytes", c.maxBody)}
	}
	return answer.Header, decode(body, answer.Header, result)
}

func (c *Client) request(ctx context.Context, r Request) (*http.Request, error) {
	target := *c.base
	for _, element := range r.Path {
		if element == "" || element == "." || element == ".." { // the service could interpret it as another path
			return nil, errors.New("making a request: an element of the path is empty or dots")
		}
		target.RawPath = target.EscapedPath() + "/" + url.PathEscape(element)
		target.Path += "/" + element
	}
	target.RawQuery = r.Query.Encode()
	method, body := http.MethodGet, io.Reader(nil)
	if r.Body != nil {
		text, err := json.Marshal(r.Body)
		if err != nil {
			return nil, fmt.Errorf("writing a request: %w", err)
		}
		method, body = http.MethodPost, bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, target.String(), body)
	if err != nil {
		return nil, fmt.Errorf("making a request: %w", err)
	}
	request.Header = c.headers.Clone()
	request.Header.Set("User-Agent", userAgent)
	if request.Header.Get("Accept") == "" {
		request.Header.Set("Accept", "application/json")
	}
	if r.Body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	return request, nil
}

// Clean encodes a result as JSON without the token, which a service may have included in its answer.
func (c *Client) Clean(result any) (json.RawMessage, error) {
	text, err := json.Marshal(result)
	if err != nil {
		return nil, fmt.Errorf("writing a result: %w", err)
	}
	return json.RawMessage(c.hide(string(text))), nil
}

// hide removes the token from a text. Very short tokens, which only tests use, are not removed, because they could be
// any word.
func (c *Client) hide(text string) string {
	if len(c.token) < 6 {
		return text
	}
	return strings.ReplaceAll(text, c.token, "[redacted]")
}
