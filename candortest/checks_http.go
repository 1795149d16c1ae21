package candortest

import (
	"fmt"
	"net/http"

	"github.com/candor-mcp/candor/wire"
)

var httpChecks = []check{
	web("http-rejection-body", Manners, "A refused POST says why in a JSON-RPC error of the type application/json.",
		"A client that meets text/plain where JSON-RPC belongs ends its session.",
		"The 4xx status, application/json and a JSON-RPC error.",
		"Write the refusal as JSON-RPC and keep the status.", rejectionBody),
	web("http-content-type", Manners, "A POST that is not application/json is refused with 415.",
		"text/plain is what any web page may send to a local server without asking.",
		"HTTP 415, or 400.", "Look at Content-Type before reading the body.",
		func(v *visit, c *httpConn) ruling {
			return v.status(c, http.MethodPost, http.Header{"Content-Type": {"text/plain"}}, 415, 400)
		}),
	web("http-method", Manners, "A method other than POST, GET and DELETE is refused with 405.",
		"A proxy or a person that uses the wrong method must not start anything.",
		"HTTP 405.", "Refuse every method that the endpoint does not have.",
		func(v *visit, c *httpConn) ruling { return v.status(c, http.MethodPut, nil, 405) }),
	web("http-origin", Protocol, "A request from a foreign Origin is refused with 403.",
		"Otherwise every web page that a user visits can use the server on their machine.",
		"HTTP 403.", "Compare Origin with a list; without the header let the request pass.",
		func(v *visit, c *httpConn) ruling {
			return v.status(c, http.MethodPost, http.Header{"Origin": {"https://evil.example"}, "Sec-Fetch-Site": {"cross-site"}}, 403)
		}),
	web("http-host", Manners, "A request for a foreign Host is refused with 403.",
		"A name that an attacker points at this machine makes a web page's request look like one of the same origin (DNS rebinding).",
		"HTTP 403, or 421.", "Compare Host with the names the server answers to.",
		func(v *visit, c *httpConn) ruling {
			return v.status(c, http.MethodPost, http.Header{"Host": {"evil.example"}}, 403, 421)
		}),
	web("http-oversize", Manners, "A body that is refused for its size is refused with 413.",
		"The status tells a client to send less; 400 or 500 make it try again.",
		"HTTP 413, or a normal answer.", "Bound the body and answer 413.", httpOversize),
	only(Era2025, web("http-unknown-session", Protocol, "A session that does not exist is answered with 404.",
		"404 is how a client learns to open a new one; with any other status it goes on failing.",
		"HTTP 404.", "Look the session up before anything else.",
		func(v *visit, c *httpConn) ruling {
			if c.sessionID() == "" {
				return lacking("the server keeps no sessions")
			}
			return v.status(c, http.MethodPost, http.Header{"Mcp-Session-Id": {"candortest-no-such-session"}}, 404)
		})),
	only(Era2026, web("http-header-mismatch", Protocol, "Headers that disagree with the body are refused with -32020 and 400.",
		"Proxies route and decide by the headers; a body that says something else goes past them.",
		"HTTP 400 with the JSON-RPC error -32020.", "Compare Mcp-Method, Mcp-Name and the version with the body.",
		headersDisagree)),
}

func web(id string, level Level, title, why, want, fix string, run func(*visit, *httpConn) ruling) check {
	return check{Rule: Rule{ID: id, Level: level, Title: title, Why: why, Want: want, Fix: fix}, on: overHTTP,
		run: opened(func(v *visit, c *client) ruling {
			if c.http == nil {
				return lacking("the connection is not HTTP")
			}
			return run(v, c.http)
		})}
}

func only(era Era, c check) check { c.Eras = []Era{era}; return c }

// post sends one HTTP request with a valid message and the headers in odd, and records it in the transcript.
func (v *visit) post(c *httpConn, method string, body []byte, odd http.Header) (reply, error) {
	header := v.era.header(body, v.facts.version)
	for name, values := range odd {
		header[name] = values
	}
	v.log.sent(fmt.Appendf(nil, "%s %v %s", method, odd, body))
	ctx, cancel := v.deadline()
	defer cancel()
	r, err := c.ask(ctx, method, body, header)
	if err == nil {
		v.log.got(r.Frame)
	}
	return r, err
}

// status sends a request in which only the header or the method is unusual, and requires one of the statuses in want.
func (v *visit) status(c *httpConn, method string, odd http.Header, want ...int) ruling {
	r, err := v.post(c, method, v.era.probe("1"), odd)
	if err != nil {
		return bad("the request was not answered: %v", err)
	}
	for _, status := range want {
		if r.Status == status {
			return good()
		}
	}
	return bad("the status is %d and not %d", r.Status, want[0])
}

func rejectionBody(v *visit, c *httpConn) ruling {
	for _, body := range []string{`hello world`, `[]`, ``} {
		r, err := v.post(c, http.MethodPost, []byte(body), nil)
		if err != nil {
			return bad("the request was not answered: %v", err)
		}
		if r.Status < 400 {
			continue // refused in JSON-RPC or accepted: other checks cover that
		}
		m := wire.Parse(r.Data, wire.Limits{})
		if r.Type != "application/json" || m.Shape() != wire.KindError {
			return bad("HTTP %d came with a body of the type %q and not with a JSON-RPC error", r.Status, r.Type)
		}
	}
	return good()
}

func httpOversize(v *visit, c *httpConn) ruling {
	padding := make([]byte, v.tour.o.Oversize)
	for i := range padding {
		padding[i] = 'a'
	}
	r, err := v.post(c, http.MethodPost, v.era.request("1", "tools/list", `{"candortest":"`+string(padding)+`"}`), nil)
	if err != nil {
		return bad("the request was not answered: %v", err)
	}
	if r.Status >= 400 && r.Status != http.StatusRequestEntityTooLarge {
		return bad("the status is %d and not 413", r.Status)
	}
	return good()
}

func headersDisagree(v *visit, c *httpConn) ruling {
	r, err := v.post(c, http.MethodPost, v.era.probe("1"), http.Header{"Mcp-Method": {"tools/list"}})
	if err != nil {
		return bad("the request was not answered: %v", err)
	}
	m := wire.Parse(r.Data, wire.Limits{})
	if code, _ := m.Error().Path("code").Int64(); r.Status != http.StatusBadRequest || code != headerMismatch {
		return bad("the answer is HTTP %d with the code %d", r.Status, code)
	}
	return good()
}
