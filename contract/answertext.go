package contract

import (
	"slices"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/foreign"
	"github.com/candor-mcp/candor/internal/lazyregexp"
	"github.com/candor-mcp/candor/internal/pointer"
	"github.com/candor-mcp/candor/wire"
)

// answerText holds a failure's content together with the call that it answers.
type answerText struct {
	foreign.Said

	verdict Verdict
	method  string
	call    callFacts
	schema  inputSchema

	data   wire.Value // the data of a JSON-RPC error, without Candor's envelope
	denial wire.Value // of SEP-2643, or the absent value

	whole       string   // the whole text of the answer, if it is short; the message if there is no sentence
	first, text string   // Said.First and Said.Text with values from the call masked
	values      []string // strings in the arguments, the longest first
	elsewhere   bool     // a validator rejected a value other than the arguments
	others      bool     // all names that the words find fault with are no arguments, and none is called missing
}

func newAnswerText(x *Exchange, v Verdict) *answerText {
	a := callFactsOf(x.Request)
	h := &answerText{Said: hear(x, a.args), verdict: v, method: method(x), call: a}
	if x.Response.Shape() == wire.KindError {
		h.data, h.denial, h.whole = peerData(x.Response.Error()), denialIn(x.Response.Error()), wholeText(x.Response.Error())
	} else {
		h.denial = denialIn(x.Response.Result())
		if v == VerdictTool {
			h.whole = wholeText(x.Response.Result())
		}
	}
	if a.known {
		h.schema = inputSchema{schema: x.InputSchema, args: a.args}
		h.values = foreign.Values(a.args)
	}
	h.first, h.text = h.ownWords(h.First), h.ownWords(h.Text)
	h.keepIssues()
	return h
}

// ownWords returns a text with the caller's strings and all URLs and paths masked, because they do not describe the failure.
func (h *answerText) ownWords(text string) string {
	return maskPlaces(foreign.TakeOut(text, h.values, string(rune(echoWord))))
}

// keepIssues drops the issues that do not name an argument of the tool, because a server's sentence may also name a column, a
// directory or a part of a response. An argument is a name that the tool's schema declares or that the call sent. The paths of the others
// become those of the arguments: servers also write them from an inner object on.
func (h *answerText) keepIssues() {
	if h.OfAnswer {
		h.Issues = nil
	}
	if len(h.Issues) == 0 || !h.call.known {
		return
	}
	if !h.schema.known() {
		h.keepSent()
		return
	}
	var kept []candor.Issue
	own, foreign, lacking, typed := true, false, false, h.Number != -32602 && !ofArguments.MatchString(h.text)
	for _, issue := range h.Issues {
		first, known := h.argumentIn(issue.Path)
		if (known || h.OfRequest && !first) && !h.contradicts(issue) {
			issue.Path = h.located(issue.Path)
			kept = append(kept, issue)
		}
		own = own && first
		foreign = foreign || !known && !h.OfRequest
		lacking = lacking || issue.Rule == "required" // it may be a setting
		typed = typed && (known || issue.Expected != nil && issue.Got != "" && !namesSetting(issue.Path))
	}
	h.others = foreign && !lacking && len(kept) == 0
	if foreign && typed && h.schema.fit() == fitYes {
		kept, h.elsewhere = nil, true // a validator's list is about a service's value, even if it has names that are also arguments
	}
	h.Issues = kept
	if h.OfRequest && own {
		h.OfRequest = false // the tool has an argument of that name
	}
}

// namesSetting reports whether the last step of a path may be the name of a setting, such as API_KEY or apiToken.
func namesSetting(path string) bool {
	name := path[strings.LastIndexByte(path, '/')+1:]
	words := splitName(name)
	return strings.ToUpper(name) == name || len(words) > 0 && tables().Credential[words[len(words)-1]]
}

// isOfFile reports whether a code blames the path of a file.
func isOfFile(code candor.Code) bool {
	return slices.Contains([]string{"FILE_NOT_FOUND", "INVALID_PATH"}, code.Symbol())
}

// ofOwnFile reports whether a file error is about a file that the caller did not name, such as one of the server's configuration: the text
// from the system error on repeats no argument, and the tool has no argument for a path.
func (h *answerText) ofOwnFile() bool {
	if !h.call.known || h.schema.schema.Type() != wire.TypeObject {
		return false
	}
	text := h.Text[max(strings.LastIndex(h.Text, h.Errno), 0):]
	repeats := func(value string) bool { return strings.Contains(text, strings.TrimLeft(value, "./~")) }
	return !h.schema.hasAnyTail(tables().Place) && !slices.ContainsFunc(h.values, repeats)
}

// keepSent drops the issues of a tool without declared arguments that were not sent and that no sentence calls missing.
func (h *answerText) keepSent() {
	if h.schema.schema.Type() != wire.TypeObject {
		return
	}
	h.Issues = slices.DeleteFunc(h.Issues, func(issue candor.Issue) bool {
		_, known := h.argumentIn(issue.Path)
		return !known && !callsMissing.MatchString(issue.Message)
	})
}

var (
	callsMissing = lazyregexp.New(`(?i)\b(?:missing|required|provided?|specif)`)
	rejects      = lazyregexp.New(`(?i)\b(?:must|invalid|valid)\b`)
	ofArguments  = lazyregexp.New(`(?i)\b(?:argument|param)`)
)

// located returns the path of an argument as the schema has it.
func (h *answerText) located(path string) string {
	if path == "" || h.OfRequest {
		return path
	}
	steps := strings.Split(path[1:], "/")
	for i, step := range steps {
		name := pointer.Unescape(step)
		if _, sent := h.call.args.Get(name); sent && i == 0 {
			return path
		}
		if !h.schema.has(name) {
			continue
		}
		at := h.schema.place(name)
		if at == "" || i == 0 && h.schema.declares(name) {
			return path
		}
		return at + strings.Join(append([]string{""}, steps[i+1:]...), "/")
	}
	return path
}

// argumentIn reports whether the first step of a path is a property of the schema, and whether any step is a property or was sent.
// The empty path and "/arguments" mean the arguments as a whole.
func (h *answerText) argumentIn(path string) (first, known bool) {
	if path == "" || path == "/arguments" {
		return false, true
	}
	for i, step := range strings.Split(strings.TrimPrefix(path, "/"), "/") {
		declared := h.schema.has(step)
		_, sent := h.call.args.Get(step)
		first = first || i == 0 && declared
		known = known || declared || sent
	}
	return first, known
}

// wasSent reports whether an argument is a text or a number that fits the schema, and not empty.
func (h *answerText) wasSent(path string) bool {
	name := strings.TrimPrefix(path, "/")
	sent, _ := h.call.args.Get(name)
	text, isText := sent.Str()
	full := isText && strings.TrimSpace(text) != "" || sent.Type() == wire.TypeNumber
	return full && fitOfValue(h.schema.schema.Path("properties", name), sent) == fitYes
}

// contradicts reports whether an issue misses an argument that was sent, or one about the arguments as a whole names a type that they do not
// have or wants another than an object. Such an issue is about another value, such as the response of a service.
func (h *answerText) contradicts(issue candor.Issue) bool {
	if issue.Rule == "required" && !rejects.MatchString(issue.Message) && h.wasSent(issue.Path) {
		return true
	}
	if issue.Path != "" || issue.Got == "" || h.call.args.Type() != wire.TypeObject {
		return false
	}
	wanted, _ := issue.Expected.(map[string]any)
	other := issue.Got != "object" || wanted["type"] != nil && wanted["type"] != "object" && !ofArguments.MatchString(h.text)
	h.elsewhere = h.elsewhere || other
	return other
}

// isTool reports whether the failed call is a tool call or unknown.
func (h *answerText) isTool() bool { return h.method == "" || h.method == "tools/call" }

var (
	placeTokens = lazyregexp.New("[^ \n\t\"'`(),;]+")
	ownHost     = lazyregexp.New(`^(?:[\w-]+\.)+[\w-]+(?::\d+)?/`)
	places      = lazyregexp.New(`://|/.*/|\\.*\\|^[.~]*/..|^.+\.[a-z0-9]{2,4}$`)
)

// maskPlaces replaces URLs, paths and file names by a mark, because the words in them do not describe the failure. "and/or", "I/O"
// and "Node.js" are words.
func maskPlaces(text string) string {
	if !strings.ContainsAny(text, `/\.`) {
		return text
	}
	return placeTokens.Get().ReplaceAllStringFunc(text, func(token string) string {
		bare := strings.TrimRight(token, ":.")
		switch {
		case !places.MatchString(bare) || strings.HasSuffix(bare, ".js") && !strings.Contains(bare, "/"):
			return token
		case strings.IndexByte(bare, echoWord) >= 0 && !ownHost.MatchString(bare): // a URL without a scheme is the server's
			return string(rune(echoWord)) + token[len(bare):]
		default:
			return string(rune(placeWord)) + token[len(bare):]
		}
	})
}
