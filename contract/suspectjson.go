package contract

import (
	"strconv"
	"strings"

	"github.com/candor-mcp/candor/wire"
)

// card is one pass over a JSON object: the members by which failures are marked, whatever their case.
type card struct {
	value                           wire.Value
	size                            int
	refused, granted, flagged       bool // a success flag that is false or true; isError or error is true
	exited, judged                  bool // a bad exit code; the payload is a judgement such as valid: false
	fault, faults, data, message    wire.Value
	status, number, kind, resultOne wire.Value
	meta                            wire.Value
	plainOnly                       bool // only members that a bare error message has
}

// maxCard bounds the members looked at: error objects are small.
const maxCard = 40

func cardOf(v wire.Value) card {
	c := card{value: v, plainOnly: true}
	for name, member := range v.Members() {
		if c.size++; c.size > maxCard {
			break
		}
		key, _ := name.Str()
		c.note(strings.ToLower(key), member)
	}
	return c
}

func (c *card) note(key string, v wire.Value) {
	flag, isFlag := v.Bool()
	switch key {
	case "erfolg", "exito", "sucesso", "success", "ok", "succeeded", "issuccess", "is_success", "successful":
		c.refused = c.refused || isFlag && !flag
		c.granted = c.granted || isFlag && flag
		c.plainOnly = false
	case "iserror", "is_error", "haserror":
		c.flagged = c.flagged || isFlag && flag
		c.plainOnly = false
	case "errors", "errormessages", "error_messages", "usererrors":
		c.faults, c.plainOnly = v, false
	case "exit_code", "exitcode", "returncode", "return_code", "errcode", "errno":
		n, ok := v.Int64()
		c.exited = c.exited || ok && n != 0
		c.flagged = c.flagged || c.exited
		c.plainOnly = false
	case "valid", "isvalid", "is_valid", "passed", "up", "available":
		c.judged, c.plainOnly = true, false
	case "err", "exception", "fault", "errmsg", "errormsg", "functionerror", "stderr", "detail":
		c.noteFault(key, v)
	case "data", "results", "items", "result":
		if key == "result" {
			c.resultOne = v
		}
		if says(v) {
			c.data = v
		}
		c.plainOnly = false
	case "message", "msg", "reason", "why", "info", "title", "body", "error_description", "description", "descripcion":
		if v.Type() == wire.TypeString && !c.message.Present() {
			c.message = v
		}
		c.plainOnly = c.plainOnly && key != "description" && key != "title" && key != "body" && key != "info"
	case "status", "state", "outcome", "rc":
		c.status, c.plainOnly = v, c.plainOnly && v.Type() != wire.TypeObject
	case "statuscode", "status_code", "httpstatus", "http_status", "code", "cod", "estado", "errorcode", "error_code":
		c.number = v
	case "type", "object", "__typename":
		c.kind = v
		c.plainOnly = false
	case "meldung", "mensaje", "mensagem", "information", "note", "statusreason":
		if v.Type() == wire.TypeString && !c.message.Present() {
			c.message = v
		}
	case "meta", "header", "head":
		c.meta, c.plainOnly = v, false
	case "documentation_url", "details", "request_id", "requestid", "traceid", "trace_id", "timestamp", "id":
	default:
		if (strings.HasPrefix(key, "error") || strings.HasPrefix(key, "erro")) && !strings.HasSuffix(key, "count") {
			c.flagged = c.flagged || isFlag && flag && key == "error"
			c.noteFault(key, v)
		}
		c.plainOnly = false
	}
}

// noteFault keeps a member that tells of an error. A detail counts only as an object with a message of its own; a plain one is a message,
// and what a command wrote to stderr is one only beside a bad exit code.
func (c *card) noteFault(key string, v wire.Value) {
	switch {
	case !says(v) || key == "stderr":
	case key == "detail" && v.Type() == wire.TypeString:
		c.message = v
		return
	case key == "detail" && !v.Path("message").Present() && v.Type() != wire.TypeArray:
	default:
		c.fault = v
	}
	c.plainOnly = false
}

// says reports whether a value says anything: not null, false, zero or empty.
func says(v wire.Value) bool {
	switch raw := string(v.Raw()); raw {
	case "", "null", "false", "0", `""`, "[]", "{}":
		return false
	default:
		return v.Type() == wire.TypeString || v.Type() == wire.TypeObject || v.Type() == wire.TypeArray
	}
}

// suspectValue applies the rules to a JSON payload, an object or a list of them.
func suspectValue(v wire.Value, a ask) (Rule, bool) {
	rule, ok := suspectOuter(v, a, 0)
	if !ok {
		return "", false
	}
	// Content from elsewhere is data, whatever it says, unless it speaks of the call or carries a flag of its own with a reason.
	if a.source().borrowed() && !flaggedWithReason(v) {
		hidden, echoed := a.hide(v.Raw()[:min(len(v.Raw()), considered)])
		return rule, echoed || ownVoiceIn(hidden)
	}
	return rule, true
}

// flaggedWithReason is a small object that says both that it failed and why.
func flaggedWithReason(v wire.Value) bool {
	c := cardOf(v)
	return (c.refused || c.exited) && c.size <= 5 && (c.message.Present() || c.fault.Present() || c.exited)
}

func suspectOuter(v wire.Value, a ask, depth int) (Rule, bool) {
	switch v.Type() {
	case wire.TypeArray:
		return RuleAllRejected, allRejected(v, a)
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

func suspectObject(v wire.Value, a ask, depth int) (Rule, bool) {
	c := cardOf(v)
	switch {
	case c.judged:
		return "", false
	case c.flagged:
		return RuleFalseFlag, true
	case c.granted:
		return RuleInnerFlag, depth == 0 && refusedInside(c.data)
	case c.size == 1 && refusedInside(c.data):
		return RuleInnerFlag, true
	case c.refused:
		return RuleFalseFlag, true
	case c.size == 1 && c.resultOne.Present() && depth == 0:
		return suspectOuter(c.resultOne, a, depth+1)
	case c.faultOnly():
		return RuleErrorMember, true
	case c.faultsOnly():
		return RuleErrorsMember, true
	case c.statusIsBad():
		return RuleStatusWord, true
	case c.numberIsBad():
		return RuleStatusNumber, true
	case c.kindIsError():
		return RuleErrorMember, true
	case depth == 0 && (insideIsBad(c.status) || insideIsBad(c.meta)):
		return RuleErrorMember, true
	default:
		return RuleErrorMessage, c.messageOnly(a)
	}
}

// insideIsBad looks into a status or meta object, where some services put the outcome.
func insideIsBad(v wire.Value) bool {
	if v.Type() != wire.TypeObject {
		return false
	}
	c := cardOf(v)
	return c.flagged || c.refused || c.faultOnly() || c.statusIsBad() || c.numberIsBad()
}

// refusedInside is the dual envelope: the outer flag says the call was carried, the inner one that it failed.
func refusedInside(v wire.Value) bool {
	if v.Type() != wire.TypeObject {
		return false
	}
	c := cardOf(v)
	return c.refused && (c.fault.Present() || c.message.Present())
}

// faultOnly is an error member in an object that is not a large record with an error among its fields.
func (c *card) faultOnly() bool {
	if !c.fault.Present() || c.fault.Type() == wire.TypeArray {
		return false
	}
	return c.fault.Type() == wire.TypeObject && c.size <= 12 || c.size <= 8
}

func (c *card) faultsOnly() bool {
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

var badStatus = wordSet("error failed failure fail rejected err denied unauthorized timeout exception invalid forbidden not_found")

func (c *card) statusIsBad() bool {
	word, ok := c.status.Str()
	if one, isText := c.resultOne.Str(); !ok && isText {
		word, ok = one, true
	}
	if !ok || !badStatus[strings.ToLower(word)] || c.size > 6 {
		return false
	}
	return c.message.Present() || c.fault.Present() || c.data.Present() && !c.resultOne.Present()
}

// numberIsBad is an HTTP status of 400 or more beside a message, in a small object.
func (c *card) numberIsBad() bool {
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

func (c *card) kindIsError() bool {
	word, _ := c.kind.Str()
	word = strings.ToLower(word)
	return (word == "error" || c.size <= 4 && strings.HasSuffix(word, "error")) && (c.message.Present() || c.size <= 3)
}

// messageOnly is an object that is nothing but a message, and the message reads as a failure.
func (c *card) messageOnly(a ask) bool {
	if !c.message.Present() || !c.plainOnly || c.size > 4 {
		return false
	}
	text, _ := c.message.StrBytes()
	hidden, _ := a.hide(text)
	var l line
	l.read(hidden, false)
	view := textView{first: l}
	return (opening.begins(&l) || predicates.within(&l, 30)) && !view.tellsSuccess() && !empty.begins(&l)
}

// allRejected is a list in which every item failed. One good item makes it an answer.
func allRejected(v wire.Value, a ask) bool {
	n := 0
	for e := range v.Elements() {
		if n++; n > 20 || e.Type() != wire.TypeObject {
			return false
		}
		c := cardOf(e)
		coded := c.number.Type() == wire.TypeString && c.message.Present() && c.size <= 3
		if !c.flagged && !c.refused && !c.statusIsBad() && !coded && !(c.faultOnly() && !c.data.Present()) {
			return false
		}
	}
	return n > 0 && !a.source().borrowed()
}

func ownVoiceIn(text []byte) bool {
	for len(text) > 0 {
		var l line
		rest := l.read(text, true)
		if ownVoice.within(&l, lineWords) {
			return true
		}
		if len(rest) >= len(text) {
			return false
		}
		text = rest
	}
	return false
}
