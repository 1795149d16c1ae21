package candortest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/candor-mcp/candor/wire"
)

// The numbers of JSON-RPC errors.
const (
	parseError     = -32700
	invalidRequest = -32600
	methodNotFound = -32601
	invalidParams  = -32602
	headerMismatch = -32020
	badVersion     = -32022
	noResource     = -32002 // allowed in era2025
)

const (
	handshakeID = "handshake"
	unknownTime = "2099-01-01" // a version that no server supports
	parallel    = 50

	needsTool      = "Options.Tools, or a tool marked readOnlyHint"
	needsFailing   = "Options.Failing"
	needsPanicking = "Options.Panicking"
	needsSlow      = "Options.Slow"
)

var openingChecks = []check{
	{Rule: Rule{ID: handshakeID, Level: protocol,
		Title: "The server opens the conversation as its era demands.",
		Why:   "Without it no client can say anything else.",
		Fix:   "Answer the opening request of at least one era; check that the command or address is the right one."}},
	{Rule: Rule{ID: "unsupported-version", Level: protocol,
		Title: "A version that the server does not support is answered with one that it does.",
		Why:   "A newer client must learn what it can fall back to; otherwise it gives up.",
		Fix:   "Compare the wanted version with your list; never echo one you do not know."},
		run: unsupportedVersion},
	{Rule: Rule{ID: "before-initialize", Level: manners, Eras: []string{era2025},
		Title: "A request before initialize is answered, and initialize still works.",
		Why:   "A client that starts too early waits forever, or has to start the server again.",
		Fix:   "Answer with an error that says to initialize first, and keep the connection."},
		run: beforeInitialize},
	{Rule: Rule{ID: "missing-meta", Level: protocol, Eras: []string{era2026},
		Title: "A request that names the version but not the client's capabilities is refused.",
		Why:   "The capabilities are demanded of every request; a server that guesses them may ask a client for what it cannot do.",
		Fix:   "Check _meta of every request for the keys of the specification, and answer -32602 if one is missing."},
		send: []stimulus{{name: "no capabilities", codes: []int64{invalidParams}, raw: func(c *client) []byte {
			return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"method":"tools/list","params":{"_meta":{%q:%q}}}`, c.id(), metaVersion, c.era)
		}}}},
}

func unsupportedVersion(v *visit, _ *client) error {
	c, err := v.bare()
	if err != nil {
		return err
	}
	raw := bytes.Replace(openingIn(c.era, c.id()), []byte(`"`+string(c.era)+`"`), []byte(`"`+unknownTime+`"`), 1)
	c.Agree(unknownTime) // header and body must agree, or the mismatch is reported instead
	if err := c.send(v.ctx, raw); err != nil {
		return err
	}
	var answer said
	if err := c.receive(v.ctx, c.wait(), func(s said) bool { answer = s; return true }); err != nil {
		return fmt.Errorf("the request was not answered: %w", err)
	}
	code, refused := answer.code()
	version, _ := answer.msg.Result().Path("protocolVersion").Str()
	switch {
	case c.era == era2025 && (refused || version != "" && version != unknownTime): // the specification also allows the error
		return nil
	case c.era == era2025:
		return errors.New("the answer does not name a version that the server supports")
	case code != badVersion:
		return fmt.Errorf("the answer is not the error %d", badVersion)
	case answer.msg.Error().Path("data", "supported").Len() == 0:
		return errors.New("the error does not list data.supported")
	}
	return nil
}

func beforeInitialize(v *visit, _ *client) error {
	c, err := v.bare()
	if err != nil {
		return err
	}
	if _, err := c.call(v.ctx, "tools/list", ""); err != nil {
		return fmt.Errorf("the request was not answered: %w", err)
	}
	if _, err := c.shake(v.ctx); err != nil {
		return fmt.Errorf("afterwards the conversation could not be opened: %w", err)
	}
	return nil
}

const framingFix = "Read one message at a time, answer what cannot be read with an error, and continue with the next."

var framingChecks = []check{
	{Rule: Rule{ID: "parse-error", Level: protocol, Fix: framingFix,
		Title: "A line that is not JSON is answered with -32700.",
		Why:   "A server that ends or stays silent over one bad line takes the whole session with it."},
		send: []stimulus{fixed("a line of prose", `hello world`, parseError), fixed("a line of brackets", `}{`, parseError)}},
	{Rule: Rule{ID: "truncated-message", Level: protocol, Fix: framingFix,
		Title: "A message that breaks off is answered with -32700, and the next one is read as usual.",
		Why:   "A reader that waits for the rest swallows the next message, and both callers wait forever."},
		send: []stimulus{fixed("a message that breaks off", `{"jsonrpc":"2.0","id":77,"method":`, parseError)}},
	{Rule: Rule{ID: "not-an-object", Level: protocol, Fix: framingFix,
		Title: "JSON that is not an object is answered with -32600.",
		Why:   "A value of the wrong type must not end the session."},
		send: []stimulus{fixed("null", `null`, invalidRequest), fixed("a number", `5`, invalidRequest), fixed("a string", `"tools/list"`, invalidRequest)}},
	{Rule: Rule{ID: "batch", Level: protocol, Fix: framingFix,
		Title: "A batch is refused with -32600: MCP removed batches in 2025-06-18.",
		Why:   "A server that carries out half of a batch, or ends, leaves the client guessing what has happened."},
		since: "2025-06-18",
		send: []stimulus{fixed("an empty batch", `[]`, invalidRequest), {name: "a batch of one", codes: []int64{invalidRequest},
			raw: func(c *client) []byte { return fmt.Appendf(nil, "[%s]", probeIn(c.era, `"batched"`)) }}}},
	{Rule: Rule{ID: "jsonrpc-version", Level: protocol, Fix: framingFix,
		Title: "A message without jsonrpc \"2.0\" is refused with -32600.",
		Why:   "Other versions mean other rules; carrying them out is guessing."},
		send: []stimulus{changed("no jsonrpc", `"jsonrpc":"2.0",`, ""), changed(`jsonrpc "1.0"`, `"2.0"`, `"1.0"`)}},
	{Rule: Rule{ID: "method-type", Level: protocol, Fix: framingFix,
		Title: "A method that is not a string is refused with -32600.",
		Why:   "A decoder that fails here often ends the session."},
		send: []stimulus{fixed("method 5", `{"jsonrpc":"2.0","id":78,"method":5}`, invalidRequest),
			fixed("method null", `{"jsonrpc":"2.0","id":79,"method":null}`, invalidRequest)}},
	{Rule: Rule{ID: "id-type", Level: protocol, Fix: framingFix,
		Title: "An id that is not a string or number is refused with -32600.",
		Why:   "MCP forbids null and knows no others; an answer to such an id reaches no caller."},
		send: []stimulus{withID(`true`), withID(`{}`), withID(`null`)}},
	{Rule: Rule{ID: "deep-nesting", Level: manners, Fix: framingFix,
		Title: "A message nested 10,000 deep is answered and survived.",
		Why:   "Recursion without a bound ends the process, for every client at once."},
		send: []stimulus{{name: "10,000 arrays", orResult: true, raw: func(c *client) []byte {
			return requestIn(c.era, `"deep"`, "tools/list", `{"candortest":`+strings.Repeat("[", 10_000)+strings.Repeat("]", 10_000)+`}`)
		}}}},
	{Rule: Rule{ID: "bad-utf8", Level: protocol,
		Title: "Bytes that are not UTF-8 are answered, in UTF-8.",
		Why:   "Messages are UTF-8; a server that echoes the bytes makes its own answer unreadable.",
		Fix:   "Check the encoding of what comes in, and never copy raw input into an answer."},
		run: badUTF8},
	{Rule: Rule{ID: "byte-order-mark", Level: manners, Fix: framingFix,
		Title: "A message behind a byte order mark is answered.",
		Why:   "Some platforms write one unasked; silence makes the first request hang."},
		send: []stimulus{{name: "a byte order mark", orResult: true, raw: func(c *client) []byte { return append([]byte("\ufeff"), probeIn(c.era, `"marked"`)...) }}}},
	{Rule: Rule{ID: "crlf", Level: protocol, Fix: framingFix,
		Title: "A line that ends in CR LF is read as one that ends in LF.",
		Why:   "CR is white space in JSON, and clients on Windows send it."},
		on:   overLines,
		send: []stimulus{{name: "CR LF", orResult: true, codes: []int64{}, raw: func(c *client) []byte { return append(probeIn(c.era, `"crlf"`), '\r') }}}},
	{Rule: Rule{ID: "two-on-a-line", Level: manners, Fix: framingFix,
		Title: "Two messages on one line are not lost.",
		Why:   "A reader that takes the first and drops the rest leaves a call without an answer."},
		on: overLines,
		send: []stimulus{{name: "two messages", codes: []int64{parseError, invalidRequest},
			raw: func(c *client) []byte { return append(probeIn(c.era, `"first"`), probeIn(c.era, `"second"`)...) }}}},
	{Rule: Rule{ID: "unreadable-id-omitted", Level: protocol,
		Title: "The error for a message without a readable id omits the id; null is not an id."},
		same: "EC048", run: unreadableID},
	{Rule: Rule{ID: "oversize", Level: manners,
		Title: "A message that is too large is refused, and the next one is read as usual.",
		Why:   "A server that ends, or stops reading, lets any client end the session of all; one that is silent lets it wait.",
		Fix:   "Bound the reader, drain what is too long up to its line end, and answer with an error."},
		run: oversize},
}

func badUTF8(v *visit, c *client) error {
	raw := bytes.ReplaceAll(requestIn(c.era, `"utf8"`, "tools/call", `{"name":"candortest_?","arguments":{}}`), []byte("_?"), []byte("_\xff\xfe"))
	answers, dead := c.provoke(v.ctx, raw, 1)
	if len(answers) == 0 {
		return errors.Join(errors.New("nothing came back"), dead)
	}
	if slices.ContainsFunc(answers, func(a said) bool { return !utf8.Valid(a.Data) }) {
		return errors.New("the answer is not UTF-8")
	}
	return dead
}

func unreadableID(v *visit, c *client) error {
	answers, _ := c.provoke(v.ctx, []byte(`hello world`), 1) // another check covers survival
	if len(answers) == 0 {
		return skip("the server does not answer such a message; see parse-error")
	}
	for _, a := range answers {
		if id, ok := a.msg.Value().Get("id"); ok {
			return fmt.Errorf("the error has the id %s", show(id.Raw()))
		}
	}
	return nil
}

func oversize(v *visit, c *client) error {
	// Reading a large message takes time, even for a server that answers other requests meanwhile: wait for this answer first.
	err := c.send(v.ctx, c.large(`"oversize"`))
	if silent := c.receive(v.ctx, c.wait(), func(said) bool { return true }); silent != nil {
		return fmt.Errorf("nothing came back: %w", errors.Join(err, silent))
	}
	return c.survives(v.ctx)
}

// large returns a request of the size in the options.
func (c *client) large(id string) []byte {
	return requestIn(c.era, id, "tools/list", `{"candortest":"`+strings.Repeat("a", c.tour.o.Oversize)+`"}`)
}

const idFix = "Keep the id as the bytes it came in, and write them back."

var idChecks = []check{
	{Rule: Rule{ID: "id-echo", Level: protocol, Fix: idFix,
		Title: "An answer carries the id of its request: the same string or the same number.",
		Why:   "A client finds the caller by the id; 1 and \"1\" are different callers."},
		run: echoes(false, `1`, `"1"`, `0`, `-7`, `""`, `"candor ü\n\"quoted\""`)},
	{Rule: Rule{ID: "id-large-integer", Level: protocol, Fix: idFix,
		Title: "An id beyond 2^53 comes back digit by digit, or is refused with -32600.",
		Why:   "A number that went through a float64 names another call, or none."},
		run: echoes(true, `9007199254740993`)},
	{Rule: Rule{ID: "id-fractional", Level: protocol, Fix: idFix,
		Title: "An id with a fraction comes back as it was, or is refused with -32600.",
		Why:   "An id that is cut to an integer answers another call."},
		run: echoes(true, `1.5`)},
	{Rule: Rule{ID: "duplicate-id", Level: manners, Needs: needsSlow,
		Title: "A second request with the id of one that is still open is not lost.",
		Why:   "A call that is silently dropped keeps its caller waiting forever.",
		Fix:   "Keep the ids that are open, and refuse one that is used twice."},
		on: overLines, run: duplicateID},
}

func echoes(mayRefuse bool, ids ...string) func(*visit, *client) error {
	return func(v *visit, c *client) error {
		for _, id := range ids {
			answers, dead := c.provoke(v.ctx, probeIn(c.era, id), 1)
			if dead != nil {
				return fmt.Errorf("id %s: %w", id, dead)
			}
			if len(answers) != 1 {
				return fmt.Errorf("id %s: %d answers came back", id, len(answers))
			}
			a := answers[0]
			code, _ := a.code()
			if refused := a.rejection() || code == invalidRequest; !(refused && mayRefuse) && !a.msg.ID().Equal(wire.ID(id)) {
				return fmt.Errorf("the answer to the id %s carries the id %s", id, show(a.msg.ID()))
			}
		}
		return nil
	}
}

func duplicateID(v *visit, c *client) error {
	raw, id := c.request("tools/call", c.tour.o.Slow.params())
	if err := c.send(v.ctx, raw); err != nil {
		return err
	}
	answers, dead := c.provoke(v.ctx, probeIn(c.era, id), 1)
	if dead != nil {
		return dead
	}
	if !slices.ContainsFunc(answers, func(a said) bool { return a.msg.ID() == nil || a.msg.ID().Equal(wire.ID(id)) }) {
		return errors.New("the second request was never answered")
	}
	return nil
}

var (
	unknownMethod   = request("an unknown method", "candortest/no_such_method", "", methodNotFound)
	unknownTool     = request("an unknown tool", "tools/call", `{"name":"candortest_no_such_tool","arguments":{}}`, invalidParams)
	unknownResource = request("an unknown resource", "resources/read", `{"uri":"candortest://no-such-resource"}`, invalidParams, noResource)
	unknownPrompt   = request("an unknown prompt", "prompts/get", `{"name":"candortest_no_such_prompt"}`, invalidParams)
	badCursor       = request("a bad cursor", "tools/list", `{"cursor":"candortest-no-such-cursor"}`, invalidParams)
)

// refusedParams are the error codes for a request that is JSON-RPC, or nearly, but not MCP. Over HTTP at 2026-07-28 such a
// request also disagrees with its headers.
var refusedParams = []int64{invalidRequest, invalidParams, headerMismatch}

const (
	paramsWhy = "It is a malformed request, regardless of the tool; a handler that is entered with nothing breaks in its own way."
	paramsFix = "Decode and check params before looking for the tool."
)

var methodChecks = []check{
	{Rule: Rule{ID: "unknown-method", Level: protocol,
		Title: "A method that the server does not have is answered with -32601 and the request's id.",
		Why:   "Clients try newer methods and fall back on this number; anything else ends their session.",
		Fix:   "Answer unknown methods in the dispatcher, over HTTP with a JSON-RPC body too."},
		ids: true, send: []stimulus{unknownMethod}},
	{Rule: Rule{ID: "unknown-tool", Level: protocol, Title: "A tool that does not exist is answered with -32602."},
		same: "EC005", offers: "tools", ids: true, send: []stimulus{unknownTool}},
	{Rule: Rule{ID: "unknown-resource", Level: protocol,
		Title: "A resource that does not exist is an error, not an empty result.",
		Why:   "Empty contents read as an empty file, and a model believes them.",
		Fix:   "Refuse an unknown URI with -32602, at 2025-11-25 also -32002, and the URI in data."},
		offers: "resources", ids: true, send: []stimulus{unknownResource}},
	{Rule: Rule{ID: "unknown-prompt", Level: protocol,
		Title: "A prompt that does not exist is answered with -32602.",
		Why:   "An empty prompt would be sent to the model as if its author had written it.",
		Fix:   "Refuse an unknown name."},
		offers: "prompts", ids: true, send: []stimulus{unknownPrompt}},
	{Rule: Rule{ID: "bad-cursor", Level: protocol,
		Title: "A cursor that the server did not give is answered with -32602.",
		Why:   "A client that is sent back to the first page without notice never reaches the end.",
		Fix:   "Check the cursor, even if there is only one page."},
		offers: "tools", ids: true, send: []stimulus{badCursor}},
	{Rule: Rule{ID: "params-missing", Level: protocol, Title: "tools/call without params is refused.", Why: paramsWhy, Fix: paramsFix},
		ids: true, send: []stimulus{rawCall("no params", ``), rawCall("params null", `,"params":null`)}},
	{Rule: Rule{ID: "params-type", Level: protocol, Title: "tools/call with params of the wrong type is refused.", Why: paramsWhy, Fix: paramsFix},
		ids: true, send: []stimulus{rawCall("params a string", `,"params":"text"`), rawCall("params an array", `,"params":[]`),
			request("no name", "tools/call", `{"arguments":{}}`, refusedParams...), request("name 5", "tools/call", `{"name":5,"arguments":{}}`, refusedParams...)}},
}

const (
	quietWhy = "No caller waits for such an answer; a client takes it for another call's, or ends the connection."
	quietFix = "Answer only requests with an id; do not send an error either. Over HTTP answer 202 without a body, or a 4xx status."
)

var silenceChecks = []check{
	{Rule: Rule{ID: "notification-silent", Level: protocol, Title: "A notification is never answered.", Why: quietWhy, Fix: quietFix},
		run: staysQuiet(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"candortest-none"}}`,
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"candortest-none","progress":1}}`)},
	{Rule: Rule{ID: "unknown-notification-silent", Level: protocol,
		Title: "A notification that the server does not know is not answered either.", Why: quietWhy, Fix: quietFix},
		run: staysQuiet(`{"jsonrpc":"2.0","method":"notifications/candortest_unknown"}`,
			`{"jsonrpc":"2.0","method":"candortest/unknown","params":{}}`)},
	{Rule: Rule{ID: "stray-response-silent", Level: protocol,
		Title: "A response to a request that the server never made is ignored.", Why: quietWhy, Fix: quietFix},
		run: staysQuiet(`{"jsonrpc":"2.0","id":"candortest-stray","result":{}}`,
			`{"jsonrpc":"2.0","id":"candortest-stray","error":{"code":-32603,"message":"stray"}}`)},
	{Rule: Rule{ID: "cancelled-silent", Level: protocol, Needs: needsSlow, Title: "A request that was cancelled is not answered."},
		on: overLines, same: "EC050", run: cancelledSilent},
}

func staysQuiet(messages ...string) func(*visit, *client) error {
	return func(v *visit, c *client) error {
		for _, message := range messages {
			answers, dead := c.provoke(v.ctx, []byte(message), 0)
			if dead != nil {
				return dead
			}
			if slices.ContainsFunc(answers, func(a said) bool { return a.Status >= 500 || a.Status < 400 }) {
				return errors.New("the server answered")
			}
		}
		return nil
	}
}

func cancelledSilent(v *visit, c *client) error {
	raw, id := c.request("tools/call", c.tour.o.Slow.params())
	if err := c.send(v.ctx, raw); err != nil {
		return err
	}
	if err := c.survives(v.ctx); err != nil { // the call has probably begun by now
		return fmt.Errorf("while a call was open: %w", err)
	}
	cancel := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `,"reason":"candortest"}}`
	answers, dead := c.provoke(v.ctx, []byte(cancel), 0)
	if dead != nil {
		return dead
	}
	if slices.ContainsFunc(answers, func(a said) bool { return a.msg.ID().Equal(wire.ID(id)) }) {
		return errors.New("the cancelled call was answered")
	}
	return nil
}

var loadChecks = []check{
	{Rule: Rule{ID: "parallel-failures", Level: protocol,
		Title: "50 failing calls at once each get exactly one answer, with their own id.",
		Why:   "Errors are where answers get lost, doubled or mixed up, and that is seen only when there are many.",
		Fix:   "Keep the id with the call, and write answers from one place."},
		run: parallelFailures},
}

func parallelFailures(v *visit, c *client) error {
	failing := append(slices.Clone(c.tour.o.Failing), Call{"candortest_no_such_tool", `{}`})[0]
	open := map[string]bool{}
	for range parallel {
		raw, id := c.request("tools/call", failing.params())
		if err := c.send(v.ctx, raw); err != nil {
			return err
		}
		open[id] = true
	}
	var strange []string
	count, missing := 0, parallel
	err := c.receive(v.ctx, c.wait(), func(s said) bool {
		id := string(s.msg.ID())
		if (!open[id] || s.msg.Err() != nil) && len(strange) < parallel {
			strange = append(strange, id)
		}
		if open[id] {
			open[id] = false
			missing--
		}
		count++
		return count == parallel && c.http == nil
	})
	if c.http == nil && err == nil { // a surplus answer would arrive now
		err = c.receive(v.ctx, c.tour.o.Silence, func(s said) bool { strange = append(strange, string(s.msg.ID())); return true })
	}
	switch {
	case missing > 0:
		return fmt.Errorf("%d of %d calls were not answered: %v", missing, parallel, err)
	case len(strange) > 0:
		slices.Sort(strange)
		return fmt.Errorf("%d answers are malformed or carry an id that is not open, such as %s", len(strange), show([]byte(strange[0])))
	case c.http != nil && !errors.Is(err, errQuiet):
		return err
	}
	return nil
}
