package rules

import (
	"slices"
	"strconv"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/lazyregexp"
	"github.com/candor-mcp/candor/internal/pointer"
	"github.com/candor-mcp/candor/internal/probe"
	"github.com/candor-mcp/candor/internal/schema"
	"github.com/candor-mcp/candor/wire"
)

// fieldRules check that a refusal names the wrong arguments.
var fieldRules = []rule{
	{Rule: probe.Rule{ID: "EC014", Title: "Uninformative message", Severity: probe.SeverityMajor, Sets: agentSets, Outside: true,
		Reason: "The model learns nothing from the message and retries at random.",
		Clause: "JSON-RPC 2.0, 5.1: message SHOULD be limited to a concise single sentence; conformance suite, tools-call-error: content[0].text is not empty",
		Fix:    "Say in one sentence what failed and what to do next."},
		what: "fails without a message that says what failed",
		when: func(s *caseResult) bool { return s.reported() && s.facts().own == nil && s.saysNothing() }},
	{Rule: probe.Rule{ID: "EC015", Title: "Bad argument not named", Severity: probe.SeverityMajor, Sets: agentSets, Outside: true,
		Reason: "A model that does not know which argument is wrong changes all of them; one client sent the same bad date three times.",
		Clause: "SEP-1303: validation errors carry what the model needs to correct itself",
		Fix:    "Name the argument in the error, by its path."},
		what: "refuses arguments without naming the wrong one",
		when: func(s *caseResult) bool {
			return s.refusesArguments() && len(s.wrongArguments()) > 0 && s.namedWrongArguments() == 0 && !s.isAboutAnother()
		}},
	{Rule: probe.Rule{ID: "EC052", Title: "Valid call refused", Severity: probe.SeverityMinor, Sets: agentSets,
		Reason: "A model sends the arguments that the schema requires; if that is not enough, its first call always fails.",
		Clause: "MCP 2025-11-25, Server Features, Tools, Data Types: inputSchema is the JSON Schema that defines the expected parameters",
		Fix:    "List the argument in required, or use anyOf if one of several is needed."},
		each: requiresUndeclared},
	{Rule: probe.Rule{ID: "EC033", Title: "Not all issues at once", Severity: probe.SeverityMinor, Sets: agentSets, Outside: true,
		Reason: "Each issue that is not reported costs another call.",
		Clause: "google.rpc.BadRequest, which AIP-193 asks for: describes all violations in a request",
		Fix:    "Collect all issues before refusing."},
		what: "names only some of the missing arguments",
		when: func(s *caseResult) bool {
			return s.refusesArguments() && s.namedWrongArguments() > 0 && s.namedWrongArguments() < len(s.wrongArguments())
		}},
}

// demand matches the words with which a server asks for a missing argument.
var demand = lazyregexp.New(`(?i)\b(required?|requires|missing|must (be )?(provided?|specif(y|ied)|given|supplied|set)|provide|specify|supply|need(s|ed)?|at least one|expected|undefined)\b`)

// requiresUndeclared finds a refusal of arguments that the tool's schema accepts, because an argument that the schema does not require is missing.
func requiresUndeclared(s *caseResult) (what string, bad bool) {
	if s.tool == nil || s.Case.Group != probe.GroupDomain || !s.reported() || s.reading.Error.Class() != candor.ClassBadRequest || !demand.MatchString(s.text()) {
		return "", false
	}
	arguments := s.arguments()
	form, err := schema.Compile(s.tool.InputSchema)
	if err != nil || arguments.Type() != wire.TypeObject || !form.Accepts(arguments.Raw()) {
		return "", false
	}
	if arguments.Len() == 0 {
		return "refuses a call without arguments, which its own schema accepts", true
	}
	words := s.words()
	for key := range schemaOf(s.tool).Path("properties").Members() {
		name, _ := key.Str()
		if _, sent := arguments.Get(name); !sent && (s.hasIssue(name) || names(words, name)) && !s.namesOther(words) {
			return "refuses a call because an argument is missing that its own schema does not require", true
		}
	}
	return "", false
}

// refusesArguments reports whether the case was refused because of its arguments, and not for something that has to be fixed first.
func (s *caseResult) refusesArguments() bool {
	if !s.fixable() || !s.reported() || s.reachedUpstream() || s.ignoresWrongArgument() {
		return false
	}
	switch class := s.reading.Error.Class(); class {
	case candor.ClassPrecondition, candor.ClassDenied, candor.ClassRateLimited, candor.ClassTimeout, candor.ClassCancelled, candor.ClassUnsupported:
		return false
	case candor.ClassBadRequest:
		return true
	default: // without a valid call to compare with, only its text shows that it is about the arguments
		return s.sound != nil || aboutCall.MatchString(s.text())
	}
}

// aboutCall matches words of an answer that is about the call.
var aboutCall = lazyregexp.New(`(?i)\b(arguments?|param(eter)?s?|inputs?|invalid|required|missing|must|validation)\b`)

// ignoresWrongArgument reports whether the answer is the same, word for word, as the answer to valid arguments. Then it
// is not about the wrong argument of the case: another made-up argument was refused first. In a case without a wrong
// argument the answer is about the call only if it is a bad request.
func (s *caseResult) ignoresWrongArgument() bool {
	if s.sound == nil || s.text() != s.sound.text() {
		return false
	}
	return s.Case.Field != "" || s.reading.Error.Class() != candor.ClassBadRequest
}

// reachedUpstream reports whether the tool sent a request to its upstream, or tried to, before it failed.
func (s *caseResult) reachedUpstream() bool {
	return s.Hits > 0 && !s.refusedByTool() || s.reported() && s.reading.Error.Class() == candor.ClassUnavailable
}

// refusedByTool reports whether the tool refused the arguments and describes their error. Requests to the upstream
// during the call were then about something else, such as usage statistics.
func (s *caseResult) refusedByTool() bool {
	if !s.reported() || s.reading.Error.Class() != candor.ClassBadRequest {
		return false
	}
	return s.namedWrongArguments() > 0 || len(s.wrongArguments()) == 0 && len(s.facts().issues) > 0
}

// wrongArguments returns the names of the arguments that are wrong in the case.
func (s *caseResult) wrongArguments() []string {
	if s.Case.Field != "" {
		return []string{lastStep(s.Case.Field)}
	}
	if s.Case.Name == probe.CaseMissingRequired && s.tool != nil {
		return required(s.tool)
	}
	return nil
}

// namedWrongArguments counts the wrong arguments that the answer names, in an issue or in its text.
func (s *caseResult) namedWrongArguments() int {
	n := 0
	words := s.words()
	for _, field := range s.wrongArguments() {
		if s.hasIssue(field) || names(words, field) || names(words, s.titleOf(field)) {
			n++
		}
	}
	return n
}

// titleOf returns the title of an argument in the schema, or "".
func (s *caseResult) titleOf(field string) string {
	if s.tool == nil {
		return ""
	}
	title, _ := schemaOf(s.tool).Path("properties", field, "title").Str()
	return title
}

// isAboutAnother reports whether the answer is about an argument other than the wrong one. The values of the others are
// made up, so a server may refuse one of them first.
func (s *caseResult) isAboutAnother() bool {
	words := s.words()
	if s.namesOther(words) {
		return true
	}
	if s.tool == nil {
		return false
	}
	form, err := schema.Compile(s.tool.InputSchema)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(form.Explain(s.arguments().Raw()).Issues, func(i candor.Issue) bool { return names(words, lastName(i.Path)) })
}

// shortValue is the least length of a value that is recognised when an answer quotes it.
const shortValue = 4

// namesOther reports whether the answer names another argument that was sent, or quotes its value.
func (s *caseResult) namesOther(words string) bool {
	wrongArguments := s.wrongArguments()
	for key, v := range s.arguments().Members() {
		name, _ := key.Str()
		if slices.Contains(wrongArguments, name) {
			continue
		}
		value, _ := v.Str()
		if names(words, name) || s.hasIssue(name) || len(value) >= shortValue && wordIn(words, value) {
			return true
		}
	}
	return false
}

func (s *caseResult) hasIssue(field string) bool {
	return slices.ContainsFunc(s.facts().issues, func(i candor.Issue) bool { return lastStep(i.Path) == field })
}

// words returns the answer without the quoted name of the tool.
func (s *caseResult) words() string {
	return strings.ReplaceAll(s.Response, `"`+s.Case.Tool+`"`, `""`)
}

func wordIn(text, word string) bool {
	word = strings.ToLower(word)
	for rest := strings.ToLower(text); ; {
		i := strings.Index(rest, word)
		if i < 0 || word == "" {
			return false
		}
		after := rest[i+len(word):]
		if (i == 0 || !nameByte(rest[i-1]) || escapeBefore(rest[:i])) && (after == "" || !nameByte(after[0])) {
			return true
		}
		rest = after
	}
}

// escapeBefore reports whether head ends with the escape \n or \t; its letter is not the end of a word.
func escapeBefore(head string) bool {
	return strings.HasSuffix(head, `\n`) || strings.HasSuffix(head, `\t`)
}

func nameByte(b byte) bool {
	return b == '_' || b == '-' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

// lastStep returns the last element of a JSON Pointer.
func lastStep(path string) string {
	return pointer.Unescape(path[strings.LastIndexByte(path, '/')+1:])
}

// lastName returns the last element of a path that is not an index into a list. An index names nothing, and any number
// in an answer could match it.
func lastName(path string) string {
	for {
		name := lastStep(path)
		if _, err := strconv.Atoi(name); err != nil {
			return name
		}
		path = path[:max(0, strings.LastIndexByte(path, '/'))]
	}
}

var (
	// emptyMessage matches messages without information.
	emptyMessage = lazyregexp.New(`(?i)^\W*((an? )?(unknown |unexpected |internal |server )*(error|failure|exception)( (occurred|happened))?|failed|undefined|null|none|nil|something went wrong|\[object object\]|error: (undefined|null|none|\[object object\]))\W*$`)
	// bug matches a message that is only the text of a programming error. A longer message has more information.
	bug = lazyregexp.New(`(?i)^.{0,120}(cannot read propert(y|ies) of (undefined|null)|'NoneType' object|nil pointer dereference).{0,60}$`)
)

// saysNothing reports whether the message of the failure has no information.
func (s *caseResult) saysNothing() bool {
	if s.violates("empty-message", "empty-content") {
		return true
	}
	text, ok := s.firstText()
	if s.label() == LabelProtocol {
		text, ok = s.message.Error().Path("message").Str()
	}
	if s.reading.Verdict == contract.VerdictMasked || s.payload().Present() {
		return false
	}
	return ok && (emptyMessage.MatchString(text) || bug.MatchString(strings.TrimSpace(text)) || s.facts().hidden)
}
