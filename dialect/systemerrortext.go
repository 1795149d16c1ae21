package dialect

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
	"github.com/candor-mcp/candor/wire"
)

// The system that uses system-error builds the envelope and then sends only text: its library keeps the message of a
// thrown error and drops the other members. This file reads that text. It begins with the code, in brackets or before a
// colon, more than once if one layer wrapped another; or it has no code and begins with "REFUSE:".

const refusalMark = "REFUSE:"

// refusalWords are the words of refusals without a code. The first matching row decides. A row matches if the text
// contains all of its words, ignoring case.
var refusalWords = []struct {
	code  candor.Code
	words []string
}{
	{kaiza.SessionNotInitialized, []string{"session not initialized"}},
	{kaiza.SessionLocked, []string{"session", "locked"}},
	{kaiza.PlanNotFound, []string{"plan not found"}},
	{kaiza.PlanNotFound, []string{"plan", "does not exist"}},
	{kaiza.PlanScopeViolation, []string{"scope"}},
	{kaiza.PlanScopeViolation, []string{"allowlist"}},
	{kaiza.PlanEnforcementFailed, []string{"hash mismatch"}},
	{kaiza.PlanEnforcementFailed, []string{"signature mismatch"}},
	{kaiza.PlanEnforcementFailed, []string{"hash", "does not match"}},
	{kaiza.PlanNotApproved, []string{"not approved"}},
	{kaiza.PlanNotApproved, []string{"must be approved"}},
	{kaiza.PlanNotApproved, []string{"plan", "must be signed"}},
	{kaiza.OutsideWorkspace, []string{"outside workspace"}},
	{kaiza.OutsideWorkspace, []string{"outside the workspace"}},
	{kaiza.PathTraversalBlocked, []string{"traversal"}},
	{kaiza.FileReadFailed, []string{"failed to read"}},
	{kaiza.InvalidInputFormat, []string{"not valid json"}},
}

// ReadRefusal reads a text that begins with "REFUSE:" and continues with known words. Only this system begins a text
// so, so the text can be read even if the dialect is not configured. It returns false for any other text.
func ReadRefusal(text string) (*candor.Error, bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), refusalMark)
	if !ok {
		return nil, false
	}
	code, known := refusalCode(rest)
	if !known {
		return nil, false
	}
	return systemWords{code: code, message: strings.TrimSpace(rest)}.err(), true
}

func refusalCode(text string) (candor.Code, bool) {
	text = strings.ToLower(text)
rows:
	for _, row := range refusalWords {
		for _, word := range row.words {
			if !strings.Contains(text, word) {
				continue rows
			}
		}
		return row.code, true
	}
	return 0, false
}

// systemWords has the parts of a text, from its prefixes to its message.
type systemWords struct {
	code    candor.Code // the innermost registered code
	symbols []string    // all codes in the text, the outermost first
	number  wire.Value  // the number of a JSON-RPC error that was sent as the text of a result
	refused bool
	tool    string
	issues  []byte
	message string
}

// readSystemText returns false for a text that names no code and does not refuse.
func readSystemText(text string) (*candor.Error, bool) {
	var w systemWords
	for w.message = strings.TrimSpace(text); w.takePrefix(); {
		w.message = strings.TrimSpace(w.message)
	}
	if w.refused {
		code, known := refusalCode(w.message)
		switch {
		case known:
			w.code = code
		case !w.code.Valid():
			w.code = kaiza.UnknownToolFailure
		}
	}
	if !w.code.Valid() && w.number.Present() {
		w.readProtocol()
	}
	return w.err(), w.code.Valid()
}

// systemPrefix is a refusal mark, the number of a JSON-RPC error, or a symbol in brackets or before a colon.
var systemPrefix = regexp.MustCompile(`^(?:(REFUSE:)|MCP error (-?\d{1,6}):|\[([A-Z0-9_]+)\]|([A-Z0-9_]+):)`)

// takePrefix removes one code, mark or number from the front of the message.
func (w *systemWords) takePrefix() bool {
	m := systemPrefix.FindStringSubmatch(w.message)
	switch {
	case m == nil:
		return false
	case m[1] != "":
		w.refused = true
	case m[2] != "":
		w.number, _ = wire.ParseValue([]byte(m[2]), wire.Limits{MaxDepth: 1})
	default:
		symbol := cmp.Or(m[3], m[4])
		code, known := candor.LookupSymbol(symbol, systemDomain)
		if !known {
			return false
		}
		w.code, w.symbols = code, append(w.symbols, symbol)
	}
	w.message = w.message[len(m[0]):]
	return true
}

const (
	badArguments = "Input validation error"
	forTool      = "Invalid arguments for tool "
)

// readProtocol reads the text of a JSON-RPC error, which the library words itself.
func (w *systemWords) readProtocol() {
	name, isTool := strings.CutPrefix(w.message, "Tool ")
	name, missing := strings.CutSuffix(name, " not found")
	switch {
	case strings.HasPrefix(w.message, badArguments):
		w.readArguments()
	case isTool && missing:
		w.code, w.tool = candor.CodeToolNotFound, name
	default:
		w.code, _ = rpcIdentity{number: w.number}.code()
	}
}

// readArguments reads "Input validation error: Invalid arguments for tool NAME: [issues]". The list may be cut or missing.
func (w *systemWords) readArguments() {
	w.code = kaiza.InvalidInputValue
	head, list, listed := strings.Cut(w.message, ": [")
	if _, after, ok := strings.Cut(head, forTool); ok {
		w.tool, _, _ = strings.Cut(after, ":")
	}
	missing := strings.Contains(w.message, "Required") || strings.Contains(w.message, "received undefined")
	if listed {
		if v, err := wire.ParseValue([]byte("["+list), wire.Limits{}); err == nil {
			w.issues, missing = canonicalIssues(v), allMissing(v)
			w.message = head
		}
	}
	if missing {
		w.code = kaiza.MissingRequiredField
	}
}

// allMissing reports whether every issue is about a missing argument.
func allMissing(list wire.Value) bool {
	n := 0
	for issue := range list.Elements() {
		message := scalarText(issue.Path("message"))
		if !issue.Path("received").Is("undefined") && message != "Required" && !strings.Contains(message, "received undefined") {
			return false
		}
		n++
	}
	return n > 0
}

// err returns the error. It is marked as inferred, because the text was written for people.
func (w systemWords) err() *candor.Error {
	var said, details object
	if len(w.symbols) > 1 || w.refused && len(w.symbols) > 0 {
		said = said.texts("symbols", w.symbols)
	}
	if w.number.Present() {
		said = said.raw("number", w.number.Raw())
	}
	if !said.empty() {
		details = details.raw("said", said.json())
	}
	if w.issues != nil {
		details = details.raw("issues", w.issues)
	}
	options := []candor.Option{candor.WithOrigin(candor.PartyServer, true), candor.WithTool(w.tool)}
	if !details.empty() {
		options = append(options, candor.WithDetails(details.json()))
	}
	return candor.New(w.code, w.message, options...)
}
