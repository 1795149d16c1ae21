package dialect_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/wire"
)

// fullView shows all parts of an error, so that nothing is missing after a round trip.
var fullView = dialect.Options{
	PlainRoot: true, NoOutputSchema: true, Mirror: true, Stack: candor.StackPolicy{Debug: true, Verbose: -1},
}

// words are texts that have broken writers before.
var words = []string{
	"plain", "naïve", "日本語", "🙂🙃", "a\"quote", "back\\slash", "tab\there", "line\nbreak", "\u2028", "…", "INVALID_KEY:",
	"HANDLER_ERROR: x", "<b>&", "C:", "{\"ok\":false}", "ok:true", "\x00", "\xff", "REFUSE", "e\u0301", "%s", "null", "ERR_NOT_FOUND",
}

type generator struct{ *rand.Rand }

func newGenerator(seed uint64) generator {
	return generator{rand.New(rand.NewPCG(seed, seed^0x9e3779b9))}
}

func (g generator) text(most int) string {
	var parts []string
	for range g.IntN(most + 1) {
		parts = append(parts, words[g.IntN(len(words))])
	}
	return strings.Join(parts, " ")
}

func (g generator) pick(texts ...string) string { return texts[g.IntN(len(texts))] }

func (g generator) retry() candor.Retry {
	switch g.IntN(3) {
	case 0:
		return candor.NoRetry()
	case 1:
		return candor.RetryNow()
	default:
		return candor.RetryIn(time.Duration(1+g.IntN(100_000)) * time.Millisecond)
	}
}

func (g generator) value(depth int) any {
	switch g.IntN(8) {
	case 0:
		return nil
	case 1:
		return g.IntN(2) == 0
	case 2:
		return g.Float64() * 1e6
	case 3:
		return g.Int64()
	case 4, 5:
		return g.text(6)
	case 6:
		if depth == 0 {
			return []any{}
		}
		return []any{g.value(depth - 1), g.value(depth - 1)}
	default:
		return g.object(depth)
	}
}

var keys = []string{"code", "details", "suggestion", "issues", "validationIssues", "value", "said", "uri", "a.b", "x/y", "", "said", "retryNotBefore"}

func (g generator) object(depth int) map[string]any {
	out := map[string]any{}
	if depth == 0 {
		return out
	}
	for range g.IntN(4) {
		out[keys[g.IntN(len(keys))]] = g.value(depth - 1)
		if g.IntN(8) == 0 {
			out["code"] = g.pick("NOT_FOUND", "HANDLER_ERROR", "INVALID_KEY")
		}
	}
	return out
}

func (g generator) issues() []candor.Issue {
	var out []candor.Issue
	for range g.IntN(6) {
		out = append(out, candor.Issue{
			Path: g.pick("", "/", "/a", "/a/0/b", "/a.b/c", "/x~1y/~0", "/日本", "//", "/a[0]/\"q\"", "odd"), Rule: g.pick("", "required", "type"),
			Message: g.text(4), Expected: g.value(1), Got: g.pick("", "string"), Hint: g.text(2), Example: g.value(1),
		})
	}
	return out
}

func (g generator) cause() candor.Option {
	switch g.IntN(5) {
	case 0:
		return candor.WithCauseText(candor.Cause{Message: g.text(5)})
	case 1:
		return candor.WithCauseText(candor.Cause{Message: g.text(5), Code: "ENOENT", Name: "Error"})
	case 2:
		return candor.WithCauseText(candor.Cause{Code: g.text(1), Name: g.text(1)})
	case 3:
		return candor.WithCause(fmt.Errorf("while %s: %w", g.text(2), errRoot))
	default:
		return candor.Option{}
	}
}

var errRoot = fmt.Errorf("open /home/someone/secret/notes.txt: no such file")

func (g generator) context() candor.CallInfo {
	return candor.CallInfo{
		Tool: g.pick("", "read_file", "unknown", "日本"), Role: g.pick("", "WINDSURF"), SessionID: g.pick("", "s-1", g.text(2)),
		WorkspaceRoot: g.pick("", "/home/someone/project", "sha256:0011223344556677"), InvariantID: g.pick("", "INV_1"),
		PhaseID: g.pick("", "PHASE_5A"), PlanHash: g.pick("", "abc123"),
	}
}

// error builds a random error of the given code.
func (g generator) error(code candor.Code) *candor.Error {
	options := []candor.Option{
		candor.WithSuggestion(g.text(8)), candor.WithRef(g.pick("", "r-1", "ref ä/7")), candor.WithCallInfo(g.context()), g.cause(),
		candor.WithOrigin([]candor.Party{candor.PartyTool, candor.PartyServer, candor.PartyGateway, candor.PartyTransport, candor.PartyClient}[g.IntN(5)], g.IntN(2) == 0),
	}
	if g.IntN(2) == 0 {
		options = append(options, candor.WithRetry(g.retry()))
	}
	if g.IntN(2) == 0 {
		options = append(options, candor.WithDetails(g.value(4)))
	}
	if g.IntN(2) == 0 {
		options = append(options, candor.WithIssues(g.issues()...))
	}
	if g.IntN(2) == 0 {
		options = append(options, candor.WithTime(time.UnixMilli(g.Int64N(4e12)-1e12)))
	}
	if g.IntN(2) == 0 {
		options = append(options, candor.WithStack("tool.Run (run.go:12)\ntool.read (read.go:34)\nmain.main (main.go:5)"))
	}
	return candor.New(code, g.text(40), options...)
}

// each calls f with some errors of every code, or of every tenth code in a short run.
func each(t *testing.T, times int, f func(e *candor.Error)) {
	t.Helper()
	g := newGenerator(uint64(times))
	n := 0
	for code := range candor.Codes() {
		if n++; testing.Short() && n%10 != 0 {
			continue
		}
		for range times {
			f(g.error(code))
		}
	}
}

func parse(t *testing.T, raw []byte) wire.Value {
	t.Helper()
	v, err := wire.ParseValue(raw, wire.Limits{})
	if err != nil {
		t.Fatalf("not JSON: %v\n%s", err, raw)
	}
	return v
}

func canonical(e *candor.Error) string {
	return string(e.AppendJSON(nil, candor.JSONOptions{Stack: true, PlainRoot: true}))
}

// sameJSON compares two JSON texts by their values.
func sameJSON(t *testing.T, want, got string) {
	t.Helper()
	var a, b any
	if json.Unmarshal([]byte(want), &a) != nil || json.Unmarshal([]byte(got), &b) != nil || !reflect.DeepEqual(a, b) {
		t.Errorf("\nwant %s\n got %s", want, got)
	}
}

func lookup(t *testing.T, name string) dialect.Dialect {
	t.Helper()
	d, err := dialect.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func read(t *testing.T, d dialect.Dialect, raw []byte) *candor.Error {
	t.Helper()
	e, err := d.Read(parse(t, raw))
	if err != nil {
		t.Fatalf("%v\n%s", err, raw)
	}
	return e
}
