package harness_test

import (
	"strings"
	"testing"

	"github.com/candor-mcp/candor/internal/testing/emits"
	"github.com/candor-mcp/candor/wire"
)

// TestEveryCommonCodeIsEmitted causes the codes that do not belong to a single domain, each by a different cause.
func TestEveryCommonCodeIsEmitted(t *testing.T) {
	t.Parallel()
	const listed = `
		common/E_INVALID_PARAMS
		common/E_TIMEOUT
		common/E_LIMIT_EXCEEDED
		common/E_NOT_INSTALLED
		common/E_SESSION_NOT_FOUND
		common/E_INPUT_TOO_LARGE
		common/E_UNSUPPORTED
		rate-limit/E_RL_EXCEEDED`
	emits.Check(t, listed, map[string]func(*testing.T) string{
		"common/E_INVALID_PARAMS": func(t *testing.T) string {
			return start(t, setup{}).ask("sys/ping", `{"x":1}`).fails(1000, "common/E_INVALID_PARAMS").code()
		},
		"common/E_TIMEOUT":           slowService,
		"common/E_LIMIT_EXCEEDED":    longLine,
		"common/E_NOT_INSTALLED":     withoutPython,
		"common/E_SESSION_NOT_FOUND": unknownSession,
		"common/E_INPUT_TOO_LARGE":   longCode,
		"common/E_UNSUPPORTED":       domainOff,
		"rate-limit/E_RL_EXCEEDED":   emptyBucket,
	})
}

// slowService calls a service that begins to answer and then stops.
func slowService(t *testing.T) string {
	h := tavilyService.start(t, trickle, "MCP_HTTP_TIMEOUT_MS=100")
	return h.ask("tavily/search", `{"query":"candor"}`).fails(1001, "common/E_TIMEOUT").code()
}

// longLine sends a line above MCP_MAX_LINE_LEN between two valid ones.
func longLine(t *testing.T) string {
	h := start(t, setup{env: []string{"MCP_MAX_LINE_LEN=1000"}})
	h.ask("sys/ping", `{}`).result()
	h.send(`{"jsonrpc":"2.0","id":"long","method":"sys/ping","params":{"x":"` + strings.Repeat("x", 1000) + `"}}`)
	r := reply{t, wire.Parse(h.line(), wire.Limits{})}
	if id := string(r.m.ID()); id != "null" {
		t.Errorf("the id is %s", id)
	}
	h.ask("sys/ping", `{}`).result()
	return r.fails(1002, "common/E_LIMIT_EXCEEDED").code()
}

// withoutPython empties the PATH.
func withoutPython(t *testing.T) string {
	h := start(t, setup{flags: []string{"--domain", "python"}, env: []string{"PATH="}})
	r := h.ask("py/run", `{"code":"print(1)"}`).fails(1003, "common/E_NOT_INSTALLED")
	if !strings.Contains(r.details(), "python3") {
		t.Errorf("it does not say what to install: %s", r.m.Bytes())
	}
	return r.code()
}

func unknownSession(t *testing.T) string {
	h := start(t, setup{flags: []string{"--domain", "playwright"}})
	return h.ask("pw/content", `{"session":"pw-none"}`).fails(1004, "common/E_SESSION_NOT_FOUND").code()
}

// longCode sends more than the 2000 characters that the taxonomy allows.
func longCode(t *testing.T) string {
	h := start(t, setup{flags: []string{"--domain", "python"}})
	return h.ask("py/run", `{"code":"`+strings.Repeat("#", 2001)+`"}`).fails(1005, "common/E_INPUT_TOO_LARGE").code()
}

func domainOff(t *testing.T) string {
	r := start(t, setup{}).ask("py/run", `{"code":"print(1)"}`).fails(1006, "common/E_UNSUPPORTED")
	if !strings.Contains(r.details(), "--domain python") {
		t.Errorf("it does not say how to switch the domain on: %s", r.m.Bytes())
	}
	return r.code()
}

func emptyBucket(t *testing.T) string {
	h := start(t, setup{flags: []string{"--domain", "python"}, env: []string{"MCP_RATE_LIMIT=1", "MCP_RATE_LIMIT_CAPACITY=1", "MCP_RATE_LIMIT_REFILL_MS=60000"}})
	h.ask("py/scripts", `{}`).result()
	r := h.ask("py/scripts", `{}`).fails(3000, "rate-limit/E_RL_EXCEEDED")
	if after, _ := r.m.Error().Path("data", "retryAfterMs").Int64(); after <= 0 || after > 60000 {
		t.Errorf("retryAfterMs is %d", after)
	}
	return r.code()
}
