package zoo_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/probe"
	"github.com/candor-mcp/candor/cmd/internal/probe/zoo"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/wire"
)

// message parses the answer.
func (s seen) message() *wire.Message {
	m := wire.Parse([]byte(s.response), wire.Limits{})
	return &m
}

func (s seen) result(steps ...any) wire.Value { return s.message().Result().Path(steps...) }

func (s seen) text() string {
	text, _ := s.result("content", 0, "text").Str()
	return text
}

func (s seen) flagged() bool {
	flag, _ := s.result("isError").Bool()
	return flag
}

// payload returns the JSON in the text.
func (s seen) payload(steps ...any) wire.Value {
	v, err := wire.ParseValue([]byte(s.text()), wire.Limits{})
	if err != nil {
		return wire.Value{}
	}
	return v.Path(steps...)
}

func (s seen) number() string { return string(s.message().Error().Path("code").Raw()) }

// The next three functions are used in the table below.
func succeedsWith(start string) func(seen) bool {
	return func(s seen) bool { return s.response != "" && !s.flagged() && strings.HasPrefix(s.text(), start) }
}

func failsWith(parts ...string) func(seen) bool {
	return func(s seen) bool {
		for _, part := range parts {
			if !strings.Contains(s.text(), part) {
				return false
			}
		}
		return s.flagged()
	}
}

func hasNumber(number string) func(seen) bool {
	return func(s seen) bool { return s.number() == number }
}

// shown checks each defect in the first of its cases.
var shown = map[string]func(seen) bool{
	"masked-text":     succeedsWith("Error: "),
	"masked-sentence": succeedsWith("NOT_FOUND: failed"),
	"masked-input":    succeedsWith("Error: INVALID_ARGUMENTS"),
	"masked-flag":     func(s seen) bool { return !s.flagged() && string(s.payload("ok").Raw()) == "false" },
	"masked-nested": func(s seen) bool {
		return !s.flagged() && string(s.payload("ok").Raw()) == "true" && string(s.payload("data", "ok").Raw()) == "false"
	},
	"masked-status":  func(s seen) bool { return !s.flagged() && string(s.payload("status_code").Raw()) == "503" },
	"masked-word":    func(s seen) bool { return !s.flagged() && s.payload("status").Is("error") },
	"masked-type":    func(s seen) bool { return !s.flagged() && s.payload("result", "type").Is("error") },
	"masked-list":    func(s seen) bool { return !s.flagged() && s.payload("errors").Len() == 1 },
	"masked-items":   func(s seen) bool { return !s.flagged() && string(s.payload(0, "success").Raw()) == "false" },
	"two-patterns":   func(s seen) bool { return !s.flagged() && string(s.payload("ok").Raw()) == "false" },
	"silent-success": func(s seen) bool { return !s.flagged() && s.payload("name").Is("alpha") },
	"swallowed":      func(s seen) bool { return !s.flagged() && string(s.result("content").Raw()) == "[]" },
	"html-page":      succeedsWith("<!DOCTYPE html>"),
	"legacy-result":  func(s seen) bool { return !s.flagged() && string(s.result("toolResult", "isError").Raw()) == "true" },
	"flag-as-text":   func(s seen) bool { return s.result("isError").Is("true") },

	"rpc-input":       hasNumber("-32602"),
	"rpc-throughout":  hasNumber("-32602"),
	"number-zero":     hasNumber("0"),
	"number-text":     hasNumber(`"NOT_FOUND"`),
	"reserved-number": hasNumber("-32050"),
	"legacy-number":   hasNumber("-32000"),
	"local-number":    hasNumber("-32001"),

	"codeless":       failsWith("There is no record"),
	"shifting-codes": failsWith("INVALID_ARGUMENTS"), // the first time; see the test about the second
	"retry-header":   failsWith("RATE_LIMITED"),      // see the tests over HTTP
	"generic":        func(s seen) bool { return s.flagged() && s.text() == "Something went wrong" },
	"wordless":       func(s seen) bool { return s.flagged() && s.result("content", 0, "text").Is("") },
	"empty-error":    func(s seen) bool { return s.flagged() && s.result("content").Len() == 0 },
	"field-unnamed":  func(s seen) bool { return s.flagged() && !strings.Contains(s.text(), "name") },
	"first-issue":    func(s seen) bool { return s.flagged() && strings.Count(s.text(), "\n- ") == 1 },
	"undeclared":     failsWith("NOT_FOUND"),
	"unrequired":     failsWith("INVALID_ARGUMENTS", "name is required"),
	"broken-envelope": func(s seen) bool {
		return s.flagged() && s.result("_meta", dialect.MetaKey, "retry", "kind").Is("maybe")
	},

	"mcp-prefix":       func(s seen) bool { return s.flagged() && strings.HasPrefix(s.text(), "MCP error -32602: ") },
	"executing-prefix": func(s seen) bool { return s.flagged() && strings.HasPrefix(s.text(), "Error executing tool ") },
	"calling-prefix":   func(s seen) bool { return s.flagged() && strings.HasPrefix(s.text(), "Error calling tool '") },
	"masked-generic":   func(s seen) bool { return s.flagged() && s.text() == "Error executing tool masked-generic" },
	"vendor-recovery":  func(s seen) bool { return s.flagged() && s.result("recovery", "error_code").Is("NOT_FOUND") },

	"leak-stack":      failsWith("NOT_FOUND", "    at readRecord"),
	"leak-panic":      failsWith("NOT_FOUND", "goroutine 18 [running]"),
	"leak-path":       failsWith("NOT_FOUND", "/home/keeper/"),
	"leak-url":        failsWith("NOT_FOUND", "keeper:zz9secret"),
	"leak-token":      failsWith("NOT_FOUND", "Bearer zz9secret"),
	"second-block":    func(s seen) bool { return s.flagged() && s.result("content", 0, "type").Is("resource_link") },
	"output-conflict": func(s seen) bool { return s.flagged() && s.result("structuredContent", "code").Present() },
	"error-block":     func(s seen) bool { return s.flagged() && s.result("content", 0, "type").Is("error") },
	"huge-error":      func(s seen) bool { return s.flagged() && len(s.response) > 200<<10 },
	"input-echo":      failsWith(strings.Repeat("z", 4097)),
	"null-result":     func(s seen) bool { return s.message().Result().IsNull() },

	"crash":          func(s seen) bool { return s.died && s.response == "" },
	"sound-dies":     func(s seen) bool { return s.died && s.response == "" },
	"hang":           func(s seen) bool { return !s.died && s.response == "" },
	"late":           func(s seen) bool { return !s.died && s.response == "" },
	"wrong-id":       func(s seen) bool { return s.response == "" && strings.Contains(s.other[0], `"id":"zoo-nobody"`) },
	"answered-twice": func(s seen) bool { return len(s.other) == 1 && s.other[0] == s.response },
	"noise":          func(s seen) bool { return len(s.other) == 1 && strings.HasPrefix(s.other[0], "DEBUG") && s.flagged() },
	"flood":          func(s seen) bool { return len(s.other) == 200 && s.flagged() },

	"unknown-tool-result": failsWith("TOOL_NOT_FOUND"),
	"unknown-method-ok":   func(s seen) bool { return s.message().Result().Present() },
	"retired-number":      hasNumber("-32002"),
	"resource-zero":       hasNumber("0"),
	"resource-empty":      func(s seen) bool { return string(s.result("contents").Raw()) == "[]" },
	"level-ignored":       func(s seen) bool { return s.message().Result().Present() },
	"malformed-silent":    func(s seen) bool { return s.response == "" && len(s.other) == 0 && !s.died },
	"malformed-null-id":   func(s seen) bool { return strings.Contains(s.other[0], `"id":null`) },
	"malformed-dies":      func(s seen) bool { return s.died },
	"batch-odd":           func(s seen) bool { return len(s.other) == 1 && strings.Contains(s.other[0], `"id":9004,"result"`) },

	"up-masked":    succeedsWith("Error: UPSTREAM_"),
	"up-swallowed": succeedsWith(`{"records":[]}`),
	"up-garbage":   succeedsWith("<!DOCTYPE html>"),
	"up-stripped":  failsWith("UPSTREAM_ERROR"),
	"up-no-retry":  func(s seen) bool { return s.flagged() && !strings.Contains(strings.ToLower(s.text()), "retry") },
	"up-delay-lost": func(s seen) bool {
		return string(s.payload("error", "retryable").Raw()) == "true" && !strings.Contains(s.text(), "30")
	},
	"up-unsafe":  failsWith("Retry: retry after 1000 ms"),
	"up-no-ref":  func(s seen) bool { return s.flagged() && !strings.Contains(s.response, "zoo-") },
	"up-retries": failsWith("UPSTREAM_RATE_LIMITED"), // see the test about the number of requests
}

// elsewhere lists the defects with a separate test.
var elsewhere = []string{"oversize-dies", "keeps-on", "banner", "http-ok", "http-500"}

func TestDefectsBehaveAsDescribed(t *testing.T) {
	up := newService(t)
	for _, d := range zoo.Defects() {
		if slices.Contains(elsewhere, d.ID) {
			continue
		}
		t.Run(d.ID, func(t *testing.T) {
			check := shown[d.ID]
			if check == nil {
				t.Fatal("no row says what is seen of it")
			}
			c := open(t, era2025, zoo.Options{Defects: []string{d.ID}, Upstream: up.URL})
			s, ok := c.first(&d, up)
			if !ok {
				t.Fatalf("probe does not plan the case %s for it", d.Cases[0])
			}
			if !check(s) {
				t.Errorf("%s, but sent\n%.2000s\nand got\n%.2000s\nand %.300q", d.About, s.request, s.response, s.other)
			}
			if s.died {
				mustCrash(t, c.died())
			}
		})
	}
}

// first sends the first planned case that shows the defect.
func (c *client) first(d *zoo.Defect, up *service) (seen, bool) {
	for _, name := range d.Cases {
		for _, k := range planned(c.tools(), d.Tool, faults...) {
			if k.Name == name {
				up.fault.Store(k.Fault)
				return c.put(&k), true
			}
		}
	}
	return seen{}, false
}

func TestProbePlansEveryCaseThatADefectNames(t *testing.T) {
	up := newService(t)
	c := open(t, era2025, zoo.Options{Upstream: up.URL})
	tools := c.tools()
	for _, d := range zoo.Defects() {
		plan := planned(tools, d.Tool, append([]string{"down"}, faults...)...)
		for _, name := range d.Cases {
			if !slices.ContainsFunc(plan, func(k probe.Case) bool { return k.Name == name }) && !slices.Contains(elsewhere, d.ID) {
				t.Errorf("%s: no case %s is planned for %q", d.ID, name, d.Tool)
			}
		}
	}
}

func TestToolHasOnlyItsDefect(t *testing.T) {
	for _, d := range zoo.Defects() {
		if d.Tool == "" || strings.HasPrefix(d.Tool, "up-") {
			continue
		}
		t.Run(d.ID, func(t *testing.T) {
			c := open(t, era2025, zoo.Options{Defects: []string{d.ID}})
			for _, k := range planned(c.tools(), d.Tool) {
				waits := d.ID == "keeps-on" && (k.Name == probe.CaseNonexistent || k.Name == probe.CaseValid)
				shows := slices.Contains(d.Cases, k.Name) || d.Rule == "EC004" || d.Rule == "EC015" || d.ID == "retry-header"
				s := c.put(&k)
				if !shows && !waits {
					honest(t, &k, s)
				}
				if s.died {
					c = open(t, era2025, zoo.Options{Defects: []string{d.ID}})
				}
			}
		})
	}
}

// honest fails the test unless the answer is a failure that breaks none of Candor's rules, or a record that exists.
func honest(t *testing.T, k *probe.Case, s seen) {
	t.Helper()
	if k.Name == probe.CaseValid && s.payload("name").Is("alpha") && !s.flagged() {
		return
	}
	asked := wire.Parse([]byte(s.request), wire.Limits{})
	got := contract.Read(&contract.Exchange{Response: *s.message(), Request: &asked})
	if got.Verdict != contract.VerdictTool || got.Certainty != contract.Certain || len(got.Violations) > 0 {
		t.Errorf("%s: %s %s %v: %.1000s", k.Key(), got.Verdict, got.Certainty, got.Violations, s.response)
		return
	}
	embedded, ok := dialect.Embedded(s.message().Value())
	if !ok {
		t.Errorf("%s: no error of Candor's own: %.1000s", k.Key(), s.response)
		return
	}
	if _, err := dialect.ReadCandor(embedded); err != nil {
		t.Errorf("%s: %v", k.Key(), err)
	}
	if wants := k.Expect == probe.ExpectRefusal; wants != (got.Error.Code().Symbol() == "INVALID_ARGUMENTS") {
		t.Errorf("%s: the code is %s", k.Key(), got.Error.Code().Symbol())
	}
	if clean := contract.Redact(s.text()); clean != s.text() || len(s.text()) > dialect.MaxReadable {
		t.Errorf("%s: the text is not fit to be shown: %s", k.Key(), s.text())
	}
}

func TestTheHonestToolPassesEveryCase(t *testing.T) {
	for _, era := range []string{era2025, era2026} {
		c := open(t, era, zoo.Options{Personality: zoo.PersonalityHonest})
		plan := planned(c.tools(), "honest")
		if len(plan) < 13 {
			t.Fatalf("only %d cases are planned", len(plan))
		}
		for _, k := range plan {
			honest(t, &k, c.put(&k))
		}
		s := c.ask(request(era, "7", "tools/call", `{"name":"honest","arguments":{"name":"alpha","mode":"full","limit":3}}`), "7")
		if !s.payload("name").Is("alpha") || s.flagged() {
			t.Errorf("a sound call fails: %s", s.response)
		}
		if complete := s.result("resultType").Is("complete"); complete != (era == era2026) {
			t.Errorf("at %s resultType is wrong: %s", era, s.response)
		}
	}
}

func TestLateAnswerComesAfterTheDeadline(t *testing.T) {
	c := open(t, era2025, zoo.Options{Defects: []string{"late"}, Deadline: time.Millisecond})
	if !c.send(request(era2025, "5", "tools/call", `{"name":"late","arguments":{"name":"zz","mode":"full"}}`)) {
		t.Fatal("nobody reads")
	}
	if line := <-c.out; !strings.Contains(line, `"id":5,`) {
		t.Errorf("got %q", line)
	}
}

func TestCancelledCallIsAnswered(t *testing.T) {
	c := open(t, era2025, zoo.Options{Defects: []string{"keeps-on"}, Deadline: time.Second})
	c.send(request(era2025, "5", "tools/call", `{"name":"keeps-on","arguments":{"name":"alpha","mode":"full"}}`))
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}`)
	if s := c.ask(request(era2025, "6", "ping", "{}"), "6"); s.response == "" || len(s.other) > 0 {
		t.Errorf("before it is done: %+v", s)
	}
	if line := <-c.out; !strings.Contains(line, `"id":5,"result"`) {
		t.Errorf("got %q", line)
	}
}

// TestClientThatDoesNotReadBlocksNothing checks that a server can be stopped although its client does not read.
func TestClientThatDoesNotReadBlocksNothing(t *testing.T) {
	_, out := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	in := strings.NewReader(strings.Repeat(request(era2025, "1", "ping", "{}")+"\n", 3))
	ended := make(chan error, 1)
	go func() { ended <- zoo.Serve(ctx, in, out, zoo.Options{Defects: []string{"banner"}}) }()
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
}

func TestShiftingCodesAlternatePerSession(t *testing.T) {
	for range 2 {
		c := open(t, era2025, zoo.Options{Defects: []string{"shifting-codes"}})
		var codes []string
		for range 3 {
			s := c.ask(request(era2025, "5", "tools/call", `{"name":"shifting-codes","arguments":{}}`), "5")
			code, _ := s.result("_meta", "dev.candor/error", "code").Str()
			codes = append(codes, code)
		}
		if want := []string{"INVALID_ARGUMENTS", "PRECONDITION_FAILED", "INVALID_ARGUMENTS"}; !slices.Equal(codes, want) {
			t.Errorf("got %v", codes)
		}
	}
}

func TestHiddenRetriesAreCounted(t *testing.T) {
	up := newService(t)
	c := open(t, era2025, zoo.Options{Defects: []string{"up-retries"}, Upstream: up.URL})
	for fault, want := range map[string]int32{"503": 3, "404": 1, "": 1} {
		up.fault.Store(fault)
		before := up.hits.Load()
		c.ask(request(era2025, "5", "tools/call", `{"name":"up-retries","arguments":{"name":"zz","mode":"full"}}`), "5")
		if got := up.hits.Load() - before; got != want {
			t.Errorf("fault %q: %d requests, want %d", fault, got, want)
		}
	}
}

func TestTheBannerComesFirst(t *testing.T) {
	c := open(t, era2025, zoo.Options{Defects: []string{"banner"}})
	if line := <-c.out; !strings.HasPrefix(line, "Welcome") {
		t.Errorf("got %q", line)
	}
}

func TestLongMessageEndsOnlyServersWithThatDefect(t *testing.T) {
	long := request(era2025, "5", "zz/long", `{"text":"`+strings.Repeat("x", 1<<20)+`"}`)
	if s := open(t, era2025, zoo.Options{Personality: zoo.PersonalityHonest}).ask(long, "5"); s.died || s.number() != "-32601" {
		t.Errorf("an honest server answers %.300s", s.response)
	}
	c := open(t, era2025, zoo.Options{Defects: []string{"oversize-dies"}})
	if s := c.ask(long, "5"); !s.died {
		t.Errorf("it lives, and answers %.300s", s.response)
	}
	mustCrash(t, c.died())
}
