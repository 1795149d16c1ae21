package contract

import (
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/foreign"
	"github.com/candor-mcp/candor/wire"
)

// heard holds a failure's content together with the call that it answers.
type heard struct {
	foreign.Said

	verdict Verdict
	method  string
	ask     ask
	schema  inputSchema

	data wire.Value // the data of a JSON-RPC error, without Candor's envelope

	first, text string   // Said.First and Said.Text with values from the call masked
	values      []string // strings in the arguments, the longest first
	elsewhere   bool     // a validator rejected a value other than the arguments
}

func newHeard(x *Exchange, v Verdict) *heard {
	a := askOf(x.Request)
	h := &heard{Said: hear(x, a.args), verdict: v, method: method(x), ask: a}
	if x.Response.Shape() == wire.KindError {
		h.data = peerData(x.Response.Error())
	}
	if a.known {
		h.schema = inputSchema{schema: x.InputSchema, args: a.args}
		h.values = foreign.Values(a.args)
	}
	h.first, h.text = h.ownWords(h.First), h.ownWords(h.Text)
	h.keepIssues()
	return h
}

// ownWords returns a text with the caller's strings and all URLs and paths masked, because neither describes the failure.
func (h *heard) ownWords(text string) string {
	return maskPlaces(foreign.TakeOut(text, h.values, string(rune(echoWord))))
}

// keepIssues drops the issues that do not name an argument of the tool, because a server's sentence may also name a column, a
// directory or a part of a response. An argument is a name that the tool's schema declares or that the call sent.
func (h *heard) keepIssues() {
	if len(h.Issues) == 0 || !h.ask.known || !h.schema.known() {
		return
	}
	var kept []candor.Issue
	own, foreign := true, false
	for _, issue := range h.Issues {
		first, known := h.argumentIn(issue.Path)
		if (known || h.OfRequest && !first) && !h.contradicts(issue) {
			kept = append(kept, issue)
		}
		own = own && first
		foreign = foreign || !known && !h.OfRequest
	}
	if foreign && len(kept) > 0 && h.schema.fit() == fitYes && h.Number != -32602 {
		kept, h.elsewhere = nil, true // the whole list is about a service's value, some of whose names are also arguments
	}
	h.Issues = kept
	if h.OfRequest && own {
		h.OfRequest = false // the tool has an argument of that name
	}
}

// argumentIn reports whether the first step of a path is a property of the schema, and whether any step is a property or was sent.
// The empty path and "/arguments" mean the arguments as a whole.
func (h *heard) argumentIn(path string) (first, known bool) {
	if path == "" || path == "/arguments" {
		return false, true
	}
	for i, step := range strings.Split(strings.TrimPrefix(path, "/"), "/") {
		declared := h.schema.has(step)
		_, sent := h.ask.args.Get(step)
		first = first || i == 0 && declared
		known = known || declared || sent
	}
	return first, known
}

// contradicts reports whether an issue about the arguments as a whole names a type that they do not have. Such an issue is about
// another value, such as the response of a service.
func (h *heard) contradicts(issue candor.Issue) bool {
	if issue.Path != "" || issue.Got == "" || h.ask.args.Type() != wire.TypeObject {
		return false
	}
	h.elsewhere = h.elsewhere || issue.Got != "object"
	return issue.Got != "object"
}

// isTool reports whether the failed call is a tool call or unknown.
func (h *heard) isTool() bool { return h.method == "" || h.method == "tools/call" }

// maskPlaces replaces URLs, paths and file names by a mark, because the words in them do not describe the failure.
func maskPlaces(text string) string {
	var b strings.Builder
	rest := text
	for len(rest) > 0 {
		i := strings.IndexAny(rest, " \n\t\"'`(),;")
		token, sep := rest, ""
		if i >= 0 {
			token, sep = rest[:i], rest[i:i+1]
		}
		if isPlace(token) {
			if b.Len() == 0 {
				b.Grow(len(text))
				b.WriteString(text[:len(text)-len(rest)])
			}
			b.WriteByte(placeOrEcho(token))
			if end := token[len(token)-1]; end == ':' || end == '.' {
				b.WriteByte(end)
			}
			b.WriteString(sep)
		} else if b.Len() > 0 {
			b.WriteString(token)
			b.WriteString(sep)
		}
		if i < 0 {
			break
		}
		rest = rest[i+1:]
	}
	if b.Len() == 0 {
		return text
	}
	return b.String()
}

// placeOrEcho returns the mark for a token: echoWord if it contains an echoed argument, else placeWord.
func placeOrEcho(token string) byte {
	if strings.IndexByte(token, echoWord) >= 0 {
		return echoWord
	}
	return placeWord
}

// isPlace reports whether a token is a URL, a path or a file name. "and/or", "I/O" and "Node.js" are words.
func isPlace(token string) bool {
	token = strings.TrimRight(token, ":.")
	switch {
	case len(token) < 3:
		return false
	case strings.Contains(token, "://"), strings.Count(token, "/") > 1, strings.Count(token, `\`) > 1:
		return true
	}
	for _, lead := range []string{"/", "./", "../", "~/"} {
		if strings.HasPrefix(token, lead) {
			return true
		}
	}
	dot := strings.LastIndexByte(token, '.')
	if dot <= 0 || len(token)-dot < 3 || len(token)-dot > 5 {
		return false
	}
	for i := dot + 1; i < len(token); i++ {
		if c := token[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return !strings.HasSuffix(token, ".js")
}
