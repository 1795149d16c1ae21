package contract

import (
	"bytes"
	"strconv"

	"github.com/candor-mcp/candor/wire"
)

// Violation is a breach of the protocol or of a convention by a message. It can occur with any verdict.
type Violation struct {
	Rule    string `json:"rule"`
	Message string `json:"message"`
}

// violations returns the violations in the answer, in a fixed order. Their messages never quote the peer.
func violations(x *Exchange) []Violation {
	if x.Lost || x.silent || x.cutShort() {
		return nil
	}
	var out []Violation
	m := &x.Response
	for flaw := range m.Flaws().All() {
		out = append(out, Violation{Rule: flaw.String(), Message: "the message is malformed: " + flaw.Reason()})
	}
	switch m.Shape() {
	case wire.KindError:
		out = append(out, errorViolations(m.Error())...)
	case wire.KindResult:
		out = append(out, resultViolations(m)...)
	case wire.KindMalformed, wire.KindRequest, wire.KindNotification:
	}
	return out
}

func errorViolations(e wire.Value) []Violation {
	var out []Violation
	code, _ := e.Get("code")
	if n, ok := code.Int64(); ok {
		if v, bad := numberViolation(n); bad {
			out = append(out, v)
		}
	}
	message, _ := e.Get("message")
	if text, ok := message.StrBytes(); ok && len(bytes.TrimSpace(text)) == 0 {
		out = append(out, Violation{"empty-message", "error.message is empty: it should be one concise sentence"})
	}
	return out
}

// numberViolation checks an error number against the allocation policy of JSON-RPC and of MCP 2026-07-28.
func numberViolation(n int64) (Violation, bool) {
	number := strconv.FormatInt(n, 10)
	switch {
	case n == 0:
		return Violation{"number-zero", "error.code is 0, which means nothing; use a standard or an application number"}, true
	case n == -32002 || n == -32042:
		return Violation{"retired-number", number + " is retired since MCP 2026-07-28; use -32602 with data.uri, or input_required"}, true
	case n == -32001 || n == -32003 || n == -32004:
		return Violation{"draft-number", number + " was used by drafts of MCP and by SDKs for local errors; a peer must not send it"}, true
	case n >= -32019 && n <= -32000:
		return Violation{"legacy-number", number + " is in the legacy server range; new servers use numbers outside -32768 to -32000"}, true
	case n >= -32099 && n <= -32020 && n != -32020 && n != -32021 && n != -32022:
		return Violation{"reserved-number", number + " is reserved for the MCP specification"}, true
	case n >= -32768 && n < -32099 && (n < -32603 || n > -32600) && n != -32700:
		return Violation{"reserved-number", number + " is reserved by JSON-RPC 2.0"}, true
	default:
		return Violation{}, false
	}
}

func resultViolations(m *wire.Message) []Violation {
	var out []Violation
	if m.Result().IsNull() {
		return []Violation{{"null-result", "result is null: several clients drop it and wait for ever"}}
	}
	flag, flagged := m.ResultMember("isError")
	failed, isBool := flag.Bool()
	if flagged && !isBool {
		out = append(out, Violation{"bad-is-error", "isError is not true or false: clients take it for false"})
	}
	if _, ok := m.ResultMember("toolResult"); ok {
		out = append(out, Violation{"legacy-tool-result", "toolResult was a draft; current clients read content and isError"})
	}
	if failed {
		out = append(out, failureViolations(m)...)
	}
	return out
}

// failureViolations checks a result with isError. Clients show its first text block, and some show nothing else.
func failureViolations(m *wire.Message) []Violation {
	var out []Violation
	content, _ := m.ResultMember("content")
	first := content.Path(0)
	if !first.Present() {
		return append(out, Violation{"empty-content", "an error without content reaches the model as nothing"})
	}
	kind, _ := first.Get("type")
	text, _ := first.Get("text")
	switch {
	case kind.Is("error"):
		out = append(out, Violation{"unknown-content-type", `content of the type "error" does not exist; use text and isError`})
	case !kind.Is("text"):
		out = append(out, Violation{"no-first-text", "the first block is not text; some clients show only the first block"})
	case len(bytes.TrimSpace(text.Raw())) <= 2:
		out = append(out, Violation{"empty-message", "the first block is empty; some clients show only the first block"})
	}
	return out
}
