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
	"github.com/candor-mcp/candor/probe"
	"github.com/candor-mcp/candor/wire"
)

// maxUpstream bounds what is read of an upstream's answer.
const maxUpstream = 1 << 20

// upstreamTries is how often a tool asks that retries unseen.
const upstreamTries = 3

// upstreamReply is what the upstream said, if it said anything.
type upstreamReply struct {
	status int // 0 without an answer
	wait   time.Duration
	body   []byte
}

var upstreamCases = []string{probe.CaseUpstreamDown, probe.CaseUpstream401, probe.CaseUpstream403, probe.CaseUpstream404, probe.CaseUpstream409,
	probe.CaseUpstream422, probe.CaseUpstream429, probe.CaseUpstream500, probe.CaseUpstream503}

// upstreams are the defects of tools with a service behind them.
func upstreams() []cage {
	defect := func(id, title, about, rule string, cases ...string) Defect {
		return Defect{ID: id, Tool: id, Title: title, About: about, Rule: rule, Cases: cases}
	}
	ask := func(c *call) { c.ask(1) }
	return []cage{
		{Defect: defect("up-masked", "a failing service looks like a success", "Whatever the service answers, the tool returns a success whose text begins with Error.", "EC001", upstreamCases...),
			up: ask, on: whenMissing, show: func(c *call) answer {
				return one(c.success("Error: the service behind the tool answered with status " + strconv.Itoa(c.reply.status)))
			}},
		{Defect: defect("up-stripped", "the status is lost", "However the service fails, the tool says the same, without status and delay.", "EC010", upstreamCases...),
			up: ask, on: whenMissing, show: tells(`"code":"UPSTREAM_ERROR","message":"The service behind the tool failed.","retryable":false`)},
		{Defect: defect("up-retries", "retries that nobody sees", "The tool asks the service three times before it tells of the failure, and does not say so.", "EC012", probe.CaseUpstream429, probe.CaseUpstream500, probe.CaseUpstream503),
			up: func(c *call) { c.ask(upstreamTries) }},
		{Defect: defect("up-garbage", "anything is passed on", "What the service answers with status 200 is returned as a result, whatever it is.", "EC001", probe.CaseUpstreamHTML, probe.CaseUpstreamNoise),
			up: ask, on: whenMissing, show: func(c *call) answer {
				if c.reply.status == http.StatusOK {
					return one(c.success(string(c.reply.body)))
				}
				return c.honest()
			}},
	}
}

// upstreamHonest is the tool that tells of every failure of the service behind it.
func upstreamHonest() *tool {
	t := honestTool("up-honest")
	t.about = "Reads a record from the service behind the zoo."
	t.find = func(c *call) { c.ask(1) }
	return t
}

// ask gets a record from the upstream, and tries again up to so many times in all.
func (c *call) ask(tries int) {
	name, _ := c.arguments.Path("name").Str()
	for range tries {
		if c.err = c.get("/records/" + url.PathEscape(name)); c.err == nil {
			c.found = string(c.reply.body)
			return
		}
	}
	c.state = whenMissing
	c.err = c.err.With(candor.WithTool(c.tool.name))
}

// get makes one request and says what became of it.
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
	defer func() { _ = res.Body.Close() }() // all that matters of it has been read
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

// failure is what an honest tool makes of the reply, nil if it is a good one.
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
	case r.status != http.StatusOK || !wire.Valid(r.body, wire.Limits{}):
		return candor.New(candor.CodeUpstreamBadResponse, "", details)
	}
	return nil
}
