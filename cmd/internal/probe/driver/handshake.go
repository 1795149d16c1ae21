package driver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/candor-mcp/candor/internal/mcpclient"
	"github.com/candor-mcp/candor/internal/probe"
	"github.com/candor-mcp/candor/internal/redact"
	"github.com/candor-mcp/candor/wire"
)

// transportStdio is the transport to a server that was started.
const transportStdio Transport = "stdio"

const (
	versionStateless = mcpclient.VersionStateless
	errorsExtension  = "dev.candor/errors"
)

// begin connects for the first time and reads the server's name, capabilities and tools.
func (d *driver) begin(ctx context.Context) error {
	began := time.Now()
	handshake, err := d.connect(ctx)
	if err != nil {
		d.disconnect(false)
		return err
	}
	d.recordServer(handshake)
	d.recordHandshake(handshake, time.Since(began))
	d.findPing(ctx)
	d.list(ctx)
	d.headerParam()
	return nil
}

// reconnect reconnects in the same way. Over the network it retries, because a server may need time to restart.
func (d *driver) reconnect(ctx context.Context) error {
	var err error
	for try := range maxTries {
		if try > 0 {
			within(ctx.Done(), triesApart)
		}
		if _, err = d.connect(ctx); err == nil {
			return nil
		}
		d.disconnect(false)
		if d.transport == transportStdio || ctx.Err() != nil {
			break
		}
	}
	return fmt.Errorf("restarting the server: %w", err)
}

// handshake is the handshake with a server.
type handshake struct {
	request []byte
	answer  wire.Message
	seen    *seen
}

// connect opens a connection and makes the handshake, within the time limit for the start.
func (d *driver) connect(ctx context.Context) (*handshake, error) {
	ctx, cancel := context.WithTimeout(ctx, d.o.Startup)
	defer cancel()
	switch {
	case len(d.t.Command) > 0:
		return d.connectChild(ctx)
	case d.transport == "":
		return d.negotiate(ctx)
	case d.transport == TransportSSE:
		return d.connectSSE(ctx)
	default:
		return d.connectWeb(ctx, d.stateless)
	}
}

func (d *driver) use(conn mcpclient.Conn, transport Transport, stateless bool, scratch string) {
	d.conn, d.transport, d.stateless, d.answered, d.mask = conn, transport, stateless, 0, newMask(d.t, scratch)
}

// headerParam sets which arguments a connection over HTTP repeats in headers.
func (d *driver) headerParam() {
	wanted := headerParamsOf(d.run.Tools)
	d.headers.Store(&wanted)
}

func (d *driver) connectChild(ctx context.Context) (*handshake, error) {
	child, err := start(d.t, &d.o)
	if err != nil {
		return nil, err
	}
	d.child = child
	d.use(child, transportStdio, d.stateless, child.scratch)
	return d.greet(ctx)
}

// options returns how to connect over HTTP.
func (d *driver) options() mcpclient.HTTPOptions {
	o := mcpclient.HTTPOptions{Header: http.Header{}, MaxBytes: maxMessage, Follow: true, Renew: true}
	for name, value := range d.t.Headers {
		o.Header.Set(name, value)
	}
	return o
}

func (d *driver) connectSSE(ctx context.Context) (*handshake, error) {
	at, err := parseAddress(d.t.URL)
	if err != nil {
		return nil, d.unreachable(err)
	}
	conn, err := mcpclient.OpenSSE(ctx, at, d.options())
	if err != nil {
		return nil, d.unreachable(err)
	}
	d.use(conn, TransportSSE, false, "")
	return d.greet(ctx)
}

func (d *driver) connectWeb(ctx context.Context, stateless bool) (*handshake, error) {
	at, err := parseAddress(d.t.URL)
	if err != nil {
		return nil, err
	}
	o, version := d.options(), ""
	if stateless {
		version = versionStateless
		o.Headers = func(h http.Header, m *wire.Message) {
			if wanted := d.headers.Load(); wanted != nil {
				setParamHeaders(h, m, *wanted)
			}
		}
	}
	conn := mcpclient.OpenHTTP(at.String(), o)
	conn.Agree(version)
	d.use(conn, TransportHTTP, stateless, "")
	return d.greet(ctx)
}

// negotiate tries the transports of a server at a URL, newest first.
func (d *driver) negotiate(ctx context.Context) (h *handshake, err error) {
	if d.t.Transport == TransportSSE {
		return d.connectSSE(ctx)
	}
	for _, stateless := range []bool{true, false} {
		if h, err = d.connectWeb(ctx, stateless); err == nil {
			return h, nil
		}
		d.disconnect(false)
	}
	var silence silenceError
	if d.t.Transport == TransportHTTP || errors.As(err, &silence) && silence.broken != "" {
		return nil, err
	}
	if h, other := d.connectSSE(ctx); other == nil {
		return h, nil
	}
	d.disconnect(false)
	d.transport = ""
	return nil, err
}

// greet makes the handshake. A server over stdio that does not know initialize may be one without sessions.
func (d *driver) greet(ctx context.Context) (*handshake, error) {
	if d.stateless {
		return d.discover(ctx)
	}
	h, err := d.firstRequest(ctx, "initialize", mcpclient.InitializeParams(clientName))
	if err != nil {
		return nil, err
	}
	if h.answer.Shape() != wire.KindResult {
		if d.transport == transportStdio && h.answer.Shape() == wire.KindError {
			d.stateless = true
			if h, err := d.discover(ctx); err == nil {
				return h, nil
			}
			d.stateless = false
		}
		return nil, refusedError(h)
	}
	version, _ := h.answer.Result().Path("protocolVersion").Str()
	d.conn.Agree(short(version))
	d.notify(ctx, mcpclient.Initialized)
	return h, nil
}

func (d *driver) discover(ctx context.Context) (*handshake, error) {
	h, err := d.firstRequest(ctx, "server/discover", `{}`)
	if err != nil {
		return nil, err
	}
	for version := range h.answer.Result().Path("supportedVersions").Elements() {
		if version.Is(versionStateless) {
			return h, nil
		}
	}
	return nil, refusedError(h)
}

// firstRequest sends the first request.
func (d *driver) firstRequest(ctx context.Context, method, params string) (*handshake, error) {
	patience := d.o.Startup
	if d.conn.Exchanges() && method == "server/discover" {
		patience = min(patience, d.o.Deadline) // it only finds out whether the server has sessions
	}
	h := &handshake{}
	h.request, h.seen = d.ask(ctx, method, []byte(params), patience, nil)
	switch h.seen.end {
	case endAnswered:
		h.answer = wire.Parse(h.seen.raw, wire.Limits{MaxBytes: maxMessage})
		return h, nil
	case endGone:
		hint := "is it an MCP server?"
		if d.transport == transportStdio { // it may start by hand
			hint = "it runs with almost no environment, in a temporary folder; use --env NAME and --dir if it needs more"
		}
		return nil, silenceError{text: fmt.Sprintf("the server ended before it answered %s%s (hint: %s)", method, d.exitDetails(h.seen), hint)}
	case endBroken:
		return nil, d.unreachable(errors.New(h.seen.broken))
	default:
		return nil, silenceError{text: fmt.Sprintf("the server did not answer %s in time%s (hint: is it an MCP server? One that starts slowly needs a longer --startup than %v)",
			method, printed(d.stderr()), patience)}
	}
}

// silenceError is the error for a server that does not answer the handshake.
type silenceError struct {
	text   string
	broken string // how the connection failed
}

func (e silenceError) Error() string { return e.text }

func (d *driver) unreachable(err error) error {
	how := err.Error()
	var address *url.Error // its text has the address, which may hold secrets
	if errors.As(err, &address) {
		how = brief(err)
	}
	return silenceError{broken: how, text: fmt.Sprintf("connecting to %s: %s (hint: is the server running, and is the URL right?)", target(d.t), how)}
}

func refusedError(h *handshake) error {
	said := strings.TrimSpace(redact.Text(strings.Join(h.seen.answers, " ")))
	status := ""
	if h.seen.status != 0 {
		status = fmt.Sprintf("HTTP %d ", h.seen.status)
	}
	return fmt.Errorf("the server refused the handshake: %s%s (hint: %s)", status, shorten([]byte(said), int64(len(said)), 300), nextStep(h.seen.status))
}

// nextStep returns what to try after a refused handshake.
func nextStep(status int) string {
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return "it requires credentials: use --header 'Authorization: Bearer …'"
	case status >= http.StatusMultipleChoices && status < http.StatusBadRequest:
		return "it redirects to another host, to which your headers are not sent: use the URL that it redirects to"
	default:
		return "is this the URL or command of an MCP server?"
	}
}

// printed returns the end of a server's standard error on one line.
func printed(stderr string) string {
	const enough = 300
	text := strings.Join(strings.Fields(stderr), " ")
	if text == "" {
		return ""
	}
	if over := len(text) - enough; over > 0 {
		text = "…" + strings.ToValidUTF8(text[over:], "")
	}
	return "; it printed: " + text
}

// recordServer records the server's name, version and capabilities.
func (d *driver) recordServer(h *handshake) {
	result := h.answer.Result()
	info := result.Path("serverInfo")
	if !info.Present() {
		info = result.Path("_meta", "io.modelcontextprotocol/serverInfo")
	}
	text := func(v wire.Value) string { s, _ := v.Str(); return short(s) }
	s := probe.Server{Name: text(info.Path("name")), Version: text(info.Path("version")), Protocol: text(result.Path("protocolVersion")), Transport: string(d.transport), Target: target(d.t)}
	if d.stateless {
		s.Protocol = versionStateless
	}
	capabilities := result.Path("capabilities")
	for name := range capabilities.Members() {
		if word, ok := name.Str(); ok && len(s.Capabilities) < 50 {
			s.Capabilities = append(s.Capabilities, short(word))
		}
	}
	slices.Sort(s.Capabilities)
	s.Extension = capabilities.Path("extensions", errorsExtension).Present() || capabilities.Path("experimental", errorsExtension).Present()
	d.run.Server = s
}

// recordHandshake records the handshake.
func (d *driver) recordHandshake(h *handshake, took time.Duration) {
	method := "initialize"
	if d.stateless {
		method = "server/discover"
	}
	o := probe.Observation{Case: probe.Case{Group: probe.GroupProtocol, Name: method, Method: method, Expect: probe.ExpectAnswer},
		Request: d.mask.over(string(h.request)), Outcome: probe.OutcomeAnswered, Millis: took.Milliseconds()}
	d.fill(&o, h.seen)
	d.run.Greeting = o
}

// short limits the length of a server's description of itself.
func short(text string) string {
	const enough = 200
	return strings.ToValidUTF8(redact.Chars(text[:min(len(text), enough)]), "")
}

// target returns the command line or URL of a server without secrets.
func target(t Target) string {
	text := strings.Join(t.Command, " ")
	if t.URL != "" {
		text = t.URL
		if at, err := parseAddress(t.URL); err == nil {
			text = at.Redacted()
		}
	}
	return redact.Policy{KeepPaths: true}.Text(text)
}

// findPing chooses the method that checks that the server is alive. Any answer to it counts, also an error.
func (d *driver) findPing(ctx context.Context) {
	d.ping = "ping"
	if d.stateless {
		d.ping = "server/discover"
		return
	}
	if _, s := d.ask(ctx, d.ping, nil, pingWait, nil); s.end != endAnswered {
		d.ping = "tools/list"
		if s.end == endGone || s.end == endBroken {
			d.disconnect(false)
		}
	}
}
