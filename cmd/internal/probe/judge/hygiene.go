package judge

import (
	"slices"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/probe"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/lazyregexp"
	"github.com/candor-mcp/candor/internal/schema"
	"github.com/candor-mcp/candor/wire"
)

const (
	maxError = 8 << 10 // of an error, in bytes: more is no message
	maxEcho  = 512     // of an argument that is repeated
	// planted is in every credential that probe gives to a server.
	planted = "zz9secret"
)

// hygieneRules: an error holds what belongs into one, in the place where it is read.
var hygieneRules = []rule{
	{Rule: probe.Rule{ID: "EC016", Title: "Secret in an answer", Severity: probe.SeverityCritical, Sets: agentSets, Outside: true,
		Reason: "What the model sees goes to logs, to the provider and into the next prompt.",
		Clause: "MCP 2025-11-25, Server Features, Tools, Security Considerations: servers MUST sanitize tool outputs; evidence: 28 recorded answers carry the credential they were given",
		Fix:    "Redact credentials in every text that leaves the server."},
		each: func(s *sight) (string, bool) {
			return "shows a secret", s.answered() && s.leaksSecret()
		}},
	{Rule: probe.Rule{ID: "EC017", Title: "Error is not in the first block", Severity: probe.SeverityMajor, Sets: agentSets, Outside: true,
		Reason: "Some clients show the model the first block and nothing else.",
		Clause: "Evidence: claude-code #1804, #39976, #86032",
		Fix:    "Put the error into content[0], as text."},
		across: hidesError},
	{Rule: probe.Rule{ID: "EC018", Title: "structuredContent of an error breaks outputSchema", Severity: probe.SeverityMajor, Sets: everySet,
		Reason: "Clients that validate it throw the answer away, and the error with it.",
		Clause: "MCP 2025-11-25, Server Features, Tools, Output Schema: servers MUST provide structured results that conform to the schema; errors are not exempted",
		Fix:    "Leave structuredContent out of errors of a tool with an outputSchema."},
		across: breaksOutput},
	{Rule: probe.Rule{ID: "EC019", Title: "Unknown type of content", Severity: probe.SeverityMajor, Sets: everySet,
		Reason: "Clients that validate refuse the whole answer.",
		Clause: "MCP schema, ContentBlock: text, image, audio, resource_link, resource",
		Fix:    "Use text, and isError: true."},
		each: func(s *sight) (string, bool) {
			content, _ := s.message.ResultMember("content")
			for block := range content.Elements() {
				if kind, ok := block.Path("type").Str(); s.Case.Tool != "" && (!ok || !slices.Contains(contentTypes, kind)) {
					return "sends a content block of a type that does not exist", s.answered()
				}
			}
			return "", false
		}},
	{Rule: probe.Rule{ID: "EC020", Title: "Oversized error", Severity: probe.SeverityMinor, Sets: agentSets,
		Reason: "A whole page or a dump of a validator fills the window of the model.",
		Clause: "Evidence: none of 4,785 recorded failures is as long as 8 KiB",
		Fix:    "Keep an error within a kilobyte, and leave the rest in the log."},
		each: func(s *sight) (string, bool) {
			return "sends an error of more than 8 KiB", s.told() && max(s.Size, int64(len(s.Response))) > maxError && !s.echoes()
		}},
	{Rule: probe.Rule{ID: "EC024", Title: "Input repeated without bound", Severity: probe.SeverityMinor, Sets: agentSets, Outside: true,
		Reason: "A long argument comes back in full, and is paid for twice.",
		Clause: "CWE-770; evidence: go-sdk and zod errors quote what they could not read",
		Fix:    "Quote at most a few dozen characters of an argument."},
		each: func(s *sight) (string, bool) {
			return "repeats a long argument in full", s.told() && s.echoes()
		}},
	{Rule: probe.Rule{ID: "EC026", Title: "No reference", Severity: probe.SeverityInfo, Sets: agentSets, Outside: true,
		Reason: "Whoever reports the failure cannot say which line of the log it is.",
		Clause: "RFC 9457, instance; evidence: users want nothing to leak, and a reference to the log",
		Fix:    "Put a correlation id into the error and into the log."},
		each: func(s *sight) (string, bool) {
			return "fails without a reference to its log", s.Case.Group == probe.GroupUpstream && s.told() && !s.facts().ref
		}},
	{Rule: probe.Rule{ID: "EC029", Title: "Noise on standard output", Severity: probe.SeverityMajor, Sets: everySet, Outside: true,
		Reason: "Clients read every line as a message; some end the session.",
		Clause: "MCP 2025-11-25, Transports, stdio: the server MUST NOT write anything to its stdout that is not a valid MCP message",
		Fix:    "Log to standard error."},
		across: noisy},
	{Rule: probe.Rule{ID: "EC031", Title: "Path or stack in an error", Severity: probe.SeverityMinor, Sets: agentSets,
		Reason: "It tells strangers how the machine is laid out, and tells the model nothing that it could use.",
		Clause: "CWE-209; CWE-497; evidence: 103 recorded answers show a path of the server, 8 a stack",
		Fix:    "Name files relative to what the caller knows, and leave stacks in the log; until then, candor wrap --mode strict withholds the text."},
		each: func(s *sight) (string, bool) {
			return "shows a path or a stack of its own machine", s.told() && s.leaksPlace()
		}},
}

var contentTypes = []string{"text", "image", "audio", "resource_link", "resource"}

func (s *sight) leaksSecret() bool {
	for _, own := range []string{planted, probe.GivenSecret} {
		if strings.Contains(s.Response, own) && !strings.Contains(s.Request, own) {
			return true
		}
	}
	const mark = "[redacted:"
	return s.told() && !strings.Contains(s.Response, mark) && strings.Contains(contract.Redact(s.text()), mark) && !strings.Contains(contract.Redact(s.Request), mark)
}

// text is what a reader sees of an answer.
func (s *sight) text() string {
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
	place = lazyregexp.New(`(?:^|[\s"'(=:\[,])((?:/(?:home|root|srv|usr|var|opt|app|tmp|private|Users|mnt|data|workspace|proc|etc|nix)/[^\s"'):,\]]+)|(?:[A-Z]:\\{1,2}[^\s"']+))`)
	stack = lazyregexp.New(`\n\s+at .+:\d+:\d+|Traceback \(most recent call last\)|goroutine \d+ \[|\n\s+File ".+", line \d+`)
)

// leaksPlace reports a stack, or a path that the caller did not name. A reader sees the texts; paths in data are as visible.
func (s *sight) leaksPlace() bool {
	text := s.text()
	if s.facts().stack || stack.MatchString(text) {
		return true
	}
	for _, found := range place.Get().FindAllStringSubmatch(text, 32) {
		if !strings.Contains(s.Request, strings.TrimRight(found[1], ".")) {
			return true
		}
	}
	return false
}

// echoes reports an answer that holds the beginning of a long argument.
func (s *sight) echoes() bool {
	for _, v := range s.arguments().Members() {
		if text, ok := v.Str(); ok && len(text) > maxEcho && strings.Contains(s.text(), text[:maxEcho]) {
			return true
		}
	}
	return false
}

// noisy looks at the start, too.
func noisy(p *party) []hit {
	var out []hit
	for _, s := range append(slices.Clone(p.greeting), p.sights...) {
		if len(s.Noise) > 0 {
			out = append(out, hit{s: s, what: "writes lines to standard output that are no messages"})
		}
	}
	return out
}

// hidesError: the gateway puts a text in front, but leaves an answer as it is that has the canonical error already.
func hidesError(p *party) []hit {
	var out []hit
	for _, s := range p.sights {
		if s.violates("no-first-text") {
			out = append(out, hit{s: s, what: "does not begin its error with a text", unmendable: s.facts().own != nil})
		}
	}
	return out
}

func breaksOutput(p *party) []hit {
	if p.tool == nil || len(p.tool.OutputSchema) == 0 {
		return nil
	}
	var form *schema.Schema
	var out []hit
	for _, s := range p.sights {
		structured, has := s.message.ResultMember("structuredContent")
		if !has || !s.flagged() || structured.Type() != wire.TypeObject {
			continue
		}
		if form == nil {
			compiled, err := schema.Compile(p.tool.OutputSchema)
			if err != nil {
				return nil
			}
			form = compiled
		}
		if raw := structured.Raw(); !form.Accepts(raw) && !form.Explain(raw).OK() {
			out = append(out, hit{s: s, what: "sends structuredContent with an error that its outputSchema refuses"})
		}
	}
	return out
}
