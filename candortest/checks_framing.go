package candortest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

const handshakeID = "handshake"

var openingChecks = []check{
	{Rule: Rule{ID: handshakeID, Level: Protocol,
		Title: "The server opens the conversation as its era demands.",
		Why:   "Without it no client can say anything else.",
		Want:  "initialize is answered with protocolVersion and capabilities; at 2026-07-28 server/discover with supportedVersions and capabilities.",
		Fix:   "Answer the opening request of at least one era; check that the command or address is the right one."}},
	{Rule: Rule{ID: "unsupported-version", Level: Protocol,
		Title: "A version that the server does not speak is answered with one that it does.",
		Why:   "A newer client must learn what it can fall back to; otherwise it gives up.",
		Want:  "At 2025-11-25 initialize is answered with a version of the server's own; at 2026-07-28 the error -32022 lists data.supported.",
		Fix:   "Compare the wanted version with your list; never echo one you do not know."},
		run: unsupportedVersion},
	{Rule: Rule{ID: "before-initialize", Level: Manners, Eras: []Era{Era2025},
		Title: "A request before initialize is answered, and initialize still works.",
		Why:   "A client that starts too early waits forever, or has to start the server again.",
		Want:  "A result or an error with the request's id, then a normal initialize.",
		Fix:   "Answer with an error that says to initialize first, and keep the connection."},
		run: beforeInitialize},
	{Rule: Rule{ID: "missing-meta", Level: Protocol, Eras: []Era{Era2026},
		Title: "A request that names the version but not the client's capabilities is refused.",
		Why:   "The capabilities are demanded of every request; a server that guesses them may ask a client for what it cannot do.",
		Want:  "The error -32602 with the request's id.",
		Fix:   "Check _meta of every request for the keys of the specification."},
		run: opened(missingMeta)},
}

func unsupportedVersion(v *visit) ruling {
	c, err := v.bare()
	if err != nil {
		return bad("%v", err)
	}
	id := c.id()
	raw := bytes.Replace(c.era.opening(id), []byte(`"`+string(c.era)+`"`), []byte(`"2099-01-01"`), 1)
	header := c.era.header(raw, c.version)
	if c.era == Era2026 {
		header.Set("Mcp-Protocol-Version", "2099-01-01") // header and body must agree, or the mismatch is reported instead
	}
	if err := c.sendWith(v.ctx, raw, header); err != nil {
		return bad("%v", err)
	}
	var answer said
	if err := c.receive(v.ctx, c.wait(), func(s said) bool { answer = s; return true }); err != nil {
		return bad("the request was not answered: %v", err)
	}
	if c.era == Era2026 {
		if code, _ := answer.code(); code != badVersion {
			return bad("the answer is not the error %d", badVersion)
		}
		if answer.msg.Error().Path("data", "supported").Len() == 0 {
			return bad("the error does not list data.supported")
		}
		return good()
	}
	version, ok := answer.msg.Result().Path("protocolVersion").Str()
	if _, refused := answer.code(); refused {
		return good() // the specification also allows the error
	}
	if !ok || version == "2099-01-01" {
		return bad("the answer names no version of the server's own")
	}
	return good()
}

func beforeInitialize(v *visit) ruling {
	c, err := v.bare()
	if err != nil {
		return bad("%v", err)
	}
	if _, err := c.call(v.ctx, "tools/list", ""); err != nil {
		return bad("the request was not answered: %v", err)
	}
	if _, err := c.shake(v.ctx); err != nil {
		return bad("afterwards the conversation could not be opened: %v", err)
	}
	return good()
}

func missingMeta(v *visit, c *client) ruling {
	id := c.id()
	raw := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/list","params":{"_meta":{%s:%q}}}`, id, quote(metaVersion), c.era)
	answer, err := c.ask(v.ctx, []byte(raw), id)
	if err != nil {
		return bad("the request was not answered: %v", err)
	}
	if code, _ := answer.code(); code != invalidParams {
		return bad("the answer is not the error %d", invalidParams)
	}
	return good()
}

var framingChecks = []check{
	framing("parse-error", "A line that is not JSON is answered with -32700.",
		"A server that ends or stays silent over one bad line takes the whole session with it.",
		"The error -32700 without an id.",
		stimulus{name: "a line of prose", raw: fixed(`hello world`), codes: []int64{parseError}},
		stimulus{name: "a line of brackets", raw: fixed(`}{`), codes: []int64{parseError}}),
	framing("truncated-message", "A message that breaks off is answered with -32700, and the next one is read as usual.",
		"A reader that waits for the rest swallows the next message, and both callers wait forever.",
		"The error -32700, then the answer to the next message.",
		stimulus{name: "a message that breaks off", raw: fixed(`{"jsonrpc":"2.0","id":77,"method":`), codes: []int64{parseError}}),
	framing("not-an-object", "JSON that is not an object is answered with -32600.",
		"A value of the wrong type must not end the session.",
		"The error -32600 without an id.",
		stimulus{name: "null", raw: fixed(`null`), codes: []int64{invalidRequest}},
		stimulus{name: "a number", raw: fixed(`5`), codes: []int64{invalidRequest}},
		stimulus{name: "a string", raw: fixed(`"tools/list"`), codes: []int64{invalidRequest}}),
	{Rule: Rule{ID: "batch", Level: Protocol, Fix: framingFix,
		Title: "A batch is refused with -32600: MCP has none since 2025-06-18.",
		Why:   "A server that carries out half of a batch, or ends, leaves the client guessing what has happened.",
		Want:  "One error -32600 without an id."},
		run: opened(batch)},
	framing("jsonrpc-version", "A message without jsonrpc \"2.0\" is refused with -32600.",
		"Other versions mean other rules; carrying them out is guessing.",
		"The error -32600.",
		stimulus{name: "no jsonrpc", raw: without(`"jsonrpc":"2.0",`), codes: []int64{invalidRequest}},
		stimulus{name: `jsonrpc "1.0"`, raw: changed(`"2.0"`, `"1.0"`), codes: []int64{invalidRequest}}),
	framing("method-type", "A method that is not a string is refused with -32600.",
		"A decoder that fails here often ends the session.",
		"The error -32600.",
		stimulus{name: "method 5", raw: fixed(`{"jsonrpc":"2.0","id":78,"method":5}`), codes: []int64{invalidRequest}},
		stimulus{name: "method null", raw: fixed(`{"jsonrpc":"2.0","id":79,"method":null}`), codes: []int64{invalidRequest}}),
	framing("id-type", "An id that is not a string or number is refused with -32600.",
		"MCP forbids null and knows no others; an answer to such an id reaches no caller.",
		"The error -32600 without that id.",
		stimulus{name: "id true", raw: withID(`true`), codes: []int64{invalidRequest}},
		stimulus{name: "id {}", raw: withID(`{}`), codes: []int64{invalidRequest}},
		stimulus{name: "id null", raw: withID(`null`), codes: []int64{invalidRequest}}),
	manners(framing("deep-nesting", "A message nested 10,000 deep is answered and survived.",
		"Recursion without a bound ends the process, for every client at once.",
		"Any answer, and answers to later requests.",
		stimulus{name: "10,000 arrays", orResult: true, raw: deep})),
	{Rule: Rule{ID: "bad-utf8", Level: Protocol,
		Title: "Bytes that are not UTF-8 are answered, in UTF-8.",
		Why:   "Messages are UTF-8; a server that echoes the bytes makes its own answer unreadable.",
		Want:  "An error or a result in valid UTF-8.",
		Fix:   "Check the encoding of what comes in, and never copy raw input into an answer."},
		run: opened(badUTF8)},
	manners(framing("byte-order-mark", "A message behind a byte order mark is answered.",
		"Some platforms write one unasked; silence makes the first request hang.",
		"The answer to the message, or an error.",
		stimulus{name: "a byte order mark", orResult: true, raw: func(c *client) []byte { return append([]byte("\ufeff"), c.era.probe(`"marked"`)...) }})),
	onLines(framing("crlf", "A line that ends in CR LF is read as one that ends in LF.",
		"CR is white space in JSON, and clients on Windows send it.",
		"The usual answer.",
		stimulus{name: "CR LF", orResult: true, codes: []int64{}, raw: func(c *client) []byte { return append(c.era.probe(`"crlf"`), '\r') }})),
	onLines(manners(framing("two-on-a-line", "Two messages on one line are not lost.",
		"A reader that takes the first and drops the rest leaves a call without an answer.",
		"The error -32700 or -32600.",
		stimulus{name: "two messages", codes: []int64{parseError, invalidRequest},
			raw: func(c *client) []byte { return append(c.era.probe(`"first"`), c.era.probe(`"second"`)...) }}))),
	{Rule: Rule{ID: "unreadable-id-omitted", Level: Protocol,
		Title: "The error for a message whose id cannot be read has no id; null is not one.",
		Why:   "MCP's schema forbids null, and clients that check it drop the whole error.",
		Want:  `{"jsonrpc":"2.0","error":{…}} without id.`,
		Fix:   "Leave the member out instead of writing null."},
		run: opened(unreadableID)},
	{Rule: Rule{ID: "oversize", Level: Manners,
		Title: "A message that is too large is refused, and the next one is read as usual.",
		Why:   "A server that ends, or stops reading, lets any client end the session of all; one that is silent lets it wait.",
		Want:  "A result, an error, or HTTP 413; then the answer to the next message.",
		Fix:   "Bound the reader, drain what is too long up to its line end, and answer with an error."},
		run: opened(oversize)},
}

const framingFix = "Read one message at a time, answer what cannot be read with an error, and go on with the next."

func framing(id, title, why, want string, stimuli ...stimulus) check {
	return check{Rule: Rule{ID: id, Level: Protocol, Title: title, Why: why, Want: want, Fix: framingFix},
		run: opened(func(v *visit, c *client) ruling { return c.provokeEach(v, stimuli...) })}
}

func manners(c check) check { c.Level = Manners; return c }

func onLines(c check) check { c.on = overLines; return c }

// without, changed and withID break a request that the server would otherwise answer with a result.
func without(part string) func(*client) []byte { return changed(part, "") }

func changed(from, to string) func(*client) []byte {
	return func(c *client) []byte {
		return []byte(strings.Replace(string(c.era.probe(c.id())), from, to, 1))
	}
}

func withID(id string) func(*client) []byte {
	return func(c *client) []byte { return c.era.probe(id) }
}

func deep(c *client) []byte {
	const depth = 10_000
	return c.era.request(`"deep"`, "tools/list", `{"candortest":`+strings.Repeat("[", depth)+strings.Repeat("]", depth)+`}`)
}

func batch(v *visit, c *client) ruling {
	if v.facts.older("2025-06-18") {
		return lacking("version %s may have batches", v.facts.version)
	}
	ofOne := func(c *client) []byte { return fmt.Appendf(nil, "[%s]", c.era.probe(`"batched"`)) }
	return c.provokeEach(v,
		stimulus{name: "an empty batch", raw: fixed(`[]`), codes: []int64{invalidRequest}},
		stimulus{name: "a batch of one", raw: ofOne, codes: []int64{invalidRequest}})
}

func badUTF8(v *visit, c *client) ruling {
	raw := bytes.ReplaceAll(c.era.request(`"utf8"`, "tools/call", `{"name":"candortest_?","arguments":{}}`), []byte("_?"), []byte("_\xff\xfe"))
	answers, dead := c.provoke(v.ctx, raw, 1)
	if len(answers) == 0 {
		return bad("%v", errors.Join(errors.New("nothing came back"), dead))
	}
	for _, a := range answers {
		if !utf8.Valid(a.Data) {
			return bad("the answer is not UTF-8")
		}
	}
	if dead != nil {
		return bad("%v", dead)
	}
	return good()
}

func unreadableID(v *visit, c *client) ruling {
	answers, _ := c.provoke(v.ctx, []byte(`hello world`), 1) // another check covers survival
	if len(answers) == 0 {
		return lacking("the server does not answer such a message; see parse-error")
	}
	for _, a := range answers {
		if id, ok := a.msg.Value().Get("id"); ok {
			return bad("the error has the id %s", show(id.Raw()))
		}
	}
	return good()
}

func oversize(v *visit, c *client) ruling {
	padding := strings.Repeat("a", v.tour.o.Oversize)
	raw := c.era.request(`"oversize"`, "tools/list", `{"candortest":"`+padding+`"}`)
	// Reading a large message takes time, even for a server that answers other requests meanwhile: wait for this answer first.
	err := c.send(v.ctx, raw)
	if silent := c.receive(v.ctx, c.wait(), func(said) bool { return true }); silent != nil {
		return bad("nothing came back: %v", errors.Join(err, silent))
	}
	return c.alive(v)
}
