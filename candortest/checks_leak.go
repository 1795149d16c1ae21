package candortest

import (
	"regexp"
	"strings"

	"github.com/candor-mcp/candor/contract"
)

var leakChecks = []check{
	leak("no-stack", "A failure shows no stack.",
		"It tells an attacker the server's inside and a model nothing.", "Log the stack and send a sentence.",
		stackTrace.MatchString, "the answer holds a stack"),
	leak("no-path", "A failure shows no absolute path of the server's machine.",
		"Paths name users, folders and deployments; the model passes them on.", "Send the path that the caller used, or the file's name.",
		func(text string) bool { return gains(text, "…/") }, "the answer holds an absolute path"),
	leak("no-secret", "A failure shows no secret.",
		"Keys in error texts end in transcripts, logs and prompts.", "Redact what errors of other libraries say before it leaves.",
		func(text string) bool { return gains(text, "[redacted:") }, "the answer holds what looks like a secret"),
	leak("no-type-name", "A failure speaks the caller's language, not the names of the server's types.",
		"\"cannot unmarshal string into Go struct field\" does not say what to send instead.", "Write your own sentence for each kind of mistake.",
		typeName.MatchString, "the answer holds names of the server's own types"),
}

// stackTrace matches the stack traces of Go, JavaScript, Python, Java, .NET and Rust.
var stackTrace = regexp.MustCompile(`goroutine \d+ \[|(?m)^\s+at \S.*:\d+(:\d+)?\)?\s*$|Traceback \(most recent call last\)|` +
	`\bFile "[^"]+", line \d+|\bat [\w.$<>]+\([\w.]+\.(java|kt|scala):\d+\)|thread '[^']*' panicked at|\w\.go:\d+`)

// typeName matches type names that appear in the errors of decoders and validators.
var typeName = regexp.MustCompile(`\bGo (struct field|value of type)\b|map\[string\]|interface ?\{\}|\*\w+\.[A-Z]\w+|&\{[A-Z]\w+:|` +
	`\[object Object\]|\bNoneType\b|<class '|\b(TypeError|KeyError|AttributeError|ZodError|ValidationError|RangeError):|` +
	`\bjava\.\w+\.\w+|\bSystem\.\w+Exception\b|\bcannot read propert(y|ies) of (undefined|null)\b`)

// gains reports whether redaction adds a mark to text.
func gains(text, mark string) bool {
	return strings.Count(contract.Redact(text), mark) > strings.Count(text, mark)
}

func leak(id, title, why, fix string, leaks func(string) bool, problem string) check {
	return check{Rule: Rule{ID: id, Level: Manners, Title: title, Why: why, Fix: fix,
		Want: "Texts without it, in every kind of failure the kit can cause."},
		run: func(v *visit) ruling {
			return v.eachFailure(anyFailure, when(problem, func(f failure) bool { return leaks(f.text()) }))
		}}
}
