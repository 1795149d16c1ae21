package zoo

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/probe"
	"github.com/candor-mcp/candor/wire"
)

// maxUpstream is the maximum size of an upstream response.
const maxUpstream = 1 << 20

// upstreamTries is the number of requests of a tool with hidden retries.
const upstreamTries = 3

// upstreamReply is the response of the upstream, if there is one.
type upstreamReply struct {
	status int // 0 without a response
	wait   time.Duration
	body   []byte
}

var upstreamCases = []string{probe.CaseUpstreamDown, probe.CaseUpstream401, probe.CaseUpstream403, probe.CaseUpstream404, probe.CaseUpstream409,
	probe.CaseUpstream422, probe.CaseUpstream429, probe.CaseUpstream500, probe.CaseUpstream503}

// upstreams are the defects of tools with a service behind them.
func upstreams() []implementation {
	ask := func(c *call) { c.ask(1) }
	return []implementation{
		{Defect: defect("up-masked", "a failing service looks like a success", "For any failure of the service, the tool returns a success whose text begins with Error.", "EC001", upstreamCases...),
			up: ask, on: whenMissing, show: func(c *call) answer {
				return one(c.success("Error: " + c.err.Code().Symbol() + ": " + c.err.Message() + c.advice()))
			}},
		{Defect: defect("up-swallowed", "a failing service is not noticed", "For any error status of the service, the tool returns an empty list.", "EC034", upstreamCases...),
			up: ask, on: whenMissing, show: func(c *call) answer {
				if c.reply.status == http.StatusOK {
					return c.honest()
				}
				return one(c.success(`{"records":[]}`))
			}},
		{Defect: defect("up-garbage", "garbage is passed on", "Any response with status 200 is returned as a result.", "EC035", probe.CaseUpstreamHTML, probe.CaseUpstreamNoise),
			up: ask, on: whenMissing, show: func(c *call) answer {
				if c.reply.status == http.StatusOK {
					return one(c.success(string(c.reply.body)))
				}
				return c.honest()
			}},
		{Defect: defect("up-stripped", "the status is lost", "All failures of the service have the same code; only the delay is kept.", "EC032", upstreamCases...),
			up: ask, on: whenMissing, show: func(c *call) answer {
				return c.plain(`"code":"UPSTREAM_ERROR","message":"The service behind the tool failed."` + c.retryMembers())
			}},
		{Defect: defect("up-no-retry", "no retry advice", "A failing service is reported with a code but without retry advice.", "EC012", probe.CaseUpstream429, probe.CaseUpstream503),
			up: ask, on: whenMissing, show: func(c *call) answer { return c.plain(c.codeMembers()) }},
		{Defect: defect("up-delay-lost", "the delay is lost", "A service with Retry-After is reported as retryable, without the delay.", "EC013", probe.CaseUpstream429),
			up: ask, on: whenMissing, show: func(c *call) answer {
				return c.plain(c.codeMembers() + `,"retryable":` + strconv.FormatBool(c.err.Retry().Retryable()))
			}},
		{Defect: defect("up-unsafe", "unsafe retry advice", "A tool that is neither read-only nor idempotent marks a failure of the service as retryable.", "EC025", probe.CaseUpstream500),
			up: ask, on: whenMissing, writes: true, show: func(c *call) answer {
				return one(c.candorFailure(c.err.With(candor.WithRetry(candor.RetryIn(time.Second)))))
			}},
		{Defect: defect("up-no-ref", "no correlation id", "A failing service is reported without a correlation id.", "EC026", upstreamCases...),
			up: ask, on: whenMissing, show: func(c *call) answer {
				return one(c.failure(`{"error":{` + c.codeMembers() + c.retryMembers() + `}}`))
			}},
		{Defect: defect("up-retries", "hidden retries", "The tool tries a temporary failure of the service three times and does not report it.", "EC037", probe.CaseUpstream429, probe.CaseUpstream500, probe.CaseUpstream503),
			up: func(c *call) { c.ask(upstreamTries) }},
	}
}

// codeMembers and retryMembers return the correct error as members of a plain one.
func (c *call) codeMembers() string {
	return `"code":` + quote(c.err.Code().Symbol()) + `,"message":` + quote(c.err.Message())
}

func (c *call) retryMembers() string {
	if ms := c.err.Retry().AfterMs(); ms > 0 {
		return `,"retryable":true,"retryAfterMs":` + strconv.FormatInt(ms, 10)
	}
	return `,"retryable":` + strconv.FormatBool(c.err.Retry().Retryable())
}

// advice returns the retry advice and ref of the correct error as prose.
func (c *call) advice() string {
	said := " Do not retry."
	if ms := c.err.Retry().AfterMs(); ms > 0 {
		said = " Retry after " + strconv.FormatInt((ms+999)/1000, 10) + " seconds."
	} else if c.err.Retry().Retryable() {
		said = " You may retry now."
	}
	return said + " Request id: " + c.ref()
}

// upstreamHonest returns a tool that reports every failure of its upstream correctly.
func upstreamHonest() *tool {
	t := honestTool("up-honest")
	t.about = "Reads a record from the service behind the zoo."
	t.find = func(c *call) { c.ask(1) }
	return t
}

// ask gets a record from the upstream, with at most the given number of attempts.
func (c *call) ask(tries int) {
	name, _ := c.arguments.Path("name").Str()
	for range tries {
		if c.err = c.get("/records/" + url.PathEscape(name)); c.err == nil {
			c.found = string(c.reply.body)
			return
		}
		if status := c.reply.status; status != http.StatusTooManyRequests && status < http.StatusInternalServerError {
			break // a retry would not help
		}
	}
	c.state = whenMissing
	c.err = c.err.With(candor.WithTool(c.tool.name))
}

// get makes one request and returns the response.
func (c *call) get(path string) *candor.Error {
	c.reply = upstreamReply{}
	req, err := http.NewRequestWithContext(c.ctx, http.MethodGet, c.zoo.upstream+path, nil)
	if err != nil {
		return candor.New(candor.CodeUpstreamUnreachable, "")
	}
	res, err := c.zoo.client.Do(req)
	if err != nil {
		return candor.New(reachCode(err), "")
	}
	defer func() { _ = res.Body.Close() }() // it has been read
	c.reply.status = res.StatusCode
	if seconds, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil && seconds > 0 {
		c.reply.wait = time.Duration(seconds) * time.Second
	}
	if c.reply.body, err = io.ReadAll(io.LimitReader(res.Body, maxUpstream)); err != nil {
		return candor.New(reachCode(err), "")
	}
	return c.reply.failure()
}

func reachCode(err error) candor.Code {
	var n net.Error
	if errors.As(err, &n) && n.Timeout() {
		return candor.CodeUpstreamTimeout
	}
	return candor.CodeUpstreamUnreachable
}

var statusCodes = map[int]candor.Code{
	http.StatusUnauthorized: candor.CodeUpstreamUnauthenticated, http.StatusForbidden: candor.CodeUpstreamForbidden,
	http.StatusNotFound: candor.CodeUpstreamNotFound, http.StatusConflict: candor.CodeUpstreamConflict,
	http.StatusUnprocessableEntity: candor.CodeUpstreamRejected, http.StatusTooManyRequests: candor.CodeUpstreamRateLimited,
	http.StatusServiceUnavailable: candor.CodeUpstreamUnavailable,
}

// failure returns the correct error for the reply, nil for a success.
func (r *upstreamReply) failure() *candor.Error {
	details := candor.WithDetails(map[string]any{"status": r.status})
	code, known := statusCodes[r.status]
	switch {
	case known && r.wait > 0:
		return candor.RetryableAfter(code, r.wait, "", details)
	case known:
		return candor.New(code, "", details)
	case r.status >= http.StatusInternalServerError:
		return candor.New(candor.CodeUpstreamError, "", details)
	case r.status >= http.StatusBadRequest:
		return candor.New(candor.CodeUpstreamRejected, "", details)
	}
	if _, err := wire.ParseValue(r.body, wire.Limits{}); err != nil || r.status != http.StatusOK {
		return candor.New(candor.CodeUpstreamBadResponse, "", details)
	}
	return nil
}
