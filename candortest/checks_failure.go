package candortest

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/redact"
	"github.com/candor-mcp/candor/wire"
)

var failureChecks = []check{
	{Rule: Rule{ID: "failure-is-error", Level: protocol, Needs: needsFailing,
		Title: "A tool that fails answers with a result whose isError is true.",
		Why:   "A failure that looks like a success is believed by the model and counted as a success everywhere else.",
		Fix:   "Return the tool's error as a result with isError, not as a JSON-RPC error and not as a success with the text of an error."},
		run: failureIsError},
	{Rule: Rule{ID: "failure-text", Level: manners, Needs: needsFailing,
		Title: "The first block of a failing tool's result is a text that is not empty."},
		same: "EC017", about: toolError, wrong: failureText},
	{Rule: Rule{ID: "failure-structured-content", Level: protocol, Needs: needsFailing,
		Title: "structuredContent of a failure is absent, or fits the tool's outputSchema."},
		same: "EC018", about: toolError, wrong: breaks},
	{Rule: Rule{ID: "result-type", Level: protocol, Eras: []string{era2026},
		Title: "Every result has a resultType.",
		Why:   "The schema of 2026-07-28 requires it; without it a complete result looks like one that asks for input.",
		Fix:   `Set "resultType":"complete" where results are written, errors included.`},
		run: resultType},
	{Rule: Rule{ID: "panic-survived", Level: manners, Needs: needsPanicking,
		Title: "A tool that crashes is answered with an error, and the server continues to run.",
		Why:   "One bad call otherwise ends the session of every client.",
		Fix:   "Catch panics and exceptions around every tool, and answer with isError or the error -32603."},
		run: panicSurvived},
	{Rule: Rule{ID: "error-code-integer", Level: protocol, Title: "The code of a JSON-RPC error is an integer."},
		same: "EC006", about: protocolError, wrong: codeType},
	{Rule: Rule{ID: "error-code-allowed", Level: manners,
		Title: "The code of a JSON-RPC error is a standard one or lies outside -32768 to -32000, and is not 0."},
		same: "EC007", about: protocolError, wrong: badNumber},
	{Rule: Rule{ID: "error-message", Level: protocol,
		Title: "The message of a JSON-RPC error is one concise sentence.",
		Why:   "It is shown to people and models in one line; JSON dumps and stacks belong elsewhere.",
		Fix:   "Write a sentence of at most 512 bytes on one line, and put the rest into data."},
		about: protocolError, wrong: errorMessage},
}

func failureIsError(v *visit, c *client) error {
	for _, failing := range c.tour.o.Failing {
		answer, err := c.call(v.ctx, "tools/call", failing.params())
		switch {
		case err != nil:
			return fmt.Errorf("%s: the call was not answered: %w", failing.Tool, err)
		case answer.msg.Shape() != wire.KindResult:
			return fmt.Errorf("%s: the failure is reported as a protocol error", failing.Tool)
		case !answer.isError():
			return fmt.Errorf("%s: the result does not set isError", failing.Tool)
		}
		if err := c.survives(v.ctx); err != nil {
			return fmt.Errorf("%s: %w", failing.Tool, err)
		}
	}
	return nil
}

func failureText(_ *visit, f failure) string {
	first := f.msg.Result().Path("content", 0)
	text, _ := first.Path("text").Str()
	if !first.Path("type").Is("text") || strings.TrimSpace(text) == "" {
		return "content[0] is not a text, or is empty"
	}
	return ""
}

func resultType(v *visit, c *client) error {
	listed, err := c.call(v.ctx, "tools/list", "")
	if err == nil && listed.msg.Shape() == wire.KindResult && !listed.msg.Result().Path("resultType").Present() {
		return errors.New("the result of tools/list lacks resultType")
	}
	err = v.eachFailure(toolError, func(_ *visit, f failure) string {
		if !f.msg.Result().Path("resultType").Is("complete") {
			return `the result's resultType is not "complete"`
		}
		return ""
	})
	if errors.As(err, new(skip)) { // without a failing tool only the result of the list counts
		return nil
	}
	return err
}

func panicSurvived(v *visit, c *client) error {
	answer, err := c.call(v.ctx, "tools/call", c.tour.o.Panicking.params())
	switch {
	case err != nil:
		return fmt.Errorf("the call was not answered: %w", err)
	case !answer.failed():
		return errors.New("the crash is not reported as a failure")
	}
	return c.survives(v.ctx)
}

func codeType(_ *visit, f failure) string {
	if _, ok := f.code(); !ok {
		return "error.code is not an integer"
	}
	return ""
}

// badNumber describes what the contract's allocation policy forbids about the error code.
func badNumber(v *visit, f failure) string {
	code, ok := f.code()
	if !ok || v.era == era2025 && code == noResource {
		return ""
	}
	response := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"error":{"code":%d,"message":"x"}}`, code)
	for _, violation := range contract.Read(&contract.Exchange{Response: wire.Parse(response, wire.Limits{})}).Violations {
		return violation.Message
	}
	return ""
}

func errorMessage(_ *visit, f failure) string {
	text, ok := f.msg.Error().Path("message").Str()
	switch {
	case !ok:
		return "error.message is not a string"
	case strings.TrimSpace(text) == "":
		return "error.message is blank"
	case strings.ContainsAny(text, "\r\n"):
		return "error.message has several lines"
	case len(text) > 512:
		return fmt.Sprintf("error.message has %d bytes", len(text))
	}
	return ""
}

var leakChecks = []check{
	{Rule: Rule{ID: "no-stack", Level: manners, Title: "A failure shows no stack."},
		same: "EC031", about: anyFailure, wrong: leaks(stackTrace.MatchString, "the answer holds a stack")},
	{Rule: Rule{ID: "no-path", Level: manners, Title: "A failure shows no absolute path of the server's machine."},
		same: "EC031", about: anyFailure, wrong: leaks(showsPath, "the answer holds an absolute path")},
	{Rule: Rule{ID: "no-secret", Level: manners, Title: "A failure shows no secret."},
		same: "EC016", about: anyFailure, wrong: breaks},
	{Rule: Rule{ID: "no-type-name", Level: manners,
		Title: "A failure uses the caller's words, not the names of the server's types.",
		Why:   "\"cannot unmarshal string into Go struct field\" does not say what to send instead.",
		Fix:   "Write your own sentence for each kind of mistake."},
		about: anyFailure, wrong: leaks(typeName.MatchString, "the answer holds names of the server's own types")},
}

// stackTrace matches the stack traces of Go, JavaScript, Python, Java, .NET and Rust.
var stackTrace = regexp.MustCompile(`goroutine \d+ \[|(?m)^\s+at \S.*:\d+(:\d+)?\)?\s*$|Traceback \(most recent call last\)|` +
	`\bFile "[^"]+", line \d+|\bat [\w.$<>]+\([\w.]+\.(java|kt|scala):\d+\)|thread '[^']*' panicked at|\w\.go:\d+`)

// typeName matches type names that appear in the errors of decoders and validators.
var typeName = regexp.MustCompile(`\bGo (struct field|value of type)\b|map\[string\]|interface ?\{\}|\*\w+\.[A-Z]\w+|&\{[A-Z]\w+:|` +
	`\[object Object\]|\bNoneType\b|<class '|\b(TypeError|KeyError|AttributeError|ZodError|ValidationError|RangeError):|` +
	`\bjava\.\w+\.\w+|\bSystem\.\w+Exception\b|\bcannot read propert(y|ies) of (undefined|null)\b`)

// showsPath reports whether redaction shortens a path in the text.
func showsPath(text string) bool {
	const mark = "…/"
	return strings.Count(redact.Text(text), mark) > strings.Count(text, mark)
}

func leaks(shows func(string) bool, problem string) func(*visit, failure) string {
	return func(_ *visit, f failure) string {
		if shows(f.text()) {
			return problem
		}
		return ""
	}
}
