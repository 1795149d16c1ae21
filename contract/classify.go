package contract

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/wireflaw"
	"github.com/candor-mcp/candor/wire"
)

// Exchange is an answer with the known facts about it. Only Response is required; the other fields improve the verdict.
type Exchange struct {
	// Response is the answer. It is the zero Message if Lost is set.
	Response wire.Message
	// Request is the call, or nil.
	Request *wire.Message
	// InputSchema is the inputSchema of the called tool as its server lists it, or the zero Value. With it, a failure is attributed to
	// an argument only if the tool has that argument.
	InputSchema wire.Value
	// Lost reports that no answer came: the peer exited, timed out or closed the connection.
	Lost bool
	// Dialect is the name of the dialect that this server is configured to use, or "". An answer that this dialect reads as a failure
	// is a failure.
	Dialect string
	// At is the time of the answer, or the zero time if unknown. It is used only to convert an absolute retry time to a delay.
	At time.Time
	// Ref is the correlation id to put into the error.
	Ref string
	// Quote moves the suggestion of an envelope to details.said. A gateway sets it, because the words of a peer are not its own.
	Quote bool

	captured bool // Response comes from recorded text
	silent   bool // the request was a notification
}

// Classify returns the verdict on an answer. It accepts any bytes. The order of the rules is that of the written contract. A clean
// answer costs one scan and no allocation.
func Classify(x *Exchange) Conclusion {
	if x.Lost {
		return certain(VerdictLost, ruleNoAnswer)
	}
	if x.silent || x.cutShort() {
		return certain(VerdictClean, ruleNothingToJudge)
	}
	switch x.shape() {
	case wire.KindMalformed:
		return certain(VerdictMalformed, ruleMalformed)
	case wire.KindRequest, wire.KindNotification:
		return certain(VerdictClean, ruleNotAnAnswer)
	case wire.KindError:
		if strayID(x) {
			return certain(VerdictStray, ruleWrongID)
		}
		return certain(VerdictProtocol, ruleRPCError)
	case wire.KindResult:
		if strayID(x) {
			return certain(VerdictStray, ruleWrongID)
		}
		return classifyResult(x)
	default:
		return certain(VerdictMalformed, ruleMalformed)
	}
}

// forgivable are the flaws that do not make a message ambiguous. They are violations and do not make the verdict malformed.
var forgivable = wireflaw.SetOf(wireflaw.NullID, wireflaw.MissingID, wireflaw.BadVersion, wireflaw.BadError, wireflaw.LoneSurrogate)

// shape returns the kind of the message, ignoring forgivable flaws.
func (x *Exchange) shape() wire.Kind {
	m := &x.Response
	if m.Flaws()&^forgivable != 0 {
		return wire.KindMalformed
	}
	return m.Shape()
}

// strayID reports whether the answer has another id than the call, as [wire.ID.Equal] compares them. An error without a usable id
// is never stray.
func strayID(x *Exchange) bool {
	if x.Request == nil {
		return false
	}
	asked, got := x.Request.ID(), x.Response.ID()
	if len(asked) == 0 || len(got) == 0 || string(got) == "null" {
		return false
	}
	return !asked.Equal(got)
}

// answer holds the members of a result that the rules use, collected in one pass.
type answer struct {
	isError, meta, resultType, task, toolResult, content, structured wire.Value
}

func answerOf(m *wire.Message) (a answer) {
	for name, value := range m.ResultMembers() {
		switch string(unescaped(name)) {
		case `"isError"`:
			a.isError = value
		case `"_meta"`:
			a.meta = value
		case `"resultType"`:
			a.resultType = value
		case `"task"`:
			a.task = value
		case `"toolResult"`:
			a.toolResult = value
		case `"content"`:
			a.content = value
		case `"structuredContent"`:
			a.structured = value
		}
	}
	return a
}

// unescaped returns a name with its quotes and without escapes.
func unescaped(name wire.Value) []byte {
	if bytes.IndexByte(name.Raw(), '\\') < 0 {
		return name.Raw()
	}
	text, _ := name.Str()
	return []byte(`"` + text + `"`)
}

func classifyResult(x *Exchange) Conclusion {
	m := &x.Response
	if m.Result().Type() != wire.TypeObject {
		return certain(VerdictClean, ruleAnsweredClean)
	}
	a := answerOf(m)
	failed := saysYes(a.isError)
	own, _ := a.meta.Get(dialect.MetaKey)
	marked := own.Type() == wire.TypeObject && readable(own)
	switch {
	case failed && marked:
		return certain(VerdictTool, ruleCandorMeta)
	case failed:
		return certain(VerdictTool, ruleIsError)
	case marked && x.callsTool():
		return certain(VerdictMasked, ruleCandorMeta)
	default:
		found := classifySuccess(x, &a)
		if found.Certainty == Suspected && x.Request != nil {
			found.Source = callFactsOf(x.Request).source()
		}
		return found
	}
}

// saysYes reports whether isError means true in any spelling: a number other than zero, a string that is not a negative word, or a
// list or object that is not empty. Strict clients drop such a result, and others read it as a success.
func saysYes(flag wire.Value) bool {
	switch flag.Type() {
	case wire.TypeBool:
		yes, _ := flag.Bool()
		return yes
	case wire.TypeNumber:
		n, err := strconv.ParseFloat(string(flag.Raw()), 64)
		return err != nil || n != 0
	case wire.TypeString:
		text, _ := flag.Str()
		switch strings.ToLower(strings.TrimSpace(text)) {
		case "", "false", "0", "no", "off", "null", "none":
			return false
		}
		return true
	case wire.TypeArray, wire.TypeObject:
		return len(bytes.TrimSpace(flag.Raw()[1:len(flag.Raw())-1])) > 0
	default:
		return false
	}
}

// callsTool reports whether the request is a tools/call or unknown. The result of another method cannot hold an envelope.
func (x *Exchange) callsTool() bool { return x.Request == nil || x.Request.MethodIs("tools/call") }

// readable reports whether a value under Candor's key is a valid canonical error. Any server may write that key.
func readable(own wire.Value) bool {
	_, err := dialect.ReadCandor(own)
	return err == nil
}

// classifySuccess looks for a failure in a result that is not marked as one.
func classifySuccess(x *Exchange, a *answer) Conclusion {
	if a.unfinished() {
		return certain(VerdictClean, ruleWaiting)
	}
	if x.Dialect != "" {
		if f, ok := dialectVerdict(x); ok {
			return f
		}
	}
	if a.toolResult.Present() {
		return classifyLegacy(x, a.toolResult)
	}
	if x.Request != nil && !x.Request.MethodIs("tools/call") {
		return certain(VerdictClean, ruleAnsweredClean)
	}
	return classifyPayload(x, a.content, a.structured)
}

// unfinished reports whether the result is not final.
func (a *answer) unfinished() bool {
	return a.resultType.Is("input_required") || a.resultType.Is("task") || a.task.Type() == wire.TypeObject
}

// classifyLegacy reads the result shape of the first protocol drafts, in which current clients do not look for isError.
func classifyLegacy(x *Exchange, old wire.Value) Conclusion {
	if flag, ok := old.Get("isError"); ok {
		if saysYes(flag) {
			return suspected(ruleLegacyResult)
		}
	}
	content, _ := old.Get("content")
	structured, _ := old.Get("structuredContent")
	return classifyPayload(x, content, structured)
}

func classifyPayload(x *Exchange, content, structured wire.Value) Conclusion {
	switch rule, ok := suspectContent(x, content); {
	case ok && !blocked(structured):
		return suspected(rule)
	case ok, rule == ruleBlocked:
		return certain(VerdictClean, ruleBlocked)
	}
	if structured.Type() == wire.TypeObject && len(structured.Raw()) <= maxPayload && hasFailureNames(structured.Raw(), false) {
		if blocked(structured) {
			return certain(VerdictClean, ruleBlocked)
		}
		if rule, ok := suspectValue(structured, callFactsOf(x.Request)); ok {
			return suspected(rule)
		}
	}
	return certain(VerdictClean, ruleAnsweredClean)
}

// maxPayload is the largest JSON payload that is searched for a failure. Error objects are small; larger payloads are data.
const maxPayload = 64 << 10

// suspectContent examines the first text block that is not empty, because some clients show no other. The parser has noted the first
// block; the others are walked only if that block has no text.
func suspectContent(x *Exchange, content wire.Value) (string, bool) {
	text, ok := firstText(x, content)
	kind, _ := x.Response.ResultFirst("content", "type")
	switch {
	case kind.Is("error"):
		return ruleErrorBlock, true
	case !ok:
		return "", false
	}
	return suspectBlock(x, text)
}

func firstText(x *Exchange, content wire.Value) (wire.Value, bool) {
	if text, ok := x.Response.ResultFirst("content", "text"); ok && holdsMessage(text) {
		return text, true
	}
	text := firstTextOf(content)
	return text, text.Present()
}

// firstTextOf returns the first text in a list of content blocks that is not empty, or the absent value.
func firstTextOf(content wire.Value) wire.Value {
	for block := range content.Elements() {
		if text, ok := block.Get("text"); ok && holdsMessage(text) {
			return text
		}
	}
	return wire.Value{}
}

func holdsMessage(text wire.Value) bool {
	return text.Type() == wire.TypeString && len(text.Raw()) > len(`""`)
}

// suspectBlock examines one text block. It applies the cheap checks first, on the raw bytes.
func suspectBlock(x *Exchange, text wire.Value) (string, bool) {
	inside := text.Raw()[1 : len(text.Raw())-1]
	switch firstByte(inside) {
	case '{', '[':
		if len(inside) > maxPayload || mayBeJSON(inside) && !hasFailureNames(inside, true) {
			return "", false
		}
		plain, _ := text.StrBytes()
		if v, err := wire.ParseValue(bytes.TrimSpace(plain), wire.Limits{}); err == nil {
			if blocked(v) {
				return ruleBlocked, false
			}
			return suspectValue(v, callFactsOf(x.Request))
		}
	}
	if isErrorPage(text, x.Request) {
		return ruleErrorPage, true
	}
	if !looksLikeFailure(inside) {
		return "", false
	}
	return suspectText(text, callFactsOf(x.Request))
}

// mayBeJSON distinguishes a JSON list or object from text in brackets, such as "[ERROR] no such page", by the byte after the
// bracket.
func mayBeJSON(inside []byte) bool {
	_, rest, _ := bytes.Cut(inside[:min(len(inside), 256)], []byte{firstByte(inside)})
	switch next := firstByte(rest); next {
	case '\\', '"', '{', '[', ']', '}', '-', 0:
		return true
	case 't', 'f', 'n':
		rest = rest[bytes.IndexByte(rest, next):]
		return bytes.HasPrefix(rest, []byte("true")) || bytes.HasPrefix(rest, []byte("false")) || bytes.HasPrefix(rest, []byte("null"))
	default:
		return next >= '0' && next <= '9'
	}
}

// blocked reports whether v describes a step that waits for something. It is a regular answer that names the next step.
func blocked(v wire.Value) bool {
	kind, _ := v.Get("kind")
	return kind.Is("blocked")
}

// firstByte returns the first byte that is not white space or escaped white space, or 0.
func firstByte(inside []byte) byte {
	for i := 0; i < len(inside); i++ {
		switch c := inside[i]; c {
		case ' ', '\t', '\r', '\n':
		case '\\':
			if i+1 < len(inside) && (inside[i+1] == 'n' || inside[i+1] == 't' || inside[i+1] == 'r') {
				i++
				continue
			}
			return c
		default:
			return c
		}
	}
	return 0
}
