package contract

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/candor-mcp/candor/wire"
)

// suspectValue applies the rules to a JSON payload, which is an object or a list of objects.
func suspectValue(v wire.Value, a ask) (Rule, bool) {
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
	c := cardOf(v)
	said := c.message.Present() || c.fault.Present()
	return c.exited && c.size <= 5 || c.refused && c.size <= 5 && said || c.statusIsBad() && c.size <= 3
}

func suspectOuter(v wire.Value, a ask, depth int) (Rule, bool) {
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

func suspectObject(v wire.Value, a ask, depth int) (Rule, bool) {
	c := cardOf(v)
	switch {
	case depth == 0 && c.thrown && (isBadStatus(c.number) || isBadStatus(c.status)):
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
	case depth == 0 && c.listRejected(a):
		return ruleAllRejected, true
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
	c := cardOf(v)
	return c.flagged || c.refused || c.faultOnly() || c.statusIsBad() || c.numberIsBad()
}

// refusedInside reports whether v is the inner part of a dual envelope that failed: the outer flag says that the call was
// transmitted, the inner one that it failed.
func refusedInside(v wire.Value) bool {
	if v.Type() != wire.TypeObject {
		return false
	}
	c := cardOf(v)
	return c.refused && (c.fault.Present() || c.message.Present())
}

// faultOnly reports whether the object has an error member and is too small to be a record with an error among its fields.
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
	if one, isText := c.result.Str(); !ok && isText {
		word, ok = one, true
	}
	if !ok || !badStatus[strings.ToLower(word)] || c.size > 6 {
		return false
	}
	return c.message.Present() || c.fault.Present() || c.data.Present() && !c.result.Present()
}

// numberIsBad reports whether a small object has an HTTP status from 400 to 599 and a message.
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

// messageOnly reports whether the object is only a message, and the message reads as a failure.
func (c *card) messageOnly(a ask) bool {
	if !c.message.Present() || !c.plainOnly || c.size > 4 {
		return false
	}
	text, _ := c.message.StrBytes()
	hidden, _ := a.hide(text)
	var l line
	l.read(hidden, false)
	view := textView{first: l, ask: a}
	return (opening.begins(&l) || predicates.within(&l, 30)) && !view.tellsSuccess() && !empty.begins(&l)
}

// allRejected reports whether every item of a list failed.
func allRejected(v wire.Value) bool {
	n := 0
	for e := range v.Elements() {
		if n++; n > 20 || e.Type() != wire.TypeObject {
			return false
		}
		c := cardOf(e)
		coded := c.number.Type() == wire.TypeString && c.message.Present() && c.size <= 3
		failed := c.flagged && !c.exited || c.refused || c.statusIsBad() && c.size <= 3 || coded || c.faultOnly() && !c.data.Present()
		if !failed || c.named {
			return false
		}
	}
	return n > 0
}

// listRejected reports whether the object holds a list of failed items, each about a different item that the call listed. It is
// false for tools that report, such as those that run tests, because their regular answer may consist of failures.
func (c *card) listRejected(a ask) bool {
	if c.size > 5 || c.data.Type() != wire.TypeArray || splitName(a.tool).any(reportWords) || !allRejected(c.data) {
		return false
	}
	things := a.listed()
	for item := range c.data.Elements() {
		i := slices.IndexFunc(things, func(thing []byte) bool { return bytes.Contains(item.Raw(), thing) })
		if i < 0 {
			return false
		}
		things = slices.Delete(things, i, i+1)
	}
	return true
}

var reportWords = wordSet("get list query run search find show fetch status report history test tests")

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
