package candortest

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/candor-mcp/candor/internal/mcpclient"
	"github.com/candor-mcp/candor/wire"
)

var httpChecks = []check{
	{Rule: Rule{ID: "http-rejection-body", Level: manners,
		Title: "A refused POST says why in a JSON-RPC error of the type application/json.",
		Why:   "A client that meets text/plain where JSON-RPC belongs ends its session.",
		Fix:   "Write the refusal as JSON-RPC and keep the status."},
		on: overHTTP, run: rejectionBody},
	{Rule: Rule{ID: "http-content-type", Level: manners,
		Title: "A POST that is not application/json is refused with 415.",
		Why:   "text/plain is what any web page may send to a local server without asking.",
		Fix:   "Look at Content-Type before reading the body."},
		on: overHTTP, run: status(http.MethodPost, http.Header{"Content-Type": {"text/plain"}}, 415, 400)},
	{Rule: Rule{ID: "http-method", Level: manners,
		Title: "A method other than POST, GET and DELETE is refused with 405.",
		Why:   "A proxy or a person that uses the wrong method must not start anything.",
		Fix:   "Refuse every method that the endpoint does not have."},
		on: overHTTP, run: status(http.MethodPut, nil, 405)},
	{Rule: Rule{ID: "http-origin", Level: protocol,
		Title: "A request from a foreign Origin is refused with 403.",
		Why:   "Otherwise every web page that a user visits can use the server on their machine.",
		Fix:   "Compare Origin with a list; without the header let the request pass."},
		on: overHTTP, run: status(http.MethodPost, http.Header{"Origin": {"https://evil.example"}, "Sec-Fetch-Site": {"cross-site"}}, 403)},
	{Rule: Rule{ID: "http-host", Level: manners,
		Title: "A request for a foreign Host is refused with 403.",
		Why:   "A name that an attacker points at this machine makes a web page's request look like one of the same origin (DNS rebinding).",
		Fix:   "Compare Host with the names of the server."},
		on: overHTTP, run: status(http.MethodPost, http.Header{"Host": {"evil.example"}}, 403, 421)},
	{Rule: Rule{ID: "http-oversize", Level: manners,
		Title: "A body that is refused for its size is refused with 413.",
		Why:   "The status tells a client to send less; 400 or 500 make it try again.",
		Fix:   "Bound the body and answer 413."},
		on: overHTTP, run: httpOversize},
	{Rule: Rule{ID: "http-unknown-session", Level: protocol, Eras: []string{era2025},
		Title: "A session that does not exist is answered with 404.",
		Why:   "404 is how a client learns to open a new one; with any other status it continues to fail.",
		Fix:   "Look the session up before anything else."},
		on: overHTTP, run: unknownSession},
	{Rule: Rule{ID: "http-header-mismatch", Level: protocol, Eras: []string{era2026},
		Title: "Headers that disagree with the body are refused with -32020 and 400.",
		Why:   "Proxies route and decide by the headers; a body that says something else passes them.",
		Fix:   "Compare Mcp-Method, Mcp-Name and the version with the body."},
		on: overHTTP, run: headersDisagree},
}

// post sends one HTTP request with the headers in odd, and records it in the transcript.
func (v *visit) post(c *client, method string, body []byte, odd http.Header) (mcpclient.Message, error) {
	v.log.sent.add("", fmt.Appendf(nil, "%s %v %s", method, odd, body))
	r, err := c.http.Ask(v.ctx, method, body, odd)
	if err != nil {
		return r, fmt.Errorf("the request was not answered: %w", err)
	}
	v.log.got.message(r)
	return r, nil
}

// status returns a check that sends a request in which only the header or the method is unusual, and requires a status in want.
func status(method string, odd http.Header, want ...int) func(*visit, *client) error {
	return func(v *visit, c *client) error {
		r, err := v.post(c, method, probeIn(v.era, "1"), odd)
		if err == nil && !slices.Contains(want, r.Status) {
			err = fmt.Errorf("the status is %d and not %d", r.Status, want[0])
		}
		return err
	}
}

func unknownSession(v *visit, c *client) error {
	if c.http.Session() == "" {
		return skip("the server keeps no sessions")
	}
	return status(http.MethodPost, http.Header{"Mcp-Session-Id": {"candortest-no-such-session"}}, 404)(v, c)
}

func rejectionBody(v *visit, c *client) error {
	for _, body := range []string{`hello world`, `[]`, ``} {
		r, err := v.post(c, http.MethodPost, []byte(body), nil)
		if err != nil {
			return err
		}
		m := wire.Parse(r.Data, wire.Limits{})
		if r.Status >= 400 && (r.Type != "application/json" || m.Shape() != wire.KindError) {
			return fmt.Errorf("HTTP %d came with a body of the type %q and not with a JSON-RPC error", r.Status, r.Type)
		}
	}
	return nil
}

func httpOversize(v *visit, c *client) error {
	r, err := v.post(c, http.MethodPost, c.large("1"), nil)
	if err == nil && r.Status >= 400 && r.Status != http.StatusRequestEntityTooLarge {
		err = fmt.Errorf("the status is %d and not 413", r.Status)
	}
	return err
}

func headersDisagree(v *visit, c *client) error {
	r, err := v.post(c, http.MethodPost, probeIn(v.era, "1"), http.Header{"Mcp-Method": {"tools/list"}})
	if err != nil {
		return err
	}
	m := wire.Parse(r.Data, wire.Limits{})
	if code, _ := m.Error().Path("code").Int64(); r.Status != http.StatusBadRequest || code != headerMismatch {
		return fmt.Errorf("the answer is HTTP %d with the code %d", r.Status, code)
	}
	return nil
}
