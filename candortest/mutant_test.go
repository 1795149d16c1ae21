package candortest_test

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/candor-mcp/candor/candortest"
	"github.com/candor-mcp/candor/internal/splice"
	"github.com/candor-mcp/candor/wire"
)

// mutants has a server for every check that violates only the rule of that check.
var mutants = map[string]mutant{
	"handshake":             {say: replace("", `"capabilities":`, `"abilities":`)},
	"unsupported-version":   {hear: answers("2099-01-01", `{"jsonrpc":"2.0","id":ID,"result":{"protocolVersion":"2099-01-01"}}`)},
	"before-initialize":     {say: endsUninitialized},
	"missing-meta":          {hear: answers(`"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`, `{"jsonrpc":"2.0","id":ID,"result":{"tools":[]}}`)},
	"parse-error":           {hear: answers("hello world", "")},
	"truncated-message":     {hear: func(raw []byte) (string, bool) { return "", strings.HasSuffix(string(raw), `"method":`) }},
	"not-an-object":         {hear: func(raw []byte) (string, bool) { return "", string(raw) == "null" }},
	"batch":                 {hear: answers(`[{"jsonrpc"`, `[{"jsonrpc":"2.0","id":"batched","result":{}}]`)},
	"jsonrpc-version":       {hear: answers(`"1.0"`, `{"jsonrpc":"2.0","id":ID,"result":{}}`)},
	"method-type":           {hear: answers(`"method":5`, die)},
	"id-type":               {hear: answers(`"id":true`, "")},
	"deep-nesting":          {hear: answers(`[[[[`, die)},
	"bad-utf8":              {hear: answers("\xff", "{\"jsonrpc\":\"2.0\",\"id\":\"utf8\",\"error\":{\"code\":-32602,\"message\":\"no tool \xff\"}}")},
	"byte-order-mark":       {hear: answers("\ufeff", "")},
	"crlf":                  {hear: answers(`"crlf"`, "")},
	"two-on-a-line":         {hear: answers(`"first"`, `{"jsonrpc":"2.0","id":"first","result":{}}`)},
	"unreadable-id-omitted": {say: replace("hello world", `{"jsonrpc":"2.0",`, `{"jsonrpc":"2.0","id":null,`)},
	"oversize":              {hear: answers(strings.Repeat("a", 1000), die)},

	"id-echo":          {say: replace(`"id":"1"`, `"id":"1"`, `"id":1`)},
	"id-large-integer": {say: replace("", "9007199254740993", "9007199254740992")},
	"id-fractional":    {say: replace("", `"id":1.5`, `"id":1`)},
	"duplicate-id":     {forgets: true},

	"unknown-method":   {say: replace("no_such_method", "-32601", "-32603")},
	"unknown-tool":     {say: replace("no_such_tool", "-32602", "-32603")},
	"unknown-resource": {hear: answers("no-such-resource", `{"jsonrpc":"2.0","id":ID,"result":{"contents":[]}}`)},
	"unknown-prompt":   {hear: answers("no_such_prompt", `{"jsonrpc":"2.0","id":ID,"result":{"messages":[]}}`)},
	"bad-cursor":       {hear: answers("no-such-cursor", `{"jsonrpc":"2.0","id":ID,"result":{"tools":[]}}`)},
	"params-missing":   {say: replace(`"params":null`, "-32600", "-32603")},
	"params-type":      {say: replace(`"params":"text"`, "-32600", "-32603")},

	"arguments-type":        {hear: answers(`"arguments":5`, fine)},
	"missing-required":      {hear: answers(`"arguments":{"right":2}`, fine)},
	"wrong-type":            {hear: answers(`{"left":"candortest","right":2}`, fine)},
	"unknown-argument":      {hear: answers(`{"candortest_unknown":1,"left":1,"right":2}`, fine)},
	"violation-channel":     {hear: answers(`"arguments":{"right":2}`, `{"jsonrpc":"2.0","id":ID,"error":{"code":-32602,"message":"left is missing"}}`)},
	"violation-names-field": {hear: answers(`{"left":"candortest","right":2}`, `{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"invalid input"}],"isError":true}}`)},
	"all-violations":        {say: replace("candortest_unknown", `- /left: is missing`, `- one more`)},

	"notification-silent":         {hear: answers("candortest-none", `{"jsonrpc":"2.0","error":{"code":-32600,"message":"no such call"}}`)},
	"unknown-notification-silent": {hear: answers("notifications/candortest_unknown", `{"jsonrpc":"2.0","error":{"code":-32601,"message":"no such method"}}`)},
	"stray-response-silent":       {hear: answers("candortest-stray", `{"jsonrpc":"2.0","id":"candortest-stray","error":{"code":-32600,"message":"stray"}}`)},
	"cancelled-silent":            {nagging: true},

	"failure-is-error":           {say: replace(`"name":"fail"`, `"isError":true`, `"isError":false`)},
	"failure-text":               {say: set(`"name":"fail"`, `" "`, "result", "content", "0", "text")},
	"failure-structured-content": {say: set(`"name":"fail"`, `{"error":"no sum"}`, "result", "structuredContent")},
	"result-type":                {say: replace(`"name":"fail"`, `,"resultType":"complete"`, ``)},
	"panic-survived":             {hear: answers(`"name":"crash"`, die)},
	"error-code-integer":         {say: set(nameOnly, `"-32602"`, "error", "code")},
	"error-code-allowed":         {say: set(nameOnly, `0`, "error", "code")},
	"error-message":              {say: set(nameOnly, `"one line\nand another"`, "error", "message")},
	"no-stack":                   {say: set(nameOnly, `"broken at goroutine 7 [running]"`, "error", "message")},
	"no-path":                    {say: set(nameOnly, `"cannot open /home/alice/projects/state.db"`, "error", "message")},
	"no-secret":                  {say: set(nameOnly, `"refused for password=hunter2hunter2"`, "error", "message")},
	"no-type-name":               {say: set(nameOnly, `"cannot unmarshal number into Go struct field name"`, "error", "message")},
	"parallel-failures": {say: func(request, reply string) string {
		return reply + strings.Repeat("\n"+reply, strings.Count(request, `"id":1030,`))
	}},
}

// webMutants are the mutants for the checks of HTTP.
var webMutants = map[string]func(*webAnswer){
	"http-rejection-body": func(a *webAnswer) {
		if string(a.body) == "hello world" {
			a.kind, a.reply = "text/plain", []byte("bad request")
		}
	},
	"http-content-type":    lenient(func(r *http.Request) bool { return r.Header.Get("Content-Type") == "text/plain" }),
	"http-method":          lenient(func(r *http.Request) bool { return r.Method == http.MethodPut }),
	"http-origin":          lenient(func(r *http.Request) bool { return r.Header.Get("Origin") != "" }),
	"http-host":            lenient(func(r *http.Request) bool { return r.Host == "evil.example" }),
	"http-header-mismatch": lenient(func(r *http.Request) bool { return r.Header.Get("Mcp-Method") == "tools/list" }),
	"http-oversize":        status(413, 400),
	"http-unknown-session": status(404, 400),
}

const (
	fine = `{"jsonrpc":"2.0","id":ID,"result":{"content":[],"resultType":"complete"}}`
	// nameOnly matches a call that only visit.failures makes, so that no other check inspects its answer.
	nameOnly = `"params":{"name":5`
)

func meant(request, part string) bool {
	return strings.Contains(request, part) && (part != nameOnly || !strings.Contains(request, "arguments"))
}

// answers replies to every message that contains part. ID in the reply is replaced by the id of the message.
func answers(part, reply string) func([]byte) (string, bool) {
	return func(raw []byte) (string, bool) {
		m := wire.Parse(raw, wire.Limits{})
		return strings.ReplaceAll(reply, "ID", string(m.ID())), strings.Contains(string(raw), part)
	}
}

// replace changes the text of answers to messages that contain part.
func replace(part, from, to string) func(string, string) string {
	return func(request, reply string) string {
		if !meant(request, part) {
			return reply
		}
		return strings.ReplaceAll(reply, from, to)
	}
}

// set changes one member of answers to messages that contain part.
func set(part, value string, path ...string) func(string, string) string {
	return func(request, reply string) string {
		if !meant(request, part) {
			return reply
		}
		out, err := splice.SetMember(nil, []byte(reply), path, []byte(value))
		if err != nil {
			return err.Error()
		}
		return string(out)
	}
}

// endsUninitialized closes the connection instead of answering NOT_INITIALIZED.
func endsUninitialized(request, reply string) string {
	if strings.Contains(request, "tools/list") && strings.Contains(reply, `"code":"NOT_INITIALIZED"`) {
		return die
	}
	return reply
}

func lenient(odd func(*http.Request) bool) func(*webAnswer) {
	return func(a *webAnswer) {
		if odd(a.request) && a.status >= 400 {
			a.status = http.StatusOK
		}
	}
}

func status(from, to int) func(*webAnswer) {
	return func(a *webAnswer) {
		if a.status == from {
			a.status = to
		}
	}
}

func TestPerfectServerPassesEveryCheck(t *testing.T) {
	for name, tr := range map[string]candortest.Transport{"lines": inProcess(mutant{}), "HTTP": overHTTP(mutant{})} {
		t.Run(name, func(t *testing.T) { candortest.TestServer(t, tr, everything()) })
	}
}

// TestEveryCheckCanFail runs the whole kit against every mutant and requires that the check it is for fails and no other
// does. A check that cannot fail is worse than none. In the era in which it is not the mutant's turn only that check is
// run, because the other checks do not depend on the era. In short mode, which the race detector uses, this is so in both eras.
func TestEveryCheckCanFail(t *testing.T) {
	t.Parallel()
	rules := candortest.Checks()
	failed := make([][]string, len(rules))
	var wait sync.WaitGroup
	gate := make(chan struct{}, 12) // they mostly wait, so more than the number of processors
	for i, rule := range rules {
		wait.Go(func() {
			gate <- struct{}{}
			defer func() { <-gate }()
			failed[i] = redChecks(t, rule, i)
		})
	}
	wait.Wait()
	for i, rule := range rules {
		if want := []string{rule.ID}; !slices.Equal(failed[i], want) {
			t.Errorf("the mutant of %s turned %v red", rule.ID, failed[i])
		}
	}
}

func redChecks(t *testing.T, rule candortest.Rule, turn int) []string {
	m, ok := mutants[rule.ID]
	tr := inProcess(m)
	if web, overWeb := webMutants[rule.ID]; overWeb {
		tr, ok = overHTTP(mutant{web: web}), true
	}
	if !ok {
		return []string{"there is no mutant"}
	}
	var red []string
	for i, era := range rule.Eras {
		options := with(func(o *candortest.Options) { o.Eras = []string{era} })
		if i != turn%len(rule.Eras) || testing.Short() {
			options.Only = []string{rule.ID}
		}
		findings, err := candortest.Check(t.Context(), tr, options)
		if err != nil {
			return []string{err.Error()}
		}
		inEra := false
		for _, f := range findings {
			if f.Problem != "" {
				inEra = inEra || f.Rule.ID == rule.ID
				red = append(red, f.Rule.ID)
			}
		}
		if !inEra {
			red = append(red, "nothing in "+string(era))
		}
	}
	slices.Sort(red)
	return slices.Compact(red)
}

// TestChecksOfMessagesCanFailOverHTTPToo does the same for checks that run over HTTP but are not about HTTP.
func TestChecksOfMessagesCanFailOverHTTPToo(t *testing.T) {
	for _, rule := range candortest.Checks() {
		m, ok := mutants[rule.ID]
		if !ok || !rule.HTTP {
			continue
		}
		findings, err := candortest.Check(t.Context(), overHTTP(m), with(func(o *candortest.Options) { o.Only = []string{rule.ID} }))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range findings {
			if red := f.Problem != ""; red != (f.Rule.ID == rule.ID) {
				t.Errorf("%s: %s: %q", rule.ID, f.Era, f.Problem)
			}
		}
	}
}
