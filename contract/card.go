package contract

import (
	"strings"

	"github.com/candor-mcp/candor/wire"
)

// card holds the members of a JSON object that can mark a failure, collected in one pass. Names are compared in lower case.
type card struct {
	size int

	refused, granted bool // a success flag is false, or true
	flagged          bool // isError or error is true, or an exit code is bad
	exited           bool // an exit code is bad
	named            bool // it has an id member, as records do
	thrown           bool // its name member is the name of an exception
	judged           bool // the payload is a judgement, such as valid: false
	plainOnly        bool // it has only members that a bare error message has

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
	markDetail        // a sentence, or an error with a message member
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

// marks maps names in lower case to marks. Other names that begin with "error" are faults, with a few exceptions; see markOf.
var marks = marksOf(map[mark]string{
	markSuccess:  "success ok succeeded issuccess is_success successful erfolg exito sucesso",
	markFailure:  "iserror is_error haserror",
	markExit:     "exit_code exitcode returncode return_code errcode errno",
	markJudged:   "valid isvalid is_valid passed up available",
	markFault:    "err exception fault errmsg errormsg functionerror erro",
	markFaults:   "errors errormessages error_messages usererrors",
	markDetail:   "detail",
	markData:     "data results items",
	markResult:   "result",
	markMessage:  "message msg reason why error_description meldung mensaje mensagem information note statusreason",
	markProse:    "info title body description descripcion output content text",
	markStatus:   "status state outcome rc",
	markNumber:   "statuscode status_code httpstatus http_status code cod estado errorcode error_code",
	markKind:     "type object __typename",
	markMeta:     "meta header head",
	markHarmless: "documentation_url details request_id requestid traceid trace_id timestamp id",
})

func marksOf(names map[mark]string) map[string]mark {
	out := make(map[string]mark)
	for m, words := range names {
		for w := range strings.FieldsSeq(words) {
			out[w] = m
		}
	}
	return out
}

func markOf(key string) mark {
	if m, ok := marks[key]; ok {
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

// maxCard is the number of members that are examined. Error objects are small.
const maxCard = 40

func cardOf(v wire.Value) card {
	c := card{plainOnly: true}
	for name, member := range v.Members() {
		if c.size++; c.size > maxCard {
			break
		}
		key, _ := name.Str()
		c.note(strings.ToLower(key), member)
	}
	return c
}

// note records one member.
func (c *card) note(key string, v wire.Value) {
	m := markOf(key)
	c.named = c.named || key == "id" || key == "_id" || key == "uuid"
	c.thrown = c.thrown || key == "name" && isExceptionName(v)
	c.plainOnly = c.plainOnly && plainMark(m, v)
	switch m {
	case markSuccess, markFailure, markExit, markJudged:
		c.noteFlag(m, v)
	case markFault:
		yes, _ := v.Bool()
		c.flagged = c.flagged || yes && key == "error"
		c.mute = c.mute || string(v.Raw()) == "{}"
		c.noteFault(v)
	case markDetail:
		c.noteDetail(v)
	case markMessage, markProse:
		c.noteMessage(v)
	case markResult:
		c.result = v
		c.noteData(v)
	case markData:
		c.noteData(v)
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
	case markDetail:
		return v.Type() == wire.TypeString
	default:
		return false
	}
}

func (c *card) noteFlag(m mark, v wire.Value) {
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

func (c *card) noteFault(v wire.Value) {
	if says(v) {
		c.fault = v
	}
}

// noteDetail records a string as the message, and a list or an object with a message as an error.
func (c *card) noteDetail(v wire.Value) {
	switch {
	case v.Type() == wire.TypeString:
		c.message = v
	case v.Path("message").Present() || v.Type() == wire.TypeArray:
		c.noteFault(v)
	}
}

func (c *card) noteMessage(v wire.Value) {
	if v.Type() == wire.TypeString && !c.message.Present() {
		c.message = v
	}
}

func (c *card) noteData(v wire.Value) {
	if says(v) {
		c.data = v
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
