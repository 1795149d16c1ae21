package foreign

import (
	"strconv"
	"strings"
	"time"

	"github.com/candor-mcp/candor/wire"
)

// value reads a JSON value and returns its sentence.
func (r *reader) value(v wire.Value) string {
	if r.nodes++; r.nodes > maxNodes {
		return ""
	}
	switch v.Type() {
	case wire.TypeString:
		return r.text(str(v))
	case wire.TypeArray:
		return r.array(v)
	case wire.TypeObject:
		return r.object(v)
	case wire.TypeAbsent, wire.TypeNull, wire.TypeBool, wire.TypeNumber:
	}
	return ""
}

// object reads the members of an object in four passes: members with a field in Said, then lists of issues, then sentences, then
// nested values. An outer fact therefore wins over an inner one.
func (r *reader) object(v wire.Value) string {
	for name, m := range v.Members() {
		key := fold(clip(str(name), maxPath))
		if read := direct[key]; read != nil {
			read(r, m)
		}
		r.delayMember(key, m)
	}
	for name, m := range v.Members() {
		r.issueMember(fold(clip(str(name), maxPath)), m, v)
	}
	r.whole(v)
	text := r.sentence(v)
	for name, m := range v.Members() {
		if inner := r.deeper(fold(clip(str(name), maxPath)), m); text == "" {
			text = inner
		}
	}
	return text
}

// direct are the members with a field in Said, by folded name.
var direct = map[string]func(r *reader, v wire.Value){
	"code": (*reader).codeMember, "errorcode": (*reader).codeMember, "errcode": (*reader).codeMember, "symbol": (*reader).codeMember, "failurecode": (*reader).codeMember,
	"status": (*reader).statusMember, "statuscode": (*reader).statusMember, "httpstatus": (*reader).statusMember, "httpstatuscode": (*reader).statusMember, "httpcode": (*reader).statusMember,
	"responsestatus": (*reader).statusMember, "responsecode": (*reader).statusMember, "statustext": (*reader).statusMember,
	"type": (*reader).typeMember, "errortype": (*reader).typeMember, "__type": (*reader).typeMember, "type_": (*reader).typeMember, "kind": (*reader).typeMember, "category": (*reader).slugMember,
	"name": (*reader).typeMember, "exception": (*reader).typeMember, "exceptiontype": (*reader).typeMember, "errorclass": (*reader).typeMember, "errorname": (*reader).typeMember,
	"reason": (*reader).slugMember, "error": (*reader).slugMember, "subcode": (*reader).slugMember, "errno": (*reader).errnoMember,
	"retryable": (*reader).retryMember, "isretryable": (*reader).retryMember, "canretry": (*reader).retryMember, "shouldretry": (*reader).retryMember, "transient": (*reader).retryMember,
	"temporary": (*reader).retryMember, "istransient": (*reader).retryMember, "retry": (*reader).retryMember,
	"requestid": (*reader).requestMember, "xrequestid": (*reader).requestMember, "correlationid": (*reader).requestMember, "traceid": (*reader).requestMember, "errorid": (*reader).requestMember,
	"incidentid": (*reader).requestMember, "ref": (*reader).requestMember, "eventid": (*reader).requestMember, "operationid": (*reader).requestMember,
	"hint": (*reader).adviceMember, "hints": (*reader).adviceMember, "suggestion": (*reader).adviceMember, "suggestions": (*reader).adviceMember, "help": (*reader).adviceMember, "fix": (*reader).adviceMember,
	"suggestedfix": (*reader).adviceMember, "remediation": (*reader).adviceMember, "resolution": (*reader).adviceMember, "recommendation": (*reader).adviceMember, "advice": (*reader).adviceMember,
	"howtofix": (*reader).adviceMember, "nextsteps": (*reader).adviceMember, "nextstep": (*reader).adviceMember, "agentguidance": (*reader).adviceMember, "tip": (*reader).adviceMember,
	"useraction": (*reader).adviceMember, "solution": (*reader).adviceMember, "solutions": (*reader).adviceMember, "possiblesolutions": (*reader).adviceMember, "recovery": (*reader).adviceMember,
	"suggestedaction": (*reader).adviceMember, "recoveryhint": (*reader).adviceMember, "guidance": (*reader).adviceMember, "troubleshooting": (*reader).adviceMember, "instructions": (*reader).adviceMember,
	"stack": (*reader).stackMember, "stacktrace": (*reader).stackMember, "traceback": (*reader).stackMember,
	"tool": (*reader).toolMember, "toolname": (*reader).toolMember,
}

func (r *reader) codeMember(v wire.Value) {
	if n, ok := v.Int64(); ok {
		r.anyNumber(n)
		return
	}
	s := strings.TrimSpace(str(v))
	n, err := strconv.ParseInt(s, 10, 64)
	switch {
	case err == nil:
		r.anyNumber(n)
	case errnos[s]:
		keep(&r.said.Errno, s)
	case isWord(s):
		r.symbol(s)
	}
}

// anyNumber records n as a status if HTTP defines it, else as a number of the peer.
func (r *reader) anyNumber(n int64) {
	if n >= 100 && n < 600 && reasons[int(n)] != "" {
		r.status(int(n))
		return
	}
	r.number(n)
}

// isWord reports whether s is a code word: it has no spaces and at least one letter.
func isWord(s string) bool {
	return s != "" && len(s) <= 96 && !strings.ContainsAny(s, " \n\t{}<>\"") && strings.ContainsFunc(s, func(c rune) bool { return c < 0x80 && isLetter(byte(c)) })
}

func (r *reader) statusMember(v wire.Value) {
	if n, ok := v.Int64(); ok {
		r.status(int(min(max(n, 0), 1000)))
		return
	}
	s := str(v)
	if n := threeDigits(clip(s, 3)); n != 0 && (len(s) == 3 || s[3] == ' ') {
		r.status(n)
		return
	}
	if isSymbol(s) || isCapital(s) && len(s) > 4 && strings.ToUpper(s) == s && !verdicts[strings.ToLower(s)] {
		r.symbol(s)
		return
	}
	if n := phraseStatus(s); n != 0 {
		r.status(n)
	}
}

// verdicts are values of status and type that only say that this is a failure.
var verdicts = set("error", "errors", "failed", "failure", "fail", "rejected", "object", "text", "success", "ok", "exception", "about:blank", "result", "message", "system", "request", "unknown", "string")

// typeMember reads an exception's name or a code word.
func (r *reader) typeMember(v wire.Value) {
	s := strings.TrimSpace(str(v))
	if _, after, ok := strings.Cut(s, "#"); ok { // AWS: namespace#Name, its code
		s = after
		r.symbol(s)
	}
	s, _, _ = strings.Cut(s, ":")
	switch {
	case isException(s):
		keep(&r.said.Exception, s)
	case isSlug(s):
		r.symbol(s)
	}
}

// slugMember reads a member that holds a code word in some servers and a sentence in others.
func (r *reader) slugMember(v wire.Value) {
	if s := strings.TrimSpace(str(v)); isSlug(s) && !errnos[s] {
		r.symbol(s)
	}
}

// isSlug reports whether s is a code word in lower or upper snake case or with hyphens. A single plain word is prose.
func isSlug(s string) bool {
	if !isWord(s) || verdicts[strings.ToLower(s)] || strings.ContainsAny(s, "/:,()'") {
		return false
	}
	return isSymbol(s) || isCapital(s) && len(s) > 3 || strings.Contains(s, "_") || strings.ToLower(s) == s && strings.Contains(s, "-") && !strings.Contains(s, " ")
}

func (r *reader) errnoMember(v wire.Value) {
	if s := str(v); errnos[s] {
		keep(&r.said.Errno, s)
	}
	if n, ok := v.Int64(); ok && n < 0 && n > -200 && r.said.Errno == "" {
		r.said.Errno = errnoNumbers[int(-n)] // Node uses the negative system number
	}
}

// retryMember reads a boolean, or the retry advice of a typed envelope.
func (r *reader) retryMember(v wire.Value) {
	if yes, ok := v.Bool(); ok {
		r.retryable(yes)
	}
	kind := str(v)
	if v.Type() == wire.TypeObject {
		kind = str(v.Path("kind"))
		for name, m := range v.Members() {
			r.delayMember(fold(str(name)), m)
		}
	}
	switch kind {
	case "not_retryable", "never", "none", "no":
		r.retryable(false)
	case "retryable_immediate", "retryable_after_ms", "retryable", "immediate", "yes":
		r.retryable(true)
	}
}

func (r *reader) requestMember(v wire.Value) {
	if s := str(v); len(s) >= 4 && len(s) <= 128 && !strings.Contains(s, " ") {
		keep(&r.said.RequestID, s)
	}
}

// adviceMember reads a sentence, a list of sentences, or an object that holds one.
func (r *reader) adviceMember(v wire.Value) {
	switch v.Type() {
	case wire.TypeString:
		keep(&r.said.Suggestion, str(v))
	case wire.TypeArray:
		var all []string
		for e := range v.Elements() {
			if s := str(e); s != "" && len(all) < 8 {
				all = append(all, clip(s, 256))
			}
		}
		keep(&r.said.Suggestion, strings.Join(all, "; "))
	case wire.TypeObject:
		for _, name := range []string{"hint", "suggestion", "message", "action", "description", "instructions", "steps", "next", "text"} {
			if m, ok := v.Get(name); ok && m.Type() != wire.TypeObject {
				r.adviceMember(m)
			}
		}
	case wire.TypeAbsent, wire.TypeNull, wire.TypeBool, wire.TypeNumber:
	}
}

func (r *reader) stackMember(v wire.Value) {
	if v.Type() == wire.TypeArray {
		first, _ := v.Index(0)
		v = first
	}
	keep(&r.said.Stack, clip(str(v), MaxText))
}

func (r *reader) toolMember(v wire.Value) {
	if s := str(v); isToolName(s) {
		keep(&r.said.Tool, s)
	}
}

// delayNames are the members that hold a delay, with the unit of a bare number.
var delayNames = map[string]time.Duration{
	"retryafter": time.Second, "retryafterseconds": time.Second, "retryaftersecs": time.Second, "retryaftersec": time.Second, "retryafters": time.Second, "retryin": time.Second, "retryinseconds": time.Second,
	"retryafterms": time.Millisecond, "retryaftermillis": time.Millisecond, "retryaftermilliseconds": time.Millisecond, "retrydelayms": time.Millisecond, "suggesteddelayms": time.Millisecond,
	"afterms": time.Millisecond, "delayms": time.Millisecond, "backoffms": time.Millisecond, "retryinms": time.Millisecond, "waitms": time.Millisecond, "cooldownms": time.Millisecond,
	"retrydelay": time.Second, "waitseconds": time.Second, "resetin": time.Second, "resetafter": time.Second, "resetinseconds": time.Second, "backoffseconds": time.Second, "waittime": time.Second,
	"xratelimitresetafter": time.Second, "cooldownseconds": time.Second, "retryafterminutes": time.Minute,
}

// momentNames are the members that hold a point in time. Small numbers in them are delays.
var momentNames = set("xratelimitreset", "ratelimitreset", "resetat", "resetsat", "resettime", "reset", "retryat", "retrynotbefore", "nextretryat", "rateLimitResetAt", "ratelimitresetat", "availableat", "xratelimitresetrequests", "resetdate", "retryafter", "retryafterdate")

func (r *reader) delayMember(key string, v wire.Value) {
	unit, waits := delayNames[key]
	if !waits && !momentNames[key] {
		return
	}
	if n, ok := v.Float64(); ok {
		r.numberOf(n, unit, waits)
		return
	}
	s := strings.TrimSpace(str(v))
	if t, ok := dateIn(s); ok && s != "" {
		r.moment(t)
		return
	}
	if d, ok := spanOf(s, unit); ok && s != "" {
		r.delay(d)
		return
	}
	if n, err := strconv.ParseFloat(s, 64); err == nil {
		r.numberOf(n, unit, waits)
	}
	if secs, ok := v.Path("seconds").Float64(); ok { // protobuf's Duration as an object
		r.delay(time.Duration(secs * float64(time.Second)))
	}
}

func (r *reader) numberOf(n float64, unit time.Duration, waits bool) {
	if n < 0 {
		return
	}
	if waits && n < 1e9 {
		if n*float64(unit) <= float64(maxDelay) {
			r.delay(time.Duration(n * float64(unit)))
		}
		return
	}
	r.epoch(n, true)
}

// spanOf reads "3s", "1m30s" and ISO 8601's "PT30S".
func spanOf(s string, unit time.Duration) (time.Duration, bool) {
	low := lowerASCII(s)
	if rest, ok := strings.CutPrefix(low, "pt"); ok {
		low = rest
	}
	if d, ok := span(low, false); ok {
		return d, true
	}
	if n, rest, ok := leadingNumber(low); ok && rest == "" && unit > 0 && n < 1e9 && n*float64(unit) <= float64(maxDelay) {
		return time.Duration(n * float64(unit)), true
	}
	return 0, false
}
