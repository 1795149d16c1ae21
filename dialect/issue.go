package dialect

import (
	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/wire"
)

// notValid is said of a field about which nothing else is known.
const notValid = "is not valid"

// rewriteIssues copies a list of issues with every path in another spelling, path and message first. It returns false for
// what is not a list of objects that have a path.
func rewriteIssues(list wire.Value, spell func(string) string, needMessage bool) ([]byte, bool) {
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
		out = appendIssue(out, issue, spell(path), needMessage)
	}
	return append(out, ']'), true
}

func appendIssue(dst []byte, issue wire.Value, path string, needMessage bool) []byte {
	dst = jsontext.AppendString(append(dst, `{"path":`...), path)
	message, has := issue.Get("message")
	switch {
	case has:
		dst = appendRaw(dst, "message", message.Raw())
	case needMessage:
		dst = appendMember(dst, "message", firstOf(scalarText(issue.Path("hint")), scalarText(issue.Path("rule")), notValid))
	}
	for name, value := range issue.Members() {
		if !name.Is("path") && !name.Is("message") {
			dst = append(append(append(append(dst, ','), name.Raw()...), ':'), value.Raw()...)
		}
	}
	return append(dst, '}')
}
