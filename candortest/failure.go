package candortest

import (
	"strings"

	"github.com/candor-mcp/candor/wire"
)

// failure is one failing exchange. Several checks inspect the same failures.
type failure struct {
	name    string
	request []byte
	said
}

// failures sends one request of every kind that must fail, once per era, and keeps the answers. Requests without an answer,
// or with a success, are omitted because other checks cover them.
func (v *visit) failures() []failure {
	if v.facts.collected {
		return v.facts.failures
	}
	v.facts.collected = true
	aside := v.log
	defer func() { v.log = aside }() // each check shows only its own messages
	if v.era == Era2025 {
		if c, err := v.bare(); err == nil {
			v.keep(c, "a request before initialize", c.era.request(c.id(), "tools/list", ""))
		}
	}
	var c *client
	for _, attempt := range v.attempts() {
		var err error
		if c, err = v.again(c); err != nil {
			continue
		}
		if !v.keep(c, attempt.name, attempt.raw(c)) {
			c = nil
		}
	}
	v.close()
	return v.facts.failures
}

// keep sends a request and keeps the failure. It returns false if the connection may no longer be usable.
func (v *visit) keep(c *client, name string, raw []byte) bool {
	request := wire.Parse(raw, wire.Limits{})
	answer, err := c.ask(v.ctx, raw, string(request.ID()))
	if err == nil && (answer.failed() || answer.rejection()) {
		v.facts.failures = append(v.facts.failures, failure{name, raw, answer})
	}
	return err == nil
}

// attempts returns valid requests that must fail.
func (v *visit) attempts() []stimulus {
	request := func(method, params string) func(*client) []byte {
		return func(c *client) []byte { return c.era.request(c.id(), method, params) }
	}
	out := []stimulus{
		{name: "an unknown method", raw: request("candortest/no_such_method", "")},
		{name: "an unknown tool", raw: request("tools/call", `{"name":"candortest_no_such_tool","arguments":{}}`)},
		{name: "a tool name that is a number", raw: callWith(`{"name":5}`)},
		{name: "a bad cursor", raw: request("tools/list", `{"cursor":"candortest-no-such-cursor"}`)},
	}
	if v.facts.offers("resources") {
		out = append(out, stimulus{name: "an unknown resource", raw: request("resources/read", `{"uri":"candortest://no-such-resource"}`)})
	}
	if v.facts.offers("prompts") {
		out = append(out, stimulus{name: "an unknown prompt", raw: request("prompts/get", `{"name":"candortest_no_such_prompt"}`)})
	}
	if calls := v.mayCall(); len(calls) > 0 {
		out = append(out, stimulus{name: "arguments that are a string", raw: request("tools/call", Call{calls[0].Tool, `"hello"`}.params())})
	}
	for _, broken := range v.violations(withSeveral) {
		out = append(out, stimulus{name: "arguments that break the schema of " + broken.Tool, raw: request("tools/call", broken.params())})
	}
	for _, failing := range v.tour.o.Failing {
		out = append(out, stimulus{name: "the failing tool " + failing.Tool, raw: request("tools/call", failing.params())})
	}
	return out
}

// eachFailure judges the failures for which concern returns true; problem returns "" for a correct one.
func (v *visit) eachFailure(concern func(failure) bool, problem func(failure) string) ruling {
	judged := false
	for _, f := range v.failures() {
		if !concern(f) {
			continue
		}
		judged = true
		if text := problem(f); text != "" {
			v.log.sent(f.request)
			v.log.got(f.Frame)
			return bad("%s: %s", f.name, text)
		}
	}
	if !judged {
		return lacking("the server gave no such failure to look at")
	}
	return good()
}

// when returns a function for eachFailure that reports problem if wrong returns true.
func when(problem string, wrong func(failure) bool) func(failure) string {
	return func(f failure) string {
		if wrong(f) {
			return problem
		}
		return ""
	}
}

func anyFailure(failure) bool { return true }

// protocolError and toolError report which of the two error channels a failure uses.
func protocolError(f failure) bool { return f.msg.Shape() == wire.KindError }

func toolError(f failure) bool { return f.isError() }

// text returns everything of the failure that a person or model may read, without the text of the request itself: an
// echo is not a leak.
func (f *failure) text() string {
	text := string(f.Data)
	if whole := f.msg.Value(); whole.Present() {
		var texts []string
		collect(whole, &texts)
		text = strings.Join(texts, "\n")
	}
	request := wire.Parse(f.request, wire.Limits{})
	var sent []string
	collect(request.Params(), &sent)
	for _, echo := range sent {
		if len(echo) > 1 {
			text = strings.ReplaceAll(text, echo, "(sent)")
		}
	}
	return text
}

// collect appends every string in a value, at any depth; the parser bounds the depth.
func collect(v wire.Value, out *[]string) {
	if text, ok := v.Str(); ok {
		*out = append(*out, text)
	}
	for element := range v.Elements() {
		collect(element, out)
	}
	for _, member := range v.Members() {
		collect(member, out)
	}
}
