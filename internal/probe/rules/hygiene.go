package rules

import (
	"slices"
	"strings"

	"github.com/candor-mcp/candor/internal/lazyregexp"
	"github.com/candor-mcp/candor/internal/probe"
	"github.com/candor-mcp/candor/internal/redact"
	"github.com/candor-mcp/candor/internal/schema"
	"github.com/candor-mcp/candor/wire"
)

const (
	maxError = 8 << 10 // bytes of an error
	maxEcho  = 512     // bytes of an argument that an error may repeat
	// planted is part of every credential that probe gives to a server.
	planted = "zz9secret"
)

// hygieneRules check the content of an error: no secrets, bounded, and where clients read it.
var hygieneRules = []rule{
	{Rule: probe.Rule{ID: "EC016", Title: "Secret in an answer", Severity: probe.SeverityCritical, Sets: agentSets, Outside: true,
		Reason: "An answer goes to logs, to the model provider and into the next prompt.",
		Clause: "MCP 2025-11-25, Server Features, Tools, Security Considerations: servers MUST sanitize tool outputs; evidence: 28 recorded answers carry the credential they were given",
		Fix:    "Redact credentials in every text that leaves the server."},
		what: "returns a secret",
		when: func(s *caseResult) bool { return s.answered() && s.leaksSecret() }},
	{Rule: probe.Rule{ID: "EC017", Title: "Error not in the first block", Severity: probe.SeverityMajor, Sets: agentSets, Outside: true,
		Reason: "Some clients show the model only the first block.",
		Clause: "Evidence: claude-code #1804, #39976, #86032",
		Fix:    "Put the error into content[0] as text."},
		across: hidesError},
	{Rule: probe.Rule{ID: "EC018", Title: "structuredContent of an error violates outputSchema", Severity: probe.SeverityMajor, Sets: everySet,
		Reason: "Clients that validate it discard the answer, and the error with it.",
		Clause: "MCP 2025-11-25, Server Features, Tools, Output Schema: servers MUST provide structured results that conform to the schema; errors are not exempted",
		Fix:    "Omit structuredContent from the errors of a tool with an outputSchema."},
		across: breaksOutput},
	{Rule: probe.Rule{ID: "EC019", Title: "Unknown content type", Severity: probe.SeverityMajor, Sets: everySet,
		Reason: "Clients that validate content reject the whole answer.",
		Clause: "MCP schema, ContentBlock: text, image, audio, resource_link, resource",
		Fix:    "Use text, and isError: true."},
		what: "sends a content block of an unknown type",
		when: func(s *caseResult) bool {
			content, _ := s.message.ResultMember("content")
			for block := range content.Elements() {
				if kind, ok := block.Path("type").Str(); s.Case.Tool != "" && (!ok || !slices.Contains(contentTypes, kind)) {
					return s.answered()
				}
			}
			return false
		}},
	{Rule: probe.Rule{ID: "EC020", Title: "Oversized error", Severity: probe.SeverityMinor, Sets: agentSets,
		Reason: "A whole page or a validator dump fills the context window of the model.",
		Clause: "Evidence: none of 4,785 recorded failures is as long as 8 KiB",
		Fix:    "Keep an error below a kilobyte, and write the rest to the log."},
		what: "sends an error of more than 8 KiB",
		when: func(s *caseResult) bool {
			return s.reported() && max(s.Size, int64(len(s.Response))) > maxError && !s.echoes()
		}},
	{Rule: probe.Rule{ID: "EC024", Title: "Unbounded echo of the input", Severity: probe.SeverityMinor, Sets: agentSets, Outside: true,
		Reason: "A long argument is sent back in full, and the caller pays for it twice.",
		Clause: "CWE-770; evidence: go-sdk and zod errors quote what they could not read",
		Fix:    "Quote at most a few dozen characters of an argument."},
		what: "repeats a long argument in full",
		when: func(s *caseResult) bool { return s.reported() && s.echoes() }},
	{Rule: probe.Rule{ID: "EC026", Title: "No correlation id", Severity: probe.SeverityInfo, Sets: agentSets, Outside: true,
		Reason: "A user who reports the failure cannot say which log line belongs to it.",
		Clause: "RFC 9457, instance; evidence: users want nothing to leak, and a reference to the log",
		Fix:    "Put a correlation id into the error and into the log."},
		what: "fails without a correlation id",
		when: func(s *caseResult) bool { return s.Case.Group == probe.GroupUpstream && s.reported() && !s.facts().ref }},
	{Rule: probe.Rule{ID: "EC029", Title: "Non-protocol output on standard output", Severity: probe.SeverityMajor, Sets: everySet, Outside: true,
		Reason: "Clients read every line as a message; some end the session.",
		Clause: "MCP 2025-11-25, Transports, stdio: the server MUST NOT write anything to its stdout that is not a valid MCP message",
		Fix:    "Log to standard error."},
		across: noisy},
	{Rule: probe.Rule{ID: "EC031", Title: "Path or stack trace in an error", Severity: probe.SeverityMinor, Sets: agentSets,
		Reason: "It shows the layout of the machine to outsiders, and the model cannot use it.",
		Clause: "CWE-209; CWE-497; evidence: 103 recorded answers show a path of the server, 8 a stack",
		Fix:    "Use paths relative to a folder that the caller knows, and write stack traces to the log; until then, candor wrap --mode strict withholds the text."},
		what: "returns a path or a stack trace of its machine",
		when: func(s *caseResult) bool { return s.reported() && s.leaksPath() }},
}

var contentTypes = []string{"text", "image", "audio", "resource_link", "resource"}

func (s *caseResult) leaksSecret() bool {
	for _, own := range []string{planted, probe.GivenSecret} {
		if strings.Contains(s.Response, own) && !strings.Contains(s.Request, own) {
			return true
		}
	}
	const mark = "[redacted:"
	text := masked.Get().ReplaceAllString(s.text(), "$1-$2")
	return s.reported() && !strings.Contains(s.Response, mark) && strings.Contains(redact.Text(text), mark) && !strings.Contains(redact.Text(s.Request), mark)
}

// masked matches a value from which the server has removed the secret itself, such as sk.ann.redacted. A name before a value is not one.
var masked = lazyregexp.New(`(?i)(^|[=:"'\s])[\w.~+/-]*(?:redacted|masked|hidden|\*{3,}|•{3,})[\w.~+/*•-]*($|[\s"',;&)}\]])`)

// text returns the readable parts of an answer.
func (s *caseResult) text() string {
	if e := s.message.Error(); e.Present() {
		message, _ := e.Path("message").Str()
		return message + "\n" + string(e.Path("data").Raw())
	}
	var out strings.Builder
	content, _ := s.message.ResultMember("content")
	for block := range content.Elements() {
		text, _ := block.Path("text").Str()
		out.WriteString(text)
		out.WriteByte('\n')
	}
	structured, _ := s.message.ResultMember("structuredContent")
	out.Write(structured.Raw())
	return out.String()
}

var (
	pathPattern = lazyregexp.New(`(?:^|[\s"'(=:\[,])((?:/(?:home|root|srv|usr|var|opt|app|tmp|private|Users|mnt|data|workspace|proc|etc|nix)/[^\s"'):,\]]+)|(?:[A-Z]:\\{1,2}[^\s"']+))`)
	stack       = lazyregexp.New(`\n\s+at .+:\d+:\d+|Traceback \(most recent call last\)|goroutine \d+ \[|\n\s+File ".+", line \d+`)
)

// leaksPath reports whether the answer has a stack trace, or a path that is not in the request.
func (s *caseResult) leaksPath() bool {
	text := s.text()
	if s.facts().stack || stack.MatchString(text) {
		return true
	}
	for _, found := range pathPattern.Get().FindAllStringSubmatch(text, 32) {
		if !strings.Contains(s.Request, strings.TrimRight(found[1], ".")) {
			return true
		}
	}
	return false
}

// echoes reports whether the answer repeats the beginning of a long argument.
func (s *caseResult) echoes() bool {
	for _, v := range s.arguments().Members() {
		if text, ok := v.Str(); ok && len(text) > maxEcho && strings.Contains(s.text(), text[:maxEcho]) {
			return true
		}
	}
	return false
}

// noisy finds lines on standard output that are not messages, also during the handshake.
func noisy(p *subject) []hit {
	var out []hit
	for _, s := range append(slices.Clone(p.greeting), p.results...) {
		if len(s.Noise) > 0 {
			out = append(out, hit{s: s, what: "writes lines to standard output that are not messages"})
		}
	}
	return out
}

// hidesError finds errors that do not begin with a text. The gateway prepends one, except to an answer that has the canonical error already.
func hidesError(p *subject) []hit {
	var out []hit
	for _, s := range p.results {
		if s.violates("no-first-text") {
			out = append(out, hit{s: s, what: "does not begin its error with a text", beyondGateway: s.facts().own != nil})
		}
	}
	return out
}

// refutes reports whether a check found a value invalid, and did not stop at a limit.
func refutes(r schema.Report) bool { return !r.OK() && !r.Unchecked }

func breaksOutput(p *subject) []hit {
	if p.tool == nil || len(p.tool.OutputSchema) == 0 {
		return nil
	}
	var form *schema.Schema
	var out []hit
	for _, s := range p.results {
		structured, has := s.message.ResultMember("structuredContent")
		if !has || !s.isFlagged() || structured.Type() != wire.TypeObject {
			continue
		}
		if form == nil {
			compiled, err := schema.Compile(p.tool.OutputSchema)
			if err != nil {
				return nil
			}
			form = compiled
		}
		if raw := structured.Raw(); !form.Accepts(raw) && refutes(form.Explain(raw)) {
			out = append(out, hit{s: s, what: "sends structuredContent with an error that its outputSchema refuses"})
		}
	}
	return out
}
