package dialect

import (
	"cmp"
	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/internal/pointer"
	"github.com/candor-mcp/candor/wire"
)

// notValid is the message for a field without any other information.
const notValid = "is not valid"

// dottedIssues copies a list of issues with dotted paths, path and message first. It returns false for a value that is
// not a list of objects with a path.
func dottedIssues(list wire.Value) ([]byte, bool) {
	if list.Type() != wire.TypeArray {
		return nil, false
	}
	out := []byte{'['}
	for issue := range list.Elements() {
		path, ok := issue.Path("path").Str()
		if !ok {
			return nil, false
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = appendIssue(out, issue, dotted(path))
	}
	return append(out, ']'), true
}

func appendIssue(dst []byte, issue wire.Value, path string) []byte {
	dst = jsontext.AppendString(append(dst, `{"path":`...), path)
	if message, has := issue.Get("message"); has {
		dst = appendRaw(dst, "message", message.Raw())
	} else {
		dst = appendMember(dst, "message", cmp.Or(scalarText(issue.Path("hint")), scalarText(issue.Path("rule")), notValid))
	}
	for name, value := range issue.Members() {
		if !name.Is("path") && !name.Is("message") {
			dst = append(append(append(append(dst, ','), name.Raw()...), ':'), value.Raw()...)
		}
	}
	return append(dst, '}')
}

// The functions below read issues. Servers list them as their validators do: a path as a list of steps or with dots,
// code for rule, received for got, and bounds as separate members. The contract defines seven members; other members
// are collected in expected, because they describe the part of the schema that failed. Received values are never kept.

// issueTypes are the names of types. Any other received text is a value.
var issueTypes = map[string]bool{
	"string": true, "number": true, "integer": true, "boolean": true, "null": true, "undefined": true, "array": true, "object": true,
	"nan": true, "date": true, "bigint": true, "symbol": true, "function": true, "map": true, "set": true, "promise": true, "float": true,
}

// issueNames lists the members after path and their other names, in the order they are written.
var issueNames = []struct{ name, other string }{
	{"rule", "code"}, {"message", ""}, {"expected", ""}, {"got", "received"}, {"hint", "suggestion"}, {"example", ""},
}

// canonicalDetails converts details.issues to the form of the contract. Issues of other types than a list or a string,
// such as a count, cannot be converted and are moved to issuesSaid.
func canonicalDetails(v wire.Value) wire.Value {
	list, has := v.Get("issues")
	if !has || v.Type() != wire.TypeObject || isCanonicalIssues(list) {
		return v
	}
	to, issues := "issues", canonicalIssues(list)
	if issues == nil {
		if _, taken := v.Get("issuesSaid"); taken {
			return without(v, "issues")
		}
		to, issues = "issuesSaid", list.Raw()
	}
	var out object
	for name, value := range v.Members() {
		if name.Is("issues") {
			out = out.raw(to, issues)
		} else {
			out = out.keep(name, value)
		}
	}
	return out.value()
}

// canonicalIssues returns a list of issues in the form of the contract, or nil for a value of another type than a list or a string.
func canonicalIssues(list wire.Value) []byte {
	if list.Type() == wire.TypeString {
		return append(appendForeignIssue([]byte{'['}, list), ']')
	}
	if list.Type() != wire.TypeArray {
		return nil
	}
	out := []byte{'['}
	for issue := range list.Elements() {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = appendForeignIssue(out, issue)
	}
	return append(out, ']')
}

// appendForeignIssue appends one issue, or one for every unknown key, each with its own pointer.
func appendForeignIssue(dst []byte, issue wire.Value) []byte {
	if issue.Type() != wire.TypeObject {
		text, ok := issue.Str()
		if !ok {
			text = string(issue.Raw())
		}
		return append(jsontext.AppendString(append(dst, `{"path":"","message":`...), text), '}')
	}
	path := issuePath(issue.Path("path"))
	keys, listed := issue.Get("keys")
	if !listed || keys.Type() != wire.TypeArray || keys.Len() == 0 || !allTexts(keys) {
		return appendIssueAt(dst, path, issue)
	}
	rest := without(issue, "keys")
	n := 0
	for key := range keys.Elements() {
		if n++; n > 1 {
			dst = append(dst, ',')
		}
		dst = appendIssueAt(dst, path+pointer.Of(scalarText(key)), rest)
	}
	return dst
}

func allTexts(list wire.Value) bool {
	for v := range list.Elements() {
		if v.Type() != wire.TypeString {
			return false
		}
	}
	return true
}

// issuePath returns the pointer of a path in any spelling, or "" if it is not a path.
func issuePath(v wire.Value) string {
	if text, ok := v.Str(); ok {
		return pointerOf(text)
	}
	path := ""
	for step := range v.Elements() {
		path += pointer.Of(scalarText(step))
	}
	return path
}

func appendIssueAt(dst []byte, path string, issue wire.Value) []byte {
	dst = jsontext.AppendString(append(dst, `{"path":`...), path)
	rest := issueRest(issue)
	for _, m := range issueNames {
		v, ok := issue.Get(m.name)
		if !ok && m.other != "" {
			v, ok = issue.Get(m.other)
		}
		switch {
		case m.name == "expected":
			dst = appendExpected(dst, v, rest)
		case ok && m.name == "example":
			dst = appendRaw(dst, m.name, v.Raw())
		case !ok || v.IsNull():
		case m.name == "got":
			dst = appendMember(dst, "got", typeName(v))
		default:
			dst = jsontext.AppendString(appendName(dst, m.name), plainText(v))
		}
	}
	return append(dst, '}')
}

// issueRest returns the members of an issue other than the seven and their other names.
func issueRest(issue wire.Value) wire.Value {
	names := []string{"path", "input"} // input is a value
	for _, m := range issueNames {
		names = append(names, m.name)
		if _, both := issue.Get(m.name); m.other != "" && !both || m.other == "received" {
			names = append(names, m.other)
		}
	}
	return without(issue, names...)
}

func appendExpected(dst []byte, expected, rest wire.Value) []byte {
	switch {
	case rest.Len() == 0 && !expected.Present():
		return dst
	case rest.Len() == 0:
		return appendRaw(dst, "expected", expected.Raw())
	case !expected.Present():
		return appendRaw(dst, "expected", rest.Raw())
	default:
		all := object{}.raw("expected", expected.Raw())
		for name, value := range rest.Members() {
			all = all.keep(name, value)
		}
		return appendRaw(dst, "expected", all.json())
	}
}

// typeName returns the received type, as stated or as derived from the value.
func typeName(v wire.Value) string {
	if text, ok := v.Str(); ok && issueTypes[text] {
		return text
	}
	return v.Type().String()
}

func plainText(v wire.Value) string {
	if text, ok := v.Str(); ok {
		return text
	}
	return string(v.Raw())
}

// isCanonicalIssues reports whether a list needs no change.
func isCanonicalIssues(list wire.Value) bool {
	if list.Type() != wire.TypeArray {
		return false
	}
	for issue := range list.Elements() {
		path, ok := issue.Path("path").Str()
		if !ok || path != "" && path[0] != '/' {
			return false
		}
		for name, value := range issue.Members() {
			if !isCanonicalMember(name, value) {
				return false
			}
		}
	}
	return true
}

func isCanonicalMember(name, value wire.Value) bool {
	switch {
	case name.Is("expected"), name.Is("example"):
		return true
	case name.Is("path"), name.Is("rule"), name.Is("message"), name.Is("got"), name.Is("hint"):
		return value.Type() == wire.TypeString
	default:
		return false
	}
}
