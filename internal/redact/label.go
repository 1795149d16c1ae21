package redact

import "strings"

// Labels reports whether a member of that name may hold the label of a value in the same object, as in {"name":"password","value":…}.
func Labels(member string) bool { return labels[member] }

// Labelled reports whether a member of that name may hold the value for such a label.
func Labelled(member string) bool { return values[member] }

// values are the members that hold the value for a label in the same object.
var values = set("value", "val", "Value", "input", "content", "received", "got", "actual", "rejectedValue", "rejected_value",
	"attemptedValue", "invalidValue", "invalid_value", "input_value", "data", "default", "provided", "example")

// labels are the members that hold the label of a value in the same object.
var labels = set("name", "Name", "key", "Key", "header", "param", "parameter", "field", "variable", "env", "path", "loc", "property", "label",
	"arg", "argument", "attribute", "instancePath", "pointer")

// Label reports whether a label names a secret, by the last segment of a path.
func Label(text string) bool {
	return len(text) <= maxLabel && Key(text[strings.LastIndexAny(text, "/.")+1:])
}

// maxLabel is the maximum length of a label. A longer text is prose.
const maxLabel = 128

// Flag reports whether the text after this one in a list is a secret, as in ["--password","x"].
func Flag(text string) bool {
	flag := strings.TrimLeft(text, "-")
	return len(flag) < len(text) && !strings.ContainsAny(text, " =") && Key(flag)
}
