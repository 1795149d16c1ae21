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
		key := Fold(clip(str(name), maxPath))
		if read := direct[key]; read != nil {
			read(r, m)
		}
		r.delayMember(key, m)
	}
	for name, m := range v.Members() {
		if !tables().Lists[Fold(clip(str(name), maxPath))] {
			continue
		}
		r.issueList(m, nil)
		r.issueMap(m)
	}
	text := r.sentence(v)
	for name, m := range v.Members() {
		if inner := r.deeper(Fold(clip(str(name), maxPath)), m); text == "" {
			text = inner
		}
	}
	return text
}

// direct has the reader of each member with a field in Said, by its folded name.
var direct = func() map[string]func(r *reader, v wire.Value) {
	direct := make(map[string]func(r *reader, v wire.Value))
	for _, row := range []struct {
		read  func(r *reader, v wire.Value)
		names string
	}{
		{(*reader).codeMember, `code errorcode errcode symbol failurecode`},
		{(*reader).statusMember, `status statuscode httpstatus httpstatuscode httpcode responsestatus responsecode statustext`},
		{(*reader).typeMember, `type errortype __type type_ kind name exception exceptiontype errorclass errorname`},
		{(*reader).slugMember, `category reason error subcode`},
		{(*reader).errnoMember, `errno`},
		{(*reader).retryMember, `retryable isretryable canretry shouldretry transient temporary istransient retry`},
		{(*reader).requestMember, `requestid xrequestid correlationid traceid errorid incidentid ref eventid operationid`},
		{(*reader).adviceMember, `hint hints suggestion suggestions help fix suggestedfix remediation resolution recommendation advice
		howtofix nextsteps nextstep agentguidance tip useraction solution solutions possiblesolutions recovery
		suggestedaction recoveryhint guidance troubleshooting instructions`},
		{(*reader).stackMember, `stack stacktrace traceback`},
	} {
		for name := range strings.FieldsSeq(row.names) {
			direct[name] = row.read
		}
	}
	return direct
}()

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
	case tables().ErrnoNames[s]:
		keep(&r.said.Errno, s)
	case isWord(s):
		r.symbol(s)
	}
}

// anyNumber records n as a status if HTTP defines it, else as a number of the peer.
func (r *reader) anyNumber(n int64) {
	if n >= 100 && n < 600 && isStatus(int(n)) {
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
	if isSymbol(s) || isCapital(s) && len(s) > 4 && strings.ToUpper(s) == s && !tables().Verdicts[strings.ToLower(s)] {
		r.symbol(s)
		return
	}
	if n := phraseStatus(s); n != 0 {
		r.status(n)
	}
}

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
	if s := strings.TrimSpace(str(v)); isSlug(s) && !tables().ErrnoNames[s] {
		r.symbol(s)
	}
}

// isSlug reports whether s is a code word in lower or upper snake case or with hyphens. A single plain word is prose.
func isSlug(s string) bool {
	if !isWord(s) || tables().Verdicts[strings.ToLower(s)] || strings.ContainsAny(s, "/:,()'") {
		return false
	}
	return isSymbol(s) || isCapital(s) && len(s) > 3 || strings.Contains(s, "_") || strings.ToLower(s) == s && strings.Contains(s, "-") && !strings.Contains(s, " ")
}

func (r *reader) errnoMember(v wire.Value) {
	if s := str(v); tables().ErrnoNames[s] {
		keep(&r.said.Errno, s)
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
			r.delayMember(Fold(str(name)), m)
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

// adviceMember reads a sentence or a list of sentences.
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
	case wire.TypeObject, wire.TypeAbsent, wire.TypeNull, wire.TypeBool, wire.TypeNumber:
	}
}

func (r *reader) stackMember(v wire.Value) {
	keep(&r.said.Stack, clip(str(v), MaxText))
}

// delayNames are the members that hold a delay, with the unit of a bare number.
var delayNames = map[string]time.Duration{
	"retryafter": time.Second, "retryafterseconds": time.Second, "retryaftersecs": time.Second, "retryaftersec": time.Second, "retryafters": time.Second, "retryin": time.Second, "retryinseconds": time.Second,
	"retryafterms": time.Millisecond, "retryaftermillis": time.Millisecond, "retryaftermilliseconds": time.Millisecond, "retrydelayms": time.Millisecond, "suggesteddelayms": time.Millisecond,
	"afterms": time.Millisecond, "delayms": time.Millisecond, "backoffms": time.Millisecond, "retryinms": time.Millisecond, "waitms": time.Millisecond, "cooldownms": time.Millisecond,
	"retrydelay": time.Second, "waitseconds": time.Second, "resetin": time.Second, "resetafter": time.Second, "resetinseconds": time.Second, "backoffseconds": time.Second, "waittime": time.Second,
	"xratelimitresetafter": time.Second, "cooldownseconds": time.Second, "retryafterminutes": time.Minute,
}

// float returns a number as the nearest float64.
func float(v wire.Value) (f float64, ok bool) {
	if v.Type() != wire.TypeNumber {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(v.Raw()), 64)
	return f, err == nil
}

func (r *reader) delayMember(key string, v wire.Value) {
	unit, waits := delayNames[key]
	if !waits && !tables().Moments[key] {
		return
	}
	if n, ok := float(v); ok {
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
