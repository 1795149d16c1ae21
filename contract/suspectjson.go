package contract

import (
	"strconv"
	"strings"

	"github.com/candor-mcp/candor/wire"
)

// suspectValue applies the rules to a JSON payload, which is an object or a list of objects.
func suspectValue(v wire.Value, a callFacts) (string, bool) {
	rule, ok := suspectOuter(v, a, 0)
	if !ok {
		return "", false
	}
	// Content from a file or a command is data, unless it mentions the call or has a failure flag with a reason.
	if a.source().borrowed() && !flaggedWithReason(v) {
		hidden, echoed := a.hide(v.Raw()[:min(len(v.Raw()), considered)])
		return rule, echoed || ownVoiceIn(hidden)
	}
	return rule, true
}

// flaggedWithReason reports whether v is a small object that states a failure and its reason.
func flaggedWithReason(v wire.Value) bool {
	c := objectMembersOf(v)
	said := c.message.Present() || c.fault.Present()
	return c.exited && c.size <= 5 || c.refused && c.size <= 5 && said || c.statusIsBad() && c.size <= 3
}

func suspectOuter(v wire.Value, a callFacts, depth int) (string, bool) {
	switch v.Type() {
	case wire.TypeArray:
		return ruleAllRejected, allRejected(v) && !a.judges()
	case wire.TypeObject:
		return suspectObject(v, a, depth)
	case wire.TypeString:
		if depth > 0 {
			return suspectText(v, a)
		}
		return "", false
	case wire.TypeAbsent, wire.TypeNull, wire.TypeBool, wire.TypeNumber:
		return "", false
	default:
		return "", false
	}
}

func suspectObject(v wire.Value, a callFacts, depth int) (string, bool) {
	c := objectMembersOf(v)
	switch {
	case depth == 0 && c.thrown && (isBadStatus(c.number) || isBadStatus(c.status) || c.isException()):
		return ruleErrorMember, true
	case c.judged:
		return "", false
	case c.flagged:
		return ruleFalseFlag, true
	case c.granted:
		return ruleInnerFlag, depth == 0 && refusedInside(c.data)
	case c.size == 1 && refusedInside(c.data):
		return ruleInnerFlag, true
	case c.refused:
		return ruleFalseFlag, true
	case c.size == 1 && c.result.Present() && depth == 0:
		return suspectOuter(c.result, a, depth+1)
	case c.faultOnly(), c.mute && c.size == 1: // an empty error object is still an error
		return ruleErrorMember, true
	case c.faultsOnly():
		return ruleErrorsMember, true
	case c.statusIsBad():
		return ruleStatusWord, true
	case c.numberIsBad():
		return ruleStatusNumber, true
	case c.kindIsError():
		return ruleErrorMember, true
	case depth == 0 && (insideIsBad(c.status) || insideIsBad(c.meta)):
		return ruleErrorMember, true
	default:
		return ruleErrorMessage, c.messageOnly(a)
	}
}

// insideIsBad reports whether a status or meta object, in which some services put the outcome, describes a failure.
func insideIsBad(v wire.Value) bool {
	if v.Type() != wire.TypeObject {
		return false
	}
	c := objectMembersOf(v)
	return c.flagged || c.refused || c.faultOnly() || c.statusIsBad() || c.numberIsBad()
}

// refusedInside reports whether v is the inner part of a dual envelope that failed: the outer flag says that the call was
// transmitted, the inner one that it failed.
func refusedInside(v wire.Value) bool {
	if v.Type() != wire.TypeObject {
		return false
	}
	c := objectMembersOf(v)
	return c.refused && (c.fault.Present() || c.message.Present())
}

// faultOnly reports whether the object has an error member and is too small to be a record with an error among its fields.
func (c *objectMembers) faultOnly() bool {
	if !c.fault.Present() || c.fault.Type() == wire.TypeArray {
		return false
	}
	return c.fault.Type() == wire.TypeObject && c.size <= 12 || c.size <= 8
}

func (c *objectMembers) faultsOnly() bool {
	if c.data.Present() || c.size > 5 {
		return false
	}
	if t := c.faults.Type(); t == wire.TypeString || t == wire.TypeObject {
		return says(c.faults)
	}
	n := 0
	for e := range c.faults.Elements() {
		if t := e.Type(); t != wire.TypeString && t != wire.TypeObject {
			return false
		}
		n++
	}
	return n > 0
}

func (c *objectMembers) statusIsBad() bool {
	word, ok := c.status.Str()
	if one, isText := c.result.Str(); !ok && isText {
		word, ok = one, true
	}
	if !ok || !tables().BadStatus[strings.ToLower(word)] || c.size > 6 {
		return false
	}
	return c.message.Present() || c.fault.Present() || c.data.Present() && !c.result.Present()
}

// numberIsBad reports whether a small object has an HTTP status from 400 to 599 and a message.
func (c *objectMembers) numberIsBad() bool {
	return c.message.Present() && c.size <= 6 && (isBadStatus(c.number) || isBadStatus(c.status))
}

func isBadStatus(v wire.Value) bool {
	n, ok := v.Int64()
	if s, isText := v.Str(); isText {
		parsed, err := strconv.ParseInt(s, 10, 32)
		n, ok = parsed, err == nil
	}
	return ok && n >= 400 && n <= 599
}

func (c *objectMembers) kindIsError() bool {
	word, _ := c.kind.Str()
	word = strings.ToLower(word)
	if strings.HasSuffix(word, "_error") && c.errorOnly && c.number.Type() == wire.TypeString {
		return true // {"type": "authentication_error", "code": "unauthorized", …}
	}
	return (word == "error" || c.size <= 4 && strings.HasSuffix(word, "error")) && (c.message.Present() || c.size <= 3)
}

// messageOnly reports whether the object is only a message, and the message reads as a failure.
func (c *objectMembers) messageOnly(a callFacts) bool {
	if !c.message.Present() || !c.plainOnly || c.size > 4 {
		return false
	}
	text, _ := c.message.StrBytes()
	hidden, _ := a.hide(text)
	var l line
	l.read(hidden, false)
	view := textView{first: l, call: a}
	return (tables().Opening.begins(&l) || tables().Predicates.within(&l, 30)) && !view.tellsSuccess() && !tables().Empty.begins(&l)
}

// allRejected reports whether every item of a list failed.
func allRejected(v wire.Value) bool {
	n := 0
	for e := range v.Elements() {
		if n++; n > 20 || e.Type() != wire.TypeObject {
			return false
		}
		c := objectMembersOf(e)
		coded := c.number.Type() == wire.TypeString && c.message.Present() && c.size <= 3
		failed := c.flagged && !c.exited || c.refused || c.statusIsBad() && c.size <= 3 || coded || c.faultOnly() && !c.data.Present()
		if !failed || c.named {
			return false
		}
	}
	return n > 0
}

func ownVoiceIn(text []byte) bool {
	for len(text) > 0 {
		var l line
		rest := l.read(text, true)
		if tables().OwnVoice.within(&l, lineWords) {
			return true
		}
		if len(rest) >= len(text) {
			return false
		}
		text = rest
	}
	return false
}

// objectMembers holds the members of a JSON object that can mark a failure, collected in one pass. Names are compared in lower case.
type objectMembers struct {
	size int

	refused, granted bool // a success flag is false, or true
	flagged          bool // isError or error is true, or an exit code is bad
	exited           bool // an exit code is bad
	named            bool // it has an id member, as records do
	thrown           bool // its name member is the name of an exception
	judged           bool // the payload is a judgement, such as valid: false
	plainOnly        bool // it has only members that a bare error message has
	errorOnly        bool // it has only members that an error object of a service has

	mute    bool       // an error member is an empty object, as when an exception could not be encoded
	fault   wire.Value // an error member that is not empty
	faults  wire.Value // a list of errors
	data    wire.Value // a payload that is not empty
	result  wire.Value // the member of that name
	message wire.Value // a sentence
	status  wire.Value // a word, a number or an object
	number  wire.Value // a code
	kind    wire.Value // a type
	meta    wire.Value // an object in which some services put the outcome
}

// mark is the role of a member, derived from its name.
type mark uint8

const (
	markNone     mark = iota
	markSuccess       // true on success
	markFailure       // true on failure
	markExit          // zero on success
	markJudged        // a judgement about something else
	markFault         // an error
	markFaults        // errors
	markData          // the payload
	markResult        // the payload, or the outcome as a word
	markMessage       // a sentence
	markProse         // a sentence, also common in data
	markStatus        // the outcome
	markNumber        // a code or an HTTP status
	markKind          // the type of the object
	markMeta          // an object about the answer
	markHarmless      // not significant, but common in error messages
)

// markNames are the names of the marks in spec/phrases.json.
var markNames = [...]string{
	markSuccess: "success", markFailure: "failure", markExit: "exit", markJudged: "judged", markFault: "fault", markFaults: "faults",
	markData: "data", markResult: "result", markMessage: "message", markProse: "prose", markStatus: "status", markNumber: "number",
	markKind: "kind", markMeta: "meta", markHarmless: "harmless",
}

// markOf returns the mark of a name in lower case. Names that begin with "error" are faults, with a few exceptions.
func markOf(key string) mark {
	if m, ok := tables().marks[key]; ok {
		return m
	}
	if !strings.HasPrefix(key, "error") {
		return markNone
	}
	for _, kind := range []string{"count", "severity", "level", "rate", "budget", "threshold", "log", "url"} {
		if strings.HasSuffix(key, kind) {
			return markNone
		}
	}
	return markFault
}

// maxMembers is the number of members that are examined. Error objects are small.
const maxMembers = 40

func objectMembersOf(v wire.Value) objectMembers {
	c := objectMembers{plainOnly: true, errorOnly: true}
	for name, member := range v.Members() {
		if c.size++; c.size > maxMembers {
			break
		}
		key, _ := name.Str()
		c.note(strings.ToLower(key), member)
	}
	return c
}

// note records one member.
func (c *objectMembers) note(key string, v wire.Value) {
	m := markOf(key)
	c.named = c.named || key == "id" || key == "_id" || key == "uuid"
	c.thrown = c.thrown || key == "name" && isExceptionName(v)
	c.plainOnly = c.plainOnly && plainMark(m, v)
	c.errorOnly = c.errorOnly && key != "id" && (m == markKind || m == markFaults || plainMark(m, v))
	switch m {
	case markSuccess, markFailure, markExit, markJudged:
		c.noteFlag(m, v)
	case markFault:
		yes, _ := v.Bool()
		c.flagged = c.flagged || yes && key == "error"
		c.mute = c.mute || string(v.Raw()) == "{}"
		if says(v) {
			c.fault = v
		}
	case markMessage, markProse:
		if v.Type() == wire.TypeString && !c.message.Present() {
			c.message = v
		}
	case markResult, markData:
		if m == markResult {
			c.result = v
		}
		if says(v) {
			c.data = v
		}
	case markFaults:
		c.faults = v
	case markStatus:
		c.status = v
	case markNumber:
		c.number = v
	case markKind:
		c.kind = v
	case markMeta:
		c.meta = v
	case markHarmless, markNone:
	}
}

// isException reports whether an object with the name of an exception is that exception as JSON: it has a number too, such as the status of
// a response, and no id or payload.
func (c *objectMembers) isException() bool {
	return c.number.Type() == wire.TypeNumber && !c.named && !c.data.Present() && c.size <= 8
}

// isExceptionName reports whether v is a name such as ApiError or TimeoutException.
func isExceptionName(v wire.Value) bool {
	name, _ := v.Str()
	return strings.HasSuffix(name, "Error") || strings.HasSuffix(name, "Exception")
}

// plainMark reports whether a bare error message may have this member.
func plainMark(m mark, v wire.Value) bool {
	switch m {
	case markMessage, markNumber, markHarmless:
		return true
	case markStatus:
		return v.Type() != wire.TypeObject
	default:
		return false
	}
}

func (c *objectMembers) noteFlag(m mark, v wire.Value) {
	yes, isFlag := v.Bool()
	switch m {
	case markSuccess:
		c.refused = c.refused || isFlag && !yes
		c.granted = c.granted || isFlag && yes
	case markFailure:
		c.flagged = c.flagged || yes
	case markExit:
		n, ok := v.Int64()
		c.exited = c.exited || ok && n != 0
		c.flagged = c.flagged || c.exited
	default:
		c.judged = true
	}
}

// says reports whether a value is a string, an object or an array that is not empty.
func says(v wire.Value) bool {
	switch raw := string(v.Raw()); raw {
	case "", "null", "false", "0", `""`, "[]", "{}":
		return false
	default:
		return v.Type() == wire.TypeString || v.Type() == wire.TypeObject || v.Type() == wire.TypeArray
	}
}
