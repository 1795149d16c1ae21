package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/gateway/config"
	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/wire"
)

// upstream is a connection to a server over streamable HTTP.
type upstream struct {
	target
	client  *http.Client
	session string
	agreed  string // protocol version, after initialize
}

// statusError is a response whose status is not a success.
type statusError struct{ code int }

// Error returns the status.
func (e *statusError) Error() string {
	return strings.TrimSpace(fmt.Sprintf("HTTP status %d %s", e.code, http.StatusText(e.code)))
}

// connect talks to a server that runs. A redirect is not followed, so that headers with credentials go only to the configured host.
func connect(ctx context.Context, t target) (answers, *Finding) {
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()
	u := &upstream{target: t, client: &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	found, err := handshake(ctx, u)
	if err == nil {
		u.leave(ctx)
		return found, nil
	}
	if status, isStatus := errors.AsType[*statusError](err); isStatus && u.session == "" && status.code >= 400 && status.code < 500 && u.legacy(ctx) {
		return answers{legacy: true}, nil
	}
	f := u.fault(ctx, err)
	return answers{}, &f
}

func (u *upstream) fault(ctx context.Context, err error) Finding {
	address := config.ShowURL(u.url)
	if answer, isAnswer := errors.AsType[*answerError](err); isAnswer {
		return answer.finding()
	}
	if status, isStatus := errors.AsType[*statusError](err); isStatus {
		switch {
		case status.code == http.StatusUnauthorized || status.code == http.StatusForbidden:
			return failed("upstream-refused", fmt.Sprintf("%s refuses the request: %s", address, status), "set headers: with the credentials of the server, from an environment variable")
		case status.code >= 300 && status.code < 400:
			return failed("upstream-status", fmt.Sprintf("%s answers with a redirect: %s", address, status), "write the address to which it redirects")
		}
		return failed("upstream-status", fmt.Sprintf("%s answers with %s", address, status), "check the path of the address; many servers use /mcp")
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return failed("upstream-silent", address+" did not answer in time", "check the server, or allow more time with --timeout")
	}
	return failed("upstream-unreachable", fmt.Sprintf("%s cannot be reached: %s", address, transportCause(err)), "start the server, or correct the address")
}

// transportCause returns the reason of an error of [http.Client], which begins with the whole URL.
func transportCause(err error) string {
	if inner := errors.Unwrap(err); inner != nil {
		return shown(listenCause(inner))
	}
	return shown(err.Error())
}

func (u *upstream) request(ctx context.Context, id int, method, params string) ([]byte, error) {
	response, err := u.send(ctx, http.MethodPost, message(id, method, params))
	if err != nil {
		return nil, err
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	if s := response.Header.Get("Mcp-Session-Id"); s != "" {
		u.session = s
	}
	if response.StatusCode/100 != 2 {
		return nil, &statusError{response.StatusCode}
	}
	body := io.LimitReader(response.Body, maxMessage)
	if kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")); kind == "text/event-stream" {
		return firstAnswer(body, id)
	}
	data, err := io.ReadAll(body)
	if err == nil && !isAnswer(data, id) {
		return nil, &answerError{method, "the body is not the answer"}
	}
	return data, err
}

func (u *upstream) agree(version string) { u.agreed = version }

func (u *upstream) notify(ctx context.Context, method string) error {
	response, err := u.send(ctx, http.MethodPost, notification(method))
	if err != nil {
		return err
	}
	return response.Body.Close()
}

func (u *upstream) send(ctx context.Context, method, body string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, u.url.String(), strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header = u.header.Clone()
	if request.Header == nil {
		request.Header = http.Header{}
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	if u.session != "" {
		request.Header.Set("Mcp-Session-Id", u.session)
	}
	if u.agreed != "" {
		request.Header.Set("Mcp-Protocol-Version", u.agreed)
	}
	return u.client.Do(request)
}

// leave ends the session. Servers may refuse that.
func (u *upstream) leave(ctx context.Context) {
	if u.session == "" {
		return
	}
	if response, err := u.send(ctx, http.MethodDelete, ""); err == nil {
		_ = response.Body.Close() // the session ends by itself otherwise
	}
}

// legacy reports whether the server offers the older SSE transport, which begins with a GET.
func (u *upstream) legacy(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	response, err := u.send(ctx, http.MethodGet, "")
	if err != nil {
		return false
	}
	_ = response.Body.Close() // the stream is not read
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	return response.StatusCode == http.StatusOK && kind == "text/event-stream"
}

// firstAnswer reads events until the answer to a request.
func firstAnswer(body io.Reader, id int) ([]byte, error) {
	events := framing.NewEventReader(body, wire.Limits{MaxBytes: maxMessage})
	for range maxSkipped {
		e, err := events.Next()
		if err != nil {
			return nil, err
		}
		if isAnswer(e.Data, id) {
			return bytes.Clone(e.Data), nil
		}
	}
	return nil, errTooMany
}
